"""Receipts that are not of a run: a blend of forecasters, and the proof of a separation."""

from __future__ import annotations

from typing import Any

from noregret.reporting.lead import of_blend
from noregret.reporting.subject import Part, Rows, Subject
from noregret.reporting.wording import about, between, least, most, shown, verifying, word

EXPERTS = 40  # rows of the table of experts; more are only counted


def blended(name: str, body: dict[str, Any], digest: str | None) -> Subject:
    """The section of a blend's receipt."""
    reading, best = body["reading"], body["best"]
    said = {key: value for key, value in reading.items() if value is not None and key != "experts"}
    told_of: Rows = [(word(shown(key)), shown(value)) for key, value in said.items()]
    told_of += [("experts", shown(len(body["experts"]))), ("  SHA-256 of the table", shown(body["digest"]))]
    rows: Rows = [
        ("rounds", shown(body["rounds"])),
        ("loss of the blend", between(body["loss"])),
        (f"loss of the best expert, {shown(best['expert'])}", shown(about(best["loss"]))),
        ("regret against the best expert", between(body["regret"])),
    ]
    mean = body["mean"]
    if mean is not None:
        rows += [("loss of the best fixed mean", between(mean["loss"])), ("regret against it", between(mean["regret"]))]
    rows.append(("promised: at most", most(body["bound"])))
    parts = [Part("Figures", rows, ("", "total"))]
    listed = sorted(body["experts"], key=lambda one: about(one["loss"]))
    told = [
        (
            *(shown(one["expert"]), shown(one["awake"]), shown(about(one["loss"])), shown(about(one["regret"]))),
            f"{about(one['weight']):.4f}",
        )
        for one in listed[:EXPERTS]
    ]
    left = len(listed) - EXPERTS
    note = None if left <= 0 else f"{left:,} more experts, each with a larger loss"
    parts.append(Part("Experts", list(told), ("", "rounds", "loss", "regret of the blend", "last weight"), note))
    switching = body["switching"]
    if switching is not None:
        many: Rows = [
            ("switches, at most", shown(switching["switches"])),
            ("its loss", shown(about(switching["loss"]))),
            ("regret against it", between(switching["regret"])),
        ]
        parts.append(Part("The best sequence of experts", many))
    return Subject(
        name,
        "receipt of a blend",
        of_blend(body),
        Part("What was blended", told_of),
        parts,
        certificates=body["certificates"],
        checking=verifying(name, ["TABLE"], digest),
        compared={
            "what": f"blend, {shown(reading['method'])}",
            "rounds": shown(body["rounds"]),
            "mistakes": "–",
            "loss": f"{between(body['loss'])} ({shown(reading['loss'])})",
            "regret": f"{between(body['regret'] if mean is None else mean['regret'])}"
            f" (best {'expert' if mean is None else 'mean'})",
        },
        drawn=(body,),
    )


PROVED = {
    "separable": (
        "A vector u with y⟨u,x⟩ > 0 on every row: the rows are multiplied with it in whole numbers.",
        "Convex weights λ with ‖Σ λ·y·x‖ no larger than the upper end of the margin: no separator has a larger one.",
        "The perceptron from w = 0 errs at most R²/γ² times on these rows, in any order and over any number of passes"
        " (Novikoff 1962).",
    ),
    "inseparable": (
        "Weights λ ≥ 0, not all 0, in whole numbers, with Σ λ·y·x = 0 exactly.",
        "A separator u would have 0 = Σ λ·y⟨u,x⟩ > 0, so there is none.",
    ),
    "undecided": ("Nothing either way: the search ended before one of the two proofs was found.",),
}
SENTENCES = {
    "separable": "A hyperplane separates the two classes.",
    "inseparable": "No hyperplane separates the two classes.",
    "undecided": "Whether a hyperplane separates the two classes was not decided.",
}


def separated(name: str, body: dict[str, Any], digest: str | None) -> Subject:
    """The section of a proof of separation."""
    prepared = {key: value for key, value in body["preparation"].items() if value not in (None, False)}
    about: Rows = [(word(shown(key)), shown(value)) for key, value in {**body["reading"], **prepared}.items()]
    about += [("labels", shown(body["labels"])), ("  SHA-256 of the rows", shown(body["digest"]))]
    rows: Rows = [
        ("rows", shown(body["rows"])),
        ("features, the bias included", shown(body["features"])),
        ("longest row R", between(body["radius"])),
    ]
    limit = body["mistakes"]
    if body["answer"] == "separable":
        rows.append(("margin γ", between(body["margin"])))
        rows.append(("a perceptron's mistakes, at most", most(limit["at_most"])))
        rows.append(("  R²/γ² of any separator, at least", least(limit["no_separator_below"])))
    rows.append(("rows with a weight in the proof", shown(len(body["weights"]["rows"]))))
    answer = body["answer"]
    return Subject(
        name,
        "proof of separability",
        SENTENCES[answer],
        Part("What was asked", about),
        [Part("Figures", rows)],
        proved=PROVED[answer],
        checking=verifying(name, ["STREAM"], digest),
        compared={
            "what": answer,
            "rounds": shown(body["rows"]),
            "mistakes": "–" if limit is None else f"at most {most(limit['at_most'])}",
            "loss": "–",
            "regret": "–",
            "theorems": "a proof in whole numbers",
        },
    )
