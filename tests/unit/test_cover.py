"""Intervals and sets whose coverage is tracked: the core against its definition, going on, late labels, estimators."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

import noregret as nr
from noregret import model
from noregret._native import BINS, COVER_COUNTS, COVER_NUMBERS, SIZES, WARM, cover_classes, cover_numbers, judge_odds
from noregret.errors import ModelFileError, SettingError
from noregret.late.pending import Pending
from noregret.late.playing import play_late
from noregret.learner import LEARNERS
from noregret.learner.cover import Cover, edges
from noregret.learner.sure import Sure, intervals
from noregret.stream import Dense
from oracle import cover as oracle
from oracle.registry import everything

NONE = np.zeros(0)


def given(target, first, step):
    """One that has its threshold and its step already."""
    made = Cover(target)
    made.numbers[2:4] = first, step
    return made


# -- the golden numbers ------------------------------------------------------------------------------------------------

SCORES = [2.625, 1.375, 2.5, 0.25, 0.625, 0.75, 0.625, 1.125, 1.5, 2.5]  # golden-live.json, section quantile
AT_ONCE = [1.21875, 1.4375, 1.65625, 1.625, 1.59375, 1.5625, 1.53125, 1.5, 1.46875, 1.6875]
LATER = [1.21875, 1.4375, 1.65625, 1.625, 1.59375, 1.5625, 1.53125, 1.5, 1.71875, 1.6875]
DELAYS = [0, 0, 0, 1, 0, 0, 0, 0, 3, 1]
ORDER = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]


def test_the_golden_thresholds():
    made = given(0.875, 1.0, 0.25)
    found = made.play_numbers(np.zeros(10), np.array(SCORES), NONE)
    assert [*found[1:], made.q] == AT_ONCE and found[0] == 1.0
    assert made.counts[2] == 4 and made.counts[2] - 0.125 * 10 == 2.75 == (made.q - 1.0) / 0.25


def test_the_golden_thresholds_of_late_labels():
    made, shown, found = given(0.875, 1.0, 0.25), {}, []
    due = sorted(range(10), key=lambda t: (t + DELAYS[t], t))
    for t in range(10):
        shown[t] = made.q, made.rounds
        for k in [k for k in due if max(k + DELAYS[k], 0) == t or (t == 9 and k + DELAYS[k] > 9)]:
            made.number(0.0, SCORES[k], *shown[k])
            found.append((k, made.q))
    assert [k for k, _ in found] == ORDER and [q for _, q in found] == LATER


# -- the definition ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_numbers_are_tracked_as_defined(seed):
    rng = np.random.default_rng(seed)
    said, y = rng.normal(size=(2, 300)) * 10.0 ** rng.integers(-3, 4)
    weights = NONE if seed % 2 else rng.choice([0.0, 1.0, 2.5], 300)
    target = float(rng.choice([0.5, 0.9, 0.99, 0.05]))
    made, twin = Cover(target), oracle.Tracker(target)
    found = made.play_numbers(said, y, weights)
    for t in range(300):
        if len(weights) and weights[t] == 0.0:
            assert math.isnan(found[t])
            continue
        assert found[t] == twin.q or math.isnan(found[t]) is math.isnan(twin.q) is True
        twin.label(abs(y[t] - said[t]))
    assert made.counts.tolist()[:3] == [twin.unset, len(twin.scored), twin.misses]
    assert made.q == twin.q and made.numbers[4] == twin.largest


@pytest.mark.parametrize("seed", range(6))
def test_two_classes_are_tracked_as_defined(seed):
    rng = np.random.default_rng(seed)
    odds = 3.0 * rng.normal(size=400)
    y = np.where(rng.random(400) < 1.0 / (1.0 + np.exp(-odds)), 1.0, -1.0)
    made, twin, sizes = Cover(0.9), oracle.Tracker(0.9), []
    found = made.play_two(odds, y, NONE)
    for t in range(400):
        others = [1.0 / (1.0 + math.exp(-s * odds[t])) for s in (1.0, -1.0)]  # 1 − p of −1 and of +1
        if not math.isnan(twin.q):
            sizes.append(sum(one <= twin.q for one in others))
        assert found[t] == pytest.approx(twin.q, rel=1e-9, nan_ok=True)
        twin.label(others[int(y[t] > 0.0)])
    assert made.counts.tolist()[:5] == [50, 350, twin.misses, sizes.count(0), sizes.count(2)]
    assert made.sizes[:3].tolist() == [sizes.count(n) for n in range(3)]


def test_many_classes_are_tracked_as_defined():
    rng, made, twin, sizes = np.random.default_rng(0), Cover(0.8), oracle.Tracker(0.8), []
    for t in range(300):
        p = rng.dirichlet(np.ones(2 + t // 100))  # a class more every hundred rounds
        y = int(rng.integers(len(p) + (t % 50 == 49)))  # now and then one never seen
        if not math.isnan(twin.q):
            sizes.append(int(np.count_nonzero(1.0 - p <= twin.q)))
        made.classes(1.0 - p, y, made.q, made.rounds)
        twin.label(1.0 - p[y] if y < len(p) else 1.0)
        assert made.q == twin.q or math.isnan(twin.q)
    assert made.counts.tolist()[:3] == [50, 250, twin.misses] and sum(sizes) == made.numbers[5]


@pytest.mark.parametrize(
    ("scores", "step", "first"),
    [
        ([0.0] * 30 + [2.0] * 20, 0.1, 2.0),  # the median of those above 0
        ([0.0] * 49 + [3.0], 0.15, 0.0),
        ([1.0] * 50, 0.05, 1.0),
        ([float(t) for t in range(50)], 0.05 * 24.5, 44.0),
    ],
)
def test_what_the_first_labels_set(scores, step, first):
    made = Cover(0.9)
    made.play_numbers(np.zeros(50), np.array(scores), NONE)
    assert made.numbers[3] == pytest.approx(step) and made.numbers[2] == first
    assert made.q == first


def test_there_is_no_set_while_all_scores_are_0():
    made = Cover(0.9)
    assert np.isnan(made.play_numbers(np.ones(200), np.ones(200), NONE)).all() and math.isnan(made.q)
    assert made.figures(True)["coverage"] is None and made.figures(True)["without"] == 200
    made.play_numbers(np.zeros(1), np.ones(1), NONE)
    assert made.q == 0.0 and made.numbers[3] == 0.05


def test_scores_beyond_all_floats_are_the_largest():
    made = Cover(0.9)
    found = made.play_numbers(np.full(60, -1.7e308), np.full(60, 1.7e308), NONE)
    assert found[50] == 1.7976931348623157e308 and made.counts[1] == 10
    assert made.figures(True)["width"]["mean"] is None and made.figures(True)["width"]["median"]["upper"] is None


def test_the_state_is_never_clipped():
    made = given(0.5, 1.0, 0.5)
    found = made.play_numbers(np.zeros(21), np.zeros(21), NONE)
    assert min(found) == -0.25 == made.q and made.figures(True)["empty"] == 8 / 21
    assert intervals(np.array([7.0]), np.array([made.q])).tolist() == [[math.inf, -math.inf]]


def test_widths_lie_in_their_bins():
    rng, made = np.random.default_rng(1), Cover(0.9)
    found = made.play_numbers(np.zeros(500), rng.normal(size=500), NONE)
    widths = sorted(2.0 * max(q, 0.0) for q in found if not math.isnan(q))
    said = made.figures(True)["width"]
    for name, rank in (("median", 225), ("p95", 428)):
        assert said[name]["lower"] <= widths[rank - 1] <= said[name]["upper"] * (1.0 + 1e-12)
        assert said[name]["upper"] <= said[name]["lower"] * (1.0 + 1.0 / 64.0) + 1e-300
    assert said["mean"] == pytest.approx(sum(widths) / len(widths))
    for place in range(2, SIZES - 1):
        assert edges(place)["upper"] == edges(place + 1)["lower"]


# -- with learners -----------------------------------------------------------------------------------------------------


def rows(rounds=260, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.7 * rng.normal(size=rounds)


def of_kind(y, kind):
    return {"numbers": y, "two": np.where(y > 0.0, 1.0, -1.0), "many": np.digitize(y, [-1.0, 1.0]).astype(float)}[kind]


CASES = {
    "vaw": ("numbers", {}),
    "persistence": ("numbers", {}),
    "auto-numbers": ("numbers", {"task": "regression"}),
    "perceptron": ("two", {"calibrate": True}),
    "adagrad": ("two", {"calibrate": True, "scale": "standard"}),
    "kernel": ("two", {}),
    "markov": ("two", {"calibrate": True}),
    "auto": ("two", {"calibrate": True}),
    "multiclass": ("many", {"scale": "max"}),
    "softmax": ("many", {"scale": "standard", "lags": 2}),
    "softmax-newton": ("many", {}),
    "auto-many": ("many", {"task": "multiclass"}),
}


def made_of(name):
    kind, settings = CASES[name]
    return LEARNERS[name.removesuffix("-numbers").removesuffix("-many")](cover=0.8, **settings), kind


@pytest.mark.parametrize("name", CASES)
def test_sets_change_nothing_else_and_any_split_is_one_run(name):
    core, kind = made_of(name)
    X, y = rows()
    y = of_kind(y, kind)
    weights = np.where(np.arange(260) % 17 == 3, 0.0, 1.0)
    scores = core.play(Dense(X), y, weights)
    plain = type(core)(
        **{**core.settings, "cover": None, **({"calibrate": False} if "calibrate" in core.settings else {})}
    )
    assert np.array_equal(plain.play(Dense(X), y, weights), scores, equal_nan=True)
    assert all(np.array_equal(array, core.arrays()[key]) for key, array in plain.arrays().items())
    parts, _ = made_of(name)
    for start, stop in ((0, 1), (1, 90), (90, 91), (91, 260)):
        parts.play(Dense(X[start:stop]), y[start:stop], weights[start:stop])
    one, _ = made_of(name)
    for t in range(260):
        one.play(Dense(X[t : t + 1]), y[t : t + 1], weights[t : t + 1])
    assert everything(core) == everything(parts) == everything(one)
    assert core.sure.cover.rounds == np.count_nonzero(weights) - WARM


@pytest.mark.parametrize("name", CASES)
def test_saved_and_gone_on_with_is_one_run(name, tmp_path):
    core, kind = made_of(name)
    X, y = rows()
    y = of_kind(y, kind)
    whole, _ = made_of(name)
    nr.play(whole, (X[:100], y[:100])), nr.play(whole, (X[100:], y[100:]))
    nr.play(core, (X[:100], y[:100]))
    model.save(core, tmp_path / "m.nr")
    again, _ = model.load(tmp_path / "m.nr")
    copied = pickle.loads(pickle.dumps(core))
    for other in (again, copied):
        run = nr.play(other, (X[100:], y[100:]))
        assert everything(other) == everything(whole)
        assert run.coverage["rounds"] == 210


@pytest.mark.parametrize("name", CASES)
def test_labels_that_come_at_once_are_as_in_any_run(name):
    core, kind = made_of(name)
    X, y = rows()
    y = of_kind(y, kind)
    run = nr.play(core, (X, y))
    late = play_late(made_of(name)[0], (X, y), delay=0)
    if not name.startswith("auto") and core.settings["scale"] != "standard":  # whose scores then know their own row
        assert late.run.coverage == run.coverage and late.run.calibration == run.calibration
    later = play_late(made_of(name)[0], (X, y), delay=30).run.coverage
    assert later["between"] == 30 and later["without"] == WARM + 30 + 30
    assert later["least_misses"] <= later["misses"] <= later["most_misses"]


@pytest.mark.parametrize("name", ["vaw", "adagrad", "softmax"])
def test_late_labels_go_on_from_a_file(name, tmp_path):
    X, y = rows()
    core, kind = made_of(name)
    y = of_kind(y, kind)
    events = [{"id": t, "x": X[t].tolist()} for t in range(260)]
    order = [
        k for t in range(260) for k in ([events[t]] + ([{"id": t - 20, "y": float(y[t - 20])}] if t >= 20 else []))
    ]
    whole = Pending(core)
    play_late(whole, order)
    half = Pending(made_of(name)[0])
    play_late(half, order[:301])
    half.save(tmp_path / "m.nr")
    rest = nr.load(tmp_path / "m.nr")
    play_late(rest, order, skip_seen=True)
    for key, array in whole.core.sure.arrays().items():
        assert np.array_equal(rest.core.sure.arrays()[key], array)
    assert rest.core.sure.cover.rounds > 100


def test_a_revision_is_left_to_the_first_label():
    late = Pending(LEARNERS["vaw"](cover=0.9))
    for t in range(80):
        late.both([float(t % 5)], float(t % 7), id=t)
    counts = late.core.sure.cover.counts.copy()
    assert late.revise(70, 100.0) == "revised" and counts[1] == 30
    assert np.array_equal(late.core.sure.cover.counts, counts)


def test_answers_hold_what_was_said_when_the_row_came():
    late = Pending(LEARNERS["adagrad"](cover=0.9, calibrate=True))
    assert late.predict("first", [1.0]).set is None
    late.learn_one("first", 1)
    for t in range(80):
        late.both([float(t % 3 - 1)], 1 if t % 3 else -1)
    answer = late.predict("last", [0.0])
    assert answer.set == [1, -1][: len(answer.set)] or answer.set == [-1, 1][: len(answer.set)]
    assert answer.to_dict()["set"] == answer.set and "interval" not in answer.to_dict()
    told = late.book.waiting["last"].told
    assert answer.probability == pytest.approx(1.0 / (1.0 + math.exp(-told.odds)))
    for t in range(50):
        late.both([float(t % 3 - 1)], 1)
    assert late.answer("last", late.book.waiting["last"]).set == answer.set


def test_intervals_in_answers():
    late = Pending(LEARNERS["vaw"](cover=0.9))
    for t in range(60):
        answer = late.both([1.0], float(t % 2))
    low, high = answer.interval
    assert low <= answer.score <= high and high - low == pytest.approx(2.0 * (high - answer.score))
    late.core.sure.cover.numbers[2] = -1.0  # as if every set were empty
    assert late.predict("e", [1.0]).interval == []


# -- estimators --------------------------------------------------------------------------------------------------------


def test_numbers_have_intervals():
    X, y = rows(600)
    made = nr.VovkAzouryWarmuth(cover=0.9)
    assert made.predict_interval_one([0.0, 0.0, 0.0]) == (-math.inf, math.inf)
    made.fit(X, y)
    found = made.predict_interval(X)
    assert found.shape == (600, 2) and 0.85 < np.mean((found[:, 0] <= y) & (y <= found[:, 1])) < 0.95
    assert made.predict_interval_one(X[0]) == pytest.approx(tuple(found[0]))
    assert clone(made).cover == 0.9 and not hasattr(nr.VovkAzouryWarmuth(), "predict_interval")
    assert "calibrate" not in made.get_params()


@pytest.mark.parametrize("shell", [nr.AdaGrad, nr.Auto, nr.SoftmaxAdaGrad, nr.MulticlassPerceptron])
def test_classes_have_sets(shell):
    X, y = rows(600)
    labels = np.where(y < -1.0, "z", np.where(y < 1.0, "a", "m"))
    if shell is nr.AdaGrad:
        labels = np.where(y > 0.0, "yes", "no")
    made = shell(cover=0.8).fit(X, labels)
    found = made.predict_interval(X)
    assert found.dtype == bool and found.shape == (600, len(made.classes_))
    own = found[np.arange(600), np.searchsorted(made.classes_, labels)]
    assert own.mean() > 0.7
    said = made.predict_interval_one(X[0])
    assert said == [label for label, held in zip(made.classes_, found[0], strict=True) if held]


def test_every_class_is_in_the_set_before_there_are_sets():
    made = nr.Auto(cover=0.9, task="binary")
    made.learn_one({"a": 1.0}, True)
    assert made.predict_interval_one({"a": 1.0}) == [False, True]
    many = nr.SoftmaxAdaGrad(cover=0.9)
    assert many.predict_interval_one([1.0]) == []
    many.learn_one([1.0], "x").learn_one([1.0], "y")
    assert many.predict_interval([[1.0]]).tolist() == [[True, True]]
    assert many.predict_interval_one([1.0]) == ["x", "y"]


def test_one_example_at_a_time_is_a_block():
    X, y = rows(200)
    for shell, kind in ((nr.VovkAzouryWarmuth, "numbers"), (nr.Perceptron, "two"), (nr.Auto, "two")):
        labels = of_kind(y, kind)
        single = shell(cover=0.9)
        for x, label in zip(X, labels, strict=True):
            single.learn_one(x, label)
        block = shell(cover=0.9)
        nr.play(block, (X, labels))
        for key, array in block.core.sure.arrays().items():
            assert np.array_equal(array, single.core.sure.arrays()[key]), (shell, key)


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [0.0, 1.0, -0.5, 90, math.nan, "x"])
def test_a_target_is_a_share(target):
    with pytest.raises(SettingError, match="cover must lie between 0 and 1"):
        LEARNERS["vaw"](cover=target)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda a: a["cover.counts"].__setitem__(2, 10**6), "counts"),
        (lambda a: a["cover.counts"].__setitem__(1, -1), "counts"),
        (lambda a: a["cover.sizes"].__setitem__(0, 5), "sizes"),
        (lambda a: a["cover.numbers"].__setitem__(3, -1.0), "thresholds"),
        (lambda a: a["cover.numbers"].__setitem__(2, math.nan), "thresholds"),
        (lambda a: a["cover.numbers"].__setitem__(0, 0.3), "target"),
        (lambda a: a["sure.bins"].__setitem__((0, 0, 0), 7), "calibration"),
        (lambda a: a["sure.scaling"].__setitem__(0, math.inf), "calibration"),
    ],
)
def test_a_damaged_model_is_refused(change, name, tmp_path):
    X, y = rows()
    core = LEARNERS["adagrad"](cover=0.9, calibrate=True)
    nr.play(core, (X, of_kind(y, "two")))
    change(core.sure.arrays())
    model.save(core, tmp_path / "m.nr")
    with pytest.raises(ModelFileError, match=name):
        model.load(tmp_path / "m.nr")


def test_arrays_that_do_not_fit_are_refused_by_the_core():
    state = [np.zeros(COVER_NUMBERS), np.zeros(COVER_COUNTS, np.int64), np.zeros(WARM), np.zeros(SIZES, np.int64)]
    for place in range(4):
        short = [array[:-1].copy() if i == place else array for i, array in enumerate(state)]
        with pytest.raises(ValueError, match="kept"):
            cover_numbers(np.zeros(1), np.zeros(1), NONE, *short, np.zeros(1))
        with pytest.raises(ValueError, match="kept"):
            cover_classes(np.zeros(2), 0, *short, math.nan, 0)
    with pytest.raises(ValueError, match="a class has a number"):
        cover_classes(np.zeros(2), -1, *state, math.nan, 0)
    with pytest.raises(ValueError, match="a place for each score"):
        cover_numbers(np.zeros(2), np.zeros(2), NONE, *state, np.zeros(1))
    with pytest.raises(ValueError, match="a label for each score"):
        judge_odds(np.zeros(2), np.zeros(1), np.zeros(1), np.zeros((2, BINS), np.int64))
    with pytest.raises(ValueError, match="a line of bins"):
        judge_odds(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros((2, 5), np.int64))


def test_nothing_is_kept_where_nothing_is_asked():
    assert LEARNERS["perceptron"]().sure is None
    assert isinstance(LEARNERS["perceptron"](calibrate=True).sure, Sure)


def test_the_threshold_is_made_from_counts():
    """After a million rounds it is what fractions give, but for the rounding of three operations."""
    made = given(0.9, 1.0, 0.05)
    rng = np.random.default_rng(0)
    made.play_numbers(np.zeros(1_000_000), rng.exponential(size=1_000_000), NONE)
    exact = 1 + Fraction(0.05) * (int(made.counts[2]) - Fraction(1.0 - 0.9) * 1_000_000)
    assert abs(Fraction(made.q) - exact) < Fraction(1, 10**10)
    assert abs(made.counts[2] / 1e6 - 0.1) < 1e-3
