"""The kernel perceptron plays its definition, in any layout, however its stream is cut, with any number of threads."""

import itertools
import math
import os
import subprocess
import sys
from decimal import Decimal, getcontext

import numpy as np
import pytest

import noregret as nr
from noregret import model
from noregret._native import exponential
from noregret.kernel import parse
from noregret.learner import KernelPerceptron, Perceptron
from noregret.learner import supports as stores
from noregret.learner import threads as threading
from noregret.learner.kernel import uniform
from oracle.kernels import KERNELS, in_order, kernel_perceptron, to_the_bit
from oracle.registry import LAYOUTS, everything

KINDS = [
    ("linear", {}),
    ("poly", {}),
    ("poly", {"degree": 3, "coef0": 0.5, "gamma": 0.25}),
    ("rbf", {}),
    ("rbf", {"gamma": 0.1}),
    ("laplace", {"gamma": 0.5}),
]
every_kernel = pytest.mark.parametrize(("name", "numbers"), KINDS)


def stream(rounds=150, columns=5, seed=1, density=0.7):
    """Labels of a curved boundary, some of them wrong; rows that come twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, columns)) * (rng.random((rounds, columns)) < density)
    X[rounds // 2 :: 7] = X[: len(X[rounds // 2 :: 7])]
    y = np.where((X**2).sum(axis=1) + X[:, 0] > columns * density, 1.0, -1.0)
    return X, np.where(rng.random(rounds) < 0.1, -y, y)


def plain(name, numbers):
    return lambda x, z: KERNELS[name](x, z, numbers)


@every_kernel
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tie", ["mistake", "+1", "-1"])
def test_it_plays_its_definition(name, numbers, layout, tie):
    X, y = stream()
    if layout.endswith("32"):
        X = X.astype(np.float32).astype(float)
    learner = KernelPerceptron(kernel=name, **numbers, tie=tie)
    scores = learner.play(LAYOUTS[layout](X), y)
    code = {"mistake": 0.0, "+1": 1.0, "-1": -1.0}[tie]
    expected, updates, _ = kernel_perceptron(X.tolist(), y.tolist(), plain(name, numbers), tie=code)
    assert scores == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert learner.state["updates"][0] == len(updates) == learner.supports
    squares = [plain(name, numbers)(x, x) for x in X.tolist()]
    assert learner.state["row_max2"][0] == pytest.approx(max(squares))
    assert learner.state["mistake_row2"][0] == pytest.approx(math.fsum(squares[t] for t in updates))
    pairs = itertools.product(updates, updates)
    norm2 = math.fsum(y[s] * y[t] * plain(name, numbers)(X[s].tolist(), X[t].tolist()) for s, t in pairs)
    assert learner.weight_norm == pytest.approx(math.sqrt(norm2), rel=1e-9)


@every_kernel
def test_dense_and_sparse_rows_give_the_same_bits(name, numbers):
    X, y = stream(columns=9)
    dense, sparse = (KernelPerceptron(kernel=name, **numbers, bias=True) for _ in range(2))
    assert dense.play(LAYOUTS["dense"](X), y).tobytes() == sparse.play(LAYOUTS["sparse"](X), y).tobytes()
    assert dense.state.tobytes() == sparse.state.tobytes()


@every_kernel
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("more", [{}, {"budget": 12}, {"budget": 12, "forget": "random", "seed": 3}])
def test_any_split_gives_the_same_bits(name, numbers, layout, more):
    X, y = stream(rounds=210)
    weights = np.where(y > 0, 2.0, 0.5)
    whole = KernelPerceptron(kernel=name, **numbers, **more)
    scores = whole.play(LAYOUTS[layout](X), y, weights)
    for bounds in (range(211), [0, 3, 64, 65, 130, 209, 210]):
        pieces = KernelPerceptron(kernel=name, **numbers, **more)
        played = [pieces.play(LAYOUTS[layout](X[a:b]), y[a:b], weights[a:b]) for a, b in itertools.pairwise(bounds)]
        assert np.concatenate(played).tobytes() == scores.tobytes()
        assert everything(pieces) == everything(whole)


def test_several_threads_give_the_same_bits(monkeypatch):
    X, y = stream(rounds=300, columns=40)
    one = KernelPerceptron(kernel="rbf", gamma=0.1)
    scores = one.play(LAYOUTS["dense"](X), y)
    monkeypatch.setattr(threading, "MANY", 1)
    monkeypatch.setattr(threading, "PIECE", 8)
    for threads in (2, 3, 5):
        monkeypatch.setattr(threading, "_threads", lambda threads=threads: threads)
        other = KernelPerceptron(kernel="rbf", gamma=0.1)
        assert other.play(LAYOUTS["dense"](X), y).tobytes() == scores.tobytes()
        assert everything(other) == everything(one)


@every_kernel
def test_a_bias_is_one_more_column_of_ones(name, numbers):
    X, y = stream()
    longer = np.column_stack([X, np.ones(len(y))])
    with_bias, with_column = (KernelPerceptron(kernel=name, **numbers, bias=bias) for bias in (True, False))
    scores = with_bias.play(LAYOUTS["dense"](X), y)
    assert scores == pytest.approx(with_column.play(LAYOUTS["dense"](longer), y), rel=1e-11, abs=1e-11)


def test_the_linear_kernel_is_the_perceptron():
    X, y = stream()
    kernel, linear = KernelPerceptron(kernel="linear", bias=True), Perceptron(bias=True)
    assert kernel.play(LAYOUTS["dense"](X), y) == pytest.approx(
        linear.play(LAYOUTS["dense"](X), y), rel=1e-11, abs=1e-11
    )
    assert kernel.weights == pytest.approx(linear.weights, rel=1e-12)
    assert kernel.bias == linear.bias


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("forget", ["oldest", "random"])
def test_a_budget_forgets_as_it_says(layout, forget):
    X, y = stream(rounds=200)
    more = {"seed": 7} if forget == "random" else {}
    learner = KernelPerceptron(kernel="rbf", budget=9, forget=forget, **more)
    scores = learner.play(LAYOUTS[layout](X), y)
    draws = iter(uniform(7, 0, 200).tolist())
    forgets = (lambda count: int(next(draws) * count)) if forget == "random" else lambda count: 0
    expected, updates, kept = kernel_perceptron(X.tolist(), y.tolist(), plain("rbf", {}), budget=9, forgets=forgets)
    assert scores == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert learner.supports == 9
    assert learner.state["updates"][0] == len(updates) > 30
    rows = learner.support_rows
    found = rows.X if layout == "dense" else stores.dense(rows.native, 5, 1)
    assert np.array_equal(found, X[kept])
    pairs = itertools.product(zip(kept, y[kept], strict=True), repeat=2)
    norm2 = math.fsum(a * b * plain("rbf", {})(X[s].tolist(), X[t].tolist()) for (s, a), (t, b) in pairs)
    assert learner.weight_norm == pytest.approx(math.sqrt(norm2), rel=1e-9)


def test_draws_are_the_same_however_many_are_asked_for_at_once():
    whole = uniform(5, 0, 40)
    assert [float(uniform(5, n, 1)[0]) for n in range(40)] == whole.tolist()
    assert np.concatenate([uniform(5, 0, 7), uniform(5, 7, 33)]).tolist() == whole.tolist()
    assert uniform(6, 0, 40).tolist() != whole.tolist()
    many = uniform(1, 0, 30000)
    assert 0.0 <= many.min() < many.max() < 1.0
    assert np.bincount((many * 10).astype(int)) == pytest.approx(np.full(10, 3000), abs=250)


@every_kernel
@pytest.mark.parametrize("more", [{}, {"budget": 12, "forget": "random", "seed": 3}])
def test_saved_and_gone_on_with_is_never_stopped(name, numbers, more, tmp_path):
    X, y = stream(rounds=200)
    for layout, stop in (("dense", 77), ("sparse", 130)):
        whole, first = (KernelPerceptron(kernel=name, **numbers, **more) for _ in range(2))
        scores = whole.play(LAYOUTS[layout](X), y)
        first.play(LAYOUTS[layout](X[:stop]), y[:stop])
        model.save(first, tmp_path / "m.nr")
        second, _ = model.load(tmp_path / "m.nr")
        assert second.play(LAYOUTS[layout](X[stop:]), y[stop:]).tobytes() == scores[stop:].tobytes()
        assert everything(second) == everything(whole)


def test_precomputed_is_computed():
    X, y = stream(rounds=60)
    K = np.array([[parse("rbf", gamma=0.5)(x, z) for z in X] for x in X])
    computed = nr.KernelPerceptron(kernel="rbf", gamma=0.5, passes=2, shuffle=None).fit(X, y)
    given = nr.KernelPerceptron(kernel="precomputed", passes=2).fit(K, y)
    assert given.core.state.tobytes() == computed.core.state.tobytes()
    assert given.decision_function(K).tobytes() == computed.decision_function(X).tobytes()
    parts = nr.KernelPerceptron(kernel="precomputed").partial_fit(K[:25], y[:25]).partial_fit(K[25:], y[25:])
    assert parts.core.rounds == 60
    once = nr.KernelPerceptron(gamma=0.5, passes=1, shuffle=None).fit(X, y)
    assert parts.core.state["mistakes"][0] == once.core.state["mistakes"][0]
    for seed in (0, 7, None):  # rows that belong to columns are never shuffled
        other = nr.KernelPerceptron(kernel="precomputed", passes=2, shuffle=seed).fit(K, y)
        assert other.core.state.tobytes() == given.core.state.tobytes()


def own_rbf(x, z):
    total = 0.0
    for i in range(x.shape[0]):
        total += (x[i] - z[i]) ** 2
    return math.exp(-total)


def own_poly(x, z):
    return (1.0 + np.sum(x * z)) ** 2


@pytest.mark.parametrize(("function", "name"), [(own_rbf, "rbf"), (own_poly, "poly")])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_kernel_of_ones_own_is_the_built_in_one_that_it_copies(function, name, layout, tmp_path):
    X, y = stream()
    own, built_in = KernelPerceptron(kernel=function), KernelPerceptron(kernel=name)
    scores = own.play(LAYOUTS[layout](X), y)
    assert scores == pytest.approx(built_in.play(LAYOUTS[layout](X), y), rel=1e-11, abs=1e-11)
    assert own.state["mistakes"][0] == built_in.state["mistakes"][0]
    model.save(own, tmp_path / "m.nr")
    with pytest.raises(nr.ModelFileError, match="was learned with the kernel 'custom' of its own"):
        model.load(tmp_path / "m.nr")
    with pytest.raises(nr.ModelFileError, match="was learned with another 'custom' than the kernel given"):
        model.load(tmp_path / "m.nr", kernel=lambda x, z: 1.0)
    again, _ = model.load(tmp_path / "m.nr", kernel=function)
    assert again.scores(LAYOUTS[layout](X)).tobytes() == own.scores(LAYOUTS[layout](X)).tobytes()


def test_an_estimator_with_a_kernel_of_ones_own_is_saved_and_loaded(tmp_path):
    X, y = stream()
    learned = nr.KernelPerceptron(kernel=nr.custom_kernel(own_rbf, name="mine")).fit(X, y)
    learned.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr", kernel=own_rbf)
    assert again.kernel.name == "mine"
    assert np.array_equal(again.predict(X), learned.predict(X))
    assert again.support_count_ == learned.support_count_


def test_rows_that_grow_and_change_layout_keep_the_bits():
    X, y = stream(rounds=120, columns=6)
    whole, mixed = KernelPerceptron(kernel="laplace"), KernelPerceptron(kernel="laplace")
    X[:40, 4:] = 0.0
    scores = whole.play(LAYOUTS["dense"](X), y)
    found = [
        mixed.play(LAYOUTS["dense"](X[:40, :4]), y[:40]),
        mixed.play(LAYOUTS["sparse"](X[40:80]), y[40:80]),
        mixed.play(LAYOUTS["dense"](X[80:]), y[80:]),
    ]
    assert np.concatenate(found).tobytes() == scores.tobytes()


def test_entries_of_a_sparse_row_may_come_in_any_order():
    X, y = stream(rounds=60)
    straight, turned = nr.KernelPerceptron(), nr.KernelPerceptron()
    for x, label in zip(X, y, strict=True):
        where = np.flatnonzero(x)
        straight.learn_one((where, x[where]), label)
        turned.learn_one((where[::-1], x[where[::-1]]), label)
    assert everything(straight.core) == everything(turned.core)
    assert straight.predict_one((where, x[where])) == turned.predict_one((where[::-1], x[where[::-1]]))


def test_the_exponential_is_right_to_four_units_in_the_last_place():
    getcontext().prec = 40
    points = [0.0, -1e-300, -1e-17, -0.34657359027997264, *(-np.random.default_rng(1).exponential(60.0, 2000)), -707.9]
    for x in points:
        if x > -708.0:
            exact = Decimal(x).exp()
            assert abs(Decimal(float(exponential(x))) / exact - 1) <= Decimal(4 * 2.0**-52), x
    assert exponential(0.0) == 1.0
    assert exponential(-709.0) == exponential(-math.inf) == 0.0
    assert math.isnan(exponential(math.nan))


@every_kernel
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("more", [{}, {"bias": True}, {"budget": 7}])
def test_every_bit_is_that_of_a_plain_loop(name, numbers, layout, more):
    X, y = stream(rounds=90, columns=11)
    learner = KernelPerceptron(kernel=name, **numbers, **more)
    scores = learner.play(LAYOUTS[layout](X), y)
    bias = float("bias" in more)
    of = lambda x, z: to_the_bit(name, x, z, **numbers, bias=bias)  # noqa: E731
    expected, updates, _ = kernel_perceptron(X.tolist(), y.tolist(), of, budget=more.get("budget"), total=in_order)
    assert scores.tolist() == expected
    assert learner.state["updates"][0] == len(updates)
    kernel = parse(name, **numbers)
    assert bias or [kernel(x, X[0]) for x in X] == [of(x, X[0].tolist()) for x in X.tolist()]


@pytest.mark.parametrize(("name", "numbers"), [("linear", {}), ("rbf", {"gamma": 1e-3}), ("laplace", {"gamma": 1e-3})])
def test_many_features_are_taken_in_pieces(name, numbers):
    X, y = stream(rounds=40, columns=1300, density=1.0)
    scores = KernelPerceptron(kernel=name, **numbers).play(LAYOUTS["dense"](X), y)
    of = lambda x, z: to_the_bit(name, x, z, **numbers)  # noqa: E731
    assert scores.tolist() == kernel_perceptron(X.tolist(), y.tolist(), of, total=in_order)[0]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"kernel": "cubic"}, "kernel must be one of linear, poly, rbf, laplace, precomputed"),
        ({"kernel": lambda x: 1.0}, "must be a plain Python function of two rows"),
        ({"kernel": "rbf", "degree": 2}, "degree is for poly, not for rbf"),
        ({"kernel": "linear", "gamma": 2.0}, "gamma is for poly and rbf and laplace, not for linear"),
        ({"kernel": "poly", "degree": 1.5}, "degree must be a whole number from 1 to 64, got 1.5"),
        ({"kernel": "poly", "degree": math.nan}, "degree must be a whole number"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0 must be at least 0 and finite"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma must be positive and finite"),
        ({"budget": 0}, "budget must be a whole number of at least 1, got 0"),
        ({"budget": math.inf}, "budget must be a whole number of at least 1, got inf"),
        ({"forget": "oldest"}, "kernel: forget='oldest' needs budget"),
        ({"budget": 5, "forget": "newest"}, "forget must be oldest or random"),
        ({"budget": 5, "seed": 1}, "kernel: seed needs forget='random'"),
        ({"budget": 5, "forget": "random", "seed": -1}, "seed must be a whole number of at least 0"),
        ({"kernel": "precomputed", "bias": True}, "a bias has no meaning"),
        ({"kernel": "precomputed", "unit_norm": True}, "cannot be scaled"),
        ({"kernel": "precomputed", "budget": 3}, "a budget has no meaning"),
        ({"tie": "0"}, "tie must be one of"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, sentence):
    with pytest.raises(nr.SettingError, match=sentence):
        KernelPerceptron(**settings)


def test_a_function_that_does_not_compile_is_a_sentence():
    with pytest.raises(nr.SettingError, match="kernel: <lambda> cannot be compiled"):
        KernelPerceptron(kernel=lambda x, z: sorted(z, key=str)).play(LAYOUTS["dense"](np.ones((1, 2))), np.ones(1))


def test_what_a_precomputed_kernel_cannot_do_is_a_sentence():
    K, y = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(nr.SettingError, match="shuffle must be left out: rows of a precomputed kernel"):
        nr.play(nr.KernelPerceptron(kernel="precomputed"), (K, y), shuffle=1)
    with pytest.raises(nr.SettingError, match="must be dense"):
        KernelPerceptron(kernel="precomputed").play(LAYOUTS["sparse"](K), y)
    with pytest.raises(nr.SettingError, match="a row of weight 0"):
        KernelPerceptron(kernel="precomputed").play(LAYOUTS["dense"](K), y, np.array([1.0, 0.0, 1.0, 1.0]))


def test_an_overflow_stops_the_run_after_the_rounds_before_it():
    X, y = np.array([[1.0], [1e200], [1.0]]), np.array([1.0, -1.0, 1.0])
    learner = KernelPerceptron(kernel="poly")
    with (
        np.errstate(all="ignore"),
        pytest.raises(nr.DivergedError, match="overflow in round 2: use a smaller gamma"),
    ):
        learner.play(LAYOUTS["dense"](X), y)
    assert learner.rounds == learner.supports == 1
    learner.play(LAYOUTS["dense"](X[2:]), y[2:])
    assert learner.rounds == 2


def test_damaged_supports_are_noticed(tmp_path):
    X, y = stream(rounds=30)
    learner = KernelPerceptron()
    learner.play(LAYOUTS["sparse"](X), y)
    arrays = learner.arrays()
    for name, wrong in (("alpha", arrays["alpha"][1:]), ("support_bounds", arrays["support_bounds"][::-1])):
        with pytest.raises(ValueError, match="do not fit together"):
            KernelPerceptron().restore({**arrays, name: wrong}, learner.width, True)


def test_only_a_linear_kernel_has_weights_to_show():
    X, y = stream()
    assert not hasattr(nr.KernelPerceptron().fit(X, y), "coef_")
    assert not hasattr(nr.KernelPerceptron().fit(X, y), "intercept_")
    straight = nr.KernelPerceptron(kernel="linear", bias=True).fit(X, y)
    assert straight.coef_ == pytest.approx(nr.Perceptron(bias=True).fit(X, y).coef_, rel=1e-12)


DRIVER = """
import noregret as nr
from mine import kernel
from noregret.learner import KernelPerceptron
learner = KernelPerceptron(kernel=kernel)
nr.play(learner, ([[1.0], [2.0]], [1, -1]))
print(learner.state["row_max2"][0])
"""


def test_an_edited_kernel_is_not_served_stale(tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    (tmp_path / "mine.py").write_text(
        "from theirs import FACTOR\n\ndef kernel(x, z):\n    return FACTOR * x[0] * z[0]\n"
    )
    for factor in (2.0, 4.0):
        (tmp_path / "theirs.py").write_text(f"FACTOR = {factor}\n")
        command = [sys.executable, "-c", DRIVER]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert float(done.stdout) == 4.0 * factor
