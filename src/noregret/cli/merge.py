"""`noregret merge`: the ledgers of parts as one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import Shown, grouped
from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.proof.ledger import LedgerReceipt


@grouped
def merge(
    receipts: Annotated[
        list[Path],
        typer.Argument(
            help="Receipts of ledgers, written by audit --pass --receipt, learn --ledger or merge.", metavar="LEDGER..."
        ),
    ],
    *,
    receipt: Annotated[Path | None, typer.Option(help="Write the ledgers of all parts to this file.")] = None,
    radius: Annotated[
        float | None,
        typer.Option(help="Compare with all weights of norm at most this (default: the radius of the receipts)."),
    ] = None,
    shown: Shown,
) -> None:
    """Put the ledgers of parts together: the regret bound of all rounds, against one model and against one per part.

    Parts must share no rows; what made the scores may differ from part to part.

    Example: noregret merge monday.json tuesday.json --receipt both.json
    """
    from noregret.cli.options import check_writable
    from noregret.errors import SettingError
    from noregret.proof.ledger import merge as merged

    if radius is not None and not 0.0 < radius < float("inf"):
        raise SettingError(f"--radius must be positive and finite, got {radius}")
    for one in receipts:
        check_writable(str(one), receipt, what="one of the receipts")
    found = merged(*receipts, radius=radius)
    if receipt is not None:
        found.save(receipt)
    if shown.json:
        put_json(_answer(found))
    elif not shown.quiet:
        _show(found)


def _answer(found: LedgerReceipt) -> dict[str, Any]:
    from noregret.proof.receipt import plain
    from noregret.proof.regret import ends

    led = found.whole
    return {
        "parts": [
            {"made_by": part.name, "rounds": part.ledger.rounds, "loss": ends(part.ledger.loss), "rows": part.rows}
            for part in found.parts
        ],
        "rounds": led.rounds,
        "loss": {"name": found.loss.spec, **ends(led.loss), "infinite": led.infinite},
        "bias": found.bias,
        "radius": found.radius,
        "regret": {"one_model": plain(found.bound), "model_per_part": plain(found.bound_of_each)},
        "beaten": None if led.beaten is None else plain(led.beaten),
        "certificates": found.certificates,
    }


def _show(found: LedgerReceipt) -> None:
    from noregret.cli.show import table
    from noregret.summary import at_least, at_most, counted, number

    led, parts = found.whole, found.parts
    bias = ", with a bias" if found.bias else ""
    print(
        f"{counted(len(parts), 'part')}, {found.loss.spec} loss, against all fixed weights ‖u‖ ≤ {found.radius:g}{bias}"
    )
    rows = [(f"part {place}: {part.name}", part.ledger) for place, part in enumerate(parts, 1)]
    table(
        [
            (name, number(one.rounds), _loss(one), at_most(found.bound if one is led else one.ball(found.radius).hi))
            for name, one in (*rows, ("all parts, one model", led))
        ],
        ("", "rounds", "loss", "regret at most"),
    )
    if len(parts) > 1:
        print(f"all parts, one model per part: regret at most {at_most(found.bound_of_each)}")
    if led.beaten is not None and led.beaten > 0.0:
        print(f"the scores lost less than every linear model with ‖u‖ < {at_least(led.beaten)}")


def _loss(one: Any) -> str:
    from noregret.summary import number

    return "∞" if one.infinite else number(0.5 * one.loss.lo + 0.5 * one.loss.hi)
