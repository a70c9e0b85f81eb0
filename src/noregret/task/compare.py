"""Several learners on the same rounds: the loss of each, its bound, and how far they are apart.

The stream is read once, whatever it is; every learner then plays through `play`, so that each run is the one it would
have been alone. The rounds are kept once for all learners that prepare their rows alike, the scores once a learner.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError, spelled
from noregret.interval import Interval
from noregret.learner import Core
from noregret.learner.lineup import line_up
from noregret.loss import Loss, hinge
from noregret.proof.facts import Facts
from noregret.proof.hindsight import Hindsight
from noregret.proof.solve import best
from noregret.proof.solve.points import gather
from noregret.proof.theorem import Certificate, Verdict
from noregret.proof.theorems import THEOREMS, certificates
from noregret.protocol import Playable, play
from noregret.rounds import Gathering, Rounds
from noregret.run import Run
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.labels import Labels
from noregret.stream.rowfile import Column, reorderable
from noregret.stream.task import Recognised, Task, recognise
from noregret.task.paired import Difference, Played, difference

Vector = NDArray[np.float64]
Watch = Callable[[str, float | None], None]  # what is being done, and how much of it is done, if that is known


@dataclass(frozen=True)
class Contender:
    """One learner's run, with its regret and the certificates of the theorems that speak of it."""

    spec: str
    run: Run
    certificates: tuple[Certificate, ...]
    regret: Interval | None = None  # None without a ball to compare with
    loss: str | None = None  # what the regret is counted in
    hindsight: Hindsight | None = None

    @property
    def bound(self) -> Certificate | None:
        """The tightest bound that holds: on mistakes where the learner has such a theorem, else on the regret."""
        kind = "mistakes" if any(self._kind(one) == "mistakes" for one in self.certificates) else "regret"
        holding = [
            one
            for one in self.certificates
            if one.verdict is Verdict.HOLDS and one.observed is not None and self._kind(one) == kind
        ]
        return min(holding, key=lambda one: one.bound or 0.0, default=None)

    @staticmethod
    def _kind(one: Certificate) -> str:
        """What a theorem bounds."""
        return THEOREMS[one.theorem].title.partition(",")[0]

    @property
    def bounds_mistakes(self) -> bool:
        """Whether `bound` is one on mistakes."""
        return self.bound is not None and self._kind(self.bound) == "mistakes"

    @property
    def broken(self) -> list[str]:
        """Theorems whose bound was exceeded: bugs."""
        return [one.theorem for one in self.certificates if one.verdict is Verdict.BROKEN]

    def to_dict(self) -> dict[str, Any]:
        run = self.run
        return {
            "spec": self.spec,
            "name": run.learner.name,
            "mistakes": run.mistakes,
            "loss": {"name": run.learner.loss.spec, "total": run.loss, "mean": run.sequential_risk},
            "regret": self._regret(),
            "bound": self._bound(),
            "seconds": run.seconds,
        }

    def _regret(self) -> dict[str, Any] | None:
        if self.regret is None or self.hindsight is None:
            return None
        radius = self.hindsight.radius
        return {
            "loss": self.loss,
            "lower": self.regret.lo,
            "upper": self.regret.hi,
            "comparator": {"lower": self.hindsight.lower, "upper": self.hindsight.upper},
            "domain": {"radius": radius if math.isfinite(radius) else str(radius)},
            "finished": self.hindsight.finished,
        }

    def _bound(self) -> dict[str, Any] | None:
        found = self.bound
        if found is None or found.bound is None or found.observed is None:
            return None
        bounds = THEOREMS[found.theorem].title
        return {"theorem": found.theorem, "of": bounds, "value": found.bound, "slack": found.bound - found.observed}


@dataclass(frozen=True, repr=False)
class Comparison:
    """The runs of all learners on the same rounds, each compared with the first."""

    contenders: tuple[Contender, ...]
    differences: tuple[Difference, ...]
    confidence: float
    certified: bool = False  # whether hindsight was solved for
    recognised: Recognised | None = None  # what the first rows showed, where no learner was named
    left_out: tuple[tuple[str, str], ...] = ()  # of the line-up: which learner, and why

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.runs)}: {self.contenders[0].run.rounds} rounds>"

    @property
    def runs(self) -> dict[str, Run]:
        """Each run by the name of its learner."""
        return {one.spec: one.run for one in self.contenders}

    @property
    def best(self) -> Contender:
        """The one with the fewest mistakes; where labels are numbers, with the least mean absolute error."""
        return min(self.contenders, key=lambda one: _rank(one.run))

    @property
    def baselines(self) -> dict[str, float]:
        """The two rules without features, in mistakes; where labels are numbers, in the first learner's loss."""
        return self.contenders[0].run.baselines

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers: what `--json` prints."""
        first = self.contenders[0].run
        return {
            "rounds": first.rounds,
            "features": first.features,
            "learners": [one.to_dict() for one in self.contenders],
            "best": self.best.spec,
            "baselines": self.baselines,
            "differences": [one.to_dict() for one in self.differences],
            "task": None if self.recognised is None else str(self.recognised.task),
            "left_out": [{"learner": name, "reason": reason} for name, reason in self.left_out],
        }


def compare(
    stream: Any,
    learners: Mapping[str, Playable] | Sequence[Playable] | None = None,
    *,
    task: str | None = None,
    positive: Any = None,
    certify: bool = False,
    passes: int = 1,
    shuffle: int | None = None,
    radius: float | None = None,
    gap: float = 1e-4,
    seconds: float = math.inf,
    confidence: float = 0.95,
    watch: Watch | None = None,
) -> Comparison:
    """Run every learner on the rows of a stream, which are read once, and compare the runs.

    `learners` are new learners, by name or in a list. Without any, a line-up for the task is used (two classes, many
    classes or numbers: `task`, or what the first rows show), and the runs are sorted, best first. Differences are
    relative to the first learner: in mean loss if both have the same loss, otherwise in error rate (for numbers: in
    mean absolute error).

    With `certify`, the best model in hindsight is solved for and every theorem evaluated. The regret of each learner is
    then against its own ball; `radius` is the ball for those that have none: a perceptron's regret is that of its
    scores under the hinge loss. The width of a regret interval is at most `gap` times the comparator's loss (or 1),
    unless `seconds` run out first.

    >>> from noregret.learner import OnlineGradientDescent, Perceptron
    >>> rows = [[1.0, 0.5], [-1.0, 0.2], [0.8, -0.3]] * 20, [1, -1, 1] * 20
    >>> found = compare(rows, {"perceptron": Perceptron(), "descent": OnlineGradientDescent(radius=2.0)})
    >>> [run.mistakes for run in found.runs.values()], found.differences[0].figure, found.differences[0].mean
    ([1, 1], 'error rate', 0.0)
    """
    if learners is not None:
        named = _named(learners)
        _check(named, radius, gap, seconds, confidence)
        if task is not None or positive is not None:
            raise SettingError(
                f"compare: {spelled('task')} and {spelled('positive')} are for the default line-up:"
                " omit them or the learners"
            )
    rows = reorderable(_Watched(read(stream), watch) if watch is not None else read(stream))
    seen: Recognised | None = None
    left_out: list[tuple[str, str]] = []
    if learners is None:
        seen = recognise(rows)
        seen = seen if task is None else replace(seen, task=Task.parse(task))
        members, left_out = line_up(seen.task, rows.length or 0, rows.features.count)
        named = {member.spec: _with_labels(member.core(), seen, positive) for member in members}
        _check(named, radius, gap, seconds, confidence)
    played = list(_play(named, rows, passes, shuffle, watch))
    if learners is None:
        played.sort(key=lambda one: _rank(one.run))
    contenders = _certified(played, radius, gap, seconds, watch) if certify else map(_plain, played)
    differences = tuple(difference(played[0], other, confidence) for other in played[1:])
    return Comparison(tuple(contenders), differences, confidence, certify, seen, tuple(left_out))


def _with_labels(core: Core, seen: Recognised, positive: Any) -> Core:
    """A learner of two classes knows both labels from the first row on, where the first rows show them."""
    if positive is not None:
        if not isinstance(core.labels, Labels):
            raise SettingError(f"compare: positive is for two classes, and the labels are of {seen.task.words}")
        core.labels = Labels(positive)
    elif isinstance(core.labels, Labels) and len(seen.labels) == 2:
        pair = Labels.pair(*seen.labels)
        core.labels = core.labels if pair.fixed else pair
    return core


def _rank(run: Run) -> float:
    """What matters of a run, the less the better."""
    return float(run.metrics["mae"]) if run.mistakes is None else float(run.mistakes)


def _plain(one: Played) -> Contender:
    return Contender(one.spec, one.run, ())


def _named(learners: Mapping[str, Playable] | Sequence[Playable]) -> dict[str, Playable]:
    """The learners by name; in a list those of one name are numbered."""
    for one in learners.values() if isinstance(learners, Mapping) else learners:
        if not hasattr(one, "core"):
            raise SettingError(f"compare: learners must be learners, for example noregret.Perceptron(), got {one!r}")
    if isinstance(learners, Mapping):
        return dict(learners)
    found: dict[str, Playable] = {}
    for learner in learners:
        name = learner.core.name
        count = sum(other.core.name == name for other in found.values())
        found[f"{name} {count + 1}" if count else name] = learner
    return found


def _check(
    learners: Mapping[str, Playable], radius: float | None, gap: float, seconds: float, confidence: float
) -> None:
    if not learners:
        raise SettingError("compare: needs at least one learner")
    cores = [learner.core for learner in learners.values()]
    for name, core in zip(learners, cores, strict=True):
        if core.rounds:
            raise SettingError(f"compare: the learner {name!r} has played before: give a new one")
    if len(set(map(id, cores))) < len(cores):
        raise SettingError("compare: the same learner is given twice")
    numbers, classes = ([core for core in cores if core.regression is kind] for kind in (True, False))
    if numbers and classes:
        pair = f"{numbers[0].loss.name} is for numbers, the loss {classes[0].loss.name} for two classes"
        raise SettingError(f"compare: the loss {pair}: one stream cannot be both")
    if len({core.tally() is None for core in cores if not core.regression}) > 1:
        raise SettingError("compare: some learners are for two classes, some for many: one stream cannot be both")
    if radius is not None and any(core.tally() is not None for core in cores):
        raise SettingError("compare: learners for many classes have no radius: omit it")
    if len({str(getattr(learner, "class_weight", None)) for learner in learners.values()}) > 1:
        raise SettingError("compare: the learners must have the same class_weight: they play the same rounds")
    if radius is not None and not 0.0 < radius < math.inf:
        raise SettingError(f"compare: radius must be positive and finite, got {radius}")
    if not 0.0 < gap < math.inf:
        raise SettingError(f"compare: gap must be positive and finite, got {gap}")
    if not seconds > 0.0:
        raise SettingError(f"compare: seconds must be positive, got {seconds}")
    if not 0.0 < confidence < 1.0:
        raise SettingError(f"compare: confidence must lie between 0 and 1, got {confidence}")


class _Watched(Stream):
    """A stream's blocks as they are, and somebody told of each."""

    def __init__(self, stream: Stream, watch: Watch) -> None:
        super().__init__(stream.source, stream.features, None, length=stream.length, rereadable=stream.rereadable)
        self.gapped = stream.gapped
        self._stream = stream
        self._watch = watch

    def _read(self) -> Iterator[Block]:
        rows = 0
        for block in self._stream.blocks():
            yield block
            rows += len(block)
            self._watch(f"reading: {rows:,} rows", self._stream.fraction())


def _play(
    learners: Mapping[str, Playable], rows: Stream, passes: int, shuffle: int | None, watch: Watch | None
) -> Iterator[Played]:
    """Every learner on the same rows."""
    gathered: dict[tuple[Any, ...], Rounds] = {}
    for name, learner in learners.items():
        core = learner.core
        alone = name if core.tally() is not None else None  # of many classes it is also kept which weights moved
        made = core.preparation
        prepared = (float(core.config["bias"][0]), made.unit_norm, tuple(made.settings_in_words), alone)
        keep = Gathering(bool(prepared[0])) if prepared not in gathered else None
        scores = _Scores(name, core, (rows.length or 0) * passes, watch)
        try:
            run = play(learner, rows, passes=passes, shuffle=shuffle, keep=keep, watch=scores.take)
        except BaseException:
            scores.done()
            if keep is not None:
                keep.close()
            raise
        predicted = scores.done()
        if keep is not None:
            gathered[prepared] = keep.done()
        if not run.rounds:
            raise SettingError("compare: no round was played: every weight is 0")
        yield Played(name, run, replace(gathered[prepared], scores=predicted))


class _Scores:
    """The scores of one run, on disk; rows of weight 0 were no rounds and have none."""

    def __init__(self, name: str, core: Core, rows: int, watch: Watch | None) -> None:
        self._name = name
        self._core = core
        self._rows = rows
        self._watch = watch
        self._column = Column(np.float64)

    def take(self, block: Block, y: Vector, scores: Vector) -> None:
        self._column.append(scores[~np.isnan(scores if scores.ndim == 1 else scores[:, 0])])
        if self._watch is not None:
            fraction = self._core.rounds / self._rows if self._rows else None
            self._watch(f"{self._name}: {self._core.rounds:,} rounds", fraction)

    def done(self) -> Vector:
        self._column.map()
        outputs = self._core.outputs
        return self._column.array if outputs == 1 else self._column.array.reshape(-1, outputs)


def _certified(
    played: Sequence[Played], radius: float | None, gap: float, seconds: float, watch: Watch | None
) -> Iterator[Contender]:
    """Regret and theorems of every run; equal questions about hindsight are asked once, and the time is shared."""
    asked: dict[tuple[Any, ...], Hindsight] = {}
    deadline = time.perf_counter() + seconds
    for place, one in enumerate(played):
        if watch is not None:
            watch(f"{one.spec}: the best model in hindsight", place / len(played))
        share = max(deadline - time.perf_counter(), 0.0) / (len(played) - place)
        against = _against(one.core, radius, len(one.rounds))
        found = None
        if against is not None:
            key = (id(one.rounds.rows), *against)
            if key not in asked:
                asked[key] = best(one.rounds, *against, gap=gap, seconds=share / 2)
            found = asked[key]
        # A perceptron's theorems ask for four more comparators.
        facts = gather(Facts(one.run, one.rounds, found), gap=gap, seconds=share / 8)
        loss = None if against is None else against[0].spec
        yield Contender(one.spec, one.run, tuple(certificates(facts)), facts.regret, loss, found)


def _against(core: Core, radius: float | None, rounds: int) -> tuple[Loss, float, float] | None:
    """The loss, the radius and σ of the comparators: the learner's own ball, or the one asked for where it has none."""
    if not core.weighs_features:
        return None  # its comparators live in the space of its kernel
    if not core.domain.fits_ball:
        return None  # the best comparator of the domain is not solved for
    if not core.loss.convex:
        return None if radius is None else (hinge(), radius, 0.0)
    own, sigma = core.domain.radius, core.comparator_sigma(rounds)
    if math.isinf(own) and radius is not None:
        own = radius
    return (core.loss, own, sigma) if math.isfinite(own) or sigma else None
