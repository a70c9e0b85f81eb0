"""The certificates of late labels, on random and adversarial delays: none is broken, and every honest receipt stands.

Sixty streams by default; NOREGRET_THOROUGH=3000 asks for as many.
"""

import copy
import json
import math
import os
import random
from fractions import Fraction

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ReceiptError
from noregret.late.playing import play_late
from noregret.learner import LEARNERS
from noregret.proof.late import LateReceipt
from noregret.proof.receipt import checksum

asked = os.environ.get("NOREGRET_THOROUGH", "")
STREAMS = int(asked) if asked.isdigit() and int(asked) > 1 else 60
LEARNER = [
    ("ogd", {"loss": "logistic", "rate": "late", "radius": 2.0}),
    ("ogd", {"loss": "hinge", "rate": "late", "radius": 1.0, "bias": True}),
    ("ogd", {"loss": "absolute", "rate": "late", "radius": 1.5}),
    ("ogd", {"loss": "squared", "radius": 1.0}),
    ("ogd", {"loss": "hinge", "rate": "sqrt:0.5", "radius": 1.0}),
    ("ogd-strong", {"loss": "hinge", "sigma": 0.1}),
    ("perceptron", {}),
    ("pa1", {}),
    ("adagrad", {"loss": "logistic"}),
    ("coin", {"unit_norm": True}),
    ("newton", {}),
    ("kernel", {"kernel": "rbf"}),
    ("multiclass", {}),
    ("softmax", {}),
    ("auto", {}),
    ("auto", {"task": "multiclass"}),
    ("auto", {"task": "regression"}),
]


def events(rng, X, y):
    """Predictions and labels with delays of one of several kinds; some labels never come, some twice."""
    kind = rng.choice(["burst", "geometric", "constant", "missing", "reversed"])
    waiting = []
    for t, (row, label) in enumerate(zip(X.tolist(), y, strict=True)):
        yield {"id": t, "x": row}
        if not (kind == "missing" and rng.random() < 0.4):
            waiting.append((t, label))
        while waiting and goes(rng, kind, t, waiting):
            which = len(waiting) - 1 if kind == "reversed" else 0 if kind == "constant" else rng.randrange(len(waiting))
            key, told = waiting.pop(which)
            yield {"id": key, "y": told}
            if rng.random() < 0.05:
                yield {"id": key, "y": told}
        if waiting and rng.random() < 0.03:
            yield {"id": waiting.pop()[0], "expire": True}
    rng.shuffle(waiting)
    yield from ({"id": key, "y": told} for key, told in waiting)


def goes(rng, kind, t, waiting):
    if kind == "constant":
        return len(waiting) > 5
    if kind in ("burst", "reversed"):
        return t % 9 == 8
    return rng.random() < 0.5


def streams(seed):
    """Rows, labels and events; every third stream answers the learner's own sign, as far as it could be known."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    name, settings = LEARNER[seed % len(LEARNER)]
    n, d = rng.choice([(1, 1), (12, 2), (40, 3), (80, 2)]), 0
    n, d = n
    X = numbers.normal(size=(n, d)) * rng.choice([1.0, 1.0, 0.01, 30.0])
    if rng.random() < 0.3:
        X[:] = X[0]  # equal rows make stale steps overshoot
    w = numbers.normal(size=d)
    score = X @ w + 0.3 * numbers.normal(size=n)
    real = settings.get("loss") in ("absolute", "squared") or settings.get("task") == "regression"
    many = name in ("multiclass", "softmax") or settings.get("task") == "multiclass"
    if real:
        y = score.round(3).tolist()
    elif many:
        y = np.digitize(score, [-0.5, 0.5]).tolist()
    else:
        y = np.where(score > 0.0, 1, -1).tolist()
        if seed % 3 == 0:
            y = [-1 if t % 2 else 1 for t in range(n)]
    rules = rng.choice([{}, {}, {"expire": 7}, {"pending": 9}])
    return name, settings, list(events(rng, X, y)), rules


@pytest.mark.parametrize("seed", range(STREAMS))
def test_no_certificate_is_broken_and_receipts_stand(seed, tmp_path):
    name, settings, log, rules = streams(seed)
    late = play_late(LEARNERS[name](**settings), log, **rules)
    if not late.run.rounds:
        return
    receipt = nr.certify(late, log, seconds=5.0)
    assert not receipt.broken, receipt.certificates
    path = tmp_path / "receipt.json"
    receipt.save(path)
    nr.verify(path, log)
    found = {one["theorem"]: one for one in receipt.certificates}
    if name == "ogd" and settings.get("rate") == "late" and late.figures["after_expiry"] == 0:
        assert found["late-rate"]["verdict"] in ("holds", "vacuous", "open")
        assert found["late-rate"]["bound"] >= found["late-rate"]["observed"]


def exact(loss, z, y):
    """φ in fractions."""
    z, y = Fraction(z), Fraction(y)
    return max(Fraction(0), 1 - y * z) if loss == "hinge" else abs(z - y)


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
@pytest.mark.parametrize("seed", range(6))
def test_the_identity_and_the_bounds_in_fractions(loss, seed):
    """Σφ(z) = Σφ(z') + staleness, and each bound holds against many comparators, all computed exactly."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    n, U = 30, 1.5
    X = numbers.integers(-8, 9, size=(n, 2)) / 4.0
    y = [float(rng.choice([-1, 1])) for _ in range(n)] if loss == "hinge" else (numbers.integers(-9, 9, n) / 2).tolist()
    log = list(events(rng, X, y))
    late = play_late(LEARNERS["ogd"](loss=loss, rate="late", radius=U), log)
    receipt = nr.certify(late, log)
    again = play_late(LEARNERS["ogd"](loss=loss, rate="late", radius=U), log, answer=None)
    said, labels = {}, {}
    plays = play_late(
        LEARNERS["ogd"](loss=loss, rate="late", radius=U), log, answer=lambda one: said.setdefault(one.id, one.score)
    )
    for one in log:
        if "y" in one:
            labels.setdefault(one["id"], one["y"])
    ended = {key for key, one in plays.book.known.items() if one.ended == "labelled"}
    keys = [key for key in labels if key in ended]
    lost = sum((exact(loss, said[key], labels[key]) for key in keys), Fraction(0))
    low, high = (Fraction(receipt.figures["loss"][end]) for end in ("lower", "upper"))
    assert low <= lost <= high
    assert again.figures == late.figures == plays.figures
    bounds = {one["theorem"]: Fraction(one["bound"]) for one in receipt.certificates if one["bound"] is not None}
    assert set(bounds) >= {"late-plays", "late-fresh"}
    for _ in range(200):
        u = [rng.uniform(-1.0, 1.0) for _ in range(2)]
        size = math.hypot(*u)
        u = [Fraction(a / max(size, 1.0) * U * 0.999) for a in u]
        best = sum(
            (
                exact(loss, sum(Fraction(x) * a for x, a in zip(X[key].tolist(), u, strict=True)), labels[key])
                for key in keys
            ),
            Fraction(0),
        )
        assert all(lost - best <= bound for bound in bounds.values())


def test_late_plays_is_attained_in_one_round():
    """One row, one label: late-plays is the regret itself for the comparator that the slope points to."""
    log = [{"id": 0, "x": [3.0, 4.0]}, {"id": 0, "y": 100.0}]
    late = play_late(LEARNERS["ogd"](loss="absolute", radius=2.0), log)
    receipt = nr.certify(late, log)
    assert receipt.certificates[0]["bound"] == pytest.approx(receipt.regret["upper"], abs=1e-9)


# -- what is forged is refused -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] > 0.2, 1, -1).tolist()
    log = list(events(random.Random(7), X, y))
    late = play_late(LEARNERS["ogd"](loss="logistic", rate="late", radius=2.0), log)
    receipt = nr.certify(late, log)
    path = tmp_path_factory.mktemp("late") / "receipt.json"
    receipt.save(path)
    return log, json.loads(path.read_text())


def refused(body, log, tmp_path, match):
    body = {key: value for key, value in body.items() if key != "checksum"}
    path = tmp_path / "forged.json"
    path.write_text(json.dumps({**body, "checksum": checksum(body)}))
    with pytest.raises(ReceiptError, match=match):
        nr.verify(path, log)


FORGERIES = {
    "the loss of the predictions": (
        lambda b: b["figures"]["loss"].update(upper=b["figures"]["loss"]["lower"] - 1e-9),
        "loss",
    ),
    "the staleness": (lambda b: b["figures"]["staleness"].update(lower=-9.0, upper=-8.0), "staleness"),
    "a count": (lambda b: b["figures"].update(labelled=b["figures"]["labelled"] - 1), "labelled"),
    "the delay": (lambda b: b["figures"].update(delay=0), "delay"),
    "the mistakes": (lambda b: b["figures"].update(mistakes=0), "mistakes"),
    "a bound": (
        lambda b: b["certificates"][2].update(bound=b["certificates"][2]["bound"] * 0.9),
        "late-rate: the bound",
    ),
    "a verdict": (lambda b: b["certificates"][0].update(verdict="vacuous"), "the verdict"),
    "a theorem left out": (lambda b: b["certificates"].pop(), "the theorems"),
    "the predictions": (lambda b: b.update(predictions="0" * 64), "the digest of the predictions"),
    "the digest": (lambda b: b.update(digest="0" * 64), "not the events that the receipt is about"),
    "the rules": (lambda b: b["how"].update(expire=3), "digest|replayed"),
    "the regret": (lambda b: b["regret"].update(lower=-9.0, upper=-8.0), "regret"),
    "the learner's own run": (lambda b: b["run"]["figures"].update(mistakes=0), "mistakes"),
    "the learner": (
        lambda b: b["run"]["learner"]["settings"].update(radius=3.0),
        "digest|radius|not the events|loss|regret",
    ),
    "the radius": (lambda b: b["regret"]["domain"].update(radius=0.1), "the radius of the regret of the predictions"),
    "the rounds of the learner": (lambda b: b["run"]["segments"][0].update(rows=12), "the learner's own rounds"),
    "the passes of the learner": (lambda b: b["run"]["segments"][0].update(shuffle=1), "the learner's own rounds"),
    "the kind of the learner's receipt": (lambda b: b["run"].update(kind="blend"), "of another kind"),
    "the end": (lambda b: b["how"].update(most=10**9), "how labels came"),
    "an end that is none": (lambda b: b["how"].update(most=0.0), "most cannot be 0.0"),
    "weights of classes": (lambda b: b["how"].update(class_weight={"1": 2.0}), "events have neither"),
    "the log": (lambda b: b["figures"].update(log="0" * 64), "log"),
    "a key": (lambda b: b.update(more=1), "damaged"),
    "a setting that there is not": (lambda b: b["how"].update(more=1), "how labels came must be"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_receipt_is_refused(forgery, honest, tmp_path):
    log, body = honest
    body = copy.deepcopy(body)
    change, match = FORGERIES[forgery]
    change(body)
    refused(body, log, tmp_path, match)


def test_other_events_are_refused(honest, tmp_path):
    log, body = honest
    labels = [place for place, one in enumerate(log) if "y" in one]
    first, second = labels[3], labels[4]
    swapped = list(log)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    flipped = [dict(one, y=-one["y"]) if place == first else one for place, one in enumerate(log)]
    for other in (swapped, flipped, log[:-1], [*log, {"id": "new", "x": [1.0, 1.0], "y": 1}]):
        refused(body, other, tmp_path, "not the events|replayed")


def test_the_receipt_itself_stands(honest, tmp_path):
    log, body = honest
    path = tmp_path / "again.json"
    path.write_text(json.dumps(body))
    assert len(nr.verify(path, log).checks) > 100
    assert repr(LateReceipt.load(path)).startswith("<LateReceipt of ogd: ")


@pytest.mark.parametrize(
    ("settings", "x", "w", "radius"),
    [
        ({}, 0.9, 1000.0, 1.0),
        ({"unit_norm": True}, 0.001, 1.0, 1.0),
        ({"unit_norm": True, "bias": True}, 0.001, 3.0, 1.0),
        ({"lags": 3}, 0.001, 1.0, 1.0),
        ({"expand": "quadratic"}, 30.0, 1.0, 0.001),
        ({"expand": "fourier:50"}, 0.001, 1.0, 0.5),
        ({"expand": "bins:8"}, 0.001, 1.0, 0.5),
        ({"scale": "max"}, 0.001, 1.0, 1.0),
    ],
)
def test_rows_that_all_wait_together_break_no_bound(settings, x, w, radius):
    """Fifty equal rows whose labels come at the end: the worst case for stale predictions, in the units as played."""
    log = [{"id": i, "x": [x], "w": w} for i in range(50)] + [{"id": i, "y": 1} for i in range(50)]
    late = play_late(LEARNERS["ogd"](loss="hinge", rate="late", radius=radius, **settings), log)
    receipt = nr.certify(late, log)
    assert not receipt.broken, receipt.certificates
    rate = next(one for one in receipt.certificates if one["theorem"] == "late-rate")
    assert (rate["verdict"] == "unmet") == bool({"lags", "expand", "scale"} & settings.keys())


def test_renamed_ids_and_other_weights_are_other_logs(honest, tmp_path):
    log, body = honest
    names = [{**one, "id": f"n{one['id']}"} for one in log]
    heavy = [dict(one, w=2.0) if "x" in one and one["id"] == 0 else one for one in log]
    for other in (names, heavy):
        refused(body, other, tmp_path, "log|events|digest")
