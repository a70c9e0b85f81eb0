"""`noregret serve` as a program: kills at random moments, what a signal does, what is refused before it starts."""

import asyncio
import json
import signal
import subprocess
import sys
import time

import pytest
from command import ENVIRONMENT, call
from load import OGD, Client, Service, lost, run
from test_serve_rounds import replay, state

from noregret.service.served import Served


def asked(port, method, path, body=None):
    """The answer to one request."""

    async def one():
        async with Client(port) as client:
            status, content = await client.ask(method, path, body)
            return status, json.loads(content)

    return asyncio.run(one())


def test_no_acknowledged_label_is_lost_or_learned_twice(tmp_path):
    """Three kills while eight clients ask; the learner is that of a plain replay of the whole log."""
    folder = tmp_path / "models"
    load, _ = run(folder, labels=400, kills=3, clients=8)
    assert len(load.acknowledged) >= 400
    assert lost(folder, load) == ([], [])
    twin = replay(folder / "m")
    served = Served(folder / "m")
    assert state(served.late) == state(twin)
    for id in list(load.acknowledged)[-100:]:
        found = served.round(id)
        assert (found.loss, found.prediction.score) == (load.acknowledged[id], load.answers[id])
    served.close(snapshot=False)
    done = call("verify", "--chain", str(folder / "m"))
    assert (done.code, "chain verified" in done.out) == (0, True), done.err


def test_a_signal_answers_what_was_asked_and_saves(tmp_path):
    service = Service(tmp_path, "--new", "m", *OGD, "--receipt-every", "day")
    assert asked(service.port, "GET", "/readyz") == (200, {"ready": True})
    asked(service.port, "POST", "/v1/models/m/predict", {"id": "a", "x": {"f": 1.0}})
    assert service.end() == (143, "")
    assert (tmp_path / "m" / "1.nr").exists()
    service = Service(tmp_path)
    assert asked(service.port, "POST", "/v1/models/m/label", {"id": "a", "y": 1})[1]["state"] == "learned"
    assert service.end(signal.SIGINT) == (130, "")


def test_a_saved_model_is_served_and_its_file_stays(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:-1\n" * 10)
    path = tmp_path / "models" / "old.nr"
    path.parent.mkdir()
    assert call("learn", str(tmp_path / "rows.svm"), "--learner", "ogd", "--save", str(path), "--quiet").code == 0
    before = path.read_bytes()
    service = Service(path.parent)
    assert asked(service.port, "GET", "/v1/models")[1] == {"models": ["old"]}
    said = asked(service.port, "POST", "/v1/models/old/predict", {"x": [0.0, 1.0]})[1]
    assert (said["version"], said["prediction"]) == (20, 1)
    service.end()
    assert path.read_bytes() == before


def test_clients_that_say_nothing_hold_up_nobody(tmp_path):
    async def all():
        silent = [await asyncio.open_connection("127.0.0.1", service.port) for _ in range(50)]
        for _, writer in silent:
            writer.write(b"POST /v1/models/m/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        async with Client(service.port) as client:
            found = await asyncio.wait_for(client.ask("POST", "/v1/models/m/predict", {"x": [1.0]}), 10)
        for _, writer in silent:
            writer.close()
        return found

    service = Service(tmp_path, "--new", "m", *OGD)
    assert asyncio.run(all())[0] == 200
    assert service.end() == (143, "")


REFUSED = [
    ([], "models' is missing|--models"),
    (["--models", "none"], "none: does not exist"),
    (["--models", "file"], "file: is not a folder"),
    (["--models", "empty"], "empty: holds no model: save one there, or make one with --new NAME"),
    (["--models", "m", "--new", "a"], "--new needs --task binary, multiclass or regression: what is predicted"),
    (["--models", "m", "--new", "../a", "--task", "binary"], "--new must be letters, digits, dots"),
    (["--models", "m", "--new", "a", "--task", "what"], "task must be"),
    (["--models", "m", "--task", "binary"], "--task is for a model that is made: it needs --new NAME"),
    (["--models", "m", "--learner", "ogd"], "--learner is for a model that is made"),
    (["--models", "m", "--new", "a", "--learner", "odg"], "learner must be one of"),
    (["--models", "m", "--new", "a", "--learner", "ogd:rad=3"], "ogd has"),
    (["--models", "m", "--new", "a", "--task", "binary", "--expire", "0"], "expire must be a whole number"),
    (["--models", "m", "--port", "70000"], "--port must be between 0 and 65535, got 70000"),
    (["--models", "m", "--host", "0.0.0.0"], "--host 0.0.0.0 can be reached by other machines: give a key with --key"),
    (["--models", "m", "--host", "256.1.1.1", "--key", "key"], "holds no model|cannot listen|does not exist"),
    (["--models", "m", "--key", "nothing"], "the key cannot be read: No such file"),
    (["--models", "m", "--key", "short"], "a key must have at least 16 ASCII characters"),
    (["--models", "m", "--receipt-every", "week"], "--receipt-every must be day or a whole number"),
    (["--models", "m", "--keep-days", "3"], "--keep-days moves whole periods: it needs --receipt-every"),
    (["--models", "m", "--receipt-every", "day", "--keep-days", "nan"], "--keep-days must be at least 0"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[" ".join(words) or "nothing" for words, _ in REFUSED])
def test_what_cannot_be_served_is_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "short").write_text("short\n")
    (tmp_path / "key").write_text("a-key-that-is-long-enough\n")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    answer = call("serve", *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert any(part in answer.err for part in sentence.split("|")), answer.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_port_that_is_taken_leaves_no_model(tmp_path):
    service = Service(tmp_path / "first", "--new", "m", *OGD)
    answer = call("serve", "--models", str(tmp_path / "second"), "--new", "m", *OGD, "--port", str(service.port))
    assert (answer.code, "cannot listen on 127.0.0.1:" in answer.err) == (2, True)
    assert not (tmp_path / "second").exists()
    taken = call("serve", "--models", str(tmp_path / "first"), "--new", "m", *OGD, "--port", "0")
    assert "there is a model called 'm'" in taken.err
    other = call("serve", "--models", str(tmp_path / "first"), "--port", "0")
    assert (other.code, "is served by another process" in other.err) == (2, True)
    beside = call("serve", "--models", str(tmp_path / "first"), "--new", "n", *OGD, "--port", "0")
    assert (beside.code, "is served by another process" in beside.err) == (2, True)
    assert [path.name for path in (tmp_path / "first").iterdir()] == ["m"]
    service.end()


WATCHED = {
    "windows": (
        ["--windows", "20"],
        "keeps windows of labels that come at once, which a service does not go on with: save a model learned without"
        " --windows",
    ),
    "late windows": (
        ["--windows", "20", "--delay", "5"],
        "keeps windows of a run with --delay, which a service does not go on with: save a model learned without"
        " --windows",
    ),
    "alarm": (
        ["--alarm", "level:0.3"],
        "keeps an alarm, which a service does not go on with: save a model learned without --alarm",
    ),
    "late alarm": (
        ["--alarm", "level:0.3", "--delay", "5"],
        "keeps an alarm, which a service does not go on with: save a model learned without --alarm",
    ),
    "select": (
        ["--loss", "logistic", "--select", "average"],
        "cannot be served: a model saved with --select no longer learns, so it cannot take late labels",
    ),
}


@pytest.mark.parametrize("name", WATCHED)
def test_a_saved_model_that_cannot_be_served_is_named_before_anything_is_made(tmp_path, name):
    words, sentence = WATCHED[name]
    rows, folder = tmp_path / "rows.svm", tmp_path / "models"
    rows.write_text("1 1:1\n-1 1:-1\n" * 30)
    folder.mkdir()
    for path, more in (("a.nr", []), ("w.nr", words)):
        done = call("learn", str(rows), "--learner", "ogd", *more, "--save", str(folder / path), "--quiet")
        assert done.code == 0, done.err
    for new in (["--new", "fraud", *OGD], ["--new", "fraud", *OGD], []):
        answer = call("serve", "--models", str(folder), *new, "--port", "0")
        assert (answer.code, answer.out) == (2, "")
        assert answer.err == f"noregret: {folder / 'w.nr'}: {sentence}\n"
        assert sorted(path.name for path in folder.iterdir()) == ["a.nr", "w.nr"]


def test_a_model_with_windows_of_events_is_served_and_goes_on_with_them(tmp_path):
    log, path = tmp_path / "events.jsonl", tmp_path / "models" / "late.nr"
    rounds = [{"id": i, "x": {"f": 1.0 - 2 * (i % 2)}} for i in range(50)]
    labels = [{"id": i, "y": 1 - i % 2} for i in range(45)]
    log.write_text("".join(json.dumps(one) + "\n" for one in (*rounds, *labels)))
    path.parent.mkdir()
    words = ["--events", "--learner", "ogd", "--windows", "20", "--save", str(path), "--quiet"]
    done = call("learn", str(log), *words)
    assert done.code == 0, done.err
    service = Service(path.parent)
    assert asked(service.port, "POST", "/v1/models/late/predict", {"id": "a", "x": {"f": 1.0}})[0] == 200
    for id in ("a", 49):
        assert asked(service.port, "POST", "/v1/models/late/label", {"id": id, "y": 1})[1]["state"] == "learned"
    service.end()
    served = Served(path.parent / "late")
    assert (served.late.windows.predicted, served.late.waiting) == (51, 4)
    served.close(snapshot=False)


def test_without_the_extra_one_sentence(tmp_path):
    code = "import sys; sys.modules['starlette'] = None\nfrom noregret.cli.main import main\nmain()"
    command = [sys.executable, "-c", code, "serve", "--models", "m", "--new", "a", *OGD]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    said = "noregret: serve needs starlette: pip install 'noregret[serve]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_chain_is_exit_1(tmp_path):
    service = Service(tmp_path, "--new", "m", *OGD, "--receipt-every", "1")
    asked(service.port, "POST", "/v1/models/m/predict", {"id": "a", "x": {"f": 1.0}})
    asked(service.port, "POST", "/v1/models/m/label", {"id": "a", "y": 1})
    receipt = tmp_path / "m" / "receipts" / "000001.json"
    for _ in range(300):
        if receipt.exists() and asked(service.port, "GET", "/v1/models/m/receipt")[1]["receipts"]:
            break
        time.sleep(0.1)
    service.end()
    done = call("verify", "--chain", str(tmp_path / "m"), "--json")
    assert (done.code, done.json["stands"], done.json["told"]) == (0, True, [])
    receipt.write_text(receipt.read_text().replace('"place": 1', '"place": 2'))
    done = call("verify", "--chain", str(tmp_path / "m"))
    assert (done.code, done.err.startswith("noregret: verification failed: ")) == (1, True)
    assert call("verify", str(receipt), "rows.svm").code == 2
    assert "--chain FOLDER" in call("verify").err
    assert "RECEIPT cannot be used with --chain" in call("verify", str(receipt), "--chain", str(tmp_path)).err
