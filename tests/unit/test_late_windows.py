"""Windows of predictions whose labels come late: each label counts where its row was predicted."""

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SettingError
from noregret.late.pending import Pending
from noregret.late.playing import play_late
from noregret.learner import LEARNERS
from noregret.model import load, save
from noregret.watch.windows import Windows


def stream(rounds=100, features=3, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    return X, np.where(X @ rng.normal(size=features) + 0.5 * rng.normal(size=rounds) > 0, 1, -1)


X, Y = stream()
SETTINGS = {"radius": 2.0, "loss": "logistic"}


def events(order, labels=Y, left_out=(), every=None):
    """Predictions in order, and labels as `order` has them: (place after which they come, whose)."""
    made = []
    for t in range(len(X)):
        made.append({"id": t, "x": X[t].tolist()})
        made += [{"id": i, "y": int(labels[i])} for after, i in order if after == t and i not in left_out]
    return made


def test_labels_at_once_are_windows_as_ever():
    """With a delay of 0 every label is there before the next row."""
    plain = nr.play(LEARNERS["ogd"](**SETTINGS), (X, Y), windows=Windows("every:20")).windows
    late = play_late(LEARNERS["ogd"](**SETTINGS), (X, Y), delay=0, windows=Windows("every:20")).run.windows
    assert [one["first"] for one in late["parts"]] == [1, 21, 41, 61, 81]
    for one, other in zip(late["parts"], plain["parts"], strict=True):
        assert one["bound"] == pytest.approx(other["bound"], rel=1e-12)
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-12)
        assert one["frozen"]["loss"] == pytest.approx(other["frozen"]["loss"], rel=1e-12)
        assert (one["mistakes"], one["frozen"]["mistakes"]) == (other["mistakes"], other["frozen"]["mistakes"])


@pytest.mark.parametrize("name", ["ogd", "auto", "multiclass", "ridge", "ftrl"])
@pytest.mark.parametrize("delay", [0, 3, 30, 500])
def test_every_prediction_is_in_one_window(name, delay):
    labels = X[:, 0] * 2.0 if LEARNERS[name]().regression else Y
    late = play_late(LEARNERS[name](), (X, labels), delay=delay, windows=Windows(20))
    parts = late.run.windows["parts"]
    assert sum(one["rounds"] for one in parts) == 100
    assert not any(one.get("open") for one in parts)
    if not late.run.learner.regression:
        assert sum(one["mistakes"] for one in parts) == late.figures["mistakes"]
    assert sum(one["loss"] for one in parts) == pytest.approx(late.figures["loss"])


def test_the_bound_is_that_of_the_plays_as_they_were_predicted():
    late = play_late(LEARNERS["ogd"](**SETTINGS), (X, Y), delay=25, windows=Windows("every:50"), answer=None)
    scores = []
    play_late(LEARNERS["ogd"](**SETTINGS), (X, Y), delay=25, answer=lambda one: scores.append(one.score))
    z = np.array(scores)
    slopes = -Y / (1.0 + np.exp(Y * z))
    for part in late.run.windows["parts"]:
        some = slice(part["first"] - 1, part["last"])
        bound = slopes[some] @ z[some] + 2.0 * np.linalg.norm(slopes[some] @ X[some])
        assert part["bound"] == pytest.approx(bound, rel=1e-12)


def test_the_order_of_the_labels_does_not_matter_for_a_window_that_learns_nothing():
    """A learner that stands still says the same whatever came before: then only the order of labels differs."""
    found = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        order = [(99, int(i)) for i in rng.permutation(100)]
        core = LEARNERS["ogd"](**SETTINGS, rate="constant:1e-300")
        found.append(play_late(core, events(order), windows=Windows("every:25")).run.windows)
    assert found[0] == found[1]


def test_missing_labels_are_told():
    order = [(t, t) for t in range(100)]
    core = LEARNERS["ogd"](**SETTINGS)
    late = play_late(core, events(order, left_out=(3, 4, 45)), expire=30, windows=Windows("every:20"))
    parts = late.run.windows["parts"]
    assert [one.get("expired") for one in parts] == [2, None, 1, None, None]
    assert [one["rounds"] for one in parts] == [18, 20, 19, 20, 20]
    late = play_late(LEARNERS["ogd"](**SETTINGS), events(order, left_out=(3,)), windows=Windows("every:20"))
    first, *rest = late.run.windows["parts"]
    assert (first["waiting"], first["open"], first["rounds"]) == (1, True, 19)
    assert not any("open" in one for one in rest)


def test_a_label_that_is_revised_is_replaced_while_its_window_is_open():
    order = [(t, t) for t in range(10)]
    first = [{"id": t, "x": X[t].tolist()} for t in range(10)]
    log = [*first, *({"id": i, "y": int(Y[i])} for _, i in order), {"id": 2, "y": -int(Y[2]), "revise": True}]
    core = LEARNERS["ogd"](**SETTINGS)
    (part,) = play_late(core, log, windows=Windows("every:20")).run.windows["parts"]
    other = Y[:10].copy()
    other[2] = -other[2]
    log = [*first, *({"id": i, "y": int(other[i])} for _, i in order)]
    (same,) = play_late(LEARNERS["ogd"](**SETTINGS), log, windows=Windows("every:20")).run.windows["parts"]
    assert (part["bound"], part["loss"], part["mistakes"]) == (same["bound"], same["loss"], same["mistakes"])


def test_a_label_that_is_revised_later_leaves_its_window_without_a_claim():
    order = [(t, t) for t in range(100)]
    log = [*events(order), {"id": 30, "y": -int(Y[30]), "revise": True}]
    found = play_late(LEARNERS["ogd"](**SETTINGS), log, windows=Windows("every:20")).run.windows
    assert [one["bound"] is None for one in found["parts"]] == [False, True, False, False, False]
    assert found["parts"][1]["revised"] == 1
    assert found["whole"] is None


@pytest.mark.parametrize("name", ["ogd", "auto", "multiclass"])
@pytest.mark.parametrize("at", [1, 47, 120])
def test_saved_and_gone_on_with_is_never_stopped(name, at, tmp_path):
    rng = np.random.default_rng(7)
    order = [(min(t + int(rng.integers(0, 40)), 99), t) for t in range(100)]
    log = events(order, left_out=(11, 60))
    settings = {} if name != "ogd" else SETTINGS
    whole, first = LEARNERS[name](**settings), LEARNERS[name](**settings)
    one = play_late(whole, log, windows=Windows(10), expire=50)
    play_late(first, log[:at], windows=Windows(10), expire=50)
    save(first, tmp_path / "m.nr")
    second, _ = load(tmp_path / "m.nr")
    other = play_late(second, log[at:])
    assert one.run.windows == other.run.windows
    assert whole.watched == second.watched


def test_what_cannot_be():
    with pytest.raises(SettingError, match="windows='day' cannot be used with late labels"):
        Pending(LEARNERS["ogd"](), windows=Windows("day", time="when"))
    with pytest.raises(SettingError, match="challenger cannot be used with late labels"):
        Pending(LEARNERS["ogd"](), windows=Windows(10, challengers=("m.nr",)))
    core = LEARNERS["ogd"](**SETTINGS)
    nr.play(core, (X, Y), windows=Windows(10))
    with pytest.raises(SettingError, match="are of rounds that had their labels"):
        Pending(core)
    core = LEARNERS["ogd"](**SETTINGS)
    play_late(core, (X, Y), delay=2, windows=Windows(10))
    with pytest.raises(SettingError, match="of predictions whose labels came late"):
        nr.play(core, (X, Y), windows=Windows(10))
    with pytest.raises(SettingError, match="windows='20' conflicts with the model, which has 10"):
        Pending(core, windows=Windows(20))
