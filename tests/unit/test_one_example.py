"""One example at a time: dicts, arrays, pairs and lists; labels as they came; bad ones refused without a trace."""

import math

import numpy as np
import pandas
import pytest

import noregret as nr
from noregret.errors import SettingError
from oracle.registry import everything

CLASSIFIERS = [nr.Perceptron, nr.OnlineGradientDescent, nr.StronglyConvexGradientDescent]
REGRESSORS = [nr.OnlineGradientDescentRegressor, nr.StronglyConvexGradientDescentRegressor]
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)
every_regressor = pytest.mark.parametrize("kind", REGRESSORS)
every_estimator = pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])


@every_classifier
def test_before_any_label_the_answer_is_none(kind):
    assert kind().predict_one({"a": 1.0}) is None
    assert kind().predict_one(np.ones(3)) is None


def test_before_any_label_there_are_no_probabilities():
    model = nr.OnlineGradientDescent(loss="logistic")
    assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, "spam")
    assert model.predict_proba_one({"a": 1.0}) == {"spam": 1.0}
    model.learn_one({"a": -1.0}, "ham")
    chances = model.predict_proba_one({"a": 1.0})
    assert set(chances) == {"ham", "spam"}
    assert chances["spam"] > 0.5
    assert sum(chances.values()) == pytest.approx(1.0, rel=1e-15)


@every_regressor
def test_a_regressor_starts_at_zero(kind):
    assert kind().predict_one({"a": 1.0}) == 0.0


@every_classifier
@pytest.mark.parametrize(("negative", "positive"), [(False, True), ("ham", "spam"), (0, 1), (-1, 1), (-1.0, 1.0)])
def test_labels_come_back_as_they_came(kind, negative, positive):
    model = kind().learn_one({"a": 1.0}, positive).learn_one({"b": 1.0}, negative)
    for x, label in (({"a": 1.0}, positive), ({"b": 1.0}, negative), ({}, negative)):
        assert model.predict_one(x) == label
        assert type(model.predict_one(x)) is type(label)


@every_classifier
def test_a_label_not_yet_seen_is_spelled_like_its_partner(kind):
    model = kind().learn_one({"a": 1.0}, False)
    assert model.predict_one({"a": 1.0}) is False
    assert model.predict_one({"a": -1.0}) is True


@every_classifier
def test_strings_are_held_until_the_second_one_shows(kind):
    model = kind().learn_one({"a": 1.0}, "spam").learn_one({"a": 2.0}, "spam")
    assert model.predict_one({"a": 1.0}) == "spam"
    model.learn_one({"a": -1.0}, "ham")
    assert model.rounds_ == 3
    whole = kind(passes=1, shuffle=None).fit([[1.0], [2.0], [-1.0]], ["spam", "spam", "ham"])
    assert np.array_equal(model.coef_, whole.coef_)


@pytest.mark.parametrize("x", [{"a": 1.0}, np.array([1.0]), [1.0], (np.array([0]), np.array([1.0]))])
def test_an_example_changed_while_it_is_held_is_learned_as_it_was(x):
    model = nr.Perceptron().learn_one(x, "spam")
    if isinstance(x, dict):
        x["a"] = -9.0
    elif isinstance(x, tuple):
        x[1][0] = -9.0
    else:
        x[0] = -9.0
    model.learn_one({"a": 0.0} if isinstance(x, dict) else ([0], [0.0]) if isinstance(x, tuple) else [0.0], "ham")
    assert model.coef_.tolist() == [[1.0]]


@every_classifier
def test_a_third_label_is_an_error_and_changes_nothing(kind):
    model = kind().learn_one({"a": 1.0}, "spam").learn_one({"a": -1.0}, "ham")
    before = everything(model.core)
    with pytest.raises(nr.InputError, match="a third label, 'eggs', after 'ham' and 'spam'"):
        model.learn_one({"a": 3.0, "z": 1.0}, "eggs")
    assert everything(model.core) == before


def test_a_string_is_a_feature_of_its_own_and_a_boolean_a_number():
    model = nr.Perceptron().learn_one({"city": "Rome", "big": True, "price": 2.0}, 1)
    assert model.core.features.names == ["city=Rome", "big", "price"]
    assert model.coef_.tolist() == [[1.0, 1.0, 2.0]]
    model.learn_one({"city": "Oslo", "big": False, "price": 1.0}, -1)
    assert model.core.features.names == ["city=Rome", "big", "price", "city=Oslo"]
    assert model.coef_.tolist() == [[1.0, 1.0, 1.0, -1.0]]
    assert model.predict_one({"city": "Oslo"}) == -1
    assert model.predict_one({"city": "Rome"}) == 1
    assert model.predict_one({"city": "Paris", "smell": 5.0}) == -1  # nothing known: a score of 0


def test_a_dict_changed_between_the_two_calls_is_seen_as_it_is():
    model = nr.OnlineGradientDescentRegressor(rate="constant:0.5", radius=math.inf)
    x = {"a": 1.0, "b": 0.0}
    model.learn_one(x, 4.0)
    assert model.predict_one(x) == pytest.approx(4.0)
    x["a"] = 0.5
    assert model.predict_one(x) == pytest.approx(2.0)
    x["a"], x["c"] = 0.0, 1.0
    assert model.predict_one(x) == 0.0
    model.learn_one(x, 1.0)
    assert model.predict_one({"c": 1.0}) == pytest.approx(1.0)
    del x["a"], x["b"]
    assert model.predict_one(x) == pytest.approx(1.0)
    assert model.predict_one({"b": 3.0, "c": 1.0, "a": 1.0}) == pytest.approx(5.0)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint16])
def test_the_order_of_a_pair_does_not_matter_nor_how_wide_its_indices_are(kind):
    rng = np.random.default_rng(4)
    rising, mixed = nr.Perceptron(), nr.Perceptron()
    for t in range(40):
        where, what = np.sort(rng.choice(30, 6, replace=False)).astype(kind), rng.integers(-3, 4, 6).astype(float)
        order = rng.permutation(6)
        assert rising.predict_one((where, what)) == mixed.predict_one((where[order], what[order]))
        rising.learn_one((where, what), t % 2)
        mixed.learn_one((where[order], what[order]), t % 2)
    assert (rising.coef_ == mixed.coef_).all()
    assert np.count_nonzero(rising.coef_)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(("where", "match"), [([2, 2], "only once"), ([-1, 3], "between 0"), ([3, -1], "between 0")])
def test_a_pair_with_indices_that_are_none_is_refused_and_changes_nothing(kind, where, match):
    model = nr.Perceptron().learn_one((np.array([0, 5], kind), np.ones(2)), 1)
    before = everything(model.core)
    with pytest.raises(nr.InputError, match=match):
        model.learn_one((np.array(where, kind), np.ones(2)), 1)
    assert everything(model.core) == before


def test_the_order_of_a_dicts_keys_does_not_matter():
    model = nr.Perceptron().learn_one({"a": 1.0, "b": -2.0}, 1).learn_one({"b": 1.0, "a": 5.0}, -1)
    assert model.coef_.tolist() == [[-4.0, -3.0]]


@every_estimator
def test_every_spelling_of_an_example_is_the_same_example(kind):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 5)), rng.choice([-1, 1], 30)
    spellings = {
        "array": lambda x: x,
        "list": lambda x: x.tolist(),
        "strided": lambda x: np.repeat(x, 2)[::2],
        "read-only": lambda x: np.frombuffer(x.tobytes()),
        "dict": lambda x: dict(enumerate(x.tolist())),
        "pair": lambda x: (np.arange(5), x),
        "pair of lists": lambda x: ([*range(5)], x.tolist()),
    }
    models = {}
    for name, spelled in spellings.items():
        models[name] = kind()
        for x, label in zip(X, y, strict=True):
            models[name].predict_one(spelled(x))
            models[name].learn_one(spelled(x), label)
    for name, model in models.items():
        assert model.coef_ == pytest.approx(models["array"].coef_, rel=1e-12), name
        for spelled in spellings.values():
            assert model.predict_one(spelled(X[0])) == pytest.approx(models["array"].predict_one(X[0]), rel=1e-12)
    for name in ("list", "strided", "read-only"):
        assert models[name].core.state.tobytes() == models["array"].core.state.tobytes()


@every_estimator
def test_float32_arrays_are_learned_from_as_they_are(kind):
    X, y = np.random.default_rng(2).normal(size=(20, 3)).astype(np.float32), np.resize([1, -1], 20)
    single, double = kind(), kind()
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
        double.learn_one(x.astype(np.float64), label)
    assert single.coef_ == pytest.approx(double.coef_, rel=1e-12)


BAD = [math.nan, math.inf, -math.inf]


@every_estimator
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("options", [{}, {"bias": True}, {"scale": "max"}, {"unit_norm": True}])
def test_an_example_that_is_not_finite_is_refused_and_changes_nothing(kind, bad, options):
    by_array, by_dict = (
        kind(**options).learn_one(x, 1).learn_one(other, -1)
        for x, other in ((np.ones(2), np.array([0.5, -1.0])), ({"a": 1.0, "b": 1.0}, {"a": 0.5, "b": -1.0}))
    )
    for model, examples in (
        (by_array, [np.array([1.0, bad]), [bad, 0.0], (np.array([1]), np.array([bad]))]),
        (by_dict, [{"a": bad}, {"b": bad, "a": 1.0}]),
    ):
        before = everything(model.core)
        for x in examples:
            with pytest.raises(nr.InputError, match="finite"):
                model.learn_one(x, 1)
            with pytest.raises(nr.InputError, match="finite"):
                model.predict_one(x)
            assert everything(model.core) == before


@every_estimator
def test_a_new_name_with_a_bad_value_is_not_learned(kind):
    model = kind().learn_one({"a": 1.0}, 1).learn_one({"a": -1.0}, -1)
    before = everything(model.core)
    with pytest.raises(nr.InputError, match="finite"):
        model.learn_one({"a": 1.0, "new": math.nan}, 1)
    assert everything(model.core) == before


def test_a_bad_example_at_the_start_of_a_doubling_period_changes_nothing():
    model = nr.OnlineGradientDescent(rate="doubling")
    for y in (1, 1, 1):
        model.learn_one([1.0, 0.5], y)
    before = everything(model.core)
    with pytest.raises(nr.InputError, match="finite"):
        model.learn_one([math.nan, 1.0], 1)
    assert everything(model.core) == before


@every_classifier
def test_an_example_held_for_its_label_must_be_finite_too(kind):
    with pytest.raises(nr.InputError, match="finite"):
        kind().learn_one({"a": math.nan}, "spam")


@every_classifier
@pytest.mark.parametrize("label", [math.nan, None])
def test_a_label_that_is_missing_is_refused(kind, label):
    with pytest.raises(nr.InputError, match="label"):
        kind().learn_one({"a": 1.0}, label)


@every_regressor
@pytest.mark.parametrize("label", BAD)
def test_a_number_to_learn_must_be_finite(kind, label):
    model = kind().learn_one({"a": 1.0}, 2.0)
    before = everything(model.core)
    with pytest.raises(nr.InputError, match="the label must be finite"):
        model.learn_one({"a": 1.0}, label)
    assert everything(model.core) == before


@every_estimator
@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_must_be_at_least_zero(kind, weight):
    model = kind().learn_one({"a": 1.0}, 1)
    before = everything(model.core)
    with pytest.raises(nr.InputError, match="a weight must be at least 0 and finite"):
        model.learn_one({"a": 1.0}, 1, weight)
    assert everything(model.core) == before


@every_estimator
def test_a_weight_of_zero_is_no_round(kind):
    model = kind().learn_one({"a": 1.0}, 1).learn_one({"a": -1.0}, -1)
    state = model.core.state.tobytes()
    model.learn_one({"a": 5.0}, 1, 0.0)
    assert model.core.state.tobytes() == state


MALFORMED = [
    (np.ones((2, 2)), "one example must be a dict, a row of numbers or a pair"),
    (3.0, "one example must be a dict, a row of numbers or a pair"),
    ("text", "one example must be a dict, a row of numbers or a pair"),
    (["a", "b"], "one example must be a dict, a row of numbers or a pair"),
    (([0, 1], [1.0]), r"an \(indices, values\) pair must be two rows of one length"),
    (([0, 0], [1.0, 2.0]), "may name each index only once"),
    (([-1], [1.0]), "must lie between 0 and"),
    (([2**31], [1.0]), "must lie between 0 and"),
    ((["a"], ["b"]), r"an \(indices, values\) pair must be two rows of numbers"),
]


@pytest.mark.parametrize(("x", "sentence"), MALFORMED, ids=[str(number) for number in range(len(MALFORMED))])
@every_estimator
def test_what_is_no_example_is_said(kind, x, sentence):
    with pytest.raises(nr.InputError, match=sentence):
        kind().learn_one(x, 1)


@every_estimator
def test_arrays_of_another_length_are_refused(kind):
    model = kind().learn_one(np.ones(3), 1).learn_one(-np.ones(3), -1)
    for x in (np.ones(2), np.ones(4), [1.0]):
        with pytest.raises(nr.InputError, match=f"expected 3 features, got {len(x)}"):
            model.learn_one(x, 1)
        with pytest.raises(nr.InputError, match=f"expected 3 features, got {len(x)}"):
            model.predict_one(x)


@every_estimator
def test_pairs_may_grow_and_unknown_features_count_nothing(kind):
    model = kind().learn_one(([0, 3], [1.0, 2.0]), 1).learn_one(([900], [1.0]), -1)
    assert model.coef_.size == 901
    assert model.predict_one(([0, 5000], [1.0, 9e9])) == model.predict_one(([0], [1.0]))
    assert model.coef_.size == 901


@every_regressor
def test_predicting_before_learning_settles_nothing(kind):
    model = kind()
    model.core  # noqa: B018, made on first use
    assert model.predict_one({"a": 1.0}) == 0.0
    assert everything(model.learn_one(np.ones(2), 1.0).core) == everything(kind().learn_one(np.ones(2), 1.0).core)


def test_learn_one_returns_the_learner():
    model = nr.Perceptron()
    assert model.learn_one({"a": 1.0}, 1) is model


@pytest.mark.parametrize(
    ("first", "then", "classes"),
    [
        ([True, True], [False], [False, True]),
        ([1, 1], [0], [0, 1]),
        ([1, 1], [-1], [-1, 1]),
        (["true"], ["false"], ["false", "true"]),
        (["1"], ["-1"], ["-1", "1"]),
        (np.array([1, 1], np.uint8), np.array([0], np.uint8), [0, 1]),
    ],
)
def test_one_label_alone_leaves_the_other_open(first, then, classes):
    learned = nr.Perceptron().partial_fit(np.ones((len(first), 1)), first).partial_fit(-np.ones((1, 1)), then)
    assert learned.classes_.tolist() == classes
    assert learned.predict([[-1.0], [1.0]]).tolist() == classes


def test_a_model_saved_after_one_label_goes_on_as_if_never_stopped(tmp_path):
    kept = nr.Perceptron().learn_one(np.ones(1), 1)
    kept.save(tmp_path / "m.nr")
    for learned in (kept, nr.load(tmp_path / "m.nr")):
        learned.learn_one(-np.ones(1), 0)
        assert learned.predict_one(-np.ones(1)) == 0


def test_examples_that_wait_for_a_label_are_not_passed_by():
    learned = nr.Perceptron().learn_one(np.ones(1), "b")
    with pytest.raises(SettingError, match="the learner has seen only one of the two labels"):
        nr.play(learned, ([[1.0]], ["a"]))


def test_a_row_of_a_frame_is_read_by_its_names():
    frame = pandas.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    learned = nr.Perceptron()
    nr.play(learned, nr.read((frame, [1, -1])))
    backwards = frame[["b", "a"]]
    assert learned.predict(backwards).tolist() == [1, -1]
    assert [learned.predict_one(row) for _, row in backwards.iterrows()] == [1, -1]
    assert learned.partial_fit(backwards, [1, -1]).coef_.tolist() == learned.coef_.tolist()
