"""A run: from its receipt, from its model file, or from both, which then are one section."""

from __future__ import annotations

import math
from typing import Any

from noregret.learner import Selected
from noregret.proof.receipt import Receipt
from noregret.reporting.lead import of_receipt, of_run
from noregret.reporting.subject import Part, Rows, Subject
from noregret.reporting.wording import (
    MANY,
    against,
    between,
    command,
    file_word,
    most,
    of_rounds,
    shown,
    streams_of,
    verifying,
    word,
)
from noregret.run import Run
from noregret.summary import RUN_HEAD, number, run_rows, share

NO_BASELINES = "The two baselines stand in the model file: give it beside the receipt, and they stand here."


def same_run(receipt: Receipt, run: Run) -> bool:
    """Whether a model is that of the receipt's run: the same learner, streams and figures."""
    figures, segments = receipt.figures, [one.get("digest") for one in run.learner.segments]
    played = {"loss": run.loss, "weight_norm": run.weight_norm}
    return (
        not isinstance(run.learner, Selected)
        and receipt.learner.get("name") == run.learner.name
        and (figures.get("rounds"), figures.get("mistakes")) == (run.rounds, run.mistakes)
        and all(float(figures[key]["lower"]) <= one <= float(figures[key]["upper"]) for key, one in played.items())
        and [one.get("digest") for one in receipt.segments] == segments
    )


def certified(name: str, receipt: Receipt, run: Run | None, digest: str | None, model: str = "") -> Subject:
    """The section of a receipt, with what its model adds."""
    figures = receipt.figures
    rows = _own(figures, receipt) if run is None else _of_run(run)
    parts = [Part("Figures", rows, RUN_HEAD, NO_BASELINES if run is None else None)]
    if receipt.entries:
        told = "regret = what the run lost − what the best fixed weights, chosen with hindsight, lose; ends rounded out"
        parts.append(Part("Regret", [_regret(entry) for entry in receipt.entries], REGRET_HEAD, told))
    chosen = receipt.selection
    if chosen is not None:
        parts.append(_selection(chosen))
    return Subject(
        name,
        "receipt of a run" if run is None else f"receipt of a run, with its model {model}",
        of_receipt(receipt),
        _about(receipt.learner, receipt.reading, receipt.segments),
        parts,
        certificates=receipt.certificates,
        promised=[] if chosen is None else chosen["certificates"],
        checking=verifying(name, streams_of(receipt.segments), digest),
        compared=_compared(receipt, run),
        drawn=(receipt,) if run is None else (receipt, run),
    )


REGRET_HEAD: tuple[object, ...] = ("against the best u in hindsight", "rounds", "the run lost", "u loses", "regret")


def modelled(name: str, run: Run) -> Subject:
    """The section of a model file: figures, and what the pass alone proves."""
    core = run.learner
    parts = [Part("Figures", _of_run(run), RUN_HEAD, "A model holds no certificates: certify its run for those.")]
    promised: list[dict[str, Any]] = []
    if isinstance(core, Selected):
        parts.append(_selection(core.selection))
        promised = core.selection["certificates"]
    streams, file = streams_of(core.segments), file_word(name)
    made = [
        ("certify the run and write its receipt", command("certify", file, *streams, "--receipt", "receipt.json")),
        ("recompute every number of that receipt", command("verify", "receipt.json", *streams)),
    ]
    learner = {"name": core.name, "settings": run.to_dict()["learner"], "labels": _labels(core)}
    learner["settings"] = {key: value for key, value in learner["settings"].items() if key != "name"}
    mistakes = "–" if run.mistakes is None else f"{number(run.mistakes)} ({share(run.mistakes, run.rounds)})"
    upper = run.regret_upper
    return Subject(
        name,
        "model",
        of_run(run),
        _about(learner, core.options, core.segments),
        parts,
        promised=promised,
        checking=made if core.learns and core.segments else [],
        compared={
            "what": core.name,
            "rounds": number(run.rounds),
            "mistakes": mistakes,
            "loss": f"{number(run.loss)} ({core.loss.spec})",
            "regret": "–" if upper is None else f"at most {most(upper)}",
            "theorems": "none evaluated",
        },
        drawn=(run,),
    )


# -- what was run ------------------------------------------------------------------------------------------------------


def _about(learner: dict[str, Any], reading: dict[str, Any], segments: list[dict[str, Any]]) -> Part:
    rows: Rows = [("learner", shown(learner["name"]))]
    rows.append(("  settings", _settings(learner["settings"]) or "none"))
    if learner.get("labels"):
        rows.append(("labels", shown(learner["labels"])))
    read = {key: value for key, value in reading.items() if value not in (None, [], ())}
    rows += [(f"read with {word(shown(key))}", shown(value)) for key, value in read.items()]
    for place, one in enumerate(segments[:MANY], 1):
        which = "stream" if len(segments) == 1 else f"stream {place}"
        passes = f"{shown(one.get('passes', 1))} passes of " if one.get("passes", 1) != 1 else ""
        order = "" if one.get("shuffle") is None else f", shuffled with seed {shown(one['shuffle'])}"
        rows.append((which, f"{passes}{shown(one['rows'])} rows{order}"))
        rows.append(("  SHA-256 of its rows", shown(one.get("digest"))))
    if len(segments) > MANY:
        rows.append((f"and {len(segments) - MANY:,} more streams", ""))
    return Part("What was run", rows)


def _settings(settings: dict[str, Any]) -> str:
    said = {key: value for key, value in settings.items() if value not in (None, False)}
    return ", ".join(
        word(shown(key)) if value is True else f"{word(shown(key))} {shown(value)}" for key, value in said.items()
    )


def _labels(core: Any) -> list[str] | None:
    return None if core.labels is None else [shown(one) for one in core.labels.classes]


# -- figures -----------------------------------------------------------------------------------------------------------


def _of_run(run: Run) -> Rows:
    return [tuple(row) for row in run_rows(run)]


def _own(figures: dict[str, Any], receipt: Receipt) -> Rows:
    """The figures that a receipt holds of its own."""
    rounds = figures["rounds"]
    rows: Rows = [("rounds", shown(rounds), ""), ("features", shown(figures["features"]), "")]
    if "classes" in figures:
        rows.append(("classes", shown(figures["classes"]), ""))
    if figures["mistakes"] is not None:
        rows.append(("mistakes", shown(figures["mistakes"]), share(figures["mistakes"], rounds)))
    named = receipt.learner["settings"].get("loss")
    lost = receipt.figure("loss")
    rows.append((f"loss ({shown(named)})" if named else "loss", shown(lost), of_rounds(lost, rounds)))
    rows.append(("longest row ‖x‖", number(math.sqrt(receipt.figure("max_norm2"))), ""))
    rows.append(("weights ‖w‖", shown(receipt.figure("weight_norm")), ""))
    return rows


def _regret(entry: dict[str, Any]) -> tuple[object, ...]:
    lost = (between(entry["own"]), between(entry["comparator"]), between(entry))
    return against(entry), shown(entry["rounds"]), *lost


def _selection(chosen: dict[str, Any]) -> Part:
    rows: Rows = [("how", shown(chosen["how"])), ("confidence", shown(chosen["confidence"]))]
    if chosen["how"] != "last":
        rows.append(("candidates", shown(chosen["candidates"])))
    if chosen.get("round") is not None:
        rows.append(("chosen: as it stood before round", shown(chosen["round"])))
        rows.append(("  rounds that it had not seen", shown(chosen["tail"])))
        rows.append(("  errors on these", f"{shown(chosen['errors'])} ({100.0 * chosen['empirical']:.2f} %)"))
    return Part("The predictor that was selected", rows)


def _compared(receipt: Receipt, run: Run | None) -> dict[str, str]:
    figures, regret = receipt.figures, receipt.regret
    missed = figures["mistakes"]
    loss = run.learner.loss.spec if run is not None else receipt.learner["settings"].get("loss")
    return {
        "what": shown(receipt.learner["name"]),
        "rounds": shown(figures["rounds"]),
        "mistakes": "–" if missed is None else f"{shown(missed)} ({share(missed, figures['rounds'])})",
        "loss": shown(receipt.figure("loss")) + (f" ({shown(loss)})" if loss else ""),
        "regret": "–" if regret is None else f"{between(regret)} ({against(regret)})",
    }
