"""A Redis server of one's own, and a Kafka cluster inside this process, which keeps nothing on disk.

`python tests/cli/brokers.py 100000 10` kills the server and the reader that many times each, in the middle of that many
events, and looks whether each of them was learned from once.
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import redis
from command import ENVIRONMENT
from confluent_kafka import Producer

from noregret import model

LIMIT = 120.0  # seconds: far more than anything here takes


def events(count, seed=0, first=0):
    """Rows whose labels come a few rows later, now and then with the row; a few labels come twice."""
    rng, waiting = random.Random(seed), []
    for i in range(first, first + count):
        x = {"a": round(rng.uniform(-1, 1), 3), "b": round(rng.uniform(-1, 1), 3), "city": rng.choice("xyz")}
        y = 1 if x["a"] > x["b"] else -1
        if rng.random() < 0.2:
            yield {"x": x, "y": y}
            continue
        yield {"id": i, "x": x}
        waiting.append({"id": i, "y": y})
        while waiting and rng.random() < 0.6:
            label = waiting.pop(rng.randrange(len(waiting)))
            yield label
            if rng.random() < 0.05:
                yield label


def until(true, what):
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


class RedisServer:
    """A server with a folder and a port of its own, which writes all that it is told to an append-only file."""

    def __init__(self, folder, *options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.options = folder, options
        self.client = redis.Redis(port=self.port)
        self.start()

    def start(self):
        place = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        keep = ["--appendonly", "yes", "--save", "", "--daemonize", "no", "--logfile", "log"]
        self.process = subprocess.Popen(["redis-server", *place, *keep, *self.options], stdout=subprocess.DEVNULL)
        until(self._answers, "the server did not start")

    def _answers(self):
        try:
            return bool(self.client.ping())
        except redis.AuthenticationError:
            return True
        except redis.RedisError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait(LIMIT)

    def close(self):
        self.client.close()
        self.kill()

    def address(self, name):
        return f"redis://127.0.0.1:{self.port}/{name}"

    def add(self, name, said, first=1):
        """Events under the positions 1-first, 1-(first + 1), …"""
        lines = self.client.pipeline(transaction=False)
        for place, event in enumerate(said, first):
            lines.xadd(name, {"event": event if isinstance(event, str) else json.dumps(event)}, id=f"1-{place}")
        lines.execute()

    def answers(self, name):
        return [json.loads(fields[b"answer"]) for _, fields in self.client.xrange(name)]


class KafkaCluster:
    """librdkafka's mock broker: topics of four partitions, made when they are first written to."""

    def __init__(self):
        self._cluster = Producer({"test.mock.num.brokers": 1, "log_level": 0})
        broker = next(iter(self._cluster.list_topics(timeout=LIMIT).brokers.values()))
        self.servers = f"{broker.host}:{broker.port}"
        self.producer = Producer({"bootstrap.servers": self.servers, "log_level": 0})

    def add(self, topic, said, partition=0):
        for event in said:
            body = event if isinstance(event, str | None) else json.dumps(event)
            self.producer.produce(topic, body, partition=partition)
        assert self.producer.flush(LIMIT) == 0

    def address(self, topic, partition=0):
        return f"kafka://{self.servers}/{topic}/{partition}"

    def close(self):
        self.producer.flush(1.0)


def kept(path):
    """All that a model file holds, bit for bit, but for where the events came from and in how many calls."""
    core, _ = model.load(path)
    late = {name: value for name, value in core.late.items() if name != "position"}
    return {name: array.tobytes() for name, array in core.arrays().items()} | {"state": core.state.tobytes()}, late


LEARN = ["--events", "--task", "binary", "--learner", "perceptron"]


def reader(folder, address, *more):
    """A reader that goes on with the model that there is."""
    going = ["--events", "--resume", "m.nr"] if (folder / "m.nr").exists() else LEARN
    command = [sys.executable, "-m", "noregret", "learn", address, *going, "--save", "m.nr", "--quiet", *more]
    return subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE)


def written(server, said, done):
    """Write the events in order, whatever happens to the server meanwhile; each has its own position."""
    while done[0] < len(said):
        with suppress(redis.RedisError):
            last = server.client.xrevrange("ev", count=1)
            done[0] = int(last[0][0].split(b"-")[1]) if last else 0
            while done[0] < len(said):
                server.add("ev", said[done[0] : done[0] + 100], done[0] + 1)
                done[0] += 100
                time.sleep(0.005)
        time.sleep(0.01)


def killed_in_between(folder, count, times, seed=0):
    """Kill reader and server, each so many times, while events come; how far the reader had got at each kill."""
    server, said, rng, done = RedisServer(folder), list(events(count, seed)), random.Random(seed), [0]
    every = len(said) // (40 * times)  # so that there is news between two kills
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in said))
    server.add("ev", said[:1])
    writing = threading.Thread(target=written, args=(server, said, done))
    reading = reader(folder, server.address("ev"), "--every", str(every))
    writing.start()
    found = []
    try:
        for turn in range(2 * times):
            before = (folder / "m.nr").stat().st_mtime_ns if (folder / "m.nr").exists() else 0
            reached = (turn + 1) * len(said) // (2 * times + 1)
            until(lambda wanted=reached: done[0] >= wanted, "the writer stands still")
            until(
                lambda then=before: (folder / "m.nr").exists() and (folder / "m.nr").stat().st_mtime_ns > then,
                "no save",
            )
            time.sleep(rng.uniform(0.0, 0.1))
            if turn % 2:
                server.kill()
                time.sleep(rng.uniform(0.0, 0.3))
                server.start()
            else:
                assert reading.poll() is None, reading.stderr.read()
                reading.kill()
                reading.communicate()
                found.append(model.load(folder / "m.nr")[0].late["events"])
                reading = reader(folder, server.address("ev"), "--every", str(every))
        writing.join(LIMIT)
        reading.send_signal(signal.SIGTERM)
        reading.communicate(timeout=LIMIT)
        last = reader(folder, server.address("ev"), "--until-idle", "0.5")
        _, err = last.communicate(timeout=LIMIT)
        assert (last.returncode, err) == (0, b""), err
    finally:
        reading.kill()
        reading.communicate()
        server.close()
    return len(said), found


def main(count, times):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        total, found = killed_in_between(folder, count, times)
        print(f"{total} events, reader killed -9 with {found} events saved, server killed -9 {times} times,", end=" ")
        print(f"{time.monotonic() - began:.0f} s", flush=True)
        shutil.copy(folder / "m.nr", folder / "live.nr")
        command = [sys.executable, "-m", "noregret", "learn", "log.jsonl", *LEARN, "--save", "whole.nr", "--quiet"]
        subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True)
        same = kept(folder / "live.nr") == kept(folder / "whole.nr")
        print("the model is that of a file with the same events, bit for bit:", same)
        return not same


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
