"""Predictions: comma-separated text, a line a round. A file is written whole or not at all; what has no whole, a pipe,
a terminal, standard output, gets every line as soon as it is known.

The lines of a run whose prediction is not the label are its mistakes, one for one: a tie that counts as a mistake has
no prediction.
"""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.atomic import descriptor, has_whole, whole_file
from noregret.learner import Core, Selected
from noregret.learner.sure import Sure, intervals, words
from noregret.loss import probability, softmax
from noregret.stream.block import Block
from noregret.stream.scheme import is_broker

Vector = NDArray[np.float64]
Places = NDArray[np.int64]
TIED = {0.0: -1, 1.0: 1, -1.0: 0}  # the class of a score of 0 by what `tie` counts it as: none, the second, the first


@contextmanager
def answers(path: str | Path | None) -> Iterator[tuple[IO[bytes], bool]]:
    """What to write predictions to, and whether a reader may be waiting for them; `-` is standard output."""
    place = named(path)
    if place is None:
        sys.stdout.flush()
        with _buffered(sys.stdout.buffer) as file:
            yield file, True
    else:
        with whole_file(place) as file:
            yield file, not has_whole(place)


@contextmanager
def _buffered(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """The output with a buffer, also where Python was started without any: a line would be a call of the system."""
    if not isinstance(file, io.RawIOBase):
        yield file
        return
    made = io.BufferedWriter(file)
    try:
        yield made
    finally:
        made.detach()


def named(path: str | Path | None) -> Path | None:
    """The file that is meant; None for `-`, and for the stream of a broker."""
    return None if path is None or str(path) == "-" or is_broker(str(path)) else Path(path)


def on_standard_output(path: str | Path | None) -> bool:
    """Whether predictions take the place of what else is printed there."""
    place = named(path)
    return str(path) == "-" or (place is not None and descriptor(place) == 1)


class Predictions:
    """Writes `row,label,score,prediction`: the place of each row, its label, and what was said before it was known.

    Of many classes the score is that of the class predicted. If the loss is of probabilities, or they are calibrated,
    there is a column `probability`: that of the positive label, or of the class predicted. A learner with `cover` has
    columns `lower` and `upper` of an interval, `inf,-inf` where it is empty; or `set`, the labels separated by `|`, the
    most probable first, `{}` where there is none. They are blank before there are sets. Without `labels` rows were not
    played, and nothing is left without a prediction. `at_once` hands on the lines of a block before the next is read.
    """

    def __init__(self, file: IO[bytes], core: Core, labels: bool, at_once: bool = False) -> None:
        import csv

        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        self._writer = csv.writer(self._text, lineterminator="\n")
        self._core = core
        self._labels = labels
        votes = isinstance(core, Selected) and len(core.votes) > 1
        sure = self._sure = core.sure
        calibrated, covers = (
            sure is not None and sure.calibration is not None,
            sure is not None and sure.cover is not None,
        )
        self._probability = (core.loss.probabilistic or calibrated) and not votes
        named = {"row": True, "label": labels, "score": True, "probability": self._probability, "prediction": True}
        named |= dict.fromkeys(columns_of(core), covers)
        self._writer.writerow([name for name, wanted in named.items() if wanted])
        self._at_once = at_once
        self._hand_on()

    def write(self, block: Block, scores: Vector, y: Vector | None = None) -> None:
        """The rounds of a block, y their labels as codes; rows of weight 0 were no rounds and are left out."""
        chances = self._chances(scores) if self._probability else scores
        sets = self._sets(scores)
        scores, said = self._predicted(scores)
        played = np.flatnonzero(~np.isnan(scores))
        scores, said = scores[played], None if said is None else said[played]
        labels = [shown(label) for label in block.labels[played].tolist()] if self._labels else None
        columns: list[Any] = [block.lines[played].tolist(), *([] if labels is None else [labels])]
        columns.append([repr(score) for score in scores.tolist()])
        if self._probability:
            columns.append([repr(p) for p in chances[played].tolist()])
        columns.append(columns[-1] if said is None else self._words(said, labels, None if y is None else y[played]))
        if sets is not None:
            columns += self._shown_sets(sets, played, labels, y)
        self._writer.writerows(zip(*columns, strict=True))
        self._hand_on()

    def _hand_on(self) -> None:
        if self._at_once:
            self._text.flush()

    def _chances(self, scores: Vector) -> Vector:
        """The probability of +1, or of many classes that of the class that is said."""
        if scores.ndim == 1 and self._sure is not None:
            return probability(self._odds(self._sure, scores))
        if scores.ndim == 1:
            return probability(scores)
        return arithmetic.exp(scores[:, 2]) if self._labels else softmax(scores).max(axis=1)

    def _predicted(self, scores: Vector) -> tuple[Vector, Places | None]:
        """One score a row, and the place of the class that it says, −1 for none; None where labels are numbers."""
        if self._core.labels is None:
            return scores, None
        if scores.ndim == 1:
            said = (scores > 0.0).astype(np.int64)
            if self._labels:  # of rounds a score of 0 says what it counted as
                said[scores == 0.0] = TIED[float(self._core.config["tie"][0])]
            return scores, said
        if self._labels:  # a round: its margin, the class predicted, its score
            return scores[:, 2], np.nan_to_num(scores[:, 1], nan=-1.0).astype(np.int64)
        said = scores.argmax(axis=1)
        return scores[np.arange(len(scores)), said], said

    def _words(self, said: Places, labels: list[str] | None, y: Vector | None) -> list[str]:
        """The classes as words: the row's own label where it is that class, for it may be spelled in several ways."""
        assert self._core.labels is not None
        names = [*(shown(label) for label in self._core.labels.classes), ""]
        found = [names[place] for place in said.tolist()]
        if labels is None or y is None:
            return found
        right = (said == self._core.labels.index(y)).tolist()
        return [label if hit else word for label, word, hit in zip(labels, found, right, strict=True)]

    def _odds(self, sure: Sure, scores: Vector) -> Vector:
        """Log-odds of rows: of rounds as they were when the row was played."""
        return sure.odds if self._labels else sure.chances(scores)

    def _sets(self, scores: Vector) -> Any:
        """An interval a row, or for each row 1 − p of the classes and the threshold; None where none were asked for."""
        sure = self._sure
        if sure is None or sure.cover is None:
            return None
        q = sure.thresholds if self._labels else np.full(len(scores), sure.q)
        if sure.regression:
            return intervals(scores, q)
        if scores.ndim == 1:
            others: Any = sure.all_others(self._odds(sure, scores))
        else:
            others = sure.others if self._labels else sure.all_others(scores)
        return others, q

    def _shown_sets(self, sets: Any, played: Places, labels: list[str] | None, y: Vector | None) -> list[list[str]]:
        """The columns of the sets of rounds."""
        if isinstance(sets, np.ndarray):
            return [["" if math.isnan(end) else repr(end) for end in ends] for ends in sets[played].T.tolist()]
        assert self._core.labels is not None
        (others, q), found = sets, []
        names = [shown(label) for label in self._core.labels.classes]
        places = None if y is None else self._core.labels.index(y).tolist()
        for i, row in enumerate(played.tolist()):
            own = names if labels is None or places is None else [*names]
            if labels is not None and places is not None:
                own[places[row]] = labels[i]  # its label as the row spells it
            found.append("" if math.isnan(q[row]) else as_set(words(others[row].tolist(), q[row], own)))
        return [found]

    def close(self) -> None:
        self._text.flush()
        self._text.detach()


def columns_of(core: Core) -> tuple[str, ...]:
    """The columns that sets take."""
    return ("lower", "upper") if core.regression else ("set",)


def as_set(labels: list[str]) -> str:
    """Labels in one cell; a `|` within one of them stands behind a backslash.

    >>> as_set(["yes", "no"]), as_set(["a|b"]), as_set([])
    ('yes|no', 'a\\\\|b', '{}')
    """
    return "|".join(label.replace("\\", "\\\\").replace("|", "\\|") for label in labels) if labels else "{}"


def as_line(cells: list[str]) -> bytes:
    """A line of comma-separated text."""
    import csv

    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def shown(label: Any) -> str:
    """A label as people write it: 1, not 1.0."""
    if label is None:
        return ""
    return repr(label).removesuffix(".0") if isinstance(label, float) else str(label)
