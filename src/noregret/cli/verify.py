"""`noregret verify`: does a receipt stand?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from noregret.cli.arguments import Cache, Threads
from noregret.cli.terminal import put_json


def verify(
    receipt: Annotated[
        Path | None,
        typer.Argument(
            help="A receipt written with --receipt, or a proof written by separate --proof.", metavar="RECEIPT"
        ),
    ] = None,
    streams: Annotated[
        list[str] | None,
        typer.Argument(help="The streams that the run was trained on, in order.", metavar="STREAM..."),
    ] = None,
    chain: Annotated[
        Path | None,
        typer.Option(
            help="Check the receipts of a served model, which are a chain, by playing its log again; FOLDER is the"
            " model's.",
            metavar="FOLDER",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Also list the claims that are not numbers, such as parts that must match."),
    ] = False,
    public: Annotated[
        Path | None, typer.Option(help="Also check who signed it: a public key, as keygen writes it.", metavar="FILE")
    ] = None,
    envelope: Annotated[
        Path | None, typer.Option(help="With --public: the signature (default: RECEIPT.dsse).", metavar="FILE")
    ] = None,
    previous: Annotated[
        Path | None, typer.Option(help="With --public: the receipt that must come before it.", metavar="FILE")
    ] = None,
    threads: Threads = None,
    cache: Cache = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing; the exit code is the answer.")] = False,
) -> None:
    """Replay the run and recompute every number of a receipt; exit 1 and name the first that is wrong.

    Example: noregret verify spam.receipt.json spam.svm.gz
    """
    from noregret.cli.certify import read_again
    from noregret.cli.terminal import telling
    from noregret.errors import ReceiptError, SettingError
    from noregret.proof.receipt import Receipt, decoded, kind_of
    from noregret.proof.sign import check_signature
    from noregret.proof.verify import verify as verify_receipt
    from noregret.service.chain import verify_chain

    if public is None and (envelope or previous):
        raise SettingError(f"--{'envelope' if envelope else 'previous'} goes with --public")
    if public is not None and (chain is not None or receipt is None):
        raise SettingError("--public checks the signature of a receipt, not of a chain")
    vouched, told = None, list[str]()
    try:
        if public is not None and receipt is not None:
            vouched = check_signature(receipt, public, envelope=envelope, previous=previous)
        if chain is not None:
            _check_alone(receipt, threads, cache)
            with telling("playing the log again", quiet):
                done, told = verify_chain(chain)
        elif receipt is None or not streams:
            raise SettingError(f"verify needs {'RECEIPT and ' if receipt is None else ''}STREAM, or --chain FOLDER")
        elif kind_of(decoded(receipt), str(receipt)) != "run":
            if cache:
                raise SettingError("--cache works only with receipts of learners")
            with telling("recomputing the receipt", quiet):
                done = verify_receipt(receipt, *streams)
        else:
            found = Receipt.load(receipt)
            again = [read_again(stream, found.reading, threads, cache) for stream in streams]
            with telling("replaying the run", quiet):
                done = verify_receipt(found, *again)
    except ReceiptError as error:
        if not error.failed:
            raise
        sentence = " ".join(str(error).split())
        if json:
            put_json({"stands": False, "failed": sentence, "checks": []})
        if not quiet:
            print(f"noregret: verification failed: {sentence}", file=sys.stderr)
        raise typer.Exit(1) from None
    if json:
        checks = [{"what": what, "claimed": claimed, "found": found_now} for what, claimed, found_now in done.checks]
        signed = {} if vouched is None else {"signed": vouched}
        more = {**signed, **({"told": told} if chain is not None else {})}
        put_json({"stands": True, "failed": None, "checks": checks, **more})
    elif not quiet:
        from noregret.cli.show import table

        table([row for row in _rows(done.checks) if verbose or row[1] != "yes"], ("what", "claimed"))
        print(
            "\n".join(["", *told, f"{'chain' if chain else 'receipt'} verified: {len(done.checks)} claims recomputed"])
        )
        if vouched is not None:
            print(f"signature verified: signed {vouched['signed']} by the key in {public}")


def _check_alone(receipt: Path | None, threads: int | None, cache: bool) -> None:
    """Refuse what says nothing of a chain."""
    from noregret.errors import SettingError

    for name, given in {"RECEIPT": receipt is not None, "--threads": threads is not None, "--cache": cache}.items():
        if given:
            raise SettingError(f"{name} cannot be used with --chain: leave it out")


def _rows(checks: list[tuple[str, Any, Any]]) -> list[tuple[str, str]]:
    """A line for every claim; the two ends of an interval are one."""
    rows: list[tuple[str, str]] = []
    for what, claimed, _ in checks:
        shown = _shown(what, claimed)
        if rows and " at most" in what and rows[-1][0] == what.replace(" at most", " at least"):
            low = rows.pop()[1]
            rows.append((what.replace(" at most", ""), low if low == shown else f"{low} to {shown}"))
        else:
            rows.append((what, shown))
    return rows


def _shown(what: str, claimed: object) -> str:
    from noregret.summary import at_least, at_most, number

    if isinstance(claimed, list) and "verdict" in what:  # of a theorem that claims nothing, with its empty figures
        return str(claimed[0])
    if isinstance(claimed, bool | dict | list):
        return "no" if claimed is False else "yes"
    if isinstance(claimed, int | float):
        if "at least" in what:
            return at_least(float(claimed))
        return at_most(float(claimed)) if "bound" in what or "at most" in what else number(float(claimed))
    if claimed is None and "observed" in what:
        return "–"
    text = "not checkable" if claimed is None and "verdict" not in what else str(claimed)
    return text if len(text) <= 24 else f"{text[:23]}…"
