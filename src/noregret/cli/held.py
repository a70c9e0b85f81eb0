"""A line on stderr about rows that have come and wait for others before they are answered.

It is for people who wait. A program that writes rows without a pause does not need it.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from noregret.errors import spelled
from noregret.stream.labels import Labels
from noregret.stream.pieces import PATIENCE
from noregret.stream.task import LOOKED_AT

if TYPE_CHECKING:
    from noregret.learner import Core

TASK = f"the task is recognised from the first {LOOKED_AT:,} rows: give --task binary, multiclass or regression"


class Held:
    """Called when a source is silent; says once why rows are held, if they are."""

    def __init__(self, task_known: bool) -> None:
        self.core: Core | None = None  # the learner, once it is known
        self._task_known = task_known
        self._since: float | None = None
        self._said = False

    def __call__(self, why: str) -> None:
        if why and not self._task_known:
            why = f"{why}; and add --task TASK"
        why = why or self._why()
        if why and self._since is None:
            self._since = time.monotonic()
        if why and not self._said and time.monotonic() - (self._since or 0.0) >= PATIENCE:
            self._said = True
            with suppress(OSError):  # nowhere to say it
                print(f"noregret: the first rows are held: {why}", file=sys.stderr, flush=True)

    def _why(self) -> str:
        if self.core is None:
            return "" if self._task_known else TASK
        if isinstance(self.core.labels, Labels) and self.core.labels.waits:
            return f"they have one label so far: say which is positive with {spelled('positive', 'LABEL')}"
        return ""
