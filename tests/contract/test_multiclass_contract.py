"""The perceptron of many classes plays the rounds of its definition, however its stream is cut and stopped."""

import itertools

import numpy as np
import pytest

import noregret as nr
from noregret import model
from noregret.errors import DivergedError
from noregret.learner import MulticlassPerceptron
from noregret.learner.classes import TABLED
from noregret.stream import read
from noregret.stream.labels import Classes
from oracle.classes import many
from oracle.kernels import in_order
from oracle.registry import LAYOUTS, everything

UPDATES = ["max-score", "one-vs-rest"]
OPTIONS = [{}, {"bias": True}, {"unit_norm": True}, {"scale": "max"}, {"scale": "max", "unit_norm": True, "bias": True}]
every_update = pytest.mark.parametrize("update", UPDATES)
every_layout = pytest.mark.parametrize("layout", ["dense", "sparse"])


def whole_numbers(rounds, classes, seed, columns=4):
    """Small whole numbers, so that ties are many and every sum is exact; classes numbered as they come."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (rounds, columns)).astype(float), rng.integers(0, classes, rounds)
    order = list(dict.fromkeys(y.tolist()))
    return X, np.array([order.index(label) for label in y.tolist()], dtype=float)


def declared(learner, classes):
    learner.labels = Classes(list(range(classes)))
    return learner


@every_update
@every_layout
@pytest.mark.parametrize("classes", [1, 2, 3, 7])
@pytest.mark.parametrize("told", [False, True])
def test_the_rounds_are_those_of_the_definition(update, layout, classes, told):
    X, y = whole_numbers(80, classes, seed=classes)
    learner = MulticlassPerceptron(update=update)
    if told:
        declared(learner, classes)
    scores = learner.play(LAYOUTS[layout](X), y)
    game = many(X.tolist(), y.astype(int).tolist(), update, classes if told else 0)
    assert scores[:, 0].tolist() == game.margins
    assert scores[:, 1].tolist() == [-1 if one is None else one for one in game.predicted]
    assert learner.weights.tolist() == game.W
    assert learner.missed(scores, y).tolist() == game.mistakes
    assert int(learner.state["mistakes"][0]) == sum(game.mistakes)
    assert int(learner.state["updates"][0]) == len({t for t, _, _ in game.moves})
    assert learner.unforeseen == game.unforeseen
    assert learner.moved[:classes].tolist() == [sum(c == k for _, c, _ in game.moves) for k in range(classes)]


@every_update
def test_a_bias_is_one_more_column_of_ones_and_a_weight_multiplies_the_step(update):
    X, y = whole_numbers(70, 4, seed=5)
    weights = np.random.default_rng(5).integers(1, 4, 70).astype(float)
    learner = MulticlassPerceptron(update=update, bias=True)
    learner.play(LAYOUTS["sparse"](X), y, weights)
    longer = np.column_stack([X, np.ones(70)])
    game = many(longer.tolist(), y.astype(int).tolist(), update, weights=weights.astype(int).tolist())
    assert np.column_stack([learner.weights, learner.class_biases]).tolist() == game.W
    assert learner.state["loss"][0] == weights[game.mistakes].sum()


@every_update
def test_a_row_of_weight_zero_is_no_round_and_no_class(update):
    X, y = whole_numbers(60, 5, seed=6)
    weights = np.ones(60)
    weights[::3] = 0.0
    skipping, without = (MulticlassPerceptron(update=update, scale="max") for _ in range(2))
    scores = skipping.play(LAYOUTS["dense"](X), y, weights)
    assert np.isnan(scores[::3]).all()
    kept = weights > 0
    assert scores[kept].tobytes() == without.play(LAYOUTS["dense"](X[kept]), y[kept]).tobytes()
    assert everything(skipping) == everything(without)


@every_update
@every_layout
@pytest.mark.parametrize("options", OPTIONS)
def test_any_split_and_any_stop_are_the_whole_block(update, layout, options, tmp_path):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(90, 5)), whole_numbers(90, 8, seed=7)[1]
    if layout == "sparse":  # features that come late
        wide = np.zeros((90, 70))
        wide[:, :3], wide[45:, -2:] = X[:, :3], X[45:, 3:]
        X = wide
    weights = rng.choice([0.5, 1.0, 2.0], 90)

    def part(a, b):
        return LAYOUTS[layout](X[a:b]), y[a:b], weights[a:b]

    whole = MulticlassPerceptron(update=update, **options)
    scores = whole.play(*part(0, 90))
    for bounds in (range(91), [0, 13, 14, 50, 90]):
        pieces = MulticlassPerceptron(update=update, **options)
        played = [pieces.play(*part(a, b)) for a, b in itertools.pairwise(bounds)]
        assert np.concatenate(played).tobytes() == scores.tobytes()
        assert everything(pieces) == everything(whole)
    for stop in (1, 30, 89):
        first = MulticlassPerceptron(update=update, **options)
        first.play(*part(0, stop))
        model.save(first, tmp_path / "m.nr")
        second, _ = model.load(tmp_path / "m.nr")
        assert everything(second) == everything(first)
        assert second.play(*part(stop, 90)).tobytes() == scores[stop:].tobytes()
        assert everything(second) == everything(whole)


@every_update
def test_dense_rows_give_what_sparse_ones_do(update):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.6), whole_numbers(80, 3, seed=8)[1]
    dense, sparse = (MulticlassPerceptron(update=update) for _ in range(2))
    assert dense.play(LAYOUTS["dense"](X), y).tobytes() == sparse.play(LAYOUTS["sparse"](X), y).tobytes()
    assert everything(dense) == everything(sparse)
    assert dense.scores(LAYOUTS["dense"](X)).tobytes() == dense.scores(LAYOUTS["sparse"](X)).tobytes()


@every_update
def test_a_stopped_run_goes_on_in_the_same_stream(update, tmp_path):
    X, y = whole_numbers(80, 6, seed=9)
    names = np.array(["ant", "bee", "cat", "dog", "elk", "fox"], dtype=object)[y.astype(int)]
    whole, first = MulticlassPerceptron(update=update), MulticlassPerceptron(update=update)
    nr.play(whole, (X, names), class_weight={"bee": 2.0})
    nr.play(first, read((X, names), block_rows=9), digest=True, most=31, class_weight={"bee": 2.0})
    model.save(first, tmp_path / "m.nr")
    second, _ = model.load(tmp_path / "m.nr")
    nr.play(second, read((X, names), block_rows=7), skip_seen=True, class_weight={"bee": 2.0})
    second.segments = whole.segments
    assert everything(second) == everything(whole)
    assert second.labels.classes == tuple(dict.fromkeys(names))


def test_the_figures_of_a_run():
    X, y = whole_numbers(1500, 4, seed=10)
    run = nr.play(MulticlassPerceptron(), (X, y), mistakes=True)
    game = many(X.tolist(), y.astype(int).tolist())
    assert run.mistake_rounds.tolist() == [t for t, wrong in enumerate(game.mistakes) if wrong]
    assert run.mistakes == sum(game.mistakes)
    assert run.window_error == sum(game.mistakes[-1000:]) / 1000
    counts = np.bincount(y.astype(int))
    last = 1 + int((y[1:] != y[:-1]).sum())
    assert run.baselines == {"majority_label": 1500 - counts.max(), "last_label": last}
    assert run.trace["constant"][-1] == 1500 - counts.max()
    table = np.array(run.metrics["confusion"]["table"])
    assert table.sum() == 1499, "before the first round there was no class to predict"
    assert table.sum() - np.trace(table) == run.mistakes - 1
    assert (table.sum(axis=1) == counts - (np.arange(4) == y[0])).all()
    assert run.auc is None
    assert run.tally["rounds"] == counts.tolist()


def test_a_later_round_leaves_a_run_as_it_was():
    X, y = whole_numbers(60, 4, seed=11)
    learner = MulticlassPerceptron()
    run = nr.play(learner, (X[:30], y[:30]))
    before = run.to_dict()
    nr.play(learner, (X[30:], y[30:]))
    assert {**run.to_dict(), "seconds": 0} == {**before, "seconds": 0}


def test_with_more_classes_than_a_page_holds_there_is_no_table():
    y = np.arange(TABLED + 1.0)
    run = nr.play(MulticlassPerceptron(), (np.eye(TABLED + 1), y))
    assert run.confusion is None
    assert run.metrics["classes"] == TABLED + 1
    assert run.mistakes == TABLED + 1


@every_update
def test_what_would_overflow_is_said_and_the_rounds_before_it_stand(update):
    learner = MulticlassPerceptron(update=update)
    sentence = "multiclass: the weights or the loss would overflow in round 2"
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match=sentence):
        learner.play(LAYOUTS["dense"](np.array([[1.0], [np.inf]])), np.array([0.0, 1.0]))
    assert learner.rounds == 1


def test_scores_of_wider_rows_leave_the_learner_as_it_was():
    X, y = whole_numbers(40, 3, seed=12)
    learner = MulticlassPerceptron()
    learner.play(LAYOUTS["sparse"](X), y)
    before = everything(learner)
    wide = np.column_stack([X, np.ones((40, 90))])
    assert learner.scores(LAYOUTS["sparse"](wide)).tolist() == learner.scores(LAYOUTS["dense"](X)).tolist()
    assert everything(learner) == before


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 9, 16, 21, 40])
def test_every_score_is_summed_in_the_order_of_the_entries(classes, layout):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(120, 7)) * (rng.random((120, 7)) < 0.8)
    X = X.astype(np.float32).astype(float) if layout.endswith("32") else X
    learner = MulticlassPerceptron(bias=True)
    learner.play(
        LAYOUTS[layout](X), np.append(np.arange(classes), rng.integers(0, classes, 120 - classes)).astype(float)
    )
    W, biases, scores = learner.weights.tolist(), learner.class_biases.tolist(), learner.scores(LAYOUTS[layout](X))
    assert scores.shape == (120, classes)
    for x, said in zip(X.tolist(), scores.tolist(), strict=True):
        pairs = [zip(x, w, strict=True) for w in W]
        assert said == [in_order((a * b for a, b in pair), bias) for pair, bias in zip(pairs, biases, strict=True)]
