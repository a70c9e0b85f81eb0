"""One call of `learn`: what is asked is checked, the stream opened, the rounds played, and the outcome told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from noregret.cli.alarm import ALARM, alarm_of, check_alarm, check_kind, rings
from noregret.cli.choosing import Chosen, Wanted, check_named, chosen, resumed, task_told
from noregret.cli.drawing import (
    OF_PERCEPTRON,
    PLANAR,
    TANGENT,
    asked_kind,
    check_boundary,
    check_certified,
    check_plane,
    check_tangent,
    draw,
)
from noregret.cli.held import Held
from noregret.cli.interrupt import Interrupt
from noregret.cli.options import check_writable, class_weights, flag, with_defaults
from noregret.cli.predictions import Predictions, answers, named, on_standard_output
from noregret.cli.saving import Saving, often, snapshots
from noregret.cli.signals import stop_code
from noregret.cli.solving import checked_gap, checked_seconds
from noregret.cli.terminal import put_json
from noregret.cli.windows import check_windows, show_windows, windows_of
from noregret.errors import EmptyError, InputError, SettingError
from noregret.protocol import play, refuse_waiting
from noregret.rounds import Gathering, Keepers
from noregret.stream.files import files_of
from noregret.stream.opening import Input
from noregret.stream.scheme import is_broker
from noregret.stream.task import Task

if TYPE_CHECKING:
    from noregret.cli.learn import Asked, InWindows, Watch
    from noregret.learner import Core
    from noregret.proof.ledger_again import Ledgers
    from noregret.proof.receipt import Receipt
    from noregret.rounds import Keeper, Rounds
    from noregret.run import Run
    from noregret.stream import Stream
    from noregret.task.select import Selection
    from noregret.watch.alarm import Alarm
    from noregret.watch.windows import Windows

AMONG_ROWS = (*PLANAR, *OF_PERCEPTRON, TANGENT)  # kinds of picture for which every round is kept


class Learning:
    """What was asked, and what has come of it so far."""

    source: Stream
    choice: Chosen
    run: Run
    interrupt: Interrupt
    saving: Saving | None = None
    rounds: Rounds | None = None  # kept where something looks back on them
    selection: Selection | None = None
    receipt: Any = None
    ledgers: Ledgers | None = None
    claims: dict[str, Any]  # of the watchers, by their names
    kind: str | None = None  # of picture
    alarm: Alarm | None = None
    rung_before: int = 0  # how often it rang in earlier calls
    comes_late: ClassVar[bool] = False  # whether labels come late
    takes_waiting: ClassVar[bool] = False  # whether it goes on with rows that wait for their labels

    windows: Windows | None = None
    watchers: dict[str, Any]  # by the names that `play` has, as they are where a receipt is to hold them
    schedule: str | None = None  # the column that says when labels come

    def __init__(self, stream: str, asked: Asked, watch: Watch, kept: InWindows, time: str | None) -> None:
        self.stream = stream
        self.asked, self.watch, self.kept, self.time = asked, watch, kept, time
        self.claims = {}

    # -- before the stream is opened -------------------------------------------------------------------------

    def check(self) -> None:
        """Say at once what cannot be."""
        asked = self.asked
        if is_broker(asked.predictions or "") and not self.takes_waiting:
            raise SettingError("--predictions goes to Redis or Kafka only with --events: give a file")
        predictions = named(asked.predictions)
        check_writable(self.stream, predictions, asked.save, asked.receipt, asked.ledger, asked.plot, asked.rows_out)
        if asked.resume is not None:
            others = (asked.receipt, asked.ledger, asked.plot, asked.rows_out)
            check_writable(str(asked.resume), predictions, *others, what="the model")
            if asked.ledger is not None:
                raise SettingError("--ledger needs every round, and a resumed model holds none")
        if asked.skip not in (None, "seen"):
            raise SettingError(f'--skip accepts only "seen"; got {asked.skip!r}')
        if asked.skip is not None and asked.resume is None:
            raise SettingError("--skip seen goes with --resume")
        if asked.again and asked.resume is None:
            raise SettingError("--again goes with --resume")
        if asked.again and asked.skip is not None:
            raise SettingError(
                "--again learns from rows that the model has seen, --skip seen passes over them: give one"
            )
        if asked.every is not None:
            often(asked.every)
            if asked.save is None:
                raise SettingError("--every goes with --save")
            if asked.select is not None:
                raise SettingError(
                    "--every saves the learner while it learns, --select what is chosen at the end: give one"
                )
        self.wanted_selection = self._selection_asked()
        self.proof = self._proof_asked()
        check_alarm(self.watch, asked)
        check_windows(self.kept, self.time, asked, self.schedule)
        if self.schedule is not None or self.time is not None:  # they say when, and are no features
            asked.ignore = ",".join(filter(None, [asked.ignore, self.schedule, self.time]))

    def _selection_asked(self) -> dict[str, Any] | None:
        from noregret.cli.selecting import asked_for

        asked = self.asked
        return asked_for(asked.select, asked.confidence, asked.candidates, asked.holdout, asked.draw, asked.resume)

    def _proof_asked(self) -> dict[str, Any]:
        """What is asked of the certificates."""
        gap, seconds, anytime = self.asked.gap, self.asked.seconds, self.asked.anytime
        given = {"gap": gap, "seconds": seconds, "anytime": anytime or None, "surrogate": self.asked.surrogate}
        given["scores"] = self.asked.scores
        for name, value in given.items():
            if value is not None and not self.asked.proves:
                raise SettingError(f"{flag(name)} goes with --certify or --receipt")
        if self.asked.proves and self.asked.resume is not None:
            raise SettingError(
                "--certify needs every round, and a resumed model holds none:"
                " save it and use noregret certify MODEL STREAM..."
            )
        proof = {"gap": checked_gap(gap), "seconds": checked_seconds(seconds), "anytime": anytime}
        return {**proof, "scores": self.asked.scores}

    def _prepare(self, name: str | None, task: str | None, settings: dict[str, Any]) -> None:
        """What can be said before the stream is opened; a resumed learner is there already."""
        resume, kind = self.asked.resume, None if task is None else Task.parse(task)
        recipe = {**self.asked.said(), "class_weight": class_weights(self.asked.class_weight)}
        certify, select = self.asked.proves, self.asked.select is not None
        self.wanted = wanted = Wanted(
            name, kind, dict(settings), recipe, certify, select, windows=self.kept.windows is not None
        )
        if self.asked.save is not None:
            self.saving = Saving(self.asked.save, resume)
        self.before = None if resume is None else resumed(resume, wanted)
        if self.before is None:
            check_named(wanted)
        core = None if self.before is None else self.before.core
        if core is not None and not self.takes_waiting:
            refuse_waiting(core)
        self.recipe = with_defaults(recipe) if core is None else core.options
        self.file = self._one_file()
        self.held = Held(core is not None or task_told(wanted))
        if self.file is not None:
            self.file.paused = self.held

    def _one_file(self) -> Input | None:
        """The file that is read, if it is one."""
        return None if files_of(self.stream) is not None else Input(self.stream)

    def _opened(self, interrupt: Interrupt) -> Stream:
        """The stream, opened; another learner than a resumed one is chosen by its first rows."""
        core = None if self.before is None else self.before.core
        try:
            source = self.asked.stream(self.stream if self.file is None else self.file, self.recipe, core)
        except EmptyError:
            if interrupt.asked:
                raise _nothing_played() from None
            raise
        except (SettingError, InputError) as error:
            columns = {"--arrival": self.schedule, "--time": self.time}
            given = " or ".join(name for name, column in columns.items() if column is not None)
            if not given or "--ignore" not in str(error):
                raise
            raise SettingError(str(error).replace("--ignore", given, 1)) from None
        return interrupt.watched(source)

    # -- the rounds ------------------------------------------------------------------------------------------

    def play(self, name: str | None, task: str | None, settings: dict[str, Any]) -> None:
        """Open the stream and play its rounds, then select, save, certify, draw and write what was asked for."""
        self._prepare(name, task, settings)
        twice = self.asked.passes > 1 and self.file is not None and not self.file.rereadable
        gathers = self.asked.shuffle is not None or twice
        with ExitStack() as stack:
            with Interrupt(self.file, gently=not gathers) as interrupt:
                self.interrupt = interrupt
                self.source = self._opened(interrupt)
                self.choice = chosen(self.wanted, self.source) if self.before is None else self.before
                self.held.core = self.choice.core
                self._check_choice()
                self._set_watchers()
                gathering = self._gathering(stack)
                once = self.asked.passes == 1 and not gathers
                with self._watching(once, lambda: interrupt.asked) as watch:
                    self.run = self._play(gathering, watch, interrupt.stops)
                if interrupt.asked and not self.run.stopped:
                    self.run = replace(self.run, stopped=True)
            self.rounds = None if gathering is None or self.run.stopped else gathering.done()
            self._select_and_save()
            if self.rounds is not None and self.asked.rows_out is not None:
                from noregret.rows_out import write_rows

                write_rows(self.asked.rows_out, self.rounds)
            if self.rounds is not None and self.asked.proves:
                self.receipt = self._certified(self.rounds)
        if self.kind is not None and self.asked.plot is not None:
            self._draw(self.kind, self.asked.plot)
        if self.receipt is not None and self.asked.receipt is not None:
            self.beside(self.receipt).save(self.asked.receipt)
        if self.ledgers is not None and self.asked.ledger is not None and self.run.rounds:
            self.ledgers.receipt(self.run).save(self.asked.ledger)

    def beside(self, receipt: Any) -> Any:
        """The receipt, with what the watchers claim where there are any."""
        if not self.claims:
            return receipt
        from noregret.proof.watched import WatchedReceipt

        return WatchedReceipt(receipt, self.claims)

    def _check_choice(self) -> None:
        """Whether this learner can be certified, selected from and drawn as was asked, and has a ledger."""
        if self.asked.ledger is not None:
            from noregret.proof.ledger_again import Ledgers

            self.ledgers = Ledgers(self.choice.core)
        if self.choice.radius is not None:
            self.proof["radius"] = self.choice.radius
        if self.asked.surrogate is not None:
            from noregret.proof.certify import chosen_surrogate

            self.proof["surrogate"] = chosen_surrogate(self.asked.surrogate, self.choice.core)
        if self.wanted_selection is not None:
            from noregret.cli.selecting import check_learner

            check_learner(self.choice.core)
        self.kind = self._kind_of_picture(self.choice.core)
        if self.kind in PLANAR:
            check_plane(self.source)

    def _set_watchers(self) -> None:
        """The alarm and the windows that were asked for, or those of a resumed model."""
        core = self.choice.core
        self.alarm, self.rung_before = alarm_of(self.watch, core), rings(core)
        if self.kind in AMONG_ROWS:
            check_kind(self.alarm, self.kind)
        if self.asked.again and (self.alarm is not None or "windows" in (core.watched or {})):
            raise SettingError("--again learns once more from rows; alarms and windows are of predictions of new rows")
        self.windows = windows_of(self.kept, self.time, core, self.choice.radius, self.schedule, self.comes_late)
        self.watchers = {"alarm": self.alarm, "windows": self.windows}
        if self.asked.proves and not self.comes_late:
            from noregret.proof.watched import kept_for_proof

            self.watchers = kept_for_proof(self.watchers, core)

    def _kind_of_picture(self, core: Core) -> str | None:
        """The picture to draw, once it is known that it can be."""
        kinds = ("risk",) if core.regression else ("error", "risk", "mistakes", "reliability", *PLANAR)
        kinds = (*kinds, *(["weights"] if core.mixes else []), *(OF_PERCEPTRON if core.perceptron_rounds else ()))
        kinds = (*kinds, *([TANGENT] if core.linear else []), *(["windows"] if self.kept.windows is not None else []))
        kind = asked_kind(self.asked.plot, self.asked.picture, (*kinds, "regret", "bounds"))
        if kind in ("regret", "bounds"):
            if not self.asked.proves:
                raise SettingError(f"--picture {kind} goes with --certify or --receipt")
            check_certified(kind, core, self.proof.get("radius"))
            self.proof["anytime"] |= kind == "regret"
        if kind in AMONG_ROWS and self.asked.resume is not None:
            raise SettingError(f"--picture {kind} needs every round, and a resumed model holds none")
        if kind in PLANAR:
            check_boundary(core)
        if kind == TANGENT:
            check_tangent(core, self.proof.get("radius"))
        return kind

    @property
    def _looks_back(self) -> bool:
        asked = self.asked
        wanted = asked.proves or asked.rows_out is not None
        return wanted or self.wanted_selection is not None or self.kind in AMONG_ROWS

    def _gathering(self, stack: ExitStack) -> Gathering | None:
        if not self._looks_back:
            return None
        return stack.enter_context(Gathering(bool(self.choice.core.config["bias"][0])))

    def _kept(self, gathering: Gathering | None) -> Keeper | None:
        """Whoever takes the rounds in as they are played."""
        keepers = [one for one in (gathering, self.ledgers) if one is not None]
        return None if not keepers else keepers[0] if len(keepers) == 1 else Keepers(*keepers)

    def _play(self, keep: Gathering | None, watch: Callable[..., None], stop: Callable[[], bool]) -> Run:
        return play(
            self.choice.core,
            self.source,
            passes=self.asked.passes,
            shuffle=self.asked.shuffle,
            digest=self.asked.save is not None or self._looks_back or self.ledgers is not None,
            keep=self._kept(keep),
            skip_seen=self.asked.skip is not None,
            again=self.asked.again or self.asked.resume is None,
            class_weight=self.recipe["class_weight"],
            watch=watch,
            stop=stop,
            cut=lambda: self.interrupt.asked,
            snapshots=snapshots(self.asked.every, self.saving, self.choice.core),
            **self.watchers,
        )

    @contextmanager
    def _watching(self, once: bool, stopped: Callable[[], bool]) -> Iterator[Callable[..., None]]:
        """What goes on beside the rounds: the bar and the prediction file."""
        from noregret.cli.terminal import Progress

        core, path, planar = self.choice.core, self.asked.predictions, self.kind in PLANAR
        with ExitStack() as stack:
            writer, typed = None, self.source.live and sys.stdin is not None and sys.stdin.isatty()
            if path is not None:
                file, at_once = stack.enter_context(answers(path))
                writer, typed = Predictions(file, core, labels=True, at_once=at_once), typed or file.isatty()
            bar = stack.enter_context(Progress(self.source, core, self.asked.silent or typed, once))
            played = False

            def watch(block: Any, y: Any, scores: Any) -> None:
                nonlocal played
                if planar:
                    check_plane(self.source)  # a sentence as soon as rows have more than two features
                played = True
                bar.update()
                if writer is not None:
                    writer.write(block, scores, y)

            yield watch
            if stopped() and not played:
                raise _nothing_played()
            if writer is not None:
                writer.close()

    # -- after the rounds ------------------------------------------------------------------------------------

    def _select_and_save(self) -> None:
        if self.rounds is not None and self.wanted_selection is not None:
            from noregret.cli.selecting import selected

            self.selection = selected(self.run, self.rounds, self.wanted_selection)
        if self.saving is not None:
            self.saving(self.run.learner if self.selection is None else self.selection.learner)

    def _certified(self, rounds: Rounds) -> Receipt:
        """The receipt of a run whose rounds were kept."""
        from noregret.cli.solving import closing_in
        from noregret.proof.certify import receipt_of, with_selection
        from noregret.proof.replay import Replayed, chains

        run = self.run
        played = Replayed(run, rounds, (run.digest or "",), (run.learner.segments[-1]["ended"],))
        with closing_in(self.asked.silent) as watch:
            found = receipt_of(played, chains(run.learner), run.learner, watch=watch, **self.proof)
        there = {name: one for name, one in self.watchers.items() if one is not None}
        if there:
            from noregret.proof.watched import watched_claims

            self.claims = watched_claims(there, played)
        return found if self.selection is None else with_selection(found, self.selection)

    def _draw(self, kind: str, plot: Path) -> None:
        """The picture of the run, or of its receipt; a run that was stopped has no rounds to be drawn among."""
        if kind in ("regret", "bounds"):
            if self.receipt is not None:
                draw(self.receipt, kind=kind, to=plot)
        elif kind not in AMONG_ROWS:
            draw(self.run, kind=kind, to=plot, receipt=self.receipt)
        elif self.rounds is not None:
            draw(self.run, self.rounds, kind=kind, to=plot, receipt=self.receipt)

    def finish(self) -> None:
        """Print what was learned and proved, and leave with the exit code that goes with it."""
        from noregret.cli.solving import leave_if_broken

        with redirect_stdout(sys.stderr) if on_standard_output(self.asked.predictions) else nullcontext():
            if self.asked.json:
                self._print_json()
            elif not self.asked.quiet:
                self._show()
        if self.receipt is not None:
            leave_if_broken(self.receipt.broken)
        save, placed = self.asked.save, None if self.saving is None else self.saving.path
        if placed != save:
            said = f"{save}: was changed by another process meanwhile, and left as it is"
            print(f"noregret: {said}; the model of this run is {placed}", file=sys.stderr)
        if self.run.stopped:
            went = f"; go on with --resume {placed} {self.going_on}" if placed is not None and self.going_on else ""
            print(f"noregret: stopped after {self.run.rounds:,} rounds{went}", file=sys.stderr)
            raise typer.Exit(stop_code())
        if placed != save:
            raise typer.Exit(1)
        if self.watch.fail_on_alarm and self.run.alarm is not None and len(self.run.alarm["rang"]) > self.rung_before:
            raise typer.Exit(ALARM)

    @property
    def going_on(self) -> str:
        """The options with which the same stream is gone on with; none where it cannot be."""
        return "--skip seen" + options_again(self.asked.passes, self.asked.shuffle)

    def _advice(self) -> list[str]:
        from noregret.cli.show import advised, command_of

        return advised(self.run, self.choice, command_of(self.stream, self.wanted.reading))

    def _print_json(self) -> None:
        from noregret.cli.show import task_figures
        from noregret.cli.solving import certified

        answer = {**self.run.to_dict(), "task": task_figures(self.choice), "advice": self._advice()}
        answer |= {"columns": self.source.columns, "decisions": self.source.decisions}
        if self.receipt is not None:
            answer = certified(answer, self.receipt)
        if self.selection is not None:
            answer["selection"] = self.selection.to_dict()
        put_json(answer)

    def _show_watched(self) -> None:
        """What the alarm watches and whether it rang; the windows."""
        if self.run.alarm is not None:
            from noregret.cli.show import show_alarm

            print()
            show_alarm(self.run.alarm)
        if self.run.windows is not None:
            print()
            show_windows(self.run.windows)

    def _show(self) -> None:
        from noregret.cli.show import as_read, show_lines, show_run, title

        run, choice = self.run, self.choice
        show_run(run, title(run, choice), choice.task.words)
        self._show_watched()
        show_lines([*as_read(run, choice), *self.source.decisions])
        if self.receipt is not None:
            from noregret.cli.solving import show_receipt

            print()
            show_receipt(self.receipt, self.proof["gap"])
        if self.selection is not None:
            from noregret.cli.selecting import show_selection

            print()
            show_selection(self.selection.to_dict(), run.learner.segments[-1]["shuffle"] is not None)
        show_lines(self._advice())


def _nothing_played() -> typer.Exit:
    """Leave a run that was stopped before it began."""
    print("noregret: stopped before the first round: nothing was written", file=sys.stderr)
    return typer.Exit(stop_code())


def options_again(passes: int, shuffle: int | None) -> str:
    """The options that a run which goes on must be given again."""
    return (f" --passes {passes}" if passes > 1 else "") + (f" --shuffle {shuffle}" if shuffle is not None else "")
