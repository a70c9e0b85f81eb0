"""HTML in which text is text: whatever is not made by `element` is escaped, so no name or label can become markup."""

from __future__ import annotations

from html import escape

VOID = frozenset({"meta", "br"})


class Markup(str):
    """Text that already is HTML."""

    __slots__ = ()


def element(tag: str, *inside: object, **attributes: object) -> Markup:
    """A tag with what is inside it; an attribute `class_` is `class`, one that is None is left out.

    >>> print(element("p", "1 < 2", class_="a"))
    <p class="a">1 &lt; 2</p>
    """
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{said}>" if tag in VOID else f"<{tag}{said}>{together(*inside)}</{tag}>")


def together(*parts: object) -> Markup:
    """Parts one after another, text escaped; nothing of what is None."""
    return Markup("".join(_safe(part) for part in parts if part is not None))


def _safe(part: object) -> str:
    if isinstance(part, Markup):
        return part
    return escape(visible(str(part)))


def visible(text: str) -> str:
    """Text without characters that a page cannot show, or that turn the writing around."""
    return "".join(one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text)


def table(head: tuple[object, ...] | None, rows: list[tuple[object, ...]], class_: str | None = None) -> Markup:
    """Words to the left, figures to the right; the first cell of a row is its heading."""
    top = element("thead", element("tr", *(element("th", cell, scope="col") for cell in head))) if head else None
    body = (element("tr", element("th", row[0], scope="row"), *(element("td", c) for c in row[1:])) for row in rows)
    return element("div", element("table", top, element("tbody", *body), class_=class_), class_="wide")
