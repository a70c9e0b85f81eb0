"""The service over HTTP, in this process: routes, refusals, limits, who may ask; and that no request makes it fail."""

import asyncio
import json
import random
import sqlite3
import threading
from contextlib import asynccontextmanager

import httpx
import pytest

from noregret import learner as learners
from noregret import model
from noregret.service import app as application
from noregret.service.hosted import Service
from noregret.service.log import Group
from noregret.service.served import create

KEY = "correct-horse-battery"


@asynccontextmanager
async def client(folder, key=None, host="127.0.0.1", **headers):
    """Requests to a service with the model m."""
    if not (folder / "m").exists():
        create(folder / "m", learners.OnlineGradientDescent(loss="logistic").core)
    service = Service(folder)
    service.open()
    transport = httpx.ASGITransport(application.application(service, host=host, key=key), raise_app_exceptions=True)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as asked:
            asked.service = service
            yield asked
    finally:
        service.close()


def runs(test):
    """The coroutine as a test."""

    def run(tmp_path, monkeypatch):
        given = {"tmp_path": tmp_path, "monkeypatch": monkeypatch}
        names = test.__code__.co_varnames[: test.__code__.co_argcount]
        asyncio.run(test(**{name: given[name] for name in names}))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


AT = "/v1/models/m"
LINES = {"content-type": "application/x-ndjson"}


@runs
async def test_a_round_over_http(tmp_path):
    async with client(tmp_path) as ask:
        made = await ask.post(f"{AT}/predict", json={"id": "a", "x": {"f": 1.0, "city": "Rome"}})
        assert (made.status_code, made.json()["id"], made.json()["version"]) == (200, "a", 0)
        done = await ask.post(f"{AT}/label", json={"id": "a", "y": 1})
        assert done.json() == {
            "id": "a",
            "applied": True,
            "state": "learned",
            "loss": pytest.approx(0.6931471805599453),
        }
        log = ask.service.models["m"].served.log
        assert log.written == 2  # the answer came behind the disk
        found = (await ask.get(f"{AT}/rounds/a")).json()
        assert (found["state"], found["loss"], found["prediction"]) == ("labelled", done.json()["loss"], made.json())
        assert (await ask.get("/v1/models")).json() == {"models": ["m"]}
        assert (await ask.get(f"{AT}/receipt")).json()["event"] == 2
        windows = (await ask.get(f"{AT}/windows")).json()
        assert (windows["task"], windows["now"]["labelled"], windows["now"]["on_disk"]["written"]) == ("binary", 1, 2)
        (tmp_path / "copy.nr").write_bytes((await ask.get(f"{AT}/model")).content)
        assert model.load(tmp_path / "copy.nr")[0].rounds == 1


@runs
async def test_arrays_are_all_or_nothing_and_lines_stand_alone(tmp_path):
    async with client(tmp_path) as ask:
        rows = [{"id": i, "x": {"f": float(i)}} for i in range(3)]
        assert [one["id"] for one in (await ask.post(f"{AT}/predict", json=rows)).json()] == [0, 1, 2]
        bad = await ask.post(f"{AT}/label", json=[{"id": 0, "y": 1}, {"id": 9, "y": 1}])
        assert (bad.status_code, bad.json()["error"][:18]) == (404, "unknown prediction")
        assert (await ask.get(f"{AT}/rounds/0")).json()["state"] == "waiting"
        lines = b'{"id":0,"y":1}\n\n{"id":9,"y":1}\nnonsense\n{"id":1,"y":0}\n'
        said = await ask.post(f"{AT}/label", content=lines, headers=LINES)
        answers = [json.loads(line) for line in said.text.splitlines()]
        assert [one.get("state", "error") for one in answers] == ["learned", "error", "error", "learned"]
        lines = b'{"id":"p","x":{"f":1}}\n{"id":"q","x":{"f":null}}\n'
        said = await ask.post(f"{AT}/predict", content=lines, headers=LINES)
        assert [next(iter(json.loads(line))) for line in said.text.splitlines()] == ["id", "error"]


REFUSED = [
    ("predict", b"{", 400, "not JSON"),
    ("predict", b'{"x":{"f":NaN}}', 400, "not JSON"),
    ("predict", b'{"x":{"f":1e999}}', 422, "out of range"),
    ("predict", b"\xff", 400, "not JSON"),
    ("predict", b"[" * 100_000, 422, "Expected `object`"),
    ("predict", b'{"x":' + b"[" * 100_000, 422, "float"),
    ("predict", b'{"x":1}', 422, "Expected"),
    ("predict", b'{"x":{"f":1},"z":1}', 422, "unknown field `z`"),
    ("predict", b'{"x":{"f":1},"w":0}', 422, "> 0"),
    ("predict", b'{"x":{"f":1},"id":""}', 422, "length"),
    ("predict", b'{"x":{"f":' + b"9" * 400 + b"}}", 422, ""),
    ("predict", b'{"x":{"f":1},"id":' + b"9" * 30 + b"}", 422, ""),
    ("label", b'{"id":"nobody","y":1}', 404, "unknown prediction"),
    ("label", b'{"id":"a"}', 400, "needs y"),
    ("label", b'{"y":1}', 422, "missing required field `id`"),
    ("label", b'{"id":"a","y":{}}', 422, "Expected"),
]


@runs
async def test_what_cannot_be_taken_is_one_sentence(tmp_path):
    async with client(tmp_path) as ask:
        await ask.post(f"{AT}/predict", json={"id": "a", "x": {"f": 1.0}})
        for route, body, status, sentence in REFUSED:
            said = await ask.post(f"{AT}/{route}", content=body)
            assert (said.status_code, list(said.json())) == (status, ["error"]), body[:60]
            assert sentence in said.json()["error"], body[:60]
        assert ask.service.models["m"].served.late.events == 1
        assert (await ask.get("/v1/models/other/windows")).status_code == 404
        assert (await ask.get("/nothing")).json() == {"error": "there is nothing at this address"}
        assert (await ask.delete("/v1/models")).status_code == 405


@runs
async def test_limits(tmp_path):
    async with client(tmp_path) as ask:
        large = await ask.post(f"{AT}/predict", content=b" " * (application.BODY + 1))
        assert (large.status_code, large.json()["error"]) == (413, "a body must be at most 8 MiB")

        async def pieces():
            for _ in range(9):
                yield b" " * (1 << 20)

        assert (await ask.post(f"{AT}/predict", content=pieces())).status_code == 413
        many = [{"x": [1.0]}] * (application.BATCH + 1)
        assert "JSON Lines" in (await ask.post(f"{AT}/predict", json=many)).json()["error"]
        wide = {"x": [0.0] * (application.CELLS + 1)}
        assert "100,000 features" in (await ask.post(f"{AT}/predict", json=wide)).json()["error"]
        packed = await ask.post(f"{AT}/predict", content=b"", headers={"content-encoding": "gzip"})
        assert packed.status_code == 415
        assert ask.service.models["m"].served.late.events == 0


@runs
async def test_many_labels_that_nobody_knows_change_nothing(tmp_path):
    async with client(tmp_path) as ask:
        lines = b"".join(b'{"id":%d,"y":1}\n' % i for i in range(10_000))
        said = await ask.post(f"{AT}/label", content=lines, headers=LINES)
        assert said.text.count("unknown prediction") == 10_000
        served = ask.service.models["m"].served
        assert (served.late.events, served.unknown, served.log.size < 200_000) == (0, 10_000, True)


@runs
async def test_a_disk_that_is_full_is_a_503_and_the_label_can_be_sent_again(tmp_path, monkeypatch):
    async with client(tmp_path) as ask:
        await ask.post(f"{AT}/predict", json={"id": "a", "x": {"f": 1.0}})
        write = Group.write

        def full(self, connection):
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr("noregret.service.log.AGAIN", 0.01)
        monkeypatch.setattr(Group, "write", full)
        said = await ask.post(f"{AT}/label", json={"id": "a", "y": 1})
        assert (said.status_code, said.headers["retry-after"]) == (503, "1")
        assert "database or disk is full" in said.json()["error"]
        assert (await ask.get("/readyz")).status_code == 503
        assert (await ask.get("/healthz")).status_code == 200
        assert (await ask.post(f"{AT}/predict", json={"x": {"f": 1.0}})).status_code == 503
        assert (await ask.get(f"{AT}/rounds/a")).status_code == 200
        monkeypatch.setattr(Group, "write", write)
        for _ in range(200):
            if (await ask.get("/readyz")).status_code == 200:
                break
            await asyncio.sleep(0.01)
        again = await ask.post(f"{AT}/label", json={"id": "a", "y": 1})
        assert (again.status_code, again.json()["state"]) == (200, "repeated")
        assert ask.service.models["m"].served.late.book.counts.labelled == 1


@runs
async def test_only_this_machine_and_its_own_pages_may_ask(tmp_path):
    async with client(tmp_path) as ask:
        for host in ("evil.example", "127.0.0.1.evil.example", "", "10.0.0.1"):
            assert (await ask.get("/v1/models", headers={"host": host})).status_code == 403
        for host in ("localhost:8000", "[::1]:80", "127.0.0.1"):
            assert (await ask.get("/v1/models", headers={"host": host})).status_code == 200
        forged = await ask.post(f"{AT}/predict", json={"x": [1.0]}, headers={"origin": "http://evil.example"})
        assert forged.status_code == 403
        own = await ask.post(f"{AT}/predict", json={"x": [1.0]}, headers={"origin": "http://127.0.0.1"})
        assert own.status_code == 200
        page = await ask.get("/")
        assert "default-src 'self'" in page.headers["content-security-policy"]


@runs
async def test_a_key_is_asked_for_everywhere(tmp_path):
    async with client(tmp_path, key=KEY) as ask:
        routes = [route.path.replace("{model}", "m").replace("{id:path}", "a") for route in ask._transport.app.routes]
        free = {"/healthz", "/readyz", "/login.html", "/page.css"}
        for path in set(routes) - free:
            method = ask.post if path.endswith(("predict", "label")) else ask.get
            for headers in ({}, {"authorization": "Bearer wrong"}, {"cookie": "noregret=forged"}):
                assert (await method(path, headers=headers)).status_code == (303 if path == "/" else 401), path
        for path in free:
            assert (await ask.get(path)).status_code == 200
        shown = {"authorization": f"Bearer {KEY}"}
        assert (await ask.post(f"{AT}/predict", json={"x": [1.0]}, headers=shown)).status_code == 200
        wrong = await ask.post("/login", data={"key": "wrong"})
        assert (wrong.headers["location"], "set-cookie" in wrong.headers) == ("/login.html?wrong", False)
        right = await ask.post("/login", data={"key": KEY})
        assert {"HttpOnly", "SameSite=strict"} <= set(right.headers["set-cookie"].split("; "))
        assert KEY not in right.headers["set-cookie"]
        assert (await ask.get("/v1/models")).status_code == 200  # with the cookie


@runs
async def test_figures_for_prometheus(tmp_path):
    async with client(tmp_path) as ask:
        await ask.post(f"{AT}/predict", json={"id": "a", "x": {"f": 1.0}})
        await ask.post(f"{AT}/label", json={"id": "a", "y": 1})
        text = (await ask.get("/metrics")).text
        for line in ('noregret_labelled_total{model="m"} 1.0', 'noregret_log_writable{model="m"} 1.0'):
            assert line in text.splitlines()


@runs
async def test_every_route_is_in_the_openapi_document_and_every_operation_is_a_route(tmp_path):
    async with client(tmp_path) as ask:
        document = (await ask.get("/openapi.json")).json()
        pages = {"/openapi.json", "/", "/page.js", "/page.css", "/plotly.min.js", "/login.html"}
        routes = {route.path.replace(":path", "") for route in ask._transport.app.routes} - pages
        assert set(document["paths"]) == routes
        text = json.dumps(document)
        for name in ("Question", "Prediction", "Label", "Outcome", "Windows", "Problem"):
            assert name in document["components"]["schemas"]
            assert f"#/components/schemas/{name}" in text


def anything(rng, depth=0):
    """A value such as nobody would send."""
    simple = [None, True, 0, -1, 2**63, 2**70, 1e308, -0.5, "", "a", "\0", "é\U0001f600", "x" * 2000, [], {}]
    kind = rng.randrange(6)
    if depth > 2 or kind < 3:
        return rng.choice(simple)
    if kind == 3:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    keys = ["id", "x", "y", "w", "decision", "revise", "expire", "f", "", "\0"]
    return {rng.choice(keys): anything(rng, depth + 1) for _ in range(rng.randrange(5))}


def request(rng):
    """Nearly a right one."""
    body = {"id": rng.choice(["a", "b", 1, 2]), "x": {"f": rng.choice([1.0, -1.0, 1e300, "Rome"])}}
    if rng.random() < 0.5:
        body = {"id": rng.choice(["a", "b", 1, 2, "c"]), "y": rng.choice([0, 1, "1", True, 2, -1.0])}
    if rng.random() < 0.6:
        body[rng.choice(["id", "x", "y", "w", "decision", "revise", "expire"])] = anything(rng)
    return [body, anything(rng)] if rng.random() < 0.1 else body


@runs
async def test_no_request_makes_the_service_fail(tmp_path):
    rng = random.Random(11)
    async with client(tmp_path) as ask:
        seen = set()
        for _ in range(1_500):
            path = rng.choice([f"{AT}/predict", f"{AT}/label"])
            kind = LINES if rng.random() < 0.2 else {}
            said = await ask.post(path, content=json.dumps(request(rng)).encode(), headers=kind)
            assert said.status_code < 500, said.text
            seen.add(said.status_code)
        for id in ("a", "%00", "1", "x" * 3000, "99999999999999999999999", "é"):
            assert (await ask.get(f"{AT}/rounds/{id}")).status_code in (200, 404, 422)
        assert {200, 400, 404, 409, 422} <= seen
        before = ask.service.models["m"].served.figures
    async with client(tmp_path) as ask:
        assert ask.service.models["m"].served.figures == before


@runs
async def test_a_label_is_answered_behind_the_disk_and_a_prediction_is_not(tmp_path, monkeypatch):
    gate, write = threading.Event(), Group.write

    def held(self, connection):
        assert gate.wait(30)
        write(self, connection)

    async with client(tmp_path) as ask:
        log = ask.service.models["m"].served.log
        assert log._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert log._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # every commit is synced
        monkeypatch.setattr(Group, "write", held)
        assert (await ask.post(f"{AT}/predict", json={"id": "a", "x": {"f": 1.0}})).status_code == 200
        label = asyncio.create_task(ask.post(f"{AT}/label", json={"id": "a", "y": 1}))
        await asyncio.sleep(0.2)
        assert (await ask.post(f"{AT}/predict", json={"id": "b", "x": {"f": 1.0}})).json()["version"] == 1
        again = asyncio.create_task(ask.post(f"{AT}/label", json={"id": "a", "y": 1}))
        await asyncio.sleep(0.2)
        assert (label.done(), again.done(), log.written) == (False, False, 0)  # a repeated one waits too
        gate.set()
        assert [(await one).json()["state"] for one in (label, again)] == ["learned", "repeated"]
        assert log.written >= 2
