"""`fit`: passes in a random order by default, the stream as it came on request, and frames with words in them."""

import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import noregret as nr
from noregret.sklearn import ESTIMATORS

RNG = np.random.default_rng(3)
ROWS = 200
CITY = RNG.choice(["Rome", "Oslo", "Bonn"], ROWS)
FRAME = pandas.DataFrame({"city": CITY, "age": RNG.normal(size=ROWS), "label": RNG.normal(size=ROWS)})
Y = np.where((CITY == "Rome") ^ (RNG.random(ROWS) < 0.05), "yes", "no")
FRAMES = {
    "pandas": FRAME,
    "categorical": FRAME.astype({"city": "category"}),
    "polars": polars.from_pandas(FRAME),
    "arrow": pyarrow.Table.from_pandas(FRAME),
}
every_kind = pytest.mark.parametrize("kind", list(dict.fromkeys(ESTIMATORS.values())))
every_frame = pytest.mark.parametrize("name", FRAMES)


def part(frame, start, stop):
    return frame.iloc[start:stop] if isinstance(frame, pandas.DataFrame) else frame.slice(start, stop - start)


def turned(frame):
    names = ["age", "label", "city"]
    return frame[names] if isinstance(frame, pandas.DataFrame) else frame.select(names)


# a further pass would reward what memorises, count each label again, or keep each neighbour twice
ONE_PASS = (
    "Auto",
    "AutoRegressor",
    "MarkovLabels",
    "NaiveBayes",
    "NearestNeighbours",
    "NearestClasses",
    "NearestNumbers",
)


@every_kind
def test_by_default_the_rows_are_passed_over_five_times_in_a_random_order(kind):
    once = kind.__name__ in ONE_PASS
    passes, shuffle = (1 if once else 5), (None if kind is nr.MarkovLabels else 0)
    assert (kind().passes, kind().shuffle) == (passes, shuffle)
    X = RNG.normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    by_hand, order = kind(), np.random.default_rng(0)
    for _ in range(passes):
        rows = np.arange(40) if shuffle is None else order.permutation(40)
        more = {} if kind().core.regression else {"classes": [-1, 1]}
        by_hand.partial_fit(X[rows], y[rows], **more)
    fitted = kind().fit(X, y)
    assert fitted.rounds_ == 40 * passes
    assert fitted.core.state.tobytes() == by_hand.core.state.tobytes()
    assert clone(kind(passes=2, shuffle=None)).get_params()["shuffle"] is None


def test_rows_sorted_by_class_do_not_decide():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(nr.MulticlassPerceptron(), X, y).mean() > 0.6  # in their order: 1/3


def test_many_rows_are_shuffled_a_block_at_a_time():
    X = RNG.normal(size=(3000, 300))  # more than one block of values
    y = np.where(X[:, 0] > 0, 1, -1)
    order = np.random.default_rng(4).permutation(3000)
    whole = nr.Perceptron(passes=1, shuffle=4).fit(X, y)
    assert np.array_equal(whole.coef_, nr.Perceptron().partial_fit(X[order], y[order]).coef_)


CLASSIFIERS = [kind for (_, regression), kind in ESTIMATORS.items() if not regression]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_before_any_label_there_is_no_answer(kind):
    assert kind().predict_one({"a": 1.0}) is None
    with pytest.raises(NotFittedError):
        kind().predict([[1.0]])


# -- words -----------------------------------------------------------------------------------------------------------


@every_frame
def test_a_frame_with_words_is_learned_from_as_play_learns_from_it(name):
    frame = FRAMES[name]
    whole, parts, played = nr.Perceptron(passes=1, shuffle=None).fit(frame, Y), nr.Perceptron(), nr.Perceptron()
    parts.partial_fit(part(frame, 0, 70), Y[:70]).partial_fit(part(frame, 70, ROWS), Y[70:])
    nr.play(played, (frame, Y))
    assert np.array_equal(whole.coef_, played.coef_)
    assert np.array_equal(whole.coef_, parts.coef_)
    assert np.array_equal(whole.predict(frame), played.predict(frame))
    assert whole.core.state.tobytes() == parts.core.state.tobytes() == played.core.state.tobytes()


@every_frame
def test_words_are_worth_something_and_columns_keep_their_names(name):
    frame = FRAMES[name]
    model = nr.AdaGrad(bias=True).fit(frame, Y)
    assert model.score(frame, Y) > 0.85
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["city", "age", "label"]
    row = {key: value if isinstance(value, str) else float(value) for key, value in FRAME.iloc[7].items()}
    assert model.predict_one(row) == model.predict(part(frame, 7, 8))[0]
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.predict(turned(frame))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.partial_fit(turned(frame), Y)
    with pytest.raises(ValueError, match="has learned from a table with words: X must be a table too"):
        model.predict(np.zeros((2, 3)))
    assert model.n_features_in_ == 3


@every_frame
def test_what_play_has_learned_is_asked_in_any_order_of_columns(name):
    played = nr.Perceptron()
    nr.play(played, (FRAMES[name], Y))
    assert np.array_equal(played.predict(turned(FRAMES[name])), played.predict(FRAMES[name]))


TAKERS = [nr.AdaGradRegressor, nr.MulticlassPerceptron, nr.KernelPerceptron, nr.VotedPerceptron]


@pytest.mark.parametrize("kind", TAKERS)
def test_every_kind_of_learner_takes_words(kind):
    y = {nr.AdaGradRegressor: FRAME["age"].to_numpy(), nr.MulticlassPerceptron: CITY}.get(kind, Y)
    model = kind().fit(FRAME, y, sample_weight=np.ones(ROWS))
    assert model.predict(FRAME).shape == (ROWS,)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(FRAME), model.predict(FRAME))


def test_a_model_of_words_is_saved_and_goes_on(tmp_path):
    model = nr.Perceptron().fit(FRAME, Y)
    model.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    assert loaded.feature_names_in_.tolist() == ["city", "age", "label"]
    assert np.array_equal(loaded.partial_fit(FRAME, Y).coef_, model.partial_fit(FRAME, Y).coef_)


def test_fit_of_numbers_after_words_forgets_the_words():
    model = nr.Perceptron().fit(FRAME, Y).fit(FRAME[["age", "label"]], Y)
    assert model.feature_names_in_.tolist() == ["age", "label"] and model.coef_.shape == (1, 2)
    assert not hasattr(model.fit(FRAME[["age", "label"]].to_numpy(), Y), "feature_names_in_")


def test_wrong_labels_beside_words_are_said_and_nothing_is_learned():
    model = nr.Perceptron()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(FRAME, Y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        nr.AdaGradRegressor().fit(FRAME, np.full(ROWS, np.nan))
    with pytest.raises(nr.InputError, match="feature 'age' is missing"):
        model.fit(FRAME.assign(age=np.nan), Y)
    with pytest.raises(NotFittedError):
        model.predict(FRAME)


# -- sorted labels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nr.Perceptron, nr.AdaGrad, nr.MulticlassPerceptron])
def test_labels_in_the_order_of_their_classes_are_worth_a_warning(kind):
    X, y = RNG.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    with pytest.warns(nr.OrderWarning, match="sorted by their label and shuffle is None.*use shuffle=0"):
        kind(passes=1, shuffle=None).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind().fit(X, y)
        kind(shuffle=None).fit(X, RNG.permutation(y))
        kind(shuffle=None).fit(X[::15], y[::15])  # too few to say
        kind().partial_fit(X, y)
        nr.KernelPerceptron(kernel="precomputed", shuffle=None).fit(X @ X.T, y)


def test_a_frame_without_rows_is_a_sentence():
    frame = pandas.DataFrame({"town": ["a", "b"], "x": [1.0, 2.0]}).head(0)
    with pytest.raises(ValueError, match="no rows"):
        nr.AdaGrad().fit(frame, [])
