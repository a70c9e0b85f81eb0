"""What a receipt or a model says, in a few sentences at the head of its section."""

from __future__ import annotations

from typing import Any

from noregret.proof.receipt import Receipt
from noregret.proof.theorems import THEOREMS
from noregret.reporting.wording import about, against, between, most, shown
from noregret.run import Run
from noregret.summary import number, share


def of_run(run: Run) -> str:
    """The mistakes and the loss of a run."""
    return _happened(run.learner.name, run.rounds, run.mistakes, run.loss)


def of_receipt(receipt: Receipt) -> str:
    """What happened, what hindsight would have lost, what was promised."""
    figures, regret = receipt.figures, receipt.regret
    told = [_happened(shown(receipt.learner["name"]), figures["rounds"], figures["mistakes"], receipt.figure("loss"))]
    if regret is not None:
        told.append(
            f"Against {against(regret)}: the best fixed weights that hindsight can choose lose"
            f" {between(regret['comparator'])}, the run by the same loss {between(regret['own'])}:"
            f" its regret is {between(regret)}."
        )
    return " ".join([*told, *_promised(receipt.certificates)])


def of_blend(body: dict[str, Any]) -> str:
    """What the blend lost, what its best expert lost, what was promised."""
    best, many, mean = body["best"], shown(len(body["experts"])), body["mean"]
    told = ""
    if mean is not None:
        told = f" The best fixed mean of them lost {between(mean['loss'])}: the regret is {between(mean['regret'])}."
    return (
        f"In {shown(body['rounds'])} rounds the blend of {many} experts lost {between(body['loss'])}; the best of them,"
        f" {shown(best['expert'])}, lost {shown(about(best['loss']))}: the regret is {between(body['regret'])}."
        + told
        + ("" if body["bound"] is None else f" Theory promised at most {most(body['bound'])}.")
    )


def _happened(name: str, rounds: int, mistakes: int | None, loss: float) -> str:
    wrong = "" if mistakes is None else f" made {number(mistakes)} mistakes ({share(mistakes, rounds)}) and"
    return f"In {number(rounds)} rounds {name}{wrong} lost {number(loss)}."


def _promised(certificates: list[dict[str, Any]]) -> list[str]:
    """The smallest bound that holds, on the mistakes and on the regret."""
    told = []
    for what in ("mistakes", "regret"):
        bounds = [one for one in certificates if one["verdict"] == "holds" and _speaks_of(one, what)]
        if bounds:
            least = min(bounds, key=lambda one: float(one["bound"]))
            told.append(f"Theory promised {what} of at most {most(least['bound'])} ({shown(least['theorem'])}).")
    return told


def _speaks_of(certificate: dict[str, Any], what: str) -> bool:
    known = THEOREMS.get(str(certificate["theorem"]))
    return known is not None and known.title.partition(",")[0].strip() == what
