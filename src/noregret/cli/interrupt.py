"""Ctrl-C, or SIGTERM, as a request to stop where the learner can be saved."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from noregret.cli.signals import note, released
from noregret.errors import EmptyError, SettingError
from noregret.stream import Block, Stream
from noregret.stream.base import Watched
from noregret.stream.opening import Input

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """The first Ctrl-C or SIGTERM ends the pass over the stream of `file`.

    Of a pipe or a terminal, what was written to it by then is still read and played: nothing that was received is
    lost. Of a file, which can be read again, the pass ends after the block being played, or at once while it waits.

    `gently`: whether a run that ends early can be gone on with. While rows are being gathered, to be shuffled or read
    again, it cannot, and Ctrl-C stops the command instead. A second Ctrl-C always does.
    """

    def __init__(self, file: Input | None, gently: bool) -> None:
        self._file = file
        self._gently = gently
        self._asked = False
        self._draining = False
        self._waits = True  # whether a read may be waiting, which has to be broken off
        self._over = False
        self._whole = False

    @property
    def asked(self) -> bool:
        """Whether a signal came."""
        return self._asked

    @property
    def whole(self) -> bool:
        """Whether the pass came to the end of what was written, signal or not."""
        return self._whole

    def stops(self) -> bool:
        """Whether no more blocks are to be played; of a stream that is read to its end, those that came are."""
        return self._asked and not self._draining

    def watched(self, stream: Stream) -> Stream:
        """The stream, every pass of which ends at the signal."""
        self.asks()
        return Watched(stream, self._listening)

    def asks(self) -> None:
        """From now on whoever reads asks `stops`, and need not be broken off."""
        self._waits = False

    def __enter__(self) -> Self:
        heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._hear) for number in heard}
        if released():
            self._ask()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        self._over = True

    def _hear(self, number: int, frame: Any) -> None:
        note(number)
        self._ask()

    def _ask(self) -> None:
        self._asked = True
        self._leave()
        self._draining = self._gently and self._file is not None and self._file.finish()
        if self._waits and not self._draining:
            raise KeyboardInterrupt  # a read that waits would otherwise go on waiting

    def _leave(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _listening(self, blocks: Iterator[Block]) -> Iterator[Block]:
        while self._over or not self.stops():
            try:
                self._waits = True
                block = next(blocks, None)
            except (KeyboardInterrupt, Exception) as error:
                if self._over or not self._asked or (self._draining and not isinstance(error, EmptyError)):
                    raise
                if self._gently:  # whatever it came as: a library that is interrupted may say so in its own words
                    self._draining = False
                    return
                raise SettingError("stopped while the rows were being gathered: nothing was learned") from None
            finally:
                self._waits = False
            if block is None:
                self._whole = True
                return
            yield block
