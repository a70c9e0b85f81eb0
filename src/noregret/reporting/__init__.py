"""A report: what a run means, its figures, pictures and theorems in one file that a browser opens and prints."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from noregret import model as models
from noregret.atomic import whole_file
from noregret.errors import ReceiptError, SettingError
from noregret.learner.core import Core
from noregret.proof.blend import BlendReceipt, load_blend
from noregret.proof.receipt import Receipt, decoded, kind_of
from noregret.proof.separation import load_proof
from noregret.proof.watched import WatchedReceipt
from noregret.reporting.html import DAMAGE, Subject
from noregret.reporting.other import blended, separated
from noregret.reporting.page import as_page, cards
from noregret.reporting.run import certified, modelled, same_run
from noregret.reporting.windows import with_watchers
from noregret.run import Run, came_late
from noregret.task.blend import Blend
from noregret.task.separate import Separation
from noregret.watch.late_windows import figures_of

__all__ = ["report"]


def report(*sources: Any, output: str | os.PathLike[str] | None = None) -> str:
    """Make one HTML page from files (receipts, proofs, models) or from receipts, runs, models, blends and separations.

    The page first says what the results mean and what to do; figures, pictures and theorems follow. `output` also
    writes it to that file, whole or not at all. The page needs nothing else: it asks the network for nothing and runs
    no script. A model and the receipt of its run become one section.

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


@dataclass(frozen=True)
class Source:
    """A file's name, or what an object is called, with what was found there."""

    name: str
    found: Any
    digest: str | None = None  # SHA-256 of the file, where there is one
    whole: Any = None  # the object itself, where more can be drawn of it than of its receipt


def subjects(given: Sequence[Any]) -> list[Subject]:
    """One section for every run, blend and proof; a model and the receipt of its run share one."""
    sources = [_source(one, place) for place, one in enumerate(given, 1)]
    runs = [one for one in sources if isinstance(one.found, Run)]
    made: list[tuple[Source, Source | None]] = []
    used: set[int] = set()
    for one in sources:
        if isinstance(one.found, Receipt):
            model = next((run for run in runs if _same(one, run)), None)
            used |= set() if model is None else {id(model)}
            made.append((one, model))
        elif not isinstance(one.found, Run):
            made.append((one, None))
    alone = [(one, None) for one in runs if id(one) not in used]
    order = {id(one): place for place, one in enumerate(sources)}
    return [_subject(one, model) for one, model in sorted([*made, *alone], key=lambda pair: order[id(pair[0])])]


def _same(receipt: Source, model: Source) -> bool:
    try:
        return same_run(receipt.found, model.found)
    except DAMAGE as error:
        raise _damaged(receipt, error) from error


def _subject(source: Source, model: Source | None) -> Subject:
    try:
        made = _made(source, model)
        made = made if source.whole is None else replace(made, drawn=(source.whole, *made.drawn))
        cards([*made.certificates, *made.promised])  # what cannot be shown is said here, with the file's name
    except DAMAGE as error:
        raise _damaged(source, error) from error
    return made


def _made(source: Source, model: Source | None) -> Subject:
    name, found = source.name, source.found
    if isinstance(found, Receipt):
        run, beside = (None, "") if model is None else (model.found, model.name)
        return certified(name, found, run, source.digest, beside)
    if isinstance(found, Run):
        return modelled(name, found)
    if isinstance(found, WatchedReceipt):
        made = certified(name, found.run, None, source.digest, "")
        return with_watchers(made, found.watched)
    return (blended if kind_of(found) == "blend" else separated)(name, found, source.digest)


def _damaged(source: Source, error: Exception) -> ReceiptError:
    return ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", source.name, failed=True)


def _source(given: Any, place: int) -> Source:
    if isinstance(given, str | os.PathLike):
        return _file(os.fspath(given))
    if isinstance(given, Blend):
        return Source(f"blend {place}", given.receipt().to_dict(), whole=given)
    if isinstance(given, BlendReceipt):
        return Source(f"blend {place}", given.to_dict())
    if isinstance(given, Separation):
        return Source(f"proof {place}", given.proof())
    if isinstance(given, Receipt | WatchedReceipt):
        return Source(f"receipt {place}", given)
    if isinstance(given, Run):
        return Source(f"run {place}", given)
    core = getattr(given, "core", given)
    if isinstance(core, Core):
        return Source(f"model {place}", Run.of(core, windows=figures_of(core)))
    what = "files, receipts, runs, models, blends or separations"
    raise SettingError(f"report: takes {what}, got {type(given).__name__}")


LATE = "labels came late, of which there is no report: learn prints its figures"
NO_PAGE = {  # kinds of receipts that are not drawn, and what shows them
    "late": f"a run whose {LATE}, and noregret verify checks it",
    "ledger": "ledgers, which has no page: noregret merge shows it",
    "cluster": "a run on shards, which has no page: noregret verify shows it",
    "period": "a period of a service, which has no page: the service shows it, and noregret verify --chain checks it",
}


def _file(name: str) -> Source:
    """A model file or a receipt of any kind, its checksum checked."""
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise ReceiptError(f"cannot be read: {error.strerror}", name) from error
    digest = hashlib.sha256(data).hexdigest()
    if data.startswith(models.MAGIC):
        core, _ = models.load(name)
        if came_late(core):
            raise ReceiptError(f"is a model whose {LATE}", name)
        return Source(name, Run.of(core, windows=figures_of(core)), digest)
    kind = kind_of(decoded(name), name)
    if kind in NO_PAGE:
        raise ReceiptError(f"is the receipt of {NO_PAGE[kind]}", name)
    load = {"run": Receipt.load, "blend": load_blend, "separation": load_proof, "watched": WatchedReceipt.load}[kind]
    return Source(name, load(name), digest)
