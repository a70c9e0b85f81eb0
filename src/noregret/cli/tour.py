"""`noregret tour`: four things worth seeing, in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from noregret.cli.signals import stop_code


def tour(
    stop: Annotated[
        str | None,
        typer.Argument(help="One stop: perceptron, adversary, experts or promise; all unless given.", metavar="STOP"),
    ] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Go on without keys; the adversary gets a player.")] = False,
) -> None:
    """Take a tour of four stops: the perceptron, the adversary against you, five experts, regret against promise.

    Example: noregret tour
    """
    try:
        from noregret.tour import guide

        guide(stop, auto)
    except KeyboardInterrupt:
        print("\nthe tour was left; noregret tour starts it again")
        raise typer.Exit(stop_code()) from None
