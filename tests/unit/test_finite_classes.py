"""Hypothesis classes: from arrays, predicates, classifiers, files, and the families by name."""

import math

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from noregret.errors import InputError, SettingError
from noregret.finite import FAMILIES, HypothesisClass, family, load_class, read_class

# name: hypotheses, points. The theory's table and the stated conventions.
SIZES = {
    "singletons:64": (64, 64),
    "singletons:1": (1, 1),
    "thresholds:15": (16, 15),
    "two-sided-thresholds:9": (18, 9),
    "two-sided-thresholds:1": (2, 1),
    "intervals:4": (11, 4),
    "intervals:12": (79, 12),
    "intervals:64": (2081, 64),
    "unions:1,9": (46, 9),
    "unions:2,10": (386, 10),
    "unions:2,14": (1471, 14),
    "unions:0,5": (1, 5),
    "subsets:2,6": (15, 6),
    "subsets:5,12": (792, 12),
    "subsets:4,3": (0, 3),
    "at-most:3,8": (93, 8),
    "at-most:9,3": (8, 3),
    "cube:5": (32, 5),
    "parities:5": (32, 32),
    "monotone-conjunctions:5": (32, 32),
    "conjunctions:2": (10, 4),
    "conjunctions:3": (28, 8),
    "conjunctions:5": (244, 32),
    "halfspaces:1": (2, 1),
    "halfspaces:2": (14, 4),
    "halfspaces:3": (58, 9),
    "halfspaces:4": (174, 16),
    "halfspaces:5": (402, 25),
    "halfspaces:6": (838, 36),
    "variables:4": (4, 16),
}


@pytest.mark.parametrize(("name", "size"), SIZES.items(), ids=list(SIZES))
def test_a_family_has_the_stated_size_and_no_row_twice(name, size):
    made = family(name)
    assert (len(made), len(made.points)) == size
    assert len(set(map(tuple, made.matrix.tolist()))) == len(made)


def test_every_family_is_measured_here():
    assert {name.partition(":")[0] for name in SIZES} == set(FAMILIES)


def test_families_mean_what_they_say():
    assert family("thresholds:2").matrix.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert family("intervals:2").matrix.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    parity, both = family("parities:2"), family("monotone-conjunctions:2")
    assert parity.points == ("00", "01", "10", "11")
    assert sorted(parity.matrix.tolist()) == [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    assert sorted(both.matrix.tolist()) == [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]]
    assert family("variables:2").matrix.tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
    missing = set(map(tuple, family("cube:4").matrix.tolist())) - set(
        map(tuple, family("halfspaces:2").matrix.tolist())
    )
    assert missing == {(0, 1, 1, 0), (1, 0, 0, 1)}  # the two parities of the square


def test_halfspaces_are_those_that_a_linear_program_separates():
    from scipy.optimize import linprog

    grid = family("halfspaces:3")
    rng, known = np.random.default_rng(3), set(map(tuple, grid.matrix.tolist()))
    points = np.column_stack([np.array(grid.points, dtype=float), np.ones(9)])
    for labels in [*known, *map(tuple, rng.integers(0, 2, (60, 9)).tolist())]:
        signs = 2.0 * np.array(labels) - 1.0
        solved = linprog(np.zeros(3), A_ub=-signs[:, None] * points, b_ub=-np.ones(9), bounds=(None, None))
        assert (solved.status == 0) is (labels in known)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("circles:3", r"unknown family 'circles'; the families are singletons:n, .*halfspaces:k"),
        ("unions:3", r"unions: expected unions:k,n with whole numbers, got unions:3"),
        ("cube:x", r"cube: expected cube:n with whole numbers, got cube:x"),
        ("cube:-1", r"expected cube:n with whole numbers"),
        ("cube", r"the family cube needs its size: cube:n with whole numbers, such as cube:8"),
        ("unions:", r"needs its size: unions:k,n with whole numbers, such as unions:2,8"),
        ("thresholds:0", r"thresholds: n must be at least 1, got 0"),
        ("cube:40", r"cube:40: 1,099,511,627,776 hypotheses on 40 points are too many;"),
        ("parities:99999999999", r"more than 10\^15 hypotheses on more than 10\^15 points are too many"),
        ("halfspaces:60", r"too many; rows times columns may be 268,435,456 at most"),
    ],
)
def test_what_is_no_family_gets_a_sentence(name, sentence):
    with pytest.raises(SettingError, match=sentence):
        family(name)


def test_rows_that_repeat_count_once_and_keep_the_first_name():
    made = HypothesisClass([[0, 1], [1, 1], [0, 1]], names=["a", "b", "c"], points=["x", "y"])
    assert (len(made), made.repeated, made.names, made.points) == (2, 1, ("a", "b"), ("x", "y"))
    assert made.name(1) == "b" and HypothesisClass([[0]]).name(0) == "h0"
    assert made.log2_size == 1.0 and HypothesisClass(np.zeros((0, 2))).log2_size == -math.inf
    assert len(HypothesisClass(np.zeros((3, 0)))) == 1
    assert made.columns == (0b10, 0b11) and made.everything == 0b11
    assert made.agreeing(0b11, "x", 1) == 0b10 and made.agreeing(0b11, "x", 0) == 0b01


def test_bitsets_hold_more_than_a_word_of_hypotheses():
    made = family("thresholds:200")
    assert made.columns[130] == sum(1 << i for i in range(201) if made.matrix[i, 130])
    assert made.words.shape == (200, 4)


@pytest.mark.parametrize(
    ("build", "kind", "sentence"),
    [
        (lambda: HypothesisClass([[0, 2]]), InputError, "row 1, column 2: expected 0 or 1, got 2"),
        (lambda: HypothesisClass([[0.0, math.nan]]), InputError, "row 1, column 2: expected 0 or 1, got nan"),
        (lambda: HypothesisClass([["0", "1"]]), InputError, "needs numbers 0 and 1 or booleans, got an array of <U1"),
        (lambda: HypothesisClass(np.array([[0, None]], dtype=object)), InputError, "expected 0 or 1, got None"),
        (lambda: HypothesisClass([0, 1]), InputError, "needs a matrix, rows hypotheses and columns points, got 1 axes"),
        (lambda: HypothesisClass([[0]], names=["a", "b"]), SettingError, "1 rows need as many names, got 2"),
        (lambda: HypothesisClass([[0]], points=["a", "b"]), SettingError, "1 columns need as many points, got 2"),
        (lambda: HypothesisClass([[0, 1]], points=["a", "a"]), SettingError, "the points must differ"),
        (lambda: HypothesisClass([[0]]).place("z"), InputError, "'z' is not a point of the class"),
    ],
)
def test_a_wrong_matrix_gets_a_sentence(build, kind, sentence):
    with pytest.raises(kind, match=sentence):
        build()


def test_predicates_become_rows():
    made = HypothesisClass.from_predicates({"even": lambda x: x % 2 == 0, "big": lambda x: x > 2}, [1, 2, 3])
    assert made.names == ("even", "big") and made.points == (1, 2, 3)
    assert made.matrix.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert len(HypothesisClass.from_predicates([lambda x: True, lambda x: x == x], "ab")) == 1


def test_classifiers_become_rows():
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    fitted = [
        LogisticRegression(C=1e6).fit(X, y),
        DummyClassifier(strategy="constant", constant="no").fit(X, y),
        DummyClassifier(strategy="constant", constant="yes").fit(X, y),
    ]
    assert HypothesisClass.from_classifiers(fitted, X).matrix.tolist() == [[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    turned = HypothesisClass.from_classifiers(fitted, X, positive="no")
    assert turned.matrix.tolist()[0] == [1, 1, 0, 0]
    third = DummyClassifier(strategy="constant", constant="maybe").fit(X, ["maybe", "no", "no", "no"])
    with pytest.raises(SettingError, match="must know two labels, got 3"):
        HypothesisClass.from_classifiers([*fitted, third], X)


# -- files ---------------------------------------------------------------------------------------------------------

CSV = {
    "plain": ("0,1\n1,1\n0,1\n", None, (0, 1)),
    "head": ("a,b\n0,1\n1,1\n", None, ("a", "b")),
    "named": ("hypothesis,a,b\nfirst,0,1\nsecond,true,TRUE\n", ("first", "second"), ("a", "b")),
    "corner": (",a,b\nfirst,0,1\nsecond,1,1\n", ("first", "second"), ("a", "b")),
    "numbered": ("name,7,8\nfirst,0,1\nsecond,1,1\n", ("first", "second"), ("7", "8")),
    "as pandas writes": (",1,2\n0,0,1\n1,1,1\n", ("0", "1"), ("1", "2")),
    "words": ("false;true\ntrue;true\n", None, (0, 1)),
    "tabs": ("a\tb\r\n0\t1\r\n\r\n1\t1\r\n", None, ("a", "b")),
    "mark": ("\ufeffa,b\n0, 1\n1 ,1", None, ("a", "b")),
}


@pytest.mark.parametrize("which", CSV)
def test_a_csv_file_is_a_class(which, tmp_path):
    text, names, points = CSV[which]
    (tmp_path / "class.csv").write_text(text, encoding="utf-8", newline="")
    made = read_class(tmp_path / "class.csv")
    assert (made.matrix.tolist(), made.names, made.points) == ([[0, 1], [1, 1]], names, points)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,1\n0,2\n", r"class.csv:2: column 2: expected 0, 1, false or true, got '2'"),
        ("a,b\n0,1\n\n0,x\n", r"class.csv:4: column 2 \(b\): expected 0, 1, false or true, got 'x'"),
        ("name,b\nfirst,\n", r"class.csv:2: column 2 \(b\): expected 0, 1, false or true, got ''"),
        ("0,x,1\n0,1,1\n", r"class.csv:1: column 2: expected 0, 1, false or true, got 'x' \(a header .* no number"),
        ("x,1\n0,1\n", r"class.csv:1: column 1: expected 0, 1, false or true, got 'x'"),
        ("true,ture\n0,1\n", r"class.csv:1: column 2: expected 0, 1, false or true, got 'ture'"),
        ("2,3\n0,1\n", r"class.csv:1: column 1: expected 0, 1, false or true, got '2'"),
        (",x,1\n0,1,1\n", r"class.csv:1: column 1: expected 0, 1, false or true, got ''"),
        (",0,1\n0,1,1\n", r"class.csv:1: column 1: expected 0, 1, false or true, got ''"),
        ("0,1\n0\n", r"class.csv:2: expected 2 entries, got 1"),
        ("a,b\n0,1,1\n", r"class.csv:2: expected 2 entries, got 3"),
        ("", r"class.csv: is empty: expected a row of 0 and 1"),
        ("a,a\n0,1\n", r"class.csv: the points must differ"),
    ],
)
def test_a_wrong_csv_file_gets_a_sentence_with_its_line(text, sentence, tmp_path):
    (tmp_path / "class.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_class(tmp_path / "class.csv")


def test_a_file_that_is_no_text_gets_a_sentence(tmp_path):
    (tmp_path / "class.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"class.csv: is not text"):
        read_class(tmp_path / "class.csv")


def test_npy_files(tmp_path):
    np.save(tmp_path / "good.npy", np.array([[0.0, 1.0], [1.0, 1.0]]))
    np.save(tmp_path / "flags.npy", np.array([[False, True], [True, True]]))
    np.save(tmp_path / "bad.npy", np.array([[0, 1], [3, 1]]))
    (tmp_path / "none.npy").write_text("no")
    assert read_class(tmp_path / "good.npy").matrix.tolist() == [[0, 1], [1, 1]]
    assert read_class(tmp_path / "flags.npy").matrix.tolist() == [[0, 1], [1, 1]]
    with pytest.raises(InputError, match=r"bad.npy: row 2, column 1: expected 0 or 1, got 3"):
        read_class(tmp_path / "bad.npy")
    with pytest.raises(InputError, match=r"none.npy: is not an .npy file with a matrix"):
        read_class(tmp_path / "none.npy")


def test_parquet_files(tmp_path):
    def written(file, **columns):
        parquet.write_table(pa.table(columns), tmp_path / file)
        return tmp_path / file

    made = read_class(written("good.parquet", name=["f", "g"], a=[0, 1], b=[True, True], c=["false", "1"]))
    assert (made.matrix.tolist(), made.names, made.points) == ([[0, 1, 0], [1, 1, 1]], ("f", "g"), ("a", "b", "c"))
    with pytest.raises(InputError, match=r"bad.parquet: row 2, column 'b': expected 0, 1, false or true, got None"):
        read_class(written("bad.parquet", a=[0, 1], b=[1, None]))
    with pytest.raises(InputError, match=r"bad.parquet: row 1, column 'a': expected .* got 0.5"):
        read_class(written("bad.parquet", a=[0.5, 1.0]))
    (tmp_path / "none.parquet").write_text("no")
    with pytest.raises(InputError, match=r"none.parquet: is not a Parquet file"):
        read_class(tmp_path / "none.parquet")


def test_a_source_is_a_file_or_a_family(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cube:2").write_text("0,1,0\n")
    assert len(load_class("cube:3")) == 8
    assert len(load_class("cube:2")) == 1  # a file of that name comes first
    with pytest.raises(SettingError, match=r"gone.csv: there is no such file or family; the families are singletons"):
        load_class("gone.csv")
    with pytest.raises(SettingError, match=r"unknown family 'gone'"):
        load_class("gone:3")
    with pytest.raises(InputError, match="is a folder, a file was expected"):
        load_class(tmp_path)
    with pytest.raises(InputError, match=r"other.csv: cannot be read: No such file"):
        read_class("other.csv")
