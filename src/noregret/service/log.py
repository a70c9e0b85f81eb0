"""The log of a served model: events in a SQLite database, written by one thread over one connection, in groups.

What is entered is written in order. A group is one transaction, and nobody hears of it before it is synced: whoever
has waited for an event knows that it and all before it are on the disk. A group that cannot be written is tried again:
nothing is dropped, and until it is written `failed` says why nothing more can be taken.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from noregret.errors import InputError
from noregret.late.book import Key, Round
from noregret.late.stored import Kept, round_of, round_stored

PATIENCE = 0.05  # seconds that predictions wait for company before they are written
AGAIN = 1.0  # seconds until a group that could not be written is tried again
GROUP = 5_000  # events that are written at once without waiting
BEHIND = 50_000  # events that may wait to be written
SCHEMA = """
CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, time REAL, event BLOB, decision BLOB);
CREATE TABLE IF NOT EXISTS rounds (place INTEGER PRIMARY KEY, id, made INTEGER, ended INTEGER, kept BLOB);
CREATE INDEX IF NOT EXISTS waiting ON rounds (id) WHERE ended IS NULL;
CREATE INDEX IF NOT EXISTS oldest ON rounds (place) WHERE ended IS NULL;
CREATE INDEX IF NOT EXISTS over ON rounds (ended) WHERE ended IS NOT NULL;
CREATE TABLE IF NOT EXISTS marks (number INTEGER PRIMARY KEY, time REAL, figures BLOB);
CREATE TABLE IF NOT EXISTS snapshots (number INTEGER PRIMARY KEY, more BLOB);
CREATE TABLE IF NOT EXISTS receipts (place INTEGER PRIMARY KEY, number INTEGER, digest BLOB);
CREATE TABLE IF NOT EXISTS heads
    (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER, log BLOB, chain BLOB, answers BLOB);
"""
# A restart begins at the latest snapshot, a replay for a receipt where a period ended: what had ended by both goes.
FORGET = """DELETE FROM rounds WHERE ended <= ? AND NOT EXISTS
    (SELECT 1 FROM receipts WHERE receipts.number >= rounds.made AND receipts.number < rounds.ended
     AND receipts.number >= (SELECT min(number) - 1 FROM events))"""
OLDER = "DELETE FROM snapshots WHERE number < ? AND number > (SELECT min(number) FROM snapshots)"
_pack = msgspec.msgpack.Encoder().encode
_kept = msgspec.msgpack.Decoder(Kept).decode


LISTS = ("events", "made", "ended", "marks", "snapshots", "receipts", "erased")


@dataclass
class Group:
    """What is written in one transaction."""

    events: list[tuple[int, float, bytes, bytes | None]] = field(default_factory=list)
    made: list[tuple[Key, int, Round]] = field(default_factory=list)
    ended: list[tuple[int, int]] = field(default_factory=list)  # the number of the event, the place of the round
    marks: list[tuple[int, float, bytes]] = field(default_factory=list)
    snapshots: list[tuple[int, bytes]] = field(default_factory=list)
    receipts: list[tuple[int, int, bytes]] = field(default_factory=list)
    erased: list[tuple[int]] = field(default_factory=list)  # events up to this one go
    head: tuple[int, bytes, bytes, bytes] | None = None
    awaited: bool = False  # whether somebody waits for it

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in LISTS)

    def add(self, other: Group) -> None:
        """What comes behind it, to be written with it."""
        for name in LISTS:
            getattr(self, name).extend(getattr(other, name))
        self.head = other.head or self.head

    def write(self, connection: sqlite3.Connection) -> None:
        """All of it or nothing."""
        many = connection.executemany
        made = ((one.place, key, number, _pack(round_stored(one))) for key, number, one in self.made)
        connection.execute("BEGIN IMMEDIATE")
        try:
            many("INSERT INTO events VALUES (?, ?, ?, ?)", self.events)
            many("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, NULL, ?)", made)
            many("UPDATE rounds SET ended = ? WHERE place = ?", self.ended)
            many("INSERT INTO marks VALUES (?, ?, ?)", self.marks)
            many("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", self.snapshots)
            many("INSERT INTO receipts VALUES (?, ?, ?)", self.receipts)
            for number, _ in self.snapshots[-1:]:
                connection.execute(FORGET, (number,))
                connection.execute(OLDER, (number,))
            many("DELETE FROM events WHERE number <= ?", self.erased)
            if self.head is not None:
                connection.execute("INSERT OR REPLACE INTO heads VALUES (1, ?, ?, ?, ?)", self.head)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


class Reader:
    """What is on the disk of the events of a model, for whoever wants to look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _opening(path):
            self._reader = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
            (self.written,) = self._one("SELECT coalesce(max(number), 0) FROM heads")

    def _one(self, sentence: str, values: tuple[object, ...] = ()) -> Any:
        return self._reader.execute(sentence, values).fetchone()

    def close(self) -> None:
        self._reader.close()

    @property
    def head(self) -> tuple[int, bytes, bytes, bytes] | None:
        """The last event on the disk, and digests of all events, of what was learned from them, and of all answers."""
        found = self._one("SELECT number, log, chain, answers FROM heads")
        return None if found is None else tuple(found)

    def events(self, after: int, to: int | None = None) -> Iterator[tuple[int, float, bytes, bytes | None]]:
        """The events behind one: number, time, as written, and the decision that came with a label."""
        last = self.written if to is None else to
        yield from self._reader.execute(
            "SELECT number, time, event, decision FROM events WHERE number > ? AND number <= ? ORDER BY number",
            (after, last),
        )

    @property
    def first(self) -> int:
        """The first event that is still there; one more than the last where all were erased."""
        (found,) = self._reader.execute("SELECT min(number) FROM events").fetchone()
        return int(found) if found is not None else self.written + 1

    def snapshots(self) -> list[tuple[int, bytes]]:
        """Where the learner was saved, the latest first, with what was kept beside it."""
        return self._reader.execute("SELECT number, more FROM snapshots ORDER BY number DESC").fetchall()

    @property
    def began(self) -> float | None:
        """When the first event that is still there came."""
        found = self._one("SELECT time FROM events ORDER BY number LIMIT 1")
        return None if found is None else float(found[0])

    @property
    def size(self) -> int:
        """How many bytes of the database are in use."""
        pages, free, size = (self._one(f"PRAGMA {name}")[0] for name in ("page_count", "freelist_count", "page_size"))
        return int((pages - free) * size)

    def marks(self, most: int) -> list[tuple[int, float, bytes]]:
        """Figures so far at no more than about this many places, evenly spread, the last among them."""
        (count,) = self._reader.execute("SELECT count(*) FROM marks").fetchone()
        step = max(1, -(-count // most))
        chosen = "SELECT number, time, figures, row_number() OVER (ORDER BY number DESC) AS place FROM marks"
        rows = self._reader.execute(f"SELECT number, time, figures FROM ({chosen}) WHERE (place - 1) % ? = 0", (step,))
        return sorted(rows.fetchall())

    def round(self, key: Key) -> tuple[int, Round] | None:
        """A round that waits on the disk, and the event that made it."""
        found = self._reader.execute(
            "SELECT made, kept FROM rounds WHERE id = ? AND ended IS NULL ORDER BY place DESC LIMIT 1", (key,)
        ).fetchone()
        return None if found is None else (found[0], round_of(_kept(found[1])))

    def oldest(self, after: int) -> Iterator[tuple[int, Key]]:
        """Rounds that wait on the disk, from that place on: place and id."""
        yield from self._reader.execute(
            "SELECT place, id FROM rounds WHERE ended IS NULL AND place > ? ORDER BY place", (after,)
        )

    def waiting_at(self, number: int) -> Iterator[tuple[Key, Round]]:
        """The rounds that waited behind an event, the oldest first."""
        for key, kept in self._reader.execute(
            "SELECT id, kept FROM rounds WHERE made <= ? AND (ended IS NULL OR ended > ?) ORDER BY place",
            (number, number),
        ):
            yield key, round_of(_kept(kept))

    def receipts(self) -> list[tuple[int, int, bytes]]:
        """The receipts of periods: place in the chain, last event, digest."""
        return self._reader.execute("SELECT place, number, digest FROM receipts ORDER BY place").fetchall()

    @property
    def waiting(self) -> int:
        """How many rounds wait on the disk."""
        (count,) = self._reader.execute("SELECT count(*) FROM rounds WHERE ended IS NULL").fetchone()
        return int(count)

    def sizes(self) -> Iterator[float]:
        """The sizes of all of these."""
        for (kept,) in self._reader.execute("SELECT kept FROM rounds WHERE ended IS NULL"):
            yield _kept(kept).size


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"the log cannot be opened: {error}", str(path)) from error


class Log(Reader):
    """The events of one model. All but the writing is for one thread, that of the learner."""

    def __init__(self, path: Path, told: Callable[[], None] = lambda: None) -> None:
        self._told = told
        self.failed: str | None = None  # why the last group could not be written
        self.groups = 0
        with _opening(path):
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            for name, value in (("journal_mode", "WAL"), ("synchronous", "FULL"), ("busy_timeout", "5000")):
                self._connection.execute(f"PRAGMA {name} = {value}")
            self._connection.executescript(SCHEMA)
        super().__init__(path)
        self._group, self._closing, self._writing = Group(), False, False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._write, name=f"log of {path.parent.name}", daemon=True)
        self._thread.start()

    # -- entering, by the learner's thread ---------------------------------------------------------------------------

    def enter(self, group: Group) -> None:
        """Events with all that they changed, to be written soon."""
        with self._change:
            self._group.add(group)
            self._change.notify_all()

    def hurry(self) -> None:
        """Somebody waits for what has been entered."""
        with self._change:
            self._group.awaited = True
            self._change.notify_all()

    @property
    def behind(self) -> int:
        """How many events wait to be written."""
        return len(self._group.events)

    def flush(self) -> None:
        """Wait until all that was entered is on the disk; a sentence where it cannot be."""
        self.hurry()
        with self._change:
            self._change.wait_for(lambda: self.failed or not (self._writing or self._group))
            if self.failed:
                raise InputError(self.failed, str(self.path))

    def close(self) -> None:
        """Write what there is, and leave."""
        with self._change:
            self._closing = True
            self._change.notify_all()
        self._thread.join()
        super().close()
        self._connection.close()

    # -- writing, by a thread of its own -----------------------------------------------------------------------------

    def _write(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._group or self._closing)
                if not self._closing and not self._group.awaited and len(self._group.events) < GROUP:
                    self._change.wait_for(lambda: self._group.awaited or self._closing, PATIENCE)
                if not self._group:
                    return
                group, self._group, self._writing = self._group, Group(), True
            done = self._write_group(group)
            with self._change:
                self._writing = False
                self._change.notify_all()
            self._told()
            if not done:  # closing, and the disk does not take it
                return

    def _write_group(self, group: Group) -> bool:
        """Write it, however long that takes."""
        while True:
            try:
                group.write(self._connection)
            except Exception as error:  # whatever it is, those who wait must hear of it
                with self._change:
                    self.failed = f"the log cannot be written: {error}"
                    self._change.notify_all()
                self._told()
                if self._closing:
                    return False
                time.sleep(AGAIN)
                continue
            self.failed, self.groups = None, self.groups + 1
            if group.head is not None:
                self.written = group.head[0]
            return True

    def rewind(self, to: int, rounds: int) -> None:
        """Make marks and rounds what they were behind that event; rounds that were made behind `rounds` go."""
        for sentence in (
            "BEGIN IMMEDIATE",
            "DELETE FROM rounds WHERE made > :rounds",
            "UPDATE rounds SET ended = NULL WHERE ended > :to",
            "DELETE FROM marks WHERE number > :to",
            "DELETE FROM snapshots WHERE number > :to",
            "COMMIT",
        ):
            self._connection.execute(sentence, {"to": to, "rounds": rounds} if ":" in sentence else {})
