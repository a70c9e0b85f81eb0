"""Ctrl-C, or SIGTERM, as a request to stop where the learner can be saved."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from noregret.cli.signals import note
from noregret.errors import SettingError
from noregret.stream import Block, Stream
from noregret.stream.base import Watched

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """The first Ctrl-C or SIGTERM ends the pass over `stream`: after the block being played, or at once while it waits.

    `gently`: whether a run that ends early can be gone on with. While rows are being gathered, to be shuffled or read
    again, it cannot, and Ctrl-C stops the command instead. A second Ctrl-C always does.
    """

    def __init__(self, stream: Stream, gently: bool) -> None:
        self.stream = Watched(stream, self._listening)
        self._gently = gently
        self._asked = False
        self._reading = False
        self._over = False

    def asked(self) -> bool:
        return self._asked

    def __enter__(self) -> Self:
        heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._ask) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        self._over = True

    def _ask(self, number: int, frame: Any) -> None:
        self._asked = True
        note(number)
        self._leave()
        if self._reading:
            raise KeyboardInterrupt  # a read that waits would otherwise go on waiting

    def _leave(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _listening(self, blocks: Iterator[Block]) -> Iterator[Block]:
        while self._over or not self._asked:
            try:
                self._reading = True
                block = next(blocks, None)
            except (KeyboardInterrupt, Exception):
                if self._over or not self.asked():
                    raise
                if self._gently:  # whatever it came as: a library that is interrupted may say so in its own words
                    return
                raise SettingError("stopped while the rows were being gathered: nothing was learned") from None
            finally:
                self._reading = False
            if block is None:
                return
            yield block
