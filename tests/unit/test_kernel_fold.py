"""Folded supports of the polynomial kernel of degree 2: another sum, the same scores, the same bits for any split."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret import model
from noregret.learner import KernelPerceptron, fold, threads
from oracle.kernels import KERNELS, folded_score, in_order, kernel_perceptron, to_the_bit
from oracle.registry import LAYOUTS, everything

NUMBERS = [{}, {"coef0": 0.0}, {"coef0": 0.5, "gamma": 0.25}]


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(fold, "GROUP", 8)


def stream(rounds=300, columns=5, seed=1):
    """Labels at random: about half of the rounds are mistakes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, columns)) * (rng.random((rounds, columns)) < 0.7)
    return X, rng.choice([-1.0, 1.0], rounds)


def learner(**more):
    return KernelPerceptron(kernel="poly", **more)


def unfolded(monkeypatch):
    monkeypatch.setattr(fold, "GROUP", 1 << 40)


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("columns", [1, 3, 8, 9, 20, 70])
@pytest.mark.parametrize("bias", [False, True])
def test_it_plays_its_definition(numbers, columns, bias):
    X, y = stream(columns=columns)
    one = learner(**numbers, bias=bias)
    scores = one.play(LAYOUTS["dense"](X), y)
    rows = np.column_stack([X, np.ones(len(y))]) if bias else X
    expected, updates, _ = kernel_perceptron(
        rows.tolist(), y.tolist(), lambda x, z: KERNELS["poly"](x, z, numbers), tie=0.0
    )
    largest = np.maximum.accumulate(np.abs(expected))
    assert (abs(scores - expected) <= 1e-10 * np.maximum(largest, 1.0)).all()
    assert one.supports == len(updates)
    assert np.array_equal(one.support_rows.X, X[updates])
    assert one._fold.count == fold.folded(one.supports - 1, columns) > 0


@given(st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_where_nothing_is_rounded_the_scores_are_those_of_sparse_rows(columns, seed, bias):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(80, columns)).astype(float), rng.choice([-1.0, 1.0], 80)
    many, none = (learner(gamma=0.5, coef0=2.0, bias=bias) for _ in range(2))
    assert np.array_equal(many.play(LAYOUTS["dense"](X), y), none.play(LAYOUTS["sparse"](X), y))
    assert many._fold is not None
    assert none._fold is None
    assert many.state.tobytes() == none.state.tobytes()


@pytest.mark.parametrize("columns", [2, 9, 33])
def test_dense_and_sparse_rows_make_the_same_updates(columns):
    X, y = stream(columns=columns)
    dense, sparse = learner(bias=True), learner(bias=True)
    scores, others = dense.play(LAYOUTS["dense"](X), y), sparse.play(LAYOUTS["sparse"](X), y)
    assert scores == pytest.approx(others, rel=1e-12, abs=1e-12 * np.abs(others).max())
    assert dense.coefficients.tobytes() == sparse.coefficients.tobytes()
    assert dense.scores(LAYOUTS["sparse"](X)).tobytes() == dense.scores(LAYOUTS["dense"](X)).tobytes()


@pytest.mark.parametrize("columns", [2, 9, 50])
def test_any_split_gives_the_same_bits(columns):
    X, y = stream(columns=columns)
    weights = np.where(y > 0, 2.0, 0.5)
    whole = learner()
    scores = whole.play(LAYOUTS["dense"](X), y, weights)
    for bounds in (range(301), [0, 3, 64, 65, 130, 299, 300]):
        pieces, played = learner(), []
        for a, b in itertools.pairwise(bounds):
            rows = LAYOUTS["dense"](X[a:b])
            before = pieces.scores(rows)
            played.append(pieces.play(rows, y[a:b], weights[a:b]))
            assert played[-1][0] == before[0]
        assert np.concatenate(played).tobytes() == scores.tobytes()
        assert everything(pieces) == everything(whole)
        assert pieces.scores(LAYOUTS["dense"](X)).tobytes() == whole.scores(LAYOUTS["dense"](X)).tobytes()


def test_several_threads_give_the_same_bits(monkeypatch):
    X, y = stream(columns=40)
    one = learner()
    scores = one.play(LAYOUTS["dense"](X), y)
    monkeypatch.setattr(threads, "MANY", 1)
    monkeypatch.setattr(threads, "PIECE", 8)
    for number in (2, 5):
        monkeypatch.setattr(threads, "_threads", lambda number=number: number)
        other = learner()
        assert other.play(LAYOUTS["dense"](X), y).tobytes() == scores.tobytes()


@pytest.mark.parametrize("stop", [9, 77, 160, 251])
def test_saved_and_gone_on_with_is_never_stopped(stop, tmp_path):
    X, y = stream()
    whole, first = learner(bias=True), learner(bias=True)
    scores = whole.play(LAYOUTS["dense"](X), y)
    first.play(LAYOUTS["dense"](X[:stop]), y[:stop])
    model.save(first, tmp_path / "m.nr")
    second, _ = model.load(tmp_path / "m.nr")
    assert second.scores(LAYOUTS["dense"](X)).tobytes() == first.scores(LAYOUTS["dense"](X)).tobytes()
    assert second.play(LAYOUTS["dense"](X[stop:]), y[stop:]).tobytes() == scores[stop:].tobytes()
    assert everything(second) == everything(whole)


def test_rows_that_grow_wider_are_folded_anew():
    X, y = stream(columns=60)
    X[:100, 6:] = 0.0
    X[:200, 13:] = 0.0
    whole, grown = learner(), learner()
    scores = whole.play(LAYOUTS["dense"](X), y)
    parts = [(0, 100, 6), (100, 200, 13), (200, 300, 60)]
    found = [grown.play(LAYOUTS["dense"](X[a:b, :width]), y[a:b]) for a, b, width in parts]
    assert np.concatenate(found) == pytest.approx(scores, rel=1e-10, abs=1e-10 * np.abs(scores).max())
    assert found[2].tobytes() == scores[200:].tobytes()
    assert grown.arrays()["supports"].tobytes() == whole.arrays()["supports"].tobytes()


def test_sparse_rows_beyond_the_width_end_it():
    X, y = stream(columns=12)
    X[:200, 6:] = 0.0
    mixed, sparse = learner(), learner()
    expected = sparse.play(LAYOUTS["sparse"](X), y)
    mixed.play(LAYOUTS["dense"](X[:200, :6]), y[:200])
    assert mixed._fold is not None
    found = mixed.play(LAYOUTS["sparse"](X[200:]), y[200:])
    assert mixed._fold is None
    assert found.tobytes() == expected[200:].tobytes()


@pytest.mark.parametrize("more", [{"budget": 40}, {"degree": 3}, {"degree": 1}])
def test_other_learners_are_left_as_they_are(more, monkeypatch):
    X, y = stream()
    one, other = learner(**more), learner(**more)
    scores = one.play(LAYOUTS["dense"](X), y)
    unfolded(monkeypatch)
    assert other.play(LAYOUTS["dense"](X), y).tobytes() == scores.tobytes()


def test_an_overflow_after_a_fold_stops_the_run_after_the_rounds_before_it():
    X, y = stream()
    X[200] = 1e200
    one = learner()
    with np.errstate(all="ignore"), pytest.raises(nr.DivergedError, match="would overflow in round 201"):
        one.play(LAYOUTS["dense"](X), y)
    assert one.rounds == 200
    one.play(LAYOUTS["dense"](X[201:]), y[201:])
    assert one.rounds == 299


def test_rows_without_features_are_played():
    one = learner()
    scores = one.play(LAYOUTS["dense"](np.zeros((40, 0))), np.tile([1.0, -1.0], 20))
    assert scores.tolist() == [0.0, 1.0] * 20
    assert one.supports == 40


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_how_many_are_folded_changes_where_a_block_ends_and_nowhere_else(count, width):
    end = fold.until(count, width)
    assert end > count
    assert {fold.folded(n, width) for n in range(count, end)} == {fold.folded(count, width)}
    assert fold.folded(end, width) == (end if width else 0)
    assert fold.folded(count, width) % 8 == 0


@pytest.mark.parametrize("columns", [3, 9, 20])
@pytest.mark.parametrize("bias", [False, True])
def test_every_bit_is_that_of_plain_loops(columns, bias):
    X, y = stream(rounds=70, columns=columns, seed=4)
    one, rows = learner(gamma=0.3, bias=bias), X.tolist()
    scores = one.play(LAYOUTS["dense"](X), y)
    kept = []
    for t, score in enumerate(scores.tolist()):
        done = fold.folded(len(kept), columns)
        first, rest = kept[:done], kept[done:]
        total = 0.0
        if first:
            of = [rows[s] for s in first], [y[s] for s in first]
            total = folded_score(rows[t], *of, 1.0 + 0.3 * bias, 0.3)
        terms = (y[s] * to_the_bit("poly", rows[s], rows[t], gamma=0.3, bias=float(bias)) for s in rest)
        assert score == in_order(terms, total)
        if score * y[t] <= 0.0:
            kept.append(t)
    assert one._fold.count >= 16
