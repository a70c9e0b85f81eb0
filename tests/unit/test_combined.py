"""The weights of a mixture's linear members, in the units of the columns: scores are the same on rows as they came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noregret.learner import LEARNERS
from noregret.learner.combined import combined, of_columns
from noregret.protocol import play
from noregret.stream import read
from noregret.stream.block import Rows, Sparse, rows_of


def stream(task: str) -> tuple[np.ndarray, Any]:
    rng = np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (80, 4)) * [1.0, 50.0, 0.01, 1.0] + [0.0, 300.0, 0.0, 0.0]
    y: Any = X @ [1.0, 0.03, -80.0, 0.0]
    if task == "regression":
        return X, y
    return X, np.where(y > y.mean(), 1, -1) if task == "binary" else np.digitize(y, [8.5, 9.5])


def dense(rows: Rows, width: int) -> np.ndarray:
    """Rows as a matrix."""
    if not isinstance(rows, Sparse):
        return np.asarray(rows.X)
    X = np.zeros((len(rows), width))
    for t in range(len(rows)):
        part = slice(rows.indptr[t], rows.indptr[t + 1])
        X[t, rows.indices[part]] = rows.values[part]
    return X


def check(core: Any, rows: Rows) -> list[str]:
    """The members that have weights in the units of the columns, each compared on the rows."""
    found = []
    for i, (member, own) in enumerate(zip(core.members, core.cores, strict=True)):
        view = core.views[core.view_of[i]]
        outputs = 1 if core.tally() is None else len(core.tally()["labels"])
        part = of_columns(core, i, outputs)
        if part is None:
            continue
        played = dense(view.apply(rows, learn=False, features=core.features), own.width)[:, : own.width]
        biases = own.bias if core.tally() is None else own.class_biases
        level, size = core.units_of(i)
        wanted = level + size * (played @ np.atleast_2d(own.weights).T + biases)
        near = (view.scale != "standard") | (np.abs(played).max(axis=1) < 5.0)  # the others are clipped
        assert near.sum() > len(rows) / 2
        given = dense(rows, core.width) @ part[0].T + part[1]
        assert given[near] == pytest.approx(wanted[near], rel=1e-7, abs=1e-7), member.name
        if own.linear and not isinstance(view.apply(rows, learn=False, features=core.features), Sparse):
            said = np.empty(len(rows))
            core._let_score(i, view.apply(rows, learn=False, features=core.features), said)
            assert given[near, 0] == pytest.approx(said[near], rel=1e-7, abs=1e-7), member.name
        found.append(member.name)
    return found


@pytest.mark.parametrize(
    ("task", "some"),
    [
        ("binary", ["newton", "betting", "standard-.15", "diagonal-standard"]),
        ("multiclass", ["softmax-.15", "newton"]),
        ("regression", ["ridge-raw", "ridge-3"]),
    ],
)
def test_scores_of_each_member_on_rows_as_they_came(task: str, some: list[str]) -> None:
    core = LEARNERS["auto"](task=task)
    X, y = stream(task)
    play(core, (X, y))
    names = check(core, rows_of(X))
    assert set(some) <= set(names)
    assert not {"quadratic", "bins-.8", "adagrad-.8", "lagged", "passive"} & set(names)


def test_columns_beside_words(tmp_path: Any) -> None:
    rng = np.random.default_rng(6)
    lines = [f"{rng.uniform(5, 9):.3f},{rng.choice(['red', 'blue'])},{rng.choice(['yes', 'no'])}" for _ in range(60)]
    (tmp_path / "a.csv").write_text("size,colour,label\n" + "\n".join(lines) + "\n")
    source = read(tmp_path / "a.csv", hash_bits=4)
    core: Any = LEARNERS["auto"]()
    play(core, source)
    (block,) = source.blocks()
    assert "newton" in check(core, block.rows)
    mixed = core.combined()
    assert mixed is not None and mixed.spread_word == "standard deviation"


def test_together_they_are_the_mean_by_shares() -> None:
    core: Any = LEARNERS["auto"](members="newton,betting")
    X, y = stream("binary")
    play(core, (X, y))
    found = combined(core)
    assert found is not None
    parts = [of_columns(core, i, 1) for i in range(2)]
    wanted = sum(share * part[0] for share, part in zip(core.shares, parts, strict=True) if part is not None)
    assert found.weights == pytest.approx(wanted / core.shares.sum())
    assert found.share == pytest.approx(1.0)
    assert found.effect == pytest.approx(found.weights * X.std(axis=0), rel=1e-9)


def test_none_without_linear_members() -> None:
    core: Any = LEARNERS["auto"](members="labels,labels-1")
    play(core, stream("binary"))
    assert core.combined() is None
