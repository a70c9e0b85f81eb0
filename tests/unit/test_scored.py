"""Naive Bayes and the nearest neighbours: by hand, their limits, what they refuse, and damaged models."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret import model
from noregret._native import play_nearest, play_nearest_classes, play_nearest_numbers, play_words
from noregret.errors import DivergedError, ModelFileError, SettingError
from noregret.learner import NaiveBayes, NearestClasses, NearestNeighbours, NearestNumbers
from noregret.stream import Dense

WORDS = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 0.0, 0.0]])
LABELS = np.array([1.0, -1.0, 1.0])


def test_naive_bayes_by_hand():
    learner = NaiveBayes(temper="none", smoothing=0.5)
    learner.play(Dense(WORDS), LABELS)
    # +1: counts 3, 0, 1 of 4 in two rows; -1: counts 0, 3, 1 of 4 in one row; three words met
    expected = 2.0 * math.log(3.5 / 0.5) + math.log(2.5 / 1.5)
    assert learner.scores(Dense(np.array([[2.0, 0.0, 0.0]]))) == pytest.approx([expected], rel=1e-12)
    assert learner.about() == {"vocabulary": 3}


def test_a_count_below_zero_counts_by_its_size():
    one, other = NaiveBayes(), NaiveBayes()
    assert np.array_equal(one.play(Dense(WORDS), LABELS), other.play(Dense(-WORDS), LABELS))


def test_a_word_never_met_counts_in_the_length_of_the_row_alone():
    learner = NaiveBayes(temper="none")
    learner.play(Dense(WORDS), LABELS)
    wide = np.zeros((1, 9))
    wide[0, 8] = 4.0
    assert learner.scores(Dense(wide)) == pytest.approx([math.log(2.5 / 1.5)], rel=1e-12)


def test_platt_scaling_tempers_words_that_come_together():
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 1.0], 2000)
    said = rng.random(2000) < np.where(y > 0, 0.7, 0.3)
    X = np.repeat(np.column_stack([said, ~said]), 8, axis=1).astype(float)  # each word eight times over
    losses = [nr.play(NaiveBayes(temper=how), (X, y)).metrics["log_loss"] for how in ("none", "platt")]
    entropy = -0.7 * math.log(0.7) - 0.3 * math.log(0.3)
    assert losses[1] < entropy + 0.02 < entropy + 0.5 < losses[0]


def test_the_nearest_by_hand():
    learner = NearestNeighbours(window=3, neighbours=2)
    learner.play(Dense(np.array([[0.0], [1.0], [5.0]])), LABELS)
    near = learner.scores(Dense(np.array([[0.1], [4.0]])))
    root = 1.0 / math.sqrt(2.0)
    assert near == pytest.approx([math.log(1.25 / (0.25 + root)), math.log(1.25 / (0.25 + root))], rel=1e-12)
    learner.play(Dense(np.array([[0.05]])), -LABELS[:1])  # it takes the place of the row 0
    assert learner.scores(Dense(np.array([[0.0]]))) == pytest.approx([math.log(0.25 / (1.25 + root))], rel=1e-12)
    assert learner.about() == {"kept_rows": 3}


def test_classes_of_the_nearest_by_hand():
    learner = NearestClasses(window=3, neighbours=2, smoothing=0.5)
    learner.play(Dense(np.array([[0.0], [1.0], [5.0]])), np.array([0.0, 1.0, 2.0]))
    (scores,) = learner.scores(Dense(np.array([[0.2]])))  # distances 0.2 and 0.8: shares 1 and 1/256
    assert np.exp(scores) == pytest.approx([1.5, 0.5 + 1.0 / 256.0, 0.5], rel=1e-12)
    learner.play(Dense(np.array([[0.0]])), np.array([1.0]), np.array([3.0]))  # it takes the place of the first row
    (scores,) = learner.scores(Dense(np.array([[0.0]])))  # a neighbour at distance 0 leaves others no share
    assert np.exp(scores) == pytest.approx([0.5, 3.5, 0.5], rel=1e-12)
    assert learner.about() == {"kept_rows": 3}


def test_numbers_of_the_nearest_by_hand():
    learner = NearestNumbers(neighbours=3)
    assert learner.scores(Dense(np.zeros((1, 1)))).tolist() == [0.0]
    scores = learner.play(Dense(np.array([[0.0], [1.0], [3.0]])), np.array([2.0, 4.0, -1.0]), np.array([1.0, 2.0, 1.0]))
    assert scores.tolist() == [
        0.0,
        2.0,
        pytest.approx((2.0 * 4.0 + 2.0 * 16.0 / 81.0) / (2.0 + 16.0 / 81.0), rel=1e-12),
    ]
    assert learner.scores(Dense(np.array([[1.0]]))).tolist() == [4.0]
    assert float(learner.state["squared"][0]) == pytest.approx(4.0 + 4.0 + (scores[2] + 1.0) ** 2, rel=1e-12)


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 16, 40])
def test_the_nearest_are_those_of_a_full_search(columns):
    rng = np.random.default_rng(columns)
    X, y = rng.normal(size=(300, columns)), rng.choice([-1.0, 1.0], 300)
    learner = NearestNeighbours(window=100, neighbours=7)
    learner.play(Dense(X), y)
    kept, labels = X[200:], y[200:]
    for x in rng.normal(size=(20, columns)):
        order = np.argsort(((kept - x) ** 2).sum(axis=1))[:7]
        votes = labels[order] / np.sqrt(np.arange(1, 8))
        expected = math.log((0.25 + votes[votes > 0].sum()) / (0.25 - votes[votes < 0].sum()))
        assert learner.scores(Dense(x[None])) == pytest.approx([expected], rel=1e-12)


@pytest.mark.parametrize("kind", [NearestNeighbours, NearestClasses, NearestNumbers])
def test_wide_rows_are_refused_in_one_sentence(kind):
    with pytest.raises(SettingError, match=rf"^{kind.name}: rows may have at most 100 features, got 101$"):
        kind().play(Dense(np.zeros((1, 101))), np.ones(1))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("window", 0, "nearest: window must be a whole number from 1 to 100000, got 0"),
        ("neighbours", 1001, "nearest: neighbours must be a whole number from 1 to 1000, got 1001"),
    ],
)
def test_sizes_out_of_range_are_refused(name, value, sentence):
    with pytest.raises(SettingError, match=f"^{sentence}$"):
        NearestNeighbours(**{name: value})


def test_settings_of_naive_bayes_out_of_range_are_refused():
    with pytest.raises(SettingError, match="smoothing must be positive and finite, got 0"):
        NaiveBayes(smoothing=0.0)
    with pytest.raises(SettingError, match="temper must be platt or none, got 'mild'"):
        NaiveBayes(temper="mild")


@pytest.mark.parametrize("learner", [NaiveBayes(), NearestNeighbours()])
def test_rows_beyond_numbers_stop_the_run(learner):
    with pytest.raises(DivergedError, match="the row's norm or the loss would overflow in round 1"):
        learner.play(Dense(np.array([[1e200]])), np.ones(1))


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (NaiveBayes, "counts", -1.0),
        (NaiveBayes, "platt", np.nan),
        (NearestNeighbours, "votes", np.inf),
        (NearestNumbers, "tiles", np.nan),
        (NearestClasses, "classes", 2.0),
        (NearestClasses, "classes", 0.5),
        (NearestClasses, "learned", -1),
    ],
)
def test_damaged_models_are_refused(kind, name, value, tmp_path):
    learner = kind()
    learner.play(Dense(WORDS), np.array([0.0, 1.0, 0.0]) if learner.multiclass else LABELS)
    learner.arrays()[name].reshape(-1)[0] = value
    model.save(learner, tmp_path / "m.nr")
    with pytest.raises(ModelFileError, match="damaged"):
        model.load(tmp_path / "m.nr")


def test_arrays_that_do_not_fit_are_refused_by_the_core():
    words, near = NaiveBayes(), NearestNeighbours()
    rows = (WORDS, LABELS, np.zeros(0))
    with pytest.raises(ValueError, match="no room for the counts"):
        play_words(*rows, *words._learned, words.record, np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="no room for the rows of the window"):
        play_nearest(*rows, np.zeros(5), *near.window.native[1:], near.record, near.total, np.zeros(3))
    window = list(near.window.native)
    window[4] = np.zeros(3)
    with pytest.raises(ValueError, match="no room for the nearest"):
        play_nearest(*rows, *window, near.record, near.total, np.zeros(3))
    numbers = NearestNumbers()
    window = list(numbers.window.native)
    window[1] = np.zeros(3)
    with pytest.raises(ValueError, match="a label for each vote"):
        play_nearest_numbers(*rows, *window, numbers.record, numbers.total, np.zeros(3))


def test_a_class_that_is_not_known_is_refused_by_the_core():
    learner = NearestClasses()
    learner.play(Dense(WORDS), np.array([0.0, 1.0, 0.0]))
    learner.window.lines["classes"][2] = 7.0
    where = (learner.record, learner.clock, learner.counts, learner.table, learner._buffers, np.zeros((3, 4)))
    with pytest.raises(ValueError, match="a kept row has no class"):
        play_nearest_classes(WORDS, np.zeros(3), np.zeros(0), *learner.window.native, 0.5, *where, np.zeros((0, 0)))
