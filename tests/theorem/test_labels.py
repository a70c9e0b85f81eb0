"""The estimator of the labels alone: worked examples, the worst labels, and what it is told."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret import model
from noregret.errors import ModelFileError, SettingError
from noregret.learner import MarkovLabels
from noregret.proof.facts import Facts
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import certificates
from noregret.stream import Dense
from oracle.theorems import played

Y = np.array([1.0, -1, -1, -1, -1, -1, 1, -1, 1, 1, 1, -1])
SAID = {  # the probabilities of +1, as (n₁ + ½)/(n + 1) by hand
    0: [0.5, 0.75, 0.5, 0.375, 0.3, 0.25, 3 / 14, 0.3125, 5 / 18, 0.35, 9 / 22, 11 / 24],
    1: [0.5, 0.5, 0.5, 0.25, 1 / 6, 0.125, 0.1, 0.25, 0.25, 1 / 6, 0.375, 0.5],
}


def judged(y, order):
    """The certificate of a run over these labels."""
    run, rounds = played(MarkovLabels(order=order), np.zeros((len(y), 1)), y)
    (found,) = certificates(Facts(run, rounds))
    return found


@pytest.mark.parametrize(
    ("order", "loss", "best", "bound"),
    [
        (0, 9.639766177133836, 8.150319191898308, 10.085919697352255),
        (1, 10.125273992915538, 7.184143344815159, 10.964183577326073),
    ],
)
def test_a_worked_example(order, loss, best, bound):
    learner = MarkovLabels(order=order)
    scores = learner.play(Dense(np.zeros((12, 1))), Y)
    assert 1.0 / (1.0 + np.exp(-scores)) == pytest.approx(SAID[order], rel=1e-12)
    assert learner.state["loss"][0] == pytest.approx(loss, rel=1e-12)
    found = judged(Y, order)
    assert found.values["best"] == pytest.approx(best, rel=1e-12)
    assert found.bound == pytest.approx(bound - best, rel=1e-12)
    assert found.observed == pytest.approx(loss - best, rel=1e-12)
    assert found.verdict is Verdict.HOLDS


def test_the_bound_holds_for_every_short_sequence_of_labels():
    for T, order in itertools.product(range(1, 8), (0, 1, 2)):
        for labels in itertools.product((-1.0, 1.0), repeat=T):
            found = judged(np.array(labels), order)
            assert found.observed <= found.bound and found.verdict is not Verdict.BROKEN


def test_the_bound_is_attained_by_the_first_label_and_nearly_by_labels_that_never_change():
    first = judged(np.ones(1), 0)
    assert first.observed == pytest.approx(first.bound, rel=1e-12)
    last = judged(np.ones(1000), 0)
    assert last.bound - last.observed == pytest.approx(math.log(2.0) - math.log(math.pi) / 2.0, abs=1e-3)


@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=60), st.integers(0, 8))
def test_random_labels(labels, order):
    found = judged(np.array(labels), order)
    assert found.theorem == ("kt" if order == 0 else "markov")
    assert found.verdict in (Verdict.HOLDS, Verdict.VACUOUS)


def test_a_batch_is_scored_after_the_labels_that_were_learned():
    model = nr.MarkovLabels().fit(np.zeros((20, 1)), [1, -1] * 10)
    assert model.predict([[0.0], [0.0]]).tolist() == [1, 1]
    assert model.core.needs_past and not MarkovLabels(order=0).needs_past
    with pytest.raises(AttributeError, match="has no coef_: its score is not linear"):
        model.coef_  # noqa: B018


@pytest.mark.parametrize("order", [-1, 9, 1.5])
def test_the_order_is_a_whole_number_from_0_to_8(order):
    with pytest.raises(SettingError, match=f"^markov: order must be a whole number from 0 to 8, got {order}$"):
        MarkovLabels(order=order)


def test_a_receipt_is_verified_and_one_with_a_smaller_price_is_not(tmp_path):
    stream = (np.ones((60, 1)), np.where(np.arange(60) % 3, 1, -1))
    receipt = nr.certify(nr.play(MarkovLabels(order=2), stream), stream)
    assert len(nr.verify(receipt, stream).checks) > 10
    receipt.certificates[0]["bound"] *= 0.5
    with pytest.raises(nr.ReceiptError, match="markov: the bound"):
        nr.verify(receipt, stream)


@pytest.mark.parametrize(("name", "value"), [("context", 8), ("context", 0), ("counts", -1.0)])
def test_a_damaged_model_is_refused(name, value, tmp_path):
    learner = MarkovLabels(order=2)
    learner.play(Dense(np.zeros((12, 1))), Y)
    getattr(learner, name)[0] = value
    model.save(learner, tmp_path / "m.nr")
    with pytest.raises(ModelFileError, match="damaged"):
        model.load(tmp_path / "m.nr")
