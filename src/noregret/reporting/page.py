"""The page: one file that asks the network for nothing and runs nothing. First what it means, theory folded below."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noregret._version import __version__
from noregret.errors import ReceiptError
from noregret.picture.canvas import can_draw
from noregret.proof.receipt import Receipt
from noregret.proof.theorem import Theorem, Verdict
from noregret.proof.theorems import THEOREMS
from noregret.reporting.html import (
    DAMAGE,
    STYLE,
    Markup,
    Part,
    Rows,
    Subject,
    about,
    element,
    folded,
    formula,
    most,
    shown,
    table,
    together,
    visible,
    word,
)
from noregret.run import Run

if TYPE_CHECKING:
    from noregret.picture.canvas import Picture


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
LARGEST = 500_000  # bytes of the page; pictures that would make it larger are left out, and that is said
HEAD = ("", "what", "rounds", "mistakes", "loss", "regret", "theorems")
VERDICTS = {one.name.lower(): one.value for one in Verdict}
MARKS = {True: ("✓", "holds", "yes"), False: ("✗", "fails", "no"), None: ("?", "not checkable", "open")}
GLOSSARY: Rows = [
    ("row, round", "one example: the learner predicts, sees the label, updates"),
    ("mistake", "a row whose predicted label was wrong"),
    ("loss", "what a prediction costs: 0 or little if it is right, more the further it is off"),
    ("baseline", "a rule that ignores all features; a useful learner beats it"),
    ("fixed model", "one set of weights for all rows, chosen after all labels are known (in hindsight)"),
    ("regret", "loss of the run − loss of the best fixed model: the price of learning row by row"),
    ("comparator", "what a run is compared with: here the best fixed model, or one of several learners"),
    ("log-loss, nats", "the loss −ln p when p is the probability given to the true label; nats are its unit"),
    ("share, weight", "of a mixture: how much it follows one of its members; all shares add up to 1"),
    ("AUC", "how often a row of the positive class has a higher score than one of the other: 1 is perfect, 0.5 chance"),
    ("… between two numbers", "the true value is proved to lie between them"),
    ("theorem, bound", "what mathematics guarantees: the observed value cannot be larger if the assumptions hold"),
    (
        "verdict",
        "holds: within the bound; vacuous: true but too loose to be useful; unmet: an assumption fails, so nothing"
        " is claimed; open: a smaller gap is needed to tell; broken: a bug",
    ),
]


def as_page(subjects: list[Subject]) -> str:
    """The whole page as text."""
    bare = _document(subjects, [[] for _ in subjects])
    return _document(subjects, _fitting(subjects, LARGEST - len(bare.encode())))


def _document(subjects: list[Subject], pictures: list[list[Markup]]) -> str:
    names = ", ".join(one.name for one in subjects[:3]) + (", …" if len(subjects) > 3 else "")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        Markup('<link rel="icon" href="data:,">'),
        element("title", f"noregret report: {names}"),
        element("style", Markup(STYLE)),
    )
    sections = (
        _section(one, shown, place) for place, (one, shown) in enumerate(zip(subjects, pictures, strict=True), 1)
    )
    words = folded("Words on this page", table(None, GLOSSARY, "about"))
    body = element("body", element("main", _front(subjects), *sections, element("footer", words)))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _front(subjects: list[Subject]) -> Markup:
    """What the page is, and where there are several sections, a table that compares them."""
    told = (
        f"Made by noregret {__version__}. This page repeats what the files below say and proves nothing itself: the"
        " commands under “How to verify” recompute every number."
    )
    heading = element("h1", "noregret report")
    compared = None
    if len(subjects) > 1:
        rows = [(element("a", one.name, href=f"#s{place}"), *_cells(one)) for place, one in enumerate(subjects, 1)]
        compared = together(element("h3", "Side by side"), table(HEAD, [tuple(row) for row in rows]))
    return element("header", heading, element("p", told, class_="small"), compared)


def _cells(one: Subject) -> tuple[str, ...]:
    cells = {"theorems": tally(one.certificates), **one.compared}
    return tuple(cells[key] for key in HEAD[1:])


def _section(one: Subject, pictures: list[Markup], place: int) -> Markup:
    return element(
        "section",
        element("h2", one.name, id=f"s{place}", class_="first" if place == 1 else None),
        element("p", one.kind, class_="small"),
        _meaning(one),
        *(_part(part) for part in one.figures if not part.folded),
        together(element("h3", "Pictures"), *pictures) if pictures else None,
        _checking(one.checking),
        element("h3", "Details"),
        *(_part(part, "about" if part is one.about else None) for part in (one.about, *one.figures) if part.folded),
        _theorems("Theorems", one.certificates),
        _theorems("Risk on new rows", one.promised),
        _proved(one.proved),
    )


def _meaning(one: Subject) -> Markup:
    """For somebody who knows no theory: what it means, and what to do."""
    said = element("ul", *(element("li", sentence) for sentence in one.meaning), class_="said")
    steps = (
        element("li", sentence, None if command is None else together(" ", element("code", command)))
        for sentence, command in one.steps
    )
    todo = together(element("h3", "What to do"), element("ul", *steps, class_="said")) if one.steps else None
    return element("div", element("h3", "What this means"), said, todo, class_="meaning")


def _part(part: Part, class_: str | None = None) -> Markup:
    note = None if part.note is None else element("p", part.note, class_="small")
    inside = together(table(part.head, part.rows, class_), note)
    return folded(part.heading, inside) if part.folded else together(element("h3", part.heading), inside)


def _theorems(heading: str, certificates: list[dict[str, Any]]) -> Markup | None:
    return folded(f"{heading}: {tally(certificates)}", cards(certificates)) if certificates else None


def _proved(sentences: tuple[str, ...]) -> Markup | None:
    parts = (element("li", formula(sentence)) for sentence in sentences)
    return folded("What the proof consists of", element("ul", *parts)) if sentences else None


def _checking(commands: list[tuple[str, str]]) -> Markup | None:
    if not commands:
        return None
    parts = (element("li", f"{sentence}:", element("pre", command)) for sentence, command in commands)
    return together(element("h3", "How to verify"), element("ol", *parts))


def _fitting(subjects: list[Subject], room: int) -> list[list[Markup]]:
    """The pictures of every section, as long as there is room for them."""
    if not can_draw():
        return [[element("p", MISSING)] if one.drawn else [] for one in subjects]
    found: list[list[Markup]] = []
    for place, one in enumerate(subjects, 1):
        kept, left = [], []
        for title, picture in _drawn(one, f"s{place}"):
            size = len(picture.encode())
            if size <= room - 500:
                kept.append(picture)
                room -= size
            else:
                left.append(title)
        if left:
            kept.append(element("p", f"Left out to keep the page under 500 KB: {', '.join(left)}."))
        found.append(kept)
    return found


def _drawn(one: Subject, key: str) -> list[tuple[str, Markup]]:
    """The pictures of a section; a receipt that cannot be drawn was written by something else."""
    try:
        return list(figures(one, key))
    except DAMAGE as error:
        raise ReceiptError(f"the receipt cannot be drawn ({type(error).__name__}: {error})", one.name) from error


# -- theorems ---------------------------------------------------------------------------------------------------------


def tally(certificates: list[dict[str, Any]]) -> str:
    """How the certificates came out: `14 hold, 1 vacuous`."""
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
        return element("p", "This version of noregret does not know this theorem.")
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
    made = element("p", f"Computed from: {values}.", class_="small") if values else None
    return together(element("p", *words), bar, made)


def _assumptions(assumed: list[dict[str, Any]]) -> Markup:
    if not assumed:
        return element("p", "No assumption that could fail.", class_="small")
    return element("ul", *(_assumption(one) for one in assumed), class_="assumptions")


def _assumption(one: dict[str, Any]) -> Markup:
    holds = one["holds"] if isinstance(one["holds"], bool) else None
    mark, said, kind = MARKS[holds]
    statement = formula(shown_in_full(one["statement"]))
    return element(
        "li", element("span", mark, class_=f"mark {kind}", aria_hidden="true"), statement, element("i", f" ({said})")
    )


def shown_in_full(value: Any) -> str:
    """A sentence of a receipt, cut only if it is longer than any that we write."""
    text = str(value)
    return text if len(text) <= 500 else f"{text[:499]}…"


MISSING = "Pictures need matplotlib: run pip install 'noregret[plot]', then make the report again."
SIZE = (8.0, 4.2)  # inches
NAMED = re.compile(r'(\bid="|"#|url\(#)')


def figures(subject: Subject, key: str) -> Iterator[tuple[str, Markup]]:
    """Every picture of a section with its title; `key` keeps the names inside one picture from those of another."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from noregret.picture.canvas import svg_text

    for place, (title, caption, draw) in enumerate(_pictures(subject), 1):
        figure = Figure(figsize=SIZE, layout="constrained")
        with warnings.catch_warnings(), rc_context({"text.parse_math": False}):  # a $ in a name is a $
            warnings.simplefilter("ignore")  # a name may be too long for its place
            draw(figure.add_subplot())
            svg = svg_text(figure)
        yield title, framed(svg, title, caption, f"{key}-{place}")


def _pictures(subject: Subject) -> Iterator[Picture]:
    from noregret.picture import pictures_of

    receipt = next((_known(one) for one in subject.drawn if isinstance(one, Receipt)), None)
    for thing in subject.drawn:
        if isinstance(thing, Receipt):
            assert receipt is not None
            yield from pictures_of(receipt)
        elif isinstance(thing, Run):
            yield from pictures_of(thing, receipt=receipt) if thing.rounds else ()
        elif isinstance(thing, dict):
            yield from _of_blend(thing)
        else:
            yield from pictures_of(thing)


def _of_blend(body: dict[str, Any]) -> Iterator[Picture]:
    """From a blend's receipt: the loss of every expert, and the bounds."""
    from noregret.picture.blend import loss_axes
    from noregret.picture.bounds import bounds_axes
    from noregret.picture.canvas import Picture

    losses = {visible(str(one["expert"])): about(one["loss"]) for one in body["experts"]}
    told = "The total loss of each expert and of the blend, which stays close to the best of them."
    yield Picture("Loss of each expert", told, lambda axes: loss_axes(axes, float(body["loss"]["upper"]), losses))
    judged = [one for one in body["certificates"] if one["theorem"] in THEOREMS and one["bound"] is not None]
    if len(judged) > 1:
        told = "One line per theorem: the dot is the observed value, the bar the bound that it may not exceed."
        yield Picture("Observed values and bounds", told, lambda axes: bounds_axes(axes, judged))


def _known(receipt: Receipt) -> Receipt:
    """The receipt with only the theorems that are known: anyone may have written the names in it."""
    entries = [
        {**entry, "bounds": {name: bound for name, bound in entry["bounds"].items() if name in THEOREMS}}
        if "bounds" in entry
        else entry
        for entry in (receipt.regret, *receipt.curve)
        if entry is not None
    ]
    judged = [one for one in receipt.certificates if one["theorem"] in THEOREMS]
    first = receipt.regret is not None
    return replace(receipt, certificates=judged, regret=entries[0] if first else None, curve=entries[first:])


def framed(svg: str, title: str, caption: str, key: str) -> Markup:
    """One picture with its caption."""
    own = NAMED.sub(rf"\g<1>{key}-", visible(svg[svg.index("<svg") :]))
    picture = element("div", Markup(own), class_="picture", role="img", aria_label=title)
    return element("figure", element("figcaption", element("b", f"{title}. "), caption), picture)
