"""Quadratic losses (σ/2)‖w − a_t‖²: the mean so far, its exact regret, both bounds, and the rows that attain them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import noregret as nr
from noregret.errors import InputError, SettingError
from noregret.learner import StronglyConvexGradientDescent
from noregret.proof.theorem import Verdict
from noregret.proof.theorems.mean import certificates
from oracle.rows import fractions, norm2

TABLES = arrays(
    np.float64, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=st.integers(-40, 40).map(lambda n: n / 8.0)
)
SIGMAS = st.sampled_from([0.1, 1.0, 3.0])


@pytest.mark.parametrize("T", [1, 2, 3, 10, 60])
@pytest.mark.parametrize(("sigma", "G"), [(1, 1), (Fraction(3, 2), Fraction(1, 3))])
def test_the_harmonic_bound_is_attained_in_fractions(T, sigma, G):
    """a_t = w_t ± G/σ, w_t the mean so far: regret = (G²/2σ)·H_T exactly, whatever the signs."""
    for seed in range(3):
        signs = np.random.default_rng([seed, T]).choice([-1, 1], T).tolist()
        w, rows = Fraction(0), []
        loss = Fraction(0)
        for t, sign in enumerate(signs, 1):
            rows.append(w + sign * Fraction(G) / sigma)
            loss += Fraction(sigma) / 2 * (w - rows[-1]) ** 2
            w -= (w - rows[-1]) / t
        assert w == sum(rows) / T
        best = Fraction(sigma) / 2 * sum((w - a) ** 2 for a in rows)
        harmonic = sum(Fraction(1, t) for t in range(1, T + 1))
        assert loss - best == Fraction(G) ** 2 / (2 * Fraction(sigma)) * harmonic
        assert loss - best > Fraction(G) ** 2 / (2 * Fraction(sigma)) * Fraction(math.log(T + 1))  # the notes of 2023


@pytest.mark.parametrize("T", [2, 10, 1000])
def test_a_float_run_on_these_rows_attains_both_bounds(T):
    w, rows = 0.0, []
    for t in range(1, T + 1):
        rows.append([w + (2.0 if t % 3 else -2.0)])
        w -= (w - rows[-1][0]) / t
    run = nr.mean_estimation(rows, sigma=0.5)  # G = 1
    harmonic = math.fsum(1.0 / t for t in range(1, T + 1))
    for one in certificates(run):
        assert one.verdict is Verdict.HOLDS
        assert one.observed == pytest.approx(harmonic, rel=1e-11)
        assert one.bound == pytest.approx(harmonic, rel=1e-11)


def exact_run(table):
    """The means so far in fractions."""
    w, found = [Fraction(0)] * table.shape[1], []
    for t, a in enumerate(table.tolist(), 1):
        found.append(w)
        w = [p - (p - Fraction(q)) / t for p, q in zip(w, a, strict=True)]
    return found, w


@given(TABLES, SIGMAS)
def test_the_regret_is_the_weighted_sum_of_squared_gradients(table, sigma):
    """In fractions, without a ball: R = Σ‖g_t‖²/(2σt) against the mean, and a float run's interval is as near as its
    roundings."""
    points, mean = exact_run(table)
    rows, s = [fractions(a) for a in table.tolist()], Fraction(sigma)
    squares = [norm2([p - q for p, q in zip(w, a, strict=True)]) for w, a in zip(points, rows, strict=True)]
    best = sum(norm2([p - q for p, q in zip(mean, a, strict=True)]) for a in rows)
    regret = s / 2 * (sum(squares) - best)
    assert regret == s / 2 * sum(one / t for t, one in enumerate(squares, 1))
    run = nr.mean_estimation(table, sigma=sigma)
    assert float(regret) == pytest.approx(run.regret.hi, rel=1e-9, abs=1e-12)
    assert run.mean.tolist() == pytest.approx([float(one) for one in mean], abs=1e-13)
    assert all(one.verdict in (Verdict.HOLDS, Verdict.VACUOUS) for one in certificates(run))


@given(TABLES, SIGMAS, st.sampled_from([0.3, 1.0, 4.0]))
def test_within_a_ball_no_point_of_it_has_less_and_the_bounds_hold(table, sigma, radius):
    run = nr.mean_estimation(table, sigma=sigma, radius=radius)
    assert np.linalg.norm(run.points, axis=1).max() <= radius * (1.0 + 1e-12)
    assert np.linalg.norm(run.comparator) <= radius
    own = 0.5 * sigma * np.square(run.points[:-1] - table).sum()
    rng = np.random.default_rng(len(table))
    others = rng.normal(size=(50, table.shape[1]))
    others *= radius * rng.random((50, 1)) / np.linalg.norm(others, axis=1, keepdims=True)
    for u in (*others, run.comparator):
        against = own - 0.5 * sigma * np.square(u - table).sum()
        assert against <= run.regret.hi + 1e-9 * (1.0 + own)
    assert against == pytest.approx(run.regret.hi, abs=1e-9 * (1.0 + own))
    assert all(one.verdict in (Verdict.HOLDS, Verdict.VACUOUS) for one in certificates(run))


def test_it_is_the_strongly_convex_learner_on_linear_losses():
    """(σ/2)‖w − a‖² = (σ/2)‖w‖² − σ⟨w, a⟩ + …: ogd-strong on rows σa with the loss −yz takes the same steps."""
    rows = np.random.default_rng(3).normal(size=(60, 3))
    linear = nr.custom_loss(lambda z, y: -y * z, lambda z, y: -y, name="linear", regression=False, lipschitz=1.0)
    core = StronglyConvexGradientDescent(loss=linear, sigma=0.4)
    nr.play(core, (0.4 * rows, np.ones(60)))
    assert core.weights == pytest.approx(nr.mean_estimation(rows, sigma=0.4).mean, abs=1e-13)


def test_a_false_step_is_paid_for_and_a_false_figure_is_told():
    """What steps other than 1/(σt) lose stands in the bound; a loss that the run did not have breaks the theorem."""
    rows = np.random.default_rng(1).normal(size=(50, 2))
    run = nr.mean_estimation(rows)
    slow = np.vstack([np.zeros(2), np.cumsum(rows, axis=0) / np.arange(2, 52)[:, None]])
    other = nr.MeanRun(rows, slow, 1.0, math.inf, "rows", ("0", "1"))
    assert run.rounding.hi < 1e-12 < 1e-3 < other.rounding.hi
    assert all(one.verdict in (Verdict.HOLDS, Verdict.VACUOUS) for one in certificates(other))
    vars(run)["loss"] = run.loss + 1
    assert certificates(run)[0].verdict is Verdict.BROKEN


def test_rows_come_from_arrays_tables_and_frames(tmp_path):
    rows = [[1.0, 4.0], [3.0, 0.5], [2.0, 0.0]]
    file = tmp_path / "rows.csv"
    file.write_text("a,when,b\n" + "".join(f"{a},x,{b}\n" for a, b in rows))
    wanted = nr.mean_estimation(np.array(rows))
    for found in (
        nr.mean_estimation(rows),
        nr.mean_estimation(file, ignore=["when"]),
        nr.mean_estimation({"a": [1, 3, 2], "b": [4, 0.5, 0]}),
    ):
        assert found.points.tolist() == wanted.points.tolist()
        assert found.regret == wanted.regret
    assert nr.mean_estimation(file, ignore=["when"]).columns == ("a", "b")


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        ([[1.0]], {"sigma": 0.0}, "sigma must lie between 1e-100 and 1e\\+100, got 0.0"),
        ([[1.0]], {"missing": "mean"}, "missing must be one of error, zero, skip, got 'mean'"),
        ([[1.0]], {"radius": -1.0}, "radius must lie between 1e-100 and inf, got -1.0"),
        ([1.0, 2.0], {}, "rows must be a matrix of numbers"),
        ([["x"]], {}, "rows must be a matrix of numbers"),
        ([[math.nan]], {}, "rows must be finite numbers of at most 1e100"),
        ([[1e101]], {}, "rows must be finite numbers of at most 1e100"),
        (np.zeros((0, 3)), {}, "there are no rows"),
    ],
)
def test_rows_and_settings_that_cannot_be_are_refused(rows, options, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.mean_estimation(rows, **options)


def test_a_file_without_columns_of_numbers_is_refused(tmp_path):
    svm, words = tmp_path / "s.svm", tmp_path / "w.csv"
    svm.write_text("1 1:3\n")
    words.write_text("a,b\n1,x\n")
    with pytest.raises(InputError, match="needs a table of numbers"):
        nr.mean_estimation(svm)
    with pytest.raises(InputError, match="column 'b' must hold numbers, got 'x'"):
        nr.mean_estimation(words)
