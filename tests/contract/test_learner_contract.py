"""Every learner with every loss and layout plays exactly the rounds of its plain definition, and says so."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret.learner import LEARNERS, OnlineGradientDescent, Perceptron, StronglyConvexGradientDescent, linear
from noregret.loss import parse
from noregret.stream import Dense
from oracle import learners as plain
from oracle.figures import auc, confusion, figures, last_label_loss, last_label_mistakes, mean_label_loss
from oracle.learners import dot
from oracle.losses import loss_of
from oracle.registry import CASES, LAYOUTS, MAKE, NAMES, NUMBERS, SPECS, UNWEIGHTED, data, everything

every_case = pytest.mark.parametrize(("name", "spec"), CASES, ids=NAMES)
WINDOWED = ("nearest", "nearest-numbers")
PLAIN = ("perceptron", "voted", "kernel")  # the plain perceptron, in several clothes
WEIGHED = [case for case in CASES if case[0] not in (*PLAIN, "averaged")]  # a mistake weighs what it weighs
STRAIGHT = [case for case in CASES if case[0] not in ("averaged", "voted")]  # others predict by all weights so far
TIE = {"mistake": 0.0, "+1": 1.0, "-1": -1.0}


def twin(name, spec, X, y, weights=None, start=None, tie=0.0):
    """The same game as the registry's learner, from its definition."""
    X, y = X.tolist(), y.tolist()
    if name in PLAIN:
        return plain.perceptron(X, y, tie=tie, start=start)
    if name in ("second-order", "vaw"):
        return plain.second_order(X, y, 0.5, weights, tie, every=name == "vaw")
    if name == "markov":
        return plain.markov(X, y, 2, weights, tie)
    if name == "newton":
        return plain.newton(X, y, 0.5, 0.02, weights)
    if name == "ridge":
        return plain.ridge(X, y, 0.5, 0.03, weights)
    if name == "persistence":
        return plain.persistence(X, y, "drift", weights)
    if name == "naive-bayes":
        return plain.naive_bayes(X, y, 0.5, weights, tie)
    if name == "nearest":
        return plain.nearest(X, y, 30, 4, weights, tie)
    if name == "nearest-numbers":
        return plain.nearest_numbers(X, y, 30, 4, weights)
    if name == "diagonal":
        return plain.diagonal(X, y, 0.5, weights)
    if name == "averaged":
        return plain.averaged(X, y, tie=tie, start=start)
    if name in ("pa", "pa1", "pa2"):
        return plain.passive(X, y, loss_of(spec), name, 0.7 if name == "pa2" else None, weights)
    if name == "adagrad":
        return plain.adagrad(X, y, loss_of(spec), 0.4, 0.7, weights)
    if name == "ftrl":
        return plain.proximal(X, y, loss_of(spec), 0.6, 0.9, 0.5, 0.2, 0.1, weights)
    if name == "scale-free":
        return plain.scale_free(X, y, loss_of(spec), parse(spec).lipschitz, weights)
    if name == "coin":
        return plain.coin(X, y, loss_of(spec), 50.0, weights=weights)
    if name == "ogd":
        return plain.descent(X, y, loss_of(spec), plain.adaptive(1.5), plain.ball(1.5), weights=weights, start=start)
    return plain.descent(X, y, loss_of(spec), plain.strong(0.5), plain.ball(1.5), sigma=0.5, weights=weights)


def assert_same_game(learner, scores, game):
    assert scores == pytest.approx(game.scores, rel=1e-10, abs=1e-10)
    if learner.name in UNWEIGHTED:
        assert not len(learner.weights) and learner.bias == learner.weight_norm == 0.0
        return
    assert [*learner.weights, *([learner.bias] if learner.config["bias"][0] else [])] == pytest.approx(
        game.W[-1], rel=1e-10, abs=1e-10
    )


def assert_same_figures(learner, X, y, game):
    expected = figures(X.tolist(), y.tolist(), game)
    if learner.regression:
        del expected["mistakes"], expected["mistake_row2"]
    if learner.name in ("scale-free", "newton", *NUMBERS, *UNWEIGHTED):
        slopes = [dot(g, x) / dot(x, x) if any(x) else 0.0 for g, x in zip(game.gradients, X.tolist(), strict=True)]
        score = "gradient_dot_weights"  # their score is not ⟨w, x⟩
        expected[score] = sum(s * z for s, z in zip(slopes, game.scores, strict=True))
        if not X.any(axis=1).all():
            del expected[score]
    if not game.gradients:  # the perceptron takes no gradient
        expected = {key: value for key, value in expected.items() if not key.startswith("gradient")}
    found = {key: learner.state[key][0] for key in expected}
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_the_registry_holds_every_learner_and_every_loss():
    assert set(MAKE) == set(LEARNERS)
    assert {spec.partition(":")[0] for spec in SPECS} == set(nr.LOSSES)


@every_case
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_rounds_are_those_of_the_definition(name, spec, layout):
    X, y = data(spec, rounds=120, columns=6, seed=1)
    learner = MAKE[name](spec)
    scores = learner.play(LAYOUTS[layout](X), y)
    game = twin(name, spec, X, y)
    assert_same_game(learner, scores, game)
    assert_same_figures(learner, X, y, game)


@pytest.mark.parametrize("layout", ["dense32", "sparse32"])
@pytest.mark.parametrize(("name", "spec"), [("perceptron", "perceptron"), ("ogd", "hinge"), ("ogd-strong", "huber")])
@pytest.mark.parametrize("size", [0.5, 1e30])
def test_float32_rows_are_played_as_the_numbers_they_are(name, spec, layout, size):
    X, y = data(spec, rounds=120, columns=6, seed=1, size=size)
    X = X.astype(np.float32).astype(np.float64)
    learner = MAKE[name](spec)
    scores = learner.play(LAYOUTS[layout](X), y)
    game = twin(name, spec, X, y)
    assert scores == pytest.approx(game.scores, rel=1e-9)
    assert_same_figures(learner, X, y, game)


@every_case
def test_a_bias_is_one_more_column_of_ones(name, spec):
    X, y = data(spec, rounds=80, columns=4, seed=2)
    learner = MAKE[name](spec, bias=True)
    longer = np.column_stack([X, np.ones(len(y))])
    game = twin(name, spec, X if name == "naive-bayes" else longer, y)
    if name == "naive-bayes":  # the column belongs to the comparators alone: it is no word
        slopes = [label * math.expm1(-lost) for label, lost in zip(y.tolist(), game.losses, strict=True)]
        game.gradients = [[*g, s] for g, s in zip(game.gradients, slopes, strict=True)]
    assert_same_game(learner, learner.play(LAYOUTS["sparse"](X), y), game)
    assert_same_figures(learner, longer, y, game)


@every_case
def test_unit_norm_plays_the_rows_divided_by_their_norm(name, spec):
    X, y = data(spec, rounds=60, columns=4, seed=3, density=1.0 if name in WINDOWED else 0.5)
    if name not in WINDOWED:  # rows of one entry, or none, are as near as others but for rounding
        assert not X.any(axis=1).all(), "some rows are zero, and stay so"
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    learner = MAKE[name](spec, unit_norm=True)
    scores = learner.play(LAYOUTS["dense"](X), y)
    assert_same_game(learner, scores, twin(name, spec, X / np.where(norms > 0, norms, 1.0), y))


@every_case
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_scale_max_divides_by_the_largest_value_so_far(name, spec, layout):
    X, y = data(spec, rounds=60, columns=4, seed=4)
    top = np.maximum.accumulate(np.abs(X), axis=0)
    learner = MAKE[name](spec, scale="max")
    scores = learner.play(LAYOUTS[layout](X), y)
    assert_same_game(learner, scores, twin(name, spec, X / np.where(top > 0, top, 1.0), y))


@pytest.mark.parametrize(("name", "spec"), WEIGHED, ids=map("-".join, WEIGHED))
def test_a_weight_multiplies_loss_and_gradient(name, spec):
    X, y = data(spec, rounds=60, columns=4, seed=5)
    weights = np.random.default_rng(5).choice([0.5, 1.0, 2.0], 60)
    learner = MAKE[name](spec)
    game = twin(name, spec, X, y, weights.tolist())
    assert_same_game(learner, learner.play(LAYOUTS["dense"](X), y, weights), game)
    assert_same_figures(learner, X, y, game)


@every_case
@pytest.mark.parametrize("options", [{}, {"bias": True}, {"unit_norm": True}, {"scale": "max"}])
def test_a_row_of_weight_zero_is_no_round(name, spec, options):
    X, y = data(spec, rounds=40, columns=4, seed=6)
    X[::3] *= 100.0
    weights = np.ones(40)
    weights[::3] = 0.0
    skipping, without = MAKE[name](spec, **options), MAKE[name](spec, **options)
    scores = skipping.play(LAYOUTS["dense"](X), y, weights)
    expected = without.play(LAYOUTS["dense"](X[weights > 0]), y[weights > 0])
    assert np.isnan(scores[::3]).all()
    assert np.array_equal(scores[weights > 0], expected)
    assert skipping.state.tobytes() == without.state.tobytes()


@pytest.mark.parametrize("eta", [1e-200, 1e-70, 0.3, 1e200])
def test_from_zero_the_mistakes_do_not_depend_on_the_rate(eta):
    rng = np.random.default_rng(2)
    X = rng.integers(-2, 3, (600, 9)).astype(float)  # so that exact ties come
    y = np.where(X @ rng.normal(size=9) + rng.normal(size=600) > 0, 1.0, -1.0)
    one, other = Perceptron(), Perceptron(rate=eta)
    assert (np.sign(one.play(Dense(X), y)) == np.sign(other.play(Dense(X), y))).all()
    assert (one.z == other.z).all()


@pytest.mark.parametrize("tie", TIE)
@pytest.mark.parametrize("start", [None, [0.5, -1.0, 0.0]])
@pytest.mark.parametrize("eta", [1.0, 0.25])
def test_the_perceptron_plays_its_definition_with_any_tie_rule_start_and_rate(tie, start, eta):
    rng = np.random.default_rng(8)
    X, y = rng.integers(-2, 3, (60, 3)).astype(float), rng.choice([-1.0, 1.0], 60)
    learner = Perceptron(tie=tie, start=start, rate=eta)
    scores = learner.play(LAYOUTS["dense"](X), y)
    game = plain.perceptron(X.tolist(), y.tolist(), eta=eta, tie=TIE[tie], start=start)
    assert scores.tolist() == game.scores
    assert learner.weights.tolist() == game.W[-1]
    assert_same_figures(learner, X, y, game)


RULES = {
    "constant:0.3": (plain.constant(0.3), False),
    "sqrt:0.7": (plain.over_root(0.7), False),
    "auto": (plain.adaptive(0.8), False),
    "horizon:100": (plain.constant(0.8 / math.sqrt(100.0)), False),
    "horizon:100:3": (plain.constant(0.8 / (3.0 * math.sqrt(100.0))), False),
    "doubling": (plain.doubling(0.8, 1.0), True),
    "doubling:2": (plain.doubling(0.8, 2.0), True),
}


@pytest.mark.parametrize("rate", RULES)
@pytest.mark.parametrize("spec", ["hinge", "logistic", "absolute"])
@pytest.mark.parametrize("bias", [False, True])
def test_every_rate_on_the_ball(rate, spec, bias):
    X, y = data(spec, rounds=100, columns=5, seed=9)
    step, restart = RULES[rate]
    learner = OnlineGradientDescent(loss=spec, radius=0.8, rate=rate, bias=bias)
    longer = np.column_stack([X, np.ones(100)]) if bias else X
    game = plain.descent(longer.tolist(), y.tolist(), loss_of(spec), step, plain.ball(0.8), restart=restart)
    assert_same_game(learner, learner.play(LAYOUTS["dense"](X), y), game)
    assert_same_figures(learner, longer, y, game)


@pytest.mark.parametrize("eta", [0.2, 5.0])
@pytest.mark.parametrize("spec", ["hinge", "logistic", "squared", "absolute"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_normalised_step(eta, spec, bias, layout):
    X, y = data(spec, rounds=100, columns=5, seed=22)
    X *= np.random.default_rng(22).choice([1e-3, 1.0, 5.0], (100, 1))
    learner = OnlineGradientDescent(loss=spec, radius=2.0, rate=f"normalised:{eta}", bias=bias)
    longer = np.column_stack([X, np.ones(100)]) if bias else X
    game = plain.normalised(longer.tolist(), y.tolist(), loss_of(spec), eta, 2.0)
    assert_same_game(learner, learner.play(LAYOUTS[layout](X), y), game)


@pytest.mark.parametrize("rate", ["constant:0.3", "sqrt:0.7"])
@pytest.mark.parametrize(
    ("domain", "radius", "project"),
    [("box", 0.2, plain.box(0.2)), ("box", math.inf, list), ("ball", math.inf, list), ("ball", 0.4, plain.ball(0.4))],
)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_every_domain(rate, domain, radius, project, layout):
    X, y = data("logistic", rounds=100, columns=5, seed=10)
    learner = OnlineGradientDescent(loss="logistic", radius=radius, domain=domain, rate=rate, bias=True)
    longer = np.column_stack([X, np.ones(100)])
    game = plain.descent(longer.tolist(), y.tolist(), loss_of("logistic"), RULES[rate][0], project)
    assert_same_game(learner, learner.play(LAYOUTS[layout](X), y), game)
    assert_same_figures(learner, longer, y, game)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_many_features_are_projected_as_exactly_as_few(layout):
    X, y = data("logistic", rounds=150, columns=90, seed=11, size=0.3)
    learner = OnlineGradientDescent(loss="logistic", radius=0.3, rate="constant:0.5")
    game = plain.descent(X.tolist(), y.tolist(), loss_of("logistic"), plain.constant(0.5), plain.ball(0.3))
    assert_same_game(learner, learner.play(LAYOUTS[layout](X), y), game)


@pytest.mark.parametrize("spec", ["hinge", "logistic", "absolute", "huber:0.3"])
def test_without_a_radius_the_regulariser_alone_holds_the_weights(spec):
    X, y = data(spec, rounds=100, columns=5, seed=12)
    learner = StronglyConvexGradientDescent(loss=spec, sigma=0.2)
    game = plain.descent(X.tolist(), y.tolist(), loss_of(spec), plain.strong(0.2), sigma=0.2)
    assert_same_game(learner, learner.play(LAYOUTS["dense"](X), y), game)
    assert_same_figures(learner, X, y, game)
    longest = math.sqrt(max(plain.dot(w, w) for w in game.W))
    assert longest <= parse(spec).lipschitz * np.linalg.norm(X, axis=1).max() / 0.2


@pytest.mark.parametrize("start", [[0.3, -0.2, 0.1, 0.0], [0.4]])
def test_gradient_descent_can_start_elsewhere(start):
    X, y = data("logistic", rounds=60, columns=4, seed=13)
    learner = OnlineGradientDescent(loss="logistic", radius=1.5, start=start)
    game = twin("ogd", "logistic", X, y, start=[*start, 0.0, 0.0, 0.0][:4])
    assert_same_game(learner, learner.play(LAYOUTS["sparse"](X), y), game)


@every_case
@pytest.mark.parametrize("columns", [6, 80])
def test_dense_and_sparse_agree_to_the_last_digits(name, spec, columns):
    X, y = data(spec, rounds=150, columns=columns, seed=14, size=1.0 / math.sqrt(columns))
    dense, sparse = MAKE[name](spec), MAKE[name](spec)
    one, other = dense.play(LAYOUTS["dense"](X), y), sparse.play(LAYOUTS["sparse"](X), y)
    assert np.abs(one - other).max() <= 1e-12 * np.abs(one).max()
    assert np.abs(dense.weights - sparse.weights).max(initial=0.0) <= 1e-12 * np.abs(dense.weights).max(initial=0.0)
    for figure in ("loss", "gradient2", "gradient_dot_weights", "row_max2"):
        assert dense.state[figure][0] == pytest.approx(sparse.state[figure][0], rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("name", "spec"), STRAIGHT, ids=map("-".join, STRAIGHT))
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("columns", [3, 33])
def test_a_round_is_scored_as_it_would_have_been_predicted(name, spec, layout, columns):
    """Mistakes are those of the predictions that were made: to the last bit, whichever loop took the sum."""
    X, y = data(spec, 40, columns, seed=columns)
    learner, rows = MAKE[name](spec), LAYOUTS[layout](X)
    learner.play(rows.slice(0, 20), y[:20])
    for t in range(20, 40):
        predicted = learner.scores(rows.slice(t, t + 1))
        assert predicted == learner.score_one(rows.slice(t, t + 1).native)
        assert predicted == learner.play(rows.slice(t, t + 1), y[t : t + 1])


@every_case
@pytest.mark.parametrize("gap", [5, 300])
def test_features_that_come_late_start_at_zero(name, spec, gap):
    if name in WINDOWED and gap > 100:
        gap = 90  # it takes no wider rows
    X, y = data(spec, rounds=60, columns=4, seed=15)
    wide = np.zeros((60, 4 + gap))
    wide[:, :2], wide[30:, -2:] = X[:, :2], X[30:, 2:]
    at_once, growing = MAKE[name](spec), MAKE[name](spec)
    scores = at_once.play(LAYOUTS["sparse"](wide), y)
    first = growing.play(LAYOUTS["sparse"](wide[:30]), y[:30])
    assert growing.width == 2
    assert np.array_equal(scores, [*first, *growing.play(LAYOUTS["sparse"](wide[30:]), y[30:])])


@pytest.mark.parametrize("spec", ["hinge", "logistic"])
def test_the_figures_of_a_classifying_run(spec):
    X, y = data(spec, rounds=150, columns=3, seed=16)
    run = nr.play(OnlineGradientDescent(loss=spec, radius=1.5), (X, y), mistakes=True)
    game = twin("ogd", spec, X, y)
    assert run.mistake_rounds.tolist() == [t for t, miss in enumerate(game.mistakes) if miss]
    assert run.mistakes == sum(game.mistakes)
    assert run.confusion == confusion(game.mistakes, y.tolist())
    low, high = run.auc
    assert low <= auc(game.scores, y.tolist()) <= high <= low + 0.02
    assert run.baselines["majority_label"] == min((y > 0).sum(), (y < 0).sum())
    assert run.baselines["last_label"] == last_label_mistakes(y.tolist())
    assert run.metrics["error"] == run.mistakes / 150
    assert run.window_error == run.mistakes / 150
    total = np.sum(game.gradients, axis=0)
    assert run.gradient["norm_of_sum"] == pytest.approx(np.linalg.norm(total), rel=1e-10)
    assert run.learner.gradient_sum == pytest.approx(total, rel=1e-10, abs=1e-10)
    assert ("log_loss" in run.metrics) == (spec == "logistic")


@pytest.mark.parametrize("name", ["perceptron", "ogd"])
def test_an_update_is_a_round_with_a_gradient(name):
    X, y = data("hinge", rounds=80, columns=4, seed=21, density=1.0)
    game = twin(name, "hinge", X, y)
    run = nr.play(MAKE[name]("hinge"), (X, y))
    assert run.updates == sum(map(any, game.gradients) if name == "ogd" else game.mistakes) < 80


@pytest.mark.parametrize("spec", [spec for spec in SPECS if parse(spec).regression])
def test_the_figures_of_a_regression(spec):
    X, y = data(spec, rounds=120, columns=3, seed=17)
    run = nr.play(OnlineGradientDescent(loss=spec, radius=1.5), (X, y))
    errors = np.abs(np.array(twin("ogd", spec, X, y).scores) - y)
    value, _ = loss_of(spec)
    assert run.mistakes is None
    assert run.metrics["mae"] == pytest.approx(errors.mean(), rel=1e-10)
    assert run.metrics["window_mae"] == pytest.approx(errors.mean(), rel=1e-10)
    assert run.metrics["rmse"] == pytest.approx(math.sqrt((errors**2).mean()), rel=1e-10)
    assert run.baselines["mean_label"] == pytest.approx(mean_label_loss(y.tolist(), value), rel=1e-10)
    assert run.baselines["last_label"] == pytest.approx(last_label_loss(y.tolist(), value), rel=1e-10)
    assert run.state["label_max"][0] == np.abs(y).max()


def test_equal_scores_of_zero_count_half_in_the_auc():
    run = nr.play(Perceptron(), (np.zeros((6, 1)), [1, -1, 1, -1, -1, 1]))
    assert run.auc == (0.5, 0.5)


def test_the_auc_interval_holds_scores_of_every_size():
    rng = np.random.default_rng(18)
    X, y = rng.normal(size=(120, 1)) * 10.0 ** rng.integers(-14, 14, (120, 1)), rng.choice([-1.0, 1.0], 120)
    run = nr.play(Perceptron(start=[1.0], rate=1e-300), (X, y))
    low, high = run.auc
    assert low <= auc(X[:, 0].tolist(), y.tolist()) <= high


@every_case
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_learning_is_playing_a_few_rows_at_a_time(name, spec, layout, monkeypatch):
    monkeypatch.setattr(linear, "SOME", 7)
    X, y = data(spec, rounds=40, columns=5, seed=31)
    one, other = MAKE[name](spec), MAKE[name](spec)
    one.learn(LAYOUTS[layout](X), y)
    other.play(LAYOUTS[layout](X), y)
    assert everything(one) == everything(other)


def test_the_windowed_error_is_that_of_the_last_thousand_rounds():
    rng = np.random.default_rng(19)
    X, y = rng.normal(size=(1300, 2)), rng.choice([-1.0, 1.0], 1300)
    run = nr.play(Perceptron(), (X, y))
    game = plain.perceptron(X.tolist(), y.tolist())
    assert run.window_error == sum(game.mistakes[-1000:]) / 1000


def copied_logistic(z, y):
    m = y * z
    e = math.exp(-abs(m))
    u = 1.0 + e
    return max(-m, 0.0) + (math.log(u) + (e - (u - 1.0)) / u)


def copied_logistic_slope(z, y):
    m = y * z
    e = math.exp(-abs(m))
    return -y * (e if m > 0.0 else 1.0) / (1.0 + e)


CUSTOM = {
    "hinge": (lambda z, y: max(1.0 - y * z, 0.0), lambda z, y: -y if y * z < 1.0 else 0.0, False),
    "logistic": (copied_logistic, copied_logistic_slope, False),
    "squared": (lambda z, y: (z - y) * (z - y), lambda z, y: 2.0 * (z - y), True),
}


@pytest.mark.parametrize("spec", CUSTOM)
@pytest.mark.parametrize("name", ["ogd", "ogd-strong"])
def test_a_loss_of_ones_own_is_the_built_in_one_that_it_copies(name, spec):
    value, slope, regression = CUSTOM[spec]
    X, y = data(spec, rounds=60, columns=4, seed=20)
    own, built_in = MAKE[name](nr.custom_loss(value, slope, regression=regression)), MAKE[name](spec)
    scores, others = own.play(LAYOUTS["dense"](X), y), built_in.play(LAYOUTS["dense"](X), y)
    if spec != "logistic":
        assert scores.tobytes() == others.tobytes()
        assert own.state.tobytes() == built_in.state.tobytes()
        assert own.z.tobytes() == built_in.z.tobytes()
        return
    close = {"rtol": 1e-12, "atol": 1e-12}  # the copy asks Python's exp and log, the built-in one the core's
    assert np.allclose(scores, others, **close) and np.allclose(own.z, built_in.z, **close)
    for figure in own.state.dtype.names:
        assert np.allclose(own.state[figure], built_in.state[figure], **close), figure
