"""Consistent, Halving and SOA round by round, the agnostic learner against its experts, and the sentences."""

import math

import numpy as np
import pytest

from noregret.errors import InputError, SettingError
from noregret.finite import (
    SOA,
    Agnostic,
    Consistent,
    Depths,
    Expert,
    Halving,
    HypothesisClass,
    deepest_tree,
    duel,
    expert_count,
    family,
    play_finite,
    shatters_tree,
)
from noregret.finite.playing import CoverAdversary
from noregret.proof.theorems.finite import certificates
from oracle import finite as oracle

# The project's golden numbers: SOA on the thresholds of 0 … 6, ties to 1, the target being 1[x < 5].
TRACE = [  # point, Ldim if 0, Ldim if 1, prediction, label
    (3, 2, 2, 1, 1),
    (5, 1, 1, 1, 0),
    (4, 0, 0, 1, 1),
    (1, -1, 0, 1, 1),
    (6, 0, -1, 0, 0),
    (4, -1, 0, 1, 1),
]


class Says:
    """Predicts the same for ever."""

    def __init__(self, prediction):
        self.prediction = prediction

    def predict(self, point):
        return self.prediction

    def learn(self, point, label):
        pass


def test_soa_on_the_thresholds_follows_the_golden_trace():
    learner = SOA(family("thresholds:7"), tie=1)
    for point, zero, one, prediction, label in TRACE:
        assert learner.weights(point) == (zero, one)
        assert learner.predict(point) == prediction
        learner.learn(point, label)
    assert learner.size == 1


@pytest.mark.parametrize("tie", [0, 1])
@pytest.mark.parametrize("kind", [Halving, SOA])
def test_predictions_are_those_of_the_definition(kind, tie):
    rng = np.random.default_rng(2)
    predict = (oracle.halving if kind is Halving else oracle.soa)(tie)
    for _ in range(15):
        hypotheses = HypothesisClass(rng.integers(0, 2, (12, 5)))
        learner = kind(hypotheses, tie)
        space = frozenset(map(tuple, hypotheses.matrix.tolist()))
        target = hypotheses.matrix[rng.integers(len(hypotheses))]
        for x in rng.integers(0, 5, 12).tolist():
            assert learner.predict(x) == predict(space, x)
            learner.learn(x, target[x])
            space = oracle.split(space, x)[target[x]]
            assert learner.size == len(space)


def test_consistent_predicts_with_the_hypothesis_it_is_told_to_choose():
    hypotheses = family("thresholds:3")
    assert [Consistent(hypotheses).predict(x) for x in range(3)] == [0, 0, 0]
    assert [Consistent(hypotheses, "last").predict(x) for x in range(3)] == [1, 1, 1]
    middle = Consistent(hypotheses, lambda left: left[len(left) // 2])
    assert middle.chosen == 2
    middle.learn(1, 0)
    assert middle.chosen == 1 and middle.size == 2
    drawn = {Consistent(hypotheses, "random", np.random.default_rng(seed)).chosen for seed in range(40)}
    assert drawn == {0, 1, 2, 3}
    again = [Consistent(hypotheses, "random", np.random.default_rng(4)).chosen for _ in range(2)]
    assert again[0] == again[1]


def test_predict_changes_nothing():
    learner = Consistent(family("cube:3"), "random", np.random.default_rng(0))
    assert len({learner.predict(1) for _ in range(20)}) == 1
    assert learner.size == 8 and learner.rounds == 0


def test_a_run_knows_its_rounds():
    run = play_finite(Halving(family("thresholds:7")), [(3, 1), (5, 0), (4, 1), (4, 1)])
    assert run.mistakes == 1 and run.loss == 1.0
    assert run.version_spaces == [4, 2, 1, 1]
    assert [(one.number, one.point, one.prediction, one.label) for one in run.rounds][1] == (2, 5, 1, 0)
    assert run.realizable and run.best == 0
    assert play_finite(Halving(family("cube:1")), []).best == 0


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda: play_finite(Halving(family("thresholds:3")), [(1, 0), (2, 1)]), InputError,
         r"round 2: no hypothesis that agrees with all earlier labels gives point 2 the label 1 \(SOA with"),
        (lambda: Halving(family("thresholds:3")).learn(1, 2), InputError, "a label must be 0 or 1, got 2"),
        (lambda: SOA(family("thresholds:3")).predict("x"), InputError, "'x' is not a point of the class"),
        (lambda: SOA(family("thresholds:3")).predict([1]), InputError, r"\[1\] is not a point of the class"),
        (lambda: SOA(family("thresholds:3"), tie=2), SettingError, "SOA: tie must be 0 or 1, got 2"),
        (lambda: SOA(family("cube:1"), agnostic=True), SettingError, "SOA: agnostic=True and rounds"),
        (lambda: SOA(family("cube:1"), rounds=3), SettingError, "SOA: agnostic=True and rounds"),
        (lambda: duel(Says(-1), CoverAdversary(3)), InputError,
         "round 1: a prediction must be 0, 1 or the probability of 1, got -1"),
        (lambda: duel(Says("yes"), CoverAdversary(3)), InputError, "the probability of 1, got 'yes'"),
        (lambda: duel(Says(None), CoverAdversary(3)), InputError, "the probability of 1, got None"),
        (lambda: play_finite(Says(float("nan")), [(0, 1)]), InputError, "the probability of 1, got nan"),
        (lambda: Halving(family("subsets:3,2")), SettingError, "Halving: the class must not be empty"),
        (lambda: Consistent(family("cube:1"), "best"), SettingError,
         "Consistent: choose must be first, last, random or a function, got 'best'"),
        (lambda: Consistent(family("cube:1"), "random"), SettingError, "choose='random' and rng must be used together"),
        (lambda: Consistent(family("cube:1"), rng=np.random.default_rng(0)), SettingError, "must be used together"),
        (lambda: Consistent(family("cube:1"), lambda left: 7), SettingError,
         "choose must return one of the hypotheses left, got 7"),
        (lambda: Agnostic(family("cube:1"), 0), SettingError, "Agnostic: rounds must be at least 1, got 0"),
        (lambda: Agnostic(family("cube:1"), 3, tie=5), SettingError, "Agnostic: tie must be 0 or 1, got 5"),
        (lambda: Agnostic(family("subsets:3,2"), 3), SettingError, "Agnostic: the class must not be empty"),
        (lambda: play_finite(Agnostic(family("cube:1"), 1), [(0, 1), (0, 1)]), InputError,
         "Agnostic: it was set up for 1 round, and it is over"),
    ],
)  # fmt: skip
def test_what_cannot_be_gets_a_sentence(call, kind, sentence):
    with pytest.raises(kind, match=sentence):
        call()


def test_soa_learns_from_any_labels_when_told_so():
    hypotheses = family("thresholds:5")
    rounds = [(2, 0), (4, 1), (0, 0), (2, 1)]  # no threshold gives the second label
    told = SOA(hypotheses, 0, agnostic=True, rounds=4)
    assert isinstance(told, Agnostic) and told.tie == 0
    assert play_finite(told, rounds).loss == play_finite(Agnostic(hypotheses, 4, 0), rounds).loss
    assert isinstance(SOA(hypotheses, agnostic=False), SOA)


def test_a_bound_that_is_attained_is_not_called_vacuous():
    def verdict(learner, rounds):
        (found,) = certificates(play_finite(learner, rounds))
        return found.verdict.name

    five = HypothesisClass(family("thresholds:5").matrix[:5])  # log2 5 is 2.3: two mistakes are all that there can be
    assert verdict(Halving(five), [(2, 1), (3, 0)]) == "HOLDS"
    assert verdict(Halving(five), [(2, 0), (0, 0)]) == "VACUOUS"
    assert verdict(SOA(family("cube:2")), [(0, 0), (1, 0)]) == "HOLDS"


def test_dimensions_are_found_in_time_or_not_at_all():
    hypotheses = family("halfspaces:5")
    late = Depths(hypotheses, 1e-9)
    assert late.dimension_in_time(hypotheses.everything) is None
    with pytest.raises(SettingError, match="time ran out"):
        SOA(hypotheses, depths=late).predict((2, 2))
    ends, tree = deepest_tree(late)
    assert not ends.exact and tree.depth == ends.lower
    assert shatters_tree(hypotheses, tree)


def test_an_unexplained_label_leaves_the_learner_as_it_was():
    learner = Halving(family("thresholds:3"))
    learner.learn(1, 0)
    with pytest.raises(InputError):
        learner.learn(2, 1)
    assert (learner.size, learner.rounds) == (2, 1)


# -- the agnostic learner ------------------------------------------------------------------------------------------


def test_the_golden_numbers_of_experts():
    # The project's golden numbers: T, Ldim, d, √(2T ln d).
    for rounds, dimension, count, bound in [
        (5, 1, 6, 4.2329179879),
        (10, 2, 56, 8.97257119307),
        (10, 3, 176, 10.1690550151),
        (100, 2, 5051, 41.2973159478),
    ]:
        assert expert_count(rounds, dimension) == count
        assert math.sqrt(2 * rounds * math.log(count)) == pytest.approx(bound, abs=1e-9)
    assert expert_count(3, 5) == 8 and expert_count(10**6, 0) == 1


@pytest.mark.parametrize("tie", [0, 1])
@pytest.mark.parametrize("name", ["thresholds:7", "singletons:4", "intervals:4", "cube:2"])
def test_it_is_exponential_weights_over_all_experts(name, tie):
    hypotheses = family(name)
    space = frozenset(map(tuple, hypotheses.matrix.tolist()))
    rng = np.random.default_rng(1)
    for rounds in (1, 2, 7):
        points = rng.integers(0, len(hypotheses.points), rounds).tolist()
        labels = rng.integers(0, 2, rounds).tolist()
        said = oracle.experts(space, points, tie)
        learner = Agnostic(hypotheses, rounds, tie)
        assert learner.experts == expert_count(rounds, oracle.ldim(space)) == len(said)
        run = play_finite(learner, zip(points, labels, strict=True))
        expected = oracle.exponential_weights(list(said.values()), labels, learner.rate)
        assert [one.prediction for one in run.rounds] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("tie", [0, 1])
def test_every_hypothesis_is_an_expert(tie):
    hypotheses = family("intervals:4")
    rows = list(map(tuple, hypotheses.matrix.tolist()))
    points = np.random.default_rng(3).integers(0, 4, 8).tolist()
    said = {tuple(one) for one in oracle.experts(frozenset(rows), points, tie).values()}
    assert {tuple(row[x] for x in points) for row in rows} <= said


def test_the_experts_need_the_tie_rule_of_soa():
    both = frozenset([(0,), (1,)])
    assert oracle.soa(1)(both, 0) == 1  # no mistake on h = 1, so the proof names Expert(∅) …
    assert oracle.experts(both, [0], tie=0)[()] == [0]  # … which with ties to 0 is not h
    assert oracle.experts(both, [0], tie=1)[()] == [1]


@pytest.mark.parametrize("tie", [0, 1])
@pytest.mark.parametrize("name", ["thresholds:7", "singletons:4", "intervals:4", "cube:2"])
def test_one_expert_predicts_as_its_definition_says_whatever_the_labels(name, tie):
    hypotheses = family(name)
    depths, space = Depths(hypotheses), frozenset(map(tuple, hypotheses.matrix.tolist()))
    rng = np.random.default_rng(2)
    points = rng.integers(0, len(hypotheses.points), 6).tolist()
    for turns, said in oracle.experts(space, points, tie).items():
        learner = Expert(hypotheses, [t + 1 for t in turns], tie, depths)
        run = play_finite(learner, [(point, int(rng.integers(2))) for point in points])
        assert [one.prediction for one in run.rounds] == said
        assert learner.rounds == 6 and learner.size == learner.version_space.bit_count()


@pytest.mark.parametrize("tie", [0, 1])
@pytest.mark.parametrize("name", ["thresholds:7", "intervals:5", "cube:3", "subsets:2,5", "singletons:1"])
def test_for_every_hypothesis_there_is_an_expert_like_it(name, tie):
    hypotheses = family(name)
    depths = Depths(hypotheses)
    points = np.random.default_rng(5).integers(0, len(hypotheses.points), 9).tolist()
    for number in range(len(hypotheses)):
        learner = Expert.like(hypotheses, number, points, tie, depths)
        assert len(learner.turns) <= depths.dimension(hypotheses.everything)
        run = play_finite(learner, [(point, 0) for point in points])
        assert [one.prediction for one in run.rounds] == [hypotheses.label(number, point) for point in points]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Expert(family("subsets:3,2")), "Expert: the class must not be empty"),
        (lambda: Expert(family("cube:2"), tie=2), "Expert: tie must be 0 or 1, got 2"),
        (lambda: Expert(family("cube:2"), [0]), r"turns must be different rounds, counted from 1, got \[0\]"),
        (lambda: Expert(family("cube:2"), [3, 3]), "turns must be different rounds, counted from 1"),
        (lambda: Expert(family("cube:2"), [1.5]), "turns must be different rounds, counted from 1"),
        (lambda: Expert(family("cube:2"), [1, 2, 3]), "turns must be at most as many as the Littlestone dimension, 2"),
    ],
)
def test_an_expert_has_at_most_ldim_turns(call, sentence):
    with pytest.raises(SettingError, match=sentence):
        call()


def test_many_experts_are_few_states():
    hypotheses = family("thresholds:15")
    learner = Agnostic(hypotheses, 500, depths=Depths(hypotheses))
    rng = np.random.default_rng(0)
    run = play_finite(learner, [(int(x), int(y)) for x, y in rng.integers(0, (15, 2), (500, 2))])
    assert learner.experts > 10**9 and learner.states < 1000
    assert run.loss - run.best <= math.sqrt(2 * 500 * math.log(learner.experts))


def test_against_cover_it_tosses_a_coin():
    learner = Agnostic(HypothesisClass([[0], [1]]), 50)
    run = duel(learner, CoverAdversary(50))
    assert 24.0 <= run.loss <= 50 / 2 + math.sqrt(2 * 50 * math.log(learner.experts))
    assert all(one.loss >= 0.5 for one in run.rounds)
