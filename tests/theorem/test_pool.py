"""What a mixture promises against its members, fixed weights and baselines; its receipts, honest and forged."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ReceiptError
from noregret.learner import LEARNERS
from noregret.learner.auto import LOSS
from noregret.proof.certify import certify
from noregret.proof.receipt import Receipt
from noregret.proof.verify import verify
from oracle.forging import changed, end_of, false, numbers

SMALL = {
    "binary": "labels,labels-1,adagrad-.15,newton,passive,crosses-.8",
    "multiclass": "labels,labels-1,softmax-.15,newton",
    "regression": "mean,last,ridge-3,passive",
}


def auto(task, **more):
    return LEARNERS["auto"](task=task, **{"members": SMALL[task], **more})


def stream(task, seed, rounds=60, features=3):
    """Rows with a signal, with none, or labels in runs; numbers also with jumps far out of the range so far."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features)) * 10.0 ** rng.integers(-3, 4)
    z = X @ rng.normal(size=features) * float(rng.choice([0.0, 1.0])) + rng.normal(size=rounds)
    if seed % 3 == 0:
        z = np.cumsum(rng.normal(size=rounds))
    if task == "regression":
        return X, z * np.where(rng.random(rounds) < 0.1, 10.0 ** rng.integers(0, 4), 1.0)
    return X, np.where(z > 0.0, 1.0, -1.0) if task == "binary" else np.digitize(z, [-0.5, 0.5]).astype(float)


def found(receipt):
    return {one["theorem"]: one for one in receipt.certificates}


@pytest.mark.parametrize("task", SMALL)
@pytest.mark.parametrize("seed", range(34))
def test_an_honest_receipt_stands(task, seed, tmp_path):
    """A hundred random streams."""
    rows = stream(task, seed, rounds=int(np.random.default_rng(seed).integers(1, 60)))
    receipt = certify(nr.play(auto(task), rows), rows, seconds=5.0, gap=1e-2)
    assert not receipt.broken
    assert ("aggregating" if task == "regression" else "mixture") in found(receipt)
    receipt.save(tmp_path / "r.json")
    assert len(verify(Receipt.load(tmp_path / "r.json"), rows).checks) > 10


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_mixture_against_its_members(task):
    for seed in range(8):
        rows = stream(task, seed)
        run = nr.play(auto(task), rows)
        told = found(certify(run, rows, seconds=2.0))
        assert told["mixture"]["verdict"] == "holds"
        assert told["mixture"]["bound"] == pytest.approx(math.log(2.0), abs=1e-9)
        assert told["tracking"]["verdict"] in ("holds", "vacuous")
        losses, priors = run.learner.standing[:, LOSS], np.array(run.learner.priors)
        if task == "binary":
            assert told["mixture"]["observed"] == pytest.approx((run.loss - losses + np.log(priors)).max(), abs=1e-7)


def test_a_mixture_of_numbers_against_its_members():
    for seed in range(8):
        rows = stream("regression", seed)
        run = nr.play(auto("regression"), rows)
        told = found(certify(run, rows, seconds=2.0, gap=1e-2))["aggregating"]
        assert told["verdict"] == "holds"
        low, high = run.learner.range[:2]
        assert told["values"]["range"] == pytest.approx(high - low)
        assert told["bound"] == pytest.approx((high - low) ** 2 / 3, rel=1e-6)
        assert low <= rows[1].min() and rows[1].max() <= high


def test_a_mixture_against_fixed_weights():
    for task in ("binary", "regression"):
        rows = stream(task, 1)
        told = found(certify(nr.play(auto(task, radius=2.0), rows), rows, gap=1e-2))
        assert told["composition"]["verdict"] in ("holds", "vacuous")
        assert told["composition"]["observed"] <= told["composition"]["bound"]


def test_a_mixture_against_baselines():
    rows = np.zeros((400, 1)), np.where(np.arange(400) // 40 % 2 == 0, 1.0, -1.0)
    told = found(certify(nr.play(auto("binary"), rows), rows, gap=1e-2))
    assert told["baseline-frequency"]["verdict"] == told["baseline-previous"]["verdict"] == "holds"
    assert (
        told["baseline-frequency"]["observed"] < -100.0
    )  # far better than the frequency of a label that comes in runs
    assert abs(told["baseline-previous"]["observed"]) < 15.0
    less = found(certify(nr.play(auto("binary", members="labels,newton"), rows), rows, gap=1e-2))
    assert "baseline-previous" not in less and "baseline-frequency" in less


def test_rounds_that_weigh_more_than_one_leave_the_bounds_unmet():
    X, y = stream("binary", 2)
    rows = X, y, np.full(60, 2.0)
    told = found(certify(nr.play(auto("binary"), rows), rows, gap=1e-2))
    assert {name for name, one in told.items() if one["verdict"] == "unmet"} >= {"mixture", "tracking"}
    light = X, y, np.full(60, 0.5)
    told = found(certify(nr.play(auto("binary"), light), light, gap=1e-2))
    assert told["mixture"]["verdict"] == "holds" and told["tracking"]["verdict"] == "unmet"


# -- forged ----------------------------------------------------------------------------------------------------------

RECEIPTS = {task: (stream(task, 4), None) for task in SMALL}


def receipt_of(task):
    rows, made = RECEIPTS[task]
    if made is None:
        made = certify(nr.play(auto(task), rows), rows, seconds=5.0, gap=1e-2)
        RECEIPTS[task] = rows, made
    return rows, made


def refused(body, points, rows):
    with pytest.raises(ReceiptError):
        verify(Receipt(**body, points=points), rows)


@pytest.mark.parametrize("task", SMALL)
def test_no_number_of_a_certificate_can_say_more(task):
    rows, receipt = receipt_of(task)
    body = {key: part for key, part in vars(receipt).items() if key != "points"}
    places = [(path, value) for path, value in numbers(body) if path[0] in ("certificates", "figures", "regret")]
    checked = [(path, value) for path, value in places if end_of(path) or path[0] == "figures"]
    rng = np.random.default_rng(0)
    for place in rng.permutation(len(checked))[:25]:
        path, value = checked[int(place)]
        for wrong in false(path, value)[:1]:
            refused(changed(body, path, wrong), receipt.points, rows)


@pytest.mark.parametrize(
    "change",
    [
        {"members": "labels,labels-1,adagrad-.8,newton,passive,crosses-.8"},
        {"members": "labels,labels-1"},
        {"members": "labels,nobody"},
        {"members": None},
        {"members": 3},
        {"task": "multiclass"},
        {"task": "regression"},
        {"task": "nothing"},
        {"radius": 1.0},
    ],
)
def test_another_pool_is_another_run(change):
    rows, receipt = receipt_of("binary")
    body = {key: part for key, part in vars(receipt).items() if key != "points"}
    settings = {**body["learner"]["settings"], **change}
    refused({**body, "learner": {**body["learner"], "settings": settings}}, receipt.points, rows)


def test_a_receipt_of_other_labels_is_refused():
    (X, y), receipt = receipt_of("binary")
    with pytest.raises(ReceiptError):
        verify(receipt, (X, np.where(np.arange(60) == 30, -y, y)))
