"""The mixtures of a pool: native = twin, goldens, the identity, the promise on adversarial streams, resuming.

NOREGRET_THOROUGH=1 stops and resumes each kind of pool in 200 random ways instead of 3.
"""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import mixture as twin

from noregret import _native
from noregret.errors import SettingError
from noregret.learner import LEARNERS
from noregret.learner.auto import MIXING, TOP_PRIORS
from noregret.learner.pool import FOR, POOLS, chosen
from noregret.protocol import play
from noregret.run import Run
from noregret.state import RECORD, begin

NO = np.zeros(0)
SPLITS = 200 if os.environ.get("NOREGRET_THOROUGH") else 3


def mixed(said: np.ndarray, y: np.ndarray, priors: list[float], caution: float = 1.0) -> dict[str, Any]:
    """The native mixture of log-odds (a row a member) on rows without features."""
    n, T = said.shape
    table = np.zeros((n, _native.MEMBER_COLUMNS))
    table[:, 0] = np.log(priors)
    table[:, 2:4] = np.array(priors)[:, None]
    table[:, 4:6] = 1.0 / np.count_nonzero(~np.isnan(said[:, 0]))
    tops = np.array([[math.log(prior), 0.0, 0.0] for prior in TOP_PRIORS])
    record = np.zeros(1, RECORD)
    begin(record["state"])
    record["config"]["classify"] = 1
    mixing = np.array([*MIXING[:3], caution])
    history, clock = np.zeros((_native.HISTORY_ROWS, n + 1)), np.array([0, 1, 1])
    scores = np.empty(T)
    state = (table, tops, mixing, history, clock, np.zeros(0), record)
    assert _native.play_mixture(np.zeros((T, 0)), y, NO, np.ascontiguousarray(said), *state, scores) == T
    return {"scores": scores, "loss": float(record["state"]["loss"][0]), "table": table, "tops": tops}


def streams(low: float = -6.0, high: float = 6.0) -> Any:
    sizes = st.tuples(st.integers(1, 6), st.integers(1, 40), st.integers(0, 2**31))
    return sizes.map(lambda size: _stream(*size, low, high))


def _stream(n: int, T: int, seed: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    said = rng.uniform(low, high, (n, T))
    if n > 1:
        said[1:][rng.random((n - 1, T)) < 0.2] = np.nan  # the first member never sleeps
    return said, rng.choice([-1.0, 1.0], T)


@settings(max_examples=60, deadline=None)
@given(streams())
def test_native_is_the_twin(stream: tuple[np.ndarray, np.ndarray]) -> None:
    said, y = stream
    priors = [1.0 / len(said)] * len(said)
    found, wanted = mixed(said, y, priors), twin.mixture(said.T.tolist(), (y > 0).astype(int).tolist(), priors)
    assert found["scores"] == pytest.approx(wanted["scores"], rel=1e-9, abs=1e-10)
    assert found["loss"] == pytest.approx(wanted["loss"], rel=1e-10)
    assert found["table"][:, 1] == pytest.approx(wanted["losses"], rel=1e-11)
    assert found["tops"][:, 1] == pytest.approx(wanted["tops"], rel=1e-10)


@settings(max_examples=150, deadline=None)
@given(streams(-40.0, 40.0))
def test_the_identity_holds_and_no_member_is_far_ahead(stream: tuple[np.ndarray, np.ndarray]) -> None:
    said, y = stream
    priors = (np.arange(1, len(said) + 1) / sum(range(1, len(said) + 1))).tolist()
    found = mixed(said, y, priors)
    losses, tops = found["table"][:, 1], found["tops"][:, 1]
    bayes = -math.log(sum(p * math.exp(losses.min() - lost) for p, lost in zip(priors, losses, strict=True)))
    assert tops[0] == pytest.approx(losses.min() + bayes, rel=1e-9)
    whole = -math.log(sum(p * math.exp(tops.min() - lost) for p, lost in zip(TOP_PRIORS, tops, strict=True)))
    assert found["loss"] == pytest.approx(tops.min() + whole, rel=1e-9)
    for prior, lost in zip(priors, losses, strict=True):
        assert found["loss"] <= lost - math.log(prior) + math.log(2.0) + 1e-9 * max(found["loss"], 1.0)


@settings(max_examples=40, deadline=None)
@given(streams(-3.0, 3.0))
def test_the_best_sequence_is_the_best_sequence(stream: tuple[np.ndarray, np.ndarray]) -> None:
    said = np.nan_to_num(stream[0], nan=0.0)
    y, T, n = stream[1], said.shape[1], len(said)
    found = mixed(said, y, [1.0 / n] * n, caution=0.0)
    losses = np.log1p(np.exp(-y * said)).T.tolist()
    for switches in (0, 1, 3, 8):
        least = found["table"][:, 6 : 7 + switches].min()
        assert least == pytest.approx(twin.best_sequence(losses, switches), rel=1e-9)
    assert (
        found["tops"][1, 1]
        <= twin.best_sequence(losses, 8) + math.log(n) + 8 * math.log(max(n - 1, 1)) + 9 * math.log(T) + 1e-9 * T
    )


# THEORY-LIVE's golden numbers for the mixture (sixty-digit decimals)
OUTCOMES = [
    [0.9375, 0.0625, 0.75],
    [0.3125, 0.8125, 0.0625],
    [0.125, 0.25, 0.8125],
    [0.5, 0.75, 0.0625],
    [0.25, 0.6875, 0.5625],
    [0.125, 0.5, 0.625],
]


def test_golden_mixture() -> None:
    p = np.array(OUTCOMES).T
    found = mixed(np.log(p / (1.0 - p)), np.ones(6), [1 / 3] * 3, caution=0.0)
    losses = found["table"][:, 1]
    assert losses == pytest.approx([7.46601395598276, 5.722045150591053, 7.085866655858886], rel=1e-12)
    assert found["tops"][0, 1] == pytest.approx(6.462628517257671, rel=1e-12)
    assert found["tops"][1, 1] == pytest.approx(5.040268900553668, rel=1e-12)
    weights = np.exp(-losses) / np.exp(-losses).sum()
    assert weights == pytest.approx([0.12221203788573175, 0.6990528567063856, 0.17873510540788268], rel=1e-12)


KNOWN = [
    [-0.625, 2.5, 0.625],
    [0.125, 0.5, 2.625],
    [1.875, -0.25, 1.5],
    [2.25, 2.75, 0.125],
    [-1.0, -0.25, 2.125],
    [2.0, -0.75, -1.0],
]
UNKNOWN = [
    [-0.125, -1.625, -1.0],
    [-1.125, -0.5, 1.75],
    [1.25, 2.625, 2.875],
    [-5.125, -5.875, -4.625],
    [-17.625, -16.125, -17.5],
    [-14.125, -14.875, -15.25],
]


def aggregated(P: list[list[float]], y: list[float], known: tuple[float, float] | None = None) -> dict[str, Any]:
    """The native mixture of forecasts alone, without the means that follow who did best."""
    n = len(P[0])
    table = np.zeros((n + _native.MEANS, _native.NUMBER_COLUMNS))
    table[:n, 0], table[n:, 0] = -math.log(n), -math.inf
    span = np.zeros(_native.RANGE_NUMBERS)
    record = np.zeros(1, RECORD)
    begin(record["state"])
    if known is not None:
        span[:2], record["state"]["rounds"] = known, 1
    scores = np.empty(len(y))
    kept = (np.zeros((_native.HISTORY_ROWS, len(table) - _native.MEANS + 1)), np.array([0, 1, 1]))
    args = (np.array(y), NO, np.array(P).T.copy(), table, span, *kept, np.zeros(0), record, scores)
    assert _native.play_aggregate(np.zeros((len(y), 0)), *args) == len(y)
    return {"forecasts": scores, "loss": float(record["state"]["loss"][0]), "range": span, "table": table}


def test_golden_aggregating() -> None:
    found = aggregated(KNOWN, [0.75, 0.375, 2.25, -0.75, 2.25, -0.875], (-1.0, 3.0))
    wanted = [0.8537474167880169, 1.1300897525556282, 1.0787990099595717]
    wanted += [1.568480357873928, 1.0323811013360467, -0.3882010392105199]
    assert found["forecasts"] == pytest.approx(wanted, rel=1e-12)
    assert found["loss"] == pytest.approx(9.04755600043294, rel=1e-12)
    assert found["table"][:3, 2] == pytest.approx([29.921875, 27.84375, 6.4375], rel=1e-12)


def test_golden_aggregating_of_unknown_range() -> None:
    found = aggregated(UNKNOWN, [0.0, 0.75, 3.0, -5.0, -16.0, -16.0])
    wanted = [-0.9181731682787604, -0.0973814699205407, 1.5191505878480729]
    wanted += [-1.625, -17.047468810795767, -14.738924693652203]
    assert found["forecasts"] == pytest.approx(wanted, rel=1e-12)
    assert found["loss"] == pytest.approx(17.832139141852547, rel=1e-12)
    assert found["range"][:2].tolist() == [-17.625, 7.625]


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 2**31), st.booleans())
def test_aggregating_is_the_twin_and_keeps_its_promise(n: int, T: int, seed: int, wild: bool) -> None:
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((T, n)) * (10.0 ** rng.uniform(-3, 3) if wild else 1.0)
    y = (rng.standard_cauchy(T) * 2.0 if wild else rng.standard_normal(T)).tolist()
    found, wanted = aggregated(P.tolist(), y), twin.aggregate(P.tolist(), y, [1.0 / n] * n)
    assert found["forecasts"] == pytest.approx(wanted["forecasts"], rel=1e-7, abs=1e-7 * np.abs(P).max())
    low, high = found["range"][:2]
    best = min(sum((one - row[i]) ** 2 for one, row in zip(y, P.tolist(), strict=True)) for i in range(n))
    assert found["loss"] <= best + (high - low) ** 2 * (0.5 * math.log(n) + 1 / 3) + 1e-9 * found["loss"]


# -- the learner -----------------------------------------------------------------------------------------------------


def rows(T: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, 6))
    return X, np.where(X @ rng.standard_normal(6) + 0.5 * rng.standard_normal(T) > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_any_split_resumed_is_one_block_bit_for_bit(task: str) -> None:
    X, y = rows(300)
    y = {"binary": y, "regression": X[:, 0] * 3.0 + y, "multiclass": np.digitize(X[:, 0] + y, [-1.0, 0.0, 1.0]) * 1.0}[
        task
    ]
    whole = LEARNERS["auto"](task=task)
    wanted = play(whole, (X, y)).loss
    rng = np.random.default_rng(2)
    for _ in range(SPLITS):
        cuts = np.unique([0, *rng.integers(1, 300, 3), 300])
        one = LEARNERS["auto"](task=task)
        for start, stop in itertools.pairwise(cuts):
            again = LEARNERS["auto"](task=task)
            again.restore(one.arrays(), one.width, one.paired)
            again.state, again.features, again.labels = one.state, one.features, one.labels
            again.segments = one.segments
            one = again
            play(one, (X[start:stop], y[start:stop]))
        assert Run.of(one).loss == wanted
        for name, array in whole.arrays().items():
            assert np.array_equal(array, one.arrays()[name], equal_nan=True), name


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (
            "labels,labls",
            "some of the 40 members for two classes .*, got 'labls'; did you mean labels, labels-. or labels-.[?]$",
        ),
        ("labels, labels", "auto: members names 'labels' twice"),
        ("", "auto: members must name some of .*, got ''$"),
    ],
)
def test_members_that_cannot_be(members: str, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        LEARNERS["auto"](members=members)
    assert [one.name for one in chosen("binary", "newton+labels")] == ["labels", "newton"]


def test_the_guide_lists_all_members() -> None:
    page = (Path(__file__).parents[2] / "docs" / "learners.md").read_text()
    for task, pool in POOLS.items():
        said = page.split(f"- For {FOR[task]}: ")[1].split(".\n")[0]
        assert [name.strip("`") for name in said.replace(",", " ").split()] == [f"{member.name}" for member in pool]
