"""A report: what was run, its figures, its pictures and its theorems in one file that a browser opens and prints."""

from __future__ import annotations

import os
from typing import Any

from noregret.atomic import whole_file
from noregret.errors import SettingError
from noregret.reporting.page import as_page
from noregret.reporting.sources import subjects

__all__ = ["report"]


def report(*sources: Any, output: str | os.PathLike[str] | None = None) -> str:
    """The report of files (receipts, proofs, models) or of receipts, runs, models, blends and separations, as HTML.

    With `output` it is also written there, whole or not at all. The page holds all that it needs: it asks the network
    for nothing and runs no script. A model and the receipt of its run become one section.

    >>> from noregret.learner import Perceptron
    >>> from noregret.protocol import play
    >>> text = report(play(Perceptron(), ([[1.0], [-1.0]], [1, -1])))
    >>> "perceptron" in text, "<script" in text
    (True, False)
    """
    if not sources:
        raise SettingError("report: needs at least one receipt, run or model")
    text = as_page(subjects(sources))
    if output is not None:
        with whole_file(output) as file:
            file.write(text.encode())
    return text
