"""Parts of ledgers: as they are made of a log or of a run, and as they come out again of the same streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import InputError, ReceiptError, SettingError
from noregret.learner import OnlineGradientDescent
from noregret.learner.core import Core
from noregret.logged.opening import Log
from noregret.logged.reading import Kept
from noregret.loss import Loss
from noregret.proof.facts import judged_by
from noregret.proof.ledger import DAMAGE, LedgerReceipt, Part, numbering, receipt_of_ledgers
from noregret.proof.replay import READING, chains, described, own_code, read_again, reading, replay, segment_of
from noregret.proof.verify import learner_from
from noregret.rounds import Rounds
from noregret.run import Run
from noregret.stream.reading import read
from noregret.watch.digests import Digests, Scores
from noregret.watch.ledger import Ledger, Tally

USUAL_RADIUS = 10.0  # where a learner has none
UNPREPARED: dict[str, Any] = {"unit_norm": False, "scale": None, "expand": None, "lags": None}
LEARNED = ("max", "standard")  # scales that the rows before decide


@dataclass(frozen=True)
class Again:
    """A part as it came out this time."""

    rounds: Rounds
    rows: str
    scores: str
    how: dict[str, Any]
    features: dict[str, Any]
    prepared: dict[str, Any]


def again(receipt: LedgerReceipt, part: Part, streams: Sequence[Any]) -> Again:
    """The rounds of a part, from its streams."""
    try:
        return (_log_again if part.how["from"] == "log" else _run_again)(receipt, part, streams)
    except ReceiptError:
        raise
    except InputError as error:
        if isinstance(error.__cause__, OSError):
            raise
        raise ReceiptError(f"the rounds cannot be had again: {error}", failed=True) from error
    except (SettingError, *DAMAGE) as error:
        raise ReceiptError(f"the rounds cannot be had again: {error}", failed=True) from error


# -- logs --------------------------------------------------------------------------------------------------------


def how_logged(log: Log) -> dict[str, Any]:
    """Which columns were what."""
    labels = log.core.labels
    return {
        "from": "log",
        "kind": log.kind,
        "column": log.said,
        "reading": log.said_again,
        "labels": None if labels is None else labels.needed_again,
    }


def receipt_of_log(log: Log, ledger: Ledger, digests: Digests, radius: float) -> LedgerReceipt:
    """The receipt of the ledger of a log."""
    if log.loss.custom:
        raise SettingError("a receipt needs a loss that has a name here: yours is your own Python code")
    part = Part(how_logged(log), ledger, digests.rows, digests.digest)
    return receipt_of_ledgers(log.loss, radius, numbering(log.stream.features), _filled(log), [part])


def _filled(log: Log) -> dict[str, Any]:
    return {**UNPREPARED, "means": log.stream.gapped, "learned": log.stream.gapped}


def _log_again(receipt: LedgerReceipt, part: Part, streams: Sequence[Any]) -> Again:
    how = part.how
    said = how["reading"]
    if not set(said) <= set(READING):
        raise ReceiptError(f"a log is read by {', '.join(READING)}", failed=True)
    stream = read(streams[0], **said)
    core = OnlineGradientDescent(loss=receipt.loss)
    if how["labels"] is not None and core.labels is not None:
        core.labels = core.labels.again(how["labels"])
    if how["kind"] not in ("score", "probability", "prediction"):
        raise ReceiptError(f"a log holds no {how['kind']!r}", failed=True)
    skips = said.get("missing") == "skip"
    log = Log(streams[0], stream, core, how["kind"], how["column"], None, receipt.bias, skips, (), how["reading"], True)
    kept = Kept(log)
    try:
        kept.read_all(None)
        rounds = kept.done(None)[0]
    finally:
        kept.close()
    assert kept.digests is not None
    features = numbering(stream.features)
    return Again(rounds, kept.digests.rows, kept.digests.digest, how_logged(log), features, _filled(log))


# -- runs --------------------------------------------------------------------------------------------------------


class Ledgers:
    """Takes rounds in as they are played: their ledger, and the digest of their scores."""

    def __init__(self, core: Core) -> None:
        self.loss = loss_of(core)
        self._tally = Tally(self.loss, bool(core.config["bias"][0]))
        self._scores = Scores()

    def add(self, rows: Any, y: Any, weights: Any, scores: Any, moves: Any = None) -> None:
        """One block."""
        self._tally.add(rows, y, weights, scores)
        self._scores.add(rows, y, weights, scores)

    def receipt(self, run: Run) -> LedgerReceipt:
        """The receipt of the run whose rounds these were."""
        core = run.learner
        if not run.rounds or run.digest is None:
            raise SettingError("a ledger needs at least one round, and the digest of the rows")
        part = Part(how_played(core), self._tally.ledger(), run.digest, self._scores.digest)
        radius = core.domain.radius if core.domain.radius < float("inf") else USUAL_RADIUS
        return receipt_of_ledgers(self.loss, radius, numbering(core.features), prepared(core), [part])


def loss_of(core: Core) -> Loss:
    """The convex loss that a learner's scores are judged by; a refusal where there is none."""
    if core.multiclass:
        raise SettingError(f"a ledger is of scores that are single numbers; {core.name} has one for each class here")
    if own_code(core) is not None:
        raise SettingError(f"the receipt of a ledger cannot hold a {own_code(core)} that is your own Python code")
    return judged_by(core)


def how_played(core: Core) -> dict[str, Any]:
    """The learner, how its stream was read, and how often it was gone over."""
    segments = [{key: one[key] for key in ("rows", "passes", "shuffle", "class_weight")} for one in chains(core)]
    return {"from": "learner", "learner": described(core), "reading": reading(core), "segments": segments}


def prepared(core: Core) -> dict[str, Any]:
    """What was done to rows, and whether the rows before decide it."""
    said = {name: core.settings.get(name) or plain for name, plain in UNPREPARED.items()}
    means = core.preparation.means is not None
    learned = means or said["scale"] in LEARNED or bool(said["lags"]) or str(said["expand"]).startswith("bins")
    return {**said, "means": means, "learned": learned}


def _run_again(receipt: LedgerReceipt, part: Part, streams: Sequence[Any]) -> Again:
    how = part.how
    core = learner_from(how["learner"], how["reading"], None, None)
    segments = [segment_of({**one, **UNSAID}, place) for place, one in enumerate(how["segments"], 1)]
    given = [read_again(stream, how["reading"]) for stream in streams]
    if loss_of(core).spec != receipt.loss.spec:
        raise ReceiptError("the loss is not the one that the learner is judged by", failed=True)
    played = replay(core, segments, given)
    assert played.rounds.scores is not None
    scores = Scores()
    scores.add(played.rounds.rows, played.rounds.y, None, played.rounds.scores)
    return Again(
        played.rounds, played.digests[0], scores.digest, how_played(core), numbering(core.features), prepared(core)
    )


UNSAID: Mapping[str, Any] = {"ended": True, "digest": "0" * 64}  # of a segment: the part says it
