"""`learn --certify`, `certify` and `verify` at the command line."""

import json
import re

import numpy as np
import pytest
from tests.cli.command import call


def svmlight(path, seed=0, rounds=80, features=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features)).round(3)
    y = np.where(X @ rng.normal(size=features) + 0.5 * rng.normal(size=rounds) > 0, 1, -1)
    lines = [
        f"{label:+d} " + " ".join(f"{j}:{x}" for j, x in enumerate(row, 1)) for label, row in zip(y, X, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def stream(tmp_path):
    return svmlight(tmp_path / "s.svm")


def test_learn_certify_prints_the_interval_and_every_theorem(stream):
    answer = call("learn", stream, "--learner", "ogd", "--radius", 2, "--certify", "--json")
    assert answer.code == 0, answer.err
    regret = answer.json["regret"]
    assert set(regret) >= {"lower", "upper", "comparator", "domain"}
    assert regret["domain"] == {"radius": 2.0}
    assert 0.0 <= regret["upper"] - regret["lower"] <= 1e-4 * max(regret["comparator"]["upper"], 1.0) + 1e-9
    own = answer.json["loss"]["total"]
    assert regret["lower"] <= own - regret["comparator"]["lower"]
    names = [part["theorem"] for part in answer.json["certificates"]]
    assert {"ogd-linearised", "ogd-adaptive"} <= set(names)
    for part in answer.json["certificates"]:
        assert set(part) >= {"theorem", "source", "bound", "observed", "verdict", "assumptions"}
        assert all(set(one) == {"statement", "checked", "holds"} for one in part["assumptions"])


def test_the_perceptron_has_mistake_certificates_and_a_regret_only_with_a_radius(stream):
    plain = call("learn", stream, "--learner", "perceptron", "--certify", "--json").json
    assert plain["regret"] is None
    mistakes = {part["theorem"]: part for part in plain["certificates"]}
    assert mistakes["hinge-root"]["observed"] == plain["mistakes"]
    assert mistakes["hinge-root"]["bound"] >= plain["mistakes"]
    ball = call("learn", stream, "--learner", "perceptron", "--certify", "--radius", 3, "--json").json
    assert ball["regret"]["loss"] == "hinge"
    assert call("learn", stream, "--learner", "perceptron", "--radius", 3).code == 2


def test_mistakes_are_compared_with_the_loss_that_was_asked_for(stream, tmp_path):
    receipt, again, model = tmp_path / "r.json", tmp_path / "again.json", tmp_path / "m.nr"
    asked = ("--surrogate", "margin-hinge:0.5")
    answer = call("learn", stream, "--learner", "averaged", *asked, "--receipt", receipt, "--save", model)
    assert answer.code == 0, answer.err
    assert re.search(r"^surrogate-mistakes +[\d.]+ +\d+ +\w+$", answer.out, re.MULTILINE)
    assert re.search(r"^L1 or L2: the printed L[12] bound is .*; the exact root of L1 is ", answer.out, re.MULTILINE)
    assert call("certify", model, stream, *asked, "--receipt", again, "--quiet").code == 0
    bodies = [json.loads(path.read_text()) for path in (receipt, again)]
    assert [body["surrogate"] for body in bodies] == ["margin-hinge:0.5"] * 2
    assert bodies[0]["certificates"] == bodies[1]["certificates"]
    for path in (receipt, again):
        assert call("verify", path, stream).code == 0
    plain = call("certify", model, stream, "--json").json["certificates"]
    assert not any(part["theorem"].startswith("surrogate") for part in plain)


def test_a_receipt_goes_round(stream, tmp_path):
    receipt = tmp_path / "r.json"
    answer = call("learn", stream, "--learner", "ogd", "--loss", "logistic", "--receipt", receipt)
    assert answer.code == 0, answer.err
    assert "best fixed weights in hindsight" in answer.out
    stands = call("verify", receipt, stream)
    assert (stands.code, stands.err) == (0, "")
    assert stands.out.rstrip().endswith("claims recomputed")
    said = call("verify", receipt, stream, "--json").json
    assert said["stands"] is True
    assert len(said["checks"]) > 20
    assert call("verify", receipt, stream, "--quiet").out == ""


def test_a_model_is_certified_afterwards_as_it_would_have_been_at_once(stream, tmp_path):
    at_once = call(
        "learn", stream, "--learner", "ogd", "--radius", 2, "--certify", "--save", tmp_path / "m.nr", "--json"
    )
    later = call("certify", tmp_path / "m.nr", stream, "--json", "--receipt", tmp_path / "r.json")
    assert later.code == 0, later.err
    for key in ("regret", "certificates", "loss", "mistakes"):
        assert later.json[key] == at_once.json[key]
    assert call("verify", tmp_path / "r.json", stream).code == 0


def test_standard_input_is_certified(stream, tmp_path):
    answer = call(
        "learn", "-", "--learner", "ogd", "--receipt", tmp_path / "r.json", "--quiet", stdin=stream.read_bytes()
    )
    assert answer.code == 0, answer.err
    assert call("verify", tmp_path / "r.json", stream).code == 0


def test_passes_shuffles_and_hashed_columns_are_replayed(tmp_path):
    rows = [f"{i % 7},{'red' if i % 3 else 'blue'},{'yes' if (i * i) % 5 else 'no'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["size,colour,label", *rows]) + "\n")
    receipt = tmp_path / "r.json"
    options = ["--learner", "ogd", "--passes", 2, "--shuffle", 4, "--positive", "yes", "--bias", "--unit-norm"]
    assert call("learn", tmp_path / "t.csv", *options, "--receipt", receipt).code == 0
    answer = call("verify", receipt, tmp_path / "t.csv")
    assert answer.code == 0, answer.err


def test_a_changed_receipt_and_a_changed_stream_exit_1_in_one_line(stream, tmp_path):
    receipt = tmp_path / "r.json"
    call("learn", stream, "--learner", "ogd", "--receipt", receipt, "--quiet")
    body = json.loads(receipt.read_text())
    body["regret"]["upper"] -= 1.0
    (tmp_path / "bad.json").write_text(json.dumps(body))
    for answer in (
        call("verify", tmp_path / "bad.json", stream),
        call("verify", receipt, svmlight(tmp_path / "other.svm", seed=1)),
    ):
        assert answer.code == 1
        assert answer.err.startswith("noregret: verification failed: ")
        assert answer.err.count("\n") == 1
    said = call("verify", tmp_path / "bad.json", stream, "--json")
    assert (said.code, said.json["stands"]) == (1, False)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--gap", "0.1"], "--gap goes with --certify"),
        (["--seconds", "1"], "--seconds goes with --certify"),
        (["--anytime"], "--anytime goes with --certify"),
        (["--surrogate", "hinge"], "--surrogate goes with --certify"),
        (["--certify", "--surrogate", "hinge"], "--surrogate goes with perceptron, averaged or voted, not with auto"),
        (["--certify", "--learner", "perceptron", "--surrogate", "hige"], "--surrogate: loss must be one of"),
        (
            ["--certify", "--learner", "voted", "--surrogate", "perceptron"],
            "--surrogate must be above 0 at the score 0",
        ),
        (["--certify", "--gap", "0"], "--gap must be positive and finite, got 0.0"),
        (["--certify", "--seconds", "-1"], "--seconds must be positive, got -1.0"),
        (["--certify", "--learner", "perceptron", "--radius", "-3"], "radius must be positive and finite, got -3.0"),
        (["--certify", "--learner", "perceptron", "--anytime"], "anytime needs a radius"),
        (["--certify", "--learner", "ogd", "--loss", "nonsense"], "loss must be one of"),
    ],
)
def test_bad_options_get_one_sentence_and_leave_nothing(options, sentence, stream, tmp_path):
    before = sorted(tmp_path.iterdir())
    answer = call("learn", stream, *options, *(["--receipt", tmp_path / "r.json"] if "--certify" in options else []))
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_certify_says_what_is_wrong(stream, tmp_path):
    call("learn", stream, "--learner", "ogd", "--save", tmp_path / "m.nr", "--quiet")
    other = svmlight(tmp_path / "other.svm", seed=1)
    for arguments, sentence in (
        ((tmp_path / "m.nr", other), "not the rows that this model learned from"),
        ((tmp_path / "m.nr", stream, stream), "learned from 1 streams, 2 were given"),
        ((tmp_path / "m.nr", stream, "--radii", "1,x"), "--radii must be numbers separated by commas"),
        ((tmp_path / "m.nr", stream, "--radii", "-1"), "--radii must be positive and finite"),
        ((tmp_path / "none.nr", stream), "cannot be read"),
        ((tmp_path / "m.nr", stream, "--plot", tmp_path / "x.doc"), "must end in .png"),
    ):
        answer = call("certify", *arguments)
        assert answer.code == 2, answer
        assert sentence in answer.err
    assert call("learn", stream, "--resume", tmp_path / "m.nr", "--certify").code == 2
    assert call("verify", tmp_path / "none.json", stream).code == 2
    assert call("verify", stream, stream).code == 2


def test_a_stream_that_was_forgotten_does_not_make_the_receipt_wrong(stream, tmp_path):
    receipt = tmp_path / "r.json"
    assert call("learn", stream, "--receipt", receipt, "--quiet").code == 0
    answer = call("verify", receipt, stream, stream)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(
        "noregret: verify: the receipt is of a run on 1 streams, 2 were given: name all of them"
    )


def test_other_balls_and_the_picture_of_the_regret_so_far(stream, tmp_path):
    call("learn", stream, "--learner", "ogd", "--save", tmp_path / "m.nr", "--quiet")
    answer = call("certify", tmp_path / "m.nr", stream, "--radii", "4,1", "--plot", tmp_path / "p.svg", "--json")
    assert answer.code == 0, answer.err
    assert "<svg" in (tmp_path / "p.svg").read_text()
    curve = answer.json["curve"]
    assert [entry["rounds"] for entry in curve] == [1, 2, 4, 8, 16, 32, 64, 80, 80]
    assert [entry["domain"]["radius"] for entry in curve][-2:] == [1.0, 4.0]
    small, large = curve[-2:]
    assert small["lower"] <= large["upper"], "a larger ball has no smaller regret"
    for entry in curve[:-2]:
        assert entry["upper"] <= min(entry["bounds"].values()) + 1e-9


def test_a_broken_theorem_is_an_alarm(stream, monkeypatch):
    from noregret.proof.receipt import Receipt

    monkeypatch.setattr(Receipt, "broken", property(lambda self: ["norm-lemma"]))
    answer = call("learn", stream, "--certify", "--quiet")
    assert answer.code == 1
    assert "this is a bug, please report it" in answer.err


@pytest.mark.parametrize("change", [{"version": 1}, {"arithmetic": "near-1"}])
def test_a_receipt_of_older_rules_is_refused_with_a_sentence_and_exit_code_2(noregret, here, change):
    (here / "rows.svm").write_text("1 1:2\n-1 1:-1\n1 1:0.5\n")
    assert noregret("learn", "rows.svm", "--learner", "ogd", "--receipt", "r.json", "--quiet").code == 0
    body = {**json.loads((here / "r.json").read_text()), **change}
    (here / "old.json").write_text(json.dumps(body))
    answer = noregret("verify", "old.json", "rows.svm")
    assert answer.code == 2
    assert answer.err.startswith("noregret: old.json: ") and answer.err.endswith("make it again\n")
