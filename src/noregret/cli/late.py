"""`learn` with labels that come late: events, or a stream with a schedule for its labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any

from noregret.cli.choosing import Chosen, chosen_without_rows
from noregret.cli.interrupt import Interrupt
from noregret.cli.learning import Learning
from noregret.cli.options import flag
from noregret.cli.predictions import answers, as_line, as_set, columns_of, shown
from noregret.errors import SettingError
from noregret.learner import Core
from noregret.learner.sure import NOWHERE
from noregret.stream.scheme import is_broker

if TYPE_CHECKING:
    from noregret.cli.learn import Asked, InWindows, Late, Watch
    from noregret.late.pending import Answer, Pending
    from noregret.late.playing import LateRun
    from noregret.rounds import Gathering, Rounds
    from noregret.run import Run
    from noregret.snapshots import Snapshots
    from noregret.stream.opening import Input


def learning(stream: str, asked: Asked, watch: Watch, kept: InWindows, late: Late) -> Learning:
    """The call of `learn` that this is."""
    if not late.asked:
        return Learning(stream, asked, watch, kept, late.time)
    if not late.events:
        return Delayed(stream, asked, watch, kept, late)
    if is_broker(stream) or is_broker(asked.predictions or ""):
        from noregret.cli.live import Live

        return Live(stream, asked, watch, kept, late)
    return Events(stream, asked, watch, kept, late)


class Delayed(Learning):
    """A stream whose rows are learned when their labels come."""

    late: LateRun
    receipt: Any = None
    comes_late = True

    def __init__(self, stream: str, asked: Asked, watch: Watch, kept: InWindows, late: Late) -> None:
        super().__init__(stream, asked, watch, kept, late.time)
        self.when, self.schedule = late, late.arrival

    def check(self) -> None:
        asked, when = self.asked, self.when
        chosen = {"events": when.events, "delay": when.delay is not None, "arrival": when.arrival is not None}
        schedules = [name for name, given in chosen.items() if given]
        if len(schedules) != 1:
            if schedules:
                given = " and ".join(map(flag, schedules))
                raise SettingError(f"give only one of --events, --delay and --arrival; got {given}")
            other = next(name for name in when.options() if getattr(when, name) is not None and name != "events")
            raise SettingError(f"{flag(other)} needs --events, --delay or --arrival")
        for name in ("until_idle", "after_position"):
            if getattr(when, name) is not None and not (when.events and is_broker(self.stream)):
                raise SettingError(f"{flag(name)} goes with --events and a stream of Redis or Kafka")
        if asked.proves and asked.resume is not None:
            raise SettingError("--certify needs all rounds: learn the whole log, or the whole stream, in one call")
        refused = {
            "passes": asked.passes > 1,
            "shuffle": asked.shuffle is not None,
            "select": asked.select is not None,
            "plot": asked.plot is not None,
            "again": asked.again,
            "anytime": asked.anytime,
            "surrogate": asked.surrogate is not None,
            "rows_out": asked.rows_out is not None,
            "ledger": asked.ledger is not None,
            "skip": asked.skip is not None and not when.events,
            "every": asked.every is not None and not when.events,
        }
        for name, wrong in refused.items():
            if wrong:
                if name in ("skip", "every"):
                    raise SettingError(f"{flag(name)} works with --events, not with --delay or --arrival: leave it out")
                raise SettingError(f"{flag(name)} cannot be used with late labels: leave it out")
        super().check()

    # -- the rounds ------------------------------------------------------------------------------------------

    def _play(self, keep: Gathering | None, watch: Callable[..., None], stop: Callable[[], bool]) -> Run:
        from noregret.late.playing import play_late

        when = self.when
        if when.arrival is not None and (self.file is None or not self.file.rereadable):
            raise SettingError("--arrival reads the table twice: give one file, not a pipe or several files")
        self.late = play_late(
            self._pending(keep),
            self.source,
            delay=when.delay,
            arrival=when.arrival,
            time_column=when.time,
            class_weight=self.recipe["class_weight"],
            answer=watch,
            stop=stop,
        )
        return self.late.run

    def _pending(self, keep: Gathering | None) -> Any:
        from noregret.late.book import MOST
        from noregret.late.pending import Pending

        when, core = self.when, self.choice.core
        most = MOST if when.pending is None else when.pending
        rules: dict[str, Any] = {"expire": when.expire, "default_label": when.default_label, "pending": most}
        return Pending(core, **rules, keep=keep, alarm=self.alarm, windows=self.windows)

    @contextmanager
    def _watching(self, once: bool, stopped: Callable[[], bool]) -> Iterator[Callable[..., None]]:
        """The answers, and a bar beside them."""
        from noregret.cli.terminal import Progress

        with ExitStack() as stack:
            written, typed = self._written(stack)
            bar = None
            if not self.when.events:
                bar = stack.enter_context(Progress(self.source, self.choice.core, self.asked.silent or typed, once))
            said = 0

            def watch(answer: Answer) -> None:
                nonlocal said
                said += 1
                if bar is not None and said % 256 == 0:
                    bar.update()
                if written is not None:
                    written.write(answer)

            yield watch

    def _written(self, stack: ExitStack) -> tuple[Written | None, bool]:
        """What writes the answers, and whether somebody looks on."""
        if self.asked.predictions is None:
            return None, False
        file, at_once = stack.enter_context(answers(self.asked.predictions))
        return self._writer(file, at_once), file.isatty()

    def _writer(self, file: IO[bytes], at_once: bool) -> Written:
        return Lines(file, at_once, self.choice.core)

    # -- after the rounds ------------------------------------------------------------------------------------

    @property
    def going_on(self) -> str:
        return "--events --skip seen" if self.when.events else ""

    def _certified(self, rounds: Rounds) -> Any:
        from noregret.cli.solving import closing_in
        from noregret.proof.certify_late import late_receipt

        with closing_in(self.asked.silent) as watch:
            asked = {name: self.proof[name] for name in ("gap", "seconds", "scores")}
            return late_receipt(self.late, rounds, watch=watch, **asked)

    def _answer(self) -> dict[str, Any]:
        from noregret.cli.show import task_figures

        return {**self.late.to_dict(), "task": task_figures(self.choice), "advice": []}

    def _print_json(self) -> None:
        from noregret.cli.solving import certified
        from noregret.cli.terminal import put_json

        answer = self._answer()
        if not self.when.events:
            answer |= {"columns": self.source.columns, "decisions": self.source.decisions}
        if self.receipt is not None:
            answer = {**certified(answer, self.receipt), "learner_run": certified({"regret": None}, self.receipt.run)}
        put_json(answer)

    def _show(self) -> None:
        from noregret.cli.show import as_read, show_late, show_lines, title

        run, choice = self.run, self.choice
        show_late(self.late, title(run, choice), choice.task.words)
        self._show_watched()
        lines = [] if self.when.events else [*as_read(run, choice), *self.source.decisions]
        show_lines(lines)
        if self.receipt is not None:
            from noregret.cli.solving import show_late_receipt

            print()
            show_late_receipt(self.receipt, self.proof["gap"])


class Events(Delayed):
    """A log of events, or events as they come."""

    takes_waiting = True
    pending: Pending

    def check(self) -> None:
        super().check()
        asked = self.asked
        for name in ("label", "text", "categorical", "numeric", "date", "keep", "ignore", "interactions", "hash_bits"):
            if getattr(asked, name) is not None:
                raise SettingError(f"{flag(name)} is for the columns of a table, and events have none: leave it out")
        for name, given in {"cache": asked.cache, "class-weight": asked.class_weight, "missing": asked.missing}.items():
            if given:
                raise SettingError(f"--{name} cannot be used with --events: leave it out")

    def play(self, name: str | None, task: str | None, settings: dict[str, Any]) -> None:
        """Play every event, then save, certify and write what was asked for."""
        self._prepare(name, task, settings)
        with ExitStack() as stack:
            self._connect(stack)
            with Interrupt(self.file, gently=True) as interrupt:
                interrupt.asks()
                self.choice = self._chosen() if self.before is None else self.before
                self._set_watchers()
                keep = self._gathering(stack)
                with self._watching(True, lambda: interrupt.asked) as watch:
                    self.interrupt = interrupt
                    self.run = self._play(keep, watch, interrupt.stops)
            self.rounds = None if keep is None else keep.done()
            if self.saving is not None:
                self._save(self.run.learner)
            if self.rounds is not None and self.asked.proves:
                self.receipt = self._certified(self.rounds)
        if self.receipt is not None and self.asked.receipt is not None:
            self.receipt.save(self.asked.receipt)

    def _chosen(self) -> Chosen:
        """A new learner."""
        return chosen_without_rows(self.wanted, "--events", ", or a model with --resume")

    def _play(self, keep: Gathering | None, watch: Callable[..., None], stop: Callable[[], bool]) -> Run:
        from noregret.cli.saving import snapshots
        from noregret.late.playing import play_late

        self.pending = self._pending(keep)
        saved = snapshots(self.asked.every, None if self.saving is None else self._save, self.choice.core)

        def stops() -> bool:
            if saved is not None and saved.due(1):
                saved.take()
            return stop()

        self.late = play_late(
            self.pending,
            self._log(saved, stop),
            skip_seen=self.asked.skip is not None,
            answer=watch,
            stop=stops,
            cut=lambda: self.interrupt.asked,
        )
        return self.late.run

    def _one_file(self) -> Input | None:
        found = super()._one_file()
        if found is None:
            raise SettingError(f"--events needs one log; got several files: {self.stream}")
        return found

    def _connect(self, stack: ExitStack) -> None:
        """Reach what is not on this machine, before anything is played."""

    def _log(self, saved: Snapshots | None, stop: Callable[[], bool]) -> Any:
        """What holds the events; it may ask meanwhile whether to save or to stop."""
        return self.file

    def _save(self, core: Core) -> None:
        """The model, with the rounds that wait."""
        assert self.saving is not None
        self.pending.keep_in_model()
        self.saving(core)

    def _writer(self, file: IO[bytes], at_once: bool) -> Written:
        return Objects(file, at_once)


class Written(ABC):
    """Predictions as they were made, one after another."""

    def __init__(self, file: IO[bytes], at_once: bool) -> None:
        self._file, self._at_once = file, at_once

    def write(self, answer: Answer) -> None:
        """One of them, handed on at once where a reader may be waiting for it."""
        self._file.write(self._line(answer))
        if self._at_once:
            self._file.flush()

    @abstractmethod
    def _line(self, answer: Answer) -> bytes:
        """It as text."""


class Objects(Written):
    """Answers to events: JSON Lines."""

    def _line(self, answer: Answer) -> bytes:
        import msgspec

        return msgspec.json.encode(answer.to_dict()) + b"\n"


class Lines(Written):
    """Predictions of a stream, row by row: comma-separated text."""

    def __init__(self, file: IO[bytes], at_once: bool, core: Core) -> None:
        super().__init__(file, at_once)
        sure = core.sure
        probability = core.loss.probabilistic or (sure is not None and sure.calibration is not None)
        self._sets = () if sure is None or sure.cover is None else columns_of(core)
        names = ["row", "score", *(["probability"] if probability else []), "prediction", *self._sets]
        file.write(as_line(names))

    def _line(self, answer: Answer) -> bytes:
        chance = [] if answer.probability is None else [repr(answer.probability)]
        cells = [str(answer.id), repr(answer.score), *chance, shown(answer.prediction)]
        return as_line([*cells, *self._set(answer)])

    def _set(self, answer: Answer) -> list[str]:
        """The cells of an interval or of a set."""
        if answer.interval is not None:
            return [repr(end) for end in answer.interval or NOWHERE]
        if answer.set is not None:
            return [as_set([shown(label) for label in answer.set])]
        return [""] * len(self._sets)
