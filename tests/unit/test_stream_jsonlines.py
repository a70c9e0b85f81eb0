"""JSON Lines: the same rows as from CSV, bit for bit; nested values; and every line that is refused, with its place."""

import csv
import io
import json
import math
import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import InputError, SettingError, on_command_line
from noregret.experts.forecasts import read_expert_table
from noregret.experts.loss import LOSSES
from noregret.stream import Dense, Features, Sparse, read
from noregret.stream.formats.jsonlines import looks_like
from oracle.matrix import matrix


@pytest.fixture
def lines(tmp_path):
    """A stream of the lines given, each an object, or text or bytes as they are."""

    def write(*rows, **settings):
        file = tmp_path / "rows.jsonl"
        file.write_bytes(b"".join(one + b"\n" for one in map(encoded, rows)))
        return read(file, **settings)

    return write


def encoded(row):
    if isinstance(row, bytes):
        return row
    return (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)).encode()


def bits(stream):
    """All that a learner sees of a stream, as bytes."""
    found = []
    for block in stream.blocks():
        rows = block.rows
        arrays = [rows.X] if isinstance(rows, Dense) else [rows.indptr, rows.indices, rows.values]
        found.append(([one.tobytes() for one in arrays], block.labels.tolist()))
    return found, stream.features.to_dict(), stream.columns, stream.decisions


# -- the same as CSV -----------------------------------------------------------------------------------------------


def tables(rng, count):
    """Rows of every kind of column, as Python values: what CSV writes down and JSON types."""
    towns = ["Rome", "Oslo", "Köln", "東京", 'the "Hague"', "a,b", "back\\slash", ""]
    for place in range(count):
        yield {
            "label": rng.choice([0, 1]),
            "size": rng.choice([rng.gauss(0, 1), rng.randrange(-5, 5), 10**25, 1e-300, 0.1 + 0.2, None]),
            "count": rng.randrange(100),
            "price": f"${rng.randrange(1, 9)},{rng.randrange(100, 999)}.50",
            "town": rng.choice(towns),
            "day": f"2024-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}",
            "note": " ".join(rng.choice(["win", "now", "prize", "Grüße", "10:30", '":']) for _ in range(8))
            + f" {place}",
            "id": f"k{place:06d}",
            "text number": str(rng.randrange(50)),
            "weird": rng.choice(["n/a", "NULL", "7", "?"]),
        }


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [5, 300, 2500])
def test_the_same_table_gives_the_same_bits_as_csv(tmp_path, monkeypatch, count, threads):
    monkeypatch.setattr("noregret.stream.pieces.FIRST", 2**12)
    rows = list(tables(random.Random(count), count))
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with open(tmp_path / "rows.jsonl", "w") as file:
        for row in rows:
            kept = {key: value for key, value in row.items() if value is not None or random.random() < 0.5}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    given = {"missing": "mean", "threads": threads, "hash_bits": 10}
    table, objects = (read(tmp_path / name, **given) for name in ("rows.csv", "rows.jsonl"))
    ours, theirs = bits(objects), bits(table)
    assert ours[1:] == theirs[1:]
    assert flat(ours[0]) == flat(theirs[0])


def flat(blocks):
    """Blocks end at different rows, for the text is of another length: labels and all arrays end to end."""
    return b"".join(one[-1] for one, _ in blocks), [label for _, labels in blocks for label in labels]


def test_dense_rows_are_those_of_csv(tmp_path, lines):
    (tmp_path / "rows.csv").write_text("label,a,b\n1,2.5,3\n0,-0.0,1e3\n1,123456789012345678901234567890,7\n")
    stream = lines(
        '{"label": 1, "a": 2.5, "b": 3}',
        '{"label": 0, "a": -0.0, "b": 1e3}',
        '{"label": 1, "a": 123456789012345678901234567890, "b": 7}',
    )
    assert bits(stream) == bits(read(tmp_path / "rows.csv"))
    assert isinstance(next(stream.blocks()).rows, Dense)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**80), 2**80), min_size=1))
def test_numbers_are_what_python_reads(tmp_path_factory, values):
    file = tmp_path_factory.mktemp("numbers") / "rows.jsonl"
    file.write_text("".join(json.dumps({"y": 1, "x": value}) + "\n" for value in values))
    X, _ = matrix(read(file))
    assert X[:, 0].tolist() == [float(value) for value in values]


def test_true_false_null_and_keys_that_are_not_there(lines):
    stream = lines({"y": 1, "a": True, "b": 2}, {"y": 0, "b": None, "a": False}, {"y": 1, "a": 3}, missing="mean")
    X, y = matrix(stream)
    assert y == [1.0, 0.0, 1.0]
    assert np.array_equal(X, [[1, 2], [0, math.nan], [3, math.nan]], equal_nan=True)


def test_labels_are_found_by_the_rules_of_csv(lines):
    assert matrix(lines({"Target": "spam", "a": 1}, {"Target": "ham", "a": 2}))[1] == ["spam", "ham"]
    assert matrix(lines({"label": True, "a": 1}, {"label": False, "a": 2}))[1] == [1.0, 0.0]
    assert matrix(lines({"label": "1", "a": 1}, {"label": -1, "a": 2}))[1] == [1.0, -1.0]
    assert matrix(lines({"label": "cat", "a": 1}, {"label": 3, "a": 2}))[1] == ["cat", "3"]
    assert matrix(lines({"a": 5, "b": 1}, {"a": 6, "b": 2}, label="b"))[1] == [1.0, 2.0]
    assert matrix(lines({"a": 5, "b": 1}, labels=False))[0].tolist() == [[5.0, 1.0]]


def test_keys_in_any_order_and_spaces_anywhere(lines):
    stream = lines('  {"a" : 1 ,"y":1}  ', '{ "y"\t: 0, "b": 2, "a": 3 }\r', "", "   ", missing="zero")
    X, y = matrix(stream)
    assert (X.tolist(), y, stream.features.names) == ([[1, 0], [3, 2]], [1.0, 0.0], ["a", "b"])
    assert [line for block in stream.blocks() for line in block.lines.tolist()] == [1, 2]


def test_unicode_escapes_and_signs_in_names(lines):
    stream = lines('{"y": 1, "größe": 2, "\\u00e4": 3, "\\ud83d\\ude00": 4}', "\ufeff".strip("\ufeff"))
    assert stream.features.names == ["größe", "ä", "😀"]
    stream = lines({"y": 1, "town": "Zürich"}, {"y": 0, "town": "東京"}, hash_bits=12)
    matrix(stream)
    assert set(stream.features.values.values()) == {"town=Zürich", "town=東京"}


def test_declared_columns_are_what_they_are_said_to_be(lines):
    rows = [{"y": 1, "zip": 123, "note": "a b", "paid": "1.5"}, {"y": 0, "zip": 5.0, "note": "b", "paid": 2}]
    stream = lines(*rows, categorical=["zip"], text=["note"], numeric=["paid"], hash_bits=8)
    matrix(stream)
    assert stream.columns == {"zip": "category", "note": "text", "paid": "number with decimal point"}
    assert set(stream.features.values.values()) == {"zip=123", "zip=5", "note=a", "note=b"}
    assert isinstance(next(stream.blocks()).rows, Sparse)
    assert lines(*rows, ignore=["zip", "note"]).columns == {"paid": "number"}


# -- nested values -------------------------------------------------------------------------------------------------


def test_objects_and_arrays_of_numbers_are_flattened(lines):
    rows = [
        {"y": 1, "user": {"age": 30, "home": {"x": 1}}, "at": [1, 2.5], "grid": [[1, 2], [3]]},
        {"y": 0, "user": {"age": None}, "at": [], "grid": None},
        {"y": 1, "user": {}, "at": [3, True, None]},
    ]
    stream = lines(*rows, missing="mean")
    names = ["user.age", "user.home.x", "at[0]", "at[1]", "grid[0][0]", "grid[0][1]", "grid[1][0]"]
    assert stream.features.names == names
    nan = math.nan
    wanted = [[30, 1, 1, 2.5, 1, 2, 3], [nan] * 7, [nan, nan, 3, 1, nan, nan, nan]]
    assert np.array_equal(matrix(stream)[0], wanted, equal_nan=True)


def test_what_is_ignored_is_not_taken_apart(lines):
    rows = [{"y": 1, "a": 1, "tags": ["x"], "user": {"age": 1}, "v": [1, 2]}, {"y": 0, "a": 2, "tags": []}]
    stream = lines(*rows, ignore=["tags", "user", "v"])
    assert stream.columns == {"a": "number"}
    assert matrix(stream)[0].tolist() == [[1], [2]]


def test_two_values_of_one_name_are_refused(lines):
    with pytest.raises(InputError, match=r"rows.jsonl:1: two values are named 'a.b'"):
        lines({"y": 1, "a": {"b": 1}, "a.b": 2})


# -- keys that come and go -----------------------------------------------------------------------------------------


def test_a_key_that_first_shows_behind_the_first_thousand_rows_has_to_be_declared(lines):
    rows = [{"y": i % 2, "a": i} for i in range(1500)] + [{"y": 0, "a": 1, "new": 5}]
    stream = lines(*rows)
    wanted = r"rows.jsonl:1501: 'new' is in none of the first 1,000 rows: say what it is, such as "
    with pytest.raises(InputError, match=wanted + r"numeric=\['new'\], categorical=\['new'\] or ignore=\['new'\]"):
        matrix(stream)
    with on_command_line(), pytest.raises(InputError, match="such as --numeric new, --categorical new or --ignore new"):
        matrix(stream)
    X, _ = matrix(lines(*rows, numeric=["new"], missing="zero"))
    assert X[-1].tolist() == [1, 5] and X.shape == (1501, 2)
    assert matrix(lines(*rows, ignore=["new"]))[0].shape == (1501, 1)
    assert matrix(lines(*rows[:-1], {"y": 0, "a": 1, "new": None}))[0].shape == (1501, 1)


def test_a_frozen_recipe_drops_other_keys_and_lacks_what_is_not_there(lines):
    first = lines({"y": 1, "a": 1, "town": "Rome"}, {"y": 0, "a": 2, "town": "Oslo"}, hash_bits=6)
    matrix(first)
    rows = [{"a": 3, "town": "Rome", "more": 1, "tags": ["x"]}, {"town": "Oslo", "y": 1}]
    stream = lines(*rows, features=first.features, frozen=True, labels=False, missing="zero")
    X, _ = matrix(stream)
    assert X[:, 0].tolist() == [3.0, 0.0] and X.shape[1] == first.features.width


def test_a_model_goes_on_with_more_keys(lines):
    features = Features.named(["a"])
    X, _ = matrix(lines({"y": 1, "b": 2}, {"y": 0, "a": 3, "b": 4}, features=features, missing="zero"))
    assert (X.tolist(), features.names) == ([[0, 2], [3, 4]], ["a", "b"])


# -- what is refused -----------------------------------------------------------------------------------------------

GOOD = {"y": 1, "a": 1}
DEEP = '{"y": 1, "a": ' + "[" * 5000 + "]" * 5000 + "}"
BAD = {
    "cut short": ('{"y": 1, "a": 2', "each line must be one JSON object: this one is cut short"),
    "pretty": ("{", "each line must be one JSON object: this one is cut short"),
    "array": ("[1, 2]", "each line must be one JSON object: expected object, got array"),
    "number": ("7", "each line must be one JSON object: expected object, got int"),
    "string": ('"y"', "each line must be one JSON object: expected object, got str"),
    "null": ("null", "each line must be one JSON object: expected object, got null"),
    "two": ('{"y": 1}{"y": 1}', "each line must be one JSON object: trailing characters .*"),
    "quotes": ("{'y': 1}", "each line must be one JSON object: object keys must be strings .byte 1."),
    "comma": ('{"y": 1,}', "each line must be one JSON object: .*"),
    "nan": ('{"y": 1, "a": NaN}', "each line must be one JSON object: NaN and Infinity are not JSON, write null"),
    "infinity": ('{"y": 1, "a": -Infinity}', "each line must be one JSON object: NaN and Infinity .*"),
    "zeros": ('{"y": 1, "a": 007}', "each line must be one JSON object: invalid number .byte 15."),
    "point": ('{"y": 1, "a": 1.}', "each line must be one JSON object: invalid number .*"),
    "range": ('{"y": 1, "a": 1e999}', "each line must be one JSON object: number out of range"),
    "digits": ('{"y": 1, "a": ' + "9" * 5000 + "}", "each line must be one JSON object: integer value out of range"),
    "infinite": ('{"y": 1, "a": ' + "9" * 400 + "}", "feature 'a' must be finite, got inf"),
    "minus": ('{"y": 1, "a": -' + "9" * 400 + "}", "feature 'a' must be finite, got -inf"),
    "control": ('{"y": 1, "a": "\t"}', "each line must be one JSON object: .*"),
    "surrogate": ('{"y": 1, "a": "\\ud800"}', "each line must be one JSON object: .*"),
    "deep": (DEEP, "each line must be one JSON object: it is nested too deeply"),
    "nul": (b'{"y": 1, "a\0": 2}', "holds a NUL byte: this is a binary file, expected text"),
    "latin": (b'{"y": 1, "a": "caf\xe9"}', "is not UTF-8 text: byte 0xe9 has no meaning there"),
    "outside": (b'{"y": 1, "a": 2}\xff', "is not UTF-8 text: byte 0xff has no meaning there"),
    "twice": ('{"y": 1, "a": 1, "a": 2}', "the key 'a' comes twice"),
    "twice escaped": ('{"y": 1, "a": 1, "\\u0061": 2}', "the key 'a' comes twice"),
    "twice spaced": ('{"y" :1, "b": 1, "b": "\\":"}', "the key 'b' comes twice"),
    "twice inside": ('{"y": 1, "a": {"b": 1, "b": 2}}', "the key 'b' comes twice"),
    "twice empty": ('{"y": 1, "a": {}, "a": 1}', "the key 'a' comes twice"),
    "missing": ({"y": 1}, "feature 'a' is missing .NaN.: use missing='mean', 'zero' or 'skip'"),
    "null value": ({"y": 1, "a": None}, "feature 'a' is missing .NaN.: .*"),
    "no label": ({"a": 1}, "the label is missing .use missing='skip' to leave out such rows."),
    "null label": ({"y": None, "a": 1}, "the label is missing .*"),
    "word label": ({"y": "spam", "a": 1}, "the label must be a number as in the rows before, got 'spam'"),
    "label array": ({"y": ["x"], "a": 1}, "the value of 'y' must be a number, a string or an array of numbers .*"),
}
LATE = {
    "word": ({"y": 1, "a": "word"}, r"column 'a' must hold numbers, got 'word' \(.* categorical=\['a'\]\)"),
    "amount": ({"y": 1, "a": "$7"}, r"column 'a' must hold numbers, got '\$7' \(.* numeric=\['a'\]\)"),
    "strings": ({"y": 1, "a": ["x"]}, r"the value of 'a' must be .* array of numbers \(or use ignore=\['a'\]\)"),
    "objects": ({"y": 1, "a": [{"b": 1}]}, "the value of 'a' must be a number, a string or an array of numbers .*"),
    "object": ({"y": 1, "a": {"b": 1}}, "'a.b' is in none of the first 1,000 rows: .*"),
    "new key": ({"y": 1, "a": 1, "b": 1}, "'b' is in none of the first 1,000 rows: .*"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("before", [2, 1500])
def test_a_bad_line_is_one_sentence_with_its_place(lines, name, before):
    line, sentence = BAD[name]
    said = rf"rows\.jsonl:{before + 2}: {sentence}$"
    with pytest.raises(InputError, match=said):
        matrix(lines(*[GOOD] * before, "", line, GOOD))


@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_later_value_that_does_not_fit_is_named_and_the_rows_before_it_are_read(lines, name, threads, monkeypatch):
    monkeypatch.setattr("noregret.stream.pieces.FIRST", 2**12)
    line, sentence = LATE[name]
    stream, done = lines(*[GOOD] * 1500, line, {"y": 1, "a": "other"}, threads=threads), 0
    with pytest.raises(InputError, match=rf"rows\.jsonl:1501: {sentence}$"):
        for block in stream.blocks():
            done += len(block)
    assert done == 1500


@pytest.mark.parametrize(
    ("rows", "given", "sentence"),
    [
        ([], {}, "rows.jsonl: holds no rows$"),
        (["", " "], {}, "rows.jsonl: holds no rows$"),
        ([{"a": 1}], {}, "rows.jsonl: no column is named label, .*: the columns are a$"),
        ([{"y": 1, "": 2}], {}, "rows.jsonl:1: column 2 has no name"),
        ([{"y": 1, "a": 2}], {"ignore": ["b"]}, "rows.jsonl: there is no column 'b' for ignore: the columns are y, a"),
        ([{"y": 1, "a": 2}], {"label": "b"}, "rows.jsonl: there is no column 'b': the columns are y, a"),
        ([{"y": 1, "tags": ["x"]}], {}, "rows.jsonl:1: the value of 'tags' must be a number, a string or an array"),
    ],
)
def test_a_bad_file_is_one_sentence(lines, rows, given, sentence):
    with pytest.raises(InputError, match=sentence):
        matrix(lines(*rows, **given))


def test_features_without_names_do_not_fit(lines):
    with pytest.raises(SettingError, match=r"learned from rows without column names, and .*rows.jsonl has columns"):
        lines(GOOD, features=Features("index", 3))


def test_a_line_must_end_within_the_limit(lines, monkeypatch):
    monkeypatch.setattr("noregret.stream.pieces.LINE_LIMIT", 2**17)
    with pytest.raises(InputError, match=r"rows.jsonl:3: a line or record must end within"):
        matrix(lines(GOOD, GOOD, {"y": 1, "a": "x" * 2**18}))


# -- where it comes from -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "yes"),
    [
        (b'{"a": 1}', True),
        (b'  { "a": 1}', True),
        (b"{}", True),
        (b"{", True),
        (b"[", True),
        (b'[{"a": 1}]', True),
        (b"{a},{b}", False),
        (b"[a],[b]", False),
        (b"a,b", False),
        (b"1 1:2", False),
        (b"1 |a b", False),
    ],
)
def test_a_first_line_tells(line, yes):
    assert looks_like(line) is yes


def test_standard_input_is_recognised_and_read_once(monkeypatch):
    text = "".join(json.dumps({"y": i % 2, "a": i, "town": "Rome"}) + "\n" for i in range(3000))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + text.encode())))
    stream = read("-", hash_bits=4)
    assert stream.source == "standard input" and sum(map(len, stream.blocks())) == 3000
    with pytest.raises(InputError, match="standard input: can be read only once, and has been"):
        stream.blocks()


def test_a_pretty_printed_file_says_what_it_must_be(tmp_path):
    (tmp_path / "rows.json").write_text(json.dumps([{"y": 1, "a": 2}], indent=2))
    with pytest.raises(InputError, match=r"rows.json:1: each line must be one JSON object: expected object, got array"):
        read(tmp_path / "rows.json")


def test_memory_is_that_of_a_block(tmp_path):
    import tracemalloc

    file = tmp_path / "rows.jsonl"
    with file.open("w") as sink:
        for i in range(60_000):
            sink.write(json.dumps({"y": i % 2, "a": i / 7, "b": "word " * 40}) + "\n")
    for _ in read(file, ignore=["b"], threads=1).blocks():
        break
    tracemalloc.start()
    for _ in read(file, ignore=["b"], threads=1).blocks():
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert file.stat().st_size > 13e6 > peak / 3


def test_pieces_are_smaller_where_short_lines_lack_most_of_many_keys(lines, monkeypatch):
    monkeypatch.setattr("noregret.stream.formats.jsonlines.PIECE_VALUES", 2**14)
    monkeypatch.setattr("noregret.stream.pieces.FIRST", 2**12)
    stream = lines(*({"y": i % 2, f"k{i % 64}": 1} for i in range(4000)), missing="zero")
    sizes = [len(block) for block in stream.blocks()]
    assert sum(sizes) == 4000 and max(sizes) < 400  # 2**14 values are 256 rows


def test_a_receipt_is_verified_from_the_file(lines, tmp_path):
    rows = [
        {"y": i % 2, "a": i % 7, "when": f"2024-01-{i % 28 + 1:02d}", "user": {"x": (i * i) % 5}} for i in range(120)
    ]
    lines(*rows)
    run = nr.play(nr.OnlineGradientDescent(loss="logistic"), nr.read(tmp_path / "rows.jsonl"))
    nr.certify(run, nr.read(tmp_path / "rows.jsonl")).save(tmp_path / "r.json")
    nr.verify(tmp_path / "r.json", tmp_path / "rows.jsonl")


def test_an_expert_that_is_not_there_is_named_and_not_taken_for_asleep(lines, tmp_path):
    lines({"y": 1, "a": 0.5, "b": 1}, {"y": 0, "a": 0.25})
    data = read_expert_table(tmp_path / "rows.jsonl", "y", ["a", "b"], LOSSES["squared"])
    assert np.array_equal(data.values[:, :, 0], [[0.5, 1], [0.25, math.nan]], equal_nan=True)
    with pytest.raises(InputError, match="there is no column 'c': the columns are y, a, b"):
        read_expert_table(tmp_path / "rows.jsonl", "y", ["a", "c"], LOSSES["squared"])
