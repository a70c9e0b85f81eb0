"""Windows of a log: the same bounds as in the run that wrote it."""

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SettingError
from noregret.watch.windows import Windows


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(250, 3))
    y = np.where(X @ rng.normal(size=3) + rng.normal(size=250) > 0, 1, -1)
    scores = []
    learner = nr.OnlineGradientDescent(radius=2.0, loss="logistic")
    run = nr.play(
        learner, (X, y), windows=Windows("every:60"), watch=lambda block, labels, said: scores.append(said.copy())
    )
    lines = ["a,b,c,label,score"]
    lines += [
        ",".join(map(repr, [*row, int(label), score]))
        for row, label, score in zip(X.tolist(), y, np.concatenate(scores).tolist(), strict=True)
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "log.csv"), run


def test_the_windows_of_a_log_are_those_of_the_run(log):
    path, run = log
    found = nr.audit(path, score="score", loss="logistic", radius=2.0, windows="every:60").windows
    for one, other in zip(found["parts"], run.windows["parts"], strict=True):
        assert {key: one[key] for key in ("first", "last", "rounds", "mistakes", "bound", "best_at_least")} == {
            key: other[key] for key in ("first", "last", "rounds", "mistakes", "bound", "best_at_least")
        }
        assert one["frozen"] is None
    assert found["whole"] == run.windows["whole"]


def test_no_best_model_of_a_window_is_below_its_bound(log):
    path, _ = log
    found = nr.audit(path, score="score", loss="logistic", radius=2.0, segments=5, windows="every:50")
    assert len(found.windows["parts"]) == 5
    for part, one in zip(found.segments, found.windows["parts"], strict=True):
        assert one["best_at_least"] <= part.best.upper
        assert part.regret.lo <= one["bound"]
    assert found.to_dict()["windows"] == found.windows


def test_joined_windows_of_a_log(log):
    path, _ = log
    found = nr.audit(path, score="score", loss="logistic", radius=2.0, windows=10, bias=True).windows
    assert sum(one["rounds"] for one in found["parts"]) == 250
    assert found["joined"] and len(found["parts"]) < 25


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"windows": "day"}, "windows='day' needs the column with the dates"),
        ({"time": "a"}, "audit: time goes with windows"),
        ({"windows": 0}, "windows must be a number of rounds"),
        ({"windows": 10, "segment_by": "a"}, "audit: windows and segment_by cannot be combined"),
    ],
)
def test_what_cannot_be(log, given, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.audit(log[0], score="score", **given)


def test_days_of_a_log_are_those_of_the_run(tmp_path):
    rng = np.random.default_rng(3)
    lines, days = ["when,a,b,score,label"], []
    for day in (1, 1, 1, 2, 2, 5, 5, 5, 5, 9):
        a, b, score = rng.normal(size=3)
        days.append(day)
        lines.append(f"2024-01-{day:02}T{rng.integers(0, 23):02}:00:00,{a},{b},{score},{int(a > 0)}")
    path = tmp_path / "log.csv"
    path.write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n")
    found = nr.audit(path, score="score", radius=2.0, windows="day", time="when").windows
    assert [part["from"] for part in found["parts"]] == ["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-09"]
    assert [part["rounds"] for part in found["parts"]] == [3, 2, 4, 1]
    every = nr.audit(path, score="score", radius=2.0, ignore=["when"], windows="every:3").windows
    assert every["parts"][0]["bound"] == found["parts"][0]["bound"]
    weeks = nr.audit(path, score="score", radius=2.0, windows="week", time="when", time_zone="Europe/Paris").windows
    assert [part["rounds"] for part in weeks["parts"]] == [9, 1]
    path.write_text("\n".join([lines[0], *sorted(lines[1:], reverse=True)]) + "\n")
    with pytest.raises(nr.InputError, match="sort by time"):
        nr.audit(path, score="score", radius=2.0, windows="day", time="when")
