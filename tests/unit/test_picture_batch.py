"""The convex solver beside the perceptron's oscillation; several starts, several ends, all separating."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import noregret as nr
from noregret.errors import SettingError
from noregret.picture.solutions import solutions_of
from noregret.picture.starts import several_starts
from noregret.proof.separation import labelled_rows
from noregret.task.separate.minimisers import minimisers

SQUARE = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), [1, 1, -1, -1]


def rows(noise, count=80, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    y = np.where(X @ [1.0, 0.5] + noise * rng.normal(size=count) > 0.0, 1.0, -1.0)
    return (X, y) if noise else (X[np.abs(X @ [1.0, 0.5]) > 0.3], y[np.abs(X @ [1.0, 0.5]) > 0.3])


def least_hinge(X, y):
    """min Σ max(0, 1 − y(⟨w, x⟩ + b)) as a linear programme."""
    Z = np.asarray(y, float)[:, None] * np.column_stack([np.ones(len(X)), X])
    n, d = Z.shape
    cost = np.concatenate([np.zeros(d), np.ones(n)])
    answer = linprog(
        cost, A_ub=np.hstack([-Z, -np.eye(n)]), b_ub=-np.ones(n), bounds=[(None, None)] * d + [(0, None)] * n
    )
    return answer.fun


def hinge_of(theta, X, y):
    scores = np.column_stack([np.ones(len(X)), X]) @ theta
    return np.maximum(1.0 - np.asarray(y) * scores, 0.0).sum()


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from([1.0, 1e-3, 1e3]))
def test_the_least_hinge_loss_is_proved_from_both_sides(seed, noise, size):
    X, y = rows(noise, 30, seed)
    if len(set(y.tolist())) < 2:
        return
    found = minimisers((size * X, y))
    least = least_hinge(size * X, y)
    assert found.hinge.lower <= least + 1e-6 * (1.0 + least)
    assert found.hinge.upper >= least - 1e-6 * (1.0 + least)
    assert found.hinge.upper - found.hinge.lower <= 1e-3 * max(found.hinge.upper, 1.0)
    assert hinge_of(found.theta, size * X, y) == pytest.approx(found.hinge.upper, rel=1e-6, abs=1e-6)
    assert found.interior
    scores = np.column_stack([np.ones(len(X)), size * X]) @ found.theta
    assert abs(found.misclassified - np.count_nonzero(y * scores <= 0.0)) <= 2  # scores near 0 may round to either side


def test_j_soft_is_least_at_zero_and_says_nothing():
    for data in (SQUARE, rows(0.0), rows(0.7)):
        X, y = np.asarray(data[0]), np.asarray(data[1])
        found = minimisers(data)
        assert found.soft == 0.0 == np.maximum(-y * (X @ np.zeros(2)), 0.0).sum()
        assert np.all(np.maximum(-y * (X @ np.random.default_rng(0).normal(size=2)), 0.0) >= found.soft)
    assert minimisers(rows(0.0)).hinge.lower == 0.0 == minimisers(rows(0.0)).misclassified
    assert minimisers(SQUARE).hinge.lower == pytest.approx(4.0, abs=1e-3)


@pytest.mark.parametrize("options", [{"gap": 0.0}, {"seconds": -1.0}])
def test_settings_of_the_solver_are_checked(options):
    with pytest.raises(SettingError, match="must be positive"):
        minimisers(SQUARE, **options)


def test_the_perceptron_oscillates_above_the_least_hinge_loss():
    data = rows(0.7)
    model = nr.BatchPerceptron(max_iterations=200).fit(*data)
    assert not model.run_.separated
    found = solutions_of(model.run_, (data,))
    assert found.hinge.min() >= found.best.hinge.lower
    assert found.steps[0] == 0 and found.steps[-1] == 200
    by_hand = [hinge_of(theta, *data) for theta in found.thetas]
    assert by_hand == pytest.approx(found.hinge.tolist())
    lines, losses = nr.plot(model, data, kind="solutions")
    assert "rows wrong at the least hinge loss" in lines.get_xlabel()
    assert "limit" in losses.get_title() and "least hinge loss between" in losses.get_title()
    assert any("least J_soft: 0, at θ = 0" in text.get_text() for text in losses.texts)


def test_of_a_cycle_its_own_steps_are_drawn():
    model = nr.BatchPerceptron(start=[1.0, 0.3]).fit(*SQUARE)
    found = solutions_of(model.run_, (SQUARE,))
    assert model.run_.oscillates
    assert len(found.last) == model.run_.iterations - model.run_.returned_to
    lines, _ = nr.plot(model, SQUARE, kind="solutions")
    assert len([line for line in lines.lines if line.get_label() == "boundary"]) >= 1


def test_rows_of_many_features_have_their_losses_drawn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.choice([-1, 1], 60)
    axes = nr.plot(nr.BatchPerceptron(max_iterations=50).fit(X, y), (X, y), kind="solutions")
    assert axes.shape == (1,)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("update", ["average", "sum", "normalised"])
def test_several_starts_have_several_ends_and_all_separate(bias, update):
    X, y = rows(0.0)
    data = (X[:, :1] + 0.2, np.where(X[:, 0] + 0.2 > 0.3, 1.0, -1.0)) if bias else (X, y)
    rounds = labelled_rows(data, reading={}, bias=bias).rounds
    runs = several_starts(rounds, update=update)
    ends = {tuple(run.theta.tolist()) for run in runs.values()}
    assert len(runs) == 9 and len(ends) >= 5
    assert all(run.separated for run in runs.values())
    table = np.column_stack([np.ones(len(y)) if bias else data[0][:, 0], data[0][:, -1]])
    for theta in ends:
        assert np.all(data[1] * (table @ np.array(theta)) > 0.0)
        assert np.all(data[1] * (table @ (1e-3 * np.array(theta))) > 0.0)
    axes = nr.plot(runs, rounds, kind="starts")
    assert f"{len(ends)} different ends" in axes.get_title()
    assert axes.get_xlabel() == ("bias" if bias else "weight of feature 0")


def test_the_cone_holds_the_separators_and_nothing_else():
    X, y = rows(0.0)
    model = nr.BatchPerceptron(bias=False, start=[-2.0, 1.0]).fit(X, y)
    axes = nr.plot({"one": model, "other": nr.BatchPerceptron(bias=False).fit(X, y)}, (X, y), kind="starts")
    (cone,) = [patch for patch in axes.patches if patch.get_label() == "separators"]
    path, (left, right), (low, high) = cone.get_path(), axes.get_xlim(), axes.get_ylim()
    for turn in np.linspace(0.0, 2.0 * math.pi, 721):
        theta = 0.9 * min(right, -left, high, -low) * np.array([math.cos(turn), math.sin(turn)])
        margin = (y * (X @ theta)).min()
        if abs(margin) > 1e-2:
            assert path.contains_point(theta) == (margin > 0.0)


def test_rows_that_nothing_separates_have_no_cone():
    models = {str(k): nr.BatchPerceptron(bias=False, start=[k, 1.0]).fit(*SQUARE) for k in (0.5, 1.5)}
    axes = nr.plot(models, SQUARE, kind="starts")
    assert "no end that separates" in axes.get_title() and not axes.patches


@pytest.mark.parametrize(
    ("things", "kind", "streams", "sentence"),
    [
        (lambda: nr.BatchPerceptron().fit(*SQUARE), "solutions", (), "solutions need the rows"),
        (lambda: nr.BatchPerceptron().fit(*SQUARE), "solutions", ((SQUARE[0][:, :1], SQUARE[1]),), "not the rows"),
        (lambda: {"a": nr.BatchPerceptron().fit(*SQUARE)}, "starts", (), "starts need the rows"),
        (lambda: {"a": nr.BatchPerceptron().fit(*SQUARE)}, "starts", (SQUARE,), "two weights, the bias being one;.*3"),
        (
            lambda: {"a": nr.BatchPerceptron().fit(*SQUARE), "b": nr.BatchPerceptron(bias=False).fit(*SQUARE)},
            "starts",
            (SQUARE,),
            "all with a bias or all without",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(things, kind, streams, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.plot(things(), *streams, kind=kind)
