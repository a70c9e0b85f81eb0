"""HTML in which text is text: whatever is not made by `element` is escaped, so no name or label can become markup.

What a section holds before it is a page, and values as text: anyone may have written a receipt, so any value can be
anything.
"""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass, field
from html import escape
from typing import Any

from noregret.summary import at_least, at_most, number

VOID = frozenset({"meta", "br"})
BRACED = re.compile(r"([_^])\{([^{}]*)\}")
POWER = re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)|\^([A-Za-z]+)")
INDEX = re.compile(r"_([A-Za-zŷθμ]{1,2}(?![A-Za-z])|\d)")
CODE = re.compile(r"`([^`]+)`")


class Markup(str):
    """Text that already is HTML."""

    __slots__ = ()


def element(tag: str, *inside: object, **attributes: object) -> Markup:
    """A tag and its contents; the attribute `class_` is `class`, and one that is None is left out.

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
    """Parts one after another, text escaped; None is left out."""
    return Markup("".join(_safe(part) for part in parts if part is not None))


def _safe(part: object) -> str:
    return part if isinstance(part, Markup) else escape(visible(str(part)))


def visible(text: str) -> str:
    """Text without characters that a page cannot show or that reverse the direction of writing."""
    return "".join(one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text)


def table(head: tuple[object, ...] | None, rows: list[tuple[object, ...]], class_: str | None = None) -> Markup:
    """Words to the left, figures to the right; the first cell of a row is its heading."""
    top = element("thead", element("tr", *(element("th", cell, scope="col") for cell in head))) if head else None
    body = (element("tr", element("th", row[0], scope="row"), *(element("td", c) for c in row[1:])) for row in rows)
    return element("div", element("table", top, element("tbody", *body), class_=class_), class_="wide")


def folded(summary: str, *inside: object) -> Markup:
    """A part that the reader opens; on paper it is always open."""
    return element("details", element("summary", summary), *inside)


def formula(text: str) -> Markup:
    """The text with `_i`, `_{t+1}` as indices and `^d`, `^(…)` as powers; a name between backticks as code.

    >>> print(formula("Σ_t h_t(v) < w_{t+1}"))
    Σ<sub>t</sub> h<sub>t</sub>(v) &lt; w<sub>t+1</sub>
    """
    found = CODE.sub(r"<code>\1</code>", escape(visible(text)))
    found = POWER.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", INDEX.sub(r"<sub>\1</sub>", found))
    return Markup(BRACED.sub(lambda match: f"<{_tag(match)}>{match[2]}</{_tag(match)}>", found))


def _tag(match: re.Match[str]) -> str:
    return "sub" if match[1] == "_" else "sup"


# How the page looks: on a screen by day and by night, and on paper.
STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --soft: #59636e; --page: #ffffff; --card: #f5f7f9; --line: #d5dbe1;
  --blue: #0067a3; --good: #0a6b4a; --bad: #ab3200; --doubt: #7a5300; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --soft: #a3adb8; --page: #14181c; --card: #1e242a;
  --line: #3a434c; --blue: #6cb8ea; --good: #55c79b; --bad: #ff936a; --doubt: #e2b355; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--page); color: var(--ink);
  overflow-wrap: anywhere; font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 3rem 0 .2rem; padding-top: 1.2rem; border-top: 2px solid var(--line);
  overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
h4 { font-size: 1rem; margin: 0; font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
p { margin: .4rem 0; } a { color: var(--blue); }
.small { color: var(--soft); font-size: .88rem; }
.wide { overflow-x: auto; }
table { overflow-wrap: normal; border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .9rem .22rem 0; text-align: right; vertical-align: top; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; }
th[scope=row], thead th:first-child { text-align: left; font-weight: 400; white-space: pre-wrap; }
thead th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
table.about td { text-align: left; overflow-wrap: anywhere; white-space: normal; }
table.theorems td:nth-child(2), table.theorems th:nth-child(2) { text-align: left; white-space: normal; }
table.theorems th[scope=row] { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.badge { display: inline-block; padding: 0 .5em; border: 1px solid; border-radius: 1em; font: 600 .78rem/1.5 system-ui,
  "DejaVu Sans", sans-serif; color: var(--doubt); }
.badge.holds { color: var(--good); } .badge.broken { color: var(--bad); } .badge.unmet { color: var(--soft); }
.theorem { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem;
  margin: .9rem 0; }
.formula { font: 1.12rem/1.7 "STIX Two Math", "Cambria Math", "DejaVu Serif", serif; margin: .5rem 0;
  overflow-wrap: anywhere; }
.formula sub, .formula sup { font-size: .7em; line-height: 0; }
.bar { height: .5rem; margin: .3rem 0 .5rem; border: 1px solid var(--line); border-radius: .25rem; overflow: hidden;
  background: var(--page); max-width: 30rem; }
.bar i { display: block; height: 100%; background: var(--blue); }
.assumptions { list-style: none; margin: .5rem 0; padding: 0; }
.assumptions li { padding-left: 1.6em; text-indent: -1.6em; } .assumptions i { color: var(--soft); }
.mark { display: inline-block; width: 1.6em; text-indent: 0; font-weight: 700; color: var(--doubt); }
.mark.yes { color: var(--good); } .mark.no { color: var(--bad); }
figure { margin: 1rem 0; } figcaption { color: var(--soft); font-size: .88rem; }
.picture { background: #ffffff; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem; }
.picture { overflow-x: auto; }
.picture svg { display: block; width: 100%; height: auto; min-width: 36rem; max-height: 32rem; }
ul.said { margin: .4rem 0; padding-left: 1.3rem; } ul.said li { margin: .35rem 0; }
.meaning { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--blue);
  border-radius: .5rem; padding: .2rem 1.1rem .7rem; margin: .9rem 0; }
.meaning h3 { margin-top: .8rem; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .7rem 0; padding: 0 1rem; }
details[open] { padding-bottom: .8rem; }
summary { cursor: pointer; font-weight: 600; padding: .55rem 0; }
code { font: .9em/1.4 ui-monospace, "DejaVu Sans Mono", monospace; background: var(--card); padding: .1em .3em;
  border-radius: .25rem; }
.meaning code { background: var(--page); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .8rem;
  margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere;
  font: .9rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
@media print {
  :root { --ink: #000; --soft: #444; --page: #fff; --card: #fff; --line: #aaa; --blue: #0067a3; --good: #0a6b4a;
    --bad: #ab3200; --doubt: #7a5300; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } @page { margin: 17mm; }
  h2 { break-before: page; border-top: 0; margin-top: 0; padding-top: 0; }
  h2.first { break-before: auto; margin-top: 1.5rem; }
  h2, h3, h4 { break-after: avoid; } .theorem, figure, .wide, pre, li { break-inside: avoid; }
  .picture { border: 0; } .picture svg { min-width: 0; max-height: 80mm; }
  td { white-space: normal; }
  thead { display: table-header-group; }
  details { border: 0; padding: 0; } summary { list-style: none; font-size: 1.05rem; break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .wide { overflow: visible; } a { color: inherit; text-decoration: none; } .bar, .bar i { print-color-adjust: exact; }
}
"""


LONG = 80  # characters of a value that are shown
MANY = 12  # values of a list that are shown
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)  # of what was not written by us
Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class Part:
    """A table with its heading, and a note below it."""

    heading: str
    rows: Rows
    head: tuple[object, ...] | None = None
    note: str | None = None
    folded: bool = False


@dataclass(frozen=True)
class Subject:
    """One section of the page."""

    name: str  # of the file, or what it is
    kind: str
    meaning: list[str]  # sentences for somebody who knows no theory
    steps: list[tuple[str, str | None]]  # what to do: a sentence, and a command where there is one
    about: Part
    figures: list[Part]
    certificates: list[dict[str, Any]] = field(default_factory=list)
    promised: list[dict[str, Any]] = field(default_factory=list)  # of a selection: the risk on new rows
    proved: tuple[str, ...] = ()  # what a proof consists of
    checking: list[tuple[str, str]] = field(default_factory=list)  # (sentence, command)
    compared: dict[str, str] = field(default_factory=dict)  # its cells of the comparison
    drawn: tuple[Any, ...] = ()  # what pictures are made of


def shown(value: Any) -> str:
    """A setting or a figure."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(float(value))
    if isinstance(value, list | tuple):
        more = f", … ({len(value):,} in all)" if len(value) > MANY else ""
        return ", ".join(shown(one) for one in value[:MANY]) + more
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(one)}" for key, one in list(value.items())[:MANY])
    text = "–" if value is None else str(value)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def least(value: Any) -> str:
    """A lower end; an infinite one is a word in a receipt."""
    return "–" if value is None else at_least(float(value))


def most(value: Any) -> str:
    """An upper end."""
    return "–" if value is None else at_most(float(value))


def between(ends: dict[str, Any]) -> str:
    """An interval, rounded outwards."""
    low, high = least(ends["lower"]), most(ends["upper"])
    return low if low == high else f"{low} … {high}"


def about(ends: dict[str, Any]) -> float:
    """The middle of an interval, for a figure that is known to more digits than are shown."""
    low, high = float(ends["lower"]), float(ends["upper"])
    return low if low == high else 0.5 * low + 0.5 * high


def against(entry: dict[str, Any]) -> str:
    """The loss and the comparators of a regret: `logistic, ‖u‖ ≤ 3`."""
    radius, sigma = float(entry["domain"]["radius"]), entry["sigma"]
    ball = f", ‖u‖ ≤ {radius:g}" if math.isfinite(radius) else ""
    return f"{shown(entry['loss'])}{ball}" + (f", σ {sigma:g}" if sigma else "")


def word(key: str) -> str:
    return key.replace("_", " ")


def command(*words: str) -> str:
    """A command that can be pasted into a shell; words in capitals are to be filled in."""
    return shlex.join(["noregret", *words])


def file_word(name: str) -> str:
    """A file name that cannot be mistaken for an option."""
    return f"./{name}" if name.startswith("-") else name


def verifying(name: str, rows: list[str], digest: str | None) -> list[tuple[str, str]]:
    """How to check a receipt or a proof, and that it is the file this page was made from."""
    found = [("Recompute every number from the rows", command("verify", file_word(name), *rows))]
    if digest is not None:
        told = f"Check that you have the file this page was made from: its SHA-256 is {digest}"
        found.append((told, f"sha256sum {shlex.quote(file_word(name))}"))
    return found


def streams_of(segments: list[dict[str, Any]]) -> list[str]:
    """A word to fill in for every stream; with many streams, one word for all."""
    if len(segments) > MANY:
        return ["STREAM..."]
    return ["STREAM"] if len(segments) == 1 else [f"STREAM{place}" for place in range(1, len(segments) + 1)]
