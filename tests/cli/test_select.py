"""`learn --select` at the command line."""

import re

import numpy as np
import pytest
from tests.cli.command import call


@pytest.fixture
def stream(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(3)
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=300) > 0, 1, -1)
    lines = [
        f"{label:+d} " + " ".join(f"{j}:{x}" for j, x in enumerate(row, 1)) for label, row in zip(y, X, strict=True)
    ]
    path = tmp_path / "s.svm"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("how", ["penalised", "holdout", "gibbs", "last", "average", "voted"])
def test_selected_saved_inspected_predicted_and_verified(stream, tmp_path, how):
    model, receipt = tmp_path / "m.nr", tmp_path / "r.json"
    answer = call("learn", stream, "--select", how, "--save", model, "--receipt", receipt, "--json")
    assert answer.code == 0, answer.err
    selection = answer.json["selection"]
    assert set(selection) >= {"how", "round", "candidates", "empirical", "confidence", "certificates"}
    assert selection["how"] == how and selection["confidence"] == 0.95
    assert call("inspect", model, "--json").json["selection"] == selection
    shown = call("inspect", model)
    assert "a selected model" in shown.out and "not checkable" in shown.out
    assert len(call("predict", model, stream).out.splitlines()) == 301
    assert call("verify", receipt, stream).code == 0
    receipt.write_text(receipt.read_text().replace('"how": "', '"how": "x'))
    assert call("verify", receipt, stream).code == 1


def test_the_table_says_what_was_chosen_and_what_is_assumed(stream):
    answer = call("learn", stream, "--select", "penalised", "--confidence", 0.9, "--shuffle", 1)
    for part in ("selected: penalised", "300, one before every round", "risk-binomial", "at confidence 0.9", "vacuous"):
        assert part in answer.out
    assert "not checkable, and assumed by each bound: the rows are independent draws" in answer.out
    assert "shuffling makes rows exchangeable" in answer.out
    assert "8, in even steps of rounds" in call("learn", stream, "--select", "penalised", "--candidates", 8).out


def test_the_table_says_how_many_rows_were_held_out(stream):
    answer = call("learn", stream, "--learner", "perceptron", "--select", "holdout", "--holdout", "100")
    assert answer.code == 0, answer.err
    for line in (r"201, one before every round not held out; \d+ different", r"rounds held out +100", "risk-holdout"):
        assert re.search(line, answer.out), line


def test_a_predictor_drawn_at_random_is_saved_predicts_and_is_not_resumed(stream, tmp_path):
    model = tmp_path / "m.nr"
    answer = call("learn", stream, "--learner", "perceptron", "--select", "gibbs", "--draw", "3", "--save", model)
    assert answer.code == 0, answer.err
    for line in (r"drawn with seed 3: the weights before round +\d+", "risk-drawn", "risk-gibbs-few"):
        assert re.search(line, answer.out), line
    assert "it predicts with weights drawn from the run" in call("inspect", model).out
    assert len(call("predict", model, stream).out.splitlines()) == 301
    refused = call("learn", stream, "--resume", model)
    assert refused.code == 2 and "a selected model predicts and does not go on learning" in refused.err
    page = tmp_path / "r.html"
    assert call("report", model, "--output", page).code == 0
    assert "drawn with seed 3: the weights before round" in page.read_text()


def test_no_bound_for_the_average_of_a_perceptron_and_for_the_last(stream):
    average = call("learn", stream, "--learner", "perceptron", "--select", "average").out
    assert "no claim by risk-average" in average and "their average is wrong on both" in average
    assert "no bound for the last weights" in call("learn", stream, "--select", "last").out


def test_two_passes_promise_nothing(stream):
    answer = call("learn", stream, "--select", "penalised", "--passes", 2)
    assert answer.code == 0
    assert "risk-gibbs: this assumption fails: every row was played once" in answer.out
    assert "not checkable" not in answer.out


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--select", "best"), "select must be one of penalised, holdout, gibbs, last, average, voted, got 'best'"),
        (("--select", "last", "--confidence", "1"), "select: confidence must lie between 0 and 1, got 1.0"),
        (("--select", "last", "--confidence", "nan"), "select: confidence must lie between 0 and 1, got nan"),
        (("--select", "last", "--candidates", "few"), "select: candidates must be a whole number"),
        (("--confidence", "0.9"), "--confidence needs --select"),
        (("--candidates", "9"), "--candidates needs --select"),
        (("--holdout", "9"), "--holdout needs --select"),
        (("--select", "last", "--holdout", "9"), "--holdout goes with --select holdout, not with last"),
        (("--select", "holdout", "--holdout", "0"), "--holdout must be a whole number of at least 1, got 0"),
        (("--select", "holdout", "--holdout", "300"), "--holdout must leave a round to learn from: 300 were played"),
        (("--draw", "9"), "--draw needs --select"),
        (("--select", "last", "--draw", "9"), "--draw goes with --select gibbs, not with last"),
        (("--select", "gibbs", "--draw", "-1"), "--draw must be a whole number of at least 0, got -1"),
        (("--select", "gibbs", "--candidates", "9"), "--candidates does not go with --select gibbs"),
        (("--select", "last", "--scale", "max"), "select: with scale max"),
        (("--select", "last", "--learner", "ogd", "--loss", "squared"), "select: risk certificates need a loss in"),
    ],
)
def test_what_is_refused_is_said_and_nothing_is_written(stream, tmp_path, more, sentence):
    answer = call("learn", stream, *more, "--save", tmp_path / "m.nr")
    assert answer.code == 2 and sentence in answer.err
    assert not (tmp_path / "m.nr").exists()


def test_a_selected_model_is_not_resumed_and_a_resumed_one_not_selected_from(stream, tmp_path):
    plain, chosen = tmp_path / "p.nr", tmp_path / "c.nr"
    call("learn", stream, "--save", plain, "--quiet")
    call("learn", stream, "--select", "penalised", "--save", chosen, "--quiet")
    answer = call("learn", stream, "--resume", chosen)
    assert answer.code == 2 and "does not go on learning" in answer.err
    answer = call("learn", stream, "--resume", plain, "--select", "last")
    assert answer.code == 2 and "--select needs every round" in answer.err
    assert "a selected model holds no run" in call("certify", chosen, stream).err
