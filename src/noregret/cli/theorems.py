"""`noregret theorems`: what is promised of which learner, by whom, and where the printed statement is false."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.proof.theorem import Theorem


def theorems(
    name: Annotated[
        str | None, typer.Argument(help="The theorem to explain (default: list all).", metavar="NAME")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """List the theorems behind the certificates, or explain one of them.

    Example: noregret theorems novikoff
    """
    from noregret.proof.theorems import THEOREMS

    if name is not None and name not in THEOREMS:
        from noregret.errors import SettingError, nearest

        advice = nearest(name, THEOREMS) or f"; noregret theorems lists all {len(THEOREMS)}"
        raise SettingError(f"theorems: unknown theorem {name!r}{advice}")
    if json:
        found = as_dict(THEOREMS[name]) if name else {"theorems": [as_dict(one) for one in THEOREMS.values()]}
        put_json(found)
    elif name is not None:
        explain(THEOREMS[name])
    else:
        overview(THEOREMS.values())


def as_dict(one: Theorem[Any]) -> dict[str, Any]:
    return {
        "theorem": one.name,
        "bounds": one.title,
        "formula": one.formula,
        "statement": one.statement,
        "source": one.source,
        "learners": list(one.learners),
        "assumptions": list(one.assumptions),
        "erratum": one.erratum,
    }


def overview(listed: Iterable[Theorem[Any]]) -> None:
    """All of them: what each bounds and for whom, its formula, its source, what it assumes."""
    for one in listed:
        print(f"{one.name}: {one.title} ({', '.join(one.learners) or 'any class'})")
        print(f"    {one.formula}")
        print(f"    {one.source}")
        print(f"    assumes: {'; '.join(one.assumptions) or 'nothing'}\n")


def explain(one: Theorem[Any]) -> None:
    """One theorem in full."""
    print(f"{one.name}: bounds {one.title} ({', '.join(one.learners)})")
    print(f"\n{one.statement}\n")
    print(f"formula: {one.formula}")
    print(f"source: {one.source}")
    for assumption in one.assumptions:
        print(f"assumes: {assumption}")
    if one.erratum:
        print(f"note: {one.erratum}")
