"""Receipts of runs that were watched: they stand on the streams of the run, and no field of them can be forged."""

import copy
import math
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

import noregret as nr
from noregret.domain import Domain
from noregret.errors import ReceiptError, SettingError
from noregret.learner import LEARNERS
from noregret.loss import parse
from noregret.proof.certify import certify
from noregret.proof.facts.windows import Sums, WindowFacts
from noregret.proof.receipt import Receipt, write
from noregret.proof.replay import Replayed
from noregret.proof.verify import verify
from noregret.proof.watched import WatchedReceipt
from noregret.proof.windows import asked_again, watching, windows_claimed
from noregret.rounds import Gathering
from noregret.watch.windows import Windows


def stream(rounds=120, features=3, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    return X, np.where(X @ rng.normal(size=features) + rng.normal(size=rounds) > 0, 1, -1)


STREAM = stream()


def made(learner, rows=STREAM, length="every:25", **more):
    return certify(nr.play(learner, rows, windows=Windows(length, **more)), rows)


RECEIPT = made(nr.OnlineGradientDescent(radius=2.0, loss="logistic"))


def forged(change, receipt=RECEIPT):
    body = copy.deepcopy(receipt.watched)
    change(body["windows"])
    return WatchedReceipt(receipt.run, body)


def refused(receipt, sentence=None):
    with pytest.raises(ReceiptError, match=sentence) as said:
        verify(receipt, STREAM)
    assert said.value.failed


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_receipt_of_every_learner_stands(name):
    X, y = stream(60)
    core = LEARNERS[name](**({"unit_norm": True} if name == "coin" else {}))
    rows = (X, X[:, 0] + 0.5 if core.regression else y)
    receipt = made(core, rows, "20")
    assert isinstance(receipt, WatchedReceipt)
    assert len(verify(receipt, rows).checks) > 20
    assert not receipt.broken


@pytest.mark.parametrize("domain", ["ball", "box", "l1", "simplex"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared-hinge", "exponential"])
def test_the_claims_hold_what_the_table_shows(domain, loss):
    learner = nr.OnlineGradientDescent(radius=2.0, loss=loss, domain=domain, rate="sqrt:0.1", bias=True)
    run = nr.play(learner, STREAM, windows=Windows("every:25"))
    receipt = certify(run, STREAM)
    said = receipt.watched["windows"]["parts"]
    for shown, claim in zip(run.windows["parts"], said, strict=True):
        assert claim["loss"]["lower"] <= shown["loss"] * (1 + 1e-12)
        assert shown["loss"] <= claim["loss"]["upper"] * (1 + 1e-12)
        assert claim["bound"] == pytest.approx(shown["bound"], rel=1e-11)
        assert claim["best_at_least"] == pytest.approx(shown["best_at_least"], rel=1e-9, abs=1e-11)
        assert claim["frozen_mistakes"] == shown["frozen"]["mistakes"]
        assert claim["frozen_loss"]["upper"] == pytest.approx(shown["frozen"]["loss"], rel=1e-12)
    names = [one["theorem"] for one in receipt.watched["windows"]["certificates"]]
    assert names == ["window-linearised"] * 5 + ["switching-at-limits"] + ["switching-k"] * 3
    whole = run.windows["whole"]
    bounds = [one["bound"] for one in receipt.watched["windows"]["certificates"][5:]]
    assert bounds == pytest.approx([whole["bound_for_each_window"], *whole["switches"].values()], rel=1e-11)


def test_it_is_written_and_read_again(tmp_path):
    RECEIPT.save(tmp_path / "r.json")
    again = WatchedReceipt.load(tmp_path / "r.json")
    assert again.to_dict() == RECEIPT.to_dict()
    assert len(verify(tmp_path / "r.json", STREAM).checks) == len(verify(RECEIPT, STREAM).checks)


def test_a_run_without_watchers_has_the_receipt_of_a_run():
    assert isinstance(certify(nr.play(nr.Perceptron(), STREAM), STREAM), Receipt)


def test_windows_that_began_later_are_in_no_receipt():
    X, y = STREAM
    learner = nr.OnlineGradientDescent()
    nr.play(learner, (X[:50], y[:50]))
    run = nr.play(learner, (X[50:], y[50:]), windows=Windows(25))
    assert isinstance(certify(run, (X[:50], y[:50]), (X[50:], y[50:])), Receipt)


def test_several_streams():
    X, y = STREAM
    learner = nr.OnlineGradientDescent()
    first, second = (X[:40], y[:40]), (X[40:], y[40:])
    nr.play(learner, first, windows=Windows(25))
    receipt = certify(nr.play(learner, second, windows=Windows(25)), first, second)
    assert len(receipt.watched["windows"]["parts"]) == 5
    assert verify(receipt, first, second).checks


def test_days_are_read_again(tmp_path):
    lines = ["when,a,label"]
    rng = np.random.default_rng(0)
    for i in range(40):
        a = rng.normal()
        lines.append(f"{date(2024, 1, 1) + timedelta(days=i // 4)},{a},{1 if a > 0.2 else -1}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    learner = nr.OnlineGradientDescent()
    source = nr.read(tmp_path / "t.csv", label="label", ignore=["when"])
    learner.core.options = {"label": "label", "ignore": ["when"]}
    run = nr.play(learner, source, windows=Windows("week", time="when"))
    receipt = certify(run, str(tmp_path / "t.csv"))
    assert [one["from"] for one in receipt.watched["windows"]["parts"]] == ["2024-01-01", "2024-01-08"]
    assert verify(receipt, str(tmp_path / "t.csv")).checks
    receipt.watched["windows"]["parts"][1]["from"] = "2024-01-09"
    with pytest.raises(ReceiptError, match="from of window"):
        verify(receipt, str(tmp_path / "t.csv"))


# -- forgeries ---------------------------------------------------------------------------------------------------------


def leaves(said, path=()):
    """The place of every number, word and truth."""
    if isinstance(said, dict):
        for key, value in said.items():
            yield from leaves(value, (*path, key))
    elif isinstance(said, list):
        for place, value in enumerate(said):
            yield from leaves(value, (*path, place))
    else:
        yield path, said


UPPER = {"upper", "bound", "paid", "reach"}  # claimed from above: a smaller one is false
LOWER = {"lower", "best_at_least"}


def falser(path, value):
    """What would claim more."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value}x"
    if value is None:
        return 1.0
    if path[-1] in UPPER:
        return math.nextafter(value, -math.inf)
    if path[-1] in LOWER and isinstance(value, float):
        return math.nextafter(value, math.inf)
    return value + 1


def placed(body, path, value):
    for key in path[:-1]:
        body = body[key]
    body[path[-1]] = value


@pytest.mark.parametrize(("path", "value"), list(leaves(RECEIPT.watched["windows"])), ids=str)
def test_no_field_can_claim_more(path, value):
    refused(forged(lambda body: placed(body, path, falser(path, value))))


@pytest.mark.parametrize("key", sorted(RECEIPT.watched["windows"]))
def test_no_field_can_be_left_out(key):
    refused(forged(lambda body: body.pop(key)))


@pytest.mark.parametrize("key", sorted(RECEIPT.watched["windows"]["parts"][0]))
def test_no_figure_of_a_window_can_be_left_out(key):
    refused(forged(lambda body: body["parts"][2].pop(key)))


def test_other_forgeries():
    refused(forged(lambda body: body.update(more=1)), "what is said of windows")
    refused(forged(lambda body: body["parts"].pop()), "the number of windows")
    refused(forged(lambda body: body["parts"][0].update(more=1)), "what is said of window 1")
    refused(forged(lambda body: body["certificates"].pop()), "the number of theorems about windows")
    refused(forged(lambda body: body.update(length="every:50")))
    refused(forged(lambda body: body.update(length=[3])))
    refused(WatchedReceipt(RECEIPT.run, {}), "a run can be watched by windows")
    refused(WatchedReceipt(RECEIPT.run, {"gremlins": {}}), "a run can be watched by windows")


def test_other_rows_are_other_rows():
    with pytest.raises(ReceiptError, match="not the rows that the receipt is about"):
        verify(RECEIPT, stream(seed=6))


def test_a_file_that_is_another_is_refused(tmp_path):
    body = RECEIPT.to_dict()
    for change in ({"more": 1}, {"watched": {"windows": 3}}, {"run": {**body["run"], "kind": "late"}}, {"run": 3}):
        write(tmp_path / "r.json", {**body, **change})
        with pytest.raises(ReceiptError, match="the receipt is damaged"):
            verify(tmp_path / "r.json", STREAM)


def test_infinite_scores_have_no_bound():
    X, y = np.ones((3, 1)), np.array([1.0, -1.0, 1.0])
    rounds = (
        nr.rounds.Rounds.of(X, y) if hasattr(nr, "rounds") else __import__("noregret.rounds").rounds.Rounds.of(X, y)
    )

    rounds = replace(rounds, scores=np.array([math.inf, math.inf, 0.5]))
    sums = Sums.of(rounds, parse("logistic"))
    assert (sums.rounds, sums.infinite) == (3, 1)
    assert WindowFacts(parse("logistic"), Domain("ball", 1.0), (sums,)).bound(sums).hi == math.inf


def test_windows_of_a_receipt_begin_with_the_first_round():
    learner = nr.OnlineGradientDescent()
    nr.play(learner, STREAM, windows=Windows(25))
    with pytest.raises(SettingError, match="begin with the first round"):
        asked_again({"length": "25", "time": None, "time_zone": None, "radius": None}, learner.core)


def test_claims_are_made_from_the_rounds_alone():
    learner = nr.OnlineGradientDescent(radius=2.0, loss="logistic")
    found = watching(Windows("every:25"), learner.core)
    with Gathering(False) as gathering:
        run = nr.play(learner, STREAM, windows=found, keep=gathering, digest=True)
        played = Replayed(run, gathering.done(), (run.digest,), (True,))
    assert windows_claimed(found, played) == RECEIPT.watched["windows"]
