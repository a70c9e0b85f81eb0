"""`learn --cluster`: from parts of a stream at once, with the weights mixed after every pass."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.cli.choosing import chosen
from noregret.cli.learning import Learning
from noregret.cli.options import flag
from noregret.cli.terminal import put_json
from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.cli.learn import Asked, InWindows, Late, Shards, Watch
    from noregret.shards.play import ShardedRun

SINGLE = (  # options for rounds that come one after another, in one process
    *("shuffle", "resume", "skip", "again", "every", "predictions", "select", "plot", "anytime", "surrogate"),
    *("class_weight", "cache", "ledger"),
)


class Clustered(Learning):
    """A schedule on shards."""

    sharded: ShardedRun

    def __init__(self, stream: str, asked: Asked, watch: Watch, kept: InWindows, late: Late, shards: Shards) -> None:
        super().__init__(stream, asked, watch, kept, late.time)
        self._late, self._how, self._beside = late, shards, (watch, kept)

    def check(self) -> None:
        from noregret.cluster.choosing import told
        from noregret.shards.mixing import check_rule

        if self._late.asked or self._late.time is not None:
            raise SettingError("labels that come late cannot be learned with --cluster: leave it out")
        for name in SINGLE:
            if getattr(self.asked, name) not in (None, False):
                raise SettingError(f"{flag(name)} cannot be used with --cluster: leave it out")
        for group in self._beside:
            for name in group.options():
                if getattr(group, name) not in (None, False):
                    raise SettingError(f"{flag(name)} cannot be used with --cluster: leave it out")
        if self.stream == "-":
            raise SettingError("--cluster needs files: standard input can be read by one process alone")
        told(self._how.cluster)
        check_rule(self._how.mixing or "uniform")
        super().check()

    def play(self, name: str | None, task: str | None, settings: dict[str, Any]) -> None:
        """Play the schedule, then save, certify and write what was asked for."""
        from noregret.cluster.learning import learned
        from noregret.shards.shard import mixable

        self._prepare(name, task, settings)
        source = self.asked.stream(self.stream, self.recipe)
        known = deepcopy(source.features)  # of the first file: to look at more rows may show more
        self.choice = chosen(self.wanted, source)
        mixable(self.choice.core)
        if self.choice.radius is not None:
            raise SettingError("--radius cannot be used with --cluster and perceptron: leave it out")
        self.sharded = learned(
            self.choice.core,
            source,
            known,
            self.stream,
            self._how.shards,
            self._how.cluster,
            passes=self.asked.passes,
            mixing=self._how.mixing or "uniform",
            certify=self.asked.proves,
            gap=self.proof["gap"],
            seconds=self.proof["seconds"],
        )
        self.run, self.receipt, self.source = self.sharded.run, self.sharded.receipt, source
        if self.saving is not None:
            self.saving(self.run.learner)
        if self.receipt is not None and self.asked.receipt is not None:
            self.receipt.save(self.asked.receipt)

    def _print_json(self) -> None:
        from noregret.cli.show import task_figures

        answer = {**self.sharded.to_dict(), "task": task_figures(self.choice)}
        answer |= {"columns": self.source.columns, "decisions": self.source.decisions}
        if self.receipt is not None:
            answer |= {"certificates": self.receipt.certificates, "regret": self.receipt.regret}
        put_json(answer)

    def _show(self) -> None:
        from noregret.cli.show import as_read, show_lines, show_run, title

        show_run(self.run, title(self.run, self.choice), self.choice.task.words)
        print()
        self._show_epochs()
        show_lines([*self._words(), *as_read(self.run, self.choice), *self.source.decisions])
        if self.receipt is not None:
            print()
            self._show_receipt()

    def _show_epochs(self) -> None:
        """A line for each pass over all shards."""
        from noregret.cli.show import table
        from noregret.shards.round import merged
        from noregret.summary import number, per_round, share

        rows = []
        for count, epoch in enumerate(self.sharded.epochs, 1):
            told = merged(epoch.figures)
            n = told["rounds"]
            wrong = () if self.run.mistakes is None else (number(told["mistakes"]), share(told["mistakes"], n))
            rows.append((f"pass {count}", number(n), *wrong, number(told["loss"]), per_round(told["loss"], n)))
        judged = () if self.run.mistakes is None else ("mistakes", "per row")
        shards = len(self.sharded.shards)
        what = "files" if self.sharded.parts == "files" else "parts of the rows"
        table(
            rows,
            ("", "rounds", *judged, "loss", "per row"),
            f"{shards:,} shards ({what}), mixing {self.sharded.mixing}",
        )

    def _words(self) -> list[str]:
        """What is to be known of this schedule."""
        from noregret.shards.mixing import COUNTEREXAMPLE, ONCE

        lines = [f"shards {one} and {other} hold the same rows" for one, other in self.sharded.repeated]
        if self.sharded.mixing == ONCE:
            lines.append(COUNTEREXAMPLE)
        if len(self.sharded.epochs) < self.sharded.asked:
            lines.append(f"pass {len(self.sharded.epochs)} made no mistake: further passes would change nothing")
        return lines

    def _show_receipt(self) -> None:
        from noregret.cli.show import table
        from noregret.cli.solving import unmet
        from noregret.summary import at_least, at_most

        regret = self.receipt.regret
        if regret is not None:
            best, radius = regret["comparator"], regret["domain"]["radius"]
            head = (
                "best fixed weights in hindsight",
                "rows",
                "their loss from",
                "to",
                "regret of all passes from",
                "to",
            )
            row = (f"{regret['loss']}, ‖u‖ ≤ {radius:g}", f"{regret['rounds'] // regret['passes']:,}")
            ends = (at_least(best["lower"]), at_most(best["upper"]))
            lost = (at_least(float(regret["lower"])), at_most(float(regret["upper"])))
            table([(*row, *ends, *lost)], head)
            gap = float(regret["gap"])
            if gap > self.proof["gap"]:
                print(f"wider than requested: a gap of {gap:.2g} instead of {self.proof['gap']:g} is what was reached")
            print()
        rows = [
            (one["theorem"], at_most(float(one["bound"])), _observed(one["observed"]), one["verdict"])
            for one in self.receipt.certificates
            if one["verdict"] != "unmet"
        ]
        if rows:
            table(rows, ("theorem", "bound", "observed", "verdict"))
        for reason, names in unmet(self.receipt.certificates).items():
            print(f"no claim by {', '.join(names)}: this assumption fails: {reason}")


def _observed(value: float | str | None) -> str:
    from noregret.summary import at_most

    return at_most(None if value is None else float(value))


def certify_on_shards(
    model: Path,
    streams: list[str],
    cluster: str | None,
    shards: int | None,
    radius: float | None,
    gap: float | None,
    seconds: float | None,
    refused: dict[str, Any],
    json: bool,
    quiet: bool,
) -> None:
    """The best fixed model of all rows of one stream, as an interval that every shard proves a part of."""
    from noregret import model as models
    from noregret.cli.solving import checked_gap, checked_seconds
    from noregret.cluster.hindsight import best_of

    if cluster is None:
        raise SettingError("--shards goes with --cluster")
    for name, value in refused.items():
        if value not in (None, False):
            raise SettingError(f"{flag(name)} cannot be used with --cluster: leave it out")
    if len(streams) != 1:
        raise SettingError(f"--cluster takes one stream, folder or pattern; {len(streams)} were given")
    core, _ = models.load(model)
    asked = checked_gap(gap)
    found, rows = best_of(core, streams[0], cluster, shards, radius, gap=asked, seconds=checked_seconds(seconds))
    told = {"loss": core.judged_by.spec, "domain": {"radius": found.radius}, "rows": sum(rows), "shards": len(rows)}
    ends = {"lower": found.lower, "upper": found.upper}
    if json:
        put_json({**told, "comparator": ends, "gap": found.gap, "finished": found.finished})
    elif not quiet:
        _show_best(told, ends, found.gap, asked)


def _show_best(told: dict[str, Any], ends: dict[str, float], gap: float, asked: float) -> None:
    from noregret.cli.show import table
    from noregret.summary import at_least, at_most

    head = ("best fixed weights in hindsight", "rows", "shards", "their loss from", "to")
    name = f"{told['loss']}, ‖u‖ ≤ {told['domain']['radius']:g}"
    counts = (f"{told['rows']:,}", f"{told['shards']:,}")
    table([(name, *counts, at_least(ends["lower"]), at_most(ends["upper"]))], head)
    if gap > asked:
        print(f"wider than requested: a gap of {gap:.2g} instead of {asked:g} is what was reached")
