"""A certificate as a card: the theorem as stated, what it assumes and whether that holds, its bound, the observed."""

from __future__ import annotations

from typing import Any

from noregret.proof.theorem import Theorem, Verdict
from noregret.proof.theorems import THEOREMS
from noregret.reporting.formula import formula
from noregret.reporting.markup import Markup, element, table, together
from noregret.reporting.subject import Rows
from noregret.reporting.wording import most, shown, word

VERDICTS = {one.name.lower(): one.value for one in Verdict}
MARKS = {True: ("✓", "holds", "yes"), False: ("✗", "fails", "no"), None: ("?", "not checkable", "open")}


def tally(certificates: list[dict[str, Any]]) -> str:
    """How the certificates came out: `14 hold, 1 is vacuous`."""
    said = {"holds": "hold", "vacuous": "vacuous", "open": "open", "unmet": "unmet", "broken": "broken"}
    counts = {verdict: sum(one["verdict"] == verdict for one in certificates) for verdict in said}
    return ", ".join(f"{count} {said[verdict]}" for verdict, count in counts.items() if count) or "none"


def cards(certificates: list[dict[str, Any]]) -> Markup:
    """A table of all, then a card each."""
    rows: Rows = [
        (shown(one["theorem"]), _title(one), most(one["bound"]), most(one["observed"]), badge(one))
        for one in certificates
    ]
    overview = table(("theorem", "bounds", "bound", "observed", "verdict"), rows, "theorems")
    return together(overview, *(card(one) for one in certificates))


def card(one: dict[str, Any]) -> Markup:
    """One certificate."""
    known = THEOREMS.get(str(one["theorem"]))
    return element(
        "article",
        element("h4", shown(one["theorem"]), " ", badge(one)),
        _stated(known),
        _compared(one),
        _assumptions(one["assumptions"]),
        element("p", "Source: ", shown_in_full(one["source"]), class_="small"),
        element("p", "Note: ", formula(known.erratum), class_="small") if known and known.erratum else None,
        class_="theorem",
    )


def badge(one: dict[str, Any]) -> Markup:
    """The verdict, which says what it means when pointed at."""
    verdict = str(one["verdict"])
    kind = verdict if verdict in VERDICTS else "open"
    return element("span", verdict, class_=f"badge {kind}", title=VERDICTS.get(verdict))


def _title(one: dict[str, Any]) -> str:
    known = THEOREMS.get(str(one["theorem"]))
    return "–" if known is None else known.title


def _stated(known: Theorem[Any] | None) -> Markup:
    if known is None:
        return element("p", "This noregret does not know the theorem's statement.")
    told = element("p", f"Bounds: {known.title}.", class_="small")
    paragraphs = (element("p", formula(part)) for part in known.statement.split("\n\n"))
    return together(told, element("p", formula(known.formula), class_="formula"), *paragraphs)


def _compared(one: dict[str, Any]) -> Markup:
    """Bound and observed, with a bar as long as the observed share of the bound."""
    verdict = str(one["verdict"])
    meaning = VERDICTS.get(verdict, "")
    if one["bound"] is None:
        return element("p", f"Nothing is claimed: {meaning}.")
    bound, seen = float(one["bound"]), one["observed"]
    words = [element("b", f"bound {most(one['bound'])}")]
    if seen is not None:
        words += [Markup(" · "), element("b", f"observed {most(seen)}")]
    words.append(element("span", f" · {meaning}", class_="small"))
    bar = None
    if seen is not None and 0.0 < bound < float("inf") and float(seen) >= 0.0:
        part = min(100.0 * float(seen) / bound, 100.0)
        bar = element("div", element("i", style=f"width:{part:.2f}%"), class_="bar", aria_hidden="true")
    values = ", ".join(f"{word(shown(name))} {shown(value)}" for name, value in one["values"].items())
    made = element("p", f"Made from: {values}.", class_="small") if values else None
    return together(element("p", *words), bar, made)


def _assumptions(assumed: list[dict[str, Any]]) -> Markup:
    if not assumed:
        return element("p", "It assumes nothing that could fail.", class_="small")
    return element("ul", *(_assumption(one) for one in assumed), class_="assumptions")


def _assumption(one: dict[str, Any]) -> Markup:
    holds = one["holds"] if isinstance(one["holds"], bool) else None
    mark, said, kind = MARKS[holds]
    statement = formula(shown_in_full(one["statement"]))
    return element(
        "li", element("span", mark, class_=f"mark {kind}", aria_hidden="true"), statement, element("i", f" ({said})")
    )


def shown_in_full(value: Any) -> str:
    """A sentence of a receipt, cut only where no sentence is so long."""
    text = str(value)
    return text if len(text) <= 500 else f"{text[:499]}…"
