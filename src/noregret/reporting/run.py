"""A run: from its receipt, from its model file, or from both, which then are one section."""

from __future__ import annotations

import math
from typing import Any

from noregret.advice import advice
from noregret.learner import Selected
from noregret.proof.receipt import Receipt
from noregret.proof.regret import Against
from noregret.proof.theorems import THEOREMS
from noregret.reporting.html import (
    MANY,
    Part,
    Rows,
    Subject,
    against,
    between,
    command,
    file_word,
    most,
    shown,
    streams_of,
    verifying,
    word,
)
from noregret.reporting.mixture import members_part, what_is_promised, who_led
from noregret.reporting.windows import alarm_parts, windows_parts
from noregret.run import Run
from noregret.summary import RUN_HEAD, number, per_round, run_rows, share

NO_BASELINES = "The receipt does not hold the two baselines. Give the model file of the run as well to see them here."
REGRET_NOTE = "regret = loss of the run − loss of the best fixed model; intervals are rounded outwards"
REGRET_HEAD: tuple[object, ...] = ("comparison", "rounds", "loss of the run", "loss of the best fixed model", "regret")
ONE_SET = "one set of weights for all rows"
SMALL, LARGE = 0.05, 0.25  # shares of the loss that a fixed model could have saved
CHECK = ("Before you rely on these numbers, recompute them with the commands under “How to verify”.", None)
Step = tuple[str, str | None]


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
    figures, chosen = receipt.figures, receipt.selection
    rows = _own(figures, receipt) if run is None else _of_run(run)
    parts = [Part("Figures", rows, RUN_HEAD, NO_BASELINES if run is None else None)]
    parts += [] if run is None else members_part(run)
    entries = [_regret(entry) for entry in receipt.entries]
    ended = receipt.regret is not None
    if ended:
        parts.append(Part("Regret", entries[:1], REGRET_HEAD, REGRET_NOTE))
    if entries[ended:]:
        parts.append(Part("Regret along the way", entries[ended:], REGRET_HEAD, REGRET_NOTE, folded=True))
    if chosen is not None:
        parts.append(_selection(chosen))
    promised = [] if chosen is None else chosen["certificates"]
    happened = _happened(
        shown(receipt.learner["name"]), figures["rounds"], figures["mistakes"], receipt.figure("loss"), receipt.segments
    )
    mixed = [*who_led(run), *what_is_promised(receipt.certificates)]
    meaning = [happened, *_beside(run), *mixed, *_regret_means(receipt.regret), *_guaranteed(receipt.certificates)]
    return Subject(
        name,
        "receipt of a run" if run is None else f"receipt of a run, with its model {model}",
        [*meaning, *_on_new_rows(promised, chosen)],
        [*_broken([*receipt.certificates, *promised]), *_advised(run), *_regret_asks(receipt.regret, run), CHECK],
        _about(receipt.learner, receipt.reading, receipt.segments),
        parts,
        certificates=receipt.certificates,
        promised=promised,
        checking=verifying(name, streams_of(receipt.segments), digest),
        compared=_compared(receipt, run),
        drawn=(receipt,) if run is None else (receipt, run),
    )


def modelled(name: str, run: Run) -> Subject:
    """The section of a model file: figures, and what the pass alone proves."""
    core = run.learner
    chosen = core.selection if isinstance(core, Selected) else None
    promised: list[dict[str, Any]] = [] if chosen is None else chosen["certificates"]
    parts = [
        Part("Figures", _of_run(run), RUN_HEAD, "A model file holds no certificates: certify its run to get them.")
    ]
    parts += members_part(run)
    parts += [*windows_parts(run.windows), *alarm_parts(run.alarm)]
    parts += [] if chosen is None else [_selection(chosen)]
    streams, file = streams_of(core.segments), file_word(name)
    made = [
        ("Certify the run and write its receipt", command("certify", file, *streams, "--receipt", "receipt.json")),
        ("Recompute every number of that receipt", command("verify", "receipt.json", *streams)),
    ]
    learner = {"name": core.name, "settings": run.to_dict()["learner"], "labels": _labels(core)}
    learner["settings"] = {key: value for key, value in learner["settings"].items() if key != "name"}
    mistakes = "–" if run.mistakes is None else f"{number(run.mistakes)} ({share(run.mistakes, run.rounds)})"
    upper = run.regret_upper
    certifiable = bool(core.learns and core.segments)
    ask = "Certify the run to see how much a better model could have saved: the commands are under “How to verify”."
    use = ("Use the model to predict new rows:", command("predict", file, "ROWS"))
    return Subject(
        name,
        "model",
        [
            _happened(core.name, run.rounds, run.mistakes, run.loss, core.segments),
            *_beside(run),
            *who_led(run),
            *_upper_means(run),
            *_on_new_rows(promised, chosen),
        ],
        [*_broken(promised), *_advised(run), (ask, None) if certifiable else use],
        _about(learner, core.options, core.segments),
        parts,
        promised=promised,
        checking=made if certifiable else [],
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


# -- what it means -----------------------------------------------------------------------------------------------------


def _happened(name: str, rounds: int, mistakes: int | None, loss: float, segments: list[dict[str, Any]]) -> str:
    passes = max((one.get("passes", 1) for one in segments), default=1)
    when = "each before seeing its label"
    if passes > 1:
        when = f"in {shown(passes)} passes; only in the first pass were the rows new to it"
    told = [f"The learner {name} predicted {number(rounds)} rows, {when}."]
    if mistakes is not None:
        told.append(f"It was wrong on {number(mistakes)} of them ({share(mistakes, rounds)}).")
    if mistakes is None or loss != mistakes:
        told.append(f"Its total loss was {number(loss)} ({per_round(loss, rounds)} per row).")
    return " ".join(told)


def _beside(run: Run | None) -> list[str]:
    """The run beside the better baseline."""
    if run is None or not run.rounds:
        return []
    own, rules = float(run.loss if run.mistakes is None else run.mistakes), run.baselines
    rule = min(rules, key=lambda name: rules[name])
    named = {
        "majority_label": "always predicting the most frequent label",
        "last_label": "repeating the previous label",
        "mean_label": "always predicting the mean of the labels so far",
    }[rule]
    if run.mistakes is None:
        theirs = f"has a total loss of {number(rules[rule])}"
    else:
        theirs = f"is wrong on {number(rules[rule])} ({share(rules[rule], run.rounds)})"
    if own < rules[rule]:
        saved = share(rules[rule] - own, rules[rule])
        found = (
            f"The learner's loss is {saved} lower"
            if run.mistakes is None
            else f"The learner makes {saved} fewer mistakes"
        )
    else:
        found = "The learner does no better than that"
    return [f"For comparison, {named}, which uses no feature, {theirs}. {found}."]


def _saved(regret: dict[str, Any]) -> tuple[float, float] | None:
    """The share of the run's loss that the best fixed model saves: at least, at most; None for a loss of 0 or ∞."""
    own, best = regret["own"], regret["comparator"]
    low, high = float(own["lower"]), float(own["upper"])
    if not 0.0 < low <= high < math.inf:
        return None
    return 1.0 - float(best["upper"]) / low, 1.0 - float(best["lower"]) / high


def _regret_means(regret: dict[str, Any] | None) -> list[str]:
    if regret is None:
        return []
    said = [
        f"The best fixed model ({ONE_SET}), chosen after all labels were known, has a loss of"
        f" {between(regret['comparator'])} on these rows. By the same measure ({against(regret)}) the run has"
        f" {between(regret['own'])}. The difference is the regret, the price of learning row by row: {between(regret)}."
    ]
    saved = _saved(regret)
    if saved is not None and saved[1] > 0.0:
        said.append(f"So no fixed model could have saved more than {_percent(saved[1])} of the loss.")
    elif float(regret["upper"]) < 0.0:
        said.append("The regret is below 0: the run did better than every such fixed model.")
    return said


def _upper_means(run: Run) -> list[str]:
    upper = run.regret_upper
    if upper is None or not run.rounds:
        return []
    if upper >= run.loss:
        return [f"The bound on its regret, {most(upper)}, is too loose to be useful here."]
    return [
        f"No fixed model ({ONE_SET}{_limit(run)}) would have lowered the loss by more than {most(upper)}"
        f" ({_percent(upper / run.loss)} of it)."
    ]


def _limit(run: Run) -> str:
    """How large the weights may be that the bound is about."""
    radius = run.learner.domain.radius
    return f" of norm at most {radius:g}" if math.isfinite(radius) else ""


def _percent(part: float) -> str:
    """A share that may not be exceeded: rounded up."""
    return f"{math.ceil(1000.0 * part + 1e-9) / 10.0:.1f} %"


def _guaranteed(certificates: list[dict[str, Any]]) -> list[str]:
    """The smallest bound that holds, on the mistakes and on the regret."""
    told = []
    for what in ("mistakes", "regret"):
        bounds = [one for one in certificates if one["verdict"] == "holds" and _speaks_of(one, what)]
        if bounds:
            least = min(bounds, key=lambda one: float(one["bound"]))
            much = (
                f"at most {most(least['bound'])} mistakes" if what == "mistakes" else f"regret ≤ {most(least['bound'])}"
            )
            told.append(f"Theory guarantees {much} on these rows (theorem {shown(least['theorem'])}).")
    return told


def _speaks_of(certificate: dict[str, Any], what: str) -> bool:
    known = THEOREMS.get(str(certificate["theorem"]))
    return known is not None and known.title.partition(",")[0].strip() == what


def _on_new_rows(promised: list[dict[str, Any]], chosen: dict[str, Any] | None) -> list[str]:
    """The first bound on the risk: the smallest of several would not have their confidence."""
    known = THEOREMS.get(str(promised[0]["theorem"])) if promised else None
    if chosen is None or known is None or promised[0]["verdict"] != "holds":
        return []
    if known.title != "risk of the chosen predictor":
        return []
    return [
        f"On new rows the selected predictor is wrong at most {_percent(float(promised[0]['bound']))} of the time, with"
        f" confidence {shown(chosen['confidence'])}. This assumes that all rows are independent draws from one source,"
        " which no run can check."
    ]


# -- what to do --------------------------------------------------------------------------------------------------------


def _broken(certificates: list[dict[str, Any]]) -> list[Step]:
    names = [shown(one["theorem"]) for one in certificates if one["verdict"] == "broken"]
    if not names:
        return []
    told = f"Do not rely on this run: a bound that must hold is exceeded ({', '.join(names[:MANY])})."
    return [(f"{told} That is a bug: please report it.", None)]


def _advised(run: Run | None) -> list[Step]:
    if run is None or isinstance(run.learner, Selected) or not run.rounds:
        return []
    return [_to_try(f"{one.finding[:1].upper()}{one.finding[1:]}.", one.options) for one in advice(run)]


def _to_try(finding: str, options: str | None) -> Step:
    if options is None:
        return f"{finding} Try:", "noregret compare STREAM"
    if options.startswith(("--learner", "--task")):
        return f"{finding} Try:", f"noregret learn STREAM {options}"
    return f"{finding} Learn again with the option", options


def _regret_asks(regret: dict[str, Any] | None, run: Run | None) -> list[Step]:
    if regret is None:
        if run is None or run.tally is not None or Against.of(run.learner, 1.0, run.rounds) is None:
            return []
        told = "To see how much a better model could have saved, certify the run with a radius, for example"
        return [(told, "noregret certify MODEL STREAM --radius 10")]
    if float(regret["upper"]) < 0.0:
        return [("Keep learning row by row: on these rows any model that stays fixed would have done worse.", None)]
    saved = _saved(regret)
    if saved is None:
        return []
    if saved[1] <= SMALL:
        told = (
            "Little is left to gain from fixed weights on these columns. To do better, add features or a richer model."
        )
        return [(told, None)]
    size = "Much" if saved[0] > LARGE else "Part"
    told = f"{size} of the loss was the price of learning row by row. See whether another learner pays less:"
    return [(told, "noregret compare STREAM")]


# -- what was run ------------------------------------------------------------------------------------------------------


def _about(learner: dict[str, Any], reading: dict[str, Any], segments: list[dict[str, Any]]) -> Part:
    rows: Rows = [("learner", shown(learner["name"]))]
    rows.append(("  settings", _settings(learner["settings"]) or "none"))
    if learner.get("labels"):
        rows.append(("labels", shown(learner["labels"])))
    read = {key: value for key, value in reading.items() if value not in (None, [], ()) and key != "hash_bits"}
    if any(kind in ("category", "text") for kind in dict(reading.get("columns") or {}).values()):
        read["hash_bits"] = reading["hash_bits"]
    rows += [(f"reading: {word(shown(key))}", shown(value)) for key, value in read.items()]
    for place, one in enumerate(segments[:MANY], 1):
        which = "stream" if len(segments) == 1 else f"stream {place}"
        passes = f"{shown(one.get('passes', 1))} passes of " if one.get("passes", 1) != 1 else ""
        order = "" if one.get("shuffle") is None else f", shuffled with seed {shown(one['shuffle'])}"
        rows.append((which, f"{passes}{shown(one['rows'])} rows{order}"))
        rows.append(("  SHA-256 of its rows", shown(one.get("digest"))))
    if len(segments) > MANY:
        rows.append((f"and {len(segments) - MANY:,} more streams", ""))
    return Part("What was run", rows, folded=True)


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
    rows.append((f"loss ({shown(named)})" if named else "loss", shown(lost), per_round(float(lost), rounds)))
    rows.append(("longest row ‖x‖", number(math.sqrt(receipt.figure("max_norm2"))), ""))
    if "members" not in receipt.learner["settings"]:  # a mixture has no weights of its own
        rows.append(("weights ‖w‖", shown(receipt.figure("weight_norm")), ""))
    return rows


def _regret(entry: dict[str, Any]) -> tuple[object, ...]:
    lost = (between(entry["own"]), between(entry["comparator"]), between(entry))
    return against(entry), shown(entry["rounds"]), *lost


def _selection(chosen: dict[str, Any]) -> Part:
    rows: Rows = [("method", shown(chosen["how"])), ("confidence", shown(chosen["confidence"]))]
    if chosen["how"] != "last":
        rows.append(("candidates", shown(chosen["candidates"])))
    if chosen.get("round") is not None:
        way = "chosen" if chosen.get("draw") is None else f"drawn with seed {shown(chosen['draw'])}"
        rows.append((f"{way}: the weights before round", shown(chosen["round"])))
        held = chosen.get("held_out") is not None
        rows.append(("  rounds held out" if held else "  rounds it had not seen", shown(chosen["tail"])))
        rows.append(("  errors on those", f"{shown(chosen['errors'])} ({100.0 * chosen['empirical']:.2f} %)"))
    return Part("The selected predictor", rows)


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
