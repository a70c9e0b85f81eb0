"""Receipts that claim what is not so, with everything else in order: `verify` must name what does not stand."""

import copy
import math

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ReceiptError
from noregret.receipt import Receipt, certify, verify


def stream(rounds=60, features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    return X, np.where(X @ rng.normal(size=features) + rng.normal(size=rounds) > 0, 1, -1)


STREAM = stream()


def made(learner, **asked):
    return certify(nr.play(learner, STREAM), STREAM, **asked)


SQRT = made(nr.OnlineGradientDescent(radius=2.0, rate="sqrt:0.01"), anytime=True)
PERCEPTRON = made(nr.Perceptron())
STRONG = made(nr.StronglyConvexGradientDescent())
LOGISTIC = made(nr.OnlineGradientDescent(radius=2.0, loss="logistic"))


def forged(receipt, change, **points):
    """The receipt after a change to its content, and with other vectors."""
    body = copy.deepcopy({key: part for key, part in vars(receipt).items() if key != "points"})
    change(body)
    return Receipt(**body, points={**receipt.points, **points})


def refused(receipt, sentence, rows=STREAM):
    with pytest.raises(ReceiptError, match=sentence) as said:
        verify(receipt, rows)
    assert said.value.failed


def certificate(body, name):
    return next(part for part in body["certificates"] if part["theorem"] == name)


def test_a_regret_without_a_dual_point():
    def change(body):
        regret = body["regret"]
        regret["points"] = {"u": "u"}
        regret["comparator"]["lower"] = regret["comparator"]["upper"] - 0.01
        regret["upper"] = regret["own"]["upper"] - regret["comparator"]["lower"]

    refused(forged(SQRT, change), "proved by a point and a dual point")


def test_tangents_in_place_of_a_dual_point():
    def change(body):
        body["regret"]["points"] = {"u": "u", "tangent": "tangent"}

    refused(forged(LOGISTIC, change, tangent=np.zeros(60)), "proved by a point and a dual point")


@pytest.mark.parametrize(
    ("receipt", "name", "vector"),
    [
        (PERCEPTRON, "v_sum", np.full(3, math.nan)),
        (PERCEPTRON, "v_sum", np.zeros(0)),
        (PERCEPTRON, "beta_sum", np.zeros(59)),
        (LOGISTIC, "alpha", np.zeros(1000)),
        (LOGISTIC, "u", np.zeros(2)),
        (SQRT, "alpha@4", np.zeros(60)),
    ],
)
def test_vectors_of_another_length_or_that_are_no_numbers(receipt, name, vector):
    refused(forged(receipt, lambda body: None, **{name: vector}), f"the vector {name} must be")


def test_other_feasible_vectors_change_the_numbers():
    refused(forged(SQRT, lambda body: None, alpha=np.zeros(60)), "comparator's loss at least")
    refused(forged(SQRT, lambda body: None, u=np.zeros(3)), "comparator's loss at most")
    refused(forged(SQRT, lambda body: None, u=np.full(3, 2.0)), "lies in the ball")
    refused(forged(SQRT, lambda body: None, alpha=np.ones(60)), "outside its domain")


@pytest.mark.parametrize(
    ("receipt", "name"),
    [
        (SQRT, "ogd-adaptive"),
        (SQRT, "ogd-constant"),
        (SQRT, "ogd-square-loss"),
        (SQRT, "strong-gradients"),
        (SQRT, "norm-lemma"),
        (LOGISTIC, "ogd-ball"),
        (STRONG, "ogd-tuned"),
        (STRONG, "ogd-adaptive"),
        (PERCEPTRON, "ogd-linearised"),
        (PERCEPTRON, "no-such-theorem"),
    ],
)
def test_a_theorem_about_another_learner(receipt, name):
    def change(body):
        body["certificates"].append({**body["certificates"][-1], "theorem": name})

    refused(forged(receipt, change), "it speaks of this learner, its rate and its loss|knows no such theorem")


def test_a_promise_that_was_not_made():
    def change(body):
        body["curve"][0]["bounds"]["ogd-linearised-at-hindsight"] = 0.4

    refused(forged(SQRT, change), "it speaks of this learner")


def test_a_lower_end_that_belongs_to_another_theorem():
    def change(body):
        other = certificate(body, "hinge-mistakes")
        mine = certificate(body, "hinge-sum")
        mine["points"] = [mine["points"][0], "beta_mistakes"]
        mine["values"]["no_comparator_below"] = other["values"]["no_comparator_below"]

    refused(forged(PERCEPTRON, change), "its vectors are those of the theorem")


@pytest.mark.parametrize(
    ("receipt", "change", "sentence"),
    [
        (SQRT, lambda b: b["regret"]["own"].update(lower=b["regret"]["own"]["upper"] + 1e-12), "own loss"),
        (SQRT, lambda b: b["regret"].update(mean=1.0), "what is said of a regret"),
        (SQRT, lambda b: b["segments"][0].update(source="x"), "what is said of stream 1"),
        (SQRT, lambda b: b["learner"].update(version=3), "the learner, its settings"),
        (SQRT, lambda b: b["learner"]["settings"].update(colour=3), "settings are damaged|cannot be replayed"),
        (SQRT, lambda b: b["figures"].update(accuracy=0.99), "figures are those"),
        (SQRT, lambda b: b["figures"].update(mistakes=b["figures"]["mistakes"] + 1e-8), "mistakes"),
        (SQRT, lambda b: b["figures"].update(mistakes=float(b["figures"]["mistakes"])), "mistakes"),
        (SQRT, lambda b: b["regret"].update(upper=str(b["regret"]["upper"])), "is no number"),
        (SQRT, lambda b: certificate(b, "ogd-linearised").update(bound="25"), "is no number"),
        (SQRT, lambda b: b["certificates"][0].update(source="Nobody 1900"), "its source is .*, not Nobody 1900"),
        (SQRT, lambda b: b["regret"].update(loss=None), "damaged"),
        (SQRT, lambda b: b["regret"].update(loss="absolute"), "judged by|outside its domain"),
        (SQRT, lambda b: b["reading"].update(accuracy=3), "read in ways"),
        (SQRT, lambda b: b["certificates"][0].update(bound=10**400), "damaged"),
        (SQRT, lambda b: b["certificates"].append(b["certificates"][0]), "evaluated twice"),
        (SQRT, lambda b: b["certificates"][0].update(verdict="broken"), "verdict"),
        (SQRT, lambda b: b["certificates"][0].update(points=["nothing"]), "vectors are those"),
        (SQRT, lambda b: b["certificates"][0]["assumptions"][0].update(checked=False), "was checked"),
        (SQRT, lambda b: b["certificates"][0]["assumptions"].append({}), "damaged"),
        (SQRT, lambda b: b["certificates"][0].update(observed=None), "observed"),
        (PERCEPTRON, lambda b: certificate(b, "novikoff").update(observed=3.0), "verdict"),
        (PERCEPTRON, lambda b: certificate(b, "hinge-sum").update(bound=34.0), "bound"),
        (PERCEPTRON, lambda b: b["segments"][0].update(rows=59), "digest|figures|passes|ends"),
        (STRONG, lambda b: b["regret"].update(sigma=0.2), "regulariser"),
    ],
)
def test_what_else_is_not_so(receipt, change, sentence):
    refused(forged(receipt, change), sentence)


def test_a_stream_that_goes_on_is_not_the_one_of_the_receipt():
    X, y = STREAM
    longer = np.vstack([X, X[:1]]), np.append(y, y[0])
    refused(SQRT, "ends with the last row of the run", longer)


def test_a_stopped_run_claims_no_end():
    X, y = STREAM
    learner, count = nr.OnlineGradientDescent(radius=2.0), iter(range(9))
    run = nr.play(learner, nr.read((X, y), block_rows=20), stop=lambda: next(count) == 1)
    receipt = certify(run, STREAM)
    assert (receipt.segments[0]["rows"], receipt.segments[0]["ended"]) == (40, False)
    verify(receipt, STREAM)
    verify(receipt, (X[:40], y[:40]))
