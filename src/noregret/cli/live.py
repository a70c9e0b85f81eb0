"""`learn --events` on a stream of Redis or Kafka, or with answers that go there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from noregret.cli.late import Events, Written
from noregret.errors import SettingError
from noregret.live import follow, sink
from noregret.stream.scheme import is_broker

if TYPE_CHECKING:
    from noregret.late.pending import Answer
    from noregret.learner import Core
    from noregret.live.answers import Sink
    from noregret.live.reader import Reader
    from noregret.snapshots import Snapshots
    from noregret.stream.opening import Input


class Live(Events):
    """Events as a broker has them, answers as a broker takes them, or both."""

    reader: Reader | None = None
    sink: Sink | None = None

    def check(self) -> None:
        super().check()
        if is_broker(self.stream):
            self.reader = follow(self.stream, until_idle=self.when.until_idle, after=self.when.after_position)
        if is_broker(self.asked.predictions or ""):
            self.sink = sink(str(self.asked.predictions))
        ends = {one.where.same_stream for one in (self.reader, self.sink) if one is not None}
        if self.reader is not None and self.sink is not None and len(ends) == 1:
            raise SettingError(f"--predictions would write answers to the stream that is read: {self.sink.name}")

    def _one_file(self) -> Input | None:
        return None if self.reader is not None else super()._one_file()

    def _connect(self, stack: ExitStack) -> None:
        if self.reader is not None:
            stack.callback(self.reader.close)
        if self.sink is not None:
            stack.callback(self.sink.close)
            self.sink.check()

    def _log(self, saved: Snapshots | None, stop: Callable[[], bool]) -> Any:
        if self.reader is None:
            return super()._log(saved, stop)
        known = self.pending.events

        def waits() -> bool:
            nonlocal known
            if self.sink is not None:
                self.sink.flush()
            if saved is not None and self.pending.events > known and saved.due(0):
                saved.take()
                known = self.pending.events
            return stop()

        self.reader.waits = waits
        return self.reader

    def _save(self, core: Core) -> None:
        """First the answers, then the model with its position, and then the broker is told."""
        if self.sink is not None:
            self.sink.flush()
        super()._save(core)
        if self.reader is not None:
            self.reader.acknowledge(self.pending.position)

    def _written(self, stack: ExitStack) -> tuple[Written | None, bool]:
        if self.sink is None:
            return super()._written(stack)
        stack.callback(self.sink.flush)
        return Sent(self.sink, self), False

    def more(self) -> bool:
        """Whether another event is at hand, so that an answer need not be handed on at once."""
        if self.reader is not None:
            return self.reader.more
        return self.file is not None and self.file.rereadable

    @property
    def going_on(self) -> str:
        return super().going_on if self.reader is None else "--events"


class Sent(Written):
    """Answers that go to a broker, each with the position of its event."""

    def __init__(self, sink: Sink, work: Live) -> None:
        self._sink, self._work = sink, work

    def write(self, answer: Answer) -> None:
        self._sink.write(self._line(answer))
        if not self._work.more():
            self._sink.flush()

    def _line(self, answer: Answer) -> bytes:
        import msgspec

        position = self._work.pending.position if self._work.reader is not None else None
        at = {} if position is None else {"at": position.at}
        return msgspec.json.encode({**answer.to_dict(), **at})
