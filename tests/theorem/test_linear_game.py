"""The adversary of linear losses: no learner has regret below U·G·√T; gradient descent has √8 times that at most."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.adversary import LinearAdversary, player_of
from noregret.errors import SettingError
from noregret.learner import LEARNERS, OnlineGradientDescent, Perceptron
from noregret.proof.theorem import Verdict
from noregret.proof.theorems.linear_game import certificate
from oracle.rows import combination, dot, norm2

PLAYERS = {
    "ogd": {"loss": "hinge", "radius": 2.0},
    "adagrad": {"loss": "hinge", "radius": 2.0},
    "ftrl": {"loss": "hinge", "radius": 2.0},
    "ogd-strong": {"loss": "hinge"},
    "coin": {"gradient_bound": 2.0},
    "diagonal": {},
    "perceptron": {},
    "averaged": {},
    "pa": {},
    "pa1": {},
    "pa2": {},
}


class Own:
    """A user's learner: each point is what a function says of the gradients so far."""

    name = "own"

    def __init__(self, function, features):
        self.function, self.seen, self.features = function, [], features

    def point(self):
        return self.function(self.seen, self.features)

    def learn(self, gradient):
        self.seen.append(gradient)


STRATEGIES = {
    "nothing": lambda seen, d: np.zeros(d),
    "against the sum": lambda seen, d: -sum(seen, start=np.zeros(d)),
    "with the sum": lambda seen, d: 1e8 * sum(seen, start=np.zeros(d)),
    "against the last": lambda seen, d: -1e-9 * seen[-1] if seen else np.ones(d),
    "the digits of t": lambda seen, d: np.random.default_rng(len(seen)).normal(size=d) * 10.0 ** (len(seen) % 19 - 9),
}


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


@settings(max_examples=100)
@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=12))
def test_the_lower_bound_in_fractions(points):
    """With g_t = w_t × Σg exactly: Σ⟨g_t, w_t − u⟩ at u = −UΣg/‖Σg‖ is U‖Σg‖, and ‖Σg‖² = Σ‖g_t‖²."""
    total, squares, own = [Fraction(0)] * 3, Fraction(0), Fraction(0)
    for t, w in enumerate(points):
        w = [Fraction(part) for part in w]
        axes = ([Fraction(int(i == (j + t) % 3)) for j in range(3)] for i in range(3))
        candidates = [cross(w, total), *(cross(total, axis) for axis in axes), *map(list, np.eye(3, dtype=int))]
        g = next((one for one in candidates if any(one) and dot(one, w) == 0 == dot(one, total)), [Fraction(0)] * 3)
        own += dot(g, w)
        squares += norm2(g)
        total = combination([1, 1], [total, g], 3)
    assert own == 0
    assert norm2(total) == squares


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("features", [3, 6])
def test_every_learner_of_ours_has_that_regret(name, features):
    for rounds, length, radius in ((1, 1.0, 1.0), (50, 0.5, 3.0), (200, 2.0, 0.1)):
        game = nr.linear_game(LEARNERS[name](**PLAYERS[name]), rounds, features=features, length=length, radius=radius)
        wanted = radius * length * math.sqrt(rounds)
        found = certificate(game)
        assert game.learner == name
        assert found.verdict is Verdict.HOLDS
        assert found.observed == pytest.approx(wanted, rel=1e-9)
        assert game.regret.lo >= wanted * (1.0 - 1e-9)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_learner_of_a_user_has_that_regret(name):
    for rounds, features in ((1, 3), (40, 3), (40, 9)):
        found = certificate(nr.linear_game(Own(STRATEGIES[name], features), rounds, features=features))
        assert found.verdict is Verdict.HOLDS
        assert found.observed == pytest.approx(math.sqrt(rounds), rel=1e-6)


def test_gradient_descent_attains_it_which_is_the_eighth_part_of_the_square_of_its_bound():
    """The game's rows are a stream: its regret in hinge loss is that of the game, for U·G ≤ 1 keeps 1 + ⟨g, u⟩ ≥ 0."""
    game = nr.linear_game(OnlineGradientDescent(loss="hinge", radius=1.0), 400)
    rows = -game.gradients, np.ones(400)
    run = nr.play(OnlineGradientDescent(loss="hinge", radius=1.0), rows)
    assert run.loss == pytest.approx(400.0)
    receipt = nr.certify(run, rows)
    assert receipt.regret["upper"] == pytest.approx(20.0, abs=1e-3)
    bounds = {one["theorem"]: one["bound"] for one in receipt.certificates}
    assert bounds["ogd-linearised"] == pytest.approx(20.0, abs=1e-9)
    assert bounds["ogd-adaptive"] == pytest.approx(game.guaranteed, rel=1e-6)
    assert game.guaranteed == pytest.approx(math.sqrt(8.0) * 20.0)
    assert game.regret.lo >= 20.0 - 1e-9 and game.regret.hi <= 20.0 + 1e-9


def test_the_gradients_are_what_they_should_be():
    game = nr.linear_game(OnlineGradientDescent(loss="hinge", radius=5.0), 300, features=5, length=3.0)
    before = np.cumsum(game.gradients, axis=0) - game.gradients
    norms = np.linalg.norm(game.gradients, axis=1)
    assert np.allclose(norms, 3.0, rtol=1e-15)
    assert np.abs((game.gradients * game.points).sum(axis=1)).max() < 1e-13
    assert np.abs((game.gradients * before).sum(axis=1)).max() < 1e-12
    assert all(one >= 0 for one in game.own)
    assert np.linalg.norm(game.gradients.sum(axis=0)) == pytest.approx(3.0 * math.sqrt(300))


def test_another_adversary_is_not_certified():
    """Gradients that help the learner, or that are shorter: the theorem says nothing of them."""
    game = nr.linear_game(Perceptron(), 20)
    turned = np.roll(game.gradients, 1, axis=1)
    for gradients in (turned, 0.5 * game.gradients, game.gradients[::-1]):
        other = nr.LinearGame(game.points, gradients, game.radius, game.length, game.learner)
        assert certificate(other).verdict is Verdict.UNMET


def test_a_regret_that_is_not_reached_would_be_told():
    """An inflated lower bound is broken: the certificate can fail."""
    game = nr.linear_game(Perceptron(), 20)
    regret = game.regret
    vars(game)["norms2"], vars(game)["length"] = [one * 2 for one in game.norms2], math.sqrt(2.0)
    vars(game)["regret"] = regret
    assert certificate(game).verdict is Verdict.BROKEN


@pytest.mark.parametrize(
    ("play", "sentence"),
    [
        (lambda: nr.linear_game(Perceptron(), 0), "rounds must be a whole number of at least 1, got 0"),
        (lambda: nr.linear_game(Perceptron(), 3, features=2), "features must be a whole number of at least 3, got 2"),
        (lambda: nr.linear_game(Perceptron(), 3, length=0.0), "length must lie between 1e-100 and 1e100, got 0.0"),
        (lambda: nr.linear_game(Perceptron(), 3, radius=math.nan), "radius must lie between 1e-100 and 1e100, got nan"),
        (lambda: nr.linear_game(Perceptron(), 10**7), "rounds times features may be 1,000,000 at most"),
        (lambda: nr.linear_game(object(), 3), r"must be a linear learner or have the methods point\(\) and learn"),
        (lambda: nr.linear_game(Perceptron(bias=True), 3), "omit bias, scale and unit_norm"),
        (lambda: nr.linear_game(nr.KernelPerceptron(), 3), "kernel does not predict two classes by weights"),
        (lambda: nr.linear_game(Perceptron(start=[0.0] * 4), 3), "weights for 4 features, more than 3"),
        (lambda: nr.linear_game(Own(lambda seen, d: np.full(d, np.nan), 3), 3), "point of round 1 must be 3 finite"),
        (lambda: nr.linear_game(Own(lambda seen, d: np.zeros(2), 3), 3), "point of round 1 must be 3 finite"),
    ],
)
def test_what_cannot_be_played_is_said(play, sentence):
    with pytest.raises(SettingError, match=sentence):
        play()


def test_an_estimator_plays_as_its_core_does():
    player, name = player_of(nr.OnlineGradientDescent(loss="hinge"), 3)
    assert name == "ogd" and player.point().tolist() == [0.0, 0.0, 0.0]
    g = LinearAdversary().gradient(player.point())
    player.learn(g)
    assert player.point() @ g < 0.0
