"""`noregret verify`: does a receipt stand?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def verify(
    receipt: Annotated[Path, typer.Argument(help="A receipt written by learn --receipt or certify --receipt.")],
    streams: Annotated[
        list[str], typer.Argument(help="The streams that were learned from, in order.", metavar="STREAM...")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing; the exit code tells.")] = False,
) -> None:
    """Replay the run and recompute every number of a receipt; exit 1 and name the first that does not stand.

    Example: noregret verify spam.receipt.json spam.svm.gz
    """
    from noregret.cli.certify import read_again
    from noregret.errors import ReceiptError
    from noregret.receipt import Receipt
    from noregret.receipt import verify as verify_receipt
    from noregret.receipt.form import decoded, is_blend

    try:
        if is_blend(decoded(receipt)):
            done = verify_receipt(receipt, *streams)
        else:
            found = Receipt.load(receipt)
            done = verify_receipt(found, *(read_again(stream, found.reading) for stream in streams))
    except ReceiptError as error:
        if not error.failed:
            raise
        sentence = " ".join(str(error).split())
        if json:
            _print({"stands": False, "failed": sentence, "checks": []})
        if not quiet:
            print(f"noregret: the receipt does not stand: {sentence}", file=sys.stderr)
        raise typer.Exit(1) from None
    if json:
        checks = [{"what": what, "claimed": claimed, "found": again} for what, claimed, again in done.checks]
        _print({"stands": True, "failed": None, "checks": checks})
    elif not quiet:
        from noregret.cli.show import table

        table([(what, _shown(claimed)) for what, claimed, _ in done.checks], ("recomputed", "stands"))
        print(f"\nthe receipt stands: {len(done.checks)} claims recomputed")


def _shown(claimed: object) -> str:
    from noregret.cli.show import number

    if claimed is True or isinstance(claimed, dict | list):
        return "yes"
    return number(float(claimed)) if isinstance(claimed, int | float) else str(claimed)[:24]


def _print(answer: dict[str, object]) -> None:
    import msgspec

    print(msgspec.json.encode(answer).decode())
