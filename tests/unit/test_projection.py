"""A projection is tested by its optimality condition; the compiled one by staying inside and agreeing with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner import OnlineGradientDescent, StronglyConvexGradientDescent
from oracle import learners as plain
from oracle.losses import loss_of
from oracle.registry import LAYOUTS, data

NUMBERS = st.floats(-100.0, 100.0, allow_subnormal=False)
VECTORS = st.integers(1, 5).flatmap(lambda d: arrays(np.float64, d, elements=NUMBERS))


SHAPES = ["ball", "box", "l1", "simplex"]


def inside(domain, v, slack=1e-12):
    size = {"ball": np.linalg.norm, "box": lambda v: np.abs(v).max()}.get(domain.shape, lambda v: np.abs(v).sum())(v)
    return size <= domain.radius * (1.0 + slack) and (domain.shape != "simplex" or (v >= 0.0).all())


def brought_inside(domain, v):
    """Some point of the set, whatever v is; not the nearest."""
    if domain.shape == "box":
        return np.clip(v, -domain.radius, domain.radius)
    v = np.abs(v) if domain.shape == "simplex" else v
    return v * min(1.0, domain.radius / (np.linalg.norm(v) if domain.shape == "ball" else np.abs(v).sum()))


@given(VECTORS, st.sampled_from(SHAPES), st.sampled_from([0.1, 1.0, 50.0]), st.integers(0, 2**32 - 1))
def test_no_point_of_the_set_is_nearer(w, shape, radius, seed):
    """⟨w − Πw, v − Πw⟩ ≤ 0 for every v of the set, and Πw is in it."""
    domain = Domain(shape, radius)
    nearest = domain.project(w)
    assert inside(domain, nearest)
    for v in np.random.default_rng(seed).normal(size=(20, len(w))) * radius:
        other = brought_inside(domain, v)
        assert (w - nearest) @ (other - nearest) <= 1e-9 * (1.0 + np.linalg.norm(w)) * (1.0 + radius)


@given(VECTORS, st.sampled_from(SHAPES))
def test_a_point_of_the_set_stays(w, shape):
    w = np.abs(w) if shape == "simplex" else w
    domain = Domain(shape, 2.0 * float(np.abs(w).sum()) + 1.0)
    assert domain.holds(w)
    assert not Domain(shape, 1e-9).holds(w) or not (np.abs(w) > 1e-9).any()
    assert np.array_equal(domain.project(w), w)


def test_the_whole_space_projects_nothing_and_shares_nothing():
    w = np.array([1e300, -5.0])
    found = Domain("ball", np.inf).project(w)
    assert np.array_equal(found, w)
    assert not np.shares_memory(found, w)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [3, 80])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("rate", ["constant:2", "sqrt:5"])
def test_every_iterate_stays_in_the_set(shape, columns, layout, rate):
    X, y = data("hinge", rounds=120, columns=columns, seed=3)
    domain = Domain(shape, 0.5)
    learner = OnlineGradientDescent(radius=0.5, domain=shape, rate=rate, bias=True)
    for t in range(120):
        learner.play(LAYOUTS[layout](X[t : t + 1]), y[t : t + 1])
        assert inside(domain, np.append(learner.weights, learner.bias))


@pytest.mark.parametrize("columns", [4, 70])
def test_the_ball_is_kept_with_a_regulariser_too(columns):
    X, y = data("squared", rounds=200, columns=columns, seed=4, size=3.0)
    learner = StronglyConvexGradientDescent(loss="squared", sigma=0.1, radius=0.5)
    for t in range(200):
        learner.play(LAYOUTS["dense"](X[t : t + 1]), y[t : t + 1])
        assert inside(Domain("ball", 0.5), learner.weights)


@pytest.mark.parametrize("columns", [4, 70])
def test_a_long_run_on_the_edge_does_not_drift(columns):
    """Thousands of projections between two exact norms: the weights are still the definition's."""
    X, y = data("logistic", rounds=3000, columns=columns, seed=5, size=1.0)
    learner = OnlineGradientDescent(loss="logistic", radius=0.3, rate="constant:0.5")
    learner.play(LAYOUTS["dense"](X), y)
    project = Domain("ball", 0.3).project
    w, slope = np.zeros(columns), loss_of("logistic")[1]
    for x, label in zip(X, y, strict=True):
        w = project(w - 0.5 * slope(float(w @ x), label) * x)
    assert learner.weights == pytest.approx(w, abs=1e-11)
    assert learner.weight_norm <= 0.3 * (1.0 + 1e-12)


def test_the_box_of_the_kernel_is_the_box_of_the_definition():
    X, y = data("hinge", rounds=200, columns=4, seed=6)
    learner = OnlineGradientDescent(loss="hinge", domain="box", radius=0.3, rate="constant:0.7", bias=True)
    learner.play(LAYOUTS["sparse"](X), y)
    longer = np.column_stack([X, np.ones(200)])
    game = plain.descent(longer.tolist(), y.tolist(), loss_of("hinge"), plain.constant(0.7), plain.box(0.3))
    assert [*learner.weights, learner.bias] == pytest.approx(game.W[-1], abs=1e-12)


@pytest.mark.parametrize(("shape", "project"), [("l1", plain.cross), ("simplex", plain.simplex)])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("columns", [1, 4, 70])
def test_the_corners_of_the_kernel_are_those_of_the_definition(shape, project, layout, columns):
    X, y = data("logistic", rounds=200, columns=columns, seed=6, density=0.3)
    learner = OnlineGradientDescent(loss="logistic", domain=shape, radius=0.3, rate="constant:0.7", bias=True)
    scores = learner.play(LAYOUTS[layout](X), y)
    longer = np.column_stack([X, np.ones(200)])
    game = plain.descent(longer.tolist(), y.tolist(), loss_of("logistic"), plain.constant(0.7), project(0.3))
    assert scores == pytest.approx(game.scores, abs=1e-11)
    assert [*learner.weights, learner.bias] == pytest.approx(game.W[-1], abs=1e-11)


WHOLE = st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=6)


@given(WHOLE, st.sampled_from([1.0, 3.0, 10.0]), st.booleans())
def test_a_single_step_projects_ties_and_zeros_too(w, radius, positive):
    """One round from 0 with the step 1: the weights become the projection of the row itself."""
    shape = "simplex" if positive else "l1"
    learner = OnlineGradientDescent(loss="perceptron", domain=shape, radius=radius, rate="constant:1")
    learner.play(LAYOUTS["dense"](np.array([w])), np.array([1.0]))
    assert learner.weights == pytest.approx(Domain(shape, radius).project(np.array(w)), abs=1e-14)


def test_a_simplex_without_an_end_is_refused():
    with pytest.raises(SettingError, match="simplex needs a finite radius"):
        Domain("simplex", np.inf)
    assert Domain("l1", np.inf).project(np.array([5.0])) == [5.0]


@pytest.mark.parametrize(("shape", "start"), [("l1", [0.8, -0.3]), ("simplex", [0.8, -0.1]), ("simplex", [0.8, 0.3])])
def test_a_start_outside_is_refused(shape, start):
    with pytest.raises(SettingError, match=f"start must lie in the {shape} of radius 1"):
        OnlineGradientDescent(domain=shape, radius=1.0, start=start)
    assert OnlineGradientDescent(domain=shape, radius=1.0, start=[0.7, 0.2]).weights == pytest.approx([0.7, 0.2])
