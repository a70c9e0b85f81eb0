"""A run as rows of words and figures, and numbers as people read them: upper ends rounded up, lower ends down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from noregret import arithmetic
from noregret._native import WARM, WINDOW
from noregret.run import Run

if TYPE_CHECKING:
    from noregret.late.playing import LateRun

Row = tuple[str, str, str]
RINGS = 5  # rounds of an alarm that are named
EARLY = 200  # rounds: an alarm that rings sooner may hear a learner that has not learned yet
MOST = 1e100  # an e-value of which no more is said
RUN_HEAD = ("", "total", "per row")  # of the table of a run
WAITS = {  # rows without a label
    "waiting": "waiting for their labels",
    "expired": "given up without a label",
    "defaulted": "learned with the default label",
}
LABELS = {
    "after_expiry": "after the row had been given up, and judged by a new prediction",
    "revised": "revised later",
    "repeated": "repeated events, which change nothing",
    "unknown": "for rows that nobody knows, left out",
    "conflicting": "another label than before, left out",
    "held": "held until both labels are known",
}
BASELINES = {  # rules that look at no feature, as tables name them
    "majority_label": "baseline: most frequent label",
    "last_label": "baseline: previous label",
    "mean_label": "baseline: mean of the labels so far",
    "label_frequency": "baseline: best fixed frequency",
    "after_previous": "baseline: best frequency after the previous label",
}


def share(part: float, whole: float) -> str:
    return f"{100.0 * part / whole:.2f} %" if whole else "–"


def number(value: float) -> str:
    """Six figures, more for large numbers, in groups of three digits."""
    value += 0.0  # no −0
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:.6g}"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1e5 else f"{value:,.6g}"


def signed(value: float) -> str:
    """`number` with its sign.

    >>> signed(-2.5), signed(0.0)
    ('−2.5', '0')
    """
    return f"{'−' if value < 0.0 else '+' if value > 0.0 else ''}{number(abs(value))}"


def counted(count: int, what: str) -> str:
    """`1 expert`, `2 experts`, `3 hypotheses`."""
    plural = f"{what.removesuffix('is')}es" if what.endswith("is") else f"{what}s"
    return f"{number(count)} {what if count == 1 else plural}"


def at_most(value: float | None) -> str:
    """A number that others may not exceed: rounded up."""
    return "–" if value is None else _outward(value, math.inf)


def at_least(value: float) -> str:
    """A number that others may not fall below: rounded down."""
    return _outward(value, -math.inf)


def _outward(value: float, way: float) -> str:
    """`number` in the nearest figures on one side of the value."""
    if not math.isfinite(value) or value == 0.0:
        return number(value)
    if 1e5 <= abs(value) < 1e15:
        return number(math.ceil(value) if way > 0.0 else math.floor(value))
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 5)
    for moved in (value, value + math.copysign(unit, way)):
        text = number(moved)
        shown = float(text.replace(",", ""))
        if shown >= value if way > 0.0 else shown <= value:
            return text
    return text


def per_round(value: float, rounds: int) -> str:
    return number(value / rounds) if rounds else "–"


def run_rows(run: Run) -> list[Row]:
    """A run as (what, how much, how much of a round)."""
    if run.mistakes is None:
        judged = [*_loss_rows(run), *_number_rows(run)]
    else:
        judged = [*_mistake_rows(run, run.mistakes), *_loss_rows(run)]
    return [*_stream_rows(run), *judged, *_sure_rows(run), *_regret_rows(run), *_weight_rows(run)]


def late_rows(late: LateRun) -> list[Row]:
    """Predictions whose labels came late, as (what, how much, how much of a labelled round)."""
    found, run = late.figures, late.run
    n = found["labelled"]
    stale = found["staleness"] if abs(found["staleness"]) > 1e-9 * abs(found["loss"]) else 0.0
    rows: list[Row] = [("rows predicted", number(found["predicted"]), "")]
    rows += [(f"  {what}", number(found[name]), "") for name, what in WAITS.items() if found[name]]
    rows += [("labels learned", number(n), "")]
    rows += [(f"  {what}", number(found[name]), "") for name, what in LABELS.items() if found[name]]
    rows += [("  updates between a row and its label", number(found["delay"]), per_round(found["delay"], n))]
    if run.mistakes is not None:
        rows.append(("mistakes", number(found["mistakes"]), share(found["mistakes"], n)))
        for rule in ("majority_label", "last_label"):
            rows.append((f"  {BASELINES[rule]}", number(run.baselines[rule]), share(run.baselines[rule], run.rounds)))
    rows.append((f"loss ({run.learner.loss.spec})", number(found["loss"]), per_round(found["loss"], n)))
    rows.append(("  by the learner, as labels came", number(found["fresh_loss"]), per_round(found["fresh_loss"], n)))
    rows.append(("  staleness cost", signed(stale), per_round(stale, n)))
    rows += _sure_rows(run)
    if run.regret_upper is not None and not found["revised"]:
        bound = run.regret_upper + found["staleness"]
        rows.append((_bound_row(run, bound, found["loss"]), at_most(bound), at_most(bound / n) if n else "–"))
    return rows


def _stream_rows(run: Run) -> Iterator[Row]:
    """What was played."""
    yield "rounds", number(run.rounds), ""
    passes = max((segment["passes"] for segment in run.learner.segments), default=1)
    if passes > 1:
        yield f"  in {passes:,} passes (only the first sees new rows)", "", ""
    yield "features", number(run.features), ""
    recipe = run.learner.features
    if recipe is not None and (recipe.categorical or recipe.text):
        yield f"  hashed: {', '.join((*recipe.categorical, *recipe.text))}", "", ""
    if run.tally is not None:
        yield "classes", number(len(run.tally["labels"])), ""


def _mistake_rows(run: Run, mistakes: int) -> Iterator[Row]:
    """How often labels were wrong, beside the rules that look at no feature."""
    n, baselines = run.rounds, run.baselines
    yield "mistakes", number(mistakes), share(mistakes, n)
    if n > WINDOW:
        yield f"  in the last {WINDOW:,} rounds", "", f"{100.0 * run.window_error:.2f} %"
    for rule in ("majority_label", "last_label"):
        yield f"  {BASELINES[rule]}", number(baselines[rule]), share(baselines[rule], n)
    if run.auc is not None:
        low, high = run.auc
        yield "AUC", f"{math.floor(1e4 * low) / 1e4:.4f} to {math.ceil(1e4 * high) / 1e4:.4f}", ""


def _loss_rows(run: Run) -> list[Row]:
    """The loss, beside that of the rules where they have one."""
    n, ridge = run.rounds, " + regulariser" if run.learner.config["sigma"][0] else ""
    losses = {f"loss ({run.learner.loss.spec}{ridge})": run.loss}
    losses |= {f"  {BASELINES[name]}": lost for name, lost in run.baseline_losses.items()}
    return [(what, number(lost), per_round(lost, n)) for what, lost in losses.items()]


def _number_rows(run: Run) -> Iterator[Row]:
    """How far predicted numbers were off, beside the same rules."""
    for rule in ("mean_label", "last_label"):
        lost = run.baselines[rule]
        yield f"  {BASELINES[rule]}", number(lost), per_round(lost, run.rounds)
    yield "mean absolute error", "", number(run.metrics["mae"])
    yield "root mean squared error", "", number(run.metrics["rmse"])


def _sure_rows(run: Run) -> Iterator[Row]:
    """What sets and probabilities turned out to be worth."""
    if run.coverage is not None:
        yield from _coverage_rows(run.coverage)
    if run.calibration is not None and run.calibration["rounds"]:
        losses = run.calibration["log_loss"]
        yield "log-loss of the calibrated probabilities", "", number(losses["after"])
        yield "  before calibration", "", number(losses["before"])


def _coverage_rows(found: dict[str, Any]) -> Iterator[Row]:
    """The labels that were in their sets, how many must be and can be, and how wide the sets are."""
    rounds, widths = found["rounds"], "width" in found
    what = "intervals" if widths else "sets"
    if not rounds:
        yield f"labels before the first of the {what}", number(found["without"]), ""
        return
    held = rounds - found["misses"]
    yield f"labels within their {what} (target {100.0 * found['target']:g} %)", number(held), share(held, rounds)
    least, most = (rounds - end for end in (found["most_misses"], found["least_misses"]))
    low, high = math.ceil(max(least, 0.0)), math.floor(most)
    yield "  by theorem", f"{low:,} to {high:,}", f"{100.0 * low / rounds:.2f} to {100.0 * high / rounds:.2f} %"
    yield f"  rows without one, predicted before {WARM} labels", number(found["without"]), ""
    spread = found["width" if widths else "size"]
    name = "width of the intervals" if widths else "labels in a set"
    yield f"{name}, mean", "", "–" if spread["mean"] is None else number(spread["mean"])
    yield "  median, and what 95 % do not exceed", "", f"{_middle(spread['median'])}, {_middle(spread['p95'])}"
    if found["empty"]:
        yield "  empty", number(round(found["empty"] * rounds)), share(found["empty"], 1.0)
    if found.get("everything"):
        yield "  every label", number(round(found["everything"] * rounds)), share(found["everything"], 1.0)


def _middle(found: Any) -> str:
    """A quantile: a count, or three figures of a width that is known to lie between two others."""
    if isinstance(found, int):
        return number(found)
    lower, upper = found["lower"], found["upper"]
    return f"over {lower:.3g}" if upper is None else f"{0.5 * (lower + upper):.3g}"


def _regret_rows(run: Run) -> Iterator[Row]:
    """What the pass alone proves."""
    n, upper = run.rounds, run.regret_upper
    if upper is not None:
        yield _bound_row(run, upper, run.loss), at_most(upper), at_most(upper / n) if n else "–"


def _bound_row(run: Run, bound: float, loss: float) -> str:
    return f"regret bound{_against(run)}{' (too loose to be useful here)' if bound >= loss else ''}"


def _weight_rows(run: Run) -> Iterator[Row]:
    """The size of rows and weights."""
    core = run.learner
    yield "longest row ‖x‖" if core.supports is None else "longest row √K(x,x)", number(run.max_norm), ""
    if run.members is None:  # a mixture has no weights of its own
        yield "weights ‖w‖", number(run.weight_norm), ""
    if core.supports is not None:
        yield "supports", number(core.supports), share(core.supports, run.rounds)
    if core.settings.get("l1"):
        yield "non-zero weights", number(run.nonzero), ""


def _against(run: Run) -> str:
    radius = run.learner.domain.radius
    if radius == float("inf"):
        return ", against any u"
    among = {"ball": "‖u‖", "box": "|u_i|", "l1": "‖u‖₁", "simplex": "u ≥ 0, Σu"}
    return f", against any {among[run.learner.domain.shape]} ≤ {radius:g}"


def alarm_rows(alarm: Mapping[str, Any]) -> list[tuple[str, str]]:
    """An alarm as (what, in words): whether it rang, its null, how rarely it rings for nothing, its e-value."""
    e = f"over {MOST:g}" if alarm["e_value"] > MOST else number(alarm["e_value"])
    rang, now = alarm["rang"], f"{e} now, rings from {at_most(alarm['threshold'])} on"
    told = ", ".join(number(one) for one in rang[:RINGS]) + (", …" if len(rang) > RINGS else "")
    rows = [
        ("alarm", f"rang after round {told}" if rang else "has not rung"),
        ("  null", alarm["words"]),
        ("  false alarm", f"with probability at most {alarm['false_alarm']:g} in the whole life of the run"),
    ]
    if rang and not alarm["after"] and rang[0] <= EARLY:
        rows.append(("", "a learner that has learned little errs more: --after N arms the alarm later"))
    if alarm["on_alarm"] != "continue":
        rows.append(("", f"test k spends 6δ/(π²k²) of it, δ = {alarm['false_alarm']:g}; now k = {alarm['tests']}"))
    rows += [("  e-value", now), ("  rounds", _watched(alarm))]
    ended = [(one, at) for one, at in zip(alarm["earlier"], rang, strict=False) if one.get("loss") is not None]
    rows += [
        (f"  learner {k}", f"up to round {number(at)}: {_did(one)}") for k, (one, at) in enumerate(ended[:RINGS], 1)
    ]
    if ended:
        rows.append((f"  learner {len(ended) + 1}", f"from round {number(ended[-1][1] + 1)} on: the table above"))
    return rows


def _watched(alarm: Mapping[str, Any]) -> str:
    """How many rounds were watched, and why others were not."""
    others = {
        "before it was armed": alarm["rounds"] - alarm["watched"] - alarm["unlabelled"] - alarm["unseen"],
        "without a label": alarm["unlabelled"],
        "learned while nothing watched": alarm["unseen"],
        "waiting for a label, their own or an earlier one": alarm["waiting"],
    }
    left = [f"{number(count)} {what}" for what, count in others.items() if count]
    return f"{number(alarm['watched'])} watched" + (f"; left out: {', '.join(left)}" if left else "")


def _did(one: Mapping[str, Any]) -> str:
    """What a learner did before another went on."""
    lost = f"loss {number(one['loss'])}" if one.get("mistakes") is None else counted(one["mistakes"], "mistake")
    return f"{counted(one['rounds'], 'round')}, {lost}"


def title_of(run: Run) -> str:
    hidden = ("start", "tie") if run.learner.regression else ("start",)
    said = {key: value for key, value in run.learner.settings.items() if value is not None and key not in hidden}
    parts = [f"{_word(key)} {_setting(value)}" for key, value in said.items() if not isinstance(value, bool)]
    parts += [_word(key) for key, value in said.items() if value is True]
    return f"{run.learner.name}: {', '.join(parts)}"


def _word(key: str) -> str:
    return key.replace("_", "-")


def _setting(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(getattr(value, "name", value))


LEADERS = 5  # members that are named


def members_head(run: Run) -> tuple[str, str, str, str]:
    return "member of the mixture", "weight now", "squared loss" if run.learner.regression else "log-loss", "per row"


def member_rows(run: Run, most: int | None = LEADERS) -> list[tuple[str, str, str, str]]:
    """The members of a mixture with the largest shares, and what each lost."""
    return [
        (
            one["name"],
            share(one["share"], 1.0) if one["awake"] else "not playing",
            number(one["loss"]),
            per_round(one["loss"], run.rounds - one.get("since", 0)),
        )
        for one in (run.members or [])[:most]
    ]


def price(run: Run) -> str | None:
    """What the mixture paid for not knowing its best member beforehand; None where there is none."""
    playing = [one for one in run.members or [] if one["awake"]]
    if not playing or not run.rounds:
        return None
    best = min(playing, key=lambda one: one["loss"])
    paid = 0.0 if abs(best["price"]) <= 1e-12 * run.loss else best["price"]
    unit = "in squared loss" if run.learner.regression else "nats"
    less = "less" if paid < 0.0 else "more"
    told = f"the mixture lost {number(abs(paid))} {unit} {less} than its best member, {best['name']}"
    if since := best.get("since"):
        return f"{told}, since their weights were set back after round {number(since)}"
    if run.learner.regression:
        return told
    most = at_most(-arithmetic.log(best["prior"]) + arithmetic.log(2.0))
    return f"{told}; by theorem never more than {most} more"
