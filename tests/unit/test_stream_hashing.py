"""Hashed features: MurmurHash3 against its definition and against scikit-learn, slots, words and sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from noregret._kernel.hashing import murmur3
from noregret.stream import Features, encode, read
from noregret.stream.hashing import slots, summed, tokens, written
from oracle.matrix import matrix
from oracle.murmur import murmur3 as by_definition

START = 3


def hash_all(strings):
    offsets = np.cumsum([0, *map(len, strings)]).astype(np.int64)
    out = np.empty(len(strings), dtype=np.uint32)
    murmur3(np.frombuffer(bytearray(b"".join(strings)), dtype=np.uint8), offsets, out)
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
    assert written(cell) == text


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
