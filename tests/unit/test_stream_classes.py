"""Any number of labels as whole numbers, in the order in which they appear."""

import numpy as np
import pytest

from noregret.errors import InputError
from noregret.stream import read
from noregret.stream.labels import Classes


def block(labels):
    (found,) = read((np.zeros((len(labels), 1)), labels)).blocks()
    return found


def test_labels_are_numbered_as_they_come():
    classes = Classes()
    assert classes.untouched
    assert classes.encode(block(["b", "a", "b", "c"])).tolist() == [0, 1, 0, 2]
    assert classes.encode(block(["d", "a"])).tolist() == [3, 1]
    assert classes.classes == ("b", "a", "c", "d")
    assert classes.needed_again is None


def test_a_number_and_its_text_are_one_class_and_two_texts_are_two():
    classes = Classes()
    assert [classes.one(label) for label in ("2", "02", 2, 2.0, "x", True, "1")] == [0, 1, 0, 0, 2, 3, 3]


def test_declared_classes_come_first_and_are_told_to_a_replay():
    classes = Classes(["x", "y"])
    assert classes.one("z") == 2
    assert classes.needed_again == ["x", "y"]
    assert classes.again(classes.needed_again).classes == ("x", "y")
    assert classes.knows("z") and not classes.knows("w")


def test_what_is_stored_comes_back():
    classes = Classes(["x"])
    for label in ("y", 3, "3"):
        classes.one(label)
    again = Classes.from_dict(classes.to_dict())
    assert again.to_dict() == classes.to_dict()
    assert [again.one(label) for label in ("x", "y", 3.0, "3", "new")] == [0, 1, 2, 2, 3]
    with pytest.raises(ValueError, match="do not fit together"):
        Classes.from_dict({"labels": ["a", "a"], "codes": [], "declared": 0})


def test_a_label_that_is_none_is_refused_with_its_place():
    with pytest.raises(InputError, match="a label must be finite") as found:
        Classes().one(float("inf"), "rows.csv", 2)
    assert str(found.value).startswith("rows.csv:2: ")
