"""`learn --cluster`, `certify --cluster`, and the receipt that verify replays: in this process, which needs no Ray."""

import random
import sys

import pytest

OGD = ("--learner", "ogd", "--loss", "logistic", "--radius", "5")


@pytest.fixture
def parts(here):
    (here / "parts").mkdir()
    rng = random.Random(1)
    for place in range(3):
        rows = ["a,b,label"]
        for _ in range(60):
            a, b = rng.gauss(0, 1), rng.gauss(0, 1)
            rows.append(f"{a:.3f},{b:.3f},{'yes' if a - b + rng.gauss(0, 0.5) > 0 else 'no'}")
        (here / "parts" / f"part-{place}.csv").write_text("\n".join(rows) + "\n")
    return "parts"


def test_a_clustered_run_its_model_and_its_receipt(noregret, here, parts):
    asked = ("learn", parts, *OGD, "--cluster", "serial:1", "--passes", "3")
    found = noregret(*asked, "--save", "m.nr", "--receipt", "r.json", "--json").json
    assert found["rounds"] == 540 and len(found["shards"]) == 3 and len(found["epochs"]) == 3
    assert found["regret"]["lower"] <= found["regret"]["upper"] <= found["certificates"][0]["bound"]
    assert noregret("verify", "r.json", parts, "--quiet").code == 0
    (here / "parts" / "part-1.csv").write_text((here / "parts" / "part-2.csv").read_text())
    wrong = noregret("verify", "r.json", parts)
    assert wrong.code == 1 and "the digest of shard 2" in wrong.err
    told = noregret("certify", "m.nr", parts)
    assert told.code == 2 and "learned on shards" in told.err
    best = noregret("certify", "m.nr", parts, "--cluster", "serial:1", "--json").json
    assert best["shards"] == 3 and best["comparator"]["lower"] <= best["comparator"]["upper"]


def test_the_table_says_what_there_is_to_know(noregret, parts):
    once = noregret("learn", parts, "--learner", "perceptron", "--cluster", "serial:1", "--mixing", "once").out
    assert "3 shards (files), mixing once" in once and "no mistake bound" in once
    cut = noregret("learn", "parts/part-0.csv", *OGD, "--cluster", "serial:2", "--passes", "2", "--certify").out
    assert "2 shards (parts of the rows), mixing uniform" in cut and "shards-each" in cut


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--cluster", "local"), "local:N, serial:N or HOST:PORT"),
        (("--cluster", "serial:0"), "local:N, serial:N or HOST:PORT"),
        (("--cluster", "serial:1", "--mixing", "best"), "mixing must be"),
        (("--cluster", "serial:1", "--shuffle", "1"), "--shuffle cannot be used with --cluster"),
        (("--cluster", "serial:1", "--delay", "3"), "labels that come late"),
        (("--cluster", "serial:1", "--alarm", "baseline"), "--alarm cannot be used with --cluster"),
        (("--mixing", "once"), "--mixing goes with --cluster"),
        (("--shards", "2"), "--shards goes with --cluster"),
    ],
)
def test_what_cannot_be_is_said(noregret, here, parts, options, told):
    answer = noregret("learn", parts, *OGD, *options, "--save", "m.nr")
    assert answer.code == 2 and told in answer.err and answer.out == ""
    assert not (here / "m.nr").exists()


def test_the_default_learner_cannot_be_mixed(noregret, parts):
    answer = noregret("learn", parts, "--cluster", "serial:1")
    assert answer.code == 2 and "only perceptron and ogd" in answer.err


def test_without_ray_a_sentence_names_the_extra(noregret, parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = noregret("learn", parts, *OGD, "--cluster", "local:2")
    assert answer.code == 2 and "noregret[ray]" in answer.err
