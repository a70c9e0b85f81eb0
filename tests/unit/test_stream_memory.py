"""Arrays, archives and dicts in memory: what is copied, what is refused, and encoding one dict at a time."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import InputError, SettingError
from noregret.stream import Features, encode, read
from noregret.stream.formats.dicts import one_dict
from oracle.matrix import matrix

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
Y = np.array([1.0, -1.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_float_matrix_is_not_copied(dtype):
    array = X.astype(dtype)
    (block,) = read((array, Y)).blocks()
    assert np.shares_memory(block.rows.X, array)
    assert block.rows.X.dtype == dtype


def test_the_values_and_indices_of_a_sparse_matrix_are_not_copied():
    array = scipy.sparse.csr_matrix(X)
    (block,) = read((array, Y)).blocks()
    assert np.shares_memory(block.rows.values, array.data)
    assert np.shares_memory(block.rows.indices, array.indices)


@pytest.mark.parametrize(
    "array",
    [X.astype(int), X.astype(np.uint8), X.astype(">f8"), np.asfortranarray(X), X.tolist(), X.astype(object)],
)
def test_other_matrices_become_c_ordered_float64(array):
    (block,) = read((array, Y)).blocks()
    assert np.array_equal(block.rows.X, X)
    assert block.rows.X.dtype == np.float64
    assert block.rows.X.flags.c_contiguous


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok"])
def test_any_sparse_layout_is_read(layout):
    assert np.array_equal(matrix(read((scipy.sparse.csr_array(X).asformat(layout), Y)))[0], X)


def test_repeated_entries_of_a_sparse_matrix_are_summed_in_a_copy():
    array = scipy.sparse.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert matrix(read((array, [1])))[0].tolist() == [[0.0, 3.0, 0.0]]
    assert array.nnz == 2


def test_one_dimension_is_one_column():
    assert matrix(read((np.array([1.0, 2.0]), Y)))[0].tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("y", [[1, 0], [True, False], np.array([1, 0], np.int8), np.array([1, 0], object)])
def test_labels_are_numbers(y):
    assert matrix(read((X, y)))[1] == [1.0, 0.0]


@pytest.mark.parametrize("y", [["a", "b"], np.array(["a", "b"], object), np.array([b"a", b"b"])])
def test_labels_are_words(y):
    assert matrix(read((X, y)))[1] == ["a", "b"]


def test_weights_come_with_the_rows():
    (block,) = read((X, Y, [2, 0])).blocks()
    assert block.weights.tolist() == [2.0, 0.0]


BAD_SPARSE = scipy.sparse.csr_matrix(X)
BAD_SPARSE.indices = np.array([0, 7, 1], dtype=np.int32)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ((X, [1]), r"\(X, y\): there are 2 rows but 1 labels"),
        ((X, Y, [1]), r"\(X, y\): there are 2 rows but 1 weights"),
        ((X, Y, [1, -1]), r"\(X, y\):2: the weight must be at least 0 and finite, got -1.0"),
        ((X, Y, [np.nan, 1]), r"\(X, y\):1: the weight must be at least 0 and finite, got nan"),
        ((X, Y, ["a", "b"]), r"\(X, y\): the weights must be numbers, one a row"),
        ((X, Y[:, None]), r"\(X, y\): the labels must be one a row \(one dimension\), got 2 dimensions"),
        (
            (X, Y.astype(complex)),
            r"\(X, y\): the labels must be numbers, booleans or strings, got type complex128",
        ),
        (
            (X, np.array([1, "a"], object)),
            r"\(X, y\):2: the labels must be all strings or all numbers, got 'a'",
        ),
        ((X, [1, np.nan]), r"\(X, y\):2: the label is missing"),
        ((X[None], Y), r"\(X, y\): X must have one or two dimensions, got 3"),
        ((X.astype(complex), Y), r"\(X, y\): X must hold numbers, it holds type complex128"),
        ((np.array([["a"], ["b"]]), Y), r"\(X, y\): X must hold numbers, it holds type <U1"),
        ((np.array([["1"], [2]], object), Y), r"\(X, y\): X must hold numbers \(it holds strings\)"),
        (([[1.0], [2.0, 3.0]], Y), r"\(X, y\): X must be a matrix of numbers"),
        (
            (scipy.sparse.csr_matrix(X.astype(complex)), Y),
            r"\(X, y\): X must hold numbers, it holds type complex",
        ),
        ((BAD_SPARSE, Y), r"\(X, y\): X is not a well-formed sparse matrix"),
        ((X[:0], Y[:0]), r"\(X, y\): holds no rows"),
        ((np.where(X == 3, np.nan, X), Y), r"\(X, y\):2: feature 1 is missing"),
        ((np.where(X == 3, np.inf, X), Y), r"\(X, y\):2: feature 1 must be finite, got inf"),
    ],
)
def test_bad_arrays_are_one_sentence(source, sentence):
    with pytest.raises(InputError, match=f"^{sentence}"):
        matrix(read(source))


def test_another_number_of_columns_than_the_model_s_is_refused():
    with pytest.raises(InputError, match="expected 2 columns as the model has, got 3"):
        read((X, Y), features=Features("columns", 2))


def test_values_so_large_that_their_sum_overflows_are_still_finite():
    array = np.full((4, 1), 1e308)
    assert matrix(read((array, [1, 1, 1, 1])))[0].tolist() == array.tolist()


def test_the_user_s_array_is_never_changed():
    array = np.array([[np.nan, 1.0], [2.0, np.nan]], dtype=np.float32)
    before = array.copy()
    assert matrix(read((array, Y), missing="zero"))[0].tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert np.array_equal(array, before, equal_nan=True)


def test_something_else_is_refused():
    with pytest.raises(SettingError, match=r"read: expected a path, \(X, y\), a table or an iterable .* got int"):
        read(3)


# --- .npz archives


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("block_rows", [1, None])
def test_a_dense_archive(tmp_path, save, order, block_rows):
    save(tmp_path / "d.npz", X=np.asarray(X, order=order), y=np.array(["a", "b"]))
    found, labels = matrix(read(tmp_path / "d.npz", block_rows=block_rows))
    assert (found.tolist(), labels) == (X.tolist(), ["a", "b"])


@pytest.mark.parametrize("block_rows", [1, None])
def test_a_sparse_archive(tmp_path, block_rows):
    array = scipy.sparse.csr_matrix(X)
    parts = {"data": array.data, "indices": array.indices, "indptr": array.indptr, "shape": array.shape}
    np.savez(tmp_path / "s.npz", **parts, y=Y)
    assert np.array_equal(matrix(read(tmp_path / "s.npz", block_rows=block_rows))[0], X)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"Z": X}, "expected X, or data, indices, indptr and shape; the archive holds Z"),
        ({"X": X}, "expected labels under y; the archive holds X"),
        ({"X": X, "y": Y[:1]}, r"there are 2 rows but y has the shape \(1,\)"),
        ({"X": X[None], "y": Y}, "X must have one or two dimensions, got 3"),
        ({"X": X.astype(str), "y": Y}, "X must hold numbers, it holds type <U"),
        ({"X": X, "y": np.array([1, None])}, "y holds Python objects, which are never loaded"),
        ({"X": X[:0], "y": Y[:0]}, "holds no rows"),
        (
            {"data": Y, "indices": [0], "indptr": [0, 1], "shape": [1, 2], "y": [1]},
            "data, indices, indptr and shape do not belong together",
        ),
        (
            {"data": [1.0], "indices": [5], "indptr": [0, 1], "shape": [1, 2], "y": [1]},
            "an index is outside the shape",
        ),
        ({"data": Y, "indices": [0, 1], "indptr": [0, 2, 1], "shape": [2, 2], "y": Y}, "indptr goes down"),
        (
            {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 2**40], "y": [1]},
            "there can be at most 2147483648 columns, got 1099511627776",
        ),
        (
            {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 1], "format": b"csc", "y": [1]},
            "the sparse matrix must be stored as csr, it is stored as csc",
        ),
    ],
)
def test_a_bad_archive_is_one_sentence(tmp_path, arrays, sentence):
    np.savez(tmp_path / "bad.npz", allow_pickle=True, **arrays)
    with pytest.raises(InputError, match=rf"bad\.npz: .*{sentence}"):
        matrix(read(tmp_path / "bad.npz"))


def test_an_archive_of_another_width_than_the_model_is_refused(tmp_path):
    np.savez(tmp_path / "d.npz", X=X, y=Y)
    with pytest.raises(InputError, match="expected 2 columns as the model has, got 3"):
        read(tmp_path / "d.npz", features=Features("columns", 2))


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "d.npz").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(InputError, match=r"d\.npz: is not a well-formed \.npz archive"):
        read(tmp_path / "d.npz")


# --- dicts


def test_names_are_numbered_as_they_come_and_strings_become_names():
    stream = read([({"a": 1, "city": "Rome"}, 1), ({"b": True, "city": "Oslo", "a": 2.5}, 0)])
    found, labels = matrix(stream)
    assert stream.features.names == ["a", "city=Rome", "b", "city=Oslo"]
    assert (found.tolist(), labels) == ([[1, 1, 0, 0], [2.5, 0, 1, 1]], [1.0, 0.0])


def test_whole_number_keys_are_indices():
    stream = read([({3: 1.0}, 1), ({0: 2.0}, 1)])
    assert matrix(stream)[0].tolist() == [[0, 0, 0, 1], [2, 0, 0, 0]]
    assert stream.features.kind == "index"


def test_a_recipe_that_hashes_hashes_strings():
    stream = read([({"a": 1.0, "city": "Rome", "note": "x y x"}, 1)], text=["note"], hash_bits=10)
    found, _ = matrix(stream)
    assert stream.features.names == ["a"]
    assert sorted(found[found > 0].tolist()) == [1.0, 1.0, 1.0, 2.0]


def test_weights_come_beside_the_label():
    (block,) = read([({"a": 1.0}, 1, 2), ({"a": 1.0}, 1)]).blocks()
    assert block.weights.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([({"a": 1.0}, 1), 5], r"the rows:2: expected \(dict, label\), got 5"),
        ([({"a": 1.0},)], r"the rows:1: expected \(dict, label\), got"),
        ([({"a": 1.0}, 1), ({"a": None}, 1)], "the rows:2: feature 'a' is missing"),
        ([({"a": float("inf")}, 1)], "the rows:1: feature 'a' must be finite"),
        ([({"a": [1]}, 1)], r"the rows:1: the value of 'a' must be a number or a string, got \[1\]"),
        ([({"a": 1, 2: 1}, 1)], "the rows:1: the features have names: a key must be a string, got 2"),
        (
            [({2: 1}, 1), ({"a": 1}, 1)],
            "the rows:2: the features are numbered: a key must be a whole number, got 'a'",
        ),
        ([({-2: 1}, 1)], "the rows:1: a key must be a whole number from 0 to 2147483647, got -2"),
        ([({2: "x"}, 1)], "the rows:1: the features are numbered: a value must be a number, got 'x'"),
        (
            [({"a": 1}, 1), ({"a": 1}, "x")],
            "the rows:2: the labels must be all strings or all numbers, got 'x'",
        ),
        ([({"a": 1}, [])], r"the rows:1: the labels must be all strings or all numbers, got \[\]"),
        ([({"a": 1}, None)], "the rows:1: the label is missing"),
        ([({"a": 1}, 1, "x")], "the rows:1: the weight must be a number, got 'x'"),
        ([({"a": 1}, 1, -1)], "the rows:1: the weight must be at least 0"),
        ([], "the rows: holds no rows"),
    ],
)
@pytest.mark.parametrize("block_rows", [1, None])
def test_bad_rows_are_one_sentence(rows, sentence, block_rows):
    with pytest.raises(InputError, match=sentence):
        matrix(read(rows, block_rows=block_rows))


def test_a_label_option_beside_dicts_is_refused():
    with pytest.raises(SettingError, match="label names a column, but the label is given beside each dict"):
        read([({"a": 1}, 1)], label="a")


def test_a_key_beyond_a_model_of_columns_is_refused_when_learning_and_dropped_when_predicting():
    with pytest.raises(InputError, match="feature 5 is beyond the model's 3 columns"):
        encode(Features("columns", 3), {5: 1.0}, grow=True)
    assert encode(Features("columns", 3), {5: 1.0, 1: 2.0}, grow=False)[0].tolist() == [1]


values = st.one_of(st.floats(-10, 10), st.integers(-5, 5), st.booleans(), st.sampled_from(["x", "y", ""]), st.none())
dicts = st.dictionaries(st.sampled_from("abcdef"), values, max_size=6)


def plainly(names, row, grow):
    """A dict's vector from the definition, as {name: value}; the names known are kept in a set."""
    found = {}
    for key, value in row.items():
        name = f"{key}={value}" if isinstance(value, str) else key
        if value == "" or (not grow and name not in names):
            continue
        names.add(name)
        found[name] = 1.0 if isinstance(value, str) else np.nan if value is None else float(value)
    return found


@given(st.lists(st.tuples(dicts, st.booleans()), max_size=12))
def test_one_dict_after_another_is_encoded_as_the_definition_says(calls):
    features, names = Features("names"), set()
    for row, grow in [call for pair in calls for call in (pair, pair)]:
        indices, found = encode(features, row, grow)
        by_name = {
            features.name_of(index): value for index, value in zip(indices.tolist(), found.tolist(), strict=True)
        }
        assert by_name == pytest.approx(plainly(names, row, grow), nan_ok=True)
        assert len(indices) == len(set(indices.tolist()))


whole_dicts = st.dictionaries(st.sampled_from("abcdefgh"), st.one_of(st.floats(-9, 9), st.integers(-5, 5)), max_size=8)


@given(st.lists(st.tuples(whole_dicts, st.booleans()), max_size=12))
def test_one_dict_by_itself_is_encoded_as_the_definition_says(calls):
    features, names = Features("names"), set()
    for row, grow in [call for pair in calls for call in ((pair[0], False), pair)]:
        bounds, indices, found = one_dict(features, row, grow)
        assert bounds.tolist() == [0, len(indices)]
        by_name = {
            features.name_of(index): value for index, value in zip(indices.tolist(), found.tolist(), strict=True)
        }
        assert by_name == plainly(names, row, grow)


def test_a_whole_number_beyond_all_floats_is_refused_whichever_way_it_comes():
    for first in ({"a": 1.0}, {"a": 1.0, "b": 2.0}, {"b": 2.0}):
        features = Features("names")
        one_dict(features, first, grow=True)
        for taken in (encode, one_dict):
            with pytest.raises(InputError, match="the value of 'a' must be a number or a string"):
                taken(features, {"a": 10**400}, True)


def test_a_dict_changed_between_two_calls_is_read_anew():
    features, row = Features("names"), {"a": 1.0, "b": 2.0}
    first = encode(features, row, grow=True)[1]
    row["a"] = 5.0
    assert encode(features, row, grow=True)[1].tolist() == [5.0, 2.0]
    row["a"] = "x"
    assert encode(features, row, grow=False)[0].tolist() == [1]
    assert first.tolist() == [1.0, 2.0]


def test_a_name_learned_after_it_was_dropped_is_found():
    features = Features.named(["a"])
    assert encode(features, {"a": 1.0, "b": 2.0}, grow=False)[0].tolist() == [0]
    assert encode(features, {"a": 1.0, "b": 2.0}, grow=True)[0].tolist() == [0, 1]
    assert encode(features, {"a": 1.0, "b": 2.0}, grow=False)[1].tolist() == [1.0, 2.0]
