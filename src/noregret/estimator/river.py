"""River tells classifiers and regressors by their base class: ours are introduced to it when River is there."""

from __future__ import annotations

import sys


def introduce(kind: type, base: str) -> None:
    """Let `isinstance(estimator, river.base.<base>)` hold, without importing River for those who do not use it."""
    river = sys.modules.get("river.base")
    if river is not None:
        getattr(river, base).register(kind)
