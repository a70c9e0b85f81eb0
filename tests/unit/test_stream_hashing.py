"""Hashed features: MurmurHash3 against its definition and against scikit-learn, slots, words and sums."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from noregret._native import hash_strings
from noregret.stream import Features, encode, read
from noregret.stream.cells import Strings, as_text
from noregret.stream.formats.arrow import strings
from noregret.stream.hashing import Column, HashedValues, slots, summed, tokens
from oracle.matrix import matrix
from oracle.murmur import murmur3 as by_definition

START = 3


def hash_all(strings):
    offsets = np.cumsum([0, *map(len, strings)]).astype(np.int64)
    out = np.empty(len(strings), dtype=np.uint32)
    hash_strings(np.frombuffer(b"".join(strings), dtype=np.uint8), offsets, out)
    return out.tolist()


def hashing_features(bits):
    features = Features.named(["a", "b", "c"])
    features.set_up_hashing(bits)
    return features


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_a_block_hashes_like_the_definition_and_like_scikit_learn(strings):
    found = hash_all(strings)
    assert found == [by_definition(one) for one in strings]
    assert found == [murmurhash3_32(one, 0, positive=True) for one in strings]


@given(st.lists(st.text(max_size=12), min_size=1, max_size=8), st.integers(1, 30))
def test_a_slot_is_the_hash_of_the_utf8_bytes_modulo_two_to_the_bits_behind_the_names(values, bits):
    found = [f"city={value}" for value in values if not any(0xD800 <= ord(c) < 0xE000 for c in value)]
    expected = [by_definition(token.encode()) % 2**bits + START for token in found]
    assert slots(found, hashing_features(bits), learn=True).tolist() == expected


def test_a_text_cell_is_its_lower_cased_words():
    assert tokens("text", "Call NOW, call", is_text=True) == ["text=call", "text=now", "text=call"]


@pytest.mark.parametrize("cell", ["", None, "  ", float("nan")])
def test_an_empty_cell_is_no_feature(cell):
    assert tokens("city", cell, is_text=False) == []


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (np.float64(2.5), "2.5"),
        (True, "true"),
        (np.bool_(False), "false"),
        ("1.0", "1.0"),
    ],
)
def test_a_number_is_hashed_as_the_text_that_writes_it(cell, text):
    assert as_text(cell) == text


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(-9, 9)), max_size=40))
def test_coinciding_indices_of_a_row_are_summed_and_ascend(triples):
    expected = np.zeros((5, 7))
    for row, index, value in triples:
        expected[row, index] += value
    columns = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    rows = summed(columns[0], columns[1], columns[2].astype(float), 5)
    found = np.zeros((5, 7))
    for row in range(5):
        low, high = rows.indptr[row : row + 2]
        assert np.all(np.diff(rows.indices[low:high].astype(int)) > 0)
        found[row, rows.indices[low:high]] = rows.values[low:high]
    assert np.array_equal(found, expected)


def test_words_that_share_a_slot_add_their_counts(tmp_path):
    file = tmp_path / "words.csv"
    file.write_text("label,text\n1,one two three four five one\n")
    X, _ = matrix(read(file, text=["text"], hash_bits=1))
    assert X.shape == (1, 2)
    assert X.sum() == 6


def test_a_dict_with_the_table_s_recipe_gives_the_table_s_vector(tmp_path):
    file = tmp_path / "mail.csv"
    file.write_text("label,price,city,text\n1,2.5,Rome,buy now buy\n")
    stream = read(file, text=["text"], hash_bits=6)
    X, _ = matrix(stream)
    row = {"price": 2.5, "city": "Rome", "text": "buy now buy", "new": 3.0}
    indices, values = encode(stream.features, row, grow=False)
    found = np.zeros(stream.features.width)
    found[indices] = values
    assert np.array_equal(found, X[0])


def test_a_number_under_a_categorical_name_is_hashed(tmp_path):
    file = tmp_path / "zip.csv"
    file.write_text("label,zip\n1,123\n")
    stream = read(file, categorical=["zip"])
    X, _ = matrix(stream)
    assert encode(stream.features, {"zip": 123}, grow=False)[0].tolist() == np.flatnonzero(X[0]).tolist()


def test_the_recipe_remembers_which_value_went_to_a_slot_but_only_while_learning():
    rows = [({"city": "Rome"}, 1), ({"city": "Oslo"}, -1)]
    stream = read(rows, categorical=["city"], hash_bits=10)
    list(stream.blocks())
    assert {stream.features.name_of(i) for i in range(1024)} >= {"city=Rome", "city=Oslo"}
    before = dict(stream.features.values)
    encode(stream.features, {"city": "Paris"}, grow=False)
    assert stream.features.values == before


TEXTS = st.text(
    st.sampled_from("aAzZ_09 .,-|:=\t\n\x1c\x85\xa0\u1680\u2003\u2028\u205f\u3000éÉßİ漢字🙂\u0301"), max_size=12
)


@given(
    st.lists(st.none() | TEXTS | st.text(max_size=9), max_size=12), st.text(max_size=5), st.booleans(), st.booleans()
)
def test_a_column_hashed_on_its_bytes_is_each_cell_s_tokens_hashed(cells, name, is_text, coded):
    cells = [cell if cell is None or cell.isascii() else cell.encode("utf-8", "ignore").decode() for cell in cells]
    expected = [(row, token) for row, cell in enumerate(cells) for token in tokens(name, cell, is_text)]
    column = Strings.of(cells)
    if coded:
        distinct = sorted({cell for cell in cells if cell is not None})
        codes = np.array([-1 if cell is None else distinct.index(cell) for cell in cells], dtype=np.int64)
        column = replace(Strings.of(distinct), codes=codes)
    features = hashing_features(20)
    found = HashedValues([Column(name, is_text, column)], features)
    pairs = sorted(zip(found.rows.tolist(), found.slots.tolist(), strict=True), key=lambda pair: pair[0])
    assert pairs == [(row, by_definition(token.encode("utf-8", "surrogatepass")) % 2**20) for row, token in expected]


def test_bytes_are_read_where_they_start_and_stop_and_nowhere_else():
    data = np.frombuffer(b"xxRomexxOslo", dtype=np.uint8)
    cells = Strings(data, np.array([2, 8, 5]), np.array([6, 12, 5]))
    found = HashedValues([Column("city", False, cells)], hashing_features(20))
    assert found.rows.tolist() == [0, 1]
    assert found.slots.tolist() == [by_definition(f"city={city}".encode()) % 2**20 for city in ("Rome", "Oslo")]


@pytest.mark.parametrize("block_rows", [1, 2, 3, 100])
def test_the_first_value_of_a_slot_in_the_order_of_the_rows_is_remembered(block_rows):
    rows = 40
    table = pyarrow.table(
        {
            "label": np.tile([1, -1], rows // 2),
            "text": [f"Word{row} other{row % 7} é{row}" for row in range(rows)],
            "city": pyarrow.array([f"city {row % 9}" for row in range(rows)]).dictionary_encode(),
        }
    )
    stream = read(table, text=["text"], hash_bits=4, block_rows=block_rows)
    list(stream.blocks())
    expected = {}
    for row in table.to_pylist():
        for token in tokens("text", row["text"], True) + tokens("city", row["city"], False):
            expected.setdefault(by_definition(token.encode()) % 16, token)
    assert stream.features.values == expected
    again = Features.from_dict(stream.features.to_dict())
    assert np.array_equal(again.noted, stream.features.noted)
    assert np.flatnonzero(np.unpackbits(again.noted, bitorder="little")).tolist() == sorted(expected)


KINDS = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
]


@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        pyarrow.string(),
        pyarrow.large_string(),
        pyarrow.string_view(),
        pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    ],
)
def test_every_arrow_type_of_text_is_hashed_as_its_python_strings(kind, is_text):
    cells = ["Rome now", None, "", " ", "Öl am Tag", "x" * 30, "\u2003", "Rome now"]
    whole = pyarrow.array(["before", *cells, "behind"]).cast(kind)
    for column in (
        whole.slice(1, len(cells)),
        pyarrow.array(cells).cast(kind),
        whole[:0],
        pyarrow.array(["", None]).cast(kind),
    ):
        found = HashedValues([Column("a", is_text, strings(column, "a", "t"))], hashing_features(18))
        expected = [
            (row, by_definition(token.encode()) % 2**18)
            for row, cell in enumerate(column.to_pylist())
            for token in tokens("a", cell, is_text)
        ]
        assert sorted(zip(found.rows.tolist(), found.slots.tolist(), strict=True)) == sorted(expected)


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array([1, None, 3, 1]),
        pyarrow.array([1.0, 2.5, float("nan"), -0.0, None, 1e300]),
        pyarrow.array([True, False, None]),
        pyarrow.array([Decimal("1.50"), None]),
        pyarrow.nulls(2),
        pyarrow.array([3.0, 4.5, None]).dictionary_encode(),
        pyarrow.array(["a", "b", "c"]).dictionary_encode()[:1],
    ],
    ids=lambda column: str(column.type),
)
def test_other_columns_are_hashed_as_they_are_written(column):
    found = HashedValues([Column("a", False, strings(column, "a", "t"))], hashing_features(18))
    expected = [
        by_definition(token.encode()) % 2**18 for cell in column.to_pylist() for token in tokens("a", cell, False)
    ]
    assert found.slots.tolist() == expected


def test_long_rows_are_sorted_and_summed_too():
    rng = np.random.default_rng(3)
    rows, indices = np.sort(rng.integers(0, 3, 5000)), rng.integers(0, 4000, 5000)
    found = summed(rows, indices, np.ones(5000), 3)
    for row in range(3):
        expected, counts = np.unique(indices[rows == row], return_counts=True)
        low, high = found.indptr[row : row + 2]
        assert found.indices[low:high].tolist() == expected.tolist()
        assert found.values[low:high].tolist() == counts.tolist()
