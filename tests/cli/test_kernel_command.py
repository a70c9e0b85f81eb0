"""The kernel perceptron on the command line: learn, predict, inspect, compare, certify, verify."""

import numpy as np
import pytest
from command import lines_of, svmlight

import noregret as nr

RNG = np.random.default_rng(3)
X = RNG.uniform(-1.0, 1.0, size=(400, 2))
X = X[np.abs((X**2).sum(axis=1) - 0.6) > 0.3][:150]
Y = np.where((X**2).sum(axis=1) > 0.6, 1, -1)
POLY = ("--learner", "kernel", "--kernel", "poly", "--degree", "2", "--coef0", "1", "--gamma", "1")


@pytest.fixture
def ring(here):
    (here / "ring.svm").write_text(svmlight(X, Y))
    return "ring.svm"


def test_it_learns_predicts_and_is_inspected(noregret, ring, here):
    answer = noregret("learn", ring, *POLY, "--save", "m.nr", "--predictions", "p.csv", "--json")
    assert (answer.code, answer.err) == (0, "")
    run = nr.play(nr.KernelPerceptron(kernel="poly"), (X, Y))
    assert answer.json["mistakes"] == run.mistakes < 40
    said = answer.json["learner"]
    assert (said["name"], said["kernel"], said["degree"], said["coef0"], said["gamma"]) == ("kernel", "poly", 2, 1, 1)
    assert float(lines_of(here / "p.csv")[0]["score"]) == 0.0
    assert noregret("predict", "m.nr", ring, "-o", "q.csv").code == 0
    scores = [float(line["score"]) for line in lines_of(here / "q.csv")]
    expected = nr.KernelPerceptron(kernel="poly", passes=1, shuffle=None).fit(X, Y).decision_function(X)
    assert scores == pytest.approx(expected, rel=1e-5)
    assert noregret("inspect", "m.nr", "--json").json["supports"] == run.mistakes
    assert noregret("inspect", "m.nr").rows()["supports"][0] == str(run.mistakes)


def test_a_stopped_run_goes_on(noregret, ring, here):
    settings = ("--learner", "kernel", "--budget", "8", "--forget", "random", "--seed", "5")
    (here / "a.svm").write_text(svmlight(X[:70], Y[:70]))
    (here / "b.svm").write_text(svmlight(X[70:], Y[70:]))
    whole = noregret("learn", ring, *settings, "--json").json
    noregret("learn", "a.svm", *settings, "--save", "m.nr", "--quiet")
    again = noregret("learn", "b.svm", "--resume", "m.nr", "--json").json
    assert [again[key] for key in ("rounds", "mistakes", "weight_norm")] == [
        whole[key] for key in ("rounds", "mistakes", "weight_norm")
    ]
    refused = noregret("learn", "b.svm", "--resume", "m.nr", "--budget", "9")
    assert (refused.code, refused.out) == (2, "")
    assert "--budget 9 conflicts with the model, which has 8" in refused.err


def test_its_receipt_stands_and_a_forged_one_does_not(noregret, ring, here):
    answer = noregret("learn", ring, *POLY, "--receipt", "r.json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.rows()["kernel-hinge-sum"][-1] == "holds"
    assert noregret("verify", "r.json", ring).code == 0
    receipt = nr.Receipt.load("r.json")
    receipt.certificates[1]["bound"] *= 0.9
    receipt.save("forged.json")
    forged = noregret("verify", "forged.json", ring)
    assert forged.code == 1
    assert "kernel-hinge-sum: the bound" in forged.err


def test_it_is_compared_by_its_spec(noregret, ring):
    spec = "kernel:kernel=poly,degree=3,budget=20,forget=random,seed=2"
    answer = noregret("compare", ring, "--learner", "perceptron", "--learner", spec, "--json")
    assert (answer.code, answer.err) == (0, "")
    straight, curved = answer.json["learners"]
    assert curved["mistakes"] < straight["mistakes"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--kernel", "poly"), "--kernel is for kernel, not for auto"),
        (("--learner", "kernel", "--degree", "2"), "degree is for poly, not for rbf"),
        (("--learner", "kernel", "--kernel", "cubic"), "kernel must be one of"),
        (("--learner", "kernel", "--radius", "2"), "not for kernel"),
        (("--learner", "kernel", "--budget", "0"), "budget must be a whole number of at least 1"),
    ],
)
def test_bad_settings_are_one_sentence(noregret, ring, options, sentence):
    answer = noregret("learn", ring, *options)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert answer.err.count("\n") == 1
