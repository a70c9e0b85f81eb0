"""The estimators in scikit-learn's house: its own checks, its tools, and the same weights as its learners."""

import math
import pickle
from copy import deepcopy

import joblib
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import noregret as nr
from noregret.errors import InputError
from oracle.registry import everything

ESTIMATORS = [
    nr.Perceptron,
    nr.OnlineGradientDescent,
    nr.StronglyConvexGradientDescent,
    nr.SecondOrderPerceptron,
    nr.LogisticNewton,
    nr.DiagonalNewton,
    nr.AveragedPerceptron,
    nr.PassiveAggressive,
    nr.PassiveAggressiveI,
    nr.PassiveAggressiveII,
    nr.OnlineGradientDescentRegressor,
    nr.StronglyConvexGradientDescentRegressor,
    nr.VovkAzouryWarmuth,
    nr.RidgeForgetting,
    nr.AdaGrad,
    nr.AdaGradRegressor,
    nr.CoinBetting,
    nr.CoinBettingRegressor,
    nr.ScaleFree,
    nr.ScaleFreeRegressor,
    nr.FollowTheRegularisedLeader,
    nr.FollowTheRegularisedLeaderRegressor,
    nr.PassiveAggressiveRegressor,
    nr.PassiveAggressiveIRegressor,
    nr.PassiveAggressiveIIRegressor,
]
REGRESSORS = [kind for kind in ESTIMATORS if is_regressor(kind())]
CLASSIFIERS = [kind for kind in ESTIMATORS if kind not in REGRESSORS]
AS_THEY_ARE = {  # coin betting scales rows to norm 1 unless it is told a bound
    kind: {"unit_norm": False, "gradient_bound": 100.0} for kind in (nr.CoinBetting, nr.CoinBettingRegressor)
} | {nr.LogisticNewton: {"play": "newton"}}  # its other scores are not linear
CURVED = [nr.KernelPerceptron, nr.MarkovLabels, nr.NaiveBayes, nr.NearestNeighbours]  # estimators that have no weights
CURVED += [nr.Auto, nr.AutoRegressor]
every_one = pytest.mark.parametrize("kind", ESTIMATORS + CURVED)
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS)
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)
every_regressor = pytest.mark.parametrize("kind", REGRESSORS)
RNG = np.random.default_rng(1)
STREAM = {"passes": 1, "shuffle": None}  # the rows once, in the order in which they came
X = RNG.normal(size=(60, 4))
Y = np.where(X @ [1.0, -2.0, 0.5, 0.0] + RNG.normal(size=60) > 0, 1, -1)


@every_one
def test_scikit_learns_own_checks_pass_but_for_the_order_of_weighted_rows(kind):
    """A row of weight 2 is one round, the row twice is two: only sums that no order changes make them equal."""
    results = check_estimator(kind(), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    expected = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"}
    assert failed == (set() if kind is nr.VovkAzouryWarmuth else expected)


# the plain Passive-Aggressive step has no use for a weight, and an average keeps what came before the weight told
UNWEIGHED = (nr.AveragedPerceptron, nr.PassiveAggressive)


@pytest.mark.parametrize("kind", [kind for kind in CLASSIFIERS if kind not in UNWEIGHED])
def test_with_a_bias_and_passes_they_reach_a_good_score_too(kind):
    results = check_estimator(kind(bias=True, passes=20), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert all(name.startswith("check_sample_weight_equivalence_on_") for name in failed)


def test_dir_lists_every_estimator():
    assert {kind.__name__ for kind in ESTIMATORS + CURVED} <= set(dir(nr))


@every_one
def test_a_clone_has_the_settings_and_nothing_learned(kind):
    settings = {"bias": True, "passes": 3, "unit_norm": True, "shuffle": 5}
    copy = clone(kind(**settings).fit(X, Y))
    assert copy.get_params() == kind(**settings).get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_a_clone_keeps_a_loss_of_ones_own():
    loss = nr.custom_loss(lambda z, y: abs(z - y), lambda z, y: 1.0 if z > y else -1.0, regression=True)
    copy = clone(nr.OnlineGradientDescentRegressor(loss=loss))
    assert np.isfinite(copy.fit(X, Y.astype(float)).coef_).all()


@every_one
def test_pickle_and_joblib_go_on_where_it_stopped(kind, tmp_path):
    learned = kind(bias=True, scale="max").fit(X[:30], Y[:30])
    joblib.dump(learned, tmp_path / "m.joblib")
    copies = [pickle.loads(pickle.dumps(learned)), joblib.load(tmp_path / "m.joblib")]
    learned.partial_fit(X[30:], Y[30:])
    for copy in copies:
        assert everything(copy.partial_fit(X[30:], Y[30:]).core) == everything(learned.core)


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csr_array])
@pytest.mark.parametrize("eta", [1.0, 0.5])
def test_the_weights_are_those_of_scikit_learns_perceptron(layout, eta):
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(3000, 30)) * (rng.random((3000, 30)) < 0.4)
    y = np.where(rows @ rng.normal(size=30) + rng.normal(size=3000) > 0, 1, -1)
    theirs = TheirPerceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False, eta0=eta).fit(layout(rows), y)
    ours = nr.Perceptron(rate=eta, **STREAM).fit(layout(rows), y)
    assert np.abs(ours.coef_ - theirs.coef_).max() <= 1e-12 * np.abs(theirs.coef_).max()
    assert ours.intercept_.tolist() == [0.0]
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("eta", [1.0, 0.1])
def test_the_weights_are_those_of_scikit_learns_logistic_descent(layout, eta):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2000, 20)) * (rng.random((2000, 20)) < 0.5) / 4.0
    y = np.where(rows @ rng.normal(size=20) + 0.3 * rng.normal(size=2000) > 0, 1, -1)
    theirs = SGDClassifier(
        loss="log_loss", alpha=0.0, learning_rate="invscaling", power_t=0.5, eta0=eta,
        max_iter=1, tol=None, shuffle=False, fit_intercept=False, penalty=None,
    ).fit(layout(rows), y)  # fmt: skip
    ours = nr.OnlineGradientDescent(loss="logistic", radius=math.inf, rate=f"sqrt:{eta}", **STREAM)
    ours.fit(layout(rows), y)
    assert np.abs(ours.coef_ - theirs.coef_).max() <= 1e-9 * np.abs(theirs.coef_).max()


@every_one
def test_dense_sparse_and_frames_of_the_same_rows_agree(kind):
    dense = kind().fit(X, Y).predict(X)
    for rows in (scipy.sparse.csr_matrix(X), scipy.sparse.csc_array(X), X.tolist()):
        assert kind().fit(rows, Y).predict(rows) == pytest.approx(dense, rel=1e-12)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    assert np.array_equal(kind().fit(frame, Y).predict(frame), dense)


@every_estimator
def test_float32_rows_stay_float32_and_are_learned_from_as_they_are(kind):
    rows = X.astype(np.float32)
    assert kind().fit(rows, Y).coef_ == pytest.approx(kind().fit(rows.astype(np.float64), Y).coef_, rel=1e-9)


def test_a_matrix_with_repeated_entries_is_summed_and_left_as_it_was():
    rows = scipy.sparse.csr_matrix((np.array([1.0, 2.0, 1.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    learned = nr.Perceptron().fit(rows, [1, -1])
    learned.predict(rows)
    assert rows.nnz == 3
    assert np.array_equal(learned.coef_, nr.Perceptron().fit(rows.toarray(), [1, -1]).coef_)


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
@every_estimator
def test_columns_keep_their_names(kind, make):
    frame = make({"price": X[:, 0], "size": X[:, 1]})
    learned = kind().fit(frame, Y)
    assert learned.feature_names_in_.tolist() == ["price", "size"]
    assert learned.n_features_in_ == 2
    one = learned.predict_one({"size": float(X[0, 1]), "price": float(X[0, 0])})
    assert one == pytest.approx(learned.predict(frame)[0], rel=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        learned.predict(make({"size": X[:, 1], "price": X[:, 0]}))


def shrinkage(learned):
    """1 + ⟨x, A⁻¹x⟩ for a learner with a matrix, which puts the row to be predicted into it; 1 for all others."""
    if not isinstance(learned, nr.SecondOrderPerceptron | nr.VovkAzouryWarmuth | nr.RidgeForgetting):
        return 1.0
    rows = np.hstack([np.ones((len(X), 1)), X])
    return 1.0 + np.einsum("ti,ti->t", rows, np.linalg.solve(learned.core.A, rows.T).T) / learned.core.state["scale"][0]


@every_classifier
def test_classes_and_shapes(kind):
    learned = kind(bias=True, **AS_THEY_ARE.get(kind, {})).fit(X, np.where(Y > 0, "spam", "ham"))
    assert learned.classes_.tolist() == ["ham", "spam"]
    assert learned.coef_.shape == (1, 4)
    assert learned.intercept_.shape == (1,)
    assert learned.rounds_ == 5 * 60
    scores = learned.decision_function(X)
    linear = (X @ learned.coef_[0] + learned.intercept_[0]) / shrinkage(learned)
    assert scores == pytest.approx(linear, rel=1e-12, abs=1e-14)
    assert np.array_equal(learned.predict(X), np.where(scores > 0, "spam", "ham"))
    assert learned.score(X, learned.predict(X)) == 1.0


@every_classifier
def test_a_score_of_zero_is_the_negative_class(kind):
    for tie in ("mistake", "+1", "-1"):
        learned = kind(tie=tie).fit(X, Y)
        assert learned.predict(np.zeros((1, 4))).tolist() == [-1]
        assert learned.predict_one(np.zeros(4)) == -1


@every_regressor
def test_a_regressor_has_flat_weights_and_predicts_its_scores(kind):
    learned = kind(bias=True, **AS_THEY_ARE.get(kind, {})).fit(X, X[:, 0])
    assert learned.coef_.shape == (4,)
    assert isinstance(learned.intercept_, float)
    linear = (X @ learned.coef_ + learned.intercept_) / shrinkage(learned)
    assert learned.predict(X) == pytest.approx(linear, rel=1e-12, abs=1e-14)


def test_probabilities_are_those_of_the_logistic_model():
    learned = nr.OnlineGradientDescent(loss="logistic").fit(X, Y)
    chance = learned.predict_proba(X)
    assert chance[:, 1] == pytest.approx(1.0 / (1.0 + np.exp(-learned.decision_function(X))), rel=1e-12)
    assert chance.sum(axis=1) == pytest.approx(np.ones(60), rel=1e-15)
    one = learned.predict_proba_one(X[3])
    assert one == {-1: pytest.approx(chance[3, 0], rel=1e-12), 1: pytest.approx(chance[3, 1], rel=1e-12)}


@pytest.mark.parametrize("model", [nr.Perceptron(), nr.OnlineGradientDescent(), nr.StronglyConvexGradientDescent()])
def test_only_logistic_loss_gives_probabilities(model):
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_proba_one")


@every_estimator
def test_fit_forgets_what_was_learned_and_partial_fit_goes_on(kind):
    learned = kind(**STREAM).fit(X, Y)
    first = learned.coef_.copy()
    assert np.array_equal(learned.fit(X, Y).coef_, first)
    assert learned.rounds_ == 60
    assert learned.partial_fit(X, Y).rounds_ == 120
    assert np.array_equal(learned.coef_, kind(passes=2, shuffle=None).fit(X, Y).coef_)


@every_estimator
def test_passes_and_shuffles_are_full_permutations_from_the_seed(kind):
    order = np.random.default_rng(9)
    by_hand = kind()
    for _ in range(2):
        rows = order.permutation(60)
        by_hand.partial_fit(X[rows], Y[rows])
    assert np.array_equal(kind(passes=2, shuffle=9).fit(X, Y).coef_, by_hand.coef_)
    assert not np.array_equal(kind(passes=2, shuffle=8).fit(X, Y).coef_, by_hand.coef_)


@every_estimator
def test_a_weight_of_zero_skips_the_row(kind):
    weights = np.resize([1.0, 0.0, 1.0], 60)
    skipping = kind(**STREAM).fit(X, Y, sample_weight=weights)
    assert skipping.rounds_ == 40
    assert np.array_equal(skipping.coef_, kind(**STREAM).fit(X[weights > 0], Y[weights > 0]).coef_)


@every_classifier
def test_class_weights_multiply_sample_weights(kind):
    weights = np.resize([1.0, 0.5, 2.0], 60)
    together = kind(class_weight={1: 3.0, -1: 0.25}, **STREAM).fit(X, Y, sample_weight=weights)
    by_hand = kind(**STREAM).fit(X, Y, sample_weight=weights * np.where(Y > 0, 3.0, 0.25))
    assert np.array_equal(together.coef_, by_hand.coef_)
    by_ones = kind(class_weight={1: 3.0, -1: 0.25})
    for x, y, w in zip(X, Y, weights, strict=True):
        by_ones.learn_one(x, y, w)
    assert np.array_equal(by_ones.coef_, by_hand.coef_)


@every_classifier
def test_balanced_weights_need_all_labels(kind):
    by_class = {1: 60 / (2 * (Y > 0).sum()), -1: 60 / (2 * (Y < 0).sum())}
    assert kind(class_weight="balanced").fit(X, Y).coef_ == pytest.approx(kind(class_weight=by_class).fit(X, Y).coef_)
    with pytest.raises(ValueError, match="class_weight='balanced' needs all labels at once"):
        kind(class_weight="balanced").partial_fit(X, Y)
    with pytest.raises(ValueError, match="class_weight='balanced' needs all labels at once"):
        kind(class_weight="balanced").learn_one(X[0], 1)


REFUSED = [
    (lambda kind: kind().fit(X, np.resize([0, 1, 2], 60)), "Only binary classification is supported"),
    (lambda kind: kind().fit(X, np.ones(60)), "y must hold two classes, got one class only"),
    (lambda kind: kind().partial_fit(X, ["spam"] * 60), "does not tell the other: give classes="),
    (lambda kind: kind().partial_fit(X, Y).partial_fit(X, np.full(60, 7)), r"y: 7 is not one of the classes \[-1, 1\]"),
    (lambda kind: kind().partial_fit(X, Y, classes=[-1, 1]).partial_fit(X, Y, classes=[0, 1]), "not those of before"),
    (lambda kind: kind().partial_fit(X, Y, classes=[1]), "classes: two are needed"),
    (lambda kind: kind().partial_fit(X, Y, classes=[-1, 0, 1]), "Only binary classification is supported"),
    (lambda kind: kind().partial_fit(X, Y).partial_fit(X[:, :2], Y), "X has 2 features"),
    (lambda kind: kind().fit(X, Y).predict(X[:, :2]), "X has 2 features"),
    (lambda kind: kind().fit(X, Y, sample_weight=-np.ones(60)), "[Nn]egative"),
    (lambda kind: kind().fit(np.where(X > 2, np.nan, X), Y), "NaN"),
    (lambda kind: kind(passes=0).fit(X, Y), "passes must be a whole number of at least 1, got 0"),
]


@every_classifier
@pytest.mark.parametrize(("attempt", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_a_classifier_cannot_take_is_said(kind, attempt, sentence):
    with pytest.raises(ValueError, match=sentence):
        attempt(kind)


@pytest.mark.parametrize("kind", REGRESSORS[:2])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_regressor_refuses_a_loss_for_classes(kind, loss):
    own = f"loss must be one of hinge, absolute, got {loss}"  # of the Passive-Aggressive ones
    with pytest.raises(nr.SettingError, match=f"is for numbers, the loss {loss} is for two classes|{own}"):
        kind(loss=loss).fit(X, Y)


@pytest.mark.parametrize("kind", [kind for kind in CLASSIFIERS if hasattr(kind, "loss")])
def test_a_classifier_refuses_a_loss_for_numbers(kind):
    with pytest.raises(nr.SettingError, match="is for two classes, the loss absolute is for numbers"):
        kind(loss="absolute").fit(X, Y)


@every_classifier
def test_one_of_a_known_pair_is_enough_for_a_first_part(kind):
    learned = kind().partial_fit(X[:5], np.zeros(5, int))
    assert learned.classes_.tolist() == [0, 1]
    assert learned.partial_fit(X[5:], (Y[5:] > 0).astype(int)).rounds_ == 60


@every_classifier
def test_arrays_after_single_rows_must_have_as_many_columns(kind):
    learned = kind()
    for x, y in zip(X, Y, strict=True):
        learned.learn_one(x, y)
    with pytest.raises(ValueError, match="features"):
        learned.partial_fit(np.ones((2, 7)), [1, -1])
    assert learned.partial_fit(X, Y).rounds_ == 120


@every_classifier
def test_rows_after_single_examples_must_have_the_labels_of_before(kind):
    learned = kind().learn_one(X[0], "ham").learn_one(X[1], "spam")
    with pytest.raises(ValueError, match="third label"):
        learned.partial_fit(X[:2], ["cat", "dog"])


@every_classifier
def test_examples_held_for_their_label_are_not_lost_when_arrays_follow(kind):
    learned = kind().learn_one(X[0], "ham")
    learned.partial_fit(X[1:3], ["spam", "ham"])
    assert learned.rounds_ == 3
    assert np.array_equal(learned.coef_, kind(**STREAM).fit(X[:3], ["ham", "spam", "ham"]).coef_)


def test_it_lives_in_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), nr.OnlineGradientDescent(loss="logistic"))
    search = GridSearchCV(pipeline, {"onlinegradientdescent__radius": [0.1, 1.0, 10.0]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.6


def test_a_search_over_numbers_of_numpy_works():
    search = GridSearchCV(nr.Perceptron(), {"rate": np.array([1, 2])}, cv=2, error_score="raise").fit(X, Y)
    assert search.best_params_["rate"] in (1, 2)


@every_estimator
def test_play_goes_on_from_an_estimator_and_it_predicts_afterwards(kind):
    played = kind()
    y = Y if kind in CLASSIFIERS else Y.astype(float)
    run = nr.play(played, (X, y))
    assert run.rounds == 60
    assert np.array_equal(played.predict(X), kind(**STREAM).fit(X, y).predict(X))


def test_predicting_before_learning_is_refused():
    for kind in ESTIMATORS:
        with pytest.raises(NotFittedError):
            kind().predict(X)
        with pytest.raises(NotFittedError):
            kind().coef_  # noqa: B018


@every_one
@pytest.mark.parametrize("entries", [4, 3])  # the last of a row by itself, or among four
@pytest.mark.parametrize(("bad", "kind_of_index"), [(4, np.int32), (-1, np.int32), (2**32 + 1, np.int64)])
def test_an_index_outside_the_columns_is_a_sentence_and_nothing_is_learned(kind, entries, bad, kind_of_index):
    bounds = np.arange(0, entries * 60 + 1, entries)
    indices = np.tile(np.arange(entries, dtype=kind_of_index), 60)
    matrix = scipy.sparse.csr_matrix((X[:, :entries].ravel().copy(), indices, bounds), shape=(60, 4))
    matrix.has_canonical_format = True
    matrix.indices = matrix.indices.astype(kind_of_index)
    matrix.indices[-1] = bad
    estimator = kind()
    with pytest.raises(ValueError, match="an index is outside its 4 columns"):
        estimator.fit(matrix, Y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


def test_a_malformed_sparse_matrix_is_a_sentence_not_a_crash():
    bad = scipy.sparse.csr_matrix(np.eye(6))
    bad.indptr[3] = 10**6
    model = nr.Perceptron().fit(np.eye(6), [1, -1] * 3)
    for ask in (lambda: nr.Perceptron().fit(bad, [1, -1] * 3), lambda: model.predict(bad)):
        with pytest.raises(InputError, match="not a well-formed sparse matrix: its row bounds"):
            ask()


def test_a_copy_of_a_sparse_learner_goes_on_bit_for_bit():
    rng = np.random.default_rng(0)
    rows, y, dense = scipy.sparse.csr_matrix(rng.normal(size=(35, 2))), rng.normal(size=35), rng.normal(size=(50, 2))
    model = nr.OnlineGradientDescentRegressor().partial_fit(rows[:19], y[:19])
    copies = pickle.loads(pickle.dumps(model)), deepcopy(model)
    expected = model.partial_fit(rows[19:], y[19:]).predict(dense)
    for other in copies:
        assert (other.partial_fit(rows[19:], y[19:]).predict(dense) == expected).all()


def test_probabilities_of_another_loss_say_what_to_do():
    model = nr.OnlineGradientDescent().fit(np.eye(2), [1, -1])
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(np.eye(2))
    assert "loss='logistic'" in str(caught.value.__cause__)
