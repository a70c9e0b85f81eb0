"""`noregret serve`: predictions and labels over HTTP."""

from __future__ import annotations

from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from noregret.cli.arguments import Group, Positive, Rows, TaskName, grouped
from noregret.errors import SettingError
from noregret.learner import LEARNERS

NEEDED = ("starlette", "uvicorn", "prometheus_client", "plotly")


class Reached(Group):
    """Where the service is reached."""

    host: Annotated[str, typer.Option(help="The address to listen on; others than this machine's need --key.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = 8000
    key: Annotated[
        Path | None,
        typer.Option(
            help="A file with the key that requests must show (Authorization: Bearer KEY). Without it, NOREGRET_KEY of"
            " the environment, if it is set.",
            metavar="FILE",
        ),
    ] = None


class Kept(Group):
    """What is kept, and when it is accounted for."""

    receipt_every: Annotated[
        str | None,
        typer.Option(
            help="Write a receipt at the end of every day (UTC), or after every N labels; see verify --chain.",
            metavar="day|N",
        ),
    ] = None
    keep_days: Annotated[
        float | None,
        typer.Option(help="Move events of periods that ended this many days ago from the log to Parquet files."),
    ] = None
    keep_megabytes: Annotated[
        float | None, typer.Option(help="Move the events of the oldest periods while the log is larger than this.")
    ] = None

    def periods(self) -> Any:
        """The same as the service takes it."""
        from noregret.cli.options import flag
        from noregret.service.hosted import Periods

        given, text = {}, self.receipt_every
        for name in ("keep_days", "keep_megabytes"):
            value = getattr(self, name)
            if value is not None:
                if not (value >= 0.0 and isfinite(value)):
                    raise SettingError(f"{flag(name)} must be at least 0 and finite, got {value}")
                if text is None:
                    raise SettingError(f"{flag(name)} moves whole periods: it needs --receipt-every day or N")
                given[name.removeprefix("keep_")] = value
        if text is None or text == "day":
            return Periods(daily=text == "day", **given)
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise SettingError(f"--receipt-every must be day or a whole number of at least 1, got {text!r}")
        return Periods(every=int(text), **given)


class New(Group):
    """A model that is made."""

    new: Annotated[str | None, typer.Option(help="Make a model of this name; options name its learner.")] = None
    learner: Annotated[
        str | None,
        typer.Option(
            help="With --new: a learner, with settings as name:key=value,key=value (default: auto).", metavar="SPEC"
        ),
    ] = None
    task: TaskName = None
    positive: Positive = None
    expire: Annotated[
        int | None,
        typer.Option(help="With --new: give up a label that has not come after this many more rows.", metavar="ROWS"),
    ] = None
    default_label: Annotated[
        str | None, typer.Option(help="With --new: learn this label in place of one that is given up.", metavar="LABEL")
    ] = None
    pending: Annotated[
        int | None,
        typer.Option(help="With --new: at most this many rows wait for labels (default 1,000,000).", metavar="ROWS"),
    ] = None


@grouped
def serve(
    models: Annotated[Path, typer.Option(help="The folder of the models: one file or one folder each.")],
    reached: Reached,
    new: New,
    kept: Kept,
) -> None:
    """Serve predictions over HTTP; labels may come later, and none that was acknowledged is lost.

    Example: noregret serve --models models --new spam --task binary
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SettingError(f"serve needs {', '.join(missing)}: pip install 'noregret[serve]'")
    from noregret.cli.options import flag
    from noregret.service import serving

    periods = kept.periods()
    address = serving.Address(reached.host, reached.port, serving.read_key(reached.key))
    rules = {name: getattr(new, name) for name in ("expire", "default_label", "pending")}
    if new.new is None:
        given = {**rules, "learner": new.learner, "task": new.task, "positive": new.positive}
        for name, value in given.items():
            if value is not None:
                raise SettingError(f"{flag(name)} is for a model that is made: it needs --new NAME")
        serving.check_folder(models)
        made = []
    else:
        serving.check_new(models, new.new)
        given = {name: value for name, value in rules.items() if value is not None}
        made = [(models / new.new, _learner(new), given)]
    made += serving.saved_models(models)
    with serving.listening(address) as listener, serving.making(made) as keep:

        def announced(url: str, names: list[str]) -> None:
            keep()
            print(f"serving {', '.join(names)} on {url}", flush=True)

        serving.run(models, listener, address, announced, periods=periods)


def _learner(new: New) -> Any:
    """The learner that was asked for: what it predicts must be known before the first label."""
    from noregret.cli.arguments import settings_by_name
    from noregret.cli.choosing import Wanted, chosen_without_rows
    from noregret.cli.options import make_learner, settings_of_text, spec_settings
    from noregret.stream.task import Task

    settings: dict[str, Any] = dict.fromkeys(settings_by_name())
    name = None if new.learner is None else new.learner.partition(":")[0]
    if name is not None and new.learner is not None:
        if name not in LEARNERS:
            make_learner(name, {})  # which says what there is
        settings |= spec_settings(new.learner, settings_of_text(name))
    task = None if new.task is None else Task.parse(new.task)
    reading = {**Rows().said(), "positive": new.positive, "class_weight": None}
    return chosen_without_rows(Wanted(name, task, settings, reading, certify=False), "--new").core
