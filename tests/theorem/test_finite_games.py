"""What is promised of finite classes, on random and on worst-case games, and where each promise is attained."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.errors import SettingError
from noregret.finite import (
    EXERCISES,
    LEARNERS,
    SOA,
    Agnostic,
    Consistent,
    CoverAdversary,
    Depths,
    Expert,
    HalfspaceAdversary,
    Halving,
    HypothesisClass,
    MistakeTree,
    ThresholdAdversary,
    TreeAdversary,
    dimensions,
    duel,
    exercise,
    family,
    mistake_tree,
    play_exercise,
    play_finite,
    singleton_rounds,
    worst_case,
)
from noregret.proof.theorem import Verdict
from noregret.proof.theorems.finite import certificates, dimension_certificate
from oracle import finite as oracle

FAMILIES = [
    "singletons:5",
    "thresholds:7",
    "thresholds:10",
    "intervals:6",
    "cube:4",
    "subsets:2,6",
    "at-most:2,6",
    "parities:3",
    "conjunctions:2",
    "halfspaces:3",
    "two-sided-thresholds:6",
    "variables:5",
    "unions:2,6",
]


def every_learner(hypotheses, depths):
    """Every deterministic learner there is, with every tie rule and choice."""
    assert set(LEARNERS) == {"consistent", "halving", "soa"}
    yield from (SOA(hypotheses, tie, depths) for tie in (0, 1))
    yield from (Halving(hypotheses, tie) for tie in (0, 1))
    yield from (Consistent(hypotheses, which) for which in ("first", "last", lambda left: left[len(left) // 2]))
    yield Consistent(hypotheses, "random", np.random.default_rng(0))


def verdicts(run):
    return {one.theorem: one.verdict for one in certificates(run)}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_adversary_forces_littlestones_dimension_on_every_learner(name):
    hypotheses = family(name)
    depths = Depths(hypotheses)
    tree = mistake_tree(depths)
    for learner in every_learner(hypotheses, depths):
        run = duel(learner, TreeAdversary(hypotheses, tree))
        assert run.mistakes == len(run.rounds) == tree.depth
        assert run.realizable
        assert [one.node for one in run.rounds] == tree.path([one.label for one in run.rounds])
        assert verdicts(run)["littlestone-lower"] is Verdict.HOLDS
        assert Verdict.BROKEN not in verdicts(run).values()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("tie", [0, 1])
def test_soa_errs_littlestones_dimension_against_any_adversary_and_no_more(name, tie):
    hypotheses = family(name)
    depths = Depths(hypotheses)
    run = duel(SOA(hypotheses, tie, depths), TreeAdversary(hypotheses, mistake_tree(depths), beyond=True))
    assert run.mistakes == len(run.rounds) == depths.dimension(hypotheses.everything)
    assert run.version_spaces[-1:] in ([1], [])


@pytest.mark.parametrize("name", FAMILIES)
def test_beyond_the_tree_every_learner_keeps_its_own_bound(name):
    hypotheses = family(name)
    depths = Depths(hypotheses)
    tree = mistake_tree(depths)
    for learner in every_learner(hypotheses, depths):
        run = duel(learner, TreeAdversary(hypotheses, tree, beyond=True))
        bound = {"consistent": len(hypotheses) - 1, "halving": math.log2(len(hypotheses)), "soa": tree.depth}
        assert tree.depth <= run.mistakes <= bound[learner.name]
        assert Verdict.BROKEN not in verdicts(run).values()


# The project's golden numbers: the most mistakes of Halving, of SOA, of Consistent with the first row as a word.
GAMES = {
    "singletons:1": (0, 0, 0),
    "singletons:3": (1, 1, 2),
    "thresholds:1": (1, 1, 1),
    "thresholds:3": (2, 2, 3),
    "thresholds:7": (3, 3, 7),
    "cube:1": (1, 1, 1),
    "cube:3": (3, 3, 3),
    "intervals:1": (1, 1, 1),
    "intervals:3": (2, 2, 3),
    "intervals:5": (3, 3, 5),
    "subsets:2,4": (2, 2, 3),
    "monotone-conjunctions:2": (2, 2, 2),
    "conjunctions:2": (3, 3, 3),
    "parities:2": (2, 2, 2),
}


def against_all(make, hypotheses):
    """The most mistakes that any sequence of points and labels forces, by trying them all on the learner itself."""

    def value(rounds):
        best = 0
        for point in hypotheses.points:
            learner = make()
            for known in rounds:
                learner.learn(*known)
            zero, one = learner.split(point)
            if zero and one:
                said = learner.predict(point)
                best = max(best, *(value((*rounds, (point, y))) + (y != said) for y in (0, 1)))
        return best

    return value(())


@pytest.mark.parametrize("name", GAMES)
def test_the_golden_worst_cases(name):
    space = frozenset(map(tuple, family(name).matrix.tolist()))
    found = (
        oracle.worst(space, oracle.halving()),
        oracle.worst(space, oracle.soa()),
        oracle.worst(space, oracle.smallest),
    )
    assert found == GAMES[name]


@pytest.mark.parametrize("name", ["singletons:3", "thresholds:3", "intervals:3", "cube:2", "parities:2"])
def test_the_learners_themselves_have_the_golden_worst_cases(name):
    hypotheses = family(name)
    words = HypothesisClass(sorted(hypotheses.matrix.tolist()))
    depths = Depths(words)
    expected = GAMES.get(name, (2, 2, 2))
    makers = (lambda: Halving(words), lambda: SOA(words, 1, depths), lambda: Consistent(words))
    assert tuple(against_all(make, words) for make in makers) == expected


classes = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=12)
)


@given(classes, st.data())
@settings(max_examples=60)
def test_no_realizable_stream_breaks_a_bound(rows, data):
    hypotheses = HypothesisClass(rows)
    depths = Depths(hypotheses)
    target = data.draw(st.integers(0, len(hypotheses) - 1))
    points = data.draw(st.lists(st.sampled_from(hypotheses.points), min_size=1, max_size=30))
    stream = [(point, hypotheses.label(target, point)) for point in points]
    for learner in every_learner(hypotheses, depths):
        run = play_finite(learner, stream)
        assert {one.verdict for one in certificates(run)} <= {Verdict.HOLDS, Verdict.VACUOUS}
        assert (
            run.mistakes
            <= {
                "consistent": len(hypotheses) - 1,
                "halving": len(hypotheses).bit_length() - 1,
                "soa": depths.dimension(hypotheses.everything),
            }[learner.name]
        )


@given(classes, st.data())
@settings(max_examples=40)
def test_the_agnostic_learner_keeps_its_regret_whatever_the_labels(rows, data):
    hypotheses = HypothesisClass(rows)
    points = data.draw(st.lists(st.sampled_from(hypotheses.points), min_size=1, max_size=25))
    labels = data.draw(st.lists(st.integers(0, 1), min_size=len(points), max_size=len(points)))
    learner = Agnostic(hypotheses, len(points) + data.draw(st.integers(0, 5)), data.draw(st.integers(0, 1)))
    run = play_finite(learner, zip(points, labels, strict=True))
    (found,) = certificates(run)
    assert found.theorem == "agnostic-littlestone" and found.verdict in (Verdict.HOLDS, Verdict.VACUOUS)
    assert run.loss - run.best <= math.sqrt(2 * learner.horizon * math.log(learner.experts)) + 1e-9


def test_against_labels_that_answer_it_the_agnostic_learner_keeps_its_regret():
    hypotheses = family("thresholds:31")
    learner = Agnostic(hypotheses, 200)
    rng, rounds = np.random.default_rng(4), []
    for _ in range(200):
        point = int(rng.integers(31))
        label = int(learner.predict(point) < 0.5)
        learner.learn(point, label)
        rounds.append((point, label))
    run = play_finite(Agnostic(hypotheses, 200), rounds)
    assert run.loss >= 100.0
    assert certificates(run)[0].verdict in (Verdict.HOLDS, Verdict.VACUOUS)


# -- the exercises -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_exercise_1_consistent_errs_once_for_all_but_one_hypothesis(n):
    run = play_finite(Consistent(family(f"singletons:{n}")), singleton_rounds(n))
    assert run.mistakes == n - 1
    assert verdicts(run)["consistent-size"] is Verdict.HOLDS


@pytest.mark.parametrize("n", [1, 4, 7])
def test_exercise_2_the_cube_costs_a_mistake_a_point(n):
    hypotheses = family(f"cube:{n}")
    depths = Depths(hypotheses)
    for learner in every_learner(hypotheses, depths):
        assert duel(learner, TreeAdversary(hypotheses, mistake_tree(depths))).mistakes == n


@pytest.mark.parametrize("tie", [0, 1])
def test_exercise_3_halving_errs_once_on_the_singletons(tie):
    for n in range(2, 7):
        space = frozenset(map(tuple, family(f"singletons:{n}").matrix.tolist()))
        assert oracle.worst(space, oracle.halving(tie)) == 1
    assert against_all(lambda: Halving(family("singletons:4"), tie), family("singletons:4")) == 1


EXPECTED = {1: lambda n: n - 1, 2: lambda n: n, 3: lambda n: int(n > 1)}


@pytest.mark.parametrize("points", [None, 1, 2, 5, 9])
@pytest.mark.parametrize("number", EXERCISES)
def test_the_exercises_by_name(number, points):
    found, size = exercise(f"exercise:{number}" + ("" if points is None else f",{points}"))
    assert size == (found.points if points is None else points)
    hypotheses = found.hypotheses(size)
    asked = next(one for one in every_learner(hypotheses, Depths(hypotheses)) if one.name == found.learner)
    run = play_exercise(found, hypotheses, lambda: asked)
    assert run.mistakes == found.mistakes(size) == EXPECTED[number](size)
    assert run.realizable and Verdict.BROKEN not in verdicts(run).values()


@pytest.mark.parametrize("name", ["singletons:4", "thresholds:4", "intervals:4", "cube:3", "parities:2", "variables:3"])
def test_the_worst_case_is_that_of_the_game_recursion_and_its_sequence_attains_it(name):
    words = HypothesisClass(sorted(family(name).matrix.tolist()))
    space, depths = frozenset(map(tuple, words.matrix.tolist())), Depths(words)
    for make, twin in (
        (lambda: Halving(words, 0), oracle.halving(0)),
        (lambda: Halving(words, 1), oracle.halving(1)),
        (lambda: SOA(words, 1, depths), oracle.soa(1)),
        (lambda: Consistent(words), oracle.smallest),
    ):
        learner = make()
        found = worst_case(learner)
        assert learner.version_space == words.everything and learner.rounds == 0
        assert found.mistakes == oracle.worst(space, twin) == play_finite(make(), found.rounds).mistakes
        assert 1 <= found.version_spaces < 2 ** len(words)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("exercise:4", "the exercises are exercise:1, exercise:2, exercise:3; got exercise:4"),
        ("exercise", "the exercises are"),
        ("exercise:1,x", "the number of points must be a whole number of at least 1, got 'x'"),
        ("exercise:3,13", "every sequence is searched, so that 12 points are the most, got 13"),
    ],
)
def test_an_exercise_that_is_not_there_gets_a_sentence(name, sentence):
    with pytest.raises(SettingError, match=sentence):
        exercise(name)
    third = EXERCISES[3].hypotheses(3)
    with pytest.raises(SettingError, match="exercise:3 searches every version space of a learner"):
        play_exercise(EXERCISES[3], third, lambda: Agnostic(third, 5))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_adversary_forces_its_mistakes_on_every_expert_too(name):
    hypotheses = family(name)
    depths = Depths(hypotheses)
    tree = mistake_tree(depths)
    for turns in ([], [1], [tree.depth]):
        run = duel(Expert(hypotheses, turns, 0, depths), TreeAdversary(hypotheses, tree))
        assert run.mistakes == tree.depth and verdicts(run) == {"littlestone-lower": Verdict.HOLDS}


def test_halving_can_err_more_often_than_soa():
    found = 0
    rng = np.random.default_rng(0)
    for _ in range(400):
        space = frozenset(map(tuple, (rng.random((9, 5)) < 0.3).astype(int).tolist()))
        assert oracle.worst(space, oracle.soa()) == oracle.ldim(space) <= oracle.worst(space, oracle.halving())
        found += oracle.worst(space, oracle.halving()) > oracle.ldim(space)
    assert found


# -- other adversaries ---------------------------------------------------------------------------------------------


class Repeater:
    """Predicts the label that came last."""

    def __init__(self):
        self.last = 0

    def predict(self, point):
        return self.last

    def learn(self, point, label):
        self.last = label


class Stubborn(Repeater):
    """Always predicts 0."""

    def learn(self, point, label):
        pass


@pytest.mark.parametrize("make", [Repeater, Stubborn])
def test_covers_game_every_round_is_a_mistake_and_a_constant_errs_in_half_of_them(make):
    for rounds in (1, 2, 31):
        adversary = CoverAdversary(rounds)
        run = duel(make(), adversary)
        assert run.mistakes == rounds and adversary.best_constant <= rounds / 2


@pytest.mark.parametrize("make", [Repeater, Stubborn])
@pytest.mark.parametrize("depth", [0, 1, 60, 300])
def test_thresholds_on_the_unit_interval_cost_a_mistake_a_round_for_ever(make, depth):
    adversary = ThresholdAdversary(depth)
    run = duel(make(), adversary)
    assert run.mistakes == len(run.rounds) == depth
    assert 0 < adversary.threshold <= 1
    assert all((one.point < adversary.threshold) == one.label for one in run.rounds)


def test_the_tree_of_thresholds_goes_left_for_0():
    first = ThresholdAdversary(2)
    assert first.point() == Fraction(1, 2)
    assert first.answer(1) == 0 and first.point() == Fraction(1, 4)
    second = ThresholdAdversary(2)
    assert second.answer(0) == 1 and second.point() == Fraction(3, 4)


def test_halfspaces_of_the_plane_cost_a_mistake_a_round_for_ever():
    adversary = HalfspaceAdversary(200)
    run = duel(Repeater(), adversary)
    a, b = adversary.normal
    assert run.mistakes == 200
    assert all((a * x + b * z > 0) == one.label for one in run.rounds for x, z in [one.point])


def test_a_perceptron_meets_its_adversary():
    from noregret import Perceptron

    model, mistakes = Perceptron(), 0
    adversary = HalfspaceAdversary(30)
    while (point := adversary.point()) is not None:
        row = {"x": float(point[0]), "z": float(point[1])}
        said = model.predict_one(row) or 0
        label = adversary.answer(said)
        mistakes += said != label
        model.learn_one(row, label)
    assert mistakes == 30


# -- certificates --------------------------------------------------------------------------------------------------


def test_a_certificate_needs_labels_that_some_hypothesis_gives():
    class Loose(Halving):
        def learn(self, point, label):
            pass

    run = play_finite(Loose(family("thresholds:3")), [(0, 0), (2, 1)])
    (found,) = certificates(run)
    assert not run.realizable and run.best == 1
    assert found.verdict is Verdict.UNMET and found.assumptions[0].holds is False


def test_the_lower_bound_is_claimed_only_of_a_game_down_the_whole_tree():
    hypotheses = family("thresholds:7")
    halving = duel(Halving(hypotheses), TreeAdversary(hypotheses), rounds=2)
    assert verdicts(halving)["littlestone-lower"] is Verdict.UNMET
    assert "littlestone-lower" not in verdicts(play_finite(Halving(hypotheses), [(3, 1)]))


def test_a_tree_that_is_not_shattered_is_refused():
    with pytest.raises(SettingError, match="TreeAdversary: the class must shatter the tree"):
        TreeAdversary(family("thresholds:3"), MistakeTree(2, (1, 2, 0)))
    over = TreeAdversary(family("singletons:1"))
    assert over.point() is None
    with pytest.raises(SettingError, match="TreeAdversary: the game is over"):
        over.answer(0)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_dimensions_stand_in_order(name):
    found = dimension_certificate(dimensions(family(name)))
    assert found.theorem == "dimension-order"
    assert found.verdict is Verdict.HOLDS and found.values["vc"] <= found.values["littlestone"] <= found.bound


def test_every_theorem_of_the_games_is_evaluated_here():
    hypotheses = family("thresholds:7")
    depths = Depths(hypotheses)
    tree = mistake_tree(depths)
    found = {
        learner.name: set(verdicts(duel(learner, TreeAdversary(hypotheses, tree))))
        for learner in every_learner(hypotheses, depths)
    }
    assert found == {
        "consistent": {"consistent-size", "littlestone-lower"},
        "halving": {"halving-log", "littlestone-lower"},
        "soa": {"soa-littlestone", "littlestone-lower"},
    }


def test_nothing_is_said_of_no_rounds():
    assert certificates(play_finite(Halving(family("cube:2")), [])) == []


def test_a_class_of_one_hypothesis_needs_minus_one_for_the_empty_part():
    learner = SOA(HypothesisClass([[0, 0]]), tie=1)
    assert learner.weights(0) == (0, -1) and learner.predict(0) == 0
