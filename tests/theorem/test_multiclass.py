"""The mistake bounds of many classes, in exact rationals on whole numbers, and receipts on any stream."""

import copy
import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

import noregret as nr
from noregret.errors import ReceiptError
from noregret.learner import LEARNERS, MulticlassPerceptron, VotedPerceptron
from noregret.proof.certify import certify
from noregret.proof.facts import Facts
from noregret.proof.theorems import THEOREMS, certificates
from noregret.proof.verify import verify
from noregret.rounds import Gathering
from noregret.stream.labels import Classes
from oracle.classes import many
from oracle.learners import dot

EXAMPLES = int(os.environ.get("NOREGRET_THOROUGH", "300"))
FAST = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
SLOW = settings(deadline=None, max_examples=EXAMPLES // 5, suppress_health_check=list(HealthCheck))


@st.composite
def games(draw):
    """Whole numbers: rows, classes numbered as they come, and any comparator V."""
    rounds, columns, classes = draw(st.integers(1, 14)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    entry = st.integers(-3, 3)
    rows = draw(st.lists(st.lists(entry, min_size=columns, max_size=columns), min_size=rounds, max_size=rounds))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=rounds, max_size=rounds))
    order = list(dict.fromkeys(y))
    V = draw(st.lists(st.lists(entry, min_size=columns, max_size=columns), min_size=len(order), max_size=len(order)))
    scale = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 7), Fraction(0)]))
    told = draw(st.booleans())
    return rows, [order.index(label) for label in y], [[scale * v for v in row] for row in V], told


def loss(V, x, y):
    """max(0, 1 − min_{r≠y} ⟨v_y − v_r, x⟩)."""
    rest = [dot(V[y], x) - dot(v, x) for r, v in enumerate(V) if r != y]
    return max(Fraction(0), 1 - min(rest)) if rest else Fraction(0)


@FAST
@given(games())
def test_max_score_errs_at_most_as_often_as_the_theorem_says(game):
    X, y, V, told = game
    run = many(X, y, declared=len(V) if told else 0)
    updates = sorted({t for t, _, _ in run.moves})
    M = sum(run.mistakes) - run.unforeseen
    assert len(updates) == M
    assert run.unforeseen == 0 or not told
    R2 = sum(dot(X[t], X[t]) for t in updates)
    assert sum(dot(w, w) for w in run.W) <= 2 * R2
    c, norm2 = sum(loss(V, x, label) for x, label in zip(X, y, strict=True)), sum(dot(v, v) for v in V)
    over = max(M - c, Fraction(0))
    assert over**2 <= norm2 * sum(dot(w, w) for w in run.W)
    assert over**2 <= norm2 * 2 * R2
    r2 = max(dot(x, x) for x in X)
    assert over**2 <= norm2 * 2 * r2 * M, "which is M ≤ Q(c, √2·r‖V‖)"
    if len(V) > 1 and all(loss(V, x, label) == 0 for x, label in zip(X, y, strict=True)):
        assert 2 * r2 * norm2 >= M


@FAST
@given(games())
def test_each_class_against_the_rest_errs_at_most_as_often_as_its_own_theorem_says(game):
    X, y, V, told = game
    run = many(X, y, "one-vs-rest", len(V) if told else 0)
    total = 0
    for k, v in enumerate(V):
        first = 0 if told else y.index(k)
        chosen = [t for t, c, _ in run.moves if c == k]
        signed = [1 if label == k else -1 for label in y]
        h = sum(max(Fraction(0), 1 - s * dot(v, x)) for s, x in list(zip(signed, X, strict=True))[first:])
        over = max(len(chosen) - h, Fraction(0))
        assert over**2 <= dot(v, v) * sum(dot(X[t], X[t]) for t in chosen)
        total += len(chosen)
    assert sum(run.mistakes) <= total


@SLOW
@given(games(), st.sampled_from(["max-score", "one-vs-rest"]))
def test_certificates_at_any_comparator_hold_and_say_what_the_definition_says(game, update):
    X, y, V, _ = game
    rows = np.array(X, dtype=float)
    with Gathering(False) as keep:
        run = nr.play(MulticlassPerceptron(update=update), (rows, np.array(y)), keep=keep)
        rounds = keep.done()
    point = np.array([[float(v) for v in row] for row in V]).reshape(-1)
    name = "V_sum" if update == "max-score" else "V_each"
    found = {one.theorem: one for one in certificates(Facts(run, rounds, points={name: point}))}
    twin = many(X, y, update)
    assert run.mistakes == sum(twin.mistakes)
    assert all(one.verdict.name in ("HOLDS", "VACUOUS", "UNMET") for one in found.values())
    exact = [[Fraction(float(v)) for v in row] for row in V]
    if update == "max-score":
        updates = {t for t, _, _ in twin.moves}
        c = sum(loss(exact, x, label) for x, label in zip(X, y, strict=True))
        size = math.sqrt(sum(dot(v, v) for v in exact))
        wanted = twin.unforeseen + float(c) + size * math.sqrt(2 * sum(dot(X[t], X[t]) for t in updates))
        assert found["multiclass-mistakes"].bound == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        assert found["multiclass-mistakes"].bound >= run.mistakes
    else:
        assert found["one-vs-rest-updates"].observed == len(twin.moves)
        assert found["one-vs-rest"].bound >= run.mistakes


@st.composite
def streams(draw):
    """Any rows: ties, zeros, cancellation, a wide spread; a few labels of words and numbers."""
    rounds, columns = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    entry = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 0.1, 0.2, -0.3]),
        st.floats(-4.0, 4.0, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-6 else x),
        st.sampled_from([1e16, -1e16, 1e-8]),
    )
    size = draw(st.sampled_from([1.0, 1.0, 1e-30, 1e30]))
    rows = draw(st.lists(st.lists(entry, min_size=columns, max_size=columns), min_size=rounds, max_size=rounds))
    labels = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=rounds, max_size=rounds))
    return np.array(rows) * size, np.array(labels, dtype=object)


@SLOW
@given(streams(), st.sampled_from(["max-score", "one-vs-rest"]), st.booleans())
def test_every_receipt_of_many_classes_stands(stream, update, bias):
    run = nr.play(MulticlassPerceptron(update=update, bias=bias), stream)
    receipt = certify(run, stream, seconds=2.0)
    assert not receipt.broken, receipt.certificates
    verify(receipt, stream)


@SLOW
@given(streams(), st.sampled_from(["mistake", "+1", "-1"]))
def test_every_receipt_of_a_voted_perceptron_stands(stream, tie):
    stream = stream[0], np.where(stream[1] == "a", 1, -1)
    receipt = certify(nr.play(VotedPerceptron(tie=tie), stream), stream, seconds=2.0, surrogate="logistic")
    assert not receipt.broken
    verify(receipt, stream)
    names = {one["theorem"] for one in receipt.certificates}
    assert names == {
        name for name, one in THEOREMS.items() if "voted" in one.learners and not name.startswith("cover-")
    }


def test_the_test_error_of_the_vote_is_an_estimate_under_what_cannot_be_checked():
    X, y = load_digits(return_X_y=True)
    stream = X, np.where(y == 0, 1, -1)
    once = certify(nr.play(VotedPerceptron(), stream), stream, seconds=5.0)
    (said,) = [one for one in once.certificates if one["theorem"] == "voted-test-error"]
    assert said["verdict"] == "holds"
    assert 0.0 < said["bound"] < 1.0
    assert [part["checked"] for part in said["assumptions"]] == [True] * 4 + [
        False
    ] * 3  # that rows came once among them
    twice = certify(nr.play(VotedPerceptron(), stream, passes=2), stream, seconds=5.0)
    (said,) = [one for one in twice.certificates if one["theorem"] == "voted-test-error"]
    assert said["verdict"] == "unmet"


@pytest.mark.parametrize("update", ["max-score", "one-vs-rest"])
@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_real_data_gets_a_bound_that_says_something(update, load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:600]
    stream = X[order], y[order]
    receipt = certify(nr.play(MulticlassPerceptron(update=update, unit_norm=True), stream), stream)
    said = {one["theorem"]: one["verdict"] for one in receipt.certificates}
    assert said["multiclass-sum" if update == "max-score" else "one-vs-rest-updates"] == "holds"
    verify(receipt, stream)


def test_a_separator_of_many_classes_bounds_the_mistakes_of_repeated_passes():
    rng = np.random.default_rng(1)
    X = np.eye(4)[rng.integers(0, 4, 40)] + 0.1 * rng.normal(size=(40, 4))
    stream = X, X.argmax(axis=1)
    receipt = certify(nr.play(MulticlassPerceptron(), stream, passes=9), stream)
    said = {one["theorem"]: one for one in receipt.certificates}["multiclass-novikoff"]
    assert said["verdict"] == "holds"
    assert said["observed"] <= said["bound"] < 360
    verify(receipt, stream)


def test_where_the_float_run_was_no_exact_run_only_the_sum_is_claimed():
    """After (1, 1e16, −1e16) the row (1, 1, 1) scores 1 + 1e16 − 1e16: 0 in floats, 1 exactly."""
    X = np.array([[0.0, 0.0, 0.0], [1.0, 1e16, -1e16], [1.0, 1.0, 1.0]])
    stream = X, np.array([0, 1, 1])
    receipt = certify(nr.play(MulticlassPerceptron(), stream), stream)
    said = {one["theorem"]: one["verdict"] for one in receipt.certificates}
    assert said["multiclass-mistakes"] == said["multiclass-root"] == said["multiclass-norm"] == "unmet"
    assert said["multiclass-sum"] in ("holds", "vacuous")
    verify(receipt, stream)


@pytest.mark.parametrize("update", ["max-score", "one-vs-rest"])
def test_a_forged_number_or_vector_is_found(update):
    rng = np.random.default_rng(2)
    stream = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    receipt = certify(nr.play(MulticlassPerceptron(update=update), stream), stream)
    for place, certificate in enumerate(receipt.certificates):
        if certificate["bound"] is None:
            continue
        forged = copy.deepcopy(receipt)
        forged.certificates[place]["bound"] = 0.9 * certificate["bound"]
        with pytest.raises(ReceiptError, match=f"{certificate['theorem']}: the bound"):
            verify(forged, stream)
    forged = copy.deepcopy(receipt)
    for vector in forged.points.values():
        vector[0] += 1.0
    with pytest.raises(ReceiptError):
        verify(forged, stream)
    forged = copy.deepcopy(receipt)
    forged.figures["unforeseen"] += 1
    with pytest.raises(ReceiptError, match="unforeseen"):
        verify(forged, stream)


def test_weights_leave_nothing_to_claim():
    rng = np.random.default_rng(3)
    stream = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    run = nr.play(MulticlassPerceptron(), stream, class_weight={1: 2.0})
    receipt = certify(run, stream)
    assert {one["verdict"] for one in receipt.certificates} == {"unmet"}
    verify(receipt, stream)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("kind", ["one label", "in turn", "random", "all new"])
def test_counts_lose_no_more_than_the_best_shares_and_logarithms(order, told, kind):
    """`succession-counts` on streams of one label, in turn, at random, and of new labels alone; for every length."""
    rng = np.random.default_rng(5)
    for T in (1, 2, 3, 60):
        drawn = {"one label": np.zeros(T), "in turn": np.arange(T) % 3, "random": rng.integers(0, 4, T)}
        y = {**drawn, "all new": np.arange(T)}[kind].astype(int)
        learner = LEARNERS["markov-classes"](order=order)
        learner.labels = Classes(list(range(int(y.max()) + 1))) if told else learner.labels
        stream = np.ones((T, 1)), y
        run = nr.play(learner, stream)
        receipt = certify(run, stream)
        (found,) = receipt.certificates
        assert (found["theorem"], found["verdict"]) == ("succession-counts", "holds")
        assert found["observed"] == pytest.approx(run.loss, rel=1e-12)
        assert verify(receipt, stream).checks


@pytest.mark.parametrize("name", ["softmax", "softmax-newton"])
@pytest.mark.parametrize("told", [False, True])
def test_no_weights_gain_more_than_the_forecasts_allow(name, told):
    """`softmax-linearised`, at weights of every length and at those that were learned in later passes."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 80)
    X = rng.normal(size=(3, 4))[y] + rng.normal(size=(80, 4))
    y = np.array([list(dict.fromkeys(y.tolist())).index(label) for label in y.tolist()])
    learner = LEARNERS[name](bias=True)
    learner.labels = Classes([0, 1, 2]) if told else learner.labels
    run = nr.play(learner, (X, y))
    receipt = certify(run, (X, y))
    (found,) = receipt.certificates
    assert (found["theorem"], found["verdict"]) == ("softmax-linearised", "holds")
    assert verify(receipt, (X, y)).checks
    rows = np.column_stack([np.ones(80), X])
    best = LEARNERS[name](bias=True)
    nr.play(best, (X, y), passes=30)
    learned = np.column_stack([best.class_biases, best.weights])
    gained = []
    for W in [size * learned for size in (0.1, 0.5, 1.0, 2.0)] + list(rng.normal(size=(40, 3, 5))):
        regret = run.loss - _lost(W, rows, y, 3 if told else 0)
        gained.append(regret)
        values = found["values"]
        assert regret <= values["dot_weights"] + np.linalg.norm(W) * values["norm_of_sum"] + 1e-9
    assert max(gained) > 0.0


def _lost(W, rows, y, known):
    """The loss of fixed weights, with the escape for new classes that every forecaster has."""
    lost, rounds, new = 0.0, 0, 0
    for x, label in zip(rows, y.tolist(), strict=True):
        fresh = (new + 0.5) / (rounds + 1) if known else 1.0
        if label < known:
            z = W[:known] @ x
            lost -= math.log(1.0 - fresh) + z[label] - math.log(np.exp(z).sum())
        else:
            lost -= math.log(fresh)
        if known:
            rounds, new = rounds + 1, new + (label >= known)
        known = max(known, label + 1)
    return lost
