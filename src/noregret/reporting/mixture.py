"""A run of a mixture in words: who led, what the mixture cost, and what is promised of it."""

from __future__ import annotations

from typing import Any

from noregret.reporting.html import Part, Rows, most
from noregret.run import Run
from noregret.summary import LEADERS, member_rows, members_head, number, price, share

MEMBERS = {  # of every member at once
    "mixture": "Proved: whatever the labels, the total log-loss is at most ln(1/w) + ln 2 nats above that of every"
    " member, w being its weight at the start.",
    "aggregating": "Proved: whatever the labels, the total squared loss is at most ℓ²·(½ ln(1/w) + ⅓) above that of"
    " every member, w being its weight at the start and ℓ the length of the range of the labels.",
}
OTHERS = {  # of one rule
    "tracking": "the best sequence of members with at most 8 switches, chosen with hindsight",
    "baseline-frequency": "always forecasting the frequency of each label, known in hindsight",
    "baseline-previous": "forecasting by the previous label alone, with frequencies known in hindsight",
}
MISTAKES = (
    "These promises are about log-loss. Each mistake costs at least ln 2 = 0.693 nats, so a small loss means few"
    " mistakes; but a member may still make fewer mistakes than the mixture."
)


def members_part(run: Run) -> list[Part]:
    """The table of the members; none where the learner is not a mixture."""
    if run.members is None or not run.rounds:
        return []
    told = price(run)
    note = f"share: the weight in the mixture after the last row; {told}" if told else None
    rows: Rows = [*member_rows(run, None)]
    parts = [Part("Members of the mixture", rows[:LEADERS], members_head(run), note)]
    return parts + [Part("All members", rows, members_head(run), folded=True)] * (len(rows) > LEADERS)


def who_led(run: Run | None) -> list[str]:
    """Which members the mixture follows by now, and what it cost to find them."""
    if run is None or run.members is None or not run.rounds:
        return []
    playing = [one for one in run.members if one["awake"]]
    if not playing:
        return []
    first, best = playing[0], min(playing, key=lambda one: one["loss"])
    paid, unit = best["price"], "squared loss" if run.learner.regression else "nats of log-loss"
    cost = f"{number(abs(paid))} {unit} {'less' if paid < 0.0 else 'more'} than that member"
    return [
        f"The learner is a mixture of {len(run.members)} simple learners (members) that play side by side. After the"
        f" last row it follows {first['name']} the most ({share(first['share'], 1.0)}). Over all rows"
        f" {best['name']} has the smallest loss, {number(best['loss'])}; the mixture, which could not know that, lost"
        f" {cost}."
    ]


def what_is_promised(certificates: list[dict[str, Any]]) -> list[str]:
    """The certificates of a mixture that hold, in plain words."""
    holding = {str(one["theorem"]): one for one in certificates if one["verdict"] == "holds"}
    told = [MEMBERS[name] for name in MEMBERS if name in holding]
    told += [_beside(OTHERS[name], holding[name]) for name in OTHERS if name in holding]
    return [*told, MISTAKES] if told and "aggregating" not in holding else told


def _beside(rule: str, one: dict[str, Any]) -> str:
    """What a rule loses beside the mixture: as observed, and at the most."""
    observed = float(one["observed"])
    found = f"{number(-observed)} nats lower" if observed < 0.0 else f"{most(observed)} nats higher"
    return f"Beside {rule}, the log-loss is {found}, and it is proved to be at most {most(one['bound'])} higher."
