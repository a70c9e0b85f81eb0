"""AdaGrad, FTRL-Proximal and coin betting: their regret on any sequence of gradients, the worst ones among them.

With a linear loss the learner is at the mercy of the labels: y_t is the slope, chosen after the score is seen.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import SettingError
from noregret.learner import LEARNERS, AdaGrad, CoinBetting, FollowTheRegularisedLeader
from noregret.proof.certify import certify
from noregret.proof.theorems.coin import potential
from noregret.proof.verify import verify
from noregret.stream import Dense

FAST = settings(deadline=None, max_examples=150)
LINEAR = nr.custom_loss(lambda z, y: y * z, lambda z, y: y, name="linear", lipschitz=1.0, regression=True)


def adversary(learner, X, choose):
    """Play rows one at a time, the slope of each chosen from the score it got; (slopes, scores)."""
    slopes, scores = [], []
    for t, x in enumerate(X):
        score = learner.scores(Dense(x[None]))[0] if learner.rounds else 0.0
        slopes.append(choose(t, score))
        learner.play(Dense(x[None]), np.array([slopes[-1]]))
        scores.append(score)
    return np.array(slopes), np.array(scores)


RULES = {
    "against": lambda t, score: 1.0 if score >= 0 else -1.0,
    "constant": lambda t, score: -1.0,
    "turning": lambda t, score: 1.0 if (t // 7) % 2 else -1.0,
    "shrinking": lambda t, score: (-1.0 if score >= 0 else 1.0) / (1 + t),
    "growing": lambda t, score: (1.0 if score >= 0 else -1.0) * min(1.0, 0.01 * (1 + t)),
}


@st.composite
def games(draw):
    features, rounds = draw(st.integers(1, 3)), draw(st.integers(1, 40))
    entry = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.5]), st.floats(-1, 1).map(lambda x: round(x, 3)))
    rows = draw(st.lists(st.lists(entry, min_size=features, max_size=features), min_size=rounds, max_size=rounds))
    return np.array(rows), RULES[draw(st.sampled_from(sorted(RULES)))]


@FAST
@given(games(), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from(["auto", "constant:0.3", "constant:4"]))
def test_adagrad_in_every_corner_of_the_box(game, U, rate):
    X, choose = game
    learner = AdaGrad(loss=LINEAR, radius=U, rate=rate)
    slopes, scores = adversary(learner, X, choose)
    g = slopes[:, None] * X
    regret = np.sum(slopes * scores) + U * np.abs(g.sum(axis=0)).sum()
    eta = learner.rate.eta
    assert regret <= (2 * U * U / eta + eta) * np.sqrt((g**2).sum(axis=0)).sum() * (1 + 1e-9) + 1e-9


@FAST
@given(
    games(),
    st.sampled_from([0.1, 1.0, 5.0]),
    st.sampled_from(["auto", "constant:0.3", "constant:4"]),
    st.sampled_from([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.7, 0.0), (0.5, 0.1, 2.0)]),
)
def test_ftrl_at_every_corner_and_at_the_origin(game, U, rate, regulariser):
    X, choose = game
    beta, l1, l2 = regulariser
    learner = FollowTheRegularisedLeader(loss=LINEAR, radius=U, rate=rate, beta=beta, l1=l1, l2=l2)
    slopes, scores = adversary(learner, X, choose)
    g, alpha = slopes[:, None] * X, learner.rate.eta
    total, roots = g.sum(axis=0), np.sqrt((g**2).sum(axis=0))
    for u in (-U * np.sign(total), -0.5 * U * np.sign(total), np.zeros(X.shape[1])):
        regret = np.sum(slopes * scores) - u @ total
        flat = np.sum((l1 * np.abs(u) + (l2 + beta / alpha) * u**2 / 2) * (roots > 0))
        bound = flat + np.sum(((U + np.abs(u)) ** 2 / (2 * alpha) + alpha) * roots)
        assert regret <= bound * (1 + 1e-9) + 1e-9


@FAST
@given(games(), st.sampled_from([0.01, 1.0, 30.0]), st.sampled_from([0.0, 0.1, 1.0, 10.0, 1000.0]))
def test_coin_betting_against_every_comparator(game, wealth, size):
    X, choose = game
    G = float(np.linalg.norm(X, axis=1).max()) + 1e-9
    learner = CoinBetting(loss=LINEAR, gradient_bound=G, wealth=wealth)
    slopes, _ = adversary(learner, X, choose)
    total = np.linalg.norm((slopes[:, None] * X).sum(axis=0))
    n, left = np.count_nonzero(slopes), float(learner.state["wealth"][0])
    assert left >= wealth * potential(n, total / G) * (1 - 1e-9)
    regret = G * (wealth - left) + size * total  # Σ⟨g,w⟩ = G(ε − wealth), multiplied up and never summed
    bound = G * (wealth + size * math.sqrt(n * math.log1p(24 * n * n * size * size / wealth**2)))
    assert regret <= bound * (1 + 1e-9)


def test_the_wealth_of_a_coin_that_always_falls_the_same_way_is_its_potential():
    learner = CoinBetting(loss=LINEAR, gradient_bound=1.0)
    learner.play(Dense(np.ones((30, 1))), -np.ones(30))
    assert learner.state["wealth"][0] == pytest.approx(potential(30, 30.0), rel=1e-12)
    assert learner.state["gradient_dot_weights"][0] == pytest.approx(1.0 - potential(30, 30.0), rel=1e-12)


@pytest.mark.parametrize(("n", "x", "expected"), [(0, 0, 1), (1, 1, 1), (1, 0, 2 / math.pi), (2, 0, 0.5), (2, 2, 1.5)])
def test_the_potential_by_hand(n, x, expected):
    """Γ(½) = √π: 2·Γ(1)²/π = 2/π, 4·Γ(3/2)²/(2π) = ½, 4·Γ(5/2)Γ(½)/(2π) = 3/2."""
    assert potential(n, x) == pytest.approx(expected, rel=1e-14)


SENTENCES = [
    ({}, "coin: gradients need a bound: give unit_norm=True or gradient_bound=G"),
    ({"loss": "squared", "unit_norm": True}, "coin: the slope of the loss squared has no bound"),
    ({"gradient_bound": 0.0}, "coin: gradient_bound must be positive and finite, got 0.0"),
    ({"gradient_bound": 1.0, "wealth": 0.0}, "coin: wealth must be positive and finite, got 0.0"),
]


@pytest.mark.parametrize(("options", "sentence"), SENTENCES)
def test_coin_betting_says_what_it_needs(options, sentence):
    with pytest.raises(SettingError, match=sentence):
        CoinBetting(**options)


def test_a_gradient_beyond_the_bound_stops_the_run():
    learner = CoinBetting(loss="hinge", gradient_bound=1.0)
    learner.play(Dense(np.ones((3, 1))), np.ones(3))
    with pytest.raises(SettingError, match=r"coin: the gradient of round 4 has the norm 2, more than the bound 1"):
        learner.play(Dense(np.array([[-2.0]])), np.ones(1))
    assert learner.rounds == 3


@pytest.mark.parametrize("bias", [False, True])
def test_rows_of_norm_one_never_exceed_the_bound(bias):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 7)) * 10.0 ** rng.integers(-8, 8, (300, 1)), rng.choice([-1.0, 1.0], 300)
    run = nr.play(CoinBetting(loss="hinge", unit_norm=True, bias=bias), (X, y))
    assert run.rounds == 300


def test_the_more_l1_the_fewer_weights():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 30))
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=400) > 0, 1, -1)
    counts = [nr.play(FollowTheRegularisedLeader(l1=l1), (X, y)).nonzero for l1 in (0.0, 5.0, 15.0, 1000.0)]
    assert counts[0] == 30
    assert counts == sorted(counts, reverse=True)
    assert 2 <= counts[2] < 10
    assert counts[3] == 0


@pytest.mark.parametrize("name", ["adagrad", "ftrl", "coin"])
def test_a_receipt_stands_with_every_round_of_the_way(name):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 4))
    y = np.where(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=120) > 0, 1, -1)
    core = CoinBetting(unit_norm=True, bias=True) if name == "coin" else LEARNERS[name](radius=2.0)
    receipt = certify(nr.play(core, (X, y)), (X, y), radius=2.0, radii=[1.0, 5.0], anytime=True)
    verify(receipt, (X, y))
    names = {one["theorem"] for one in receipt.certificates if one["verdict"] in ("holds", "vacuous")}
    expected = (
        {"coin-ball", "coin-at-hindsight", "coin-wealth"} if name == "coin" else {f"{name}-box", "box-linearised"}
    )
    assert expected <= names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("adagrad", {"adagrad-box", "adagrad-at-hindsight", "box-linearised"}),
        ("ftrl", {"ftrl-box", "ftrl-at-hindsight", "box-linearised"}),
    ],
)
def test_the_receipts_hold_these_theorems(name, expected):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] > 0, 1, -1)
    receipt = certify(nr.play(LEARNERS[name](radius=2.0), (X, y)), (X, y))
    verdicts = {one["theorem"]: one["verdict"] for one in receipt.certificates}
    assert expected <= set(verdicts) and set(verdicts.values()) <= {"holds", "vacuous"}
