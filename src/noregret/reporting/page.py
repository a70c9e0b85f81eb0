"""The page: one file that asks the network for nothing and runs nothing."""

from __future__ import annotations

from noregret._version import __version__
from noregret.errors import ReceiptError
from noregret.picture.canvas import can_draw
from noregret.reporting.formula import formula
from noregret.reporting.markup import Markup, element, table, together
from noregret.reporting.pictures import MISSING, figures
from noregret.reporting.style import STYLE
from noregret.reporting.subject import DAMAGE, Part, Subject
from noregret.reporting.theorems import cards, tally

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
LARGEST = 500_000  # bytes of the page; pictures that would make it larger are left out, and that is said
HEAD = ("", "what", "rounds", "mistakes", "loss", "regret", "theorems")


def as_page(subjects: list[Subject]) -> str:
    """The whole page as text."""
    bare = _document(subjects, [[] for _ in subjects])
    return _document(subjects, _pictures(subjects, LARGEST - len(bare.encode())))


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
    body = element("body", element("main", _front(subjects), *sections))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _front(subjects: list[Subject]) -> Markup:
    """What the page is, and where there are several sections, a table that compares them."""
    told = (
        f"Made by noregret {__version__} from the files below. The page repeats what they say; what proves it is to"
        " recompute it, with the commands at the end of each section."
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
        element("p", one.lead),
        _part(one.about, "about"),
        *(_part(part) for part in one.figures),
        together(element("h3", "Pictures"), *pictures) if pictures else None,
        _theorems("Theorems", one.certificates),
        _theorems("What new rows risk", one.promised),
        _proved(one.proved),
        _checking(one.checking),
    )


def _part(part: Part, class_: str | None = None) -> Markup:
    note = None if part.note is None else element("p", part.note, class_="small")
    return together(element("h3", part.heading), table(part.head, part.rows, class_), note)


def _theorems(heading: str, certificates: list[dict[str, object]]) -> Markup | None:
    if not certificates:
        return None
    return together(element("h3", f"{heading}: {tally(certificates)}"), cards(certificates))


def _proved(sentences: tuple[str, ...]) -> Markup | None:
    if not sentences:
        return None
    parts = (element("li", formula(sentence)) for sentence in sentences)
    return together(element("h3", "What the proof consists of"), element("ul", *parts))


def _checking(commands: list[tuple[str, str]]) -> Markup | None:
    if not commands:
        return None
    parts = (element("li", f"{sentence}:", element("pre", command)) for sentence, command in commands)
    return together(element("h3", "How to verify"), element("ol", *parts))


def _pictures(subjects: list[Subject], room: int) -> list[list[Markup]]:
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
