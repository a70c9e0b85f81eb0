"""A comparison is every learner's own run, on rounds that were read once, with intervals that hold."""

import math
from functools import partial
from statistics import NormalDist, fmean, stdev

import cvxpy
import numpy as np
import pytest
import scipy.sparse

import noregret.task.compare as module
from noregret import sklearn as estimator
from noregret.errors import InputError, SettingError
from noregret.learner import OnlineGradientDescent, Perceptron, StronglyConvexGradientDescent
from noregret.protocol import play
from noregret.stream import Stream, read
from noregret.task import paired
from noregret.task.compare import compare as compare_plainly

compare = partial(compare_plainly, certify=True)


def examples(rows=300, seed=3, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] + noise * rng.normal(size=rows) > 0, 1, -1)


def numbers(rows=300, seed=3):
    X, _ = examples(rows, seed)
    return X, X @ [1.0, -2.0, 0.5] + 0.1


MADE = {
    "perceptron": lambda: Perceptron(),
    "biased": lambda: Perceptron(bias=True, rate=0.5, tie="+1"),
    "descent": lambda: OnlineGradientDescent(radius=2.0),
    "logistic": lambda: OnlineGradientDescent(loss="logistic", radius=5.0, rate="sqrt:0.5"),
    "scaled": lambda: OnlineGradientDescent(radius=2.0, scale="max", unit_norm=True),
    "strong": lambda: StronglyConvexGradientDescent(sigma=0.01, bias=True),
}


def scores_of(learner, stream, **settings):
    """The scores of a run of its own."""
    found = []
    run = play(learner, stream, watch=lambda block, y, scores: found.append((y, scores)), **settings)
    return run, *(np.concatenate(parts) for parts in zip(*found, strict=True))


def sources(folder):
    """The same rows in several forms."""
    X, y = examples()
    path = folder / "rows.csv"
    header = ",".join([f"x{place}" for place in range(X.shape[1])] + ["label"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.17g")
    return {"arrays": (X, y), "sparse": (scipy.sparse.csr_array(X), y), "file": str(path)}


@pytest.mark.parametrize("kind", ["arrays", "sparse", "file"])
@pytest.mark.parametrize("settings", [{}, {"passes": 2}, {"passes": 2, "shuffle": 5}], ids=str)
def test_every_run_is_the_one_it_is_alone(kind, settings, tmp_path):
    source = sources(tmp_path)[kind]
    found = compare(source, {name: make() for name, make in MADE.items()}, **settings)
    assert list(found.runs) == list(MADE)
    for name, make in MADE.items():
        alone = play(make(), read(source), **settings)
        assert (found.runs[name].mistakes, found.runs[name].loss) == (alone.mistakes, alone.loss)
        assert found.runs[name].state.tobytes() == alone.state.tobytes()
        assert found.runs[name].learner.weights.tobytes() == alone.learner.weights.tobytes()


class Counted(Stream):
    """A stream that counts how often it is read."""

    def __init__(self, stream):
        super().__init__(stream.source, stream.features, None, rereadable=stream.rereadable)
        self.stream, self.passes = stream, 0

    def _read(self):
        self.passes += 1
        yield from self.stream.blocks()


def test_the_stream_is_read_once():
    stream = Counted(read(examples(), block_rows=64))
    compare(stream, {name: make() for name, make in MADE.items()}, passes=3)
    assert stream.passes == 1


def test_an_iterator_is_enough():
    X, y = examples(60)
    rows = (({"a": row[0], "b": row[1], "c": row[2]}, int(label)) for row, label in zip(X, y, strict=True))
    found = compare(rows, [Perceptron(), OnlineGradientDescent()])
    dicts = [({"a": row[0], "b": row[1], "c": row[2]}, int(label)) for row, label in zip(X, y, strict=True)]
    assert [run.loss for run in found.runs.values()] == [
        play(one, dicts).loss for one in (Perceptron(), OnlineGradientDescent())
    ]


def test_rounds_are_kept_once_for_learners_that_prepare_rows_alike(monkeypatch):
    made = []

    class Counting(module.Gathering):
        def __init__(self, bias):
            made.append(bias)
            super().__init__(bias)

    monkeypatch.setattr(module, "Gathering", Counting)
    compare(examples(), [Perceptron(), OnlineGradientDescent(), Perceptron(tie="+1"), Perceptron(bias=True)])
    assert made == [False, True]


OBJECTIVES = {
    "hinge": lambda z, y: cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, z))),
    "logistic": lambda z, y: cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(y, z))),
}


def best(X, y, loss, radius):
    u = cvxpy.Variable(X.shape[1])
    return cvxpy.Problem(cvxpy.Minimize(OBJECTIVES[loss](X @ u, y)), [cvxpy.norm(u) <= radius]).solve()


def test_regrets_hold_what_a_general_solver_finds():
    X, y = examples()
    made = {
        "hinge": OnlineGradientDescent(radius=2.0),
        "logistic": OnlineGradientDescent(loss="logistic", radius=5.0),
        "perceptron": Perceptron(),
    }
    found = compare((X, y), made, radius=3.0)
    balls = {"hinge": ("hinge", 2.0), "logistic": ("logistic", 5.0), "perceptron": ("hinge", 3.0)}
    for one in found.contenders:
        loss, radius = balls[one.spec]
        _, _, scores = scores_of(type(one.run.learner)(**one.run.learner.settings), (X, y))
        lost = np.maximum(0.0, 1.0 - y * scores) if loss == "hinge" else np.log1p(np.exp(-y * scores))
        regret = lost.sum() - best(X, y, loss, radius)
        assert one.regret.lo - 1e-4 <= regret <= one.regret.hi + 1e-4
        assert one.regret.hi - one.regret.lo <= 1e-4 * max(one.hindsight.upper, 1.0) + 1e-9
        assert (one.loss, one.hindsight.radius) == (loss, radius)


def test_a_regularised_learner_is_compared_with_its_regulariser():
    X, y = examples()
    sigma = 0.1
    one = compare((X, y), [StronglyConvexGradientDescent(sigma=sigma)]).contenders[0]
    u = cvxpy.Variable(3)
    ridge = 0.5 * sigma * len(y) * cvxpy.sum_squares(u)
    true = cvxpy.Problem(cvxpy.Minimize(OBJECTIVES["hinge"](X @ u, y) + ridge)).solve()
    assert one.hindsight.lower - 1e-4 <= true <= one.hindsight.upper + 1e-4
    assert one.regret.lo - 1e-4 <= one.run.loss - true <= one.regret.hi + 1e-4
    assert one.to_dict()["regret"]["domain"] == {"radius": "inf"}


def test_the_bound_is_the_least_that_holds():
    found = compare(examples(), {"p": Perceptron(), "d": OnlineGradientDescent(radius=2.0)})
    perceptron, descent = found.contenders
    assert perceptron.regret is None
    assert perceptron.bound.bound >= perceptron.run.mistakes == perceptron.bound.observed
    assert descent.bound.bound >= descent.regret.hi == descent.bound.observed
    assert descent.bound.bound <= descent.run.regret_upper + 1e-6
    for one in found.contenders:
        kind = "mistakes" if one is perceptron else "regret"
        told = one.to_dict()["bound"]
        assert told["value"] - told["slack"] == pytest.approx(one.bound.observed)
        assert told["of"].startswith(kind)
        assert one.broken == []
        for other in one.certificates:
            title = module.THEOREMS[other.theorem].title.partition(",")[0]
            if other.verdict.name == "HOLDS" and title == kind:
                assert other.bound >= one.bound.bound


def test_a_bound_that_says_nothing_is_none():
    one = compare(examples(), [OnlineGradientDescent(radius=100.0)]).contenders[0]
    assert "VACUOUS" in {certificate.verdict.name for certificate in one.certificates}
    assert one.bound is None
    assert one.to_dict()["bound"] is None


def test_each_preparation_has_its_own_rounds():
    found = compare(examples(), {name: make() for name, make in MADE.items()}, radius=4.0)
    for one in found.contenders:
        alone = compare(examples(), {one.spec: MADE[one.spec]()}, radius=4.0).contenders[0]
        assert one.regret == alone.regret
        assert one.bound == alone.bound


def test_the_radius_asked_for_is_for_learners_without_one():
    free = {"radius": math.inf, "rate": "constant:0.1"}
    assert compare(examples(), [OnlineGradientDescent(**free)]).contenders[0].regret is None
    asked = compare(examples(), [OnlineGradientDescent(**free), OnlineGradientDescent(radius=2.0)], radius=4.0)
    assert [one.hindsight.radius for one in asked.contenders] == [4.0, 2.0]


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_paired_intervals_are_those_of_a_hand_computation(confidence):
    X, y = examples()
    made = {
        "a": lambda: OnlineGradientDescent(radius=2.0),
        "b": lambda: OnlineGradientDescent(radius=5.0),
        "c": lambda: Perceptron(),
        "d": lambda: OnlineGradientDescent(loss="logistic", tie="+1"),
        "e": lambda: StronglyConvexGradientDescent(sigma=0.1),
    }
    found = compare((X, y), {name: make() for name, make in made.items()}, confidence=confidence)
    scores = {name: scores_of(make(), (X, y))[2] for name, make in made.items()}
    hinge = {name: np.maximum(0.0, 1.0 - y * z) for name, z in scores.items()}
    wrong = {name: (y * z <= 0.0).astype(float) for name, z in scores.items()}
    wrong["d"] = np.where(scores["d"] == 0.0, y != 1, y * scores["d"] < 0.0).astype(float)
    figures = {"b": hinge, "c": wrong, "d": wrong, "e": hinge}
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    for one, (name, figure) in zip(found.differences, figures.items(), strict=True):
        d = (figure["a"] - figure[name]).tolist()
        reach = z * stdev(d) / math.sqrt(len(d))
        assert (one.a, one.b, one.confidence) == ("a", name, confidence)
        assert one.figure == ("mean loss (hinge)" if figure is hinge else "error rate")
        assert one.mean == pytest.approx(fmean(d), abs=1e-12)
        assert (one.lower, one.upper) == pytest.approx((fmean(d) - reach, fmean(d) + reach), abs=1e-12)
        assert "independent" in one.assumption


def test_differences_do_not_depend_on_the_size_of_the_pieces(monkeypatch):
    made = [lambda: OnlineGradientDescent(radius=2.0), lambda: OnlineGradientDescent(radius=5.0)]
    whole = compare(examples(), [make() for make in made]).differences[0]
    monkeypatch.setattr(paired, "PIECE", 7)
    pieces = compare(examples(), [make() for make in made]).differences[0]
    assert (pieces.mean, pieces.lower) == pytest.approx((whole.mean, whole.lower), abs=1e-12)


def test_a_mean_loss_counts_sample_weights_and_an_error_does_not():
    X, y = examples()
    weights = np.tile([0.0, 2.0, 1.0], 100)
    made = [lambda: OnlineGradientDescent(radius=2.0), lambda: OnlineGradientDescent(radius=5.0), lambda: Perceptron()]
    found = compare((X, y, weights), [make() for make in made])
    runs = list(found.runs.values())
    assert runs[0].rounds == 200
    loss, error = found.differences
    assert loss.mean == pytest.approx((runs[0].loss - runs[1].loss) / 200, abs=1e-12)
    assert error.mean == pytest.approx((runs[0].mistakes - runs[2].mistakes) / 200, abs=1e-12)


def test_learners_for_numbers():
    X, y = numbers()
    made = {
        "squared": OnlineGradientDescent(loss="squared", radius=3.0, bias=True),
        "absolute": OnlineGradientDescent(loss="absolute", radius=3.0, bias=True),
    }
    found = compare((X, y), made)
    z = {name: scores_of(type(one)(**one.settings), (X, y))[2] for name, one in made.items()}
    difference = found.differences[0]
    assert difference.figure == "mean absolute error"
    assert difference.mean == pytest.approx(np.mean(np.abs(z["squared"] - y) - np.abs(z["absolute"] - y)), abs=1e-12)
    assert set(found.baselines) == {"mean_label", "last_label"}
    assert found.to_dict()["learners"][0]["mistakes"] is None


def test_estimators_can_be_compared_and_are_trained_by_it():
    X, y = examples()
    model = estimator.OnlineGradientDescent(radius=2.0)
    found = compare((X, y), {"core": OnlineGradientDescent(radius=2.0), "estimator": model})
    runs = list(found.runs.values())
    assert runs[0].loss == runs[1].loss
    assert found.differences[0].mean == 0.0
    assert model.predict(X[:2]).shape == (2,)


def test_a_list_is_named_by_its_learners():
    found = compare(examples(), [Perceptron(), OnlineGradientDescent(), Perceptron(tie="+1")])
    assert list(found.runs) == ["perceptron", "ogd", "perceptron 2"]
    assert repr(found) == "<Comparison of perceptron, ogd, perceptron 2: 300 rounds>"


def test_to_dict_holds_what_the_contract_names():
    found = compare(examples(), [Perceptron(), OnlineGradientDescent(radius=2.0)]).to_dict()
    assert set(found) == {"rounds", "features", "learners", "best", "baselines", "differences", "task", "left_out"}
    perceptron, descent = found["learners"]
    assert set(descent) == {"spec", "name", "mistakes", "loss", "regret", "bound", "seconds"}
    assert set(descent["loss"]) == {"name", "total", "mean"}
    assert {"lower", "upper", "comparator", "domain"} <= set(descent["regret"])
    assert set(descent["regret"]["comparator"]) == {"lower", "upper"}
    assert descent["regret"]["domain"] == {"radius": 2.0}
    assert {"theorem", "value", "slack"} <= set(descent["bound"])
    assert perceptron["regret"] is None
    keys = {"a", "b", "figure", "mean", "lower", "upper", "confidence", "assumption"}
    assert set(found["differences"][0]) == keys
    assert set(found["baselines"]) == {"majority_label", "last_label"}


def test_hurried_intervals_are_wide_and_true():
    X, y = examples(2000)
    hurried = compare((X, y), [OnlineGradientDescent(radius=5.0)], seconds=1e-9, gap=1e-9).contenders[0]
    settled = compare((X, y), [OnlineGradientDescent(radius=5.0)], gap=1e-5).contenders[0]
    assert not hurried.hindsight.finished
    assert hurried.regret.lo <= settled.regret.hi
    assert settled.regret.lo <= hurried.regret.hi


def test_one_round_has_no_interval():
    found = compare(([[1.0]], [1]), [OnlineGradientDescent(), OnlineGradientDescent(radius=1.0)]).differences[0]
    assert (found.lower, found.upper) == (-math.inf, math.inf)


def test_watch_is_told(tmp_path):
    told = []
    compare(
        sources(tmp_path)["file"],
        [Perceptron(), OnlineGradientDescent()],
        watch=lambda what, fraction: told.append((what, fraction)),
    )
    assert [what for what, _ in told] == [
        "reading: 300 rows",
        "perceptron: 300 rounds",
        "ogd: 300 rounds",
        "perceptron: the best model in hindsight",
        "ogd: the best model in hindsight",
    ]
    assert told[1][1] == 1.0


def used():
    learner = Perceptron()
    play(learner, examples())
    return learner


SAME = Perceptron()


@pytest.mark.parametrize(
    ("learners", "settings", "sentence"),
    [
        ([], {}, "compare: needs at least one learner"),
        ({"old": used()}, {}, "compare: the learner 'old' has played before: give a new one"),
        ({"a": SAME, "b": SAME}, {}, "compare: the same learner is given twice"),
        (
            [Perceptron(), OnlineGradientDescent(loss="squared")],
            {},
            "the loss squared is for numbers, the loss zero-one for two classes: one stream cannot be both",
        ),
        (
            [estimator.Perceptron(), estimator.Perceptron(class_weight={1: 2.0})],
            {},
            "compare: the learners must have the same class_weight",
        ),
        ([Perceptron()], {"radius": 0.0}, "compare: radius must be positive and finite, got 0"),
        ([Perceptron()], {"gap": math.inf}, "compare: gap must be positive and finite, got inf"),
        ([Perceptron()], {"seconds": 0.0}, "compare: seconds must be positive, got 0"),
        ([Perceptron()], {"confidence": 1.0}, "compare: confidence must lie between 0 and 1, got 1"),
        ([Perceptron()], {"passes": 0}, "passes must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_compared(learners, settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        compare(examples(), learners, **settings)


def test_rows_that_all_weigh_nothing():
    X, y = examples(5)
    with pytest.raises(SettingError, match="compare: no round was played: every weight is 0"):
        compare((X, y, np.zeros(5)), [Perceptron(), OnlineGradientDescent()])


def test_a_third_label_is_told_with_its_line(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,label\n1,a\n2,b\n3,c\n")
    with pytest.raises(InputError, match=r"rows.csv:4: a third label, 'c'"):
        compare(path, [Perceptron()])


def two_classes(rows=400, width=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, width))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=rows) > 0.2, 1, -1)


def test_without_learners_a_line_up_plays_and_is_sorted():
    X, y = two_classes()
    found = compare_plainly((X, y))
    specs = {one.spec for one in found.contenders}
    assert {"adagrad:loss=logistic", "ogd:loss=logistic", "pa1"} <= specs
    assert {"second-order", "kernel:kernel=rbf"} <= specs
    wrong = [one.run.mistakes for one in found.contenders]
    assert wrong == sorted(wrong)
    assert found.best is found.contenders[0]
    assert {one.a for one in found.differences} == {found.best.spec}
    assert all(one.run.learner.settings["bias"] for one in found.contenders)
    assert str(found.recognised.task) == "binary"


def test_nothing_is_solved_for_unless_asked(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("hindsight was solved for")

    monkeypatch.setattr(module, "best", refuse)
    monkeypatch.setattr(module, "gather", refuse)
    found = compare_plainly(two_classes(), [Perceptron(), OnlineGradientDescent(radius=2.0)])
    assert [one.regret for one in found.contenders] == [None, None]
    assert not found.certified
    with pytest.raises(AssertionError, match="hindsight was solved for"):
        compare(two_classes(), [OnlineGradientDescent(radius=2.0)])


def test_what_does_not_apply_is_left_out_with_the_reason(monkeypatch):
    from noregret.learner import lineup

    X, y = two_classes(60)
    monkeypatch.setattr(lineup, "ROWS", 50)
    monkeypatch.setattr(lineup, "MATRIX", 3)
    found = compare_plainly((X, y))
    told = dict(found.left_out)
    assert told["kernel:kernel=rbf"] == "60 rows, a kernel is compared on at most 50"
    assert told["second-order"] == "4 features, it keeps a number for each pair of at most 3"
    assert told["multiclass"] == "only for many classes"
    assert told["vaw"] == "only for numbers"
    assert not any("auto" in name for name in told)
    assert not {"kernel:kernel=rbf", "second-order"} & {one.spec for one in found.contenders}


def test_the_line_up_follows_the_task():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    many = compare_plainly((X, np.argmax(X, axis=1)))
    assert {one.spec for one in many.contenders} == {"auto", "multiclass", "multiclass:update=one-vs-rest"}
    assert dict(many.left_out)["second-order, kernel"] == "only for two classes"
    numbers = compare_plainly((X, 500.0 + 30.0 * X[:, 0] + rng.normal(size=300)))
    errors = [one.run.metrics["mae"] for one in numbers.contenders]
    assert errors == sorted(errors)
    assert numbers.best.run.metrics["mae"] < 20.0  # the labels lie 24 from their mean
    assert "vaw" in {one.spec for one in numbers.contenders}
    told = compare_plainly((X, np.argmax(X, axis=1)), task="regression")
    assert all(one.run.mistakes is None for one in told.contenders)


def test_the_line_up_can_be_told_which_label_is_positive():
    X, y = two_classes(80)
    words = np.where(y > 0, "ham", "spam")
    found = compare_plainly((X, words), positive="ham")
    assert all(one.run.learner.labels.classes == ("spam", "ham") for one in found.contenders)
    with pytest.raises(SettingError, match="task and positive are for the default line-up"):
        compare_plainly((X, y), [Perceptron()], task="binary")
    with pytest.raises(SettingError, match="positive is for two classes, and the labels are of numbers"):
        compare_plainly((X, X[:, 0]), positive="1")
