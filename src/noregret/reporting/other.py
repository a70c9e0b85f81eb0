"""Receipts that are not of a run: a blend of forecasters, and the answer whether a hyperplane separates."""

from __future__ import annotations

from typing import Any

from noregret.reporting.html import Part, Rows, Subject, about, between, least, most, shown, verifying, word
from noregret.reporting.run import CHECK

EXPERTS = 40  # rows of the table of experts; more are only counted


def blended(name: str, body: dict[str, Any], digest: str | None) -> Subject:
    """The section of a blend's receipt."""
    reading, mean = body["reading"], body["mean"]
    said = {key: value for key, value in reading.items() if value is not None and key != "experts"}
    asked: Rows = [(word(shown(key)), shown(value)) for key, value in said.items()]
    asked += [("experts", shown(len(body["experts"]))), ("  SHA-256 of the table", shown(body["digest"]))]
    parts = [Part("Figures", _blend_figures(body), ("", "total")), _experts(body)]
    if body["switching"] is not None:
        parts.append(_switching(body["switching"]))
    regret, against = (body["regret"], "expert") if mean is None else (mean["regret"], "mean")
    return Subject(
        name,
        "receipt of a blend",
        _blend_means(body),
        _blend_asks(body),
        Part("What was blended", asked, folded=True),
        parts,
        certificates=body["certificates"],
        checking=verifying(name, ["TABLE"], digest),
        compared={
            "what": f"blend, {shown(reading['method'])}",
            "rounds": shown(body["rounds"]),
            "mistakes": "–",
            "loss": f"{between(body['loss'])} ({shown(reading['loss'])})",
            "regret": f"{between(regret)} (best {against})",
        },
        drawn=(body,),
    )


def _blend_figures(body: dict[str, Any]) -> Rows:
    """Losses, regrets and the bound."""
    best, mean = body["best"], body["mean"]
    rows: Rows = [
        ("rounds", shown(body["rounds"])),
        ("loss of the blend", between(body["loss"])),
        (f"loss of the best expert, {shown(best['expert'])}", shown(about(best["loss"]))),
        ("regret against the best expert", between(body["regret"])),
    ]
    if mean is not None:
        rows.append(("loss of the best fixed average", between(mean["loss"])))
        rows.append(("regret against that average", between(mean["regret"])))
    return [*rows, ("regret bound", most(body["bound"]))]


def _experts(body: dict[str, Any]) -> Part:
    """The experts, the best ones first."""
    listed = sorted(body["experts"], key=lambda one: about(one["loss"]))
    rows = [
        (
            *(shown(one["expert"]), shown(one["awake"]), shown(about(one["loss"])), shown(about(one["regret"]))),
            f"{about(one['weight']):.4f}",
        )
        for one in listed[:EXPERTS]
    ]
    left = len(listed) - EXPERTS
    note = None if left <= 0 else f"{left:,} more experts, each with a larger loss"
    return Part("Experts", list(rows), ("", "rounds", "loss", "regret of the blend", "final weight"), note)


def _switching(found: dict[str, Any]) -> Part:
    """The best sequence of experts."""
    rows: Rows = [
        ("switches allowed", shown(found["switches"])),
        ("loss", shown(about(found["loss"]))),
        ("regret against it", between(found["regret"])),
    ]
    return Part("The best sequence of experts with few switches", rows)


def _blend_means(body: dict[str, Any]) -> list[str]:
    """The blend beside its best expert."""
    best, mean = body["best"], body["mean"]
    said = [
        f"The blend of {shown(len(body['experts']))} forecasters (experts) has a total loss of {between(body['loss'])}"
        f" over {shown(body['rounds'])} rows. The best single expert, {shown(best['expert'])}, has"
        f" {shown(about(best['loss']))}.",
        f"The regret, the price of not knowing beforehand which expert is best, is {between(body['regret'])}.",
    ]
    if mean is not None:
        said.append(
            f"The best fixed average of the experts has a loss of {between(mean['loss'])}; the regret against it is"
            f" {between(mean['regret'])}."
        )
    if body["bound"] is not None:
        said.append(f"Theory guarantees a regret of at most {most(body['bound'])}.")
    return said


def _blend_asks(body: dict[str, Any]) -> list[tuple[str, str | None]]:
    if float(body["regret"]["upper"]) < 0.0:
        told = "Use the blend: on these rows it does better than every single expert."
    else:
        told = "Use the blend if you do not know beforehand which expert will be best: the regret is what that costs."
    return [(told, None), CHECK]


PROVED = {
    "separable": (
        "A vector u with y⟨u,x⟩ > 0 on every row: the rows are multiplied with it in whole numbers.",
        "Convex weights λ with ‖Σ λ·y·x‖ no larger than the upper end of the margin: no separator has a larger margin.",
        "The perceptron from w = 0 makes at most R²/γ² mistakes on these rows, in any order and over any number of"
        " passes (Novikoff 1962).",
    ),
    "inseparable": (
        "Weights λ ≥ 0, not all 0, in whole numbers, with Σ λ·y·x = 0 exactly.",
        "A separator u would have 0 = Σ λ·y⟨u,x⟩ > 0, so there is none.",
    ),
    "undecided": ("No proof either way: the search ended before it found one.",),
}
SENTENCES = {
    "separable": "A hyperplane separates the two classes.",
    "inseparable": "No hyperplane separates the two classes.",
    "undecided": "It is not decided whether a hyperplane separates the two classes.",
}
MEANINGS = {
    "separable": "A linear model can label every one of these rows correctly.",
    "inseparable": "Every linear model labels at least one of these rows wrongly.",
    "undecided": "The search ended before it found a proof either way.",
}
STEPS = {
    "separable": "A linear model is enough for these rows. A larger margin means fewer mistakes while learning.",
    "inseparable": "Expect errors from any linear model. Add features, use a kernel, or look for wrong labels.",
    "undecided": "Search again with more time.",
}


def separated(name: str, body: dict[str, Any], digest: str | None) -> Subject:
    """The section of a proof of separation."""
    prepared = {key: value for key, value in body["preparation"].items() if value not in (None, False)}
    about: Rows = [(word(shown(key)), shown(value)) for key, value in {**body["reading"], **prepared}.items()]
    about += [("labels", shown(body["labels"])), ("  SHA-256 of the rows", shown(body["digest"]))]
    rows: Rows = [
        ("rows", shown(body["rows"])),
        ("features, including the bias", shown(body["features"])),
        ("longest row R", between(body["radius"])),
    ]
    limit = body["mistakes"]
    if body["answer"] == "separable":
        rows.append(("margin γ", between(body["margin"])))
        rows.append(("mistakes of a perceptron, at most", most(limit["at_most"])))
        rows.append(("  R²/γ² of any separator, at least", least(limit["no_separator_below"])))
    rows.append(("rows with a weight in the proof", shown(len(body["weights"]["rows"]))))
    answer = body["answer"]
    return Subject(
        name,
        "proof of separability",
        [f"{SENTENCES[answer]} {MEANINGS[answer]}"],
        [(STEPS[answer], None), CHECK],
        Part("What was asked", about, folded=True),
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
