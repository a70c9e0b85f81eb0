"""`noregret tour`: four stops, with and without a person at the keys."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command import ENVIRONMENT

from noregret.tour import STOPS, adversary, clouds, experts, promise
from noregret.tour.stage import Canvas, bar, spark

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_all_stops_in_a_pipe(noregret, here):
    answer = noregret("tour")
    assert (answer.code, answer.err) == (0, "")
    places = [answer.out.index(f"{place} of 4: {title}") for place, (title, _) in enumerate(STOPS.values(), 1)]
    assert places == sorted(places)
    assert "\x1b" not in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80


@pytest.mark.parametrize("stop", STOPS)
def test_every_stop_alone_fits_a_terminal(noregret, here, stop):
    answer = noregret("tour", stop, "--auto")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80


def test_there_is_no_other_stop(noregret):
    answer = noregret("tour", "rome")
    assert answer.code == 2
    assert "unknown stop 'rome'; choose one of perceptron, adversary, experts, promise" in answer.err


# -- what is told is true ----------------------------------------------------------------------------------------------


def test_the_perceptron_stays_below_its_bound(noregret):
    out = noregret("tour", "perceptron").out
    mistakes = int(re.search(r"mistakes +\S+ (\d+)", out)[1])
    limit = int(re.search(r"at most +█+ (\d+)", out)[1])
    X, y = clouds.clouds()
    w, wrong = np.zeros(2), 0
    for _ in range(clouds.PASSES):
        for x, label in zip(X, y, strict=True):
            if label * (w @ x) <= 0.0:
                w, wrong = w + label * x, wrong + 1
    margin = (y * (X @ clouds.TILT)).min()
    assert mistakes == wrong >= 5, "there is something to see"
    assert mistakes <= limit <= np.linalg.norm(X, axis=1).max() ** 2 / margin**2


def test_the_adversary_forces_four_mistakes_and_does_not_lie(noregret):
    out = noregret("tour", "adversary").out
    told = re.findall(r"round \d: the optimal learner says (\d)\. It is (\d)\.", out)
    assert len(told) == 4
    assert all(guess != label for guess, label in told)
    threshold = int(re.search(r"threshold (\d+) agrees", out)[1])
    shown = [line.split()[1:] for line in out.splitlines() if line.startswith("points ")]
    points = [next(k for k, mark in enumerate(line) if mark == "[?]") for line in shown]
    assert [int(point < threshold) for point in points] == [int(label) for _, label in told]


def test_the_blend_is_within_its_promise(noregret):
    out = " ".join(noregret("tour", "experts").out.split())
    regret = float(re.search(r"a regret of ([\d.]+)\. Theory guarantees", out)[1])
    promised = float(re.search(r"at most √\(T ln N\) = ([\d.]+), whatever", out)[1])
    table = experts.costs()
    assert regret < promised == pytest.approx((len(table) * np.log(table.shape[1])) ** 0.5, abs=0.06)
    assert ((table >= 0.0) & (table <= 1.0)).all()
    best = table.sum(axis=0)
    assert experts.NAMES[best.argmin()] == "Dario"
    assert experts.NAMES[table[: len(table) // 4].sum(axis=0).argmin()] == "Bruno", "another one leads at first"


def test_the_regret_is_within_its_promise(noregret):
    out = " ".join(noregret("tour", "promise").out.split())
    found = re.search(r"regret between ([\d.]+) and ([\d.]+)\. The bound from theory is ([\d.]+)\. Try", out)
    lower, upper, promised = map(float, found.groups())
    assert lower <= upper < promised
    assert promise.ROUNDS == 512


# -- drawing -----------------------------------------------------------------------------------------------------------


def test_what_is_put_is_where_it_belongs():
    canvas = Canvas(5, 3, (0.0, 4.0), (0.0, 2.0))
    canvas.put(0.0, 0.0, "a")
    canvas.put(4.0, 2.0, "b")
    canvas.put(9.0, 0.0, "c")
    canvas.put(0.0, 0.0, "d", under=True)
    assert [line.plain for line in canvas.lines()] == ["    b", "", "a"]


@pytest.mark.parametrize("normal", [(1.0, 0.0), (0.0, 1.0), (1.0, -1.0), (1.0, 3.0)])
def test_a_line_goes_through_its_points(normal):
    canvas = Canvas(21, 21, (-1.0, 1.0), (-1.0, 1.0))
    canvas.line(normal, "*")
    cells = [(column, row) for row, column in canvas.cells]
    assert len(cells) >= 21
    for column, row in cells:
        x, y = -1.0 + column / 10, 1.0 - row / 10
        assert abs(normal[0] * x + normal[1] * y) <= 0.06 * (abs(normal[0]) + abs(normal[1]))


def test_bars_and_columns():
    assert [len(bar(k / 10, 10)) for k in range(11)] == list(range(11))
    assert bar(-1.0, 4) == ""
    assert bar(2.0, 4) == "████"
    assert spark([0.0, 1.0], 5) == " █"
    assert len(spark([0.5] * 100, 60)) == 60


# -- at a terminal -----------------------------------------------------------------------------------------------------


class Terminal:
    """The command with a terminal of 80 × 24 for its input and output."""

    def __init__(self, folder, *arguments, **environment):
        self.main, other = pty.openpty()
        command = [sys.executable, "-m", "noregret", *arguments]
        known = {**ENVIRONMENT, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", **environment}
        self.process = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, cwd=folder, env=known, start_new_session=True
        )
        os.close(other)
        self.text = ""

    def until(self, words, seconds=120.0):
        """Read until some words have come."""
        end = time.monotonic() + seconds
        while words not in ESCAPE.sub("", self.text):
            assert time.monotonic() < end, self.text[-2000:]
            if select.select([self.main], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.main, 65536).decode(errors="replace")
                except OSError:
                    break
        assert words in ESCAPE.sub("", self.text), self.text[-2000:]

    def type(self, words):
        os.write(self.main, words.encode())

    def end(self):
        """The exit code, all output read."""
        while True:
            assert select.select([self.main], [], [], 120.0)[0], self.text[-2000:]
            try:
                read = os.read(self.main, 65536)
            except OSError:
                break
            if not read:
                break
            self.text += read.decode(errors="replace")
        os.close(self.main)
        return self.process.wait(timeout=60)


def test_you_against_the_adversary(tmp_path):
    terminal = Terminal(tmp_path, "tour", "adversary")
    terminal.until("is point 7 a 0 or a 1?")
    terminal.type("maybe\n")
    terminal.until("round 1: is point 7 a 0 or a 1? (0 or 1) maybe")
    terminal.type("0\n")
    terminal.until("you say 0. It is 1.")
    for _ in range(3):
        terminal.type("1\n")
    assert terminal.end() == 0
    assert "4 mistakes in 4 rounds" in ESCAPE.sub("", terminal.text)


def test_ctrl_c_leaves_politely(tmp_path):
    terminal = Terminal(tmp_path, "tour", "adversary")
    terminal.until("is point 7 a 0 or a 1?")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130
    assert "tour stopped" in terminal.text
    assert "Traceback" not in terminal.text


def test_pictures_move_on_a_terminal_and_no_colour_means_none(tmp_path):
    terminal = Terminal(tmp_path, "tour", "perceptron", "--auto", NO_COLOR="1")
    assert terminal.end() == 0
    seen = ESCAPE.sub("", terminal.text)
    assert seen.count("a mistake at X turns the line") >= 5, "a picture after every mistake"
    assert not re.search(r"\x1b\[[0-9;]*3[1-7]m", terminal.text), "no colour"
    assert "\x1b[?1049h" not in terminal.text, "what was told stays on the screen"


def test_enter_goes_on(tmp_path):
    terminal = Terminal(tmp_path, "tour")
    terminal.until("Press Enter to continue")
    terminal.type("\n")
    terminal.until("2 of 4: You against the adversary")
    terminal.until("is point 7")
    assert adversary.POINTS == 15
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130
