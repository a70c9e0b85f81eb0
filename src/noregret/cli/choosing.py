"""`learn`: which learner plays. The resumed one, the one that is named, or the default for what the labels show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from noregret.cli.options import check_same, flag, learner_settings, make_learner, positive_label, with_defaults
from noregret.errors import InputError, SettingError
from noregret.learner import LEARNERS, Core, settings_of
from noregret.learner.default import default, loss_for, task_of, task_of_loss
from noregret.stream import Stream
from noregret.stream.labels import Labels, shown_label
from noregret.stream.task import Recognised, Task, recognise


@dataclass(frozen=True)
class Wanted:
    """What was asked of the learner: None where nothing was."""

    name: str | None
    task: Task | None
    settings: dict[str, Any]
    reading: dict[str, Any]
    certify: bool
    select: bool = False
    windows: bool = False


@dataclass(frozen=True)
class Chosen:
    """The learner that plays, and what the first rows showed; None where nobody looked, as for a resumed model."""

    core: Core
    seen: Recognised | None
    named: bool
    task_given: bool
    radius: float | None  # of the comparators of a learner that has none itself

    @property
    def task(self) -> Task:
        return task_of(self.core)


def resumed(path: Path, wanted: Wanted) -> Chosen:
    """The saved learner, once no option contradicts it."""
    from noregret import model
    from noregret.learner.selected import REFUSAL

    core, _ = model.load(path)
    if not core.learns:
        raise SettingError(f"{path}: {REFUSAL}, saved without --select")
    check_same({"learner": core.name}, {"learner": wanted.name}, "model")
    check_same({"task": task_of(core)}, {"task": wanted.task}, "model")
    check_same(core.settings, learner_settings(core.name, wanted.settings), "model")
    core.options = with_defaults({key: core.options.get(key) for key in wanted.reading})
    core.options["label"] = core.options["label"] or (core.features.label if core.features else None)
    check_same(core.options, wanted.reading, "model")
    return Chosen(core, None, True, wanted.task is not None, None)


def check_named(wanted: Wanted) -> None:
    """Refuse what needs no look at the rows to be refused."""
    if wanted.name is not None:
        _named(wanted)
    elif wanted.task is not None:
        _check_loss(wanted.task, wanted.settings["loss"])


def chosen(wanted: Wanted, source: Stream | None) -> Chosen:
    """A new learner, for the labels that the first rows show, unless they come one by one and the task is known.

    Without a source nobody can look, and the task must be known.
    """
    seen = None if source is None or (source.live and task_told(wanted)) else recognise(source)
    if (
        seen is not None
        and wanted.name is not None
        and wanted.name in LEARNERS
        and wanted.task is None
        and "task" in settings_of(wanted.name)
    ):
        wanted = replace(wanted, task=seen.task)
    if wanted.name is None:
        wanted = _with_default(wanted, seen, source)
        core, radius = _named(wanted)
        named = False
    else:
        core, radius = _named(wanted)
        if seen is not None:
            _check_labels(core, wanted.task, seen, _name(source))
        named = True
    if wanted.reading["positive"] is not None:
        core.labels = positive_label(core, wanted.reading["positive"])
    elif isinstance(core.labels, Labels) and seen is not None and len(seen.labels) == 2:
        pair = Labels.pair(*seen.labels)
        core.labels = core.labels if pair.fixed else pair
    core.options = with_defaults(wanted.reading)
    return Chosen(core, seen, named, wanted.task is not None, radius)


def task_told(wanted: Wanted) -> bool:
    """Whether options alone say what is to be predicted."""
    own = wanted.name in LEARNERS and "task" in settings_of(str(wanted.name))
    return wanted.task is not None or (task_of_loss(wanted.settings["loss"]) is not None and not own)


def chosen_without_rows(wanted: Wanted, option: str, otherwise: str = "") -> Chosen:
    """A new learner for rows that `option` says will come: what it predicts must be known before the first label."""
    if wanted.task is None and not task_told(wanted):
        if wanted.name is None or "task" in settings_of(wanted.name):
            raise SettingError(
                f"{option} needs --task binary, multiclass or regression{otherwise}:"
                " what is predicted must be known before the first label"
            )
        wanted = replace(wanted, task=task_of(make_learner(wanted.name, dict(wanted.settings))))
    return chosen(wanted, None)


def _named(wanted: Wanted) -> tuple[Core, float | None]:
    """The learner with the settings that were given, and the radius of its comparators where it has none itself."""
    assert wanted.name is not None
    settings, radius = dict(wanted.settings), None
    if _compares(wanted):
        settings["radius"], radius = None, settings["radius"]
    if wanted.task is not None:
        _check_loss(wanted.task, settings["loss"])
    if wanted.name in LEARNERS:
        settings["loss"] = loss_for(wanted.name, wanted.task, settings["loss"])
        if wanted.task is not None and "task" in settings_of(wanted.name):
            settings["task"] = str(wanted.task)
    core = make_learner(wanted.name, settings)
    if wanted.task is not None and task_of(core) is not wanted.task:
        raise SettingError(
            f"--task {wanted.task} needs a learner for {wanted.task.words}, and {wanted.name} is for"
            f" {task_of(core).words}: leave out --learner, or see noregret learn --help"
        )
    if core.labels is None:
        _refuse_for_numbers(wanted, core.loss.name)
    return core, radius


def _compares(wanted: Wanted) -> bool:
    """Whether a radius that is given is that of the comparators: the learner has none itself."""
    if wanted.name not in LEARNERS:
        return False
    only = LEARNERS[str(wanted.name)].compared_only
    return (wanted.certify and only) or (wanted.windows and (only or "radius" not in settings_of(str(wanted.name))))


def _with_default(wanted: Wanted, seen: Recognised | None, source: Stream | None) -> Wanted:
    """The same with the default learner's name and settings; what was given counts first."""
    loss = wanted.settings["loss"]
    task = wanted.task or task_of_loss(loss)
    if task is None:
        assert seen is not None, "rows were looked at"
        task = seen.task
    if seen is not None and task is Task.REGRESSION and loss is not None and task_of_loss(loss) is None:
        raise InputError(
            f"{_look_numeric(seen)}, and the loss {loss} is for classes: use --loss squared", _name(source)
        )
    name, settings = default(task, loss)
    if wanted.select and task is Task.BINARY:  # rows must look the same to every predictor of the run
        name, settings = "adagrad", {"loss": loss or "logistic", "bias": True, "unit_norm": True}
    asked = dict(wanted.settings)
    if "loss" not in settings_of(name):
        asked["loss"] = None  # it is the only one that the learner has
    given = {key: value for key, value in asked.items() if value is not None}
    return replace(wanted, name=name, settings={**asked, **settings, **given})


def _check_loss(task: Task, loss: str | None) -> None:
    if loss is not None and (task is Task.REGRESSION) is not (task_of_loss(loss) is Task.REGRESSION):
        kind = "numbers" if task is Task.REGRESSION else "classes"
        raise SettingError(f"--task {task} needs a loss for {kind}; got --loss {loss}")


def _check_labels(core: Core, task: Task | None, seen: Recognised, source: str | None) -> None:
    """A learner that was named must be one for the labels that were seen, unless the task was given too."""
    own = task_of(core)
    if task is not None or own is Task.REGRESSION or seen.task is own or seen.task is Task.BINARY:
        return
    if seen.task is Task.REGRESSION:
        able = "loss" in settings_of(core.name)
        advice = "--task regression" if able else "--task regression and leave out --learner"
        raise InputError(f"{_look_numeric(seen)}: add {advice}", source)
    raise InputError(
        f"the labels are of {len(seen.labels)} classes ({_some(seen)}), and {core.name} tells two apart:"
        " leave out --learner, or use --learner multiclass",
        source,
    )


def _name(source: Stream | None) -> str | None:
    return None if source is None else source.source


def _look_numeric(seen: Recognised) -> str:
    return f"the labels look like numbers ({_some(seen)})"


def _some(seen: Recognised) -> str:
    more = ", …" if len(seen.labels) > 3 else ""
    return ", ".join(shown_label(label) for label in seen.labels[:3]) + more


def _refuse_for_numbers(wanted: Wanted, loss: str) -> None:
    for key, value in (
        ("positive", wanted.reading["positive"]),
        ("class_weight", wanted.reading["class_weight"]),
        ("tie", wanted.settings["tie"]),
    ):
        if value is not None:
            raise SettingError(f"{flag(key)} is for classes; the loss {loss} is for numbers")
