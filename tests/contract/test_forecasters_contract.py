"""Forecasters of many classes play the rounds of their definition, however their stream is cut and stopped."""

import itertools
import math

import numpy as np
import pytest

import noregret as nr
from noregret import model
from noregret.errors import DivergedError
from noregret.learner import LEARNERS
from noregret.learner.forecaster import Forecaster
from noregret.loss import softmax
from noregret.stream.labels import Classes
from oracle.classes import forecasts
from oracle.registry import FORECASTERS, LAYOUTS, everything

OPTIONS = [{}, {"bias": True}, {"unit_norm": True}, {"scale": "max", "unit_norm": True, "bias": True}]
every_learner = pytest.mark.parametrize("name", FORECASTERS)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def rows(rounds, classes, seed, columns=4):
    """Clusters of normal rows with some zeros, a class each, numbered as they come."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rounds)
    X = rng.normal(size=(classes, columns))[y] + rng.normal(size=(rounds, columns))
    X = (X * (rng.random((rounds, columns)) < 0.8)).astype(np.float32).astype(float)
    order = list(dict.fromkeys(y.tolist()))
    return X, np.array([order.index(label) for label in y.tolist()], dtype=float)


def make(name, **more):
    return FORECASTERS[name][0](**more)


def test_every_forecaster_is_here():
    """The registry holds each of them."""
    assert set(FORECASTERS) == {name for name, kind in LEARNERS.items() if issubclass(kind, Forecaster)}


@every_learner
@every_layout
@pytest.mark.parametrize("classes", [1, 2, 3, 9])
@pytest.mark.parametrize("told", [False, True])
def test_the_rounds_are_those_of_the_definition(name, layout, classes, told):
    X, y = rows(60, classes, seed=classes)
    weights = np.random.default_rng(3).choice([0.5, 1.0, 2.0], 60)
    learner = make(name, bias=True)
    if told:
        learner.labels = Classes(list(range(classes)))
    scores, played = learner.play_all(LAYOUTS[layout](X), y, weights)
    longer = np.column_stack([X, np.ones(60)]).tolist()
    labels = y.astype(int).tolist()
    game = forecasts(longer, labels, FORECASTERS[name][1](), classes if told else 0, weights.tolist())
    paid = [game.paid(t, label) for t, label in enumerate(labels)]
    for t, (known, fresh) in enumerate(game.logs):
        expected = known + [fresh] * (classes - len(known))
        assert played[t].tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9)
        rivals = [p for k, p in enumerate(known) if k != labels[t]]
        margin = paid[t] - max(rivals) if rivals else math.inf
        assert scores[t, 0] == pytest.approx(margin, rel=1e-9, abs=1e-9)
        assert (scores[t, 1], scores[t, 2]) == _said(played[t, : len(known)].tolist())
        assert scores[t, 3] == played[t, labels[t]], "what was paid"
    wrong = [label >= len(game.logs[t][0]) or scores[t, 0] <= 0.0 for t, label in enumerate(labels)]
    assert learner.missed(scores, y).tolist() == wrong
    assert int(learner.state["mistakes"][0]) == sum(wrong)
    assert learner.state["loss"][0] == pytest.approx(-math.fsum(w * p for w, p in zip(weights, paid, strict=True)))


def _said(logs):
    """The likeliest class, −1 where there are several, and its ln p."""
    best = max(logs, default=0.0)
    return (float(logs.index(best)) if logs.count(best) == 1 else -1.0), best


@every_learner
def test_the_forecasts_of_a_round_sum_to_one(name):
    X, y = rows(80, 5, seed=2)
    learner = make(name, bias=True)
    played = learner.play_all(LAYOUTS["dense"](X), y)[1]
    known = np.maximum.accumulate(np.concatenate([[0.0], y + 1.0]))[:-1].astype(int)
    for row, count in zip(played, known.tolist(), strict=True):
        assert math.fsum(np.exp(row[: count + 1])) == pytest.approx(1.0) or count == 5
    assert softmax(learner.scores(LAYOUTS["dense"](X))).sum(axis=1) == pytest.approx(np.ones(80))


@every_learner
def test_a_row_of_weight_zero_is_no_round_and_no_class(name):
    X, y = rows(60, 5, seed=6)
    weights = np.ones(60)
    weights[::3] = 0.0
    skipping, without = (make(name, scale="max") for _ in range(2))
    scores, played = skipping.play_all(LAYOUTS["dense"](X), y, weights)
    kept = weights > 0
    assert np.isnan(scores[::3]).all() and np.isnan(played[::3]).all()
    assert scores[kept].tobytes() == without.play(LAYOUTS["dense"](X[kept]), y[kept]).tobytes()
    assert everything(skipping) == everything(without)


@every_learner
@every_layout
@pytest.mark.parametrize("options", OPTIONS)
def test_any_split_and_any_stop_are_the_whole_block(name, layout, options, tmp_path):
    X, y = rows(90, 8, seed=7, columns=5)
    if layout.startswith("sparse"):  # features that come late
        wide = np.zeros((90, 70))
        wide[:, :3], wide[45:, -2:] = X[:, :3], X[45:, 3:]
        X = wide
    weights = np.random.default_rng(7).choice([0.5, 1.0, 2.0], 90)

    def part(a, b):
        return LAYOUTS[layout](X[a:b]), y[a:b], weights[a:b]

    whole = make(name, **options)
    scores, forecast = whole.play_all(*part(0, 90))
    for bounds in (range(91), [0, 13, 14, 50, 90]):
        pieces = make(name, **options)
        for a, b in itertools.pairwise(bounds):
            said, played = pieces.play_all(*part(a, b))
            assert said.tobytes() == scores[a:b].tobytes()
            assert played.tobytes() == forecast[a:b, : played.shape[1]].tobytes()
        assert everything(pieces) == everything(whole)
    for stop in (1, 30, 89):
        first = make(name, **options)
        first.play(*part(0, stop))
        model.save(first, tmp_path / "m.nr")
        second, _ = model.load(tmp_path / "m.nr")
        assert everything(second) == everything(first)
        assert second.play(*part(stop, 90)).tobytes() == scores[stop:].tobytes()
        assert everything(second) == everything(whole)


@every_learner
def test_dense_rows_give_what_sparse_ones_do(name):
    X, y = rows(80, 3, seed=8)
    dense, sparse = (make(name, bias=True) for _ in range(2))
    assert dense.play(LAYOUTS["dense"](X), y).tobytes() == sparse.play(LAYOUTS["sparse"](X), y).tobytes()
    assert everything(dense) == everything(sparse)
    assert dense.scores(LAYOUTS["dense"](X)).tobytes() == dense.scores(LAYOUTS["sparse"](X)).tobytes()


@every_learner
def test_scores_of_wider_rows_leave_the_learner_as_it_was(name):
    X, y = rows(40, 3, seed=12)
    learner = make(name)
    learner.play(LAYOUTS["sparse"](X), y)
    before = everything(learner)
    wide = np.column_stack([X, np.ones((40, 90))])
    assert learner.scores(LAYOUTS["sparse"](wide)).tolist() == learner.scores(LAYOUTS["dense"](X)).tolist()
    assert everything(learner) == before


@every_learner
def test_a_run_has_its_log_loss_and_a_receipt_that_verifies(name, tmp_path):
    X, y = rows(120, 4, seed=13)
    for weights in (None, np.random.default_rng(1).choice([0.5, 2.0], 120)):
        stream = (X, y) if weights is None else (X, y, weights)
        learner = make(name, bias=True)
        run = nr.play(learner, stream, digest=True)
        assert run.metrics["log_loss"] == run.loss / 120
        assert run.baselines["majority_label"] == 120 - np.bincount(y.astype(int)).max()
        receipt = nr.certify(run, stream)
        receipt.save(tmp_path / "r.json")
        assert nr.verify(tmp_path / "r.json", stream).checks


@every_learner
def test_what_would_overflow_is_said_and_the_rounds_before_it_stand(name):
    learner = make(name)
    with (
        np.errstate(all="ignore"),
        pytest.raises(DivergedError, match="the weights or the loss would overflow in round 2"),
    ):
        learner.play(LAYOUTS["dense"](np.array([[1.0], [np.inf]])), np.array([0.0, 1.0]))
    assert learner.rounds == 1


@every_learner
def test_the_estimator_gives_probabilities(name):
    X, y = rows(200, 4, seed=14)
    shell = getattr(nr, type(make(name)).__name__)
    fitted = shell(**make(name).settings).fit(X, y)
    assert fitted.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(200))
    assert (fitted.predict(X) == fitted.classes_[fitted.predict_proba(X).argmax(axis=1)]).all()
    online = shell(**make(name).settings)
    assert online.predict_proba_one(X[0]) == {}
    for x, label in zip(X[:50], y[:50].tolist(), strict=True):
        online.learn_one(x, label)
    assert sum(online.predict_proba_one(X[0]).values()) == pytest.approx(1.0)
    assert online.predict_proba_one(X[0]) == pytest.approx(
        dict(zip(online.core.labels.classes, online.predict_proba(X[:1])[0], strict=False))
    )
