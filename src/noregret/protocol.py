"""The one loop: predict, suffer, update, block after block. Every front door plays through `play`.

A round is a row with a label and a weight other than 0. Labels are encoded in one pass: rows are held back only
while it cannot be known which of two labels is which.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.digest import Digest
from noregret.errors import DivergedError, InputError, MemoryShortError, SettingError, spelled
from noregret.guarded import Guarding, set_guard
from noregret.learner.core import Core, Segment
from noregret.learner.selected import REFUSAL
from noregret.memory import free_memory, shortage
from noregret.rounds import Keeper, Keepers
from noregret.run import Run
from noregret.seen import Again, Repeats, Seen
from noregret.setting import check_weights
from noregret.snapshots import Snapshots
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.block import Block, Sparse
from noregret.stream.cells import as_text
from noregret.stream.features import Features
from noregret.stream.labels import Labels, same
from noregret.stream.rowfile import reorderable, rereadable, shuffled
from noregret.windowed import Windowing, in_windows, set_windows

Vector = NDArray[np.float64]
Watcher = Callable[[Block, Vector, Vector], None]  # a block, its labels as ±1 or numbers, its scores


class Playable(Protocol):
    """Whatever has a core: the learners themselves, and the scikit-learn estimators around them."""

    @property
    def core(self) -> Core: ...


def play(
    learner: Playable,
    stream: Any,
    *,
    passes: int = 1,
    shuffle: int | None = None,
    mistakes: bool = False,
    digest: bool = False,
    skip_seen: bool = False,
    again: bool = True,
    class_weight: dict[Any, float] | None = None,
    keep: Keeper | None = None,
    most: int | None = None,
    watch: Watcher | None = None,
    stop: Callable[[], bool] = lambda: False,
    cut: Callable[[], bool] | None = None,
    snapshots: Snapshots | None = None,
    alarm: Guarding | None = None,
    windows: Windowing | None = None,
) -> Run:
    """Play the stream's rows as rounds, one after another, and say what happened.

    `stream` is a Stream or anything that `read` takes. `shuffle` is the seed of a full permutation, a new one for
    each of the `passes`. `mistakes` keeps the rounds that were mistakes, `digest` takes a digest of the rows,
    `skip_seen` passes over the rows that the learner was given before, after checking that they are the same. Without
    `again` such rows are refused, once they have all been played: use nothing of the learner then. `keep` gathers the
    rounds as they are played, to look back on; `most` ends the play after this number of rows. `watch` is called
    after every block, `stop` before the next; `cut` says at the end whether the stream was, too. `snapshots` says
    when the learner is to be saved meanwhile. `windows` are kept of the rounds: `run.windows` tells of them. An
    estimator's `class_weight` counts unless another is given here; its `passes` and `shuffle` are those of `fit`.

    >>> from noregret.learner import Perceptron
    >>> run = play(Perceptron(), ([[1.0], [1.0], [-1.0]], [1, 1, -1]))
    >>> run.rounds, run.mistakes
    (3, 1)
    """
    core, class_weight = _checked(learner, passes, shuffle, mistakes, class_weight)
    kept = set_windows(windows, core, passes)
    keep = kept if keep is None else keep if kept is None else Keepers(keep, kept)
    guard = set_guard(alarm, core, passes, keep)
    source = read(stream, features=core.features, **as_before(core, stream))
    agree(core, source)
    for watcher in (guard, kept):
        if watcher is not None:
            watcher.go_beside(source, shuffled=shuffle is not None)
    began, before = time.perf_counter(), core.state.copy()
    seen = Seen(core) if skip_seen else None
    repeats = None if again or skip_seen or not core.segments else Repeats(core, source.source)
    so_far = _SoFar(core, seen, repeats, digest or skip_seen or repeats is not None, [] if mistakes else None)
    how: dict[str, Any] = {"shuffle": shuffle, "class_weight": None}
    if class_weight is not None:
        how["class_weight"] = {as_text(key): w for key, w in class_weight.items()}
    stopped, ended = False, True
    rounds = _rounds(core, source, passes, shuffle)
    for turn, block, y in rounds if snapshots is None else snapshots.parts(rounds):
        if so_far.rows == most:
            ended = False
            break
        if most is not None and so_far.rows + len(block) > most:
            left = most - so_far.rows
            block, y, ended = block.slice(0, left), y[:left], False
        weights = row_weights(core, block, y, class_weight)
        if seen is not None and (known := seen.rest(block, y, weights)):
            block, y = block.slice(known, len(block)), y[known:]
            weights = None if weights is None else weights[known:]
            if not len(block):
                continue
        for part, some, weighed, scores, changed in in_windows(core, block, y, weights, keep, guard, kept, _play_block):
            so_far.take(turn, part, some, weighed, scores)
            if watch is not None:
                watch(part, some, scores)
            if changed:
                so_far.change()
                before = core.state.copy()
        if stop():
            stopped, ended = True, False
            break
        if not ended:
            break
        if snapshots is not None and snapshots.due(len(block)) and (repeats is None or repeats.over(so_far.rows)):
            if kept is not None:
                kept.keep()
            _snapshot(snapshots, core, {**so_far.segment(False), **how}, source.source)
    if seen is not None:
        seen.finish(source.source)
    if repeats is not None and ended and so_far.rows and source.rereadable:
        repeats.finish(so_far.rows // passes, (passes, shuffle), _again(core, source, class_weight))
    stopped = stopped or (stop if cut is None else cut)()
    if so_far.rows:
        core.segments.append({**so_far.segment(ended and not stopped), **how})
    _know_all(core, source.source)
    seconds = time.perf_counter() - began
    if kept is not None:
        kept.keep()
    told = None if kept is None else kept.figures
    more = {"digest": so_far.digest, "mistake_bits": so_far.mistake_bits, "windows": told}
    return Run.of(core, before, seconds, stopped=stopped, **more)


class _SoFar:
    """What a call of `play` has played so far, and what it keeps of that."""

    def __init__(
        self,
        core: Core,
        seen: Seen | None,
        repeats: Repeats | None,
        digested: bool,
        missed: list[NDArray[np.bool_]] | None,
    ) -> None:
        self.rows, self.passes = 0, 0
        self._core, self._seen, self._repeats, self._missed = core, seen, repeats, missed
        self._began, self._changed = core.rounds, False
        self._taken = Digest() if digested else None

    def change(self) -> None:
        """Another learner goes on from here: figures and rounds are those of this one."""
        self._began, self._changed = min(self._began, self._core.rounds), True

    def take(self, turn: int, block: Block, y: Vector, weights: Vector | None, scores: Vector) -> None:
        """A block that was played."""
        self.rows, self.passes = self.rows + len(block), turn
        if self._repeats is not None and self._taken is not None:
            self._repeats.update(self._taken, block, y, weights)
        elif self._taken is not None:
            self._taken.update(block.rows, y, weights)
        if self._missed is not None:
            self._missed.append(self._core.missed(*_played(scores, y)))

    @property
    def digest(self) -> str | None:
        return None if self._taken is None else self._taken.hexdigest()

    @property
    def mistake_bits(self) -> NDArray[np.uint8] | None:
        """A bit for each round, where they are kept."""
        return None if self._missed is None else np.packbits(np.concatenate([np.zeros(0, bool), *self._missed]))

    def segment(self, ended: bool) -> Segment:
        """What the learner keeps of this call."""
        return {
            "rows": self.rows,
            "skipped": 0 if self._seen is None else self._seen.rows,
            "digest": self.digest,
            "begin": self._began,
            "end": self._core.rounds,
            "passes": self.passes,
            "ended": ended,
            **({"changed": True} if self._changed else {}),
        }


def _checked(
    learner: Any, passes: int, shuffle: int | None, mistakes: bool, class_weight: dict[Any, float] | None
) -> tuple[Core, dict[Any, float] | None]:
    """The learner's core and the weights of the classes, once it is known that what was asked can be."""
    if passes < 1:
        raise SettingError(f"passes must be at least 1, got {passes}")
    if shuffle is not None and shuffle < 0:
        raise SettingError(f"shuffle: the seed must be at least 0, got {shuffle}")
    core = core_of(learner)
    refuse_waiting(core)
    if shuffle is not None and core.ordered:
        why = (
            "rows with lags must keep their order"
            if core.needs_past
            else "rows of a precomputed kernel must keep their order"
        )
        raise SettingError(f"{spelled('shuffle')} must be left out: {why}, got {shuffle}")
    if class_weight is None:
        class_weight = getattr(learner, "class_weight", None)
    if isinstance(class_weight, str):
        raise SettingError(
            f"play: class_weight={class_weight!r} needs all labels at once: use fit, or give the weights"
        )
    if mistakes and core.regression:
        raise SettingError(f"mistakes: the loss {core.loss.name} is for numbers, which are not right or wrong")
    return core, class_weight


def _snapshot(snapshots: Snapshots, core: Core, segment: Segment, source: str) -> None:
    """Take one of the learner as it is after this part of the stream."""
    _know_all(core, source)
    core.segments.append(segment)
    try:
        snapshots.take()
    finally:
        core.segments.pop()


def _know_all(core: Core, source: str) -> None:
    """Named features that no row has touched have weights too."""
    if core.features is not None and core.features.kind == "names":
        try:
            core.know_all()
        except MemoryError as error:
            raise _short_of_memory(core, source, None, error) from error


def refuse_waiting(core: Core) -> None:
    """Rows that wait for their labels would be lost sight of by a run that knows nothing of them."""
    if core.late is not None and core.late["rounds"]:
        count = len(core.late["rounds"])
        raise SettingError(
            f"the model has {count:,} rows that wait for their labels: go on with"
            f" {spelled('events', python='play_late or Pending')}"
        )


def core_of(learner: Any) -> Core:
    if isinstance(learner, type):
        raise SettingError(f"play: give a learner, not its class: {learner.__name__}()")
    if getattr(learner, "holding", False):
        raise SettingError("play: the learner has seen only one of the two labels: call learn_one with the other first")
    core = getattr(learner, "core", None)
    if not isinstance(core, Core):
        raise SettingError(f"play: the first argument must be a learner, got {type(learner).__name__}")
    if not core.learns:
        raise SettingError(REFUSAL)
    return core


def as_before(core: Core, stream: Any) -> dict[str, Any]:
    """A file is read as the files were that the learner has learned from."""
    if not isinstance(stream, str | os.PathLike):
        return {}
    return {key: core.options[key] for key in ("label", "missing") if core.options.get(key) is not None}


def agree(core: Core, stream: Stream) -> None:
    """See to it that the learner and the stream number their features alike."""
    if stream.gapped and core.preparation.means is None:
        if core.rounds:
            raise InputError(
                "missing values cannot become means: the learner has learned from rows without keeping the means",
                stream.source,
            )
        core.fill_missing()
    ours, theirs = core.features, stream.features
    core.single = None  # whoever read the stream may have changed what a column means
    if ours is None:
        core.features = theirs
    elif ours is not theirs:
        if theirs.kind == "names" and not theirs.width:  # dicts name their features as they come
            stream.features = ours
        elif not _alike(ours, theirs):
            raise InputError(
                "the features are not those that the learner knows: read it with features=learner.features",
                stream.source,
            )
        elif ours.kind != "names":
            ours.reach(theirs.width)
            stream.features = ours


def _alike(ours: Features, theirs: Features) -> bool:
    if ours.kind == "columns" and theirs.kind == "columns":
        return ours.width == theirs.width
    if ours.kind == "names" or theirs.kind == "names":
        return ours.same_recipe(theirs)
    return True


def _rounds(core: Core, stream: Stream, passes: int, shuffle: int | None) -> Iterator[tuple[int, Block, Vector]]:
    """Every block of every pass, 1, 2, …, with its labels encoded."""
    rng = None if shuffle is None else np.random.default_rng(shuffle)
    if rng is not None:
        stream = reorderable(stream)
    elif passes > 1:
        stream = rereadable(stream)
    for turn in range(1, passes + 1):
        for block, y in encoded(core, stream if rng is None else shuffled(stream, rng)):
            yield turn, block, y


def _again(core: Core, stream: Stream, class_weight: dict[Any, float] | None) -> Again:
    """The stream's rows as they would be played in this number of passes, in the order of a seed."""

    def rows(passes: int, shuffle: int | None) -> Iterator[tuple[Block, Vector, Vector | None]]:
        for _, block, y in _rounds(core, stream, passes, shuffle):
            yield block, y, row_weights(core, block, y, class_weight)

    return rows


class Blocks(Protocol):
    """Whatever hands over rows in blocks: a stream, or rows that were read already."""

    def blocks(self) -> Iterable[Block]: ...


def encoded(core: Core, stream: Blocks) -> Iterator[tuple[Block, Vector]]:
    """Blocks with labels as −1 and +1, many classes as 0, 1, 2, …, or as the numbers they are for regression."""
    held: list[Block] = []
    for block in stream.blocks():
        if core.labels is None:
            yield block, _real(block)
            continue
        y = core.labels.encode(block)
        if y is None:
            held.append(block)
            continue
        for earlier in held:
            yield earlier, _known(core, earlier)
        held.clear()
        yield block, y
    if core.labels is not None and held:
        core.labels.decide()
        for earlier in held:
            yield earlier, _known(core, earlier)


def _known(core: Core, block: Block) -> Vector:
    assert core.labels is not None
    y = core.labels.encode(block)
    assert y is not None, "both labels were seen"
    return y


def _real(block: Block) -> Vector:
    if block.labels.dtype == object:
        raise InputError(
            f"regression needs numbers as labels, got {block.labels[0]!r}", block.source, int(block.lines[0])
        )
    if not np.isfinite(block.labels).all():
        row = int(np.flatnonzero(~np.isfinite(block.labels))[0])
        raise InputError(f"the label must be finite, got {block.labels[row]}", block.source, int(block.lines[row]))
    return np.ascontiguousarray(block.labels, dtype=np.float64)


def row_weights(core: Core, block: Block, y: Vector, class_weight: dict[Any, float] | None) -> Vector | None:
    weights = block.weights
    if class_weight is None or core.labels is None:
        return weights
    _check_class_weight(class_weight, core)
    by_label = np.array([_weight_of(class_weight, label) for label in core.labels.classes])
    by_class: Vector = by_label[core.labels.index(y)]
    return by_class if weights is None else by_class * weights


def _check_class_weight(class_weight: dict[Any, float], core: Core) -> None:
    check_weights("class_weight", class_weight)
    if not isinstance(core.labels, Labels):
        return  # a class may appear at any time
    labels: tuple[Any, Any] = core.labels.classes
    for key in class_weight:
        if None not in labels and not any(same(key, label) for label in labels):
            raise SettingError(f"class weight: {key!r} is not one of the labels {labels[0]!r} and {labels[1]!r}")


def _weight_of(class_weight: dict[Any, float], label: Any) -> float:
    return next((float(weight) for key, weight in class_weight.items() if same(key, label)), 1.0)


def _play_block(core: Core, block: Block, y: Vector, weights: Vector | None, keep: Keeper | None) -> Vector:
    before = core.rounds
    try:
        return core.play(block.rows, y, weights, keep)
    except DivergedError as error:
        played = np.arange(len(block)) if weights is None else np.flatnonzero(weights)
        error.place(block.source, int(block.lines[played[min(core.rounds - before, len(played) - 1)]]))
        raise
    except MemoryError as error:
        raise _short_of_memory(core, block.source, block, error) from error
    except SettingError as error:
        raise InputError(str(error), block.source, int(block.lines[0])) from error


def _short_of_memory(core: Core, source: str, block: Block | None, error: MemoryError) -> MemoryShortError:
    """Which row, or which setting, needs memory that cannot be had."""
    features, rows, said = core.features, None if block is None else block.rows, shortage(error)
    if features is not None and features.hash_bits is not None:
        free = free_memory()
        left = "" if free is None else f", and {free / 1e9:.1f} GB are free"
        return MemoryShortError(
            f"{source}: {features.hash_bits} hash bits make {features.slots} features: their weights need more memory"
            f" than can be had{left}: read the stream with hash_bits=B and a smaller B"
        )
    if block is None or not isinstance(rows, Sparse) or not len(rows.indices):
        return MemoryShortError(f"{source}: {said}")
    row, feature = rows.row_of(int(rows.indices.argmax()))
    named = said if f"feature {feature} " in said else f"feature {feature}: {said}"
    return MemoryShortError(f"{source}:{int(block.lines[row])}: {named}")


def _played(scores: Vector, y: Vector) -> tuple[Vector, Vector]:
    """The scores and labels of the rows that were rounds."""
    rounds = ~np.isnan(scores if scores.ndim == 1 else scores[:, 0])
    return scores[rounds], y[rounds]
