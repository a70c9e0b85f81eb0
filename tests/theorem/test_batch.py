"""The batch perceptron's convergence, rule by rule: where it holds, where the printed form fails, where it ends."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noregret.batch import UPDATES, Outcome, run, stepped
from noregret.errors import DivergedError, SettingError
from noregret.proof.theorem import Verdict
from noregret.proof.theorems.batch import BatchFacts, certificates, replayed
from noregret.rounds import Rounds
from noregret.task.separate.solve import answered_within
from oracle import batch as oracle

every_update = pytest.mark.parametrize("update", UPDATES)

# golden.json, errata "Chan-fixed-sum" and "Chan-fixed-sum-two-class": augmented rows
ELEVEN = np.array([[2.0, 1.0]] * 11 + [[-2.0, 1.0]]), np.ones(12)
TWO_CLASSES = np.array([[-2.0, 1.0]] * 10 + [[0.0, 1.0]]), np.array([1.0] * 10 + [-1.0])


@st.composite
def separable_sets(draw):
    """Whole rows with the labels that a whole u gives them: X, y, u."""
    d = draw(st.integers(1, 4))
    whole = st.integers(-6, 6).map(float)
    u = draw(arrays(float, d, elements=whole).filter(lambda u: u.any()))
    X = draw(arrays(float, st.tuples(st.integers(1, 12), st.just(d)), elements=whole))
    X = X[X @ u != 0.0]
    return (X, np.sign(X @ u), u) if len(X) else (u[None, :], np.ones(1), u)


def least_bound(X, y, u):
    """R²‖u‖²/γ² as a fraction."""
    margin = Fraction(float((y * (X @ u)).min()))
    return Fraction(float((X * X).sum(axis=1).max())) * Fraction(float(u @ u)) / margin**2


@given(separable_sets(), st.integers(0, 5))
def test_one_misclassified_row_at_a_time_takes_at_most_b_steps(found, seed):
    X, y, u = found
    done = run(Rounds.of(X, y), update="random", rng=seed, limit=10**6)
    assert done.separated and done.iterations <= least_bound(X, y, u)


@given(separable_sets())
def test_the_average_takes_at_most_b_steps_in_fractions(found):
    X, y, u = found
    steps, _, theta = oracle.batch_perceptron(X.astype(int).tolist(), y, "average")
    assert steps <= least_bound(X, y, u)
    assert all(
        label * sum(int(a) * b for a, b in zip(row, theta, strict=True)) > 0 for row, label in zip(X, y, strict=True)
    )


@given(separable_sets())
def test_the_sums_misclassified_rows_are_within_both_of_its_bounds(found):
    X, y, u = found
    done = run(Rounds.of(X, y), update="sum", limit=10**6)
    counts = done.misclassified[:-1].tolist()
    bound = least_bound(X, y, u)
    assert done.separated
    assert sum(counts) ** 2 <= bound * sum(one * one for one in counts)
    assert done.iterations <= sum(counts) <= len(X) * bound


@given(separable_sets(), st.sampled_from(["sum", "average"]))
def test_the_iteration_is_that_of_the_definition(found, update):
    """But where a sum of thirds that is 0 was rounded to something else."""
    X, y, _ = found
    steps, sets, theta = oracle.batch_perceptron(X.astype(int).tolist(), y, update)
    done = run(Rounds.of(X, y), update=update, limit=10**6)
    rounds = Rounds.of(X, y)
    if update == "sum":
        assert done.iterations == steps and done.theta.tolist() == [float(one) for one in theta]
        assert [rows.tolist() for rows in stepped(rounds, done)] == sets
    elif [rows.tolist() for rows in stepped(rounds, done)] == sets:
        assert done.iterations == steps and np.allclose(done.theta, [float(one) for one in theta], rtol=1e-9)


@every_update
@given(separable_sets())
def test_every_certificate_holds_at_the_largest_margin(update, found):
    X, y, _ = found
    rounds = Rounds.of(X, y)
    done = run(rounds, update=update, rng=0, limit=10**6)
    separator = answered_within(rounds, 1e-6, 60.0).separator
    assert separator is not None
    for one in certificates(done, rounds, separator):
        assert one.verdict in (Verdict.HOLDS, Verdict.UNMET)
        assert one.verdict is Verdict.HOLDS or update in ("average", "normalised")  # rounding may spoil a tie there
    assert done.separated


@every_update
def test_every_theorem_of_the_batch_perceptron_is_evaluated_here(update):
    rounds = Rounds.of(*ELEVEN)
    found = [one.theorem for one in certificates(run(rounds, update=update, rng=0), rounds, np.array([0.0, 1.0]))]
    assert found == (["batch-sum", "batch-sum-rows"] if update == "sum" else ["batch-iterations"])


@every_update
def test_a_wrong_count_of_steps_is_called_broken(update):
    """The machinery can fail: ten steps claimed of an iteration whose bound is 5."""
    from dataclasses import replace

    rounds = Rounds.of(*ELEVEN)
    done = run(rounds, update=update, rng=0)
    forged = replace(done, iterations=100, misclassified=np.full(101, 12), hard=done.hard, soft=done.soft)
    evidence = BatchFacts(forged, rounds, np.array([0.0, 1.0]))
    object.__setattr__(evidence, "premise", True)
    from noregret.proof.theorems import batch

    found = [
        one(evidence)
        for one in vars(batch).values()
        if getattr(one, "learners", ()) and f"batch-{update}" in one.learners
    ]
    assert Verdict.BROKEN in {one.verdict for one in found}


# -- errata --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "bound", "of_sum", "theta", "of_average", "average_theta"),
    [
        (ELEVEN, 5, (7, 18), [8.0, 18.0], 2, [-1 / 3, 2.0]),
        (TWO_CLASSES, 10, (11, 21), [-20.0, -1.0], 2, [-20 / 11, -2 / 11]),
    ],
)
def test_with_the_sum_even_the_number_of_steps_exceeds_b(rows, bound, of_sum, theta, of_average, average_theta):
    """golden.json, errata "Chan-fixed-sum" and "Chan-fixed-sum-two-class"; with the average both take two steps."""
    rounds = Rounds.of(*rows)
    done = run(rounds, update="sum")
    separator = answered_within(rounds, 1e-9, 60.0).separator
    assert (done.iterations, int(done.misclassified.sum())) == of_sum and done.theta.tolist() == theta
    assert BatchFacts(done, rounds, separator).bound.holds(bound)
    assert done.iterations > bound
    average = run(rounds, update="average")
    assert average.iterations == of_average <= bound
    assert average.theta == pytest.approx(average_theta, abs=1e-12)


def test_two_copies_of_one_row_are_two_misclassified_rows_where_b_is_one():
    """golden.json, erratum "Chan-sumM"."""
    rounds = Rounds.of(np.array([[1.0], [1.0]]), np.ones(2))
    done = run(rounds, update="sum")
    assert (done.iterations, done.misclassified.tolist(), done.theta.tolist()) == (1, [2, 0], [2.0])
    assert BatchFacts(done, rounds, np.ones(1)).bound.holds(1.0)
    root, rows = certificates(done, rounds, np.ones(1))
    assert (root.observed, rows.observed) == (2.0, 2.0) and root.verdict is rows.verdict is Verdict.HOLDS
    assert root.bound == pytest.approx(2.0) and rows.bound == pytest.approx(2.0)  # attained


@every_update
def test_from_zero_every_row_is_misclassified(update):
    """golden.json, erratum "Chan-strict-zero": with {y·g < 0} none is, and nothing is ever learned."""
    done = run(Rounds.of(*ELEVEN), update=update, rng=1)
    assert done.misclassified[0] == 12 and done.soft[0] == 0.0 and done.iterations > 0


def test_the_normalised_sum_ends_where_the_golden_one_does():
    """golden.json, erratum "Chan-fixed-sum", unit."""
    done = run(Rounds.of(*ELEVEN), update="normalised")
    assert done.iterations == 2
    assert done.theta == pytest.approx([-0.0369342652874, 0.961709350927], abs=1e-11)


@every_update
@pytest.mark.parametrize("step", [1e-6, 1e6])
def test_from_zero_the_step_size_only_scales_the_weights(update, step):
    rounds = Rounds.of(*ELEVEN)
    one, other = run(rounds, update=update, rng=3), run(rounds, update=update, step=step, rng=3)
    assert other.misclassified.tolist() == one.misclassified.tolist()
    assert other.theta == pytest.approx(step * one.theta, rel=1e-12)


def test_from_elsewhere_the_step_size_matters():
    rounds = Rounds.of(*ELEVEN)
    steps = [run(rounds, update="average", step=a, start=np.array([-3.0, 1.0])).iterations for a in (0.01, 0.1, 1.0)]
    assert steps[0] > steps[1] > steps[2]
    assert {one.verdict for one in certificates(run(rounds, start=np.ones(2)), rounds, np.array([0.0, 1.0]))} == {
        Verdict.UNMET
    }


# -- inseparable rows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["sum", "average", "normalised"])
def test_rows_that_add_up_to_nothing_stall(update):
    done = run(Rounds.of(np.array([[1.0], [1.0]]), np.array([1.0, -1.0])), update=update)
    assert done.outcome is Outcome.STALLED and done.iterations == 0 and done.oscillates and not done.separated
    assert "stalls" in done.sentence and np.isfinite(done.theta).all()


@pytest.mark.parametrize("update", ["sum", "average", "random"])
def test_whole_rows_that_cannot_be_separated_oscillate_or_stall(update):
    """x = 0, 1, 3 of labels +, −, +, with a bias: no point of the line divides them."""
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 3.0]]), np.array([1.0, -1.0, 1.0])
    rounds = Rounds.of(X, y)
    done = run(rounds, update=update, rng=5)
    assert done.oscillates and done.returned_to is not None and "oscillates" in done.sentence
    # the steps since then add up to 0, which proves that there is no separator
    total = np.zeros(2)
    for rows in list(stepped(rounds, done))[done.returned_to :]:
        total += (y[rows] @ X[rows]) / (1 if update != "average" else len(rows))
    assert np.abs(total).max() < 1e-12
    assert answered_within(rounds, 1e-4, 60.0).answer == "inseparable"


@every_update
@given(arrays(float, st.tuples(st.integers(2, 8), st.just(2)), elements=st.integers(-3, 3).map(float)), st.data())
def test_it_separates_exactly_where_a_separator_exists(update, X, data):
    y = np.array(data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(X), max_size=len(X))))
    done = run(Rounds.of(X, y), update=update, rng=0, limit=3000)
    if oracle.separable(X, y):
        assert done.separated and (y * (X @ done.theta) > 0.0).all()
    else:
        assert not done.separated


def test_of_rows_that_cannot_be_separated_nothing_is_claimed():
    rounds = Rounds.of(np.array([[1.0], [1.0]]), np.array([1.0, -1.0]))
    assert {one.verdict for one in certificates(run(rounds), rounds, None)} == {Verdict.UNMET}


def test_a_bound_beyond_the_limit_on_steps_is_vacuous():
    rounds = Rounds.of(*ELEVEN)
    found = certificates(run(rounds, limit=1), rounds, np.array([0.0, 1.0]))
    assert [one.verdict for one in found] == [Verdict.VACUOUS]


def test_a_premise_that_rounding_broke_is_seen():
    """The second row is misclassified by rounding only: exactly y⟨θ, x⟩ = 1 after the first step."""
    rounds = Rounds.of(np.array([[1.0, 1e16, -1e16], [1.0, 1.0, 1.0]]), np.ones(2))
    done = run(rounds, update="random", rng=0, limit=5)
    from dataclasses import replace

    forged = replace(done, iterations=2, picks=np.array([0, 1]))
    assert replayed(rounds, forged) is False
    assert replayed(rounds, replace(done, iterations=1, picks=np.array([0]))) is True


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"update": "mean"}, "update must be one of sum, average, normalised, random, got 'mean'"),
        ({"step": 0.0}, "step must be positive and finite, got 0.0"),
        ({"step": float("nan")}, "step must be positive and finite, got nan"),
        ({"limit": -1}, "max_iterations must be a whole number of at least 0, got -1"),
        ({"update": "random"}, "needs rng, a seed or a numpy Generator"),
        ({"start": [1.0]}, "start must be 2 finite numbers"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        run(Rounds.of(*ELEVEN), **settings)


def test_weights_that_overflow_are_no_result():
    with pytest.raises(DivergedError, match="no longer finite"):
        run(Rounds.of(np.array([[1e308], [1e308]]), np.ones(2)), update="sum")
