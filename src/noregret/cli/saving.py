"""Saving the model: at the end, and while it is learned as often as `--every` says."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from noregret.errors import SettingError
from noregret.snapshots import Snapshots

if TYPE_CHECKING:
    from noregret.learner import Core


class Saving:
    """The file that the model of this run is in.

    Where another process has saved to the same name since it was read or written here, that file stays, and this one
    is written beside it.
    """

    def __init__(self, path: Path, resume: Path | None) -> None:
        self.path = path  # where it is now
        same = resume is not None and os.path.realpath(resume) == os.path.realpath(path)
        self._since = self._seal() if same else None

    def __call__(self, core: Core) -> None:
        from noregret import model

        self.path = model.save(core, self.path, since=self._since)
        self._since = self._seal()

    def _seal(self) -> bytes | None:
        from noregret import model

        return model.seal(self.path)


def often(text: str) -> tuple[int | None, float | None]:
    """Rows, or seconds, between two snapshots.

    >>> often("10000"), often("2.5s")
    ((10000, None), (None, 2.5))
    """
    try:
        if text.endswith("s"):
            seconds = float(text.removesuffix("s"))
            if 0.0 < seconds < math.inf:
                return None, seconds
        elif int(text) > 0:
            return int(text), None
    except ValueError:
        pass
    raise SettingError(f"--every must be a number of rows such as 10000, or of seconds such as 10s; got {text!r}")


def snapshots(every: str | None, saving: Callable[[Core], None] | None, core: Core) -> Snapshots | None:
    """What saves the model meanwhile, if that was asked for."""
    if every is None or saving is None:
        return None
    rows, seconds = often(every)
    return Snapshots(lambda: saving(core), rows, seconds)
