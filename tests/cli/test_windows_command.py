"""`learn --windows`: the tables, what is kept, what is drawn, what is refused."""

import json

import numpy as np
import pytest
from command import call


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    y = (X @ [1.0, -1.0] + 0.3 * rng.normal(size=300) > 0).astype(int)
    lines = ["when,a,b,label"]
    lines += [f"2024-01-{1 + i // 20:02d},{a:.4f},{b:.4f},{c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    for name, part in (("one.csv", lines[:151]), ("two.csv", [lines[0], *lines[151:]])):
        (tmp_path / name).write_text("\n".join(part) + "\n")
    return tmp_path


OGD = ("--learner", "ogd", "--loss", "logistic", "--ignore", "when")


def windows(*arguments):
    done = call(*arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)["windows"]


def test_the_table(rows):
    done = call("learn", "t.csv", *OGD, "--windows", "every:100")
    assert done.code == 0
    assert "windows of 100 rounds: logistic loss per row, against any ‖u‖ ≤ 10 (rows as they are)" in done.out
    for text in ("1–100", "101–200", "201–300", "a model for each window", "at most 2 changes, at limits of windows"):
        assert text in done.out
    table = [line for line in done.out.splitlines() if "–" in line]
    assert all(len(line) <= 80 for line in table)


def test_resumed_windows_are_those_of_one_run(rows):
    whole = windows("learn", "t.csv", *OGD, "--windows", "40")
    assert call("learn", "one.csv", *OGD, "--windows", "40", "--save", "m.nr", "--quiet").code == 0
    assert windows("learn", "two.csv", "--resume", "m.nr") == whole
    done = call("learn", "two.csv", "--resume", "m.nr", "--windows", "50")
    assert done.code == 2 and "--windows 50 conflicts with the model, which has 40" in done.err


def test_days_resume_too(rows):
    days = ("--learner", "ogd", "--windows", "day", "--time", "when")
    whole = windows("learn", "t.csv", *days)
    assert [one["rounds"] for one in whole["parts"]] == [20] * 15
    assert call("learn", "one.csv", *days, "--save", "m.nr", "--quiet").code == 0
    again = windows("learn", "two.csv", "--resume", "m.nr", "--windows", "day", "--time", "when")
    assert again == whole


def test_snapshots_keep_the_windows(rows):
    whole = windows("learn", "t.csv", *OGD, "--windows", "40", "--save", "m.nr", "--every", "70")
    assert whole == windows("learn", "t.csv", *OGD, "--windows", "40")


def test_a_challenger_is_measured(rows):
    assert call("learn", "one.csv", *OGD, "--save", "old.nr", "--quiet").code == 0
    found = windows("learn", "t.csv", *OGD, "--windows", "every:100", "--challenger", "old.nr,old.nr")
    assert found["challengers"] == ["old.nr", "old.nr"]
    for part in found["parts"]:
        assert part["challengers"][0] == part["challengers"][1]
        assert 0.0 < part["challengers"][0]["loss"] < 69.4


def test_a_challenger_with_columns_of_its_own(rows):
    """It reads the date as a feature, the learner does not."""
    assert call("learn", "one.csv", "--learner", "ogd", "--save", "old.nr", "--quiet").code == 0
    found = windows("learn", "t.csv", *OGD, "--windows", "every:100", "--challenger", "old.nr")
    assert all(part["challengers"][0]["mistakes"] is not None for part in found["parts"])


def test_another_challenger_of_that_name_is_told(rows):
    for name in ("old.nr", "other.nr"):
        part = "one.csv" if name == "old.nr" else "two.csv"
        assert call("learn", part, *OGD, "--save", name, "--quiet").code == 0
    asked = ("--windows", "40", "--challenger", "old.nr")
    assert call("learn", "one.csv", *OGD, *asked, "--save", "m.nr", "--quiet").code == 0
    (rows / "old.nr").write_bytes((rows / "other.nr").read_bytes())
    done = call("learn", "two.csv", "--resume", "m.nr")
    assert done.code == 2 and "old.nr: is another model than the challenger that the windows began with" in done.err


def test_a_radius_for_learners_without_one(rows):
    found = windows("learn", "t.csv", "--ignore", "when", "--learner", "perceptron", "--windows", "100")
    assert found["against"] == {"domain": "ball", "radius": 10.0, "chosen": "default", "rows": "raw"}
    done = call("learn", "t.csv", "--ignore", "when", "--learner", "perceptron", "--windows", "100")
    assert "hinge loss per row, against any ‖u‖ ≤ 10 (rows as they are; the default radius)" in done.out
    given = ("--learner", "perceptron", "--windows", "100", "--radius", "3")
    assert windows("learn", "t.csv", "--ignore", "when", *given)["against"]["chosen"] == "asked"


def test_receipt_report_inspect_and_picture(rows):
    receipt = ("--windows", "100", "--receipt", "r.json", "--save", "m.nr", "--plot", "w.svg", "--picture", "windows")
    assert call("learn", "t.csv", *OGD, *receipt, "--quiet").code == 0
    assert json.loads((rows / "r.json").read_text())["kind"] == "watched"
    assert call("verify", "r.json", "t.csv", "--quiet").code == 0
    done = call("verify", "r.json", "one.csv")
    assert done.code == 1
    assert call("certify", "m.nr", "t.csv", "--receipt", "c.json", "--quiet").code == 0
    assert json.loads((rows / "c.json").read_text())["watched"] == json.loads((rows / "r.json").read_text())["watched"]
    assert "no ‖u‖ ≤ 10 is below" in (rows / "w.svg").read_text()
    assert call("report", "r.json", "m.nr", "--output", "p.html").code == 0
    assert (rows / "p.html").read_text().count("Regret over all windows") >= 2
    assert "a model for each window" in call("inspect", "m.nr").out


def test_late_labels(rows):
    found = windows("learn", "t.csv", *OGD, "--delay", "30", "--windows", "every:100")
    assert [one["rounds"] for one in found["parts"]] == [100, 100, 100]
    assert call("learn", "t.csv", *OGD, "--delay", "30", "--windows", "100", "--receipt", "r.json", "--quiet").code == 0
    assert call("verify", "r.json", "t.csv", "--quiet").code == 0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--windows", "month"], "--windows must be a number of rounds such as 1000, every:1000, day or week"),
        (["--windows", "day"], "--windows day needs the column with the dates: --time COLUMN"),
        (["--windows", "9", "--time", "when"], "--time goes with --windows day or week"),
        (["--windows", "9", "--passes", "2"], "leave out --passes, got 2"),
        (["--windows", "day", "--time", "nope"], "there is no column 'nope' for --time"),
        (["--windows", "day", "--time", "when", "--time-zone", "Moon"], "--time-zone must be a time zone such as"),
        (["--windows", "day", "--time", "when", "--delay", "3"], "--windows day cannot be used with late labels"),
        (["--windows", "9", "--delay", "3", "--challenger", "m.nr"], "--challenger cannot be used with late labels"),
        (["--windows", "day", "--time", "a"], "a date such as 2024-01-31 was expected"),
        (["--challenger", "m.nr"], "--challenger needs --windows"),
        (["--time", "when"], "--time needs --arrival, or --windows day or week"),
        (["--plot", "w.png", "--picture", "windows"], "--picture must be one of"),
    ],
)
def test_what_cannot_be(rows, given, sentence):
    done = call("learn", "t.csv", *given, "--save", "new.nr")
    assert done.code == 2 and sentence in done.err
    assert not (rows / "new.nr").exists()
