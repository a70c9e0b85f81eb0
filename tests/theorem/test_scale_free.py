"""Scale-free betting: its wealth is the account of its bets, no unit changes its scores, and its receipts stand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import SettingError
from noregret.learner import ScaleFree
from noregret.loss import LOSSES, parse
from noregret.proof.certify import certify
from noregret.proof.verify import verify
from noregret.stream import Dense
from oracle import learners as plain
from oracle.losses import loss_of
from oracle.registry import everything, sparse

BOUNDED = [name for name in LOSSES if np.isfinite(parse(name).lipschitz)]
# Computed with 60 decimal digits from the definition, by other code than this library's: a scale that jumps a
# thousandfold, and a feature that comes late.
X = [[0, -0.375, 1], [0, 0, 1], [0, -0.375, 1], [-0.75, -0.625, 1]]
X += [[-0.125, -625, 1], [-0.75, 750, 1], [0.75, 875, 1], [-0.25, -375, 1]]
Y = [1, -1, -1, -1, 1, 1, -1, -1]
SCORES = [0.0, 0.15, 0.14234928807070943, -0.10530296587084384]
SCORES += [-0.20457835542297054, -0.2917066992891212, -0.012876938751206083, 0.0328978945138314]
WEALTH = [0.4198389027135303, 0.33069378695778595, 0.35248739896616654]
G = [-0.3884370575180923, -158.83383973187708, -0.9282794302357842]


def jumping(rng, rounds, columns, regression=False):
    """A stream whose features have units far apart, which change on the way; some come late."""
    data = rng.normal(size=(rounds, columns)) * 10.0 ** rng.integers(-6, 7, columns)
    data[rounds // 2 :] *= 10.0 ** rng.integers(-3, 4, columns)
    data[: rounds // 3, 0] = 0.0
    y = rng.normal(size=rounds) if regression else rng.choice([-1.0, 1.0], rounds)
    return data, y


def adversarial(learner, rounds, columns, rng):
    """Labels against the score of the moment, with rows that grow: the rows and labels played."""
    rows, labels = [], []
    for t in range(rounds):
        x = rng.normal(size=columns) * 2.0 ** (t % 40)
        y = -1.0 if learner.scores(Dense(x[None]))[0] >= 0.0 else 1.0
        learner.play(Dense(x[None]), np.array([y]))
        rows.append(x)
        labels.append(y)
    return np.array(rows), np.array(labels)


def test_scores_wealth_and_sums_are_those_of_the_definition():
    learner = ScaleFree()
    rows = np.array(X, dtype=float)
    assert learner.play(Dense(rows), np.array(Y, dtype=float)) == pytest.approx(SCORES, rel=1e-12, abs=1e-14)
    assert learner.wealth == pytest.approx(WEALTH, rel=1e-12)
    assert -learner.gradient_sum == pytest.approx(G, rel=1e-12)
    assert learner.state["loss"][0] == pytest.approx(5.919557251638381, rel=1e-12)
    assert learner.state["gradient_dot_weights"][0] == pytest.approx(0.3969799113625172, rel=1e-12)
    biased = ScaleFree(bias=True)
    assert biased.play(Dense(rows[:, :2].copy()), np.array(Y, dtype=float)) == pytest.approx(SCORES, abs=1e-14)


@pytest.mark.parametrize("spec", BOUNDED)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_wealth_is_the_account_of_the_bets_and_never_runs_out(spec, weighted):
    """Σ⟨g,w⟩ = Λ·Σ_i(½ − E_i), E_i > 0, over the features that had a value."""
    rng = np.random.default_rng(len(spec))
    loss = parse(spec)
    rows, y = jumping(rng, 300, 6, loss.regression)
    weights = rng.choice([0.5, 1.0, 3.0], 300) if weighted else None
    learner = ScaleFree(loss=spec)
    scores = learner.play(Dense(rows), y, weights)
    slopes = loss.gradients(scores, y) * (1.0 if weights is None else weights)
    lost = (0.5 * loss.lipschitz - learner.wealth).sum()
    assert learner.state["gradient_dot_weights"][0] == pytest.approx(lost, rel=1e-9, abs=1e-9)
    assert (slopes * scores).sum() == pytest.approx(lost, rel=1e-9, abs=1e-9)
    assert (learner.wealth > 0.0).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from(["logistic", "hinge", "absolute", "pinball:0.9"]))
@settings(max_examples=60, deadline=None)
def test_the_regret_against_any_comparator_is_paid_by_the_wealth(seed, spec):
    """R(u) ≤ Σ_i(Λ(½ − E_i) + |u_i||Σg_i|) for every u, however the scales jump."""
    rng = np.random.default_rng(seed)
    loss = parse(spec)
    if loss.regression:
        learner = ScaleFree(loss=spec)
        rows, y = jumping(rng, 120, 4, True)
        learner.play(Dense(rows), y)
    else:
        learner = ScaleFree(loss=spec)
        rows, y = adversarial(learner, 120, 4, rng)
    for _ in range(5):
        u = rng.normal(size=4) / np.abs(rows).max(axis=0) * 10.0 ** rng.integers(-2, 3)
        regret = learner.state["loss"][0] - loss.values(rows @ u, y).sum()
        price = (0.5 * loss.lipschitz - learner.wealth).sum() + np.abs(u * learner.gradient_sum).sum()
        assert regret <= price + 1e-9 * (1.0 + abs(price) + abs(regret))


@pytest.mark.parametrize("layout", [Dense, sparse])
def test_units_of_features_change_no_score(layout):
    """To the bit for powers of two."""
    rng = np.random.default_rng(3)
    rows, y = rng.normal(size=(200, 5)), rng.choice([-1.0, 1.0], 200)
    units = 2.0 ** rng.integers(-30, 31, 5)
    one, other = ScaleFree(bias=True), ScaleFree(bias=True)
    assert one.play(layout(rows), y).tobytes() == other.play(layout(rows * units), y).tobytes()
    assert one.weights.tobytes() == (other.weights * units).tobytes()


@pytest.mark.parametrize("bias", [False, True])
def test_centred_rows_are_those_of_the_definition(bias):
    rng = np.random.default_rng(4)
    rows, y = rng.normal([0.0, 5.0, -300.0, 1e-3], size=(150, 4)), rng.choice([-1.0, 1.0], 150)
    game = plain.scale_free(rows.tolist(), y.tolist(), loss_of("logistic"), 1.0, centre=True)
    learner = ScaleFree(centre=True, bias=bias)
    scores = learner.play(Dense(rows), y)
    if not bias:
        assert scores == pytest.approx(game.scores, rel=1e-9, abs=1e-9)
        assert learner.weights == pytest.approx(game.W[-1], rel=1e-9, abs=1e-12)
        assert learner.gradient_sum == pytest.approx(np.sum(game.gradients, axis=0), rel=1e-9)
    split = ScaleFree(centre=True, bias=bias)
    found = [split.play(Dense(rows[t : t + 1]), y[t : t + 1]) for t in range(len(y))]
    assert np.concatenate(found).tobytes() == scores.tobytes()
    before = everything(split)
    split.scores(Dense(rows * 1e3))
    assert everything(split) == everything(learner) == before


def test_a_prediction_is_what_the_next_round_plays():
    """A value that is larger than all before, and a mean that takes it in, are part of the score."""
    rng = np.random.default_rng(5)
    rows, y = jumping(rng, 60, 3)
    for centre in (False, True):
        learner = ScaleFree(centre=centre)
        for x, label in zip(rows, y, strict=True):
            score = learner.scores(Dense(x[None]))[0]
            assert learner.play(Dense(x[None]), np.array([label]))[0] == score


def test_a_centred_model_goes_on_from_its_file(tmp_path):
    rng = np.random.default_rng(6)
    rows, y = jumping(rng, 80, 3)
    model = nr.ScaleFree(centre=True, passes=1, shuffle=None).fit(rows[:50], y[:50])
    model.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr").partial_fit(rows[50:], y[50:])
    whole = nr.ScaleFree(centre=True, passes=1, shuffle=None).fit(rows, y)
    assert again.decision_function(rows).tobytes() == whole.decision_function(rows).tobytes()


@pytest.mark.parametrize("seed", range(12))
def test_receipts_of_streams_whose_units_jump_stand(seed):
    rng = np.random.default_rng(seed)
    loss = BOUNDED[seed % len(BOUNDED)]
    rows, y = jumping(rng, 150, 4, parse(loss).regression)
    core = ScaleFree(loss=loss, bias=bool(seed % 2), centre=bool(seed % 3 == 0))
    receipt = certify(nr.play(core, (rows, y)), (rows, y), radius=2.0)
    verify(receipt, (rows, y))
    verdicts = {one["theorem"]: one["verdict"] for one in receipt.certificates}
    assert {"ogd-linearised", "ogd-linearised-at-hindsight"} <= set(verdicts)
    assert "broken" not in verdicts.values()


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in BOUNDED])
def test_a_loss_whose_slope_has_no_bound_is_refused(loss):
    with pytest.raises(SettingError, match=f"scale-free: the slope of the loss must have a bound, and that of {loss}"):
        ScaleFree(loss=loss)


def test_centring_needs_dense_rows():
    learner = ScaleFree(centre=True)
    with pytest.raises(SettingError, match="scale-free: centre=True needs dense rows, and these are sparse"):
        learner.play(sparse(np.ones((2, 2))), np.ones(2))
    learner.play(Dense(np.ones((2, 2))), np.ones(2))
    with pytest.raises(SettingError, match="needs dense rows"):
        learner.scores(sparse(np.ones((2, 2))))


def test_nothing_is_selected_from_weights_that_the_row_changes():
    rows, y = jumping(np.random.default_rng(7), 40, 3)
    with pytest.raises(SettingError, match="scale-free has no weight vector per round"):
        nr.select(ScaleFree(), (rows, y))


def test_a_slope_beyond_its_promise_leaves_the_wealth_positive():
    """A loss of one's own may promise too small a bound: it is bet on as if it were the bound."""
    steep = nr.custom_loss(lambda z, y: 5.0 * abs(z - y), lambda z, y: 5.0 if z > y else -5.0, lipschitz=1.0)
    learner = ScaleFree(loss=steep)
    rows = np.random.default_rng(8).normal(size=(100, 3))
    learner.play(Dense(rows), np.where(rows[:, 0] > 0, 1.0, -1.0))
    assert (learner.wealth > 0.0).all()
