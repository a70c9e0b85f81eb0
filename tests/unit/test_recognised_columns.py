"""What the columns of a table are recognised as, the line for each decision, what overrides it, and what is kept."""

import csv as standard
import datetime
import io

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import noregret as nr
from noregret import model
from noregret.errors import InputError, ModelFileError, SettingError
from noregret.proof.replay import reading
from noregret.stream import Features, read
from noregret.stream.column import decide
from oracle.matrix import matrix

ADVERBS = ("gladly", "rarely", "often", "never")
MESSAGES = [f"please meet number {i} at noon {ADVERBS[i % 4]}" for i in range(60)]
IDS = [f"u{i * 7919:05x}z" for i in range(60)]
DAYS = [datetime.datetime(2024, 1, 31, 9) + datetime.timedelta(hours=5 * i) for i in range(60)]
SALES = {
    "label": [i % 2 for i in range(60)],
    "id": IDS,
    "when": [day.isoformat() for day in DAYS],
    "price": [f"${1000 + 37 * i:,}.50" for i in range(60)],
    "note": MESSAGES,
    "town": [("Rome", "Oslo", "New York")[i % 3] for i in range(60)],
    "size": [str(i / 4) for i in range(60)],
}
KINDS = {
    "id": "left out",
    "when": "date ymd since 2024-01-31T09:00:00 with hours",
    "price": "number with decimal point",
    "note": "text",
    "town": "category",
    "size": "number",
}


def written(columns, between=","):
    out = io.StringIO()
    writer = standard.writer(out, delimiter=between, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


@pytest.fixture
def table(tmp_path):
    """A file of these columns, or of this text, as it is read."""

    def write(given, /, between=",", **settings):
        file = tmp_path / "rows.csv"
        file.write_text(given if isinstance(given, str) else written(given, between))
        return read(file, **settings)

    return write


def column(cells, **settings):
    """A table of one column beside the label."""
    return {"label": [i % 2 for i in range(len(cells))], "a": cells}


def kind_of(table, cells, between=",", **settings):
    stream = table(column(cells), between, **settings)
    return stream.columns["a"], [line.partition(" (override: ") for line in stream.decisions]


def test_every_kind_is_recognised_and_said_in_one_line(table):
    stream = table(SALES)
    assert stream.columns == KINDS
    assert stream.decisions == (
        "left out: column 'id' is different in nearly every row (override: keep=['id'])",
        "date: column 'when' holds dates: days since 2024-01-31T09:00:00, the weekday and the hour"
        " (override: categorical=['when'])",
        "numeric: column 'price' holds numbers such as '$1,000.50', read as 1000.5 (override: categorical=['price'])",
        "text: column 'note' is free text, hashed by word (override: categorical=['note'])",
    )
    features = stream.features
    assert (features.text, features.categorical, features.label) == (("note",), ("town",), "label")
    X, _ = matrix(stream)
    named = {name: X[:, place] for name, place in features.index.items()}
    assert named["price"].tolist() == [1000.5 + 37 * i for i in range(60)]
    assert named["when.days"].tolist() == pytest.approx([5 * i / 24 for i in range(60)])
    assert named["when.hour=14"].tolist() == [float(day.hour == 14) for day in DAYS]
    assert named["when.weekday=Friday"].tolist() == [float(day.weekday() == 4) for day in DAYS]
    assert not any(name.startswith("id") for name in named)


def test_files_frames_and_tables_give_the_same_features(table, tmp_path):
    plain = {**SALES, "when": DAYS, "size": [float(size) for size in SALES["size"]]}
    arrow = pyarrow.table(plain)
    pyarrow.parquet.write_table(arrow, tmp_path / "rows.parquet")
    wanted, _ = matrix(table(SALES))
    sources = [arrow, pandas.DataFrame(plain), polars.DataFrame(plain), tmp_path / "rows.parquet", arrow.to_reader(7)]
    for source in sources:
        stream = read(source)
        assert stream.columns == KINDS
        assert np.array_equal(matrix(stream)[0], wanted)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_zones_count_instants_and_show_their_own_clock(table, zone):
    stamps = pandas.date_range("2024-03-30 20:00", periods=9, freq="3h", tz=zone)  # summer time begins in Berlin
    frame = pandas.DataFrame({"label": np.arange(9) % 2, "when": stamps})
    wanted, _ = matrix(read(frame))
    assert np.array_equal(matrix(table(frame.to_csv(index=False)))[0], wanted)
    assert wanted[:, 0] == pytest.approx(np.arange(9) / 8)
    hours = [8 + stamp.hour for stamp in stamps]
    assert wanted[np.arange(9), hours].tolist() == [1.0] * 9


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_days_alone_have_no_hours_whatever_their_type(unit):
    days = [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1), None]
    typed = pyarrow.array(days)
    wanted = [[0.0, *(float(d == 2) for d in range(7))], [1.0, *(float(d == 3) for d in range(7))]]
    stamps = typed.cast(pyarrow.timestamp(unit))
    for column_of in (typed, typed.cast(pyarrow.date64()), stamps, typed.dictionary_encode()):
        stream = read(pyarrow.table({"label": [0, 1, 1], "day": column_of}), missing="skip")
        assert (stream.columns, matrix(stream)[0].tolist()) == ({"day": "date ymd since 2024-01-31"}, wanted)


@pytest.mark.parametrize(
    ("cells", "between", "kind", "said"),
    [
        (["1,234", "5,678"], ",", "number with decimal point", "'1,234', read as 1234, though it could be 1.234"),
        (["1,234", "5,678"], ";", "number with decimal comma", "'1,234', read as 1.234, though it could be 1234"),
        (["1,234", "5,6"], ",", "number with decimal comma", "'1,234', read as 1.234"),
        (["1,234", "5,678.5"], ";", "number with decimal point", "'5,678.5', read as 5678.5"),
        (["1.234", "5.678"], ";", "number", None),
        (["3,5", "12"], ";", "number with decimal comma", "'3,5', read as 3.5"),
        (["1.234.567,8", "2"], ";", "number with decimal comma", "'1.234.567,8', read as 1234567.8"),
        (["12 %", "3.5 %"], ",", "number with decimal point", "'3.5 %', read as 3.5"),
        (["(5)", "3"], ",", "number with decimal point", "'(5)', read as -5"),
        (["3,5", "1.5"], ";", "category", None),
        (["1", "2,5x"], ";", "category", None),
    ],
)
def test_which_mark_is_decimal_is_decided_by_the_column(table, cells, between, kind, said):
    found, lines = kind_of(table, cells, between)
    assert found == kind
    assert [line[0].partition("such as ")[2] for line in lines] == ([] if said is None else [said])


def test_a_column_with_decimal_commas_speaks_for_the_others(table):
    columns = {"a": ["1.234", "5.678"], "b": ["3,5", "2,25"], "c": ["7", "8"], "d": ["1.5", "2"]}
    stream = table({"label": [0, 1], **columns}, ";")
    comma = "number with decimal comma"
    assert stream.columns == {"a": comma, "b": comma, "c": comma, "d": "number"}
    assert matrix(stream)[0].tolist() == [[1234.0, 3.5, 7.0, 1.5], [5678.0, 2.25, 8.0, 2.0]]
    assert [line.split("'")[1] for line in stream.decisions] == ["a", "b"]  # c is as anybody would expect


@pytest.mark.parametrize(
    ("cells", "kind", "said"),
    [
        (["31.01.2024", "1.2.2024"], "date dmy since 2024-01-31", "holds dates (read as day, month, year)"),
        (["01/31/2024", "02/01/2024"], "date mdy since 2024-01-31", "holds dates (read as month, day, year)"),
        (["31/01/2024", "02/01/2024"], "date dmy since 2024-01-31", "holds dates (read as day, month, year)"),
        (["01/02/2024", "02/01/2024"], "category", "either day or month may come first"),
        (["31/01/2024", "02/13/2024"], "category", None),
        (["2024-01-31", ""], "date ymd since 2024-01-31", "holds dates: days since 2024-01-31 and the weekday"),
        (["2024-01-31T10:00Z", "NA"], "date ymd since 2024-01-31T10:00:00 with hours", "the weekday and the hour"),
        (["20240131", "20240201"], "number", None),
        (["2024-01-31", "soon"], "category", None),
    ],
)
def test_dates_are_told_from_their_column(table, cells, kind, said):
    found, lines = kind_of(table, cells)
    assert found == kind
    assert len(lines) == (said is not None) and all(said in line[0] for line in lines)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (MESSAGES, "text"),
        (MESSAGES[:1], "text"),
        (["a b c"] * 4 + ["d e f"], "category"),  # not distinct
        (["New York", "San Jose", "Los Angeles"], "category"),  # two words
        (IDS, "left out"),
        (IDS[:49], "category"),  # too few to tell
        ([f"user {i}" for i in range(60)], "category"),  # a space
        ([f"k{i // 2}" for i in range(60)], "category"),
        ([str(i) for i in range(60)], "number"),  # whole numbers are never left out
        (["yes", "no", "true"], "category"),
        (["", "", "NA"], "number"),
        ([str(i / 7) for i in range(99)] + ["error"], "category"),
    ],
)
def test_text_identities_and_categories(table, cells, kind):
    assert kind_of(table, cells)[0] == kind


def test_numbers_with_a_word_among_them_are_said_to_be_categories(table):
    _, lines = kind_of(table, [str(i / 7) for i in range(99)] + ["error"])
    assert lines[0][0] == "categorical: column 'a' holds numbers, but also 'error': taken as a category"


def test_text_that_looks_like_numbers_stays_text_in_a_typed_table():
    stream = read(pyarrow.table({"label": [0, 1], "zip": ["02139", "10115"]}))
    assert (stream.columns, stream.decisions) == (
        {"zip": "category"},
        ("categorical: column 'zip' is text that looks like numbers: taken as a category (override: numeric=['zip'])",),
    )
    stream = read(pyarrow.table({"label": [0, 1], "zip": ["02139", "10115"]}), numeric="zip")
    assert matrix(stream)[0].tolist() == [[2139.0], [10115.0]]
    nulls = pyarrow.table({"label": [0, 1], "a": pyarrow.array([None, None], pyarrow.string())})
    assert read(nulls).columns == {"a": "category"}
    known = pandas.DataFrame({"label": [0, 1] * 30, "id": pandas.Categorical(IDS)})  # somebody said what it is
    assert read(known).columns == {"id": "category"}


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"categorical": "when"}, {"when": "category"}),
        ({"categorical": "price"}, {"price": "category"}),
        ({"categorical": "note"}, {"note": "category"}),
        ({"categorical": "size"}, {"size": "category"}),
        ({"categorical": "id"}, {"id": "category"}),
        ({"keep": "id"}, {"id": "category"}),
        ({"keep": "size"}, {"size": "number"}),
        ({"text": "town"}, {"town": "text"}),
        ({"numeric": "size"}, {"size": "number with decimal point"}),
        ({"recognise": False}, {"id": "category", "when": "category", "price": "category", "note": "category"}),
    ],
)
def test_what_is_said_overrides_what_is_recognised(table, settings, kind):
    stream = table(SALES, **settings)
    assert stream.columns == KINDS | kind
    assert not any(f"column {name!r}" in line for name in kind for line in stream.decisions)


def test_a_column_that_is_said_to_be_dates_is_read_as_dates(table):
    for cells in (["20240131", "20240201"], ["1706659200", "1706745600"]):
        stream = table(column(cells), date="a")
        assert stream.columns == {"a": "date ymd since 2024-01-31"}
        numbers = pyarrow.table({"label": [0, 1], "a": [int(cell) for cell in cells]})
        assert np.array_equal(matrix(read(numbers, date="a"))[0], matrix(stream)[0])
    assert table(column(["01/02/2024", "02/01/2024"]), date="a").columns == {"a": "date mdy since 2024-01-02"}
    assert table(column(["", ""]), date="a", missing="zero").columns == {"a": "date ymd since 1970-01-01"}


def test_a_numeric_column_may_be_written_otherwise_further_down(table):
    cells = ["7"] * 1000 + ["$1,234"]
    assert matrix(table(column(cells), numeric="a"))[0][-1].tolist() == [1234.0]
    sentence = r"rows\.csv:1002: column 'a' must hold numbers, got '\$1,234' \(.* declare it with numeric=\['a'\]\)"
    with pytest.raises(InputError, match=sentence):
        matrix(table(column(cells)))


@pytest.mark.parametrize(
    ("first", "late", "sentence"),
    [
        ("$7", "word", "column 'a' must hold numbers with a decimal point, got 'word'"),
        ("7,5", "7.25", "column 'a' must hold numbers with a decimal comma, got '7.25'"),
        ("2024-01-31", "2024-02-30", r"column 'a' must hold dates \(year, month, day\), got '2024-02-30'"),
        ("31.01.2024", "soon", r"column 'a' must hold dates \(day, month, year\), got 'soon'"),
    ],
)
def test_a_later_cell_that_does_not_fit_is_named_with_its_line(table, first, late, sentence):
    cells = [first] * 1500 + [late, first]
    advice = r" \(override: categorical=\['a'\] or ignore=\['a'\]\)"
    stream = table(column(cells))
    with pytest.raises(InputError, match=rf"rows\.csv:1502: {sentence}{advice}"):
        matrix(stream)
    assert len(next(stream.blocks())) == 1500  # the rows before it are played
    with pytest.raises(InputError, match=r"the table:1501: "):
        matrix(read(pyarrow.table({"label": [i % 2 for i in range(1502)], "a": cells})))


def test_rows_are_the_same_however_they_are_cut_and_by_however_many_threads(table, monkeypatch):
    wanted, _ = matrix(table(SALES))
    monkeypatch.setattr("noregret.stream.pieces.FIRST", 2**10)
    for threads in (1, 3):
        assert np.array_equal(matrix(table(SALES, threads=threads, block_rows=7))[0], wanted)


def test_quotes_newlines_and_a_byte_order_mark_make_no_difference(table):
    first, second = '1,"a long\nnote, with lines","2024-01-31"', '0,"and ""another"" of them",2024-02-01'
    stream = table(f"\ufefflabel,a,when\r\n{first}\r\n{second}\r\n")
    assert stream.columns == {"a": "text", "when": "date ymd since 2024-01-31"}
    assert matrix(stream)[0][:, :1].tolist() == [[0.0], [1.0]]


def test_a_feature_of_dates_cannot_have_the_name_of_a_column(table):
    for columns in ({"a": ["2024-01-31"], "a.days": ["1"]}, {"a.days": ["1"], "a": ["2024-01-31"]}):
        with pytest.raises(InputError, match=r"a column of dates becomes a feature 'a.days', which is a column too"):
            table({"label": ["1"], **columns})


# -- labels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "label"),
    [
        ("a,label", "label"),
        ("target,label", "label"),
        ("y,target", "target"),
        ("class,y,outcome", "class"),
        ("y,outcome", "outcome"),
        ("a,Y", "Y"),
        ("LABEL,target", "LABEL"),
        ("Target,TARGET,y", "y"),  # neither of the two
    ],
)
def test_the_label_has_one_of_the_usual_names(table, names, label):
    stream = table(f"{names}\n" + ",".join("1" for _ in names.split(",")) + "\n")
    assert stream.features.label == label
    said = f"label: column {label!r} holds the label (override: label='COLUMN')"
    assert stream.decisions == (() if label == "label" else (said,))
    assert table(f"{names}\n" + ",".join("1" for _ in names.split(",")) + "\n", label=label).decisions == ()


def test_an_ignored_column_is_not_the_label(table):
    assert table("label,y,a\n1,2,3\n", ignore="label").features.label == "y"


def test_a_model_keeps_its_label_and_never_takes_a_feature_for_it(table):
    features = table("target,y,a\n1,2,3\n").features
    stream = table("y,a\n2,3\n", features=features, frozen=True, labels=False)
    assert matrix(stream)[0].tolist() == [[2.0, 3.0]]
    with pytest.raises(InputError, match=r"rows\.csv: there is no column 'target': the columns are y, a"):
        table("y,a\n2,3\n", features=features)


def test_labels_may_be_amounts(table):
    for between, cells in ((",", [f"${1000 + i:,}" for i in range(30)]), (";", [f"{1000 + i},0" for i in range(30)])):
        stream = table({"price": cells, "a": [str(i) for i in range(30)]}, between, label="price")
        assert matrix(stream)[1] == [1000.0 + i for i in range(30)]
        assert [line.partition(" such as")[0] for line in stream.decisions] == ["label: column 'price' holds numbers"]
        again = Features.from_dict(stream.features.to_dict())
        assert matrix(table({"price": cells[:2], "a": ["1", "2"]}, between, features=again))[1] == [1000.0, 1001.0]
    frame = pandas.DataFrame({"price": [f"${1000 + i:,}" for i in range(30)], "a": range(30)})
    assert matrix(read(frame, label="price"))[1] == [1000.0 + i for i in range(30)]
    few = {"rate": ["5 %", "7 %"] * 15, "a": [str(i) for i in range(30)]}
    assert set(matrix(table(few, label="rate"))[1]) == {"5 %", "7 %"}  # names of classes
    late = {"price": [f"${i}" for i in range(1200)] + ["dear"], "a": ["1"] * 1201}
    with pytest.raises(InputError, match=r"rows\.csv:1202: the label must be a number as .*, got 'dear'"):
        matrix(table(late, label="price"))


# -- the recipe --------------------------------------------------------------------------------------------------------


def learned(stream):
    learner = nr.OnlineGradientDescent(loss="logistic", scale="max")
    nr.play(learner, stream, digest=True)
    return learner


def test_the_recipe_is_kept_with_the_model(table, tmp_path):
    learner = learned(table(SALES))
    learner.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    assert again.features.to_dict() == learner.features.to_dict()
    later = {**SALES, "when": [(day + datetime.timedelta(100)).isoformat() for day in DAYS], "id": ["x"] * 60}
    stream = table(later, features=again.features, frozen=True)
    assert (stream.columns, stream.decisions) == (KINDS, ())
    wanted, _ = matrix(stream)
    assert wanted[0, stream.features.index["when.days"]] == 100.0
    lean = {name: cells for name, cells in later.items() if name not in ("id", "label")}
    assert np.array_equal(matrix(table(lean, features=again.features, frozen=True, labels=False))[0], wanted)
    with pytest.raises(InputError, match="the model needs a column 'when'"):
        table({name: cells for name, cells in lean.items() if name != "when"}, features=again.features, labels=False)


def test_a_model_goes_on_as_if_it_had_never_stopped(table):
    whole = learned(table(SALES))
    halves = learned(table({name: cells[:30] for name, cells in SALES.items()}, keep=()))
    assert halves.features.columns["id"].what == "category"  # thirty rows are too few to tell
    halves = learned(table({name: cells[:30] for name, cells in SALES.items()}, ignore="id"))
    rest = table({name: cells[30:] for name, cells in SALES.items()}, features=halves.features, ignore="id")
    assert rest.decisions == ()
    nr.play(halves, rest)
    index = whole.features.index
    assert {name: halves.core.weights[halves.features.index[name]] for name in index} == {
        name: whole.core.weights[place] for name, place in index.items()
    }


def test_one_row_is_read_as_in_the_table(table):
    learner = learned(table(SALES))
    frame = pandas.DataFrame(SALES).drop(columns="label").astype({"size": float})
    scores = learner.decision_function(frame)
    for place in (0, 7, 59):
        row = {name: cells[place] for name, cells in SALES.items() if name != "label"}
        for one in (row, row | {"when": DAYS[place], "price": 1000.5 + 37 * place, "size": place / 4}):
            assert learner._score_one(one) == pytest.approx(scores[place], rel=1e-12)
    stamp = {**row, "when": pandas.Timestamp(DAYS[59])}
    assert learner._score_one(stamp) == pytest.approx(scores[59], rel=1e-12)
    assert learner.predict_one(stamp) in (0.0, 1.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"when": "soon"}, "the value of 'when' must be a date as in the rows learned from, got 'soon'"),
        ({"price": "dear"}, "the value of 'price' must be a number as in the rows learned from, got 'dear'"),
        ({"size": "big"}, "the value of 'size' must be a number, got 'big'"),
        ({"when": None}, "the value of 'when' must be finite, got None"),
    ],
)
def test_one_row_that_does_not_fit_is_refused_and_changes_nothing(table, change, sentence):
    learner = learned(table(SALES))
    row = {name: cells[3] for name, cells in SALES.items() if name != "label"} | change
    before = learner.features.to_dict(), learner.core.weights.tobytes()
    with pytest.raises(InputError, match=sentence):
        learner.learn_one(row, 1)
    assert (learner.features.to_dict(), learner.core.weights.tobytes()) == before


def test_learning_from_one_row_is_learning_from_the_table(table):
    columns = {name: cells for name, cells in SALES.items() if name != "id"}
    whole = learned(table(columns))
    part = learned(table({name: cells[:50] for name, cells in columns.items()}))
    for place in range(50, 60):
        row = {name: cells[place] for name, cells in columns.items() if name != "label"}
        part.learn_one(row, SALES["label"][place])
    assert part.core.weights == pytest.approx(whole.core.weights, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        {"special": {"when": "date ymd since 2024-13-01"}},
        {"special": {"when": "nothing"}},
        {"special": {"other": "number with decimal comma"}},
        {"special": {"town": "left out"}},
        {"special": {"size": "number"}},
        {"special": ["when"]},
        {"label": 3},
    ],
)
def test_a_recipe_that_does_not_hold_together_is_refused(table, tmp_path, change):
    core = learned(table(SALES)).core
    stored = core.features.to_dict() | change
    with pytest.raises((ValueError, SettingError)):
        Features.from_dict(stored)


def test_a_forged_recipe_in_a_model_file_is_one_sentence(table, tmp_path, monkeypatch):
    core = learned(table(SALES)).core
    forged = core.features.to_dict() | {"special": {"town": "left out"}}
    monkeypatch.setattr(Features, "to_dict", lambda self: forged)
    model.save(core, tmp_path / "m.nr")
    with pytest.raises(ModelFileError, match=r"m\.nr: the model file is damaged \(the column 'town' does not fit"):
        model.load(tmp_path / "m.nr")


def test_nothing_is_recognised_in_partial_fit(table):
    learner = learned(table({name: cells[:50] for name, cells in SALES.items() if name in ("label", "size")}))
    frame = pandas.DataFrame({"size": [1.0] * 60, "note": MESSAGES, "id": IDS})
    learner.partial_fit(frame, SALES["label"])
    assert {name: str(kind) for name, kind in learner.features.columns.items()} == {
        "size": "number",
        "note": "category",
        "id": "category",
    }


def test_what_a_receipt_says_of_the_columns_is_enough_to_read_them_again(table, tmp_path):
    learner = learned(table(SALES, hash_bits=9))
    said = reading(learner.core)
    assert said["columns"] == {name: kind for name, kind in KINDS.items() if kind != "number"}
    assert (said["label"], said["hash_bits"]) == ("label", 9)
    digest = learner.core.segments[-1]["digest"]
    assert nr.play(nr.Perceptron(), table(SALES, **said), digest=True).digest == digest
    part = {name: cells[30:] for name, cells in SALES.items()}  # by itself it would be read otherwise
    assert table(part, **said).columns == KINDS
    assert table(part).columns != KINDS


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"columns": {"a": "word"}}, "there is no kind of column 'word'"),
        ({"columns": ["a"]}, "the columns must be names with what becomes of each"),
        (
            {"columns": {}, "text": "a"},
            "columns gives the kind of every column: leave out",
        ),
        ({"numeric": "a", "date": "a"}, "column 'a' cannot be both numeric and date"),
        ({"keep": "a", "ignore": "a"}, "column 'a' cannot be ignored and used too"),
        ({"label": "a", "keep": "a"}, "column 'a' is the label: it cannot be a feature too"),
        ({"features": Features.named(["a"]), "date": "a"}, "column 'a' is number in the model: it cannot be date now"),
    ],
)
def test_what_cannot_be_said_of_a_column(table, settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        table("label,a\n1,2\n", **settings)


@pytest.mark.parametrize("option", ["numeric", "date", "keep"])
def test_there_must_be_such_a_column(table, option):
    with pytest.raises(InputError, match=f"there is no column 'b' for {option}: the columns are label, a"):
        table("label,a\n1,2\n", **{option: "b"})
    with pytest.raises(SettingError, match=f"{option} names a column of a table"):
        read([({"a": 1.0}, 1)], **{option: "a"})


def test_a_typed_column_cannot_be_what_its_type_is_not():
    days = pyarrow.table({"label": [1], "a": pyarrow.array([datetime.date(2024, 1, 31)])})
    with pytest.raises(InputError, match="the table: column 'a' must hold numbers, it holds type date32"):
        read(days, numeric="a")
    with pytest.raises(InputError, match="the table: the label must be a number or a name, it holds type date32"):
        matrix(read(days, label="a"))
    assert read(days, categorical="a").columns == {"a": "category"}
    features = read(pyarrow.table({"label": [1], "a": ["$5"]})).features
    with pytest.raises(InputError, match="the table: column 'a' must hold numbers, it holds type date32"):
        matrix(read(days, features=features))
    assert matrix(read(pyarrow.table({"label": [1], "a": [7.5]}), features=features))[0].tolist() == [[7.5]]


def test_a_cache_is_made_of_what_was_recognised(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(written(SALES))
    plain = read(file)
    wanted, _ = matrix(plain)
    for _ in range(2):
        cached = read(file, cache=True)
        assert np.array_equal(matrix(cached)[0], wanted)
        assert (cached.decisions, cached.columns) == (plain.decisions, plain.columns)
        assert cached.features.to_dict() == plain.features.to_dict()
    assert (tmp_path / "rows.csv.nrcache").is_file()


@pytest.mark.parametrize(
    ("cells", "what", "other"),
    [
        ([f"${i}.50" for i in range(99)] + ["n.v."], "amounts", "n.v."),
        ([f"2024-{m:02}-{d:02}" for m in range(1, 5) for d in range(1, 26)] + ["2024-02-31"], "dates", "2024-02-31"),
    ],
)
def test_one_odd_cell_makes_a_category_and_a_line_not_an_identity(cells, what, other):
    found = decide({"c": cells}, {})["c"]
    assert str(found.kind) == "category"
    assert (
        found.line
        == f"categorical: column 'c' holds {what}, but also {other!r}: taken as a category (override: ignore=['c'])"
    )
