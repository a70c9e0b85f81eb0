"""A stream that comes through a pipe, however it is cut and wherever it pauses, is the stream of the file.

Scores, figures, digests and models are the same, bit for bit, whether or not options tell beforehand what columns are.
"""

import json
import os
import random
import select
import threading
import time

import numpy as np
import pytest

from noregret import Auto, OnlineGradientDescent
from noregret.errors import InputError
from noregret.protocol import play
from noregret.stream import read
from noregret.stream.arriving import Arriving

WORDS = ["red", "green", "blue", "a, b", 'say "no"', "two\nlines"]


def svm(rng, count):
    for t in range(count):
        if t % 40 == 7:
            yield "# a comment\n\n"
        entries = " ".join(f"{i}:{rng.uniform(-2, 2):.6g}" for i in sorted(rng.sample(range(1, 30), rng.randint(0, 6))))
        yield f"{rng.choice([1, -1])} {entries}\n"


def vw(rng, count):
    for _ in range(count):
        names = " ".join(f"w{rng.randint(0, 50)}:{rng.uniform(-2, 2):.4g}" for _ in range(rng.randint(1, 4)))
        yield f"{rng.choice([1, -1])} {rng.choice(['', '2.5 '])}|user {names} |age a:{rng.randint(1, 9)}\n"


def csv(rng, count):
    yield "\ufeffx,colour,price,label\n"
    for _ in range(count):
        colour = rng.choice(WORDS).replace('"', '""')
        yield f'{rng.choice([rng.uniform(-1, 1), rng.randint(-3, 3)]):.7g},"{colour}",{rng.randint(1, 9999) / 4},'
        yield f"{rng.choice(['yes', 'no'])}\n"


def jsonl(rng, count):
    for t in range(count):
        row = {"x": rng.uniform(-1, 1), "colour": rng.choice(WORDS), "label": rng.choice([True, False])}
        if t and rng.random() < 0.5:  # a declared column that shows late, and not always
            row["price"] = rng.randint(1, 9999) / 4
        yield json.dumps(dict(sorted(row.items(), reverse=rng.random() < 0.5))) + "\n"


DECLARED = {"numeric": ("x", "price"), "categorical": ("colour",), "missing": "zero"}
STREAMS = {"svm": (svm, {}), "vw": (vw, {}), "csv": (csv, DECLARED), "jsonl": (jsonl, DECLARED)}


def fed(path, data, rng):
    """Write the bytes in pieces of any size, with pauses."""
    with open(path, "wb", buffering=0) as pipe:
        start = 0
        while start < len(data):
            size = rng.choice([1, 2, 30, 500, 5000, 70_000])
            pipe.write(data[start : start + size])
            start += size
            if rng.random() < 0.2:
                time.sleep(rng.choice([0.0, 0.001, 0.01]))


def played(learner, source, folder, **options):
    """Everything that comes of a run."""
    scores = []
    run = play(learner, read(source, **options), digest=True, watch=lambda block, y, found: scores.append(found))
    learner.save(folder / "m.nr")
    figures = {key: value for key, value in run.to_dict().items() if key not in ("seconds", "stream", "this_run")}
    return np.concatenate(scores).tobytes(), run.digest, json.dumps(figures), (folder / "m.nr").read_bytes()


@pytest.mark.parametrize("make", [Auto, OnlineGradientDescent])
@pytest.mark.parametrize("told", [True, False], ids=["told", "recognised"])
@pytest.mark.parametrize("kind", STREAMS)
def test_any_pieces_are_the_file(tmp_path, kind, told, make):
    rows, declared = STREAMS[kind]
    options = declared if told else {"missing": "zero"}
    for seed, count in enumerate((3, 300, 2500)):
        rng = random.Random(seed)
        data = "".join(rows(rng, count)).encode()
        data = data.removesuffix(b"\n") if seed else data  # the last line need not end
        file, pipe = tmp_path / f"{seed}.{kind}", tmp_path / f"pipe{seed}.{kind}"
        file.write_bytes(data)
        os.mkfifo(pipe)
        writer = threading.Thread(target=fed, args=(pipe, data, rng))
        writer.start()
        found = played(make(), str(pipe), tmp_path, **options)
        writer.join()
        assert found == played(make(), str(file), tmp_path, **options)


@pytest.mark.parametrize("kind", STREAMS)
def test_rows_that_options_tell_are_there_before_the_next_is_written(tmp_path, kind):
    rows, declared = STREAMS[kind]
    pieces = list(rows(random.Random(5), 5))
    head, lines = (pieces[0] if kind == "csv" else ""), "".join(pieces)
    written = (
        [line + "\n" for line in lines.split("\n")[:-1]] if kind != "csv" else ['1,"red",2,yes\n', "3,blue,4,no\n"]
    )
    pipe = tmp_path / f"pipe.{kind}"
    os.mkfifo(pipe)
    came, end = threading.Semaphore(0), time.monotonic() + 60.0

    def write():
        with open(pipe, "w") as opened:
            opened.write(head)
            for line in written:
                opened.write(line)
                opened.flush()
                assert came.acquire(timeout=max(0.0, end - time.monotonic())), "no answer came"

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert sum(len(block) * (came.release() or 1) for block in read(str(pipe), **declared).blocks()) == len(written)
    finally:
        for _ in written:
            came.release()
        writer.join()


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        ("7,red,2024-01-31 10:00,yes", "1,5;red", None),
        (
            "7,red,2024-01-31 10:00,yes",
            '"1,5",red,2024-02-01 11:00,no',
            "column 'x' must hold numbers with a decimal point",
        ),
        (
            "7,red,2024-01-31 10:00,1",
            "7,red,2024-02-01 11:00,maybe",
            "the label must be a number as in the rows before",
        ),
        ("7,red,01/02/2024 10:00,yes", "7,red,13/02/2024 11:00,no", "column 'day' must hold dates"),
    ],
)
def test_what_the_first_row_told_later_rows_must_keep_to(tmp_path, first, then, said):
    """From a file, a later row may still tell; a row that was answered already cannot be read in another way."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    text = f"x,colour,day,label\n{first}\n{then}\n"
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    stream = read(str(pipe), numeric=["x"], categorical=["colour"], date=["day"])
    with pytest.raises(InputError, match=said or "expected 4 cells as in the header, got 2"):
        list(stream.blocks())
    writer.join()


def test_what_was_written_before_the_request_to_finish_is_still_read(tmp_path):
    reading, writing = os.pipe()
    source = Arriving(open(reading, "rb", buffering=0))  # noqa: SIM115 (closed with it)
    os.write(writing, b"x" * 1000)
    waits = threading.Timer(0.2, source.finish)
    assert source.read(10) == b"x" * 10
    waits.start()
    assert source.readall() == b"x" * 990, "a read that waits is ended too"
    os.write(writing, b"late")
    assert source.read(10) == b""
    source.close()
    os.close(writing)


def test_a_request_after_the_end_reaches_nobody_else():
    """Descriptors are numbered anew: the next pipe has the numbers that the source had for itself."""
    reading, writing = os.pipe()
    source = Arriving(open(reading, "rb", buffering=0))  # noqa: SIM115 (closed with it)
    source.close()
    pipes = [os.pipe() for _ in range(3)]
    source.finish()
    assert select.select([ready for ready, _ in pipes], [], [], 0)[0] == []
    for number in (writing, *(number for pair in pipes for number in pair)):
        os.close(number)
