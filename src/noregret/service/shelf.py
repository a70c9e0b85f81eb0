"""The rounds of a served model that wait for their labels: the latest in memory, all in the database."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, MutableMapping

from noregret.late.book import Key, Round
from noregret.service.log import Group, Log

HOT = 10_000  # rounds that are kept in memory as well


class Shelf(MutableMapping[Key, Round]):
    """Rounds by their ids, the oldest first. `group` takes what has to be written for it; `number` is of the event.

    A round leaves the memory only when it is on the disk, so what is in neither waits no more.
    """

    def __init__(self, log: Log, number: int) -> None:
        self.log, self.number, self.group = log, number, Group()
        self.replayed: int | None = number  # while a log is played again: up to which event rounds are on the disk
        self._most = self._room = HOT
        self._hot: OrderedDict[Key, tuple[int, Round]] = OrderedDict()  # with the event that made it
        self._cold = log.waiting  # rounds that are on the disk alone
        self._gone: dict[int, int] = {}  # by place: what ended rounds that may still wait on the disk
        self._found: tuple[Key, Round] | None = None  # the last that was looked up on the disk
        self._oldest: tuple[int, Key] | None = None  # and the oldest there

    def __getitem__(self, key: Key) -> Round:
        hot = self._hot.get(key)
        if hot is not None:
            return hot[1]
        if not self._cold:
            raise KeyError(key)
        if self._found is not None and self._found[0] == key:
            return self._found[1]
        found = self.log.round(key)
        if found is None or found[1].place in self._gone:
            raise KeyError(key)
        self._found = key, found[1]
        return found[1]

    def __setitem__(self, key: Key, one: Round) -> None:
        self._hot[key] = self.number, one
        self.group.made.append((key, self.number, one))
        if len(self._hot) > self._most:
            self._settle()

    def __delitem__(self, key: Key) -> None:
        one = self[key]
        if self._hot.pop(key, None) is None:
            self._cold -= 1
        self._gone[one.place] = self.number
        if len(self._gone) > self._room:
            written = self.log.written if self.replayed is None else self.replayed
            self._gone = {place: ended for place, ended in self._gone.items() if ended > written}
            self._room = max(self._most, 2 * len(self._gone))
        self._found = None
        if self._oldest is not None and self._oldest[0] == one.place:
            self._oldest = None
        self.group.ended.append((self.number, one.place))

    def __len__(self) -> int:
        return len(self._hot) + self._cold

    def __iter__(self) -> Iterator[Key]:
        if self._cold:
            if self._oldest is None:
                self._oldest = next((one for one in self.log.oldest(-1) if self._waits(one[0])), None)
            if self._oldest is not None:
                yield self._oldest[1]
                yield from (key for place, key in self.log.oldest(self._oldest[0]) if self._waits(place))
        yield from self._hot

    def _waits(self, place: int) -> bool:
        return place not in self._gone and (not self._hot or place < next(iter(self._hot.values()))[1].place)

    def _settle(self) -> None:
        """Let go of the oldest that are on the disk."""
        written = self.log.written if self.replayed is None else self.replayed
        while len(self._hot) > self._most // 2:
            key, (made, _) = next(iter(self._hot.items()))
            if made > written:
                break
            del self._hot[key]
            self._cold += 1

    def taken(self) -> Group:
        """What has to be written for the last event."""
        made, self.group = self.group, Group()
        return made
