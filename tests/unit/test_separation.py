"""Separable or not: the answer against a linear programme, the margin against plain geometry, the proof by itself."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import noregret as nr
from noregret.errors import InputError, SettingError
from noregret.rounds import Rounds
from noregret.task.separate.rational import null_vector, weigh, whole_columns
from noregret.task.separate.solve import nearest_point
from oracle import batch as oracle

whole = st.integers(-4, 4).map(float)


@st.composite
def labelled(draw, width=None):
    X = draw(arrays(float, st.tuples(st.integers(2, 9), st.just(width or draw(st.integers(1, 4)))), elements=whole))
    return X, np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(X), max_size=len(X))))


def signed_sum(X, y, found):
    """Σ λ·y·x in fractions."""
    return [
        sum(
            Fraction(w) * Fraction(float(y[t])) * Fraction(float(X[t, j]))
            for t, w in zip(found.rows, found.exact, strict=True)
        )
        for j in range(X.shape[1])
    ]


@given(labelled())
def test_the_answer_is_that_of_a_linear_programme(rows):
    X, y = rows
    found = nr.separate((X, y))
    assert found.answer == ("separable" if oracle.separable(X, y) else "inseparable")
    if found.answer == "inseparable":
        assert found.exact is not None and min(found.exact) > 0 and not any(signed_sum(X, y, found))
        assert len(found.rows) <= X.shape[1] + 1  # Carathéodory
        assert found.weights.sum() == pytest.approx(1.0)
    else:
        assert (y * (X @ found.separator) > 0.0).all() and found.finished
    assert found.check((X, y)).checks


@given(labelled(width=2))
def test_the_margin_encloses_the_best_of_the_plane(rows):
    X, y = rows
    found = nr.separate((X, y), gap=1e-9)
    best = oracle.best_margin_in_the_plane(X, y)
    if found.answer == "separable":
        assert found.margin.lo <= best * (1 + 1e-12) and best <= found.margin.hi * (1 + 1e-12)
        assert found.margin.hi - found.margin.lo <= 1e-9 * found.margin.hi


@given(labelled())
def test_sparse_rows_give_the_same_answer(rows):
    X, y = rows
    dense, sparse = nr.separate((X, y), bias=True), nr.separate((scipy.sparse.csr_array(X), y), bias=True)
    assert (dense.answer, dense.digest) == (sparse.answer, sparse.digest)
    assert dense.margin.lo == pytest.approx(sparse.margin.lo, rel=1e-4)
    assert sparse.check((X, y)).checks and dense.check((scipy.sparse.csr_array(X), y)).checks


@given(labelled())
def test_no_perceptron_errs_more_often_than_the_bound(rows):
    X, y = rows
    found = nr.separate((X, y))
    if found.mistake_bound is not None and found.mistake_bound < 10_000:
        w, mistakes = np.zeros(X.shape[1]), 0
        for _ in range(found.mistake_bound + 2):
            for x, label in zip(X, y, strict=True):
                if label * (x @ w) <= 0.0:
                    w, mistakes = w + label * x, mistakes + 1
        assert mistakes <= found.mistake_bound
        assert found.no_separator_below <= found.mistake_bound + 1


# -- known sets ------------------------------------------------------------------------------------------------------


def iris(kind):
    X, y = load_iris(return_X_y=True)
    return X, y == kind


@pytest.mark.parametrize(("kind", "answer"), [(0, "separable"), (1, "inseparable"), (2, "inseparable")])
def test_of_the_irises_only_setosa_stands_apart(kind, answer):
    found = nr.separate(iris(kind), bias=True)
    assert found.answer == answer and found.finished and found.check(iris(kind)).checks


def test_a_margin_of_a_billionth_of_the_rows_is_found():
    """Breast cancer as it comes: rows of length 5000, a margin of 4·10⁻⁵."""
    rows = load_breast_cancer(return_X_y=True)
    found = nr.separate(rows)
    assert found.answer == "separable" and found.finished
    assert found.margin.lo * 1e8 < found.radius.lo
    assert found.check(rows).checks


@pytest.mark.parametrize("pair", [(3, 8), (2, 7), (4, 9)])
def test_two_digits_can_be_told_apart_and_the_margin_is_certified(pair):
    X, y = load_digits(return_X_y=True)
    some = np.isin(y, pair)
    found = nr.separate((X[some], y[some]), gap=1e-7)
    assert found.answer == "separable" and found.margin.hi <= found.margin.lo * (1 + 1e-6)
    assert found.classes == pair and found.check((X[some], y[some])).checks


def test_an_eight_among_all_digits_cannot():
    X, y = load_digits(return_X_y=True)
    found = nr.separate((X, y == 8), bias=True)
    assert found.answer == "inseparable" and not any(
        signed_sum(np.c_[np.ones(len(X)), X], np.where(y == 8, 1, -1), found)
    )


def test_more_features_than_rows_by_coordinate_descent():
    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array((80, 5000), density=0.01, rng=rng, format="csr")
    y = rng.choice([-1, 1], size=80)
    found = nr.separate((X, y))
    assert found.answer == "separable" and found.finished and found.check((X, y)).checks


def test_many_features_and_no_separator():
    """The last row is the sum of the others and has the other label."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(6, 1500)).astype(float)
    X = np.vstack([X, X.sum(axis=0)])
    y = np.array([1.0] * 6 + [-1.0])
    found = nr.separate((scipy.sparse.csr_array(X), y))
    assert found.answer == "inseparable" and found.exact == (1,) * 7 and found.check((X, y)).checks


# -- degenerate rows -------------------------------------------------------------------------------------------------


def test_one_class_is_separated_by_the_bias():
    found = nr.separate((np.array([[0.0], [5.0]]), [1, 1]), bias=True)
    assert found.answer == "separable" and found.bias > 0.0 and found.check(([[0.0], [5.0]], [1, 1])).checks


def test_one_class_around_zero_is_not_separated_without_one():
    found = nr.separate((np.array([[-2.0], [4.0]]), [1, 1]))
    assert found.answer == "inseparable" and found.exact == (2, 1)


def test_a_row_of_zeros_is_never_separated():
    found = nr.separate((np.array([[1.0], [0.0]]), [1, 1]))
    assert found.answer == "inseparable" and found.rows.tolist() == [1] and found.exact == (1,)


def test_a_row_with_both_labels_has_weights_of_a_half():
    found = nr.separate((np.array([[1.0, 3.0], [2.0, 0.0], [1.0, 3.0]]), [1, 1, -1]), bias=True)
    assert found.rows.tolist() == [0, 2] and found.weights.tolist() == [0.5, 0.5]


def test_one_row():
    found = nr.separate((np.array([[3.0, 4.0]]), [1]))
    assert found.answer == "separable" and found.margin.holds(5.0) and found.mistake_bound == 1


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_tiny_and_huge_rows(size):
    rows = (size * np.array([[1.0, 2.0], [-1.0, 1.0], [2.0, 1.0]]), [1, -1, 1])
    found = nr.separate(rows)
    assert found.answer == "separable" and found.check(rows).checks


def test_a_margin_that_is_the_last_figure_of_a_number():
    rows = (np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-40]]), [1, -1])
    found = nr.separate(rows)
    assert found.answer in ("separable", "undecided") and found.check(rows).checks
    assert found.margin.hi < 1e-10


def test_out_of_time_it_says_so_and_what_it_says_is_true():
    X, y = load_digits(return_X_y=True)
    found = nr.separate((X, y == 8), bias=True, seconds=1e-9)
    assert found.answer == "undecided" and not found.finished and found.mistake_bound is None
    assert 0.0 == found.margin.lo < found.margin.hi and found.check((X, y == 8)).checks


def test_weights_of_rows_change_nothing_but_that_zero_leaves_out():
    X, y = np.array([[1.0], [1.0], [2.0]]), np.array([1, -1, 1])
    assert nr.separate((X, y, np.array([3.0, 2.0, 1.0]))).answer == "inseparable"
    assert nr.separate((X, y, np.array([3.0, 0.0, 1.0]))).answer == "separable"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"gap": 0.0}, "separate: gap must be positive and finite, got 0.0"),
        ({"seconds": 0.0}, "separate: seconds must be positive, got 0.0"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.separate(([[1.0]], [1]), **settings)


def test_rows_that_are_too_long_or_not_finite_are_refused():
    with pytest.raises(InputError, match="too long"):
        nr.separate(([[1e200]], [1]))
    with pytest.raises(InputError):
        nr.separate(([[math.inf]], [1]))
    with pytest.raises(InputError):
        nr.separate(([[1.0], [2.0], [3.0]], ["a", "b", "c"]))


# -- its parts -------------------------------------------------------------------------------------------------------


@given(st.integers(2, 8), st.integers(0, 10**6), st.sampled_from([2, 10**3, 2**53, 2**90]))
def test_a_null_vector_is_exact(size, seed, largest):
    """A matrix made to have one: its last column is a sum of the others."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-largest, largest, size=(size, size - 1), endpoint=True) if largest < 2**60 else None
    draw = (
        numbers.tolist()
        if numbers is not None
        else [[int(a) << 37 for a in row] for row in rng.integers(-(2**53), 2**53, size=(size, size - 1))]
    )
    A = np.array(draw, dtype=object).reshape(size, size - 1)
    factors = [int(one) for one in rng.integers(-5, 6, size=size - 1)]
    A = np.hstack([A, (A @ np.array(factors, dtype=object))[:, None]])
    found = null_vector(A)
    if found is not None:
        assert any(found) and not any(int(one) for one in A @ np.array(found, dtype=object))
    else:  # other columns depend on each other too
        assert np.linalg.matrix_rank(A[:, :-1].astype(float)) < size - 1


def test_a_null_vector_of_many_bits():
    rng = np.random.default_rng(0)
    A = rng.integers(-(2**53), 2**53, size=(30, 31)).astype(object)
    found = null_vector(A)
    assert found is not None and max(found).bit_length() > 1000 and not any(A @ np.array(found, dtype=object))


def test_regular_and_doubly_singular_systems_have_none():
    assert null_vector(np.array([[1, 2], [3, 4]], dtype=object)) is None
    assert null_vector(np.array([[1, 1, 1]], dtype=object)) is None
    assert null_vector(np.array([[2147483647]], dtype=object)) is None  # 0 modulo the prime, not 0
    assert null_vector(np.array([[2147483647, 0], [0, 1]], dtype=object)) is None


@given(labelled())
def test_the_nearest_point_of_the_hull_is_nearest(rows):
    X, y = rows
    if oracle.separable(X, y):
        found = nearest_point(Rounds.of(X, y), 1e-9, math.inf)
        assert found is not None
        point = (found.weights * y) @ X
        assert found.weights.min() >= 0.0 and found.weights.sum() == pytest.approx(1.0)
        assert (y * (X @ point)).min() >= (1 - 1e-7) * (point @ point)  # the optimality condition


def test_a_programme_starts_from_any_rows():
    X, y = np.array([[1.0], [2.0], [-1.0], [3.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    for first in ([0], [1, 2], [3]):
        found = weigh(Rounds.of(X, y), np.array(first), math.inf)
        assert found.exact is not None and found.rounds is not None
        assert not (whole_columns(Rounds.of(X, y), found.rounds) @ np.array(found.exact, dtype=object)).any()
