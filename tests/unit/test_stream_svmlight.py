"""svmlight text: what is accepted, and one sentence with file and line for everything else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import InputError, SettingError
from noregret.stream import Features, read
from oracle.matrix import matrix


@pytest.fixture
def stream_of(tmp_path):
    def write(text, /, **settings):
        file = tmp_path / "rows.svm"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(file, **settings)

    return write


def rows_of(stream):
    found = []
    for block in stream.blocks():
        for t in range(len(block)):
            low, high = block.rows.indptr[t : t + 2]
            pairs = list(zip(block.rows.indices[low:high].tolist(), block.rows.values[low:high].tolist(), strict=True))
            found.append((block.labels[t], pairs, int(block.lines[t])))
    return found


def test_labels_pairs_comments_qid_blank_lines_tabs_and_line_ends(stream_of):
    text = "# head\n+1 qid:3 1:0.5\t7:2 # tail\r\n\n-1\n1e0 0:-3e-2 2:.5"
    assert rows_of(stream_of(text)) == [
        (1.0, [(1, 0.5), (7, 2.0)], 2),
        (-1.0, [], 4),
        (1.0, [(0, -0.03), (2, 0.5)], 5),
    ]


def test_a_byte_order_mark_is_not_part_of_the_first_label(stream_of):
    assert rows_of(stream_of(b"\xef\xbb\xbf1 1:1\n"))[0][0] == 1.0


def test_unsorted_indices_are_kept_as_written(stream_of):
    assert rows_of(stream_of("1 7:1 2:3\n"))[0][1] == [(7, 1.0), (2, 3.0)]


def test_features_are_counted_by_the_highest_index(stream_of):
    stream = stream_of("1 2147483647:1\n")
    rows_of(stream)
    assert (stream.features.count, stream.features.width) == (2**31 - 1, 2**31)


def test_words_are_labels_too(stream_of):
    assert [label for label, _, _ in rows_of(stream_of("spam 1:1\n2 1:1\nhäm 1:1\n"))] == ["spam", "2", "häm"]


@pytest.mark.parametrize("block_rows", [1, 2, None])
def test_a_word_after_numbers_is_refused_whatever_the_block_size(stream_of, block_rows):
    with pytest.raises(InputError, match=r"rows\.svm:2: the label must be a number as in the rows before, got 'spam'"):
        rows_of(stream_of("1 1:1\nspam 1:1\n", block_rows=block_rows))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1 3;4", "expected INDEX:VALUE, got '3;4'"),
        ("1 3:4:5", "expected INDEX:VALUE, got '3:4:5'"),
        ("1 -3:4", "an index must be a whole number from 0 to 2147483647, got '-3'"),
        ("1 +3:4", r"an index must be a whole number from 0 to 2147483647, got '\+3'"),
        ("1 x:4", "an index must be a whole number from 0 to 2147483647, got 'x'"),
        ("1 ٣:4", "an index must be a whole number from 0 to 2147483647, got '٣'"),
        ("1 2147483648:4", "an index must be a whole number from 0 to 2147483647, got '2147483648'"),
        (f"1 {'9' * 5000}:4", "an index must be a whole number from 0 to 2147483647"),
        ("1 3:abc", "the value of feature 3 must be a number, got 'abc'"),
        ("1 3:1_0", "the value of feature 3 must be a number, got '1_0'"),
        ("1 3:", "the value of feature 3 must be a number, got ''"),
        ("1 3:1 2:1 3:5", "feature 3 appears twice in the row"),
        ("3:1 4:1", "expected a label before the features, got '3:1'"),
        ("1 3:nan", r"feature 3 is missing \(NaN\): use missing='mean', 'zero' or 'skip'"),
        ("1 3:1e999", "feature 3 must be finite, got inf"),
        ("1 3:-inf", "feature 3 must be finite, got -inf"),
        ("nan 3:1", r"the label is missing \(use missing='skip'"),
        ("inf 3:1", "the label must be finite, got inf"),
    ],
)
def test_a_malformed_line_is_one_sentence_with_its_place(stream_of, line, sentence):
    with pytest.raises(InputError, match=rf"rows\.svm:3: {sentence}"):
        rows_of(stream_of(f"1 1:1\n# comment\n{line}\n"))


def test_a_label_that_is_not_utf8_is_refused(stream_of):
    with pytest.raises(InputError, match=r"rows\.svm:2: is not UTF-8 text: byte 0xff has no meaning there"):
        rows_of(stream_of(b"1 1:1\n\xff 1:1\n"))


def test_a_binary_file_is_refused(stream_of):
    with pytest.raises(InputError, match=r"rows\.svm:2: holds a NUL byte: this is a binary file, expected text"):
        rows_of(stream_of(b"1 1:1\n\x7fELF\x00\x00"))


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_a_file_without_rows_is_refused(stream_of, text):
    with pytest.raises(InputError, match=r"rows\.svm: holds no rows$"):
        rows_of(stream_of(text))


@pytest.mark.parametrize("option", ["label", "text", "categorical"])
def test_options_for_named_columns_are_refused(stream_of, option):
    value = "a" if option == "label" else ["a"]
    with pytest.raises(SettingError, match=f"{option} names a column, but an svmlight file has no named columns"):
        stream_of("1 1:1\n", **{option: value})


def test_a_model_with_names_is_refused(stream_of):
    with pytest.raises(InputError, match=r"rows\.svm: the rows must name their features, as the model's do"):
        stream_of("1 1:1\n", features=Features.named(["a"]))


def test_an_index_beyond_a_model_of_columns_is_refused(stream_of):
    with pytest.raises(InputError, match="feature 9 is beyond the model's 3 columns"):
        rows_of(stream_of("1 9:1\n", features=Features("columns", 3)))


def test_predicting_takes_lines_with_and_without_a_label_and_drops_unknown_features(stream_of):
    stream = stream_of("1:5 9:1\n-1 2:3\n? 1:1\n", features=Features("index", 3), frozen=True, labels=False)
    found = rows_of(stream)
    assert [pairs for _, pairs, _ in found] == [[(1, 5.0)], [(2, 3.0)], [(1, 1.0)]]
    assert np.isnan(found[0][0])
    assert (found[1][0], stream.features.width) == (-1.0, 3)
    assert np.isnan(found[2][0])


row = st.tuples(
    st.sampled_from([-1.0, 1.0]),
    st.dictionaries(st.integers(0, 9), st.floats(-1e300, 1e300), max_size=5),
)


@given(rows=st.lists(row, min_size=1, max_size=12), block_rows=st.integers(1, 5))
def test_what_was_written_is_what_is_read_whatever_the_block_size(tmp_path_factory, rows, block_rows):
    file = tmp_path_factory.mktemp("svm") / "rows.svm"
    lines = [" ".join([repr(y), *(f"{i}:{v!r}" for i, v in x.items())]) for y, x in rows]
    file.write_text("\n".join(lines))
    X, labels = matrix(read(file, block_rows=block_rows))
    assert labels == [y for y, _ in rows]
    assert X.shape[1] == max((i + 1 for _, x in rows for i in x), default=0)
    for t, (_, x) in enumerate(rows):
        assert {i: X[t, i] for i in x} == x
        assert np.count_nonzero(X[t]) == sum(v != 0 for v in x.values())
