"""The stand-alone verifier agrees with `verify` on random runs, and refuses what a maker with a bug would claim.

A bug is planted in one place of the package, and a receipt is made with it. `verify` shares that place with the maker,
so that it may well accept; the stand-alone file shares nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.oracle.alone import late_run, linear_run

import noregret as nr
from noregret import digest, interval, noregret_verify, rate
from noregret.late.playing import play_late
from noregret.learner.core import Core
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.proof import enclose, figures, replay
from noregret.proof.facts.late import LateFacts
from noregret.proof.theorems import THEOREMS

RUNS, LATE = 25, 15


@pytest.mark.parametrize("seed", range(RUNS))
def test_runs_stand_for_both(seed, tmp_path):
    made = linear_run(np.random.default_rng(seed), tmp_path)
    if made is not None:
        _both(*made, tmp_path)


@pytest.mark.parametrize("seed", range(LATE))
def test_late_labels_stand_for_both(seed, tmp_path):
    made = late_run(np.random.default_rng(seed), tmp_path)
    if made is not None:
        _both(*made, tmp_path)


def _both(receipt: Any, stream: str, folder: Any) -> None:
    path = str(folder / "receipt.json")
    receipt.save(path)
    nr.verify(path, stream)
    done = noregret_verify.check(path, [stream])
    paths = {"ogd-telescoped", "ogd-telescoped-at-hindsight", "ogd-triangle"}
    assert {one.removeprefix("the theorem ") for one in done.uncovered} <= paths and done.count > 20


# -- planted bugs ------------------------------------------------------------------------------------------------------

Plant = Callable[[pytest.MonkeyPatch], None]


def scaled(owner: Any, name: str, by: float) -> Plant:
    """A function whose numbers come out too large or too small."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        true = getattr(owner, name)

        def wrong(*given: Any, **more: Any) -> Any:
            found = true(*given, **more)
            return tuple(part * by for part in found) if isinstance(found, tuple) else found * by

        patch.setattr(owner, name, wrong)

    return plant


def in_theorem(name: str, by: float) -> Plant:
    """A formula with a wrong factor."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        true = THEOREMS[name].function

        def wrong(facts: Any) -> Any:
            found = true(facts)
            return replace(found, bound=found.bound * by)

        patch.setitem(THEOREMS, name, replace(THEOREMS[name], function=wrong))

    return plant


def step(patch: pytest.MonkeyPatch) -> None:
    true = rate.parse
    patch.setattr(rate, "parse", lambda *given: replace(found := true(*given), eta=found.eta * 1.001))


def projection(patch: pytest.MonkeyPatch) -> None:
    true = nr.learner.OnlineGradientDescent.__init__

    def wrong(self: Any, **given: Any) -> None:
        true(self, **given)
        self.config["radius"] = self.config["radius"] * 1.5

    patch.setattr(nr.learner.OnlineGradientDescent, "__init__", wrong)


def conjugate(patch: pytest.MonkeyPatch) -> None:
    true = enclose.conjugates
    patch.setattr(enclose, "conjugates", lambda *given: tuple(part - 0.01 for part in true(*given)))


def tie(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Core, "missed", lambda self, scores, y: scores * y < 0.0)


def digested(patch: pytest.MonkeyPatch) -> None:
    true = digest._entries
    patch.setattr(digest, "_entries", lambda rows: (lambda c, j, x: (c, j, np.abs(x)))(*true(rows)))


def scores(patch: pytest.MonkeyPatch) -> None:
    true = replay._digest
    patch.setattr(replay, "_digest", lambda arrays: true({key: arrays[key][::-1] for key in arrays}))


def norm(patch: pytest.MonkeyPatch) -> None:
    true = Linear.weight_norm.fget
    patch.setattr(Linear, "weight_norm", property(lambda self: true(self) * (1.0 + 1e-9)))


def order(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(figures, "score_moment", lambda z: interval.Interval.around(float(np.arange(len(z)) @ z), 1e-9))


def staleness(patch: pytest.MonkeyPatch) -> None:
    true = LateFacts.staleness.func
    patch.setattr(LateFacts, "staleness", property(lambda self: -true(self)))


LATER = {"staleness": staleness}
PLANTED: dict[str, Plant] = {
    "loss: too small by 1 %": scaled(enclose, "losses", 0.99),
    "slope: too small by 1 %": scaled(Loss, "gradients", 0.99),
    "conjugate: off by 0.01": conjugate,
    "dual: the radius is forgotten by half": scaled(enclose, "support", 0.5),
    "dual: the sum of rows is halved": scaled(enclose, "combined", 0.5),
    "comparator: scores too small by 10 %": scaled(enclose, "margins", 0.9),
    "step: 0.1 % too long": step,
    "projection: on a ball that is too large": projection,
    "norm of a row: 1 % too small": scaled(enclose, "row_norms2", 0.99),
    "norm of the weights: off by 1e-9": norm,
    "digest of rows: signs are lost": digested,
    "digest of scores: in another order": scores,
    "mistakes: a score of 0 is none": tie,
    "order: rounds are counted from 0": order,
    "theorem: linearised, 1 % too small": in_theorem("ogd-linearised", 0.99),
    "theorem: adaptive, √2 is forgotten": in_theorem("ogd-adaptive", math.sqrt(0.5)),
}


def told(plant: Plant, patch: pytest.MonkeyPatch, folder: Any, late: bool = False) -> tuple[str, str]:
    """What `verify` and the stand-alone verifier say of the receipt of a maker with this bug."""
    rng, path, stream = np.random.default_rng(3), str(folder / "bug.json"), str(folder / "bug.svm")
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    rows = (
        f"{label} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row))
        for row, label in zip(X.tolist(), y, strict=True)
    )
    (folder / "bug.svm").write_text("\n".join(rows) + "\n")
    with patch.context() as planted:
        plant(planted)
        learner = nr.learner.OnlineGradientDescent(loss="logistic", radius=2.0)
        run = play_late(learner, stream, delay=3) if late else nr.play(learner, stream)
        nr.certify(run, stream).save(path)
        try:
            nr.verify(path, stream)
            first = "accepts"
        except nr.ReceiptError as error:
            first = str(error)
    try:
        done = noregret_verify.check(path, [stream])
    except noregret_verify.FailedError as error:
        return first, f"refused: {error}"
    return first, f"uncovered: {done.uncovered}" if done.uncovered else "accepts"


@pytest.mark.parametrize("bug", PLANTED)
def test_a_bug_that_is_planted_is_refused(bug, monkeypatch, tmp_path):
    assert told(PLANTED[bug], monkeypatch, tmp_path)[1].startswith("refused")


@pytest.mark.parametrize("bug", LATER)
def test_a_bug_among_late_labels_is_refused(bug, monkeypatch, tmp_path):
    assert told(LATER[bug], monkeypatch, tmp_path, late=True)[1].startswith("refused")


def test_without_a_bug_all_stands(monkeypatch, tmp_path):
    assert told(lambda patch: None, monkeypatch, tmp_path) == ("accepts", "accepts")
    assert told(lambda patch: None, monkeypatch, tmp_path, late=True) == ("accepts", "accepts")
    assert json.loads((tmp_path / "bug.json").read_text())["kind"] == "late"
