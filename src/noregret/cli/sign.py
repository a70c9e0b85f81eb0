"""`noregret sign`: who vouches for a receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def sign(
    receipt: Annotated[Path, typer.Argument(help="A receipt or a proof.")],
    key: Annotated[Path, typer.Option(help="The private key, as keygen writes it.")],
    to: Annotated[
        Path | None, typer.Option(help="Where the envelope goes (default: RECEIPT.dsse).", metavar="FILE")
    ] = None,
    previous: Annotated[
        Path | None, typer.Option(help="The receipt before this one, which the signature then names.", metavar="FILE")
    ] = None,
    days: Annotated[
        float | None, typer.Option(help="For how many days the signature counts (default: always).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Sign the bytes of a receipt with Ed25519: a DSSE envelope around an in-toto statement.

    Example: noregret sign spam.receipt.json --key private.pem
    """
    from noregret.proof.sign import sign as sign_receipt

    path = sign_receipt(receipt, key, to=to, previous=previous, days=days)
    if not quiet:
        print(f"signed: {path}")
