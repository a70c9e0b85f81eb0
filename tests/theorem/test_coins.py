"""The lower bound √(Ldim·T/8): in fractions, over every sequence of labels, and on 200 seeded games."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import SettingError
from noregret.finite import (
    Agnostic,
    CoinAdversary,
    CoinGames,
    Depths,
    Expert,
    HypothesisClass,
    MistakeTree,
    coin_games,
    duel,
    family,
    mistake_tree,
)
from noregret.finite.coins import even_blocks, mean_distance
from noregret.proof.theorem import Verdict
from noregret.proof.theorems.finite import coin_certificate

FAMILIES = ["thresholds:7", "singletons:5", "intervals:6", "cube:3", "parities:3", "halfspaces:3", "subsets:2,6"]


class Given:
    """Labels that are given, in place of a generator's."""

    def __init__(self, labels):
        self.labels = labels

    def integers(self, high, size):
        assert high == 2 and size == len(self.labels)
        return np.array(self.labels)


class Stubborn:
    """Says 1 with one probability, always."""

    def __init__(self, p):
        self.p = p

    def predict(self, point):
        return self.p

    def learn(self, point, label):
        pass


@pytest.mark.parametrize("k", range(1, 14))
def test_the_mean_distance_is_that_of_all_walks(k):
    walks = [abs(sum(signs)) for signs in product((-1, 1), repeat=k)]
    assert mean_distance(k) == Fraction(sum(walks), 2**k)
    assert mean_distance(k) ** 2 >= Fraction(k, 2)  # Khinchine's inequality with its best constant
    assert (mean_distance(k) ** 2 == Fraction(k, 2)) == (k == 2)


@given(st.integers(1, 40), st.integers(1, 400))
def test_the_expected_regret_is_never_below_the_bound_and_two_rounds_a_block_attain_it(depth, more):
    rounds = depth + more - 1
    blocks = even_blocks(rounds, depth)
    assert sum(blocks) == rounds and max(blocks) - min(blocks) <= 1
    expected = sum(map(mean_distance, blocks)) / 2
    assert expected**2 >= Fraction(depth * rounds, 8)
    assert (expected**2 == Fraction(depth * rounds, 8)) == (rounds == 2 * depth)


@pytest.mark.parametrize(("name", "rounds"), [("thresholds:3", 7), ("cube:2", 8), ("singletons:3", 6), ("cube:3", 9)])
def test_over_all_labels_the_mean_regret_of_any_learner_is_the_expected_one(name, rounds):
    hypotheses = family(name)
    depths = Depths(hypotheses)
    tree = mistake_tree(depths)
    makers = {
        "agnostic": lambda: Agnostic(hypotheses, rounds, depths=depths),
        "expert": lambda: Expert(hypotheses, [1], depths=depths),
        "stubborn": lambda: Stubborn(0.25),
    }
    for make in makers.values():
        total = 0.0
        for labels in product((0, 1), repeat=rounds):
            adversary = CoinAdversary(hypotheses, rounds, Given(labels), tree)
            run = duel(make(), adversary)
            assert [one.label for one in run.rounds] == list(labels)
            rows = hypotheses.matrix[:, [hypotheses.points.index(one.point) for one in run.rounds]]
            assert adversary.best == (rows != labels).sum(axis=1).min()
            total += run.loss - adversary.best
        games = CoinGames(hypotheses, tree, rounds, 0, "", (0.0,), (0,))
        assert total / 2**rounds == pytest.approx(float(games.expected), abs=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_200_games_come_near_the_expected_regret_and_the_bound_holds(name):
    hypotheses = family(name)
    depths = Depths(hypotheses)
    games = coin_games(lambda: Agnostic(hypotheses, 64, depths=depths), hypotheses, 64, games=200, seed=1)
    assert len(games.regrets) == 200 and games.learner == "agnostic"
    assert abs(games.mean - float(games.expected)) <= games.half_width
    assert abs(games.mean - float(games.expected)) <= 4.0 * games.standard_error
    found = coin_certificate(games)
    assert found.theorem == "littlestone-regret" and found.verdict is Verdict.HOLDS
    assert found.observed >= math.sqrt(games.tree.depth * 64 / 8) and found.bound >= games.expected
    assert [one.holds for one in found.assumptions] == [True, None]


def test_every_step_of_a_game_moves_its_expected_regret_by_1_at_most():
    """What Azuma's inequality needs: the conditional expectation of the regret, from all ways to go on."""
    hypotheses, rounds = family("thresholds:3"), 6
    tree = mistake_tree(Depths(hypotheses))
    regret = {}
    for labels in product((0, 1), repeat=rounds):
        adversary = CoinAdversary(hypotheses, rounds, Given(labels), tree)
        regret[labels] = duel(Stubborn(1), adversary).loss - adversary.best
    largest = 0.0
    for length in range(rounds, 0, -1):
        for labels in product((0, 1), repeat=length):
            if labels[-1] == 0:
                low, high = regret[labels], regret[(*labels[:-1], 1)]
                regret[labels[:-1]] = (low + high) / 2
                largest = max(largest, abs(high - low) / 2)
    assert largest == 1.0
    assert regret[()] == pytest.approx(float(CoinGames(hypotheses, tree, rounds, 0, "", (), ()).expected))


def test_the_same_seed_gives_the_same_games_and_another_one_others():
    hypotheses = family("cube:2")

    def played(seed, games=5):
        return coin_games(lambda: Expert(hypotheses), hypotheses, 30, games, seed)

    assert played(3) == played(3) and played(3).losses != played(4).losses
    assert played(3, 9).losses[:5] == played(3).losses
    assert repr(played(3)).startswith("<CoinGames: 5 of 30 rounds, mean regret ")
    assert played(3, 1).standard_error == 0.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda h: coin_games(lambda: Expert(h), h, 30, games=0), "games must be at least 1, got 0"),
        (lambda h: coin_games(lambda: Expert(h), h, 30, seed=-1), "seed must be at least 0, got -1"),
        (lambda h: coin_games(lambda: Expert(h), h, 1), "rounds must be at least the depth of the tree, 2"),
        (
            lambda h: CoinAdversary(HypothesisClass([[0, 1]]), 5, np.random.default_rng(0)),
            "fair coins need a class of Littlestone dimension 1 or more",
        ),
        (
            lambda h: CoinAdversary(h, 5, np.random.default_rng(0), MistakeTree(2, (0, 0, 0))),
            "CoinAdversary: the class must shatter the tree",
        ),
    ],
)
def test_what_cannot_be_played_gets_a_sentence(call, sentence):
    with pytest.raises(SettingError, match=sentence):
        call(family("cube:2"))


def test_a_game_that_is_over_gives_no_label():
    adversary = CoinAdversary(family("singletons:2"), 1, np.random.default_rng(0))
    adversary.answer(0)
    assert adversary.point() is None
    with pytest.raises(SettingError, match="CoinAdversary: the game is over"):
        adversary.answer(0)
