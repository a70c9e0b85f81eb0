"""Receipts of random streams stand, whatever the learner, the loss and the size of the rows; so do those that are at
the ends of what numbers can say.

Every learner takes its turn, the default one for each of its tasks. `python tests/unit/test_honest_receipts.py 10000`
tries as many streams, `… 10000 7000` from the seven thousandth on.
"""

import sys
import time
import warnings

import numpy as np
import pytest

import noregret as nr
from noregret.errors import DivergedError, SettingError
from noregret.learner import LEARNERS, settings_of
from noregret.proof.certify import certify
from noregret.proof.receipt import Receipt
from noregret.proof.verify import verify

BOUNDED = ("hinge", "logistic", "perceptron", "margin-hinge:0.3", "absolute", "pinball:0.9", "huber:0.5")
BOUNDED = (*BOUNDED, "epsilon-insensitive:0.2")
STEEP = ("squared-hinge", "squared")
NUMBERS = ("absolute", "pinball:0.9", "huber:0.5", "squared", "epsilon-insensitive:0.2")
GRADIENT = ("ogd", "ogd-strong", "adagrad", "ftrl")
TASKS = ("binary", "multiclass", "regression")
KINDS = (*(name for name in LEARNERS if name != "auto"), *(f"auto {task}" for task in TASKS))
# whose slopes are bounded whatever the loss
SLOPED = ("perceptron", "averaged", "voted", "multiclass", "coin", "scale-free")
UNLIMITED = (
    "perceptron",
    "coin",
    "scale-free",
    "second-order",
    "newton",
    "diagonal",
    "markov",
    "naive-bayes",
    "nearest",
)
MATRICES = ("second-order", "newton", "softmax-newton", "ridge")  # products of four rows
OWN = {  # settings, and from what each is drawn; None stands for the default
    "softmax": {"rate": [None, 0.5]},
    "softmax-newton": {"ridge": [None, 1.0]},
    "markov-classes": {"order": [0, 1]},
    "nearest-classes": {"window": [5, 100], "neighbours": [1, 4]},
    "newton": {"play": ["two-label", "newton"], "walk": [None, 0.02], "ridge": [None, 0.1]},
    "diagonal": {"ridge": [None, 1.0]},
    "markov": {"order": [0, 1, 3]},
    "ridge": {"forgetting": [None, 0.2], "ridge": [None, 0.1]},
    "persistence": {"rule": ["last", "drift"]},
    "naive-bayes": {"temper": ["platt", "none"]},
    "nearest": {"window": [5, 100], "neighbours": [1, 4]},
    "nearest-numbers": {"window": [5, 100], "neighbours": [1, 4]},
    "multiclass": {"update": ["max-score", "multiclass", "one-vs-rest"]},
    "kernel": {"kernel": ["rbf", "poly", "linear"], "budget": [None, None, 3]},
    "ogd": {"rate": ["auto", "constant:0.3", "sqrt:0.5"], "l2": [None, None, 0.1], "domain": [None, "box", "cross"]},
    "second-order": {"ridge": [None, 0.1]},
    "vaw": {"ridge": [None, 0.1]},
}
PREPARED = {"bias": [False, True], "unit_norm": [False, False, True], "scale": [None, None, "max", "standard", "log"]}
PREPARED |= {"lags": [None, None, None, 2], "expand": [None, None, None, "quadratic"]}


def settings_for(kind, rng):
    """Settings of a learner, drawn."""
    made = {}
    if kind in GRADIENT:
        made = {"loss": str(rng.choice([*BOUNDED, *STEEP])), "radius": float(rng.choice([0.5, 3.0, 50.0]))}
    if kind == "scale-free":
        made = {"loss": str(rng.choice(BOUNDED))}
    if kind == "coin":
        made = {"loss": str(rng.choice(BOUNDED[:5])), "unit_norm": True}
    if kind in ("pa", "pa1", "pa2"):
        made = {"loss": str(rng.choice(["hinge", "absolute"]))}
    for name, some in (OWN.get(kind, {}) | (PREPARED if rng.random() < 0.5 else {})).items():
        value = some[int(rng.integers(len(some)))]
        if value is not None and name in settings_of(kind):
            made.setdefault(name, value)
    return made


def learner_of(kind, rng):
    """A learner with settings that go together."""
    name, _, task = kind.partition(" ")
    while True:
        try:
            return LEARNERS[name](**({"task": task} if task else settings_for(name, rng)))
        except SettingError:
            continue


def labels_of(learner, kind, signal, rng):
    """Labels that the rows say something about; numbers of any size."""
    if learner.multiclass or kind == "auto multiclass":
        return (np.abs(np.round(signal / (np.abs(signal).max() + 1e-300) * 2)) + (signal > 0)).astype(float)
    if learner.regression:
        return signal * 10.0 ** int(rng.integers(-3, 4))
    return np.where(signal > 0.0, 1.0, -1.0)


def drawn(seed, exponent=None):
    """A learner, what is asked of its receipt, and a stream: rows of size 10^exponent, some entries 0."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    learner = learner_of(kind, rng)
    most = 150 if learner.loss.spec in BOUNDED or kind in SLOPED else 35 if kind in MATRICES else 70
    size = 10.0 ** (int(rng.integers(-most, most + 1)) if exponent is None else exponent)
    if exponent is None and rng.random() < 0.5:
        size = 1.0
    rounds, features = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    X = rng.normal(size=(rounds, features)) * (rng.random((rounds, features)) > 0.1)
    signal = X @ rng.normal(size=features) + 0.3 * rng.normal(size=rounds)
    y = labels_of(learner, kind, signal, rng)
    asked = {"radius": 2.0} if kind in UNLIMITED and rng.random() < 0.6 else {}
    asked |= {"anytime": True} if kind == "ogd" and rng.random() < 0.3 else {}
    return learner, (X * size, y), asked


def stands(learner, stream, asked, path):
    """Play, certify, verify; False where the run overflows, which has to be said."""
    try:
        run = nr.play(learner, stream)
    except DivergedError as error:
        assert "would overflow in round" in str(error)
        return False
    receipt = certify(run, stream, seconds=5.0, **asked)
    assert not receipt.broken
    receipt.save(path)
    assert len(verify(Receipt.load(path), stream).checks) > 15
    return True


@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_honest_receipt_stands(seed, tmp_path):
    stands(*drawn(seed), tmp_path / "r.json")


@pytest.mark.parametrize("exponent", [-165, -158, -154, 152, 154])
@pytest.mark.parametrize("seed", range(len(KINDS)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_squares_leave_the_floats_a_receipt_stands_or_a_sentence_says_why_there_is_none(seed, exponent, tmp_path):
    stands(*drawn(seed, exponent), tmp_path / "r.json")


def test_a_separator_of_rows_whose_squares_are_almost_lost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(18, 2)) * 1e-158
    stream = X, np.where(X[:, 0] > 0.0, 1, -1)
    verify(certify(nr.play(nr.Perceptron(), stream), stream), stream)


def main(count, start=0):
    """Many streams, with what went wrong and how far it has come; 1 if anything did."""
    import tempfile
    from collections import Counter
    from pathlib import Path

    warnings.simplefilter("ignore")
    stood, began, wrong = Counter(), time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(start, count):
            try:
                stood[stands(*drawn(seed), Path(folder) / "r.json")] += 1
            except Exception as error:
                wrong += 1
                print(f"seed {seed}, {KINDS[seed % len(KINDS)]}: {type(error).__name__}: {error}"[:500], flush=True)
            if (seed + 1) % 250 == 0:
                took = time.perf_counter() - began
                print(
                    f"{seed + 1}: {stood[True]} stand, {stood[False]} overflow, {wrong} wrong, {took:.0f} s", flush=True
                )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:] or ["10000"])))
