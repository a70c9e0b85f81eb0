"""What is refused changes nothing: neither the learner, nor its labels, nor its features."""

import decimal

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import noregret as nr
from noregret.stream.block import Sparse
from oracle.registry import everything

VALUES = np.array([1.0, 100.0, 2.0, 100.0, 3.0, 100.0, 4.0, 100.0, 5.0, 100.0])


@pytest.mark.parametrize("make", [nr.Perceptron, nr.OnlineGradientDescent, nr.AdaGrad, nr.AveragedPerceptron])
@pytest.mark.parametrize("step", [2, -1])
def test_a_pair_of_entries_that_are_no_neighbours_is_the_pair_of_their_copies(make, step):
    values, indices = VALUES[::step], np.arange(30)[::step][: len(VALUES[::step])]
    one, other = make(), make()
    for label in (1, 0, 1):
        one.learn_one((indices, values), label)
        other.learn_one((indices.copy(), values.copy()), label)
        assert one.predict_one((indices, values)) == other.predict_one((indices.copy(), values.copy()))
    assert one.core.state.tobytes() == other.core.state.tobytes()
    assert (one.coef_ == other.coef_).all()


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_a_sparse_matrix_of_strided_arrays_is_the_matrix_of_their_copies(part):
    rng = np.random.default_rng(0)
    whole = csr_matrix(rng.integers(-3, 4, (40, 12)) * (rng.random((40, 12)) < 0.4).astype(float))
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    strided = csr_matrix(whole)
    spaced = np.repeat(getattr(whole, part), 2)
    spaced[1::2] += 1
    setattr(strided, part, spaced[::2])
    one, other = nr.Perceptron().fit(strided, y), nr.Perceptron().fit(whole, y)
    assert one.core.state.tobytes() == other.core.state.tobytes()
    assert (one.decision_function(strided) == other.decision_function(whole)).all()
    assert nr.play(nr.Perceptron(), (strided, y)).mistakes == nr.play(nr.Perceptron(), (whole, y)).mistakes


@pytest.mark.parametrize("indices", [[1.7], np.array([1.5]), [True], ["1"], [2**70], np.array([np.nan])])
def test_an_index_that_is_no_whole_number_is_refused(indices):
    model = nr.Perceptron().learn_one(([0, 3], [1.0, 1.0]), 1)
    before = everything(model.core)
    for call in (model.predict_one, lambda x: model.learn_one(x, 1)):
        with pytest.raises(nr.InputError, match="must be whole numbers"):
            call((indices, [1.0]))
    assert everything(model.core) == before


def test_a_round_that_cannot_be_played_does_not_begin_a_period():
    model = nr.OnlineGradientDescent(rate="doubling", radius=10.0)
    for k in range(7):
        model.learn_one(np.array([1.0, 0.5 * k]), 1 if k % 2 else -1)
    before = everything(model.core)
    with pytest.raises(nr.DivergedError, match="round 8"):
        model.learn_one(np.array([1.3e154, 0.0]), 1)
    assert everything(model.core) == before
    assert np.count_nonzero(model.coef_)


@pytest.mark.parametrize("radius", [0.3, 3.0])
def test_a_far_feature_without_a_loss_is_seen_wherever_the_stream_is_cut(radius):
    rng = np.random.default_rng(1)
    X = np.zeros((3000, 120))
    X[:, :20] = rng.standard_normal((3000, 20))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    X[1500] = 0.0
    X[1500, 0], X[1500, 110], y[1500] = 200.0, 1e-9, 1.0  # far on the right side: the hinge asks for no step
    rows = csr_matrix(X)
    whole = nr.OnlineGradientDescent(loss="hinge", radius=radius, passes=1, shuffle=None).fit(rows, y)
    parts = nr.OnlineGradientDescent(loss="hinge", radius=radius)
    parts.partial_fit(rows[:1500], y[:1500]).partial_fit(rows[1500:], y[1500:])
    assert whole.core.state["large"][0] == 1
    assert whole.core.state.tobytes() == parts.core.state.tobytes()
    assert (whole.coef_ == parts.coef_).all()


def test_a_refused_row_with_a_far_feature_changes_nothing():
    model = nr.OnlineGradientDescent(loss="squared-hinge", radius=2.0).learn_one(([0, 3], [1.0, 1.0]), 1)
    model.learn_one(([0, 99], [1.0, 0.0]), 1)
    small = nr.OnlineGradientDescent(loss="squared-hinge", radius=2.0).learn_one(([0, 3], [1.0, 1.0]), 1)
    with pytest.raises(nr.DivergedError):
        small.learn_one(([0, 99], [1e154, 1e154]), 0)
    assert model.core.state["large"][0] == 1
    assert small.core.state["large"][0] == 0


STRANGE = [decimal.Decimal("NaN"), decimal.Decimal("Infinity"), 10**400, [1, 2], b"x", 1j, None, float("nan")]


@pytest.mark.parametrize("value", STRANGE, ids=repr)
def test_no_name_of_a_refused_dict_is_taken_in(value):
    model = nr.Perceptron().learn_one({"a": 1.0}, 1)
    with pytest.raises(nr.InputError, match="the value of 'b' must be"):
        model.learn_one({"new": 1.0, "b": value}, 0)
    assert model.core.features.names == ["a"]


@pytest.mark.parametrize(
    "refused",
    [
        lambda model: model.learn_one({"a": None}, "spam"),
        lambda model: model.learn_one({"a": 1.0}, "spam", w=-1),
        lambda model: model.partial_fit([[1.0]], ["spam"]),
        lambda model: model.partial_fit([[1.0], [2.0]], ["spam", "ham"], sample_weight=[-1.0, 1.0]),
    ],
)
def test_no_label_of_a_refused_example_is_taken_in(refused):
    model = nr.Perceptron()
    with pytest.raises(ValueError, match=r"must be|does not tell|Negative"):
        refused(model)
    model.learn_one([1.0], "p").learn_one([-1.0], "q")
    assert model.predict_one([1.0]) == "p"


def test_entries_that_are_no_neighbours_are_never_played_as_if_they_were():
    core = nr.Perceptron().core
    rows = Sparse(np.array([0, 5]), np.arange(5, dtype=np.uint32), VALUES[::2])
    with pytest.raises(TypeError, match="play_linear"):
        core.play(rows, np.array([1.0]))
    assert core.rounds == 0 and not core.weights.any()


@pytest.mark.parametrize("first", [np.array([1.0, np.nan]), ([5], [np.inf])])
@pytest.mark.parametrize("make", [nr.Perceptron, nr.KernelPerceptron, nr.OnlineGradientDescentRegressor])
def test_an_example_that_is_not_finite_fixes_no_number_of_features(make, first):
    model = make()
    with pytest.raises(ValueError, match="must hold finite numbers only"):
        model.learn_one(first, 1)
    model.learn_one(np.array([1.0, 2.0, 3.0]), 1)
    assert model.features.width == model.core.width == 3


REGRESSORS = [nr.OnlineGradientDescentRegressor, nr.VovkAzouryWarmuth, nr.AdaGradRegressor]
CLASSIFIERS = [nr.Perceptron, nr.AdaGrad, nr.SecondOrderPerceptron, nr.MulticlassPerceptron]
FIRST = {"array": np.array([1e200, 1.0]), "pair": ([9], [1e200]), "dict": {"z": 1e200}}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
@pytest.mark.parametrize("make", REGRESSORS)
def test_a_dict_that_is_refused_fixes_no_kind_of_features(make, value):
    model = make()
    with pytest.raises(ValueError, match="must be finite"):
        model.learn_one({"a": value}, 1.5)
    model.learn_one(np.array([1.0, 2.0, 3.0]), 1.5)
    assert model.features.width == model.core.width == 3


@pytest.mark.parametrize("kind", FIRST)
@pytest.mark.parametrize("make", [nr.OnlineGradientDescentRegressor, nr.AdaGradRegressor, *CLASSIFIERS])
def test_a_first_round_that_would_overflow_fixes_no_features(make, kind):
    model = make()
    with pytest.raises(ArithmeticError, match="would overflow"):
        model.learn_one(FIRST[kind], 1)
    model.learn_one(np.array([1.0, 2.0, 3.0]), 1)
    assert model.features.width == model.core.width == 3


@pytest.mark.parametrize("kind", ["pair", "dict"])
@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_later_round_that_would_overflow_widens_nothing(make, kind):
    one, other = make(), make()
    before = {"pair": [([0], [1.0]), ([3], [2.0])], "dict": [{"a": 1.0}, {"b": 2.0}]}[kind]
    for model in (one, other):
        for label, x in enumerate(before):
            model.learn_one(x, label)
    with pytest.raises(ArithmeticError, match="would overflow"):
        one.learn_one(FIRST[kind], 0)
    assert one.coef_.shape == other.coef_.shape
    for model in (one, other):
        model.learn_one(before[0], 1)
    assert (one.coef_ == other.coef_).all()
    assert one.core.state.tobytes() == other.core.state.tobytes()
    assert one.features.to_dict() == other.features.to_dict()


@pytest.mark.parametrize("make", CLASSIFIERS)
@pytest.mark.parametrize("wrong", [np.array([1.0]), np.array([1.0, 2.0, 3.0])])
def test_a_row_of_weight_0_must_have_the_columns_too(make, wrong):
    model = make()
    for label in (0, 1):
        model.learn_one(np.array([1.0, 2.0]), label)
    with pytest.raises(ValueError, match="expected 2 features"):
        model.learn_one(wrong, 1, 0.0)


def test_certify_asks_for_a_run():
    with pytest.raises(ValueError, match="certify: the first argument must be a run, which play gives, got Perceptron"):
        nr.certify(nr.Perceptron(), (np.eye(2), [0, 1]))


def test_a_pair_that_is_not_finite_does_not_widen_the_model():
    model = nr.OnlineGradientDescentRegressor()
    model.learn_one(([2], [1.0]), 1.0)
    with pytest.raises(ValueError, match="must hold finite numbers only"):
        model.learn_one(([200], [np.nan]), 1.0)
    assert model.features.width == model.core.width == 3


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (nr.Perceptron(rate=None), "perceptron: rate must be positive and finite, got None"),
        (nr.Perceptron(tie=[1]), "tie must be one of mistake, "),
        (nr.BatchPerceptron(step=None), "batch perceptron: step must be positive and finite, got None"),
        (nr.BatchPerceptron(start="a"), "BatchPerceptron: start must be 3 finite numbers, got 'a'"),
        (nr.Perceptron(shuffle="a"), "shuffle: the seed must be a whole number of at least 0, got 'a'"),
        (nr.Perceptron(shuffle=-1), "shuffle: the seed must be a whole number of at least 0, got -1"),
        (nr.OnlineGradientDescent(radius=[1.0]), "radius must be positive, got"),
        (nr.OnlineGradientDescent(l2="much"), "ogd: l2 must be at least 0 and finite, got 'much'"),
        (nr.StronglyConvexGradientDescent(radius="a"), "radius must be positive, got 'a'"),
        (nr.StronglyConvexGradientDescent(sigma=10**400), "ogd-strong: sigma must be positive and finite, got 1000"),
        (nr.AdaGrad(radius="a"), "radius must be positive, got 'a'"),
        (nr.FollowTheRegularisedLeader(beta=None), "ftrl: beta must be at least 0 and finite, got None"),
    ],
)
def test_a_setting_of_a_wrong_type_is_refused_in_a_sentence(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(np.eye(3), [0, 1, 1])


def test_a_block_that_would_overflow_names_the_row(tmp_path):
    path = tmp_path / "large.svm"
    path.write_text("+1 1:1\n# a comment\n-1 1:-1\n+1 1:1e300\n")
    sentence = r"large\.svm:4: perceptron: the weights or the loss would overflow in round 3"
    with pytest.raises(nr.DivergedError, match=sentence):
        nr.play(nr.Perceptron(), nr.read(path))


def test_rows_that_are_no_rounds_are_not_counted_where_one_would_overflow():
    stream = nr.read((np.array([[1.0], [1.0], [1e300]]), np.array([1.0, -1.0, 1.0]), np.array([1.0, 0.0, 1.0])))
    with pytest.raises(nr.DivergedError, match=r":3: perceptron: .* in round 2:"):
        nr.play(nr.Perceptron(), stream)
