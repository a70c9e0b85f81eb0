"""Receipts of runs that an alarm watched: they stand on the streams of the run, and no field of them can be forged."""

import copy

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ReceiptError
from noregret.proof.certify import certify
from noregret.proof.receipt import Receipt
from noregret.proof.verify import verify
from noregret.proof.watched import WatchedReceipt
from noregret.watch.windows import Windows


def spoilt(rounds=400, seed=3):
    """A stream whose labels are noise from the middle on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3))
    y = np.where(X @ np.array([1.0, -2.0, 0.5]) > 0.0, 1, -1)
    y[rounds // 2 :] = rng.choice([-1, 1], rounds - rounds // 2)
    return X, y


STREAM = spoilt()


def made(null="level:0.25", rows=STREAM, learner=None, **more):
    learner = nr.Perceptron() if learner is None else learner
    return certify(nr.play(learner, rows, alarm=nr.Alarm(null, **more)), rows)


RECEIPT = made(after=50)


def refused(change):
    body = copy.deepcopy(RECEIPT.watched)
    change(body["alarm"])
    with pytest.raises(ReceiptError) as said:
        verify(WatchedReceipt(RECEIPT.run, body), STREAM)
    assert said.value.failed


def test_the_receipt_says_when_it_rang_and_stands(tmp_path):
    said = RECEIPT.watched["alarm"]
    assert said["rang"] and said["rang"][0] > 200
    assert said["watched"] == 350
    (one,) = said["certificates"]
    assert one["verdict"] != "broken" and one["values"]["rang"] == said["rang"][0]
    RECEIPT.save(tmp_path / "r.json")
    assert len(verify(tmp_path / "r.json", STREAM).checks) == len(verify(RECEIPT, STREAM).checks)


@pytest.mark.parametrize("null", ["level:0.1", "baseline"])
@pytest.mark.parametrize("learner", ["Perceptron", "OnlineGradientDescent", "AdaGrad"])
def test_receipts_of_several_learners_stand(null, learner):
    receipt = made(null, learner=getattr(nr, learner)())
    assert verify(receipt, STREAM).checks


def test_a_challenger_is_played_again(tmp_path):
    X, y = STREAM
    nr.Perceptron().fit(X[:100], y[:100]).save(tmp_path / "old.nr")
    receipt = made(f"challenger:{tmp_path / 'old.nr'}")
    assert verify(receipt, STREAM).checks
    nr.Perceptron().fit(X[:50], y[:50]).save(tmp_path / "old.nr")
    with pytest.raises(ReceiptError) as said:
        verify(receipt, STREAM)
    assert said.value.failed


def test_numbers_and_several_streams():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    first, second = (X[:25], X[:25, 0]), (X[25:], X[25:, 0] + 3.0)
    learner, alarm = nr.OnlineGradientDescentRegressor(), nr.Alarm("level:0.1", loss="clip:2")
    nr.play(learner, first, alarm=alarm)
    receipt = certify(nr.play(learner, second, alarm=alarm), first, second)
    assert receipt.watched["alarm"]["watched"] == 60
    assert verify(receipt, first, second).checks


def test_windows_and_an_alarm_share_a_receipt():
    run = nr.play(nr.Perceptron(), STREAM, alarm=nr.Alarm("level:0.25"), windows=Windows("every:100"))
    receipt = certify(run, STREAM)
    assert set(receipt.watched) == {"alarm", "windows"}
    assert verify(receipt, STREAM).checks


def test_an_alarm_that_came_later_is_in_no_receipt():
    X, y = STREAM
    learner = nr.Perceptron()
    nr.play(learner, (X[:100], y[:100]))
    run = nr.play(learner, (X[100:], y[100:]), alarm=nr.Alarm("level:0.25"))
    assert isinstance(certify(run, (X[:100], y[:100]), (X[100:], y[100:])), Receipt)


FORGERIES = {
    "null": "level:0.26",
    "false_alarm": 0.02,
    "after": 51,
    "loss": "brier",
    "on_alarm": "restart",
    "words": "nothing",
    "rang": [],
    "rounds": 399,
    "watched": 351,
    "unlabelled": 1,
    "unseen": 1,
    "seal": "0",
    "certificates": [],
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_field_is_refused(name):
    refused(lambda said: said.update({name: FORGERIES[name]}))


def test_every_field_is_forged_in_a_test():
    assert set(FORGERIES) == set(RECEIPT.watched["alarm"])


@pytest.mark.parametrize("value", ["e_value", "largest_e_value", "level", "false_alarm", "rang"])
def test_a_forged_value_of_the_theorem_is_refused(value):
    def change(said):
        values = said["certificates"][0]["values"]
        values[value] = values[value] * 2.0 + 1.0

    refused(change)


def test_a_smaller_probability_is_refused():
    def change(said):
        said["certificates"][0]["bound"] *= 0.99

    refused(change)
