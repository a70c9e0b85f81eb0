"""What people are told of a mixture: baselines, price, who leads; on the page too."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noregret import model
from noregret.learner import LEARNERS
from noregret.proof.certify import certify
from noregret.protocol import play
from noregret.reporting import report
from noregret.run import Run
from noregret.summary import LEADERS, member_rows, members_head, price, run_rows


def stream(task: str, rows: int = 200) -> tuple[np.ndarray, Any]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((rows, 3))
    z = X @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(rows)
    labels = {"binary": np.where(z > 0.3, 1, -1), "multiclass": np.digitize(z, [-1.0, 1.0]), "regression": z}
    return X, labels[task]


def played(task: str, **settings: Any) -> Run:
    return play(LEARNERS["auto"](task=task, **settings), stream(task), digest=True)


def entropy(labels: list[Any]) -> float:
    return sum(n * math.log(len(labels) / n) for n in Counter(labels).values())


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_baselines_are_the_entropies_of_the_labels(task: str) -> None:
    run, y = played(task), stream(task)[1].tolist()
    after = [[b for a, b in itertools.pairwise(y) if a == before] for before in set(y)]
    wanted = {"label_frequency": entropy(y), "after_previous": sum(map(entropy, after))}
    assert run.baseline_losses == pytest.approx(wanted, rel=1e-12)
    shown = {what.strip(): total for what, total, _ in run_rows(run)}
    assert float(shown["baseline: best fixed frequency"]) == pytest.approx(wanted["label_frequency"], rel=1e-5)
    assert "weights ‖w‖" not in shown
    assert set(played(task, members="newton").baseline_losses) == set()


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_price_is_within_what_the_theorem_allows(task: str) -> None:
    run = played(task)
    assert run.members is not None
    for one in run.members:
        assert one["price"] <= -math.log(one["prior"]) + math.log(2.0) + 1e-9
        if task == "binary":
            assert one["price"] == pytest.approx(run.loss - one["loss"])
    best = min((one for one in run.members if one["awake"]), key=lambda one: one["loss"])
    most = math.log(2.0 / best["prior"])
    told = price(run)
    assert told is not None and f" nats more than its best member, {best['name']}; " in told
    assert float(told.rsplit(" ", 2)[1]) == pytest.approx(most, rel=1e-5)
    assert len(member_rows(run)) == LEADERS
    assert [row[0] for row in member_rows(run, None)] == [one["name"] for one in run.members]


def test_numbers_have_squared_loss_and_no_nats() -> None:
    run = played("regression")
    assert run.members is not None and run.baseline_losses == {}
    assert members_head(run)[2] == "squared loss"
    assert "nats" not in str(price(run))
    y = stream("regression")[1]
    last = next(one for one in run.members if one["name"] == "last")
    assert last["loss"] == pytest.approx(float(np.square(np.diff(y, prepend=0.0)).sum()))
    assert last["price"] == pytest.approx(run.loss - last["loss"])


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_page_says_who_led_what_it_cost_and_what_is_promised(task: str, tmp_path: Path) -> None:
    run = played(task)
    receipt = certify(run, stream(task))
    receipt.save(tmp_path / "a.json")
    model.save(run.learner, tmp_path / "a.nr")
    page = report(str(tmp_path / "a.json"), str(tmp_path / "a.nr"))
    assert run.members is not None
    assert f"follows {run.members[0]['name']} the most" in page
    assert "Members of the mixture" in page and "All members" in page
    assert "Shares of the members" in page
    holding = {str(one["theorem"]) for one in receipt.certificates if one["verdict"] == "holds"}
    assert ("every member, w being its weight at the start" in page) is bool(holding & {"mixture", "aggregating"})
    assert ("at most 8 switches, chosen with hindsight" in page) is ("tracking" in holding)
    assert ("squared loss is at most" in page) is (task == "regression")
    assert ("a member may still make fewer mistakes" in page) is (task != "regression")
