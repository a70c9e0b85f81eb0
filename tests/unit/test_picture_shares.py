"""The picture of a mixture's shares: what is drawn is what was kept, and who has none says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import noregret as nr
from noregret import _native
from noregret.learner import LEARNERS
from noregret.picture.canvas import new_figure
from noregret.picture.shares import TINTS, _smooth, sampled_rows, share_axes
from noregret.protocol import play
from noregret.run import Run

FORMATS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def of(task: str, rows: int = 120) -> Run:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((rows, 3))
    y: Any = X @ np.array([1.0, -2.0, 0.5]) + 0.3 * rng.standard_normal(rows)
    if task == "binary":
        y = np.where(y > 0.0, 1, -1)
    elif task == "multiclass":
        y = np.digitize(y, [-1.0, 1.0])
    return play(LEARNERS["auto"](task=task), (X, y))


@pytest.fixture(scope="module", params=["binary", "multiclass", "regression"])
def run(request: pytest.FixtureRequest) -> Run:
    return of(request.param)


def test_shares_of_every_kept_round_sum_to_1(run: Run) -> None:
    rows = sampled_rows(run)
    assert len(rows) >= 119  # many classes have no mixture before one is known
    assert (np.diff(rows[:, 0]) == 1).all()
    assert np.abs(rows[:, 1:].sum(axis=1) - 1.0).max() < 1e-12
    assert (rows[:, 1:] >= 0.0).all()


def test_what_is_stacked_is_what_was_kept(run: Run) -> None:
    axes = share_axes(new_figure(8.0, 4.0).add_subplot(), run)
    shares = _smooth(sampled_rows(run)[:, 1:])
    names = [member.name for member in run.learner.members]  # type: ignore[attr-defined]
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert 1 <= len(texts) <= len(TINTS) + 1
    for text, area in zip(texts, axes.collections, strict=True):
        name, mean = text.rsplit("  ", 1)
        corners = area.get_paths()[0].vertices
        last = corners[corners[:, 0] == corners[:, 0].max()][:, 1]
        if name in names:
            column = shares[:, names.index(name)]
            assert mean == f"{100.0 * column.mean():.0f} %"
            assert float(np.ptp(last)) == pytest.approx(column[-1], abs=1e-9)
        else:
            assert name.endswith((" other", " others"))
    heights = np.concatenate([area.get_paths()[0].vertices[:, 1] for area in axes.collections])
    assert (heights.min(), heights.max()) == pytest.approx((0.0, 1.0), abs=1e-9)


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format(tmp_path: Any, ending: str) -> None:
    nr.plot(of("binary", 1), kind="weights", to=tmp_path / f"shares.{ending}")
    assert (tmp_path / f"shares.{ending}").read_bytes().startswith(FORMATS[ending])


def test_smoothing_keeps_sums_and_constants() -> None:
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    assert np.abs(_smooth(shares).sum(axis=1) - 1.0).max() < 1e-12
    assert np.array_equal(_smooth(np.tile([0.25, 0.75], (7, 1))), np.tile([0.25, 0.75], (7, 1)))
    assert _smooth(shares)[20] == pytest.approx(shares[16:25].mean(axis=0))


def test_a_full_table_drops_every_second_row() -> None:
    rows = sampled_rows(of("regression", 1300))
    assert len(rows) < _native.HISTORY_ROWS
    assert len(set(np.diff(rows[:, 0]).tolist())) == 1
    assert rows[-1, 0] > 1290


def test_one_learner_has_no_shares() -> None:
    run = play(LEARNERS["perceptron"](), ([[1.0]], [1]))
    with pytest.raises(nr.SettingError, match="shares are those of a mixture's members, and perceptron is one learner"):
        nr.plot(run, kind="weights")
    with pytest.raises(nr.SettingError, match="no round was played: there are no shares to draw"):
        nr.plot(Run.of(LEARNERS["auto"]()), kind="weights")
