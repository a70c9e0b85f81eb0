"""Tables with named columns: CSV, Parquet, Arrow and frames; kinds, labels, recipes, and what is refused."""

import datetime
from decimal import Decimal

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from noregret.errors import InputError, SettingError
from noregret.stream import Dense, Features, Sparse, read
from oracle.matrix import matrix


@pytest.fixture
def csv(tmp_path):
    def write(content, /, **settings):
        file = tmp_path / "rows.csv"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(file, **settings)

    return write


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_out(csv, delimiter):
    X, y = matrix(csv(f"a{delimiter}label{delimiter}b\n1{delimiter}-1{delimiter}2\n"))
    assert (X.tolist(), y) == ([[1.0, 2.0]], [-1.0])


def test_delimiters_inside_a_quoted_name_do_not_count(csv):
    X, _ = matrix(csv('"a,b,c";label\n1;1\n'))
    assert X.tolist() == [[1.0]]


def test_byte_order_mark_quotes_blank_lines_and_line_ends(csv):
    stream = csv(b'\xef\xbb\xbf"label", a \r\n\r\n"1"," 2.5"\r\n-1,3')
    X, y = matrix(stream)
    assert (X.tolist(), y, stream.features.names) == ([[2.5], [3.0]], [1.0, -1.0], ["a"])


def test_rows_are_named_by_the_physical_line_they_begin_on(csv):
    stream = csv('label,note\n1,"two\nlines"\n\n0,"x"\n', text=["note"])
    (block,) = stream.blocks()
    assert block.lines.tolist() == [2, 5]


def test_numeric_tables_are_dense_and_tables_with_hashed_columns_sparse(csv):
    assert isinstance(next(csv("label,a\n1,2\n").blocks()).rows, Dense)
    (block,) = csv("label,a,b,city\n1,2,0,Rome\n", hash_bits=4).blocks()
    assert isinstance(block.rows, Sparse)
    assert len(block.rows.indices) == 2  # the zero is dropped


def test_the_kind_of_a_column_is_decided_by_its_first_thousand_rows(csv):
    rows = ["1,"] * 999
    assert csv("\n".join(["label,a", *rows, "1,x"])).features.categorical == ("a",)
    late = csv("\n".join(["label,a", *rows, "1,2", "1,abc"]))
    advice = r"column 'a' must hold numbers, got 'abc' \(if its values are names, declare it with categorical=\['a'\]\)"
    with pytest.raises(InputError, match=rf"rows\.csv:1002: {advice}"):
        matrix(read_with(late, "zero"))


def read_with(stream, missing):
    return read(stream.source, missing=missing)


def test_underscores_do_not_make_a_number(csv):
    assert csv("label,a\n1,1_000\n").features.categorical == ("a",)


def test_labels_may_be_words(csv):
    _, y = matrix(csv("kind,a\nspam,1\nham,2\n", label="kind"))
    assert y == ["spam", "ham"]


@pytest.mark.parametrize(
    ("text", "settings", "sentence"),
    [
        (
            "a,b\n1,2\n",
            {},
            "rows.csv: no column is named label, target, class, outcome or y .say which one .* label='COLUMN'.: .*"
            "the columns are a, b",
        ),
        ("a,b\n1,2\n", {"label": "y"}, "rows.csv: there is no column 'y': the columns are a, b"),
        (
            "label,a\n1,2\n",
            {"categorical": ["x"]},
            "rows.csv: there is no column 'x' for categorical: the columns are",
        ),
        (
            "label,a\n1,2\n",
            {"text": ["x"]},
            "rows.csv: there is no column 'x' for text: the columns are label, a",
        ),
        ("label,a,a\n1,2,3\n", {}, "rows.csv:1: two columns are named 'a'"),
        (",label,a\n1,2,3\n", {}, "rows.csv:1: column 1 has no name"),
        ("label,a\n1,2\n1,2,3\n", {}, "rows.csv:3: expected 2 cells as in the header, got 3"),
        ("label,a\n1,2\n1\n", {}, "rows.csv:3: expected 2 cells as in the header, got 1"),
        ('label,a\n1,"2\n', {}, "rows.csv:2: is not well-formed CSV .unexpected end of data."),
        ('label,a\n1,"2"3\n', {}, "rows.csv:2: is not well-formed CSV"),
        (
            "label,a\n1,\n",
            {},
            "rows.csv:2: feature 'a' is missing .NaN.: use missing='mean', 'zero' or 'skip'",
        ),
        ("label,a\n,1\n", {}, "rows.csv:2: the label is missing .use missing='skip'"),
        ("label,a\nspam,1\n,1\n", {}, "rows.csv:3: the label is missing .use missing='skip'"),
        ("label,a\n1,inf\n", {}, "rows.csv:2: feature 'a' must be finite, got inf"),
        ("label,a\n1,2\nx,2\n", {}, "rows.csv:3: the label must be a number as in the rows before, got 'x'"),
        ("label,a\n", {}, "rows.csv: holds no rows$"),
        ("", {}, "rows.csv: holds no rows, not even a header line"),
        (b"label,a\n1,\xff\n", {}, "rows.csv:2: is not UTF-8 text: byte 0xff"),
        (b"label,a\n1,\x00\n", {}, "rows.csv:2: holds a NUL byte: this is a binary file"),
        ("label,a\n1,\n", {"missing": "skip"}, "rows.csv: holds no rows without missing values"),
        (
            "label,a\n1,2\n",
            {"features": Features.named(["a", "b"])},
            "rows.csv: the model needs a column 'b': the columns are label, a",
        ),
    ],
)
def test_a_bad_table_is_one_sentence_with_its_place(csv, text, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        matrix(csv(text, **settings))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"missing": "drop"}, "missing must be one of error, zero, mean, skip, got 'drop'"),
        ({"hash_bits": 31}, "hash_bits must be a whole number from 1 to 30, got 31"),
        ({"hash_bits": 2.0}, "hash_bits must be a whole number from 1 to 30, got 2.0"),
        ({"block_rows": 0}, "block_rows must be at least 1, got 0"),
        ({"frozen": True}, "frozen needs the features of a model"),
        ({"text": ["a"], "categorical": ["a"]}, "column 'a' cannot be both categorical and text"),
        ({"label": "a", "text": ["a"]}, "column 'a' is the label: it cannot be a feature too"),
        (
            {"features": Features.named(["a"]), "frozen": True, "text": ["a"]},
            "categorical, text, numeric and date cannot be given: the model's recipe is frozen",
        ),
        (
            {"features": Features.named(["a"]), "categorical": ["a"]},
            "column 'a' is numeric in the model: it cannot be hashed now",
        ),
        (
            {"features": Features("columns", 2)},
            "learned from rows without column names, and .* has columns",
        ),
    ],
)
def test_a_bad_setting_is_one_sentence(csv, settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        csv("label,a\n1,2\n", **settings)


def test_a_model_that_hashes_a_column_as_categorical_cannot_take_it_as_text(csv):
    features = csv("label,a\n1,x\n").features
    with pytest.raises(SettingError, match="column 'a' cannot be both categorical and text"):
        csv("label,a\n1,x\n", features=features, text=["a"])


def test_columns_are_matched_with_a_model_by_name_and_new_ones_follow(csv):
    features = csv("label,a,b\n1,2,3\n").features
    X, _ = matrix(csv("c,b,label,a\n9,8,1,7\n", features=features))
    assert X.tolist() == [[7.0, 8.0, 9.0]]
    X, _ = matrix(csv("d,a,b,c\n0,1,2,3\n", features=features, frozen=True, labels=False))
    assert X.tolist() == [[1.0, 2.0, 3.0]]


def test_numeric_names_that_come_after_the_slots_keep_everyone_s_index(csv):
    features = csv("label,a,city\n1,2,Rome\n", hash_bits=3).features
    first, _ = matrix(csv("label,a,city\n1,2,Rome\n", features=features))
    X, _ = matrix(csv("label,b,a,city\n1,5,2,Rome\n", features=features))
    assert np.array_equal(X[:, : first.shape[1]], first)
    assert (X[0, 9], features.name_of(9), features.name_of(0), features.name_of(4)) == (
        5.0,
        "b",
        "a",
        "hash 3",
    )
    assert Features.from_dict(features.to_dict()).to_dict() == features.to_dict()
    assert Features.from_dict(features.to_dict()).index == features.index


def test_predicting_needs_no_label_column_but_uses_one(csv):
    stream = csv("label,a\n1,2\n", labels=False)
    assert matrix(stream)[1] == [1.0]
    assert np.isnan(matrix(csv("a\n2\n", labels=False))[1]).all()


DATES = [datetime.date(2020, 1, 1)]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pyarrow.array([[1.0]]), "list<"),
        (pyarrow.array([{"x": 1}]), "struct<"),
        (pyarrow.array([b"x"]), "binary"),
        (pyarrow.array([datetime.timedelta(1)]), "duration"),
        (pyarrow.array([b"x"]).dictionary_encode(), "binary"),
    ],
)
def test_columns_of_other_types_are_refused(column, kind):
    table = pyarrow.table({"label": [1], "when": column})
    with pytest.raises(InputError, match=rf"the table: column 'when' must hold numbers, .* it holds type {kind}"):
        read(table)


def test_an_unknown_column_of_another_type_is_left_out_by_a_frozen_recipe():
    table = pyarrow.table({"a": [1], "when": pyarrow.array(DATES)})
    assert matrix(read(table, features=Features.named(["a"]), frozen=True, labels=False))[0].tolist() == [[1.0]]


def test_strings_where_the_model_has_numbers_are_refused():
    table = pyarrow.table({"label": [1], "a": ["x"]})
    with pytest.raises(InputError, match="the table: column 'a' must hold numbers, it holds type string"):
        matrix(read(table, features=Features.named(["a"])))


def test_arrow_types_become_numbers_and_categories():
    columns = {
        "label": pyarrow.array([True, False]),
        "small": pyarrow.array([1, -2], pyarrow.int8()),
        "half": pyarrow.array(np.array([0.5, 1.5], np.float16)),
        "exact": pyarrow.array([Decimal("1.00"), Decimal("2.00")]),
        "flag": pyarrow.array([True, False]),
    }
    X, y = matrix(read(pyarrow.table(columns)))
    assert (X.tolist(), y) == ([[1, 0.5, 1, 1], [-2, 1.5, 2, 0]], [1.0, 0.0])
    words = pyarrow.array(["x", "y"])
    for column in (words, words.dictionary_encode(), words.cast(pyarrow.large_string())):
        stream = read(pyarrow.table({"label": ["a", "b"], "word": column}))
        assert stream.features.categorical == ("word",)
        assert matrix(stream)[1] == ["a", "b"]


def test_nulls_are_missing_values():
    table = pyarrow.table({"label": [1, 0, None], "a": [1.0, None, 2.0]})
    assert matrix(read(table, missing="skip"))[0].tolist() == [[1.0]]
    with pytest.raises(InputError, match="the table:2: feature 'a' is missing"):
        matrix(read(table))


def test_a_pandas_frame_with_columns_of_several_types():
    frame = pandas.DataFrame({"label": [1, 0], "n": [1, 2], "s": ["x", None], "c": pandas.Categorical(["u", "v"])})
    stream = read(frame, hash_bits=5)
    X, y = matrix(stream)
    assert (y, stream.features.names, stream.features.categorical) == ([1.0, 0.0], ["n"], ("s", "c"))
    assert X[:, 1:].sum(axis=1).tolist() == [2.0, 1.0]


def test_a_pandas_column_of_mixed_objects_is_refused():
    frame = pandas.DataFrame({"label": [1, 0], "a": [1, "x"]}, dtype=object)
    with pytest.raises(InputError, match="the frame: a column holds values of several types"):
        read(frame)


def test_two_pandas_columns_of_one_name_are_refused():
    frame = pandas.DataFrame([[1, 2]], columns=["label", "label"])
    with pytest.raises(InputError, match="the frame: two columns are named 'label'"):
        read(frame)


def test_a_lazy_polars_frame_is_refused():
    with pytest.raises(InputError, match=r"the frame: is lazy: call collect\(\) on it first"):
        read(polars.LazyFrame({"label": [1]}))


def test_labels_beside_a_frame():
    X, y = matrix(read((pandas.DataFrame({"a": [1.0, 2.0]}), np.array(["u", "v"]))))
    assert (X.tolist(), y) == ([[1.0], [2.0]], ["u", "v"])
    with pytest.raises(InputError, match="the frame: there are 2 rows but 1 labels"):
        read((polars.DataFrame({"a": [1.0, 2.0]}), [1]))
    with pytest.raises(SettingError, match="label names a column, but the labels are given beside the frame"):
        read((polars.DataFrame({"a": [1.0]}), [1]), label="a")
    with pytest.raises(SettingError, match="a frame takes no weights"):
        read((polars.DataFrame({"a": [1.0]}), [1], [1]))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, name):
    file = tmp_path / name
    file.write_bytes(b"1 1:1\n" * 100)
    with pytest.raises(InputError, match=f"{name}: is truncated or corrupt"):
        matrix(read(file))


def test_many_columns_are_listed_in_part_and_on_one_line(csv):
    header = ",".join(['"a\nb"', *(f"c{n}" for n in range(30))])
    with pytest.raises(InputError, match=r"the columns are 'a\\nb', c0, .* c18, and 11 more$"):
        csv(header + "\n")


def test_strings_that_are_not_text_are_refused():
    offsets, data = np.array([0, 1], np.int32), b"\xff"
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
    column = pyarrow.Array.from_buffers(pyarrow.string(), 1, buffers)
    with pytest.raises(InputError, match=r"the table: column 'a' cannot be read \(Invalid UTF8 sequence"):
        matrix(read(pyarrow.table({"label": [1], "a": column})))


def test_there_is_an_end_to_features(monkeypatch):
    monkeypatch.setattr("noregret.stream.features.MAX_INDEX", 1)
    with pytest.raises(InputError, match="there can be at most 2 features, 'c' is one too many"):
        Features.named(["a", "b", "c"])


def test_a_reader_of_record_batches_is_read_once():
    table = pyarrow.table({"label": [1, 0], "a": [1.0, 2.0]})
    stream = read(table.to_reader(1))
    assert matrix(stream)[0].tolist() == [[1.0], [2.0]]
    with pytest.raises(InputError, match="the table: can be read only once, and has been"):
        stream.blocks()


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"label": pyarrow.array([], pyarrow.int8())}), tmp_path / "e.parquet")
    with pytest.raises(InputError, match=r"e\.parquet: holds no rows"):
        matrix(read(tmp_path / "e.parquet"))


def test_cells_longer_than_the_csv_module_s_limit_are_read_and_the_limit_is_left_alone(csv):
    import csv as standard

    before = standard.field_size_limit()
    assert len(matrix(csv("label,note\n1," + "word " * 40000 + "\n", text=["note"]))[1]) == 1
    assert standard.field_size_limit() == before


@pytest.mark.parametrize("cell", ["NA", "n/a", "NULL", "None", "?", " nan "])
def test_a_cell_that_says_there_is_no_number_is_missing(csv, cell):
    stream = csv(f"label,a\n1,2\n0,{cell}\n1,3\n")
    assert stream.features.categorical == ()
    assert matrix(read_with(stream, "skip"))[1] == [1.0, 1.0]


def test_ignored_columns_are_left_out(csv):
    stream = csv("label,id,a\n1,7,2\n", ignore=["id"])
    assert stream.features.names == ["a"]
    with pytest.raises(InputError, match="no column 'b' for ignore"):
        csv("label,a\n1,2\n", ignore=["b"])


def test_the_label_cannot_be_a_feature_too(csv):
    with pytest.raises(InputError, match="column 'label' is the label: it cannot be in text too"):
        csv("label,a\n1,2\n", text=["label"])


def test_a_record_may_be_longer_than_any_cell_may_be(csv, monkeypatch):
    monkeypatch.setattr("noregret.stream.formats.delimited.CELL_LIMIT", 5000)
    monkeypatch.setattr("noregret.stream.pieces.FIRST", 2**10)
    cell = '"' + "ab " * 1000 + '"'
    text = "label," + ",".join(f"t{i}" for i in range(30)) + "\n"
    stream = csv(text + f"1,{','.join([cell] * 30)}\n" * 2, text=["t0"], ignore=[f"t{i}" for i in range(1, 30)])
    assert [len(block) for block in stream.blocks()] in ([2], [1, 1])


def test_a_header_without_a_newline_behind_blank_lines(csv):
    with pytest.raises(InputError, match=r"rows\.csv: holds no rows$"):
        matrix(csv("\n\na;label"))


class Counted(str):
    """A name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_a_table_of_many_columns_is_planned_in_linear_time():
    from noregret.stream.column import CATEGORY, NUMBER, Decision
    from noregret.stream.reading import Settings
    from noregret.stream.recipe import plan

    names = [Counted(f"c{i}") for i in range(500)] + ["label"]

    def look(asked):
        return {place: Decision(CATEGORY if place % 2 else NUMBER) for place in asked}

    first = plan(names, look, Settings(), "wide.csv")
    again = [Counted(str(name)) for name in reversed(names)]
    plan(again, look, Settings(features=first.features), "wide.csv")
    assert Counted.compared < 50 * len(names)
