"""Text parsed by compiled code, in pieces and by several threads, is what the simple reader makes of each line.

The same rows, labels, lines and weights; the same names remembered; the same sentence for the first line that is wrong.
"""

import math
from contextlib import ExitStack
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.errors import InputError
from noregret.stream import pieces, read
from noregret.stream.formats import svmlight, vw
from noregret.stream.task import LabelTokens
from oracle.murmur import murmur3

EXAMPLES = settings(max_examples=200)
BITS = 6


def plain(label):
    """A label for comparing: None where it is missing."""
    return None if label == "" or (isinstance(label, float) and math.isnan(label)) else label


def played(path, piece=2**16, **choices):
    """(rows, the error or None, the stream) of one pass; a value is told by its bits."""
    rows, wrong = [], None
    with ExitStack() as stack:
        stack.enter_context(mock.patch.multiple(pieces, FIRST=piece, LARGEST=4 * piece))
        stream = read(path, hash_bits=BITS, **choices)
        stream.missing = None
        try:
            for block in stream.blocks():
                for t in range(len(block)):
                    low, high = block.rows.indptr[t : t + 2].tolist()
                    values = [value.hex() for value in block.rows.values[low:high].tolist()]
                    pairs = list(zip(block.rows.indices[low:high].tolist(), values, strict=True))
                    weight = (1.0 if block.weights is None else float(block.weights[t])).hex()
                    rows.append((plain(block.labels[t]), weight, pairs, int(block.lines[t])))
        except InputError as error:
            wrong = (error.sentence, error.line)
    return rows, wrong, stream


def line_by_line(text, parse, entries, source, labelled):
    """The same from the simple reader: entries(row) → (label, weight, pairs)."""
    found, wrong = [], None
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for line, content in enumerate(lines[:-1] if lines[-1] == b"" else lines, 1):
        try:
            row = parse(content, line, source)
        except InputError as error:
            wrong = (error.sentence, error.line)
            break
        if row is not None:
            found.append((*entries(row), line))
    try:
        labels = LabelTokens(source, labelled).array([row[0] for row in found], [row[3] for row in found])
    except InputError as error:
        return None, (error.sentence, error.line)
    rows = [(plain(label), *row[1:]) for label, row in zip(labels.tolist(), found, strict=True)]
    return rows, wrong if wrong or rows else ("holds no rows", None)


def check(file, text, parse, entries, labelled, piece, threads, block_rows):
    file.write_bytes(text)
    expected, error = line_by_line(text, parse, entries, str(file), labelled)
    rows, wrong, stream = played(file, piece, threads=threads, block_rows=block_rows, labels=labelled)
    assert wrong == error
    if expected is not None:
        assert rows == expected
    return stream, wrong


CUTS = {
    "piece": st.sampled_from([1, 2, 7, 30, 2**16]),
    "threads": st.sampled_from([1, 2, 4]),
    "block_rows": st.sampled_from([None, 1, 2, 3]),
    "labelled": st.booleans(),
}
BLANKS = st.sampled_from([" ", " ", " ", "\t", "  "])
GOOD = (
    st.floats(allow_nan=False).map(repr)
    | st.integers(-99, 99).map(str)
    | st.sampled_from(["1.", ".5", "+3", "-0", "1E+5"])
)
NASTY = st.sampled_from(
    [
        "nan",
        "inf",
        "-Infinity",
        "1e400",
        "1e-400",
        "1_0",
        "",
        "0x1",
        "1e",
        "--1",
        ".",
        "٣",
        "12345678901234567890123",
        "1:2",
    ]
)
NUMBERS = st.one_of(GOOD, GOOD, GOOD, GOOD, GOOD, NASTY)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n \t\n"])
TAILS = st.sampled_from(["", "", "", "\n", "1", "\x00"])


def joined(draw, fields):
    return "".join(field + draw(BLANKS) for field in fields).rstrip(" \t" if draw(st.booleans()) else "")


@st.composite
def svmlight_texts(draw):
    indices = st.one_of(*[st.integers(0, 99).map(str)] * 6, st.integers(2**31 - 2, 2**31 + 1).map(str), NASTY)
    pairs = st.tuples(indices, NUMBERS).map(":".join)
    fields = st.one_of(*[pairs] * 9, st.sampled_from(["qid:7", "3;4", "x", "#", "# 1:2 x", "007:1", "7"]))
    labels = st.sampled_from(["1", "-1", "+1", "0.5", "1", "-1"] * 2 + ["spam", "nan", "1:2", "häm", "1e400"])
    text = ""
    for _ in range(draw(st.integers(0, 6))):
        found = draw(st.lists(pairs, unique_by=lambda pair: pair.partition(":")[0]) | st.lists(fields, max_size=5))
        text += joined(draw, [draw(labels), *found]) + draw(ENDS)
    return (draw(st.sampled_from(["", "", "\ufeff", "# head\n"])) + text + draw(TAILS)).encode()


@st.composite
def vowpal_texts(draw):
    names = st.sampled_from(["a", "b", "c", "word", "longer_name", "ü", "1", "a^b", "'q", "漢字", "x" * 9])
    scaled = st.tuples(names, NUMBERS).map(":".join)
    features = st.one_of(names, names, scaled, scaled, st.sampled_from(["a"] * 8 + [":3", "a:", "a:1:2", "a:x"]))
    spaces = st.one_of(st.just(""), names, names, scaled, st.sampled_from(["a"] * 8 + [":2", "f:x"]))
    labels = st.sampled_from(["1", "-1", "0.5"] * 4 + ["spam", "", "1:2", "nan", "1|"])
    weights = st.sampled_from(["", "", "2", "0.25", "0"] * 3 + ["x", "-1", "nan", "1 2"])
    tags = st.sampled_from(["", "", "'tag", "'tag ", "tag"])
    text = ""
    for _ in range(draw(st.integers(0, 6))):
        text += joined(draw, [one for one in (draw(labels), draw(weights)) if one]) + " " + draw(tags)
        for _ in range(draw(st.integers(0, 3)) or draw(st.integers(0, 1))):
            text += "|" + draw(spaces) + draw(BLANKS) + joined(draw, draw(st.lists(features, max_size=6)))
        text += draw(ENDS)
    return (draw(st.sampled_from(["", "", "\ufeff"])) + text + draw(TAILS)).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("text")


@EXAMPLES
@given(text=svmlight_texts(), **CUTS)
def test_svmlight_text_in_any_pieces_is_the_lines_read_one_by_one(folder, text, labelled, **cuts):
    def parse(content, line, source):
        return svmlight.parse(content, line, source, labelled)

    def entries(row):
        token, (indices, values) = row
        return token, (1.0).hex(), list(zip(indices, (value.hex() for value in values), strict=True))

    check(folder / "rows.svm", text, parse, entries, labelled, **cuts)


def vowpal_entries(row):
    sums = {}
    for name, value in zip(row.names, row.values, strict=True):
        slot = murmur3(name.encode()) % 2**BITS
        sums[slot] = sums[slot] + value if slot in sums else value
    weight = 1.0 if row.weight is None else row.weight
    return row.label, weight.hex(), [(slot, value.hex()) for slot, value in sums.items()]


@EXAMPLES
@given(text=vowpal_texts(), **CUTS)
def test_vowpal_text_in_any_pieces_is_the_lines_read_one_by_one(folder, text, labelled, **cuts):
    stream, wrong = check(folder / "rows.vw", text, vw.parse, vowpal_entries, labelled, **cuts)
    if wrong is None:
        seen = {}
        for content in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            for name in getattr(vw.parse(content, 1, "rows.vw"), "names", []):
                seen.setdefault(murmur3(name.encode()) % 2**BITS, name)
        assert stream.features.values == seen


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("kind", ["svm", "vw"])
def test_a_line_longer_than_any_piece_is_one_row(folder, kind, threads):
    count, size = 150_000, 2**16
    bar = "|" if kind == "vw" else ""
    long = "1 " + bar + " ".join(f"{k}:{k / 7:.6f}" for k in range(count))
    file = folder / f"long.{kind}"
    file.write_text(f"-1 {bar} 1:1\n{long}\n1 {bar} 2:1\n{long}")
    assert len(long) > 4 * size
    rows, wrong, _ = played(file, size, threads=threads)
    assert wrong is None
    assert [row[3] for row in rows] == [1, 2, 3, 4]
    assert rows[1][2] == rows[3][2]
    if kind == "svm":
        assert rows[1][2] == [(k, float(f"{k / 7:.6f}").hex()) for k in range(count)]


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(("kind", "text"), [("svm", b"1 1:1\n"), ("vw", b"1 |f a b:2\n")])
def test_rows_before_a_line_that_is_wrong_come_first_and_the_line_is_counted_through_all_pieces(
    folder, kind, text, threads
):
    file = folder / f"wrong.{kind}"
    file.write_bytes(text * 300 + b"\n\n1 :x\n" + text)
    rows, wrong, _ = played(file, 64, threads=threads)
    assert len(rows) == 300
    assert wrong is not None
    assert wrong[1] == 303
