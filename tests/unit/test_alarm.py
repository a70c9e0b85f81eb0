"""Alarms: the native loop against its twin and the golden numbers, the order of late outcomes, restarts, resuming."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import noregret as nr
from noregret import _native
from noregret.errors import InputError, ModelFileError, SettingError
from noregret.late.playing import play_late
from noregret.learner import Auto, MulticlassPerceptron, OnlineGradientDescent, Perceptron
from noregret.model import load, save
from noregret.watch.alarm import Alarm
from noregret.watch.challenger import Challenger
from oracle.alarm import e_values, means, most_frequent, steps

# From golden-live.json, section alarm: bets 2^−j/m for m = 1/8 are 4, 2, 1, ½, of which the section uses only four.
GOLDEN = [0.125, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.125, 0.0, 0.0, 0.0, 0.0]
LATE_START = [
    *(1.0, 0.84375, 1.205078125, 0.9575602213541666, 0.7918370564778646, 0.674083777836391, 1.291908028296062),
    *(1.291908028296062, 1.0410950356828315, 0.8674131971653913, 0.7403728803478948, 0.6430874463666748),
]


def watched(losses, level, threshold=math.inf, numbers=None):
    """E after every round as the native loop has it, up to where it rings."""
    numbers, found = np.zeros(_native.ALARM_NUMBERS) if numbers is None else numbers, []
    for one in losses:
        rung = _native.watch(np.array([one]), level, threshold, numbers) == 0
        found.append(float(numbers[9]))
        if rung:
            break
    return found


def test_the_golden_e_values():
    A, found = [Fraction(0)] * 4, []
    for t, loss in enumerate(GOLDEN, 1):  # four bets with weights ¼, from the definition
        A = [
            (a + Fraction(1, t * (t + 1))) * (1 + bet * (Fraction(loss) - Fraction(1, 8)))
            for a, bet in zip(A, (4, 2, 1, Fraction(1, 2)), strict=True)
        ]
        found.append(float(sum(A) / 4 + Fraction(1, t + 1)))
    assert found == pytest.approx(LATE_START, rel=1e-12)
    eight = [float(one) for one in e_values(GOLDEN, 0.125)]
    assert watched(GOLDEN, 0.125) == pytest.approx(eight, rel=1e-14)
    # the first four of eight bets are those four, with half of the weight: what is missing is the other half
    numbers = np.zeros(_native.ALARM_NUMBERS)
    _native.watch(np.array(GOLDEN), 0.125, math.inf, numbers)
    assert float(numbers[:4].sum()) / 4 + 1 / 13 == pytest.approx(LATE_START[-1], rel=1e-12)


@pytest.mark.parametrize("level", [0.01, 0.1, 0.3, 0.5, 0.95])
@pytest.mark.parametrize("kind", ["binary", "graded", "all 1"])
def test_the_native_loop_is_its_twin_bit_for_bit_and_never_says_too_much(kind, level):
    rng = np.random.default_rng([ord(kind[0]), int(1e4 * level)])
    losses = {
        "binary": (rng.random(300) < min(2 * level, 0.99)).astype(float),
        "graded": rng.random(300),
        "all 1": np.ones(300),
    }[kind]
    for threshold in (20.0, 1e6, math.inf):
        twin = steps(losses.tolist(), level, threshold)
        assert watched(losses, level, threshold) == twin
        numbers = np.zeros(_native.ALARM_NUMBERS)
        place = _native.watch(losses, level, threshold, numbers)
        assert min(place + 1, 300) == len(twin)
        assert numbers[8:10].tolist() == [len(twin), twin[-1]]
        assert numbers[10] == max(twin)
        assert twin[int(numbers[11]) - 1] == numbers[10]
        if place < 300:
            exact = e_values(losses[: place + 1].tolist(), level)
            assert exact[-1] >= Fraction(threshold)


def test_rounding_is_never_more_than_what_is_taken_off():
    rng = np.random.default_rng(5)
    for level in (0.07, 0.3, 0.61):
        losses = (0.6 * rng.random(250)).tolist()
        for t, (found, exact) in enumerate(zip(watched(losses, level), e_values(losses, level), strict=True), 1):
            if exact < Fraction(2) ** 800:
                assert abs(Fraction(found) / exact - 1) <= Fraction(6 * t + 20, 2**53)


def test_an_alarm_that_goes_on_for_ever_stays_finite():
    numbers = np.zeros(_native.ALARM_NUMBERS)
    _native.watch(np.ones(100_000), 1e-9, math.inf, numbers)
    assert np.isfinite(numbers).all()
    assert numbers[9] > 1e200


def test_baselines_are_their_twins():
    rng = np.random.default_rng(2)
    for classes in (1, 2, 5):
        labels = rng.integers(0, classes, 400)
        found = np.empty(400)
        _native.follow_most_frequent(labels, np.zeros(classes, np.int64), np.array([-1], np.int64), found)
        assert found.tolist() == most_frequent(labels.tolist())
    numbers, found = np.arange(20.0), np.empty(20)
    _native.follow_mean(numbers, 0.5, np.zeros(2), found)
    assert found.tolist() == means(numbers.tolist(), 0.5)


def test_bound_functions_refuse_what_does_not_fit():
    with pytest.raises((ValueError, TypeError), match="numbers of an alarm"):
        _native.watch(np.zeros(3), 0.5, 20.0, np.zeros(3))
    with pytest.raises((ValueError, TypeError), match="between 0 and 1"):
        _native.watch(np.zeros(3), 1.0, 20.0, np.zeros(_native.ALARM_NUMBERS))
    with pytest.raises((ValueError, TypeError), match="no place"):
        _native.follow_most_frequent(np.array([2]), np.zeros(2, np.int64), np.array([-1]), np.zeros(1))


# -- runs --------------------------------------------------------------------------------------------------------------


def flips(n=2000, at=1000, seed=0, classes=2):
    """Rows whose concept flips."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    z = X @ np.array([1.0, 2.0, -1.0, 0.0])
    y = np.digitize(z, np.linspace(-2, 2, classes - 1)) if classes > 2 else (z > 0).astype(int)
    y[at:] = classes - 1 - y[at:]
    return X, y


def noisy(n=1200, at=600, until=800, seed=0, classes=2):
    """Rows whose labels are noise for a while."""
    X, y = flips(n, n, seed, classes)
    y[at:until] = np.random.default_rng(seed + 1).integers(0, classes, until - at)
    return X, y


def rounds_of(learner, rows):
    """The scores of a run, and its labels as codes."""
    from noregret.rounds import Gathering

    with Gathering(bool(learner.config["bias"][0])) as keep:
        nr.play(learner, rows, keep=keep)
        done = keep.done()
    return done


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_it_rings_after_the_round_that_the_definition_says(level):
    rows = flips()
    done = rounds_of(Perceptron(), rows)
    wrong = (done.scores * done.y <= 0).astype(float).tolist()
    E = steps(wrong, level, (1 / 0.01) * (1 + 1e-15))
    run = nr.play(Perceptron(), rows, alarm=Alarm(f"level:{level}"))
    expected = [len(E)] if E[-1] > 100 else []
    assert run.alarm["rang"] == expected
    assert run.alarm["rounds"] == run.alarm["watched"] == 2000
    assert run.alarm["e_value"] == steps(wrong, level, math.inf)[-1]
    assert nr.play(Perceptron(), rows).mistakes == run.mistakes  # watching changes nothing


def test_rounds_before_it_is_armed_are_left_out():
    rows = flips(500, 400)
    done = rounds_of(Perceptron(), rows)
    wrong = (done.scores * done.y <= 0).astype(float).tolist()
    run = nr.play(Perceptron(), rows, alarm=Alarm("level:0.2", after=123))
    assert run.alarm["watched"] == 377
    assert run.alarm["e_value"] == steps(wrong[123:], 0.2, math.inf)[-1]


def test_against_the_baseline():
    X, y = flips(800, 500)
    done = rounds_of(Perceptron(), (X, y))
    wrong = (done.scores * done.y <= 0).astype(float)
    held = [(1 + d) / 2 for d in (wrong - np.array(most_frequent(y.tolist()))).tolist()]
    run = nr.play(Perceptron(), (X, y), alarm=Alarm("baseline"))
    assert run.alarm["e_value"] == steps(held, 0.5, math.inf)[-1]


def test_probabilities_and_numbers():
    X, y = flips(300, 200)
    learner = OnlineGradientDescent(loss="logistic")
    done = rounds_of(learner, (X, y))
    p = 1 / (1 + np.exp(-done.scores))
    run = nr.play(OnlineGradientDescent(loss="logistic"), (X, y), alarm=Alarm("level:0.3", loss="brier"))
    brier = ((p - (done.y > 0)) ** 2).tolist()
    assert run.alarm["e_value"] == pytest.approx(steps(brier, 0.3, math.inf)[-1], rel=1e-9)
    known = means((done.y > 0).astype(float).tolist(), 0.5)
    held = [(1 + a - (q - b) ** 2) / 2 for a, q, b in zip(brier, known, (done.y > 0).astype(float), strict=True)]
    run = nr.play(OnlineGradientDescent(loss="logistic"), (X, y), alarm=Alarm("baseline", loss="brier"))
    assert run.alarm["e_value"] == pytest.approx(steps(held, 0.5, math.inf)[-1], rel=1e-9)
    numbers = X @ np.array([1.0, 2.0, -1.0, 0.0])
    done = rounds_of(OnlineGradientDescent(loss="squared"), (X, numbers))
    lost = (np.minimum(np.abs(done.scores - done.y), 2.0) / 2.0).tolist()
    run = nr.play(OnlineGradientDescent(loss="squared"), (X, numbers), alarm=Alarm("level:0.3", loss="clip:2"))
    assert run.alarm["e_value"] == steps(lost, 0.3, math.inf)[-1]
    off = (np.minimum(np.abs(np.array(means(numbers.tolist(), 0.0)) - numbers), 2.0) / 2.0).tolist()
    held = [(1 + a - b) / 2 for a, b in zip(lost, off, strict=True)]
    run = nr.play(OnlineGradientDescent(loss="squared"), (X, numbers), alarm=Alarm("baseline", loss="clip:2"))
    assert run.alarm["e_value"] == pytest.approx(steps(held, 0.5, math.inf)[-1], rel=1e-9)


def test_many_classes_and_weights():
    X, y = flips(900, 500, classes=4)
    run = nr.play(Auto(task="multiclass"), (X, y), alarm=Alarm("baseline"))
    assert run.alarm["watched"] == 900
    rows = X, (y > 1).astype(int)
    run = nr.play(Perceptron(), rows, class_weight={0: 0.0, 1: 2.0}, alarm=Alarm("level:0.2"))
    assert run.alarm["watched"] == np.count_nonzero(y > 1)  # a row of weight 0 is no round


# -- another learner goes on -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [7, 100, 2000])
@pytest.mark.parametrize("make", [Perceptron, lambda: Auto(task="binary"), lambda: OnlineGradientDescent(loss="hinge")])
def test_after_a_restart_the_run_is_that_of_a_new_learner(make, block):
    X, y = noisy()
    learner = make()
    run = nr.play(learner, nr.read((X, y), block_rows=block), alarm=Alarm("level:0.2", on_alarm="restart", after=50))
    lives = [nr.play(make(), (X[a:b], y[a:b])) for a, b in pairwise([0, *run.alarm["rang"], 1200])]
    assert len(lives) == run.alarm["tests"] >= 2
    *earlier, last = lives
    assert run.alarm["earlier"] == [
        {"rounds": one.rounds, "loss": one.loss, "mistakes": one.mistakes} for one in earlier
    ]
    assert (run.rounds, run.mistakes, run.loss) == (last.rounds, last.mistakes, last.loss)
    assert np.array_equal(run.learner.weights, last.learner.weights)


@pytest.mark.parametrize("make", [MulticlassPerceptron, lambda: Auto(task="multiclass")])
def test_a_new_learner_of_many_classes_knows_their_names(make):
    X, y = noisy(classes=3)
    run = nr.play(make(), (X, y), alarm=Alarm("level:0.3", on_alarm="restart", after=100))
    fresh, at = make(), run.alarm["rang"][-1]
    fresh.labels = fresh.labels.again(run.learner.labels.classes)
    for member in getattr(fresh, "cores", []):
        member.labels = fresh.labels
    last = nr.play(fresh, (X[at:], y[at:]))
    assert (run.rounds, run.mistakes, run.loss, run.confusion) == (
        last.rounds,
        last.mistakes,
        last.loss,
        last.confusion,
    )
    assert run.confusion["labels"] == list(dict.fromkeys(y.astype(float).tolist()))


def test_blocks_do_not_matter_to_a_restart():
    X, y = flips(1500, 500)
    y[1000:] = np.random.default_rng(4).integers(0, 2, 500)
    alarm = Alarm("level:0.25", on_alarm="restart", after=20)
    runs = [nr.play(Auto(task="binary"), nr.read((X, y), block_rows=size), alarm=alarm) for size in (1, 64, 500, 1500)]
    assert len(runs[0].alarm["rang"]) >= 2
    assert all(one.alarm == runs[0].alarm and one.loss == runs[0].loss for one in runs)


def test_the_kth_test_spends_its_part():
    X, y = flips(1500, 0)
    y = np.random.default_rng(4).integers(0, 2, 1500)
    run = nr.play(Perceptron(), (X, y), alarm=Alarm("level:0.25", on_alarm="restart", false_alarm=0.05))
    k = run.alarm["tests"]
    assert k == len(run.alarm["rang"]) + 1 > 3
    assert run.alarm["threshold"] == pytest.approx(math.pi**2 * k**2 / 6 / 0.05, rel=1e-14)
    assert run.alarm["threshold"] > math.pi**2 * k**2 / 6 / 0.05 * (1 - 1e-16)
    assert sum(6 / (math.pi**2 * j**2) for j in range(1, 100_000)) <= 1.0


@pytest.mark.parametrize("block", [50, 1200])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_sharing_again_sets_the_weights_to_the_prior_and_nothing_else(task, block):
    X, y = noisy(classes=2 if task == "binary" else 3)
    learner = Auto(task=task)
    alarm = Alarm("level:0.25", on_alarm="reshare", after=100, false_alarm=0.05)
    run = nr.play(learner, nr.read((X, y), block_rows=block), alarm=alarm)
    at = run.alarm["rang"][0]
    other = Auto(task=task)
    nr.play(other, (X[:at], y[:at]))
    loss, members = float(other.state["loss"][0]), [core.arrays() for core in other.cores]
    other.reshare()
    awake = other._awake(other._width_so_far)
    priors = np.where(awake, other.priors, 0.0)
    assert other.shares == pytest.approx(priors / priors.sum(), abs=0.05)
    assert float(other.state["loss"][0]) == loss
    for had, core in zip(members, other.cores, strict=True):
        assert all(np.array_equal(array, core.arrays()[name], equal_nan=True) for name, array in had.items())
    for start, stop in pairwise([*run.alarm["rang"], 1200]):
        if start > at:
            other.reshare()
        nr.play(other, (X[start:stop], y[start:stop]))
    assert other.rounds == run.rounds
    assert float(other.state["loss"][0]) == run.loss
    assert np.array_equal(other.shares, learner.shares)
    assert run.members[0]["since"] == run.alarm["rang"][-1]


def test_a_pool_that_shared_again_is_saved_as_it_is(tmp_path):
    learner = Auto(task="binary")
    nr.play(learner, noisy(), alarm=Alarm("level:0.2", on_alarm="reshare", after=100))
    save(learner, tmp_path / "m.nr")
    again, _ = load(tmp_path / "m.nr")
    assert again.since == learner.since != (0, 0.0)
    assert again.member_figures() == learner.member_figures()
    learner.reset()
    assert learner.since == (0, 0.0)
    assert learner.watched is None


def test_what_needs_one_learner_is_refused(tmp_path):
    from noregret.rounds import Gathering

    X, y = noisy()
    with Gathering(False) as keep, pytest.raises(SettingError, match="one learner from the first round to the last"):
        nr.play(Perceptron(), (X, y), keep=keep, alarm=Alarm("level:0.2", on_alarm="restart"))
    with pytest.raises(SettingError, match="needs a mixture"):
        nr.play(Perceptron(), (X, y), alarm=Alarm("level:0.2", on_alarm="reshare"))
    learner = Perceptron()
    run = nr.play(learner, (X, y), digest=True, alarm=Alarm("level:0.2", on_alarm="restart"))
    assert run.alarm["rang"]
    with pytest.raises(SettingError, match="another learner went on where an alarm rang"):
        nr.certify(run, (X, y))
    with pytest.raises(SettingError, match="one pass"):
        nr.play(Perceptron(), (X, y), passes=2, alarm=Alarm("level:0.2"))


# -- going on ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "alarm",
    [
        Alarm("level:0.2"),
        Alarm("baseline", after=50),
        Alarm("level:0.2", on_alarm="restart", after=20),
        Alarm("level:0.2", on_alarm="reshare", after=20),
    ],
    ids=lambda alarm: f"{alarm.null} {alarm.on_alarm}",
)
@pytest.mark.parametrize("cut", [1, 333, 700, 1199])
def test_two_runs_are_one(tmp_path, alarm, cut):
    X, y = noisy()
    whole = nr.play(Auto(task="binary"), (X, y), alarm=alarm)
    first = Auto(task="binary")
    nr.play(first, (X[:cut], y[:cut]), alarm=alarm)
    save(first, tmp_path / "m.nr")
    second, _ = load(tmp_path / "m.nr")
    run = nr.play(second, (X[cut:], y[cut:]), alarm=alarm)
    assert bool(whole.alarm["rang"]) == (alarm.null != "baseline")
    assert run.alarm == whole.alarm
    assert run.loss == whole.loss
    save(second, tmp_path / "two.nr")
    assert load(tmp_path / "two.nr")[0].watched == second.watched


def test_a_watched_model_is_watched_on(tmp_path):
    X, y = flips(400, 200)
    learner = Perceptron()
    nr.play(learner, (X, y), alarm=Alarm("level:0.4"))
    with pytest.raises(SettingError, match="watched by an alarm"):
        nr.play(learner, (X, y))
    with pytest.raises(SettingError, match="another alarm"):
        nr.play(learner, (X, y), alarm=Alarm("level:0.3"))
    learner.play(nr.read((X, y)).blocks().__next__().rows, np.where(y[:400] > 0, 1.0, -1.0))
    run = nr.play(learner, (X, y), alarm=Alarm("level:0.4"))
    assert run.alarm["unseen"] == 400
    assert run.alarm["rounds"] == 1200
    assert run.alarm["watched"] == 800
    learner.reset()
    assert learner.watched is None


def test_a_damaged_alarm_is_said(tmp_path):
    learner = Perceptron()
    nr.play(learner, flips(100, 50), alarm=Alarm("baseline"))
    good = learner.watched["alarm"]
    for broken in (
        {**good, "test": [1.0]},
        {**good, "test": [-1.0] * 12},
        {**good, "baseline": {}},
        {**good, "armed": "x"},
        {**good, "settings": {**good["settings"], "more": 1}},
        {**good, "figures": {}},
    ):
        learner.watched = {"alarm": broken}
        with pytest.raises(ModelFileError, match="its alarm cannot be read"):
            nr.play(learner, flips(100, 50), alarm=Alarm("baseline"))
    for broken in (
        {"figures": {**good["figures"], "rounds": -1}},
        {"figures": {**good["figures"], "earlier": [{}]}},
        {"settings": {**good["settings"], "after": None}},
        {"settings": {}},
    ):
        learner.watched = {"alarm": {**good, **broken}}
        save(learner, tmp_path / "m.nr")
        with pytest.raises(ModelFileError, match="damaged"):
            load(tmp_path / "m.nr")


# -- challengers -------------------------------------------------------------------------------------------------------


def test_against_a_challenger(tmp_path):
    X, y = flips(1000, 500)
    other = Perceptron()
    nr.play(other, (X[:300], y[:300]))
    save(other, tmp_path / "c.nr")
    alarm = Alarm(f"challenger:{tmp_path / 'c.nr'}")
    flipped = X[300:], np.concatenate([y[300:500], 1 - y[500:]])  # the concept of the challenger stays
    done = rounds_of(OnlineGradientDescent(loss="hinge", rate="constant:0.0001"), flipped)
    wrong = (done.scores * done.y <= 0).astype(float)
    theirs = (flipped[0] @ other.weights + other.bias) * np.where(flipped[1] > 0, 1, -1) <= 0
    held = [(1 + d) / 2 for d in (wrong - theirs).tolist()]
    for block in (1, 64, 700):
        learner = OnlineGradientDescent(loss="hinge", rate="constant:0.0001")
        run = nr.play(learner, nr.read(flipped, block_rows=block), alarm=alarm)
        assert run.alarm["e_value"] == steps(held, 0.5, math.inf)[-1]
    save(learner, tmp_path / "m.nr")
    nr.play(other, (X[300:], y[300:]))
    save(other, tmp_path / "c.nr")
    with pytest.raises(SettingError, match="the model that the alarm began with"):
        nr.play(load(tmp_path / "m.nr")[0], flipped, alarm=alarm)


def table(path, X, y, names="abcd", extra=""):
    path.write_text(
        ",".join([*names, *(["note"] if extra else []), "label"])
        + "\n"
        + "".join(
            ",".join([*(f"{v:.6f}" for v in x), *([f"{extra}{i % 3}"] if extra else []), str(label)]) + "\n"
            for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True))
        )
    )
    return str(path)


@pytest.mark.parametrize("on_alarm", ["continue", "restart"])
def test_a_challenger_reads_the_file_by_its_own_recipe(tmp_path, on_alarm):
    X, y = flips(1000, 500)
    plain = table(tmp_path / "plain.csv", X[:400], y[:400])
    noted = table(tmp_path / "noted.csv", X, y, extra="n")
    other = Perceptron()
    nr.play(other, nr.read(plain))
    save(other, tmp_path / "c.nr")
    alarm = Alarm(f"challenger:{tmp_path / 'c.nr'}", on_alarm=on_alarm, false_alarm=0.5)
    learner = Perceptron()
    run = nr.play(learner, nr.read(noted, block_rows=97, categorical=["note"]), alarm=alarm)
    assert run.alarm["watched"] == 1000
    if on_alarm == "continue":
        done = rounds_of(Perceptron(), nr.read(noted, categorical=["note"]))
        wrong = (done.scores * done.y <= 0).astype(float)
        rows = np.array([[float(f"{v:.6f}") for v in x] for x in X])
        theirs = (rows @ other.weights + other.bias) * np.where(y > 0, 1, -1) <= 0
        held = [(1 + d) / 2 for d in (wrong - theirs).tolist()]
        assert run.alarm["e_value"] == steps(held, 0.5, math.inf)[-1]
    with pytest.raises(SettingError, match="must keep their order"):
        nr.play(Perceptron(), nr.read(noted, categorical=["note"]), shuffle=1, alarm=alarm)
    with pytest.raises(SettingError, match="give one file"):
        nr.play(Perceptron(), nr.read([({"a": 1.0}, 1), ({"a": 2.0}, 0)]), alarm=alarm)


def test_a_challenger_that_cannot_be_is_refused(tmp_path):
    X, y = flips(100, 50)
    numbers = OnlineGradientDescent(loss="squared")
    nr.play(numbers, (X, X[:, 0]))
    save(numbers, tmp_path / "c.nr")
    with pytest.raises(SettingError, match="must predict two classes as the learner does; it predicts numbers"):
        Challenger(str(tmp_path / "c.nr"), Perceptron())
    with pytest.raises(InputError, match="cannot be read"):
        nr.play(Perceptron(), (X, y), alarm=Alarm(f"challenger:{tmp_path / 'none.nr'}"))


# -- late labels -------------------------------------------------------------------------------------------------------


def test_late_outcomes_are_fed_in_the_order_of_the_predictions(tmp_path):
    rng = np.random.default_rng(3)
    X, y = flips(300, 150)
    due = sorted(range(300), key=lambda t: (t + int(rng.integers(0, 40)), t))
    lost = set(rng.choice(300, 20, replace=False).tolist())
    late = nr.Pending(Perceptron(), alarm=Alarm("level:0.2"))
    said, labelled = {}, 0
    for t in range(300 + 41):
        if t < 300:
            late.predict(t, X[t])
            said[t] = float(late.book.waiting[t].said[0])
        while labelled < 300 and due[labelled] <= t - 20:
            one = due[labelled]
            labelled += 1
            if one in lost:
                late.expire(one)
            else:
                late.learn_one(one, int(y[one]))
        if t == 170:  # saved in the middle, and gone on with
            late.save(tmp_path / "m.nr")
            late = nr.Pending(load(tmp_path / "m.nr")[0], alarm=Alarm("level:0.2"))
    for one in due[labelled:]:
        late.expire(one) if one in lost else late.learn_one(one, int(y[one]))
    wrong = [float(said[t] * (1 if y[t] else -1) <= 0) for t in range(300) if t not in lost]
    late.guard.keep()
    figures = late.guard.figures
    assert figures["e_value"] == steps(wrong, 0.2, math.inf)[-1]
    assert (figures["watched"], figures["unlabelled"], figures["waiting"]) == (280, 20, 0)


def test_rounds_that_wait_are_said():
    late = nr.Pending(Perceptron(), alarm=Alarm("level:0.2"))
    for t in range(5):
        late.predict_one(t, [1.0])
    for t in (1, 2, 4):
        late.learn_one(t, 1)
    assert late.guard.figures["waiting"] == 5
    late.learn_one(0, 1)
    assert (late.guard.figures["waiting"], late.guard.figures["watched"]) == (2, 3)
    late.revise(1, -1)  # the first label is what it was judged by
    late.learn_one(3, 1)
    assert late.guard.figures["watched"] == 5


def test_a_new_book_goes_on_where_another_ended(tmp_path):
    X, y = flips(600, 300)
    alarm = Alarm("level:0.2")
    first = Perceptron()
    play_late(first, (X[:350], y[:350]), delay=0, alarm=alarm)
    save(first, tmp_path / "m.nr")
    on = play_late(load(tmp_path / "m.nr")[0], (X[350:], y[350:]), delay=0, alarm=alarm)
    assert on.run.alarm == play_late(Perceptron(), (X, y), delay=0, alarm=alarm).run.alarm
    waits = nr.Pending(Perceptron(), alarm=alarm)
    for t in range(3):
        waits.predict(t, X[t])
    waits.guard.keep()  # what waits is not kept beside it
    on = play_late(waits.core, (X, y), delay=5, alarm=alarm)
    figures = on.run.alarm
    assert (figures["watched"], figures["unlabelled"], figures["waiting"]) == (600, 3, 0)


def test_a_delayed_stream_is_watched_too():
    X, y = flips(600, 300)
    found = play_late(Perceptron(), (X, y), delay=20, alarm=Alarm("level:0.2"))
    assert found.run.alarm["watched"] == 600
    assert found.run.alarm["rang"]
    assert found.to_dict()["alarm"] == found.run.alarm
    with pytest.raises(SettingError, match="late labels"):
        play_late(Perceptron(), (X, y), delay=20, alarm=Alarm("level:0.2", on_alarm="restart"))
    with pytest.raises(SettingError, match="late labels"):
        play_late(Perceptron(), (X, y), delay=20, alarm=Alarm("challenger:x.nr"))


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"null": "level"}, "must be level:M, baseline or challenger:MODEL"),
        ({"null": "level:x"}, "must lie between 0 and 1"),
        ({"null": "level:1"}, "must lie between 0 and 1"),
        ({"null": "level:nan"}, "must lie between 0 and 1"),
        ({"null": "challenger:"}, "must name a model file"),
        ({"null": "baseline", "false_alarm": 1.0}, "above 0 and below 1"),
        ({"null": "baseline", "false_alarm": math.nan}, "above 0 and below 1"),
        ({"null": "baseline", "after": -1}, "whole number of rounds"),
        ({"null": "baseline", "on_alarm": "stop"}, "must be one of continue, restart, reshare"),
        ({"null": "baseline", "loss": "clip:0"}, "zero-one, brier or clip:B"),
        ({"null": "baseline", "loss": "hinge"}, "zero-one, brier or clip:B"),
    ],
)
def test_settings_that_cannot_be(given, sentence):
    with pytest.raises(SettingError, match=sentence):
        Alarm(**given)


def test_losses_that_cannot_be_watched():
    X, y = flips(20, 10)
    with pytest.raises(SettingError, match="must be clip:B for numbers"):
        nr.play(OnlineGradientDescent(loss="squared"), (X, X[:, 0]), alarm=Alarm("level:0.1"))
    with pytest.raises(SettingError, match="is for numbers"):
        nr.play(Perceptron(), (X, y), alarm=Alarm("level:0.1", loss="clip:1"))
    with pytest.raises(SettingError, match="needs probabilities of two classes"):
        nr.play(Perceptron(), (X, y), alarm=Alarm("level:0.1", loss="brier"))
