"""A row of the theorems against its second derivation: the bound, what was observed, the values and the needs."""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from oracle import (  # noqa: F401
    rows_alarm,
    rows_experts,
    rows_games,
    rows_gradient,
    rows_labels,
    rows_late,
    rows_ledger,
    rows_losses,
    rows_matrices,
    rows_others,
    rows_perceptron,
    rows_pool,
    rows_quadratic,
    rows_shards,
    rows_steps,
    rows_windows,
)
from oracle.forging import EXACT, LOWER
from oracle.rows import ORACLE, Data, dec
from oracle.rows_needs import DOUBTS, NEEDS

# How far above the exact bound a row may lie: (share of its size, times the allowance for the run's own float steps).
# Without a run's steps in it a bound is an outward-rounded formula: the share is some thousand units of the last place.
FORMULA = 1e-11
STRAINED = 1e-12  # times Σ‖x‖²/a: what is known of A⁻¹x by its residual in floats (second-order, vaw); squared for det
UNKNOWN = 1e9  # from such a strain on nothing is known of the inverse: the bound is only not below
ALLOWED = {
    # the bound of exact steps is taken for float steps: × (1 + `Facts.allowance`), once
    **dict.fromkeys(
        [name for name in ORACLE if name.startswith(("ogd-", "adagrad-", "ftrl-"))],
        (FORMULA, 1.0, "bound × Facts.allowance"),
    ),
    # line 2 and 3: the path is replayed in floats, and its allowance is taken of the sizes of the parts, twice
    **dict.fromkeys(
        ["ogd-telescoped", "ogd-telescoped-at-hindsight", "ogd-triangle"],
        (FORMULA, 4.0, "the replayed path, measured by the sum of its parts' sizes"),
    ),
    # the regulariser is in figures of the run's own: 4·roundings·max‖ksx‖² a round
    **dict.fromkeys(
        [name for name in ORACLE if name.startswith("strong-")],
        (FORMULA, 8.0, "the run's own figures of ‖g‖², off by roundings × the largest"),
    ),
    **dict.fromkeys(
        ["coin-wealth", "coin-ball", "coin-at-hindsight"], (FORMULA, 1.0, "roundings × the size of what was bet")
    ),
    "late-rate": (FORMULA, 1.0, "bound × Facts.allowance"),
    **dict.fromkeys(["risk-binomial", "risk-drawn"], (1e-9, 0.0, "Stirling's series, between two of its partial sums")),
}
MILLIONTH = Decimal("1e-6")
MEASURED = ("mixability_gap", "log_experts")  # floats of the run as they are, with a spare in the bound: not ends
NOTED = (FORMULA, 0.0, "a formula, every operation rounded outward")


@dataclass
class Seen:
    """Which theorems were evaluated, and with which needs."""

    evaluated: dict = field(default_factory=dict)
    unmet: dict = field(default_factory=dict)
    sharp: set = field(default_factory=set)  # where a bound off by a millionth, either way, would have been told


SEEN = Seen()


def number(x):
    """A float as a decimal, infinities as they are."""
    return dec(Fraction(x)) if math.isfinite(x) else Decimal(repr(x))


def close(found, exact, off):
    return number(found) <= exact + off


def compare(one, facts, data, needs=NEEDS, allowance=0.0):
    """The row of a theorem against its second derivation; whether it was evaluated."""
    for part in one.asked(facts):  # as the row has it, and as it is exactly
        agreed = part.holds == needs[part.statement](data)
        cautious = part.holds is False and part.statement in DOUBTS and DOUBTS[part.statement](data)
        assert agreed or cautious, (one.name, part.statement, part.holds)
    if any(part.holds is False for part in one.asked(facts)):
        SEEN.unmet[one.name] = SEEN.unmet.get(one.name, 0) + 1
        return False
    claim = one.function(facts)
    if isinstance(data, Data):
        data.told = claim.values
    truth = ORACLE[one.name](data)
    share, times, _ = ALLOWED.get(one.name, NOTED)
    strained = Decimal(STRAINED) * dec(truth.strain)
    compare_bound(one.name, claim, truth, Decimal(share) + Decimal(times) * Decimal(allowance) + strained)
    compare_observed(one.name, claim, truth, Decimal(FORMULA) + 8 * Decimal(allowance))
    compare_values(one.name, claim, truth, Decimal(FORMULA) + 8 * Decimal(allowance) + strained)
    if math.isfinite(claim.bound.hi):
        SEEN.evaluated[one.name] = SEEN.evaluated.get(one.name, 0) + 1
    return True


def compare_bound(name, claim, truth, share):
    exact = dec(truth.bound)
    size = abs(exact) if truth.size is None else dec(truth.size)
    assert number(claim.bound.hi) >= exact, (name, claim.bound, exact)
    limit = exact + share * size
    if truth.above is not None and number(claim.bound.hi) > limit:
        limit = truth.above(share)
    if number(claim.bound.hi) * (1 - MILLIONTH) < exact and truth.strain < UNKNOWN and limit < exact * (1 + MILLIONTH):
        SEEN.sharp.add(name)
    assert number(claim.bound.lo) <= limit, (name, claim.bound, exact)
    if math.isfinite(claim.bound.hi) and truth.strain < UNKNOWN:
        assert number(claim.bound.hi) <= limit + Decimal("1e-290"), (name, claim.bound, exact, limit)


def compare_observed(name, claim, truth, share):
    if truth.observed is None:
        assert claim.observed is None, name
        return
    if name in ("coin-wealth", "linear-lower"):  # what is printed is the lower end alone
        assert number(claim.observed.hi) <= dec(truth.observed)
        assert dec(truth.observed) - number(claim.observed.hi) <= share * dec(truth.scale) + Decimal("1e-290")
        return
    if isinstance(truth.observed, tuple) and truth.observed[1] == "or more":  # of some means, not the best of all
        assert number(claim.observed.lo) <= dec(truth.bound) + share * dec(truth.scale), name
        assert number(claim.observed.hi) >= dec(truth.observed[0]) - Decimal("1e-290"), name
        return
    ends = truth.observed if isinstance(truth.observed, tuple) else (truth.observed, truth.observed)
    low, high = (dec(end) for end in ends)
    scale = max(abs(low), abs(high)) if truth.scale is None else dec(truth.scale)
    assert number(claim.observed.lo) <= low, (name, claim.observed, low)
    assert number(claim.observed.hi) >= high, (name, claim.observed, high)
    if math.isfinite(claim.observed.hi):
        assert number(claim.observed.hi) <= high + share * scale + Decimal("1e-290"), (name, claim.observed, high)
    if math.isfinite(claim.observed.lo):
        assert number(claim.observed.lo) >= low - share * scale - Decimal("1e-290"), (name, claim.observed, low)


def compare_values(name, claim, truth, share):
    wanted = {**truth.values, **(truth.at[claim.points[0]] if truth.at else {})}
    assert set(claim.values) == set(wanted), (name, sorted(claim.values), sorted(wanted))
    for key, found in claim.values.items():
        exact = wanted[key]
        if (key in EXACT or key.startswith("updates_")) and not isinstance(exact, Decimal):
            assert Fraction(found) == Fraction(exact) if math.isfinite(found) else found == exact, (name, key)
            continue
        exact = dec(exact)
        way = -1 if key in LOWER else 1
        assert key in MEASURED or way * number(found) >= way * exact, (name, key, found, exact)
        if math.isfinite(found) and truth.strain < UNKNOWN:
            others = truth.size, truth.scale, truth.sizes.get(key)
            size = max([abs(exact), *(dec(part) for part in others if part is not None)])
            assert abs(number(found) - exact) <= share * size + Decimal("1e-145"), (name, key, found, exact)
