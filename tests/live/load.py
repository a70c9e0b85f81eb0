"""Many clients against a service that is killed at random moments; afterwards, what it acknowledged must be there.

`python tests/live/load.py LABELS KILLS [CLIENTS]` prints what was acknowledged, what is missing, and how fast it was.
"""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOREGRET = [sys.executable, "-m", "noregret"]
OGD = ["--task", "binary", "--learner", "ogd:loss=logistic"]


class Service:
    """The command as a process, on a port of its own."""

    def __init__(self, folder, *options):
        command = [*NOREGRET, "serve", "--models", str(folder), "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("serving "):
            raise RuntimeError(line + self.process.communicate()[1])
        self.url = line.split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def end(self, number=signal.SIGTERM):
        """Its exit code, and what it said on standard error."""
        self.process.send_signal(number)
        err = self.process.communicate(timeout=60)[1]
        return self.process.returncode, err


class Client:
    """One connection that is kept; requests are written as they stand on the wire."""

    def __init__(self, port, headers=()):
        self.port, self._more = port, "".join(f"{name}: {value}\r\n" for name, value in headers)

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *error):
        self.writer.close()

    async def ask(self, method, path, body=None, kind="application/json"):
        """Status and content."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n{self._more}"
        self.writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        first = await self.reader.readuntil(b"\r\n\r\n")
        lines = first.decode().split("\r\n")
        sizes = [line for line in lines if line.lower().startswith("content-length:")]
        content = await self.reader.readexactly(int(sizes[0].split(":")[1])) if sizes else b""
        return int(lines[0].split()[1]), content


def row(rng, features):
    x = {f"f{i}": round(rng.uniform(-1.0, 1.0), 6) for i in range(features)}
    return x, int(x["f0"] + 0.5 * x["f1"] > 0.0)


class Load:
    """Rows and labels from many clients; what was acknowledged, by id."""

    def __init__(self, seed=0, features=10):
        self.rng, self.features = random.Random(seed), features
        self.acknowledged, self.answers, self.sent = {}, {}, 0
        self.times = {"predict": [], "label": []}

    async def client(self, port, until):
        """Predict and label until that many labels are acknowledged, or the service is gone."""
        with_errors = (ConnectionError, asyncio.IncompleteReadError, OSError)
        try:
            async with Client(port) as client:
                while len(self.acknowledged) < until:
                    await self.round(client)
        except with_errors:
            pass

    async def round(self, client):
        self.sent += 1
        id, (x, y) = f"r{self.sent}", row(self.rng, self.features)
        began = time.perf_counter()
        status, content = await client.ask("POST", "/v1/models/m/predict", {"id": id, "x": x})
        assert status == 200, content
        answered = time.perf_counter()
        self.times["predict"].append(answered - began)
        self.answers[id] = json.loads(content)["score"]
        if self.rng.random() < 0.1:
            return  # this label never comes
        status, content = await client.ask("POST", "/v1/models/m/label", {"id": id, "y": y})
        assert status == 200, content
        self.times["label"].append(time.perf_counter() - answered)
        self.acknowledged[id] = json.loads(content)["loss"]

    async def clients(self, port, count, until):
        await asyncio.gather(*(self.client(port, until) for _ in range(count)))


def lost(folder, load):
    """What is wrong with the log: labels that were acknowledged and are missing, or stand there twice."""
    connection = sqlite3.connect(folder / "m" / "events.sqlite")
    found = {}
    for (text,) in connection.execute("SELECT event FROM events"):
        event = json.loads(text)
        if "y" in event:
            found[event["id"]] = found.get(event["id"], 0) + 1
    connection.close()
    missing = [id for id in load.acknowledged if id not in found]
    return missing, [id for id, times in found.items() if times > 1]


def run(folder, labels, kills, clients=16, seed=0, features=10, options=()):
    """Kill the service that many times while clients ask, until the labels are acknowledged; the load."""
    load, rng = Load(seed, features), random.Random(seed + 1)
    new = ["--new", "m", *OGD]
    asked = []
    for left in range(kills, -1, -1):
        service = Service(folder, *new, *options)
        new = []
        until = labels if not left else 10**12
        began = time.perf_counter()

        async def both(service=service, until=until, left=left):
            work = asyncio.create_task(load.clients(service.port, clients, until))
            if left:
                share = labels // (kills + 1)
                goal = len(load.acknowledged) + share
                while len(load.acknowledged) < goal and not work.done():
                    await asyncio.sleep(0.005)
                await asyncio.sleep(rng.uniform(0.0, 0.05))
                service.process.kill()
            await work

        before = len(load.acknowledged)
        asyncio.run(both())
        asked.append((len(load.acknowledged) - before) / (time.perf_counter() - began))
        if left:
            service.process.communicate(timeout=60)
        else:
            code, err = service.end()
            assert (code, err) == (143, ""), (code, err)
    return load, asked


def share(times, part):
    ordered = sorted(times)
    return 1000.0 * ordered[int(part * (len(ordered) - 1))] if ordered else 0.0


def main(labels, kills, clients):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "models"
        load, speeds = run(folder, labels, kills, clients, features=50)
        missing, twice = lost(folder, load)
        wrong = f"{len(missing)} missing, {len(twice)} twice"
        print(f"{len(load.acknowledged)} labels acknowledged over {kills} kills: {wrong}")
        for kind, times in load.times.items():
            print(f"{kind}: p50 {share(times, 0.5):.2f} ms, p99 {share(times, 0.99):.2f} ms")
        print("labels a second in each life:", ", ".join(f"{speed:.0f}" for speed in speeds))
        done = subprocess.run([*NOREGRET, "verify", "--chain", folder / "m"], capture_output=True, text=True)
        print(done.stdout, done.stderr)
        return bool(missing or twice or done.returncode)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 64))
