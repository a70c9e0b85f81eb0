"""Many classes in scikit-learn's and in River's clothes."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.utils.estimator_checks import check_estimator

import noregret as nr
from noregret.errors import InputError, SettingError
from oracle.classes import many
from oracle.registry import everything

every_update = pytest.mark.parametrize("update", ["max-score", "one-vs-rest"])
X, Y = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y = X[ORDER], Y[ORDER]


@every_update
def test_scikit_learns_own_checks_pass_but_for_the_order_of_weighted_rows(update):
    results = check_estimator(nr.MulticlassPerceptron(update=update), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert all(name.startswith("check_sample_weight_equivalence_on_") for name in failed)


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("load", [load_digits, load_iris])
def test_one_against_the_rest_has_the_weights_of_scikit_learns_perceptron(layout, load):
    rows, y = load(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    rows, y = np.round(10 * rows[order]), y[order]  # whole numbers: nothing depends on the order of a sum
    theirs = TheirPerceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False).fit(layout(rows), y)
    ours = nr.MulticlassPerceptron(update="one-vs-rest", passes=1, shuffle=None).fit(layout(rows), y)
    assert np.array_equal(ours.coef_, theirs.coef_)
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))
    assert np.array_equal(ours.decision_function(rows), theirs.decision_function(rows))


@every_update
def test_fit_knows_every_class_from_the_first_row_on(update):
    names = np.array([f"d{label}" for label in Y])
    model = nr.MulticlassPerceptron(update=update, passes=1, shuffle=None).fit(X[:200], names[:200])
    codes = np.searchsorted(np.unique(names[:200]), names[:200])
    game = many(X[:200].astype(int).tolist(), codes.tolist(), update, declared=10)
    assert model.coef_.tolist() == game.W
    assert model.classes_.tolist() == sorted(set(names[:200]))
    assert model.decision_function(X[:3]).shape == (3, 10)
    assert model.core.state["mistakes"][0] == sum(game.mistakes)


def test_two_classes_look_as_scikit_learn_wants_them():
    model = nr.MulticlassPerceptron(bias=True).fit(X, Y > 4)
    scores = model.decision_function(X)
    assert scores.shape == (len(X),)
    assert model.coef_.shape == (1, 64)
    assert np.array_equal(model.predict(X), scores > 0.0)
    assert scores == pytest.approx((X @ model.coef_.T + model.intercept_)[:, 0])


@every_update
def test_parts_with_their_classes_named_are_one_fit(update):
    whole = nr.MulticlassPerceptron(update=update, passes=1, shuffle=None).fit(X, Y)
    parts = nr.MulticlassPerceptron(update=update)
    for start in range(0, len(Y), 500):
        parts.partial_fit(X[start : start + 500], Y[start : start + 500], classes=np.arange(10))
    assert np.array_equal(whole.coef_, parts.coef_)
    assert np.array_equal(whole.predict(X), parts.predict(X))
    with pytest.raises(ValueError, match="are not those of before"):
        parts.partial_fit(X, Y, classes=[1, 2])


@every_update
def test_classes_that_appear_on_the_way(update):
    """Rows one at a time, in parts and from a stream give one learner, whose classes are numbered as they came."""
    rows, y = X[:300], Y[:300]
    one, parts, streamed = (nr.MulticlassPerceptron(update=update) for _ in range(3))
    for x, label in zip(rows, y, strict=True):
        one.learn_one(x, label)
    for start in range(0, 300, 70):
        parts.partial_fit(rows[start : start + 70], y[start : start + 70])
    nr.play(streamed, (rows, y))
    order = list(dict.fromkeys(y.tolist()))
    assert one.core.labels.classes == tuple(map(float, order))
    assert parts.classes_.tolist() == order
    assert one.core.z[:64, :10].tobytes() == streamed.core.z[:64, :10].tobytes()
    assert everything(one.core)[:-400] == everything(parts.core)[:-400]
    assert one.predict(X).tolist() == parts.predict(X).tolist() == [one.predict_one(x) for x in X]


def test_words_of_a_dict_and_a_class_that_nobody_announced():
    model = nr.MulticlassPerceptron()
    assert model.predict_one({"goal": 1}) is None
    model.learn_one({"goal": 1.0}, "sport").learn_one({"vote": 1.0}, "politics").learn_one({"goal": 1.0}, "sport")
    assert model.predict_one({"goal": 1}) == "sport"
    model.learn_one({"planet": 2.0}, "science").learn_one({"planet": 2.0}, "science")
    assert model.predict_one({"planet": 1, "moon": 5}) == "science"
    assert model.core.labels.classes == ("sport", "politics", "science")
    with pytest.raises(InputError):
        model.learn_one({"goal": float("nan")}, "news")
    assert model.core.labels.classes == ("sport", "politics", "science"), "a row that is none brings no class"


def test_labels_come_back_as_they_were_given():
    model = nr.MulticlassPerceptron()
    for label in (3, "three", True, 2.5):
        model.learn_one([float(label == 3), float(label == "three"), float(label is True), 1.0], label)
    assert [type(label) for label in model._spelled] == [int, str, bool, float]


@every_update
def test_save_and_load_go_on_as_never_stopped(update, tmp_path):
    whole, first = (nr.MulticlassPerceptron(update=update, class_weight={3: 2.0}) for _ in range(2))
    whole.partial_fit(X, Y, classes=np.arange(10))
    first.partial_fit(X[:400], Y[:400], classes=np.arange(10))
    first.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr").partial_fit(X[400:], Y[400:])
    assert everything(again.core) == everything(whole.core)
    assert again.get_params() == whole.get_params()
    assert again.predict(X).tolist() == whole.predict(X).tolist()
    assert pickle.loads(pickle.dumps(again)).predict(X).tolist() == whole.predict(X).tolist()
    with pytest.raises(NotFittedError):
        clone(again).predict(X)


def test_balanced_weights_need_all_labels():
    model = nr.MulticlassPerceptron(class_weight="balanced").fit(X, Y)
    assert model.score(X, Y) > 0.8
    with pytest.raises(ValueError, match="needs all labels at once"):
        nr.MulticlassPerceptron(class_weight="balanced").partial_fit(X, Y)
    with pytest.raises(SettingError, match="needs all labels at once"):
        nr.MulticlassPerceptron(class_weight="balanced").learn_one(X[0], 1)


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (
            lambda: nr.MulticlassPerceptron(update="best").fit(X, Y),
            "update must be max-score or one-vs-rest, got 'best'",
        ),
        (lambda: nr.MulticlassPerceptron().fit(X, np.ones(len(X))), "y must hold two classes"),
        (lambda: nr.MulticlassPerceptron().learn_one([1.0], None), "a label must be a number, a boolean or a string"),
        (lambda: nr.MulticlassPerceptron().learn_one([1.0], float("nan")), "a label must be finite"),
        (lambda: nr.certify(nr.play(nr.MulticlassPerceptron(), (X, Y)), (X, Y), radius=2.0), "radius must be left out"),
        (
            lambda: nr.compare((X, Y), [nr.MulticlassPerceptron(), nr.Perceptron()]),
            "some learners are for two classes, some for many",
        ),
    ],
)
def test_what_cannot_be_is_said(attempt, sentence):
    with pytest.raises(ValueError, match=sentence):
        attempt()


def test_compare_sets_the_two_updates_side_by_side():
    found = nr.compare(
        (X, Y), {"a": nr.MulticlassPerceptron(), "b": nr.MulticlassPerceptron(update="one-vs-rest")}, certify=True
    )
    a, b = found.runs.values()
    assert found.differences[0].figure == "error rate"
    assert found.differences[0].mean == pytest.approx((a.mistakes - b.mistakes) / len(Y))
    assert found.contenders[0].bound.theorem == "multiclass-sum"


def test_classes_that_were_met_by_play_can_be_predicted():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0]]), np.array([0, 1, 2, 0])
    played = nr.MulticlassPerceptron()
    nr.play(played, nr.read((X, y)))
    assert played.predict(X).tolist() == [played.predict_one(x) for x in X]
    both = nr.MulticlassPerceptron().fit(X, y)
    nr.play(both, nr.read((X, y + 1)))
    assert both.predict(X).tolist() == [both.predict_one(x) for x in X] and 3 in both.predict(X)
