"""`noregret cache` and `--cache`: what is kept, what is used, and that nothing else changes."""

import os
import signal
import time
from pathlib import Path

import pytest
from command import learned, numbers, snapshot

from noregret import model

CACHE = "rows.svm.nrcache"


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("own")))


def damaged(path, at):
    held = bytearray(Path(path).read_bytes())
    held[at] ^= 1
    Path(path).write_bytes(held)


def test_it_says_what_it_did(noregret, rows):
    made, again = noregret("cache", rows, "--json").json, noregret("cache", rows, "--json").json
    assert (made["made"], again["made"]) == (True, False)
    assert (made["rows"], made["features"], made["values"]) == (400, 3, 1200)
    assert made["bytes"] == Path(CACHE).stat().st_size
    assert made["ratio"] == made["bytes"] / Path(rows).stat().st_size
    assert made["cache"] == CACHE
    table = noregret("cache", rows)
    assert table.out.startswith(f"{CACHE}: up to date\n")
    assert table.rows()["rows"] == ["400"]
    assert noregret("cache", rows, "--quiet").out == ""


def test_learning_is_the_same(noregret, rows):
    plain = noregret("learn", rows, "--learner", "ogd", "--passes", 3, "--save", "a.nr", "--json")
    for name in ("b.nr", "c.nr"):
        cached = noregret("learn", rows, "--learner", "ogd", "--passes", 3, "--cache", "--save", name, "--json")
        assert numbers(cached) == numbers(plain)
        assert learned(name) == learned("a.nr")
    assert noregret("cache", rows, "--check").code == 0


def test_a_table_with_words_is_the_same(noregret, mail):
    options = ("--text", "subject", "--hash-bits", 8, "--shuffle", 3)
    noregret("learn", mail, *options, "--save", "a.nr", "--quiet")
    for name in ("b.nr", "c.nr"):
        assert noregret("learn", mail, *options, "--cache", "--save", name, "--quiet").code == 0
        assert learned(name) == learned("a.nr")
        assert model.load(name)[0].features.to_dict() == model.load("a.nr")[0].features.to_dict()
    plain = noregret("predict", "a.nr", mail).out
    before = os.stat("mail.csv.nrcache").st_ino
    assert noregret("predict", "a.nr", mail, "--cache").out == plain
    assert os.stat("mail.csv.nrcache").st_ino == before  # served by the one that learn made


@pytest.mark.parametrize(
    "command",
    [
        ("certify", "m.nr", "rows.svm", "--json"),
        ("verify", "r.json", "rows.svm", "--json"),
        ("compare", "rows.svm", "--learner", "perceptron", "--json"),
        ("separate", "rows.svm", "--json"),
        ("predict", "m.nr", "rows.svm"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_says_the_same_from_the_cache(noregret, rows, command):
    noregret("learn", rows, "--learner", "ogd", "--save", "m.nr", "--receipt", "r.json", "--quiet")

    def said(*more):
        answer = noregret(*command, *more)
        assert answer.code == 0, answer.err
        if "--json" not in command:
            return answer.out
        return without_times(answer.json)

    plain = said()
    assert said("--cache") == plain
    assert Path(CACHE).is_file()
    Path(rows).rename("away.svm")
    os.link("away.svm", rows)
    assert said("--cache") == plain


def without_times(found):
    if isinstance(found, dict):
        return {key: without_times(value) for key, value in found.items() if key != "seconds"}
    return [without_times(one) for one in found] if isinstance(found, list) else found


def test_error_sentences_name_the_line_of_the_file(noregret, here):
    Path("rows.svm").write_text("+1 1:0.5\n\n-1 1:nan\n+1 1:2\n")
    plain = noregret("learn", "rows.svm")
    assert (plain.code, plain.err) == (
        2,
        "noregret: rows.svm:3: feature 1 is missing (NaN): use --missing mean, zero or skip\n",
    )
    assert noregret("learn", "rows.svm", "--cache") == plain
    assert not Path(CACHE).exists()
    assert noregret("cache", "rows.svm", "--quiet").code == 0  # values that are missing are kept as such
    assert noregret("learn", "rows.svm", "--cache") == plain
    for rule in ("zero", "skip"):
        ours, theirs = (
            noregret("learn", "rows.svm", "--missing", rule, "--json", *more) for more in ((), ("--cache",))
        )
        assert numbers(ours) == numbers(theirs)


def test_a_check_finds_damage_and_change(noregret, rows):
    noregret("cache", rows, "--quiet")
    right = noregret("cache", rows, "--check")
    assert (right.code, right.out) == (0, f"{CACHE}: intact, and up to date with {rows}\n")
    assert noregret("cache", rows, "--check", "--json").json["right"] is True
    damaged(CACHE, 4500)
    wrong = noregret("cache", rows, "--check")
    assert (wrong.code, wrong.err) == (
        1,
        f"noregret: {CACHE}: block 1 is damaged: the next use will rebuild it\n",
    )
    assert noregret("learn", rows, "--cache", "--quiet").code == 0
    assert noregret("cache", rows, "--check").code == 0
    Path(rows).write_text(Path(rows).read_text() + "+1 1:1\n")
    changed = noregret("cache", rows, "--check", "--json")
    assert (changed.code, changed.json["right"]) == (1, False)


def test_remove_removes_the_cache_and_nothing_else(noregret, rows, here):
    before = snapshot(here)
    noregret("cache", rows, "--quiet")
    assert noregret("cache", rows, "--remove").out == f"{CACHE}: removed\n"
    assert snapshot(here) == before
    assert noregret("cache", rows, "--remove").err == f"noregret: {rows}: has no cache\n"
    Path(CACHE).write_text("my own notes")
    assert noregret("cache", rows, "--remove").code == 2
    assert Path(CACHE).read_text() == "my own notes"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("learn", "-", "--cache"), "standard input: cannot be cached, for it can be read only once: give a file"),
        (("cache", "-"), "standard input: cannot be cached, for it can be read only once: give a file"),
        (("cache", "nowhere.svm"), "nowhere.svm: there is no such file"),
        (("cache", "*.svm"), "cache takes one file, and *.svm stands for several: use learn with --cache"),
        (("cache", "rows.svm", "--check"), "rows.svm: has no cache"),
        (("cache", "rows.svm", "--check", "--remove"), "--check and --remove cannot be combined"),
        (
            ("cache", "rows.svm", "--remove", "--label", "x"),
            "--label sets how a cache is made and cannot be combined with --remove",
        ),
        (("cache", "rows.svm", "--label", "x"), "--label names a column, but an svmlight file has no named columns"),
    ],
    ids=lambda given: given if isinstance(given, str) else None,
)
def test_what_cannot_be_is_one_sentence(noregret, rows, arguments, sentence):
    answer = noregret(*arguments, stdin=b"+1 1:1\n")
    assert (answer.code, answer.err) == (2, f"noregret: {sentence}\n")


def test_an_interrupted_run_leaves_no_cache(start, here):
    Path("rows.svm").write_text("+1 1:1 2:0.5\n-1 1:2 3:0.25\n" * 150_000)
    running = start("learn", "rows.svm", "--cache", "--quiet")
    while not any(path.name.endswith(".part") for path in here.iterdir()):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert [path.name for path in here.iterdir()] == ["rows.svm"]
