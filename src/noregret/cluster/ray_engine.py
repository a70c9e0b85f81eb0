"""The work on shards done by Ray: workers that hold shards, here or on other machines.

A worker is an actor with some of the shards. It knows how to read each of them again, and whatever it is asked is a
function of the shard and of what it is given: where a worker or a whole machine is lost, Ray starts another one, which
reads its shards and answers the same question with the same bits.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from noregret.errors import NoregretError, SettingError
from noregret.shards.part import Agreement, Part, Survey
from noregret.shards.shard import Holder
from noregret.stream.features import Features

R = TypeVar("R")
Task = Callable[..., R]
SHARE = 0.1  # of a processor: so little that a worker finds room elsewhere when a machine is lost
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_DEDUP_LOGS": "0",
    "RAY_TQDM": "0",
}
PATIENCE = {"RAY_gcs_server_request_timeout_seconds": "60", "RAY_raylet_start_wait_time_s": "120"}  # a loaded machine
STORE = 256 << 20  # bytes of shared memory on one machine: weights and ledgers pass through it


def imported() -> Any:
    """Ray, or the sentence that names what to install."""
    for name, value in {**QUIET, **PATIENCE}.items():
        os.environ.setdefault(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
    except ImportError as error:
        raise SettingError("cluster: Ray is not installed: pip install 'noregret[ray]'") from error
    return ray


class Worker:
    """Some of the shards, in a process of their own."""

    def __init__(self) -> None:
        self._holders: dict[int, Holder] = {}

    def survey(self, place: int, kept: list[Any]) -> Any:
        return self._said(lambda: self._holder(place, kept).survey())

    def do(
        self, place: int, kept: list[Any], task: Task[R], agreed: Agreement, own: tuple[Any, ...], *shared: Any
    ) -> Any:
        return self._said(lambda: task(self._holder(place, kept).shard(agreed), *shared, *own))

    def _holder(self, place: int, kept: list[Any]) -> Holder:
        """`kept` is a reference to the part, which the driver keeps for whoever has to begin again."""
        if place not in self._holders:
            import ray

            self._holders[place] = Holder(*ray.get(kept[0]))
        return self._holders[place]

    @staticmethod
    def _said(work: Callable[[], Any]) -> Any:
        """The answer, or the user's error: Ray would wrap it up with a traceback."""
        try:
            return True, work()
        except NoregretError as error:
            return False, error


class RayEngine:
    """Shards held by `workers` actors: of an own cluster on this machine, or of the one at an address."""

    def __init__(self, workers: int | None, address: str | None = None) -> None:
        self._ray = ray = imported()
        if ray.is_initialized():
            raise SettingError("cluster: this process uses Ray already: call ray.shutdown() first")
        self._folder: str | None = None
        self._agreed: Any = None
        self._actors: list[Any] = []
        self._kept: list[Any] = []  # what each shard is made from
        self._begin(workers, address)
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def _begin(self, workers: int | None, address: str | None) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False}
        if address is None:
            # a cluster of its own: an address file that an older one left behind is not looked at
            self._folder = tempfile.mkdtemp(prefix="noregret-")
            quiet |= {"address": "local", "num_cpus": workers, "_temp_dir": self._folder, "object_store_memory": STORE}
        else:
            quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "address": address}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._ray.init(**quiet)
        except Exception as error:
            self.close()
            where = "on this machine" if address is None else f"at {address}"
            told = " ".join(str(error).split())[:200]
            raise SettingError(f"cluster: no Ray cluster {where} answers: {told}") from error

    def hold(self, parts: Sequence[Part], known: Features, labelled: bool) -> None:
        made = self._ray.remote(Worker).options(
            num_cpus=SHARE, max_restarts=-1, max_task_retries=-1, scheduling_strategy="SPREAD"
        )
        count = min(self.workers, len(parts))
        self._kept = [self._ray.put((part, known, labelled)) for part in parts]
        self._actors = [made.remote() for _ in range(count)]

    def survey(self) -> list[Survey]:
        return self._got([self._actor(place).survey.remote(place, [kept]) for place, kept in enumerate(self._kept)])

    def agree(self, agreed: Agreement) -> None:
        self._agreed = self._ray.put(agreed)

    def each(self, task: Task[R], *shared: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[R]:
        once = [self._ray.put(part) for part in shared]
        asked = [
            self._actor(place).do.remote(place, [kept], task, self._agreed, own[place] if own else (), *once)
            for place, kept in enumerate(self._kept)
        ]
        return self._got(asked)

    def close(self) -> None:
        self._actors, self._kept, self._agreed = [], [], None
        if self._ray.is_initialized():
            self._ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _actor(self, place: int) -> Any:
        return self._actors[place % len(self._actors)]

    def _got(self, asked: list[Any]) -> list[Any]:
        """The answers in the order of the shards; the first error that a shard met."""
        try:
            found = self._ray.get(asked)
        except self._ray.exceptions.RayError as error:
            told = " ".join(str(error).split())[-200:]
            raise SettingError(f"cluster: a worker failed and could not be started again: {told}") from error
        for right, answer in found:
            if not right:
                raise answer
        return [answer for _, answer in found]
