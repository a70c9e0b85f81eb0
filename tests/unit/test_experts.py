"""Experts: the project's golden numbers, compiled = twin, one at a time = all at once, stop and go on, sentences."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noregret.errors import ModelFileError, SettingError
from noregret.experts import (
    LEARNERS,
    AdaHedge,
    FixedShare,
    Hedge,
    HedgeDoubling,
    WeightedMajority,
    best_switching,
    load,
)
from noregret.proof.theorems.experts import certificates
from oracle import experts as twin

# the project's golden numbers
GOLDEN = {
    "costs": [
        [0, 1, 0.5, 1],
        [1, 0, 0.5, 0],
        [0, 1, 0.5, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 1, 0],
        [0, 1, 0, 1],
        [1, 1, 0, 0],
    ],
    "eta": 0.588705011258,
    "weights": [
        [0.25, 0.25, 0.25, 0.25],
        [0.350249813443, 0.194404616917, 0.260940952722, 0.194404616917],
        [0.25, 0.25, 0.25, 0.25],
        [0.350249813443, 0.194404616917, 0.260940952722, 0.194404616917],
        [0.43924421169, 0.243800565851, 0.181634791757, 0.135320430702],
        [0.327537080088, 0.327537080088, 0.244019652402, 0.100906187422],
        [0.43924421169, 0.243800565851, 0.181634791757, 0.135320430702],
        [0.528376940179, 0.162780050859, 0.218492658399, 0.0903503505625],
    ],
    "alg_cost": 4.40246522192,
    "expert_losses": [3.0, 5.0, 3.5, 5.0],
    "regret": 1.40246522192,
    "bound_printed": 4.70964009006,
    "bound_hoeffding_same_eta": 2.94352505629,
    "best_tuned": 2.35482004503,
}


def test_weighted_majority_gives_the_golden_numbers():
    learner = WeightedMajority(4, 8)
    game = learner.play(GOLDEN["costs"])
    assert learner.rule.rate == pytest.approx(GOLDEN["eta"], abs=1e-12)
    assert np.allclose(game.weights, GOLDEN["weights"], rtol=0, atol=1e-11)
    assert game.loss == pytest.approx(GOLDEN["alg_cost"], abs=1e-11)
    assert learner.losses.tolist() == GOLDEN["expert_losses"]
    assert game.best == 0
    assert game.regret.lo <= GOLDEN["regret"] + 1e-11 and GOLDEN["regret"] - 1e-11 <= game.regret.hi
    printed, hoeffding = certificates(game.contest)
    assert printed.bound == pytest.approx(GOLDEN["bound_printed"], abs=1e-10)
    assert hoeffding.bound == pytest.approx(GOLDEN["bound_hoeffding_same_eta"], abs=1e-10)
    assert GOLDEN["best_tuned"] == pytest.approx(math.sqrt(8 * math.log(4) / 2), abs=1e-10)


def fresh(name, experts, rounds, range=(0.0, 1.0)):
    more = {"weighted-majority": {"rounds": rounds}, "fixed-share": {"rounds": rounds, "switches": 2}}
    return LEARNERS[name](experts, **more.get(name, {}), range=range)


def twin_of(name, costs, rounds):
    rows = [[None if math.isnan(cost) else cost for cost in row] for row in costs.tolist()]
    match name:
        case "weighted-majority":
            return twin.weighted_majority(rows, rounds)
        case "hedge":
            return twin.anytime(rows, 2.0)
        case "hedge-doubling":
            return twin.doubling(rows)
        case "adahedge":
            return twin.adahedge(rows)[:2]
        case _:
            rule = FixedShare(costs.shape[1], rounds, 2).rule
            return twin.fixed_share(rows, rule.rate, rule.share)


@st.composite
def played(draw):
    rounds, experts = draw(st.integers(1, 40)), draw(st.integers(2, 5))
    costs = draw(arrays(np.float64, (rounds, experts), elements=st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0])))
    if draw(st.booleans()):
        asleep = draw(arrays(np.bool_, costs.shape))
        asleep[:, draw(st.integers(0, experts - 1))] = False
        costs[asleep] = np.nan
    return costs


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=40)
@given(costs=played())
def test_the_compiled_loop_is_its_twin(name, costs):
    game = fresh(name, costs.shape[1], len(costs)).play(costs)
    weights, own = twin_of(name, costs, len(costs))
    assert np.allclose(game.losses, own, rtol=0, atol=1e-9)
    assert np.allclose(game.weights, weights, rtol=0, atol=1e-8)


@settings(max_examples=40)
@given(costs=played())
def test_the_gap_of_adahedge_is_its_twins(costs):
    learner = AdaHedge(costs.shape[1])
    learner.play(costs)
    rows = [[None if math.isnan(cost) else cost for cost in row] for row in costs.tolist()]
    assert learner.gap == pytest.approx(twin.adahedge(rows)[2], rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("name", LEARNERS)
def test_one_at_a_time_and_stopped_halfway_is_all_at_once_bit_for_bit(name, tmp_path):
    costs = np.random.default_rng(5).random((90, 7))
    costs[np.random.default_rng(6).random(costs.shape) < 0.2] = np.nan
    costs[:, 3] = 0.5
    whole = fresh(name, 7, 90)
    game = whole.play(costs)
    parts = fresh(name, 7, 90)
    found = []
    for t, row in enumerate(costs):
        if t in (1, 40, 64):
            parts.save(tmp_path / "e.nr")
            parts = load(tmp_path / "e.nr")
        weights = parts.weights(~np.isnan(row))
        assert weights.tobytes() == game.weights[t].tobytes()
        assert weights.tobytes() == parts.predict(~np.isnan(row)).tobytes()
        found.append(parts.learn(row))
    assert np.array(found).tobytes() == game.losses.tobytes()
    for key, array in whole.state.items():
        assert array.tobytes() == parts.state[key].tobytes(), key


@pytest.mark.parametrize("name", LEARNERS)
def test_weights_neither_under_nor_overflow_after_a_thousand_million_of_loss(name):
    learner = fresh(name, 3, 1000)
    learner.play(np.random.default_rng(0).random((50, 3)))
    for key in ("totals", "since"):
        learner.state[key][0] = [1e9, 1e9 + 0.25, 2e9]  # as after 10⁹ rounds
        learner.state[key][1] = 0.0
    before = learner.weights()
    assert np.isfinite(before).all()
    assert before.sum() == pytest.approx(1.0)
    for _ in range(1000):
        learner.learn([1e-8, 0.0, 1.0])  # far below the last figure of 10⁹
    after = learner.weights()
    assert np.isfinite(after).all() and after.sum() == pytest.approx(1.0)
    if name != "fixed-share":
        gained = (learner.state["totals"][:, 1] - learner.state["totals"][:, 0]).sum()
        assert gained == pytest.approx(0.25 - 1e-5, abs=1e-9)


def test_a_choice_is_drawn_by_weight_from_the_generator_that_is_given():
    learner = WeightedMajority(3, 20)
    for _ in range(20):
        learner.learn([0.0, 0.5, 1.0])
    rng = np.random.default_rng(0)
    drawn = np.bincount([learner.choose(rng) for _ in range(20000)], minlength=3) / 20000
    assert np.allclose(drawn, learner.weights(), atol=0.02)
    same = [[learner.choose(np.random.default_rng(4)) for _ in range(5)] for _ in range(2)]
    assert same[0] == same[1]


@settings(max_examples=60)
@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.floats(0, 1)), st.integers(0, 3))
def test_the_best_sequence_is_the_best_of_all(costs, switches):
    found = best_switching(costs, switches)
    least = twin.best_with_switches(costs.tolist(), switches)
    assert found.loss.lo <= least + 1e-12 and least - 1e-12 <= found.loss.hi
    assert len(found.stretches) <= switches + 1
    taken = math.fsum(costs[np.arange(len(costs)), found.path()])
    assert found.loss.lo <= taken <= found.loss.hi


def test_the_regret_is_exact_where_the_costs_are():
    game = WeightedMajority(2, 3).play([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert (game.regret.lo, game.regret.hi) == (0.0, 0.0)
    game = AdaHedge(1).play([[0.3], [0.1], [0.7]])
    assert (game.regret.lo, game.regret.hi) == (0.0, 0.0)


SENTENCES = [
    (lambda: WeightedMajority(0, 5), "weighted-majority: experts must be at least 1, got 0"),
    (lambda: WeightedMajority(2, 0), "weighted-majority: rounds must be at least 1, got 0"),
    (lambda: WeightedMajority(2.5, 3), "weighted-majority: experts must be a whole number, got 2.5"),
    (lambda: Hedge(2, "three"), "hedge: rate must be one of one, two, root-eight, got 'three'"),
    (lambda: AdaHedge(2, (1.0, 1.0)), "adahedge: range must be finite with low < high, got 1 and 1"),
    (lambda: AdaHedge(2, 7), "adahedge: range must be two numbers, low and high, got 7"),
    (lambda: FixedShare(2, 5, -1), "fixed-share: switches must be at least 0, got -1"),
    (lambda: Hedge(2).learn([0.0]), "hedge: a round has 2 costs, got 1"),
    (lambda: Hedge(2).learn([0.0, 2.0]), "hedge: the cost of expert 1 in round 1 is 2, outside [0, 1]"),
    (lambda: Hedge(2).learn([math.nan, math.nan]), "hedge: every expert sleeps in round 1"),
    (lambda: Hedge(2).play([[0.0, 0.1, 0.2]]), "hedge: costs must be a matrix of rounds × 2 experts, got shape (1, 3)"),
    (lambda: Hedge(2).weights([False, False]), "hedge: awake must have 2 entries, at least one of them true"),
    (lambda: best_switching(np.zeros((2, 2)), -1), "best_switching: switches must be at least 0, got -1"),
    (lambda: best_switching(np.array([[math.nan]]), 1), "best_switching: costs must be a matrix of finite numbers"),
]


@pytest.mark.parametrize(("wrong", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_what_is_wrong_is_said_in_a_sentence(wrong, sentence):
    with pytest.raises(SettingError, match="^" + re.escape(sentence)):
        wrong()


def test_play_is_for_a_fresh_learner():
    learner = HedgeDoubling(2)
    learner.learn([0.0, 1.0])
    with pytest.raises(
        SettingError, match="hedge-doubling: play needs a new learner; this one has already learned 1 rounds"
    ):
        learner.play([[0.0, 1.0]])


def test_damaged_files_are_refused_in_a_sentence(tmp_path):
    learner = AdaHedge(3)
    learner.learn([0.0, 0.5, 1.0])
    learner.save(tmp_path / "e.nr")
    good = (tmp_path / "e.nr").read_bytes()
    cases = {
        b"": "is not an experts file",
        b"NOREGRET": "is not an experts file",
        good[:-1]: "damaged or truncated",
        good[:20] + bytes([good[20] ^ 1]) + good[21:]: "damaged or truncated",
    }
    for data, sentence in cases.items():
        (tmp_path / "bad.nr").write_bytes(data)
        with pytest.raises(ModelFileError, match=sentence):
            load(tmp_path / "bad.nr")
    with pytest.raises(ModelFileError, match="holds 'adahedge', not 'hedge'"):
        Hedge.load(tmp_path / "e.nr")
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path / "nothing.nr")
