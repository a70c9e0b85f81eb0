"""The estimators in River's house: pipelines, progressive validation, probabilities, numbers."""

import math

import numpy as np
import pytest
from river import compose, datasets, ensemble, evaluate, linear_model, metrics, multiclass, optim, preprocessing, stream

import noregret as nr


def rows(number=400):
    return list(datasets.Phishing().take(number))


@pytest.mark.parametrize("kind", [nr.Perceptron, nr.OnlineGradientDescent, nr.StronglyConvexGradientDescent])
def test_progressive_validation_of_a_pipeline(kind):
    model = compose.Pipeline(preprocessing.StandardScaler(), kind(bias=True))
    metric = evaluate.progressive_val_score(rows(), model, metrics.Accuracy())
    assert metric.get() > 0.8
    assert model[kind.__name__].rounds_ == 400


def test_the_score_is_that_of_predict_then_learn():
    by_river = evaluate.progressive_val_score(rows(), nr.Perceptron(), metrics.Accuracy()).get()
    model, right = nr.Perceptron(), 0
    for x, y in rows():
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    # River scores only the rounds that have a prediction: the first has none
    assert by_river == pytest.approx(right / 399)


@pytest.mark.parametrize("metric", [metrics.LogLoss, metrics.ROCAUC])
def test_metrics_of_probabilities(metric):
    learner = nr.OnlineGradientDescent(loss="logistic", radius=2.0, bias=True)
    found = evaluate.progressive_val_score(rows(), preprocessing.StandardScaler() | learner, metric()).get()
    assert found < math.log(2.0) if metric is metrics.LogLoss else found > 0.8  # ln 2 is what knowing nothing costs


def test_log_loss_is_that_of_the_run():
    learner = nr.OnlineGradientDescent(loss="logistic", radius=2.0)
    found = evaluate.progressive_val_score(rows(), learner, metrics.LogLoss()).get()
    played = nr.play(nr.OnlineGradientDescent(loss="logistic", radius=2.0), rows())
    # in River's first round there is no prediction yet, which it scores as certain of nothing
    assert found * 400 == pytest.approx(played.loss, abs=1.0)


@pytest.mark.parametrize("kind", [nr.OnlineGradientDescentRegressor, nr.StronglyConvexGradientDescentRegressor])
def test_a_regressor_in_a_pipeline(kind):
    data = list(datasets.TrumpApproval().take(300))
    model = compose.Pipeline(preprocessing.StandardScaler(), kind(bias=True, radius=100.0))
    found = evaluate.progressive_val_score(data, model, metrics.MAE()).get()
    assert found < np.mean([abs(y) for _, y in data])


def test_the_weights_are_those_of_rivers_logistic_regression():
    """The same constant step, no intercept, no regulariser."""
    ours = nr.OnlineGradientDescent(loss="logistic", rate="constant:0.1", radius=float("inf"))
    theirs = linear_model.LogisticRegression(optimizer=optim.SGD(0.1), intercept_lr=0.0)
    for x, y in rows():
        ours.learn_one(x, y)
        theirs.learn_one(x, y)
    found = dict(zip(ours.core.features.names, ours.coef_[0], strict=True))
    assert found == pytest.approx(dict(theirs.weights), rel=1e-9)


def test_a_stream_of_strings_and_booleans():
    data = [({"colour": "red", "round": True}, "apple"), ({"colour": "yellow", "round": False}, "banana")] * 20
    metric = evaluate.progressive_val_score(data, nr.Perceptron(), metrics.Accuracy())
    assert metric.get() > 0.9


def test_rows_of_an_array_as_river_gives_them():
    X = np.array([[1.0, 2.0], [-1.0, -2.0]] * 10)
    metric = evaluate.progressive_val_score(
        stream.iter_array(X, [True, False] * 10), nr.Perceptron(), metrics.Accuracy()
    )
    assert metric.get() > 0.8


def test_the_features_a_pipeline_hides_are_not_learned():
    model = compose.Pipeline(compose.Select("a"), nr.Perceptron())
    model.learn_one({"a": 1.0, "b": 5.0}, True)
    assert model["Perceptron"].core.features.names == ["a"]
    assert model.predict_one({"a": 1.0, "b": -100.0}) is True


@pytest.mark.parametrize("wrapped", ["bagging", "one against the rest"])
def test_rivers_ensembles_make_their_own_learners_of_ours(wrapped):
    learner = nr.OnlineGradientDescent(loss="logistic", radius=5.0, bias=True)
    if wrapped == "bagging":
        data, model = rows(), ensemble.BaggingClassifier(learner, n_models=3, seed=1)
    else:
        data = list(datasets.ImageSegments().take(400))
        model = multiclass.OneVsRestClassifier(preprocessing.StandardScaler() | learner)
    found = evaluate.progressive_val_score(data, model, metrics.Accuracy()).get()
    assert found > 0.7  # most are right, of two classes or of seven
    assert not learner.__sklearn_is_fitted__()  # it is a pattern for the others


def test_bagging_of_regressors():
    data = list(datasets.TrumpApproval().take(300))
    learner = preprocessing.StandardScaler() | nr.OnlineGradientDescentRegressor(bias=True, radius=100.0)
    found = evaluate.progressive_val_score(data, ensemble.BaggingRegressor(learner, n_models=3, seed=1), metrics.MAE())
    assert found.get() < np.mean([abs(y) for _, y in data])


def test_a_clone_has_the_parameters_and_only_on_request_what_was_learned():
    model = nr.OnlineGradientDescent(radius=3.0)
    model.learn_one({"a": 1.0}, True)
    assert model.clone().get_params() == model.get_params()
    assert model.clone({"radius": 7.0}).radius == 7.0
    assert model.clone().predict_one({"a": 1.0}) is None
    copied = model.clone(include_attributes=True)
    copied.learn_one({"a": 1.0}, True)
    assert (model.rounds_, copied.rounds_) == (1, 2)
    with pytest.raises(ValueError, match="goes with the parameters that it was learned with"):
        model.clone({"radius": 7.0}, include_attributes=True)


POOL = "labels,labels-1,adagrad-.15,betting,passive"


def test_auto_in_a_pipeline_and_on_rows_as_they_come():
    model = compose.Pipeline(preprocessing.StandardScaler(), nr.Auto(members=POOL))
    assert evaluate.progressive_val_score(rows(), model, metrics.Accuracy()).get() > 0.8
    found = evaluate.progressive_val_score(rows(), nr.Auto(members=POOL), metrics.LogLoss()).get()
    played = nr.play(nr.Auto(members=POOL), rows())
    assert found < math.log(2.0)
    assert found * 400 == pytest.approx(played.loss, abs=1.0)


def test_auto_with_names_that_grow_in_number():
    model, right = nr.Auto(members=POOL), 0
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    for i in range(300):
        row, label = {f"word{i % (3 + i // 10)}": 1.0, "sign": (-1.0) ** i}, i % 2 == 0
        right += model.predict_one(row) is label
        model.learn_one(row, label)
    assert right > 270
    assert model.rounds_ == 300
    assert set(model.predict_proba_one({"unknown": 3.0, "sign": 1.0})) == {False, True}


def test_auto_meets_new_classes_with_its_task():
    model = nr.Auto(task="multiclass", members="labels,softmax-.15,newton")
    data = list(datasets.ImageSegments().take(400))
    assert model.predict_one(data[0][0]) is None
    seen = set()
    for x, y in data:
        assert set(model.predict_proba_one(x)) == seen
        assert model.predict_one(x) in (seen or {None})
        model.learn_one(x, y)
        seen.add(y)
    assert sum(model.predict_proba_one(data[0][0]).values()) == pytest.approx(1.0)
    scaled = compose.Pipeline(preprocessing.StandardScaler(), nr.Auto(task="multiclass", members="labels,softmax-.15"))
    assert evaluate.progressive_val_score(data, scaled, metrics.Accuracy()).get() > 0.6


def test_auto_for_numbers():
    data = list(datasets.TrumpApproval().take(300))
    found = evaluate.progressive_val_score(data, nr.AutoRegressor(), metrics.MAE()).get()
    assert found < 1.0  # of labels about 40
