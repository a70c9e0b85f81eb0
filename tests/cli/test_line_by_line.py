"""A pipe, a FIFO and a terminal: every row is answered before the next is written, and nothing received is lost."""

import fcntl
import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command import ENVIRONMENT, learned, numbers

from noregret import model
from noregret.stream.arriving import ROOM

LIMIT = 120.0  # seconds: far more than any answer takes
HEADS = {"svm": "", "vw": "", "jsonl": "", "csv": "a,b,label\n"}
TOLD = ["--task", "binary"]
COLUMNS = {"svm": [], "vw": [], "jsonl": ["--numeric", "a,b"], "csv": ["--numeric", "a,b"]}
FORMATS = list(HEADS)


def row(kind, rng):
    a, b = round(rng.uniform(-1.0, 1.0), 3), round(rng.uniform(-1.0, 1.0), 3)
    y = 1 if a > b else -1
    written = {
        "svm": f"{y} 1:{a} 2:{b}",
        "vw": f"{y} | a:{a} b:{b}",
        "jsonl": json.dumps({"a": a, "b": b, "label": y}),
        "csv": f"{a},{b},{y}",
    }
    return written[kind] + "\n"


def rows(kind, count, seed=0):
    rng = random.Random(seed)
    return [row(kind, rng) for _ in range(count)]


class Talk:
    """A program that is written to and read from line by line."""

    def __init__(self, process):
        self.process = process
        self._texts = {process.stdout: b"", process.stderr: b""}

    def write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def line(self, pipe):
        """The next line, which has to come though nothing else is written."""
        end = time.monotonic() + LIMIT
        while b"\n" not in self._texts[pipe]:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            some = os.read(pipe.fileno(), 2**16) if ready else b""
            assert some, f"no line came, but {self._texts[pipe]!r}"
            self._texts[pipe] += some
        line, _, self._texts[pipe] = self._texts[pipe].partition(b"\n")
        return line.decode()

    def answer(self, text):
        self.write(text)
        return self.line(self.process.stdout)

    def close(self):
        """The exit code, and what else was written."""
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        rest = [self._texts[pipe] + pipe.read() for pipe in (self.process.stdout, self.process.stderr)]
        code = self.process.wait(LIMIT)
        self.process.stdout.close(), self.process.stderr.close()
        return code, *(text.decode() for text in rest)


@pytest.fixture
def talk(start):
    talks = []

    def begin(*arguments):
        talks.append(Talk(start(*arguments)))
        return talks[-1]

    yield begin
    for one in talks:
        one.process.kill()
        one.process.wait(LIMIT)
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            with suppress(BrokenPipeError):
                pipe.close()


@pytest.mark.parametrize("kind", FORMATS)
def test_learn_answers_each_row_before_the_next_is_written_as_from_a_file(talk, noregret, here, kind):
    written = rows(kind, 8)
    (here / f"r.{kind}").write_text(HEADS[kind] + "".join(written))
    options = [*TOLD, *COLUMNS[kind]]
    whole = noregret("learn", f"r.{kind}", *options, "--predictions", "p.csv", "--save", "whole.nr", "--json")

    live = talk("learn", "-", *options, "--predictions", "-", "--save", "m.nr", "--json")
    live.write(HEADS[kind])
    answers = [live.answer(written[0]), live.line(live.process.stdout), *map(live.answer, written[1:])]
    code, out, err = live.close()
    assert (code, out) == (0, "")
    assert answers == (here / "p.csv").read_text().splitlines()
    figures = json.loads(err)
    apart = ("seconds", "this_run", "task", "advice")
    assert {k: v for k, v in figures.items() if k not in apart} == {
        k: v for k, v in whole.json.items() if k not in apart
    }
    assert learned(here / "m.nr") == learned(here / "whole.nr")


@pytest.mark.parametrize("kind", FORMATS)
def test_predict_answers_each_row_before_the_next_is_written(talk, noregret, here, kind):
    (here / f"r.{kind}").write_text(HEADS[kind] + "".join(rows(kind, 50)))
    (here / f"new.{kind}").write_text(HEADS[kind] + "".join(rows(kind, 6, seed=1)))
    noregret("learn", f"r.{kind}", "--save", "m.nr", "--quiet")
    expected = noregret("predict", "m.nr", f"new.{kind}").out.splitlines()
    live = talk("predict", "m.nr", "-")
    live.write(HEADS[kind])
    written = rows(kind, 6, seed=1)
    answers = [live.answer(written[0]), live.line(live.process.stdout), *map(live.answer, written[1:])]
    assert live.close() == (0, "", "")
    assert answers == expected


@pytest.mark.parametrize("kind", FORMATS)
def test_a_resumed_model_tells_what_else_the_first_rows_would(talk, noregret, here, kind):
    (here / f"r.{kind}").write_text(HEADS[kind] + "".join(rows(kind, 40)))
    noregret("learn", f"r.{kind}", "--learner", "ogd", "--save", "m.nr", "--quiet")
    live = talk("learn", "-", "--resume", "m.nr", "--save", "m.nr", "--predictions", "/dev/stdout", "--quiet")
    live.write(HEADS[kind])
    live.answer(rows(kind, 1, seed=1)[0])
    assert len([live.line(live.process.stdout), *map(live.answer, rows(kind, 5, seed=2))]) == 6
    assert live.close() == (0, "", "")
    assert model.load("m.nr")[0].rounds == 46


def test_a_fifo_gets_the_answers_too(talk, here):
    os.mkfifo("in")
    os.mkfifo("out")
    live = talk("learn", "in", *TOLD, "--predictions", "out", "--quiet")
    with open("in", "w", buffering=1) as into:
        written = rows("svm", 4)
        into.write(written[0])
        with open("out") as answers:
            assert answers.readline().startswith("row,label,score")
            for number, one in enumerate(written[1:], 1):
                assert answers.readline().startswith(f"{number},")
                into.write(one)
    assert live.close() == (0, "", "")


def test_a_terminal_shows_the_answers_and_nothing_else(start, here):
    master, slave = pty.openpty()
    modes = termios.tcgetattr(slave)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    process = start("learn", "-", *TOLD, "--predictions", "-", stdin=slave, stdout=slave, stderr=slave)
    seen = b""

    def until(wanted):
        nonlocal seen
        end = time.monotonic() + LIMIT
        while wanted not in seen:
            assert select.select([master], [], [], max(0.0, end - time.monotonic()))[0], seen
            seen += os.read(master, 2**16)

    for number, one in enumerate(rows("svm", 4), 1):
        os.write(master, one.encode())
        until(b"\n%d," % number)
    lines = seen.decode().replace("\r\n", "\n").rstrip("\n").split("\n")
    assert [line.partition(",")[0] for line in lines] == ["row", "1", "2", "3", "4"]
    assert "\x1b" not in seen.decode(), "no bar is drawn between the answers"
    os.write(master, b"\x04")
    until(b"rounds")
    try:
        assert process.wait(LIMIT) == 0
    finally:
        process.kill()
        os.close(master), os.close(slave)


HELD = {
    "columns": (
        "csv",
        TOLD,
        "columns a, b are recognised from the first 1,000 rows: say what each is with --numeric, --categorical, --text"
        " or --ignore",
    ),
    "one column": (
        "jsonl",
        ["--numeric", "a"],
        "column b is recognised from the first 1,000 rows: say what each is with --numeric, --categorical, --text or"
        " --ignore; and add --task TASK",
    ),
    "task": (
        "vw",
        [],
        "the task is recognised from the first 1,000 rows: give --task binary, multiclass or regression",
    ),
    "labels": ("svm", TOLD, "they have one label so far: say which is positive with --positive LABEL"),
}


@pytest.mark.parametrize("why", HELD)
def test_rows_that_are_held_are_said_once_and_answered_at_the_end(talk, noregret, here, why):
    kind, options, said = HELD[why]
    written = rows(kind, 6)
    if why == "labels":
        written = [f"spam{line[line.index(' ') :]}" for line in written[:5]] + ["ham 1:1\n"]
    (here / f"r.{kind}").write_text(HEADS[kind] + "".join(written))
    expected = noregret("learn", f"r.{kind}", *options, "--predictions", "p.csv", "--save", "whole.nr", "--quiet")
    assert (expected.code, expected.err) == (0, "")
    live = talk("learn", "-", *options, "--predictions", "-", "--save", "m.nr", "--quiet")
    live.write(HEADS[kind] + "".join(written[:3]))
    assert live.line(live.process.stderr) == f"noregret: the first rows are held: {said}"
    live.write("".join(written[3:]))
    assert live.close() == (0, (here / "p.csv").read_text(), "")
    assert (here / "m.nr").read_bytes() == (here / "whole.nr").read_bytes()


def test_a_fast_writer_is_told_nothing(noregret, start, here):
    process = start("learn", "-", "--quiet")
    out, err = process.communicate((HEADS["csv"] + "".join(rows("csv", 400))).encode(), timeout=LIMIT)
    assert (process.returncode, out, err) == (0, b"", b"")


def test_rows_before_one_that_is_wrong_are_answered(talk, here):
    live = talk("learn", "-", *TOLD, "--predictions", "-", "--save", "m.nr", "--quiet")
    live.answer("1 1:2\n")
    assert live.line(live.process.stdout).startswith("1,1,")
    live.write("1 x\n")
    code, out, err = live.close()
    assert (code, out) == (2, "")
    assert err == "noregret: standard input:2: expected INDEX:VALUE, got 'x'\n"
    assert not (here / "m.nr").exists()


def test_labels_that_are_no_fixed_codes_are_not_guessed(talk, here):
    """From a file 1 and 2 are told apart by the first rows; 1 that was answered already is the positive label."""
    live = talk("learn", "-", *TOLD, "--predictions", "-", "--quiet")
    live.answer("1 1:2\n")
    live.write("2 1:1\n")
    code, _, err = live.close()
    assert code == 2
    assert err.startswith("noregret: standard input:2: the labels are 1 and 2: say which is positive with --positive")


# -- stops -----------------------------------------------------------------------------------------------------------


def reads(process):
    """Wait until the program has its standard input, which it asks to hold more."""
    end = time.monotonic() + LIMIT
    while fcntl.fcntl(process.stdin, fcntl.F_GETPIPE_SZ) < ROOM:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.005)


def stopped(start, number, kind, rng, save):
    """Write complete lines and half of one, pause, send the signal: the lines, the exit code, and what was said."""
    told = [*TOLD, *COLUMNS[kind]] if rng.random() < 0.6 else []
    process = start("learn", "-", *told, "--save", save, "--quiet")
    lines = 0
    if rng.random() < 0.5:
        reads(process)
    process.stdin.write(HEADS[kind].encode())
    for _ in range(rng.randint(1, 6)):
        some = [row(kind, rng) for _ in range(rng.choice([1, 20, 700, 4000]))]
        process.stdin.write("".join(some).encode())
        process.stdin.flush()
        lines += len(some)
        time.sleep(rng.choice([0.0, 0.01, 0.3]))
    process.stdin.write(row(kind, rng)[: -rng.randint(1, 6)].encode())
    process.stdin.flush()
    time.sleep(rng.choice([0.0, 0.02, 1.0]))
    reads(process)
    process.send_signal(number)
    try:
        err = process.stderr.read().decode()  # standard input is still open
        return lines, process.wait(LIMIT), err
    finally:
        process.kill()
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close(), process.stderr.close()


@pytest.mark.parametrize("seed", range(6))
def test_the_model_has_every_complete_line_that_was_written(start, here, seed):
    rng, number = random.Random(seed), (signal.SIGINT, signal.SIGTERM)[seed % 2]
    kind = FORMATS[seed % len(FORMATS)]
    lines, code, err = stopped(start, number, kind, rng, "m.nr")
    said = f"noregret: stopped after {lines:,} rounds; go on with --resume m.nr --skip seen"
    assert (code, err.splitlines()[-1]) == (128 + number, said)
    assert model.load("m.nr")[0].rounds == lines


def test_rows_that_were_held_in_several_blocks_are_played_before_a_stop(talk, here):
    live = talk("learn", "-", "--save", "m.nr", "--quiet")
    reads(live.process)
    for seed in range(4):
        live.write("".join(rows("svm", 5, seed)))
        time.sleep(0.2)
    live.process.send_signal(signal.SIGINT)
    assert live.process.wait(LIMIT) == 130
    core, _ = model.load("m.nr")
    assert (core.rounds, core.segments[-1]["ended"]) == (20, False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_before_the_first_row_writes_nothing(talk, here, number):
    live = talk("learn", "-", "--save", "m.nr", "--predictions", "p.csv")
    reads(live.process)
    live.process.send_signal(number)
    assert live.process.wait(LIMIT) == 128 + number
    assert list(here.iterdir()) == []


def test_a_second_ctrl_c_stops_at_once(talk, here):
    live = talk("learn", "-", *TOLD, "--save", "m.nr", "--predictions", "-", "--quiet")
    live.answer("1 1:1\n")
    live.write("".join(rows("svm", 60_000)))
    live.process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    live.process.send_signal(signal.SIGINT)
    code, _, _ = live.close()
    assert code == 130
    assert list(here.iterdir()) == []


def test_predict_answers_what_was_written_before_a_stop(talk, noregret, here):
    (here / "r.svm").write_text("".join(rows("svm", 50)))
    noregret("learn", "r.svm", "--save", "m.nr", "--quiet")
    expected = noregret("predict", "m.nr", "r.svm").out
    live = talk("predict", "m.nr", "-")
    live.write("".join(rows("svm", 50)) + "1 1:0")
    reads(live.process)
    live.process.send_signal(signal.SIGTERM)
    out = live.process.stdout.read().decode()
    assert (live.process.wait(LIMIT), out) == (143, expected)


# -- snapshots -------------------------------------------------------------------------------------------------------


def test_every_saves_a_model_to_go_on_with(talk, noregret, here):
    written = rows("svm", 10)
    (here / "all.svm").write_text("".join(written))
    live = talk("learn", "-", *TOLD, "--save", "m.nr", "--every", "4", "--predictions", "-", "--quiet")
    live.answer(written[0])
    saved = []
    for one in written[1:7]:
        live.line(live.process.stdout)
        live.write(one)
        time.sleep(0.05)
        saved.append(model.load("m.nr")[0].rounds if Path("m.nr").exists() else 0)
    assert saved[-1] == 4 and set(saved) <= {0, 4}
    live.process.kill()
    rest = noregret("learn", "all.svm", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr", "--json")
    whole = noregret("learn", "all.svm", *TOLD, "--save", "whole.nr", "--json")
    assert rest.json["this_run"]["rounds"] == 6
    assert numbers(rest) == numbers(whole)
    assert learned(here / "m.nr") == learned(here / "whole.nr")


def test_snapshots_change_nothing_in_the_model_of_the_end(noregret, here):
    (here / "all.csv").write_text(HEADS["csv"] + "".join(rows("csv", 300)))
    for name, more in {"plain.nr": [], "rows.nr": ["--every", "7"], "seconds.nr": ["--every", "0.000001s"]}.items():
        answer = noregret("learn", "all.csv", "--save", name, *more, "--quiet")
        assert (answer.code, answer.err) == (0, "")
    assert (here / "rows.nr").read_bytes() == (here / "plain.nr").read_bytes() == (here / "seconds.nr").read_bytes()


def test_a_run_that_is_refused_leaves_no_snapshot(noregret, here):
    (here / "all.svm").write_text("".join(rows("svm", 100)))
    noregret("learn", "all.svm", "--learner", "ogd", "--save", "m.nr", "--quiet")
    before = (here / "m.nr").read_bytes()
    answer = noregret("learn", "all.svm", "--resume", "m.nr", "--save", "m.nr", "--every", "10")
    assert answer.code == 2 and "has already learned from the first 100 rows" in answer.err
    assert (here / "m.nr").read_bytes() == before


def test_another_process_that_saves_between_two_snapshots_is_not_written_over(talk, noregret, here):
    (here / "other.svm").write_text("".join(rows("svm", 9)))
    live = talk("learn", "-", *TOLD, "--save", "m.nr", "--every", "1", "--predictions", "-", "--quiet")
    live.answer(rows("svm", 1)[0])
    live.line(live.process.stdout)
    live.answer(rows("svm", 2)[1])  # the first is saved before the second is read
    noregret("learn", "other.svm", "--save", "theirs.nr", "--quiet")
    while live.process.poll() is None and model.load("m.nr")[0].rounds < 2:
        time.sleep(0.01)
    os.replace("theirs.nr", "m.nr")
    live.answer(rows("svm", 3)[2])
    code, _, err = live.close()
    beside = next(path.name for path in here.glob("m-*.nr"))
    said = f"m.nr: was changed by another process meanwhile, and left as it is; the model of this run is {beside}"
    assert (code, err) == (1, f"noregret: {said}\n")
    assert (model.load("m.nr")[0].rounds, model.load(beside)[0].rounds) == (9, 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--every", "10"], "--every goes with --save"),
        (["--every", "0", "--save", "m.nr"], "--every must be a number of rows such as 10000, or of seconds such as"),
        (["--every", "-3s", "--save", "m.nr"], "--every must be a number of rows such as 10000, or of seconds such as"),
        (["--every", "nans", "--save", "m.nr"], "--every must be a number of rows such as 10000, or of seconds such"),
        (["--every", "5", "--save", "m.nr", "--select", "last"], "--every saves the learner while it learns, --select"),
    ],
)
def test_what_every_goes_with(noregret, here, options, said):
    (here / "r.svm").write_text("1 1:1\n-1 1:2\n")
    answer = noregret("learn", "r.svm", *options)
    assert (answer.code, answer.err.startswith(f"noregret: {said}")) == (2, True), answer.err
    assert [path.name for path in here.iterdir()] == ["r.svm"]


def test_the_table_goes_to_standard_error_where_predictions_go_to_standard_output(noregret, here):
    (here / "r.svm").write_text("".join(rows("svm", 20)))
    answer = noregret("learn", "r.svm", "--predictions", "-")
    noregret("learn", "r.svm", "--predictions", "p.csv", "--quiet")
    assert answer.out == (here / "p.csv").read_text()
    assert "baseline: most frequent label" in answer.err
    assert noregret("predict", "p.nr", "-", "-o", "-").code == 2


def test_a_python_without_buffers_writes_the_same(here):
    """Its output gets a buffer of its own, for a call of the system a line would take most of the time."""
    (here / "r.svm").write_text("".join(rows("svm", 500)))
    command = [
        sys.executable,
        "-m",
        "noregret",
        "learn",
        "r.svm",
        "--learner",
        "perceptron",
        "--predictions",
        "-",
        "--quiet",
    ]
    written = []
    for unbuffered in ("", "1"):
        reading, writing = os.pipe()
        fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, ROOM)
        environment = {**ENVIRONMENT, "PYTHONUNBUFFERED": unbuffered}
        assert subprocess.run(command, stdout=writing, env=environment, timeout=LIMIT).returncode == 0
        os.close(writing)
        with open(reading, "rb") as answers:
            written.append(answers.read())
    assert written[0] == written[1]
    assert written[0].count(b"\n") == 501
