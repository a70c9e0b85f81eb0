"""Receipts of random streams stand, whatever the learner, the loss and the size of the rows; so do those that are at
the ends of what numbers can say."""

import numpy as np
import pytest

import noregret as nr
from noregret.errors import DivergedError
from noregret.learner import LEARNERS
from noregret.proof.certify import certify
from noregret.proof.receipt import Receipt
from noregret.proof.verify import verify

BOUNDED = ("hinge", "logistic", "perceptron", "margin-hinge:0.3", "absolute", "pinball:0.9", "huber:0.5")
STEEP = ("squared-hinge", "squared")
NUMBERS = ("absolute", "pinball:0.9", "huber:0.5", "squared")
GRADIENT = ("ogd", "ogd-strong", "adagrad", "ftrl")
KINDS = ("perceptron", "averaged", "voted", *GRADIENT, "ogd", "pa", "pa1", "pa2", "coin", "second-order", "vaw")
KINDS = (*KINDS, "multiclass", "kernel", "scale-free")
# whose slopes are bounded whatever the loss
SLOPED = ("perceptron", "averaged", "voted", "multiclass", "coin", "scale-free")


def settings_of(kind, rng):
    """Settings of a learner, drawn."""
    made = {}
    if kind in GRADIENT:
        made = {"loss": str(rng.choice([*BOUNDED, *STEEP])), "radius": float(rng.choice([0.5, 3.0, 50.0]))}
    if kind == "ogd":
        made |= {"rate": str(rng.choice(["auto", "constant:0.3", "sqrt:0.5"])), "bias": bool(rng.random() < 0.3)}
    if kind == "scale-free":
        made = {"loss": str(rng.choice(BOUNDED)), "bias": bool(rng.random() < 0.5)}
    if kind == "coin":
        made = {"loss": str(rng.choice(BOUNDED[:5])), "unit_norm": True}
    if kind in ("pa", "pa1", "pa2"):
        made = {"loss": str(rng.choice(["hinge", "absolute"]))}
    if kind == "multiclass":
        made = {"update": str(rng.choice(["multiclass", "one-vs-rest"]))} if rng.random() < 0.5 else {}
    if kind == "kernel":
        made = {"kernel": str(rng.choice(["rbf", "poly", "linear"]))}
    return made


def drawn(seed, exponent=None):
    """A learner, what is asked of its receipt, and a stream: rows of size 10^exponent, some entries 0."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    settings = settings_of(kind, rng)
    loss = settings.get("loss")
    most = 150 if loss in BOUNDED or kind in SLOPED else 35 if kind == "second-order" else 70
    size = 10.0 ** (int(rng.integers(-most, most + 1)) if exponent is None else exponent)
    rounds, features = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    X = rng.normal(size=(rounds, features)) * (rng.random((rounds, features)) > 0.1)
    signal = X @ rng.normal(size=features) + 0.3 * rng.normal(size=rounds)
    y = np.where(signal > 0.0, 1.0, -1.0)
    if loss in NUMBERS or kind == "vaw":
        y = signal * 10.0 ** int(rng.integers(-3, 4))
    if kind == "multiclass":
        y = rng.integers(0, 3, rounds).astype(float)
    unlimited = kind in ("perceptron", "coin", "scale-free", "second-order")
    asked = {"radius": 2.0} if unlimited and rng.random() < 0.6 else {}
    asked |= {"anytime": True} if kind == "ogd" and rng.random() < 0.3 else {}
    return LEARNERS[kind](**settings), (X * size, y), asked


@pytest.mark.parametrize("seed", range(40))
def test_an_honest_receipt_stands(seed, tmp_path):
    learner, stream, asked = drawn(seed)
    receipt = certify(nr.play(learner, stream), stream, seconds=5.0, **asked)
    assert not receipt.broken
    receipt.save(tmp_path / "r.json")
    assert len(verify(Receipt.load(tmp_path / "r.json"), stream).checks) > 15


@pytest.mark.parametrize("exponent", [-165, -158, -154, 152, 154])
@pytest.mark.parametrize("seed", range(len(KINDS)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_squares_leave_the_floats_a_receipt_stands_or_a_sentence_says_why_there_is_none(seed, exponent):
    learner, stream, asked = drawn(seed, exponent)
    try:
        run = nr.play(learner, stream)
    except DivergedError as error:
        assert "would overflow in round" in str(error)
        return
    receipt = certify(run, stream, seconds=5.0, **asked)
    assert not receipt.broken
    verify(receipt, stream)


def test_a_separator_of_rows_whose_squares_are_almost_lost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(18, 2)) * 1e-158
    stream = X, np.where(X[:, 0] > 0.0, 1, -1)
    verify(certify(nr.play(nr.Perceptron(), stream), stream), stream)
