"""`noregret keygen`: a pair of keys to sign receipts with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def keygen(
    private: Annotated[Path, typer.Option(help="The file of the private key: keep it.")] = Path("private.pem"),
    public: Annotated[Path, typer.Option(help="The file of the public key: hand it out.")] = Path("public.pem"),
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Make a pair of Ed25519 keys; no file is replaced.

    Example: noregret keygen --private audit.pem --public audit.public.pem
    """
    from noregret.proof.sign import make_keys

    name = make_keys(private, public)
    if not quiet:
        print(f"key {name}")
        print(f"private, to sign with: {private}")
        print(f"public, to check with: {public}")
