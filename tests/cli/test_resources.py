"""What a machine has not got, or others take away: memory, disk, lines without end, signals, the model itself."""

import fcntl
import os
import resource
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pyarrow
import pytest
from command import ENVIRONMENT, svmlight

from noregret import model
from noregret.stream import pieces
from noregret.stream.cache import cached

NOREGRET = [sys.executable, "-m", "noregret"]


def within(size, *arguments):
    """The command as a program of its own, which may not have more memory than that."""
    command = f"import resource, runpy; resource.setrlimit(resource.RLIMIT_AS, ({size}, {size}));"
    command += (
        f"import sys; sys.argv = ['noregret', *{[str(part) for part in arguments]!r}]; runpy.run_module('noregret')"
    )
    return subprocess.run([sys.executable, "-c", command], env=ENVIRONMENT, capture_output=True, text=True, timeout=600)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_memory_that_cannot_be_had_is_a_sentence(here):
    assert resource.RLIM_INFINITY in resource.getrlimit(resource.RLIMIT_AS)
    Path("far.svm").write_text("1 1:1\n-1 2147483647:1\n")
    Path("words.csv").write_text("label,w\n1,a\n-1,b\n")
    for arguments, said in (
        (("learn", "far.svm"), "noregret: far.svm:2: feature 2147483647"),
        (("learn", "far.svm", "--learner", "kernel"), "noregret: far.svm:2: feature 2147483647"),
        (("learn", "words.csv", "--hash-bits", "28"), "noregret: words.csv: 28 hash bits make 268435456 features: "),
        (("separate", "far.svm"), "noregret: there is not enough memory"),
    ):
        done = within(2 * 10**9, *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert done.stderr.startswith(said), done.stderr


@pytest.mark.parametrize(
    ("name", "head", "body", "line"),
    [
        ("a.svm", b"1 1:1\n-1 2:1\n", b"1" * 2**16, 3),
        ("a.vw", b"1 |a b:1\n-1 |a c:2\n", b"1" * 2**16, 3),
        ("a.csv", b"label,a\n1,1\n0,2\n", b"1" * 2**16, 4),
        ("head.csv", b"label,", b"1" * 2**16, 1),
    ],
)
def test_a_line_without_end_is_refused(noregret, here, monkeypatch, name, head, body, line):
    monkeypatch.setattr(pieces, "LINE_LIMIT", 2**20)
    with pyarrow.CompressedOutputStream(f"{name}.zst", "zstd") as file:
        file.write(head)
        for _ in range(64):
            file.write(body)
    answer = noregret("learn", f"{name}.zst")
    said = f"noregret: {name}.zst:{line}: a line or record must end within 1 MiB, and this one does not\n"
    assert (answer.code, answer.err) == (2, said)


def test_a_line_as_long_as_may_be_is_read(noregret, here, monkeypatch):
    monkeypatch.setattr(pieces, "LINE_LIMIT", 2**20)
    comment = " #" + "x" * (2**20 - 7)
    Path("long.svm").write_text(f"1 1:1{comment}\n-1 1:2\n" * 2)
    assert len(f"1 1:1{comment}") == 2**20
    assert noregret("learn", "long.svm", "--json").json["rounds"] == 4


def test_a_full_disk_costs_the_cache_and_no_row(noregret, rows, monkeypatch):
    whole = noregret("learn", rows, "--json").json

    def full(self, data):
        raise cached._NoRoom(self._place, "No space left on device")

    monkeypatch.setattr(cached._Room, "write", full)
    answer = noregret("learn", rows, "--cache", "--json")
    said = "rows.svm.nrcache: the cache cannot be written (No space left on device): going on without it"
    assert (answer.code, answer.err) == (0, f"noregret: {said}\n")
    assert {key: answer.json[key] for key in ("rounds", "mistakes")} == {
        key: whole[key] for key in ("rounds", "mistakes")
    }
    assert os.listdir() == ["rows.svm"]


def test_the_second_of_two_that_resume_and_save_one_model_saves_beside_it(noregret, here, examples, start):
    X, y = examples
    Path("first.svm").write_text(svmlight(X[:100], y[:100]))
    Path("more.svm").write_text(svmlight(X[100:], y[100:]))
    noregret("learn", "first.svm", "--save", "m.nr", "--quiet")
    slow = start("learn", "-", "--resume", "m.nr", "--save", "m.nr", "--quiet")
    slow.stdin.write(svmlight(X[:50], y[:50]).encode())
    slow.stdin.flush()
    while not loaded(slow):
        assert slow.poll() is None
    quick = noregret("learn", "more.svm", "--resume", "m.nr", "--save", "m.nr", "--quiet")
    assert quick.code == 0
    _, err = slow.communicate(timeout=300)
    beside = next(path.name for path in here.glob("m-*.nr"))
    said = f"m.nr: was changed by another process meanwhile, and left as it is; the model of this run is {beside}"
    assert (slow.returncode, err.decode()) == (1, f"noregret: {said}\n")
    assert (model.load("m.nr")[0].rounds, model.load(beside)[0].rounds) == (400, 150)


def loaded(process):
    """Whether it has taken rows from its standard input, which it does after it has loaded the model."""
    return struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4))[0] == 0


def test_control_characters_of_names_are_shown_escaped(noregret, here):
    Path("t.csv").write_text("label,a\x1b[31mb,c\x9bd\n1,x,1\n-1,y,2\n")
    for answer in (noregret("learn", "t.csv"), noregret("learn", "t.csv", "--label", "\x1b]0;x\x07")):
        for said in (answer.out, answer.err):
            assert not set(said) & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160))}
    assert "a\\u001b[31mb" in noregret("learn", "t.csv").out
    assert noregret("learn", "no\x1b[2J\nfile").err == "noregret: no\\x1b[2J\\nfile: no file matches this pattern\n"
    assert noregret("learn", "t.csv", "--json").json["rounds"] == 2


def test_a_receipt_nested_too_deeply_is_a_sentence(noregret, here):
    Path("deep.json").write_text("[" * 100_000)
    Path("rows.svm").write_text("1 1:1\n-1 1:2\n")
    answer = noregret("verify", "deep.json", "rows.svm")
    assert (answer.code, answer.err) == (2, "noregret: deep.json: is not a receipt: its JSON is nested too deeply\n")


IGNORING = 'trap "" INT HUP; exec "$@"'


def test_tests_that_send_ctrl_c_end_also_where_it_is_ignored():
    """As in a background job of a script: the tests are started with the signals ignored."""
    tests = Path(__file__).parent
    names = [f"{tests / 'test_tour_command.py'}::test_ctrl_c_leaves_politely"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "200", *names]
    done = subprocess.run(["sh", "-c", IGNORING, "sh", *command], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


def test_a_program_started_with_ctrl_c_ignored_goes_on_ignoring_it(here):
    command = ["sh", "-c", IGNORING, "sh", *NOREGRET, "learn", "-", "--save", "m.nr", "--quiet"]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"1 1:1\n-1 1:2\n" * 3000)
    process.stdin.flush()
    while not loaded(process):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.stdin.write(b"1 1:1\n")
    assert process.communicate(timeout=300)[1] == b""
    assert process.returncode == 0
    assert model.load("m.nr")[0].rounds == 6001
