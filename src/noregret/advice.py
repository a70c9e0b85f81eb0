"""What the figures of a run suggest to try next: at most three lines, each a finding and the options that follow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from noregret._native import WINDOW
from noregret.learner import LEARNERS
from noregret.learner.default import MATRIX, task_of
from noregret.run import Run
from noregret.stream.task import Recognised, Task
from noregret.summary import number, share

MOST = 3
LEAST = 50  # rounds before a comparison with a baseline says something
APART = 1000.0  # columns whose sizes differ by more than this factor
MANY = 10  # whole numbers of more values than this may be amounts rather than classes
SURE = 4.0  # standard deviations by which the last rounds must be worse than those before


@dataclass(frozen=True, slots=True)
class Advice:
    """A finding, and what to run: options of `learn`, or, None, `compare`."""

    finding: str
    options: str | None


def advice(run: Run, seen: Recognised | None = None, task_given: bool = True) -> list[Advice]:
    """The most useful advice on a run first; `seen` is what its first rows showed."""
    found: list[Advice] = []
    rules = [_sorted(run), _numeric(seen, task_given)]
    if run.members is None:  # a mixture has members that follow labels and changes, and that scale columns
        rules += [_baseline(run), _drift(run), _sizes(run, seen)]
    for rule in rules:
        found += [one for one in rule if one.options is None or one.options not in [other.options for other in found]]
    return found[:MOST]


def _sorted(run: Run) -> Iterator[Advice]:
    """Labels that come class after class: as many changes as there are classes."""
    classes = 2 if run.tally is None else len(run.tally["labels"])
    unshuffled = all(segment["shuffle"] is None for segment in run.learner.segments)
    if run.mistakes is None or run.rounds < max(LEAST, 10 * classes) or not unshuffled:
        return
    if run.baselines["last_label"] == classes and run.baselines["majority_label"]:
        yield Advice("the rows are sorted by label, so the learner sees one class at a time", "--shuffle 0")


def _numeric(seen: Recognised | None, task_given: bool) -> Iterator[Advice]:
    """Classes that may be amounts."""
    if seen is None or task_given or seen.task is not Task.MULTICLASS or len(seen.labels) <= MANY:
        return
    if not any(isinstance(label, str) for label in seen.labels):
        yield Advice(
            f"the labels are {len(seen.labels)} different whole numbers and were read as classes", "--task regression"
        )


def _baseline(run: Run) -> Iterator[Advice]:
    """Worse than a rule that looks at no feature."""
    if run.rounds < LEAST or run.baselines.get("majority_label") == 0.0:  # one label: nothing to tell apart
        return
    wrong = float(run.loss if run.mistakes is None else run.mistakes)
    rules = run.baselines
    rule = min(rules, key=lambda name: rules[name])
    if wrong <= rules[rule]:
        return
    what = {
        "majority_label": "always predicting the most frequent label",
        "last_label": "predicting the previous label",
        "mean_label": "predicting the mean of the labels so far",
    }[rule]
    if run.mistakes is None:
        how = f"has a smaller loss ({number(rules[rule] / run.rounds)} per row)"
    else:
        how = f"makes fewer mistakes ({share(rules[rule], run.rounds)})"
    if rule == "last_label":
        yield Advice(
            f"{what} {how}: each label depends on the previous one, so try a learner that tracks such changes",
            tracker(run),
        )
    else:
        yield Advice(f"{what} {how}: compare other learners", None)


def _drift(run: Run) -> Iterator[Advice]:
    """The last rounds went much worse than those before them."""
    before = run.rounds - WINDOW
    if before < 2 * WINDOW:
        return
    last, mean = run.window_error, run.metrics["mae" if run.mistakes is None else "error"]
    earlier = (mean * run.rounds - last * WINDOW) / before
    if run.mistakes is None:
        worse = last > 2.0 * earlier
        said = f"mean absolute error {number(last)} against {number(earlier)}"
    else:
        worse = (
            last - earlier > SURE * math.sqrt(max(earlier * (1.0 - earlier), 0.0) / WINDOW) and last > 1.25 * earlier
        )
        said = f"{100.0 * last:.2f} % mistakes against {100.0 * earlier:.2f} %"
    if worse:
        yield Advice(
            f"the last {WINDOW:,} rows went worse than the rows before ({said}): the stream drifts", tracker(run)
        )


def _sizes(run: Run, seen: Recognised | None) -> Iterator[Advice]:
    """Columns of very different sizes, given to a learner as they are."""
    if seen is None or run.learner.preparation.scale is not None or run.learner.scale_free:
        return
    places, sizes = seen.sizes
    if not len(sizes):
        return
    large, small = int(sizes.argmax()), int(sizes.argmin())
    if sizes[large] > APART * sizes[small]:
        features = run.learner.features
        ends = places[[large, small]].tolist()
        names = [str(at) if features is None else features.name_of(at) for at in ends]
        yield Advice(
            f"the scales of the features differ by a factor of {number(round(float(sizes[large] / sizes[small])))}"
            f" ({names[0]}, {names[1]})",
            "--scale max",
        )


def tracker(run: Run) -> str | None:
    """The options of a learner that follows labels which depend on those before; None where none is known."""
    task = task_of(run.learner)
    if task is Task.MULTICLASS:
        return None
    if task is Task.REGRESSION:
        found = "--learner pa --loss absolute --bias --scale max --unit-norm"
    else:
        found = "--learner second-order --bias" if run.features <= MATRIX else "--learner pa --bias --scale max"
    return None if isinstance(run.learner, LEARNERS[found.split()[1]]) else found
