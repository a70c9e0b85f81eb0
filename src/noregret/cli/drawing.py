"""`--plot` and `--picture`: which picture is meant, and whether it can be drawn, said before the work begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.stream import Stream

MOVING = "updates"  # the kind that has frames
PLANAR = ("boundary", MOVING)  # kinds that are drawn among rows of two features
CONE = "starts"  # the kind that is drawn in the plane of two weights
OF_PERCEPTRON = ("lifting", "surrogate")  # kinds that are drawn from the rows of a perceptron's run
TANGENT = "tangent"  # the kind that is drawn from the rows and the best model in hindsight


def asked_kind(plot: Path | None, picture: str | None, kinds: tuple[str, ...]) -> str | None:
    """The kind of picture to draw, the first unless another is asked for or the file can only hold frames."""
    from noregret.errors import SettingError

    if plot is None:
        if picture is not None:
            raise SettingError("--picture needs --plot")
        return None
    from noregret.picture.canvas import MOVING as FRAMES
    from noregret.picture.canvas import check_picture

    if picture is not None and picture not in kinds:
        raise SettingError(f"--picture must be one of {', '.join(kinds)}, got {picture!r}")
    framed = plot.suffix.lower() == FRAMES and MOVING in kinds
    kind = picture or (MOVING if framed else kinds[0])
    if framed and kind != MOVING:
        raise SettingError(f"--picture {kind} cannot be animated: only updates can be written to {plot}")
    check_picture(plot, moves=kind == MOVING)
    return kind


def check_plane(source: Stream) -> None:
    """A sentence where the rows that were met so far have not two features."""
    from noregret.errors import SettingError
    from noregret.picture.plane import why_not_plane

    features = source.features
    why = why_not_plane(features) if features.width > 2 or (features.kind == "columns" and features.width) else None
    if why is not None:
        raise SettingError(f"plot: {why}")


def check_cone(source: Stream, bias: bool) -> None:
    """A sentence where the rows that were met so far have not two weights, the bias being one."""
    from noregret.errors import SettingError
    from noregret.picture.starts import not_two

    features = source.features
    known = features.kind == "columns" or (features.kind == "names" and features.width > 0)
    if (known and features.count + bias != 2) or features.width + bias > 3:
        raise SettingError(f"plot: {not_two(features.count + bias)}")


def check_certified(kind: str | None, core: Core, radius: float | None) -> None:
    """A sentence where a receipt of this learner will not hold what the picture shows."""
    from noregret.errors import SettingError
    from noregret.proof.regret import Against

    if kind == "mistakes" and core.regression:
        raise SettingError("--picture mistakes needs class labels: these labels are numbers")
    if kind == "regret" and Against.of(core, radius, core.rounds) is None:
        raise SettingError(f"--picture regret: {core.name} has no regret without a radius: add --radius")


def check_boundary(core: Core) -> None:
    """A sentence where a learner has no boundary between two classes in a plane."""
    from noregret.errors import SettingError
    from noregret.picture.plane import why_no_boundary
    from noregret.run import Run

    why = why_no_boundary(Run.of(core))
    if why is not None:
        raise SettingError(f"plot: {why}")


def check_tangent(core: Core, radius: float | None) -> None:
    """A sentence where there is no best model to draw a tangent towards."""
    from noregret.errors import SettingError
    from noregret.picture.tangent import why_no_best

    why = why_no_best(core, radius)
    if why is not None:
        raise SettingError(f"plot: {why}")


def draw(thing: Any, *streams: Any, kind: str | None, to: Path | None, receipt: Any = None) -> None:
    """Draw what was asked for, if anything was."""
    if to is None:
        return
    from noregret.picture import plot

    plot(thing, *streams, kind=kind, receipt=receipt, to=to)
