"""The best fixed model of rows that lie on shards, for a learner that has learned from them in whatever way."""

from __future__ import annotations

import math
from copy import deepcopy

from noregret.cluster.choosing import engine_of, shards_of
from noregret.errors import SettingError, spelled
from noregret.learner.core import Core
from noregret.proof.certify import GAP
from noregret.proof.hindsight import Hindsight
from noregret.proof.replay import classes, fresh, read_again, reading
from noregret.proof.solve.spread import best_on
from noregret.shards.part import how_read, parts_of, refuse_gaps
from noregret.shards.play import described_shard, hold
from noregret.shards.shard import mixable, size_of
from noregret.stream.files import files_of


def best_of(
    core: Core,
    path: str,
    cluster: str | None,
    shards: int | None = None,
    radius: float | None = None,
    *,
    gap: float = GAP,
    seconds: float = math.inf,
) -> tuple[Hindsight, list[int]]:
    """The interval of the best model in the learner's ball, or in that of the radius, and the rows of each shard."""
    mixable(core)
    own = core.domain.radius
    if not core.domain.fits_ball:
        raise SettingError(f"hindsight on shards looks in a ball; the learner's domain is the {core.domain.shape}")
    if radius is not None and math.isfinite(own) and radius != own:
        raise SettingError(f"certify: the learner has the radius {own:g}; leave out the other, {radius:g}")
    within = own if math.isfinite(own) else radius
    if within is None:
        raise SettingError(f"certify: {core.name} has no radius: give one with {spelled('radius')}")
    source = read_again(path, reading(core))
    refuse_gaps(source)
    again = fresh(core.name, core.settings, classes(core))
    again.options = dict(core.options)
    known = deepcopy(source.features)
    parts = parts_of(path, source, shards_of(cluster, shards, files_of(path) is not None), how_read(core))
    with engine_of(cluster) as engine:
        agreement = hold(engine, again, parts[0], known)
        rows = [int(one["rows"]) for one in engine.each(described_shard)]
        found = best_on(engine, core.judged_by, within, size_of(agreement), gap=gap, seconds=seconds)[0]
    return found, rows
