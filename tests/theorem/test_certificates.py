"""The list of theorems, the verdicts, and the command that explains them."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from noregret.errors import SettingError
from noregret.interval import Interval
from noregret.learner import LEARNERS, Perceptron
from noregret.loss import logistic
from noregret.proof.facts import Facts
from noregret.proof.solve.points import gather
from noregret.proof.theorem import Assumption, Claim, Need, Verdict, theorem
from noregret.proof.theorems import THEOREMS, certificates
from oracle.theorems import played

PAGE = Path(__file__).parents[2] / "docs" / "theorems.md"
every = pytest.mark.parametrize("one", THEOREMS.values(), ids=list(THEOREMS))
OTHERS = ("consistent", "halving", "soa", "agnostic", "weighted-majority", "hedge", "hedge-doubling", "adahedge")
OTHERS += ("expert", "fixed-share", "mixture", "gradient")  # learners of finite classes and of experts
OTHERS += ("batch-sum", "batch-average", "batch-normalised", "batch-random")
OTHERS += ("selection",)  # predictors chosen after a run
OTHERS += ("expert",)  # SOA with some rounds turned
OTHERS += ("linear-game", "mean")  # any learner of linear losses; the mean of rows
OTHERS += ("late",)  # predictions whose labels came late
OTHERS += ("ledger", "alarm", "windows")  # scores of any origin
OTHERS += ("shards",)  # several learners whose weights are mixed


def verdict(bound, observed, ceiling):
    seen = None if observed is None else observed.hi
    return Claim(bound, observed, ceiling).verdict(bound.hi, seen)


@pytest.mark.parametrize(
    ("bound", "observed", "ceiling", "told"),
    [
        (Interval(3.0, 3.0), Interval(3.0, 3.0), 9.0, Verdict.HOLDS),
        (Interval(2.9, 3.0), Interval(1.0, 2.0), 3.0, Verdict.VACUOUS),
        (Interval(2.9, 3.0), Interval(2.0, 3.1), 9.0, Verdict.OPEN),
        (Interval(2.9, 3.0), Interval(3.1, 3.2), 9.0, Verdict.BROKEN),
        (Interval(2.9, 3.0), Interval(3.1, 3.2), 1.0, Verdict.BROKEN),
        (Interval(math.nan, math.nan), Interval(0.0, 0.0), 9.0, Verdict.BROKEN),
        (Interval(2.9, 3.0), None, 9.0, Verdict.HOLDS),
        (Interval(2.9, 3.0), None, 3.0, Verdict.VACUOUS),
    ],
)
def test_verdicts(bound, observed, ceiling, told):
    assert verdict(bound, observed, ceiling) is told


def test_a_failed_assumption_leaves_nothing_claimed():
    def row(holds):
        needs = (Need("it holds", lambda facts: True), Need("no run can tell, or it fails", lambda facts: holds))
        made = theorem("name", "what", "formula", "source", learners=(), needs=needs)
        return made(lambda facts: Claim(Interval.of(3.0), Interval.of(1.0), 9.0, {"a": 1.0}, ("v",)))

    assert row(None)("facts").verdict is Verdict.HOLDS
    assert row(None)("facts").bound == 3.0
    found = row(False)("facts")
    assert found.verdict is Verdict.UNMET
    assert found.assumptions == (Assumption("it holds", True), Assumption("no run can tell, or it fails", False))
    assert found.to_dict() == {
        "theorem": "name",
        "source": "source",
        "bound": None,
        "observed": None,
        "verdict": "unmet",
        "assumptions": [
            {"statement": "it holds", "checked": True, "holds": True},
            {"statement": "no run can tell, or it fails", "checked": True, "holds": False},
        ],
        "values": {},
        "points": [],
    }


@every
def test_every_theorem_says_what_it_is(one):
    assert THEOREMS[one.name] is one
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.name)
    assert one.statement
    assert one.source
    assert set(one.learners) <= {*LEARNERS, *OTHERS}
    assert all(one.assumptions)


@every
def test_every_theorem_is_in_the_guide_with_its_formula(one):
    (line,) = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{one.name}` |")]
    assert one.formula.replace("|", "\\|") in line


def test_the_guide_names_no_theorem_that_there_is_not():
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(THEOREMS)


def test_every_verdict_is_in_the_guide():
    for one in Verdict:
        assert f"| {one.name.lower()} |" in PAGE.read_text()


def test_certificates_come_in_the_order_of_the_list_and_are_plain_data():
    run, rounds = played(Perceptron(), [[1.0, 2.0], [0.5, -1.0]], [1, -1])
    found = certificates(Facts(run, rounds, surrogate=logistic()).at(given=np.array([1.0, 1.0])))
    of_it = [one.name for one in THEOREMS.values() if "perceptron" in one.learners]
    assert [one.theorem for one in found] == [one for one in of_it if not one.startswith("cover-")]  # without sets
    for one in found:
        assert json.loads(json.dumps(one.to_dict())) == one.to_dict()


@pytest.mark.parametrize("learner", LEARNERS.values())
def test_of_no_rounds_nothing_is_said(learner):
    run, rounds = played(learner(unit_norm=True), np.zeros((0, 2)), [])
    assert certificates(Facts(run, rounds)) == []
    assert certificates(gather(Facts(run, rounds))) == []


# -- the command -----------------------------------------------------------------------------------------------------


def said(capsys, *arguments, **options):
    from noregret.cli.theorems import theorems

    theorems(*arguments, **options)
    return capsys.readouterr().out


def test_the_command_lists_every_theorem(capsys):
    parts = said(capsys).split("\n\n")
    assert [part.split(":")[0] for part in parts if part.strip()] == list(THEOREMS)
    for one, part in zip(THEOREMS.values(), parts, strict=False):
        assert all(text in part for text in (one.title, one.formula, one.source, *one.assumptions, *one.learners))


@every
def test_the_command_explains_one(capsys, one):
    told = said(capsys, one.name)
    for part in (one.statement, one.formula, one.source, one.erratum or "", *one.assumptions):
        assert part in told


def test_the_command_prints_json(capsys):
    everything = json.loads(said(capsys, json=True))["theorems"]
    assert [one["theorem"] for one in everything] == list(THEOREMS)
    assert json.loads(said(capsys, "novikoff", json=True)) in everything


def test_the_command_names_what_there_is():
    from noregret.cli.theorems import theorems

    with pytest.raises(SettingError, match=r"theorems: unknown theorem 'novikov'; did you mean novikoff\?"):
        theorems("novikov")
    with pytest.raises(SettingError, match="theorems: unknown theorem '2'; noregret theorems lists all "):
        theorems("2")
