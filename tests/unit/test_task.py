"""The task is told by the first thousand labels, once; the next pass begins with the rows that were looked at."""

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SettingError
from noregret.learner import LEARNERS
from noregret.learner.default import MATRIX, default, loss_for, task_of
from noregret.stream.task import CLASSES, LOOKED_AT, Task, recognise


def seen(labels, **settings):
    return recognise(nr.read((np.ones((len(labels), 1)), labels), **settings))


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        ([1, -1, 1], Task.BINARY),
        ([1.0, 2.0], Task.BINARY),
        ([7.0, 7.0], Task.BINARY),
        (["ham", "spam"], Task.BINARY),
        ([True, False], Task.BINARY),
        (["a", "b", "c"], Task.MULTICLASS),
        ([0, 1, 2], Task.MULTICLASS),
        (list(range(CLASSES)), Task.MULTICLASS),
        (list(range(CLASSES + 1)), Task.REGRESSION),
        ([0.5, 1.0], Task.REGRESSION),
        ([f"word {i}" for i in range(50)], Task.MULTICLASS),
    ],
)
def test_words_and_few_whole_numbers_are_classes(labels, task):
    assert seen(labels).task is task


@pytest.mark.parametrize("block_rows", [1, 7, 1000, None])
def test_only_the_first_thousand_labels_count_whatever_the_blocks(block_rows):
    labels = [0.0, 1.0] * (LOOKED_AT // 2) + [0.5]
    found = seen(labels, block_rows=block_rows)
    assert (found.task, found.labels, found.rows) == (Task.BINARY, (0.0, 1.0), LOOKED_AT)


def test_looking_takes_no_row_away_from_a_stream_that_can_be_read_once():
    rows = iter([({"a": float(i)}, i % 2) for i in range(3000)])
    stream = nr.read(rows)
    assert recognise(stream).task is Task.BINARY
    assert sum(len(block) for block in stream.blocks()) == 3000


def test_looking_twice_and_passing_twice_give_the_same_rows():
    stream = nr.read((np.arange(10.0)[:, None], [0, 1] * 5), block_rows=3)
    assert recognise(stream).rows == recognise(stream).rows == 10
    for _ in range(2):
        assert np.concatenate([block.rows.X for block in stream.blocks()])[:, 0].tolist() == list(range(10))


def test_the_sizes_of_the_features_are_their_largest_values():
    dense = recognise(nr.read((np.array([[1.0, -4.0], [-3.0, 2.0]]), [0, 1])))
    sparse = recognise(nr.read([({0: 1.0, 1: -4.0}, 0), ({0: -3.0}, 1)]))
    for found in (dense, sparse):
        places, sizes = found.sizes
        assert (places.tolist(), sizes.tolist()) == ([0, 1], [3.0, 4.0])


def test_a_feature_far_away_takes_no_memory():
    places, sizes = recognise(nr.read([({2**31 - 1: 5.0, 7: 0.0}, 1)])).sizes
    assert (places.tolist(), sizes.tolist()) == ([2**31 - 1], [5.0])


@pytest.mark.parametrize("task", list(Task))
def test_the_default_learner_is_one_for_its_task(task):
    name, settings = default(task, None)
    assert task_of(LEARNERS[name](**settings)) is task


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("features", [5, MATRIX + 1])
def test_the_default_for_numbers_reaches_labels_of_any_size(scale, features):
    rng = np.random.default_rng(0)
    X = np.zeros((4000, features))
    X[:, :5] = rng.normal(size=(4000, 5))
    y = scale * (X[:, :5] @ [3.0, -2.0, 1.0, 0.5, 4.0] + 20.0)
    name, settings = default(Task.REGRESSION, None)
    run = nr.play(LEARNERS[name](**settings), (X, y))
    assert run.window_error < 0.6 * np.abs(y - y.mean()).mean()


def test_a_named_learner_takes_a_loss_for_numbers_when_the_task_asks():
    assert loss_for("ogd", Task.REGRESSION, None) == "squared"
    assert loss_for("coin", Task.REGRESSION, None) == "absolute"
    assert loss_for("ogd", Task.REGRESSION, "huber:2") == "huber:2"
    assert loss_for("ogd", Task.BINARY, None) is None
    assert loss_for("perceptron", Task.REGRESSION, None) is None


def test_a_task_of_another_name_is_refused():
    with pytest.raises(SettingError, match=r"task must be one of binary, multiclass, regression, got 'regresion'; did"):
        Task.parse("regresion")


def test_numbers_of_any_size_are_regression():
    assert seen([1.1e16 * i for i in range(30)]).task is Task.REGRESSION


def test_a_word_label_that_is_not_a_number_is_missing(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1,yes\n2,NaN\n3,no\n")
    with pytest.raises(nr.InputError, match=r"t\.csv:3: the label is missing"):
        recognise(nr.read(tmp_path / "t.csv"))
    assert seen_in(tmp_path / "t.csv", missing="skip").labels == ("no", "yes")


def seen_in(path, **settings):
    return recognise(nr.read(path, **settings))
