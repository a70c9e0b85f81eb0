"""`noregret tour`: four things worth seeing, in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from noregret.cli.signals import stop_code


def tour(
    stop: Annotated[
        str | None,
        typer.Argument(help="One stop: perceptron, adversary, experts or promise (default: all).", metavar="STOP"),
    ] = None,
    auto: Annotated[
        bool, typer.Option("--auto", help="Run without key presses; the optimal learner plays for you.")
    ] = False,
) -> None:
    """Take a tour with four stops: the perceptron, you against the adversary, five experts, regret and its bound.

    Example: noregret tour
    """
    try:
        from noregret.tour import guide

        guide(stop, auto)
    except KeyboardInterrupt:
        print("\ntour stopped; start it again with noregret tour")
        raise typer.Exit(stop_code()) from None
