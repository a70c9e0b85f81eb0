"""Two labels as −1 and +1 in one pass."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import InputError
from noregret.stream import Labels, read
from noregret.stream.block import Sides
from noregret.stream.labels import HELD


def blocks_of(labels, size=100):
    return list(read((np.ones((len(labels), 1)), labels), block_rows=size).blocks())


def codes_of(labels, codec=None, size=100):
    """Every code, the held blocks included, as a caller of the codec gets them."""
    codec = codec or Labels()
    held, found = [], []
    for block in blocks_of(labels, size):
        held.append(block)
        if codec.encode(block) is not None:
            found += [codec.encode(one).tolist() for one in held]
            held = []
    codec.decide()
    found += [codec.encode(one).tolist() for one in held]
    return [code for block in found for code in block]


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize(
    ("labels", "codes", "classes"),
    [
        ([1, -1, 1], [1, -1, 1], (-1.0, 1.0)),
        ([-1, -1], [-1, -1], (-1.0, 1.0)),
        ([0, 1, 0], [-1, 1, -1], (0.0, 1.0)),
        ([1, 0], [1, -1], (0.0, 1.0)),
        ([1, 1], [1, 1], (-1.0, 1.0)),
        ([0], [-1], (0.0, 1.0)),
        ([True, False], [1, -1], (0.0, 1.0)),
        (["true", "false"], [1, -1], ("false", "true")),
        (["False", "False"], [-1, -1], ("False", "True")),
        (["+1", "-1", "1"], [1, -1, 1], ("-1", "+1")),
        (["0", "1"], [-1, 1], ("0", "1")),
        (["spam", "ham", "spam"], [1, -1, 1], ("ham", "spam")),
        (["ham", "ham", "spam"], [-1, -1, 1], ("ham", "spam")),
        ([2, 1], [1, -1], (1.0, 2.0)),
        ([9, 10], [-1, 1], (9.0, 10.0)),
        (["9", "10"], [-1, 1], ("9", "10")),
        (["only", "only"], [1, 1], (None, "only")),
    ],
)
def test_a_pair_has_one_code_whatever_the_block_size(labels, codes, classes, size):
    codec = Labels()
    assert codes_of(labels, codec, size) == codes
    assert codec.classes == classes


@pytest.mark.parametrize(
    ("positive", "labels", "codes", "classes"),
    [
        ("ham", ["spam", "ham"], [-1, 1], ("spam", "ham")),
        ("1", [2.0, 1.0], [-1, 1], (2.0, 1.0)),
        (0, [1, 0, 1], [-1, 1, -1], (1.0, 0.0)),
        ("ham", ["spam"], [-1], ("spam", "ham")),
        ("ham", ["ham"], [1], (None, "ham")),
    ],
)
def test_the_positive_label_that_was_asked_for_is_plus_one(positive, labels, codes, classes):
    codec = Labels(positive)
    assert codes_of(labels, codec, 1) == codes
    assert codec.classes == classes


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize(
    ("labels", "line", "sentence"),
    [
        ([1, -1, 0], 3, r"a third label, 0, after -1 and 1: for more than two classes use MulticlassPerceptron"),
        ([1, 0, -1], 3, r"a third label, -1, after 0 and 1: for more than two classes use MulticlassPerceptron"),
        (
            [0, 1, 2],
            3,
            r"a third label, 2, after 0 and 1: .* use MulticlassPerceptron; for numbers use AutoRegressor",
        ),
        (
            ["a", "b", "a", "c"],
            4,
            r"a third label, 'c', after 'a' and 'b': for more than two classes use MulticlassPerceptron",
        ),
        (
            [1, 2],
            2,
            "the labels are 1 and 2: say which is positive with positive= or classes=, or, .* MulticlassPerceptron",
        ),
        (
            [-1, 0],
            2,
            "the labels are -1 and 0: say which is positive with positive= or classes=, or, .* MulticlassPerceptron",
        ),
        (
            ["true", "no"],
            2,
            "the labels are 'true' and 'no': say which is positive with positive= or classes=, or, .* Multi.*",
        ),
    ],
)
def test_a_third_label_is_refused_with_its_place(labels, line, sentence, size):
    with pytest.raises(InputError, match=rf"^\(X, y\):{line}: {sentence}$"):
        codes_of(labels, size=size)


def test_a_block_of_many_labels_is_not_asked_which_is_positive():
    with pytest.raises(InputError, match=r"^\(X, y\):3: a third label, 3, after 1 and 2: .*MulticlassPerceptron"):
        codes_of([1, 2, 3, 4], size=100)


def test_a_third_label_beside_the_positive_one_is_refused():
    with pytest.raises(InputError, match="a third label, 'c', after 'b' and 'a'"):
        codes_of(["a", "b", "c"], Labels("a"))


@pytest.mark.parametrize("size", [1000, 2**17])
def test_rows_are_held_for_the_second_label_but_not_for_ever(size):
    assert codes_of(["a"] * HELD + ["b"], size=size)[-2:] == [-1, 1]
    with pytest.raises(InputError, match=rf":{HELD + 1}: {HELD} rows have the one label 'a': say which is positive"):
        codes_of(["a"] * (HELD + 1) + ["b"], size=size)


@pytest.mark.parametrize("labels", [["a", "b"], ["a"], [1.0], [0.0, 1.0], []])
def test_the_map_survives_json(labels):
    codec = Labels()
    for label in labels:
        codec.one(label)
    again = Labels.from_dict(json.loads(json.dumps(codec.to_dict())))
    assert again.to_dict() == codec.to_dict()
    assert again.classes == codec.classes


def test_a_label_of_the_only_class_may_be_joined_by_another_later():
    codec = Labels()
    assert codes_of(["b", "b"], codec) == [1, 1]
    assert codes_of(["z"], codec) == [-1]


@pytest.mark.parametrize("learner", [nr.Perceptron(), nr.MulticlassPerceptron()])
def test_numbers_that_cannot_be_told_apart_are_no_labels(learner):
    y = np.array([2**53, 2**53 + 1])
    with pytest.raises(InputError, match=r"a label that is a number must be below 2\*\*53 .* got 9007199254740992"):
        nr.play(learner, nr.read((np.eye(2), y)))
    with pytest.raises(InputError, match="if it names a class, put a letter in front of it"):
        learner.fit(np.eye(2), y)
    nr.play(learner, nr.read((np.eye(2), y.astype(str))))


NUMBERS = st.sampled_from([-1.0, 1.0, 0.0, -0.0, 2.0, 7.5])


@given(
    labels=st.lists(st.one_of(NUMBERS, st.sampled_from([np.nan, np.inf])), min_size=1, max_size=8),
    met=st.lists(NUMBERS, max_size=4),
    positive=st.none() | NUMBERS,
)
def test_two_labels_told_beforehand_change_nothing(labels, met, positive):
    """Whoever reads a block in another thread may tell its labels: the codes, or the refusal, are the same."""

    def outcome(told):
        codec = Labels(positive)
        try:
            for block in (*blocks_of(met), *blocks_of(np.where(np.isfinite(labels), labels, 1.0))) if met else ():
                codec.encode(block)
            block = replace(blocks_of([1.0] * len(labels))[0], labels=np.array(labels), sides=None)
            sides = Sides.of_labels(block.labels) if told else None
            assert sides is None or set(labels) == {sides.low, sides.high}
            codes = codec.encode(replace(block, sides=sides))
            return None if codes is None else codes.tobytes(), codec.to_dict()
        except InputError as error:
            return str(error)

    assert str(outcome(True)) == str(outcome(False))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1.0, -1.0, 1.0], (-1.0, 1.0, [1.0, -1.0, 1.0])),
        ([5.0, 9.0], (5.0, 9.0, [-1.0, 1.0])),
        ([3.0, 3.0], None),
        ([1.0, 2.0, 3.0], None),
        ([1.0, np.nan], None),
        ([1.0, np.inf], None),
        (np.array(["a", "b"], dtype=object), None),
    ],
    ids=str,
)
def test_the_sides_of_two_numbers(labels, expected):
    found = Sides.of_labels(np.asarray(labels))
    assert (None if found is None else (found.low, found.high, found.of.tolist())) == expected
