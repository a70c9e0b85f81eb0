"""A guided tour of the subject in a terminal: four stops, each a minute."""

from __future__ import annotations

from collections.abc import Callable

from noregret.errors import SettingError
from noregret.tour import adversary, clouds, experts, promise
from noregret.tour.stage import Stage

__all__ = ["STOPS", "Stage", "guide"]

STOPS: dict[str, tuple[str, Callable[[Stage], None]]] = {
    "perceptron": ("The perceptron on two clouds", clouds.show),
    "adversary": ("You against the adversary", adversary.show),
    "experts": ("Five experts", experts.show),
    "promise": ("Regret and its bound", promise.show),
}


def guide(stop: str | None, auto: bool) -> None:
    """One stop, or all of them in order."""
    if stop is not None and stop not in STOPS:
        raise SettingError(f"tour: unknown stop {stop!r}; choose one of {', '.join(STOPS)}")
    stage = Stage(auto)
    wanted = list(STOPS) if stop is None else [stop]
    for place, name in enumerate(wanted, 1):
        title, show = STOPS[name]
        stage.begin(f"{place} of {len(wanted)}: {title}" if stop is None else title)
        show(stage)
        if place < len(wanted):
            stage.wait()
            stage.say("")
