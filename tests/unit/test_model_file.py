"""Model files: what is refused with which sentence, and that nothing is ever half written."""

import math
import os
import pickle
import struct

import numpy as np
import pandas
import pytest

import noregret as nr
from noregret import model
from noregret.errors import ModelFileError
from noregret.learner import OnlineGradientDescent, Perceptron, StronglyConvexGradientDescent
from oracle.registry import LAYOUTS, data, everything


@pytest.fixture
def learner():
    X, y = data("hinge", rounds=30, columns=4, seed=1)
    found = OnlineGradientDescent(loss="hinge", bias=True, scale="max")
    found.play(LAYOUTS["dense"](X), y)
    return found


@pytest.fixture
def path(tmp_path, learner):
    model.save(learner, tmp_path / "m.nr")
    return tmp_path / "m.nr"


def test_another_version_is_named(path):
    raw = bytearray(path.read_bytes())
    raw[8:12] = struct.pack("<I", 999)
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=r"m\.nr: is a model file of version 999, this noregret reads version 2$"):
        nr.load(path)


def test_any_damaged_byte_is_noticed(path):
    raw = path.read_bytes()
    places = np.random.default_rng(2).integers(0, len(raw), 120).tolist()
    for place in [*range(0, 40), *places, len(raw) - 1]:
        damaged = bytearray(raw)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(
            ModelFileError, match=r"damaged|is not a noregret model|is a model file of version"
        ) as caught:
            nr.load(path)
        assert "\n" not in str(caught.value)


def test_any_truncation_is_noticed(path):
    raw = path.read_bytes()
    for length in [*range(0, 60), *np.random.default_rng(3).integers(60, len(raw), 60).tolist(), len(raw) - 1]:
        path.write_bytes(raw[:length])
        with pytest.raises(ModelFileError, match=r"cut short|is not a noregret model"):
            nr.load(path)


def test_more_bytes_than_there_should_be_are_noticed(path):
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(ModelFileError, match="checksum does not match"):
        nr.load(path)


def test_something_else_is_no_model(tmp_path):
    (tmp_path / "rows.svm").write_text("+1 1:2\n")
    with pytest.raises(ModelFileError, match=r"rows\.svm: is not a noregret model file$"):
        nr.load(tmp_path / "rows.svm")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"none\.nr: cannot be read: No such file or directory$"):
        nr.load(tmp_path / "none.nr")


def test_a_folder_is_not_a_model(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
        nr.load(tmp_path)


def test_an_older_file_stays_when_saving_fails(path, learner, monkeypatch):
    older = path.read_bytes()
    learner.play(LAYOUTS["dense"](np.ones((1, 4))), np.ones(1))

    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(nr.InputError, match=r"m\.nr: cannot be written: No space left on device$"):
        model.save(learner, path)
    assert path.read_bytes() == older
    assert os.listdir(path.parent) == ["m.nr"]


def test_a_folder_that_is_not_there_is_named(tmp_path, learner):
    with pytest.raises(nr.InputError, match="cannot be written: No such file or directory"):
        model.save(learner, tmp_path / "none" / "m.nr")


def test_a_folder_is_not_written_over(tmp_path, learner):
    (tmp_path / "m.nr").mkdir()
    with pytest.raises(nr.InputError, match="is a folder, a file was expected"):
        model.save(learner, tmp_path / "m.nr")


def test_what_was_saved_is_what_is_loaded(path, learner):
    loaded, shell = model.load(path)
    assert shell is None
    assert everything(loaded) == everything(learner)
    assert loaded.settings == learner.settings
    assert loaded.config.tobytes() == learner.config.tobytes()
    assert loaded.z.flags.writeable and loaded.preparation.peak.flags.writeable


def test_a_file_saved_twice_is_the_same_file(path, learner):
    first = path.read_bytes()
    loaded, _ = model.load(path)
    model.save(loaded, path)
    assert path.read_bytes() == first


def test_nothing_in_the_file_is_pickled(path):
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(path.read_bytes())


def value(z, y):
    return abs(z - y)


def slope(z, y):
    return 1.0 if z > y else -1.0


def other(z, y):
    return 0.5 * abs(z - y)


def other_slope(z, y):
    return 0.5 if z > y else -0.5


def test_a_loss_of_ones_own_must_be_given_again(tmp_path):
    mine = nr.custom_loss(value, slope, name="mine", regression=True)
    learned = nr.OnlineGradientDescentRegressor(loss=mine).fit(np.eye(3), [1.0, 2.0, 3.0])
    learned.save(tmp_path / "m.nr")
    with pytest.raises(ModelFileError, match="was learned with the loss 'mine' of its own: in Python, give it"):
        nr.load(tmp_path / "m.nr")
    with pytest.raises(ModelFileError, match="was learned with another 'mine' than the loss given"):
        nr.load(tmp_path / "m.nr", nr.custom_loss(other, other_slope, regression=True))
    with pytest.raises(nr.SettingError, match="load: loss must be the loss 'mine' that the model was learned with"):
        nr.load(tmp_path / "m.nr", "squared")
    again = nr.load(tmp_path / "m.nr", nr.custom_loss(value, slope, name="mine", regression=True))
    assert everything(again.core) == everything(learned.core)
    assert everything(again.partial_fit(np.eye(3), [1.0, 2.0, 3.0]).core) == everything(
        learned.partial_fit(np.eye(3), [1.0, 2.0, 3.0]).core
    )


@pytest.mark.parametrize(
    ("labels", "others"),
    [([False, True], [True]), (["ham", "spam"], ["spam"]), ([0, 1], [1]), ([-1, 1], [-1]), ([3, 7], [7])],
)
def test_an_estimator_comes_back_with_its_labels_and_settings(labels, others, tmp_path):
    X, _ = data("hinge", rounds=20, columns=3, seed=4)
    y = np.resize(labels, 20)
    weight = {labels[0]: 2.0, labels[1]: 0.5}
    learned = nr.OnlineGradientDescent(loss="logistic", radius=3.0, class_weight=weight, passes=2, shuffle=1).fit(X, y)
    learned.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    assert type(loaded) is nr.OnlineGradientDescent
    assert loaded.get_params() == learned.get_params()
    assert loaded.classes_.dtype == learned.classes_.dtype
    assert loaded.classes_.tolist() == learned.classes_.tolist()
    assert np.array_equal(loaded.predict(X), learned.predict(X))
    assert np.array_equal(loaded.predict_proba(X), learned.predict_proba(X))
    assert loaded.predict_one(X[0]) == learned.predict_one(X[0])
    for estimator in (learned, loaded):
        estimator.learn_one(X[0], others[0])
        estimator.partial_fit(X, y)
    assert everything(loaded.core) == everything(learned.core)


def test_labels_met_one_at_a_time_come_back_as_they_were(tmp_path):
    learned = nr.Perceptron().learn_one({"a": 1.0}, True).learn_one({"b": 1.0}, False)
    learned.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    assert loaded.predict_one({"a": 1.0}) is True
    assert loaded.predict_one({"b": 1.0}) is False
    assert loaded.predict_one({"zzz": 1.0}) is False


def test_names_come_back(tmp_path):
    frame = pandas.DataFrame({"price": [1.0, 2.0, -1.0], "size": [0.0, 1.0, 1.0]})
    nr.Perceptron().fit(frame, [1, -1, 1]).save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    assert loaded.feature_names_in_.tolist() == ["price", "size"]
    assert loaded.n_features_in_ == 2
    loaded.predict(frame)
    assert loaded.predict_one({"price": 1.0}) in (1, -1)


def test_a_learner_that_learned_nothing_can_be_kept_too(tmp_path):
    for empty in (Perceptron(), OnlineGradientDescent(), StronglyConvexGradientDescent(radius=math.inf)):
        model.save(empty, tmp_path / "m.nr")
        assert everything(model.load(tmp_path / "m.nr")[0]) == everything(empty)


def test_one_label_that_tells_nothing_cannot_be_saved(tmp_path):
    learned = nr.Perceptron().learn_one({"a": 1.0}, "spam")
    with pytest.raises(
        nr.SettingError, match="save: both labels must have been seen, or classes given, got one label only"
    ):
        learned.save(tmp_path / "m.nr")
    assert not os.listdir(tmp_path)
