"""Columns of tables as the commands recognise them: the lines under a table, what overrides them, what is kept."""

import datetime
import json
import random

import pytest

LEARNER = ("--learner", "adagrad", "--loss", "logistic", "--bias", "--scale", "max", "--unit-norm")
SPAM, HAM = ("win", "prize", "cash", "free", "claim"), ("lunch", "meeting", "home", "later", "thanks")
COMMON = ("the", "you", "and", "now", "for", "call", "to", "a")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, header, rows, between=","):
    path.write_text("\n".join([between.join(header), *(between.join(map(str, row)) for row in rows)]) + "\n")


@pytest.fixture
def mail(folder):
    """Messages that are all different, of words that tell what they are."""
    rng = random.Random(5)
    rows = []
    for i in range(600):
        spam = rng.random() < 0.4
        words = [rng.choice(SPAM if spam else HAM), *rng.choices(COMMON, k=6), f"n{i}"]
        rng.shuffle(words)
        rows.append(("spam" if spam else "ham", " ".join(words)))
    write(folder / "mail.csv", ("kind", "message"), rows)


@pytest.fixture
def log(folder):
    """A log of requests: what is asked for depends on the hour and on the day of the week."""
    start = datetime.datetime(2024, 3, 1)
    rows = []
    for i in range(1400):
        at = start + datetime.timedelta(minutes=37 * i)
        busy = int(9 <= at.hour < 17 and at.weekday() < 5)
        rows.append((at.isoformat(sep=" "), f"r{i * 104729:08x}", f"{1 + i % 9}.{i % 10}%", busy))
    write(folder / "log.csv", ("time", "request", "load", "y"), rows)
    for name, part in (("first.csv", rows[:800]), ("second.csv", rows[800:])):
        write(folder / name, ("time", "request", "load", "y"), part)


def figures(noregret, *options):
    answer = noregret("learn", *options, "--json")
    assert answer.code == 0, answer.err
    return answer.json


def test_free_text_is_learned_from_by_word(noregret, mail):
    found = figures(noregret, "mail.csv", "--label", "kind", *LEARNER)
    assert found["columns"] == {"message": "text"}
    assert found["mistakes"] < 30
    assert found == {
        **figures(noregret, "mail.csv", "--label", "kind", "--text", "message", *LEARNER),
        **{key: found[key] for key in ("decisions", "seconds", "this_run")},
    }
    whole = figures(noregret, "mail.csv", "--label", "kind", "--categorical", "message", *LEARNER)
    assert whole["mistakes"] > 200  # every message is a category of its own


def test_decisions_stand_under_the_table_with_what_overrides_them(noregret, log):
    answer = noregret("learn", "log.csv", *LEARNER)
    assert answer.out.splitlines()[-4:] == [
        "label: column 'y' holds the label (override: --label COLUMN)",
        "date: column 'time' holds dates: days since 2024-03-01, the weekday and the hour"
        " (override: --categorical time)",
        "left out: column 'request' is different in nearly every row (override: --keep request)",
        "numeric: column 'load' holds numbers such as '1.0%', read as 1 (override: --categorical load)",
    ]
    options = ("--label", "y", "--date", "time", "--keep", "request", "--categorical", "load")
    answer = noregret("learn", "log.csv", *options, *LEARNER)
    assert "column" not in answer.out and "hashed: load, request" in answer.out
    quiet = noregret("learn", "log.csv", *LEARNER, "--quiet")
    assert (quiet.out, quiet.err) == ("", "")


def test_hours_and_weekdays_help(noregret, log):
    found = figures(noregret, "log.csv", *LEARNER)
    assert found["columns"]["time"] == "date ymd since 2024-03-01 with hours"
    without = figures(noregret, "log.csv", "--ignore", "time", *LEARNER)
    assert found["mistakes"] < 0.5 * without["mistakes"]


@pytest.fixture
def small(folder):
    """A log that is solved at once: a date, an identity, an amount and a score in each row."""
    days = [datetime.date(2024, 1, 31) + datetime.timedelta(i) for i in range(60)]
    rows = [(days[i], f"r{i * 104729:08x}", f"${i % 7}", i % 5 - 2, i % 2) for i in range(60)]
    write(folder / "small.csv", ("day", "request", "price", "score", "y"), rows)


COMMANDS = {
    "compare": ("compare", "small.csv", "--learner", "perceptron"),
    "separate": ("separate", "small.csv", "--seconds", "1"),
    "audit": ("audit", "small.csv", "--score", "score", "--seconds", "1"),
}


@pytest.mark.parametrize("command", [*COMMANDS.values(), ("cache", "small.csv")])
def test_each_option_is_taken_by_every_command_that_reads_columns(noregret, small, command):
    options = ("--label", "y", "--date", "day", "--keep", "request", "--numeric", "price", "--hash-bits", "8")
    answer = noregret(*command, *options)
    assert (answer.code, answer.err) == (0, "") and "column" not in answer.out.replace("columns", "")
    for option in ("--date", "--keep", "--numeric"):
        answer = noregret(*command, "--label", "y", option, "nothing")
        assert answer.code == 2 and f"there is no column 'nothing' for {option}" in answer.err


@pytest.mark.parametrize("command", COMMANDS.values())
def test_other_commands_say_what_they_recognised(noregret, small, command):
    answer = noregret(*command)
    assert "left out: column 'request' is different in nearly every row (override: --keep request)" in answer.out
    assert "date: column 'day' holds dates: days since 2024-01-31 and the weekday" in answer.out


def test_an_audit_has_its_decisions_in_json(noregret, small):
    found = noregret(*COMMANDS["audit"], "--json").json
    assert len(found["decisions"]) == 4 and "day.weekday=Friday" in found["columns"]


def test_a_model_that_goes_on_predicts_as_one_that_never_stopped(noregret, log, folder):
    assert noregret("learn", "log.csv", *LEARNER, "--save", "whole.nr", "--quiet").code == 0
    assert noregret("learn", "first.csv", *LEARNER, "--save", "part.nr", "--quiet").code == 0
    going = noregret("learn", "second.csv", "--resume", "part.nr", "--label", "y", "--save", "both.nr")
    assert (going.code, going.err) == (0, "") and "column" not in going.out
    for name in ("whole", "both"):
        assert noregret("predict", f"{name}.nr", "log.csv", "-o", f"{name}.csv").code == 0
    assert (folder / "whole.csv").read_text() == (folder / "both.csv").read_text()
    shown = noregret("inspect", "both.nr", "--json").json["columns"]
    assert shown["time"] == "date ymd since 2024-03-01 with hours" and shown["request"] == "left out"


def test_receipts_say_how_columns_were_read_and_are_verified_by_it(noregret, log, folder):
    assert noregret("learn", "first.csv", *LEARNER, "--save", "m.nr", "--quiet").code == 0
    assert noregret("learn", "second.csv", "--resume", "m.nr", "--save", "m.nr", "--quiet").code == 0
    made = noregret("certify", "m.nr", "first.csv", "second.csv", "--seconds", "1", "--receipt", "r.json", "--quiet")
    assert (made.code, made.err) == (0, "")
    said = json.loads((folder / "r.json").read_text())["reading"]
    assert said["label"] == "y" and said["columns"] == {
        "time": "date ymd since 2024-03-01 with hours",
        "load": "number with decimal point",
        "request": "left out",
    }
    assert noregret("verify", "r.json", "first.csv", "second.csv", "--quiet").code == 0
    text = (folder / "second.csv").read_text()
    (folder / "second.csv").write_text(text.replace(text.splitlines()[1][:16], "2024-03-02 03:00", 1))
    assert noregret("verify", "r.json", "first.csv", "second.csv", "--quiet").code == 1


def test_a_proof_of_separation_is_verified_as_it_was_read(noregret, small, folder):
    assert noregret("separate", "small.csv", "--seconds", "5", "--proof", "p.json", "--quiet").code == 0
    assert json.loads((folder / "p.json").read_text())["reading"]["columns"]["request"] == "left out"
    assert noregret("verify", "p.json", "small.csv", "--quiet").code == 0


def test_a_table_without_a_label_names_its_columns_and_the_option(noregret, folder):
    (folder / "t.csv").write_text("a,b\n1,2\n")
    answer = noregret("learn", "t.csv")
    assert answer.code == 2
    assert answer.err == (
        "noregret: t.csv: no column is named label, target, class, outcome or y"
        " (say which one is the label: --label COLUMN): the columns are a, b\n"
    )


def test_many_decisions_are_cut_short_for_people_and_whole_in_json(noregret, folder):
    names = [f"c{i}" for i in range(25)]
    write(folder / "wide.csv", ("label", *names), [(i % 2, *["$5"] * 25) for i in range(4)])
    assert noregret("learn", "wide.csv").out.splitlines()[-1] == "and 6 more lines about other columns"
    assert len(figures(noregret, "wide.csv")["decisions"]) == 25


def test_names_with_control_characters_are_shown_escaped(noregret, folder):
    (folder / "t.csv").write_text('label,"a\x1b[31m"\n1,$5\n0,$7\n')
    out = noregret("learn", "t.csv").out
    assert "\x1b" not in out and r"(override: --categorical 'a\x1b[31m')" in out
