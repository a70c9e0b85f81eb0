"""Served models within an event loop: an answer to a label waits until the disk has it, without holding up others."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from noregret.errors import InputError, NoregretError
from noregret.service.served import Served
from noregret.service.wire import Label, Outcome, Prediction, Question, Refused

RECENT = 1_000  # requests whose durations are kept
TICK = 0.5  # seconds between two looks at what is due


@dataclass
class Pace:
    """How long recent requests took, in seconds, and how many rows there were since the start."""

    rows: int = 0
    taken: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def add(self, rows: int, began: float) -> None:
        self.rows += rows
        self.taken.append(time.perf_counter() - began)

    def quantile(self, share: float) -> float | None:
        """The time that this share of recent requests did not exceed."""
        ordered = sorted(self.taken)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else None

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "p50": self.quantile(0.5), "p99": self.quantile(0.99)}


@dataclass(frozen=True)
class Periods:
    """When receipts are written, and what of the log is moved to files."""

    every: int | None = None  # a receipt after this many labelled rounds; `daily`: at the end of a day (UTC)
    daily: bool = False
    days: float | None = None  # events of periods that ended earlier are moved
    megabytes: float | None = None  # and of the first periods, while the log is larger

    def look(self, served: Served, now: float) -> None:
        """Do what is due."""
        last = served.chain[-1] if served.chain else None
        labelled = served.late.book.counts.labelled - (last["labelled"] if last else 0)
        began = last["ended"] if last else served.log.began
        if (self.every is not None and labelled >= self.every) or (
            self.daily and began is not None and _day(now) > _day(began)
        ):
            served.receipt()
        while served.retain(self.days, self.megabytes):
            pass
        served.sweep()


def _day(seconds: float) -> int:
    return int(seconds // 86_400)


class Hosted:
    """One served model: its requests, and who waits for the disk."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()  # by the event that must be on the disk
        self.pace = {"predict": Pace(), "label": Pace()}
        self.served = Served(folder, self._told, **settings)

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """All of them or none."""
        began = time.perf_counter()
        found = self.served.predict(questions)
        self.pace["predict"].add(len(found), began)
        return found

    async def label(self, labels: Sequence[Label]) -> list[Outcome]:
        """All of them or none; they are on the disk, and so are their predictions."""
        began = time.perf_counter()
        found = self.served.label(labels)
        await self.written()
        self.pace["label"].add(len(found), began)
        return found

    async def written(self) -> None:
        """Wait until all that was done so far is on the disk."""
        log, number = self.served.log, self.served.late.events
        if log.written >= number and not log.failed:
            return
        done = self._loop.create_future()
        self._waiting.append((number, done))
        log.hurry()
        await done

    def _told(self) -> None:
        """The log has written a group, or cannot: said by its thread."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        log = self.served.log
        while self._waiting and self._waiting[0][0] <= log.written:
            _, done = self._waiting.popleft()
            if not done.done():
                done.set_result(None)
        if log.failed:
            sentence = f"{log.failed}: send this label again, under the same id, once there is room"
            for _, done in self._waiting:
                if not done.done():
                    done.set_exception(Refused(503, sentence))
            self._waiting.clear()
        elif self._waiting:
            log.hurry()

    @property
    def now(self) -> dict[str, Any]:
        """Figures of this moment: of the predictions, of the log, and of the time that requests take."""
        served = self.served
        log = {
            "written": served.log.written,
            "failed": served.log.failed,
            "snapshot": served.snapshot,
            "trouble": served.trouble,
        }
        pace = {name: one.to_dict() for name, one in self.pace.items()}
        return {**served.figures, "on_disk": log, "pace": pace, "unknown_labels": served.unknown}


class Service:
    """All models of a folder."""

    def __init__(self, folder: Path, periods: Periods | None = None, **settings: Any) -> None:
        self.folder, self._settings = folder, settings
        self._periods = Periods() if periods is None else periods
        self.models: dict[str, Hosted] = {}
        self.ready = self.closing = False
        self._ticking: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Bring every model to where its log ends."""
        for path in sorted(self.folder.iterdir()):
            if path.is_dir() and not path.name.startswith("."):
                self.models[path.name] = Hosted(path, **self._settings)
        self.ready = True
        self._ticking = asyncio.get_running_loop().create_task(self._tick())

    def model(self, name: str) -> Hosted:
        found = self.models.get(name)
        if found is None:
            raise Refused(404, f"no model is called {name!r}")
        return found

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            for one in self.models.values():
                with suppress(NoregretError):  # the disk: the log says it in every answer
                    self._periods.look(one.served, time.time())

    def close(self) -> None:
        """Save every model, after what was asked has been answered."""
        self.ready, self.closing = False, True
        if self._ticking is not None:
            self._ticking.cancel()
        failed = None
        for one in self.models.values():
            try:
                one.served.close()
            except InputError as error:
                failed = error
        if failed is not None:
            raise failed
