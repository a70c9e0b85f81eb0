"""Small tables of every kind of number, blended in every way: the verifier agrees with the run on all of them."""

import json
import math
from decimal import MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest

from noregret.errors import InputError
from noregret.experts import AdaHedge
from noregret.experts.loss import LOSSES
from noregret.experts.methods import METHODS
from noregret.interval import largest
from noregret.proof.blend import verify_blend
from noregret.task.blend import blend

ODD = [0.0, 1e-12, 1e-9, 0.1, 0.3, 0.30000000000000004, 1.0, 1.0 - 1e-12]
KINDS = [
    lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    lambda rng, shape: rng.integers(0, 11, shape) / 10,
    lambda rng, shape: rng.choice(ODD, shape),
    lambda rng, shape: 10.0 ** rng.uniform(-18, 0, shape),
    lambda rng, shape: np.where(rng.random(shape) < 0.8, rng.integers(0, 4, shape) * 3e-7, rng.random(shape)),
    lambda rng, shape: 0.5 + rng.integers(-2, 3, shape) * 2.0**-52,
    lambda rng, shape: rng.random(shape),
]


def numbers(rng, shape):
    return KINDS[rng.integers(len(KINDS))](rng, shape)


def awake(rng, x):
    """Some cells emptied, none of a row's last."""
    silent = rng.random(x.shape[:2]) < rng.choice([0.0, 0.2, 0.6])
    silent[np.arange(len(x)), rng.integers(0, x.shape[1], len(x))] = False
    x[silent] = np.nan
    return x


def asked(rng, loss):
    """A method for the loss, with what it needs."""
    without = {"squared": (), "brier": ("gradient",), "absolute": ("mixture",)}.get(loss, ("mixture", "gradient"))
    methods = [method for method in METHODS if method not in without]
    method = "mixture" if loss == "log" else str(rng.choice([*methods, "adahedge", "adahedge"]))
    found = {"method": method}
    if method == "hedge":
        found["rate"] = str(rng.choice(["one", "two", "root-eight"]))
    if method == "fixed-share" or rng.random() < 0.3:
        found["switches"] = int(rng.integers(0, 4))
    if loss in ("squared", "absolute") and rng.random() < 0.3:
        found["last_value"] = True
    return found


def several(rng, loss, rounds, experts):
    """Arrays: probabilities of three outcomes, some of them certain."""
    x = rng.dirichlet(np.full(3, rng.choice([0.05, 0.5, 5.0])), (rounds, experts))
    sure = np.eye(3)[rng.integers(0, 3, (rounds, experts))]
    x = np.where(rng.random((rounds, experts, 1)) < 0.3, sure, x)
    return (awake(rng, x), rng.integers(0, 3, rounds).astype(float)), {"loss": loss, **asked(rng, loss)}


def one_column(rng, loss, rounds, experts):
    """A mapping of columns: numbers in [0, 1] or moved to another range, some experts saying the same."""
    x, y = numbers(rng, (rounds, experts)), rng.integers(0, 2, rounds).astype(float)
    x = np.where(rng.random(x.shape) < rng.choice([0.0, 0.4]), x[:, :1], x)
    ranged = {}
    if loss in ("squared", "absolute", "costs"):
        y = x[np.arange(rounds), rng.integers(0, experts, rounds)] if rng.random() < 0.3 else numbers(rng, rounds)
        lo, hi = ((0.0, 1.0), (-1.0, 1.0), (30.0, 55.0))[rng.integers(3)]
        x, y, ranged = lo + (hi - lo) * x, lo + (hi - lo) * y, {"range": (lo, hi)}
    names = [f"e{i}" for i in range(experts)]
    table = dict(zip(names, awake(rng, x).T.tolist(), strict=True)) | {"y": y.tolist()}
    columns = {"costs": names} if loss == "costs" else {"outcome": "y", "experts": names, "loss": loss}
    return table, {**columns, **ranged, **asked(rng, loss)}


@pytest.mark.parametrize("loss", [*LOSSES, "costs", "log of three", "brier of three"])
def test_what_is_blended_is_verified(loss):
    rng = np.random.default_rng(sum(loss.encode()))
    stood = 0
    for _ in range(150):
        make = several if loss.endswith(" of three") else one_column
        table, how = make(rng, loss.removesuffix(" of three"), int(rng.integers(1, 13)), int(rng.integers(1, 6)))
        try:
            found = blend(table, **how)
        except InputError as error:
            assert "gave the outcome probability 0" in str(error)
            continue
        assert not found.broken
        each = [found.contest.regret_against(i) for i in range(found.contest.experts)]
        assert found.contest.regret == largest(*each)  # whoever is not looked at cannot be the best
        verify_blend(json.loads(json.dumps(found.receipt().to_dict())), table)
        stood += 1
    assert stood > 70


def test_a_tiny_loss_before_experts_that_sleep():
    """1 − 10⁻¹² in place of 10⁻¹² would lose the loss of the first round, and with it a tie of leaders."""
    nan = math.nan
    given = {"a": [1e-12, 0.01, 0.3], "b": [nan, nan, 0.2], "c": [nan, 0.1, 0.1], "y": [0, 0, 1]}
    found = blend(given, outcome="y", experts=["a", "b", "c"], loss="brier", method="adahedge")
    assert found.weights[1].tolist() == [0.5, 0.0, 0.5]
    verify_blend(found.receipt().to_dict(), given)


def gap_of(costs):
    """Δ of AdaHedge from its definition, to 200 figures."""
    with localcontext() as context:
        context.prec, context.Emin = 200, MIN_EMIN
        sums, gap = [Decimal(0)] * len(costs[0]), Decimal(0)
        logs = Decimal(len(sums)).ln()
        for row in costs:
            least = min(sums)
            if gap:
                raw = [(-(logs / gap) * (one - least)).exp() for one in sums]
            else:
                raw = [Decimal(one == least) for one in sums]
            p = [one / sum(raw) for one in raw]
            row = [Decimal(cost) for cost in row]
            mean = sum(share * cost for share, cost in zip(p, row, strict=True))
            after = [one + cost for one, cost in zip(sums, row, strict=True)]
            if gap:
                mixed = sum(share * (-(logs / gap) * cost).exp() for share, cost in zip(p, row, strict=True))
                gap += mean + mixed.ln() * gap / logs
            else:
                gap += mean - (min(after) - least)
            sums = after
        return float(gap)


@pytest.mark.parametrize(
    "costs",
    [
        [[0.0, 2.0**-10], [2.0**-9, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]],  # the last comes back from e^−1000
        [[0.5, 0.0, 0.25], [0.0, 1.0, 0.5], [0.3, 0.3, 0.30000000000000004], [0.3, 0.3, 0.3]],
        [[0.0, 1e-13], [2e-13, 0.0], [0.7, 0.7], [0.7, 0.7000000000000001], [0.1, 0.0]],
        [[2.0**-40, 0.0], [0.75, 0.75 + 2.0**-39], [0.25, 0.5], [1.0, 0.0]],
    ],
)
def test_the_gap_is_that_of_its_definition_to_the_last_figures(costs):
    learner = AdaHedge(len(costs[0]))
    learner.play(costs)
    assert learner.gap == pytest.approx(gap_of(costs), rel=1e-14, abs=0.0)


def test_a_rounding_of_the_largest_cost_starts_nothing():
    learner = AdaHedge(2, range=(0.0, 1e4))
    learner.learn([1e-13, 0.0])
    learner.learn([0.0, 3e-13])
    assert learner.gap == 0.0
    assert learner.weights().tolist() == [1.0, 0.0]
    small = AdaHedge(2)
    small.learn([1e-13, 0.0])
    assert small.gap == 5e-14
