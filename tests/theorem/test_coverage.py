"""Coverage: the identity and both bounds, at every prefix, whatever the scores and however late the labels.

200 streams of each kind by default; NOREGRET_THOROUGH=1 asks for 3000.
"""

import copy
import os
import random
from fractions import Fraction

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ReceiptError
from noregret.late.playing import play_late
from noregret.learner import LEARNERS
from noregret.learner.cover import Cover
from noregret.proof.receipt import Receipt
from oracle.cover import Tracker, most_held, most_missed
from oracle.forging import changed, false, numbers

STREAMS = 3000 if os.environ.get("NOREGRET_THOROUGH") else 200
KINDS = ("random", "adversary", "flattering", "steps", "just above", "rare")


class Source:
    """Scores of one kind, of which some know the threshold: that is what an adversary knows."""

    def __init__(self, rng, kind):
        self.rng, self.kind, self.scale = rng, kind, 10.0 ** rng.randint(-3, 3)

    def next(self, t, q):
        size = {"steps": float(1 + 9 * (t // 40 % 2)), "rare": 100.0 if t % 37 == 5 else 0.0}.get(self.kind)
        if size is not None:
            return self.scale * size * (1.0 if self.kind == "rare" else self.rng.random())
        if self.kind == "random" or q != q:
            return self.scale * self.rng.expovariate(1.0)
        top = 3.0 * self.scale
        if self.kind == "adversary":  # misses whenever it can
            return min(max(np.nextafter(q, np.inf), 0.0), top)
        if self.kind == "flattering":  # covers whenever it can, as closely as it can
            return max(q, 0.0)
        return top if self.rng.random() < 0.5 else max(min(np.nextafter(q, np.inf), top), 0.0)


def check(tracker, made=None):
    """The identity and the bounds in fractions; and what the core claims of the same, which contains them."""
    rounds, misses = len(tracker.scored), tracker.misses
    if not rounds:
        return
    told = {"target": tracker.target, "first": tracker.first, "step": tracker.step, "rounds": rounds}
    told["between"] = tracker.between
    identity = (tracker.exact_q - Fraction(tracker.first)) / Fraction(tracker.step)
    assert misses - Fraction(tracker.alpha) * rounds == identity
    spare = (Fraction(tracker.first) / Fraction(tracker.step) + rounds + 1) * Fraction(1, 2**50)
    most = most_missed(**told, largest=tracker.largest)
    held = most_held(**told)
    assert misses <= most + spare and rounds - misses <= held + spare
    if made is not None:
        said = made.figures(True)
        assert (
            said["misses"] == misses and said["most_misses"] >= most and said["least_misses"] <= max(rounds - held, 0)
        )
        assert said["most_misses"] <= most + 10 * spare + 1e-9 * (most + 1)


def test_the_identity_and_the_bounds_at_every_prefix():
    for stream in range(STREAMS):
        rng = random.Random(stream)
        target = rng.choice([0.5, 0.75, 0.9, 0.99, 0.05])
        source, tracker = Source(rng, KINDS[stream % len(KINDS)]), Tracker(target)
        made = Cover(target)
        for t in range(rng.randint(60, 300)):
            score = source.next(t, tracker.q)
            tracker.label(score)
            made.play_numbers(np.zeros(1), np.array([score]), np.zeros(0))
            check(tracker)
        check(tracker, made)


def waits(rng, kind, t):
    """How many rounds the label of a round takes; None where it never comes."""
    if rng.random() < 0.1:
        return None
    return {"constant": 7, "random": rng.randint(0, 30), "bursts": 25 - t % 25}[kind]


def test_the_bounds_with_late_labels_at_every_prefix():
    for stream in range(STREAMS):
        rng = random.Random(10_000 + stream)
        target = rng.choice([0.5, 0.9, 0.05])
        source, tracker, made = Source(rng, KINDS[stream % len(KINDS)]), Tracker(target), Cover(target)
        kind, due = rng.choice(["constant", "random", "bursts"]), {}
        for t in range(rng.randint(80, 250)):
            wait, shown = waits(rng, kind, t), (tracker.q, len(tracker.scored))
            if wait is not None:
                due.setdefault(t + wait, []).append((source.next(t, shown[0]), *shown))
            for score, q, since in due.pop(t, []):
                tracker.label(score, q, since)
                made.number(0.0, score, q, since)
                check(tracker)
        check(tracker, made)


def test_the_bound_on_the_misses_is_attained():
    """Scores just above q until q reaches B: one miss after another."""
    made, misses = Cover(0.75), 0
    made.numbers[2:4] = 0.0, 0.25
    while made.q < 1.0:
        made.play_numbers(np.zeros(1), np.array([min(np.nextafter(made.q, 9.0), 1.0)]), np.zeros(0))
        misses += 1
    found = made.figures(True)
    assert found["misses"] == misses and found["largest"] <= 1.0
    assert found["most_misses"] - misses < 1.0 + 1e-9  # no other whole number lies below it


def test_the_bound_on_what_is_held_is_attained():
    made = Cover(0.75)
    made.numbers[2:4] = 1.0, 0.25
    while made.q >= 0.0:
        made.play_numbers(np.zeros(1), np.zeros(1), np.zeros(0))
    found = made.figures(True)
    assert found["misses"] == 0 and found["rounds"] - 1 == 1.0 / (0.25 * 0.25)
    assert found["least_misses"] == 0.0 and -1e-9 < 0.25 * found["rounds"] - 1.0 / 0.25 - 0.25 < 1e-9


# -- what is printed and false -----------------------------------------------------------------------------------------


def missed_by_levels(alpha, gamma, rounds, clipped):
    """Adaptive conformal inference on levels against one who misses whenever a set does not hold everything."""
    level, misses = alpha, 0
    for _ in range(rounds):
        error = level > 0.0
        misses += error
        level += gamma * (alpha - error)
        level = min(max(level, 0.0), 1.0) if clipped else level
    return misses


def test_levels_that_are_clipped_lose_their_coverage():
    """α = 1/8, γ = 1/16, 64 rounds: 33 misses instead of 10; the golden numbers of the project."""
    alpha, gamma = 0.125, 0.0625
    assert missed_by_levels(alpha, gamma, 64, clipped=True) == 33
    assert missed_by_levels(alpha, gamma, 64, clipped=False) == 10
    allowed = alpha * 64 + (max(alpha, 1.0 - alpha) + gamma) / gamma
    assert (
        missed_by_levels(alpha, gamma, 64, clipped=False) <= allowed < missed_by_levels(alpha, gamma, 64, clipped=True)
    )


# -- learners and receipts ---------------------------------------------------------------------------------------------


def rows(rounds=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3))
    drift = np.where(np.arange(rounds) < rounds // 2, 1.0, -2.0)
    return X, drift * (X @ [1.0, -2.0, 0.5]) + rng.normal(size=rounds)


LEARNED = {
    "numbers": (lambda: LEARNERS["vaw"](cover=0.9), lambda y: y),
    "two": (lambda: LEARNERS["ogd"](loss="logistic", cover=0.9, calibrate=True), lambda y: np.where(y > 0.0, 1, -1)),
    "many": (lambda: LEARNERS["softmax"](cover=0.75), lambda y: np.digitize(y, [-1.0, 1.0])),
}


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("delay", [0, 25])
def test_receipts_carry_the_certificates_and_forged_ones_are_refused(kind, delay):
    learner, labels = LEARNED[kind]
    X, y = rows()
    stream = X, labels(y)
    if delay:
        late = nr.certify(play_late(learner(), stream, delay=delay), stream, gap=0.1)
        receipt = late.run
    else:
        receipt = nr.certify(nr.play(learner(), stream), stream, gap=0.1)
    found = {one["theorem"]: one for one in receipt.certificates if one["theorem"].startswith("cover-")}
    assert set(found) == {"cover-identity", "cover-late" if delay else "cover-missed", "cover-held"}
    assert all(one["verdict"] in ("holds", "vacuous") for one in found.values())
    if delay:
        nr.verify(late, stream)
        return
    nr.verify(receipt, stream)
    for place, one in enumerate(receipt.certificates):
        for path, value in (
            numbers({key: one[key] for key in ("bound", "observed", "values")}) if one in found.values() else ()
        ):
            worse = false(path, value, EXACT)[0]
            body = copy.deepcopy({key: part for key, part in vars(receipt).items() if key != "points"})
            body["certificates"] = changed(body["certificates"], (place, *path), worse)
            with pytest.raises(ReceiptError) as said:
                nr.verify(Receipt(**body, points=receipt.points), stream)
            assert said.value.failed, (one["theorem"], path)


EXACT = ("target", "rounds", "observed")


def test_another_target_is_another_run():
    X, y = rows()
    receipt = nr.certify(nr.play(LEARNERS["vaw"](cover=0.9), (X, y)), (X, y), gap=0.1)
    body = copy.deepcopy({key: part for key, part in vars(receipt).items() if key != "points"})
    body["learner"]["settings"]["cover"] = 0.8
    with pytest.raises(ReceiptError):
        nr.verify(Receipt(**body, points=receipt.points), (X, y))
    body = copy.deepcopy({key: part for key, part in vars(receipt).items() if key != "points"})
    body["certificates"] = [one for one in body["certificates"] if one["theorem"] != "cover-identity"]
    with pytest.raises(ReceiptError, match="the theorems"):
        nr.verify(Receipt(**body, points=receipt.points), (X, y))


@pytest.mark.parametrize("kind", LEARNED)
def test_coverage_is_near_its_target_on_a_stream_that_turns_round(kind):
    learner, labels = LEARNED[kind]
    X, y = rows(4000)
    found = nr.play(learner(), (X, labels(y))).coverage
    assert abs(found["coverage"] - found["target"]) < 0.05
    assert found["least_misses"] <= found["misses"] <= found["most_misses"]
