"""Numbers as people write them, and dates: read in bulk as a plain reader would read each."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import SettingError
from noregret.stream.cells import Strings, patterns
from noregret.stream.column import Dates, Kind
from noregret.stream.written import DAY, EPOCH, HOUR, NOT_THERE, amounts, as_written, instants


def read_as(mark, *cells):
    values, wrong = amounts(Strings.of(cells), mark)
    return [None if place in wrong else value for place, value in enumerate(values.tolist())]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("$1,234,567.80", 1234567.8),
        ("1,234", 1234.0),
        ("1 234.5", 1234.5),
        ("1\u00a0234\u202f567", None),  # two kinds of space
        ("1\u202f234\u202f567", 1234567.0),
        ("1'234.5", 1234.5),
        ("1’234", 1234.0),
        ("€ 5", 5.0),
        ("5 €", 5.0),
        ("£3", 3.0),
        ("¥300", 300.0),
        ("12.5 %", 12.5),
        ("12%", 12.0),
        ("(1,234.50)", -1234.5),
        ("($7)", -7.0),
        ("-$3", -3.0),
        ("$-3", -3.0),
        ("\u22124", -4.0),
        ("+4", 4.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1.5e-3", 0.0015),
        ("123456789012345678.5", 123456789012345678.5),
        (" 7 ", 7.0),
        ("3,5", None),
        ("1,23,456", None),
        ("0,123", None),  # nobody writes a zero before thousands
        ("1.234.567", None),
        ("-(5)", None),
        ("(5", None),
        ("$5$", None),
        ("--5", None),
        ("$", None),
        ("%", None),
        ("5 kg", None),
        ("9" * 80, None),
    ],
)
def test_amounts_with_a_decimal_point(cell, value):
    assert read_as("point", cell) == [value]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1.234.567,8", 1234567.8),
        ("3,5", 3.5),
        ("1.234", 1234.0),
        ("0,123", 0.123),
        ("1 234,5 €", 1234.5),
        ("1,5E+03", 1500.0),
        ("(2,5 %)", -2.5),
        ("7", 7.0),
        ("1.5", None),
        ("1,234.5", None),
    ],
)
def test_amounts_with_a_decimal_comma(cell, value):
    assert read_as("comma", cell) == [value]


def test_a_missing_amount_is_no_number_and_fits():
    values, wrong = amounts(Strings.of(["", "NA", "n/a", None, "?"]), "point")
    assert np.isnan(values).all() and not len(wrong)


@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1), st.sampled_from(["", "$", "€"]))
def test_amounts_are_read_as_they_were_written(numbers, sign):
    point = [f"{sign}{x:,.2f}" for x in numbers]
    comma = [cell.translate(str.maketrans(",.", ".,")) for cell in point]
    wanted = [float(f"{x:.2f}") for x in numbers]
    assert read_as("point", *point) == wanted
    assert read_as("comma", *comma) == wanted


def test_codes_stand_for_their_values():
    cells = Strings.of(["$5", "x"])
    values, wrong = amounts(Strings(cells.data, cells.starts, cells.stops, np.array([0, -1, 1, 0])), "point")
    assert (values[[0, 3]].tolist(), np.isnan(values[[1, 2]]).all(), wrong.tolist()) == ([5.0, 5.0], True, [2])
    dates = Strings.of(["1970-01-02", "x"])
    found, _, wrong = instants(Strings(dates.data, dates.starts, dates.stops, np.array([1, -1, 0])), "ymd")
    assert (found.tolist()[1:], wrong.tolist()) == ([NOT_THERE, DAY], [0])
    none = Strings.of([])
    assert instants(Strings(none.data, none.starts, none.stops, np.array([-1])), "ymd")[0].tolist() == [NOT_THERE]


def test_patterns_that_meet_in_one_number_are_told_apart(monkeypatch):
    cells = Strings.of(["a1", "b2", "a3"])
    known = sorted((one.text, one.places.tolist()) for one in patterns(cells))
    assert known == [(b"a0", [0, 2]), (b"b0", [1])]
    unique = np.unique

    def colliding(given, **options):
        return unique(np.zeros_like(given) if given.dtype == np.uint64 else given, **options)

    monkeypatch.setattr("noregret.stream.cells.np.unique", colliding)
    assert sorted((one.text, one.places.tolist()) for one in patterns(cells)) == known


def at(order, *cells):
    """Each cell's instant as a datetime, None for a missing one and "wrong" for none."""
    found, _, wrong = instants(Strings.of(cells), order)
    shown = [None if one == NOT_THERE else EPOCH + datetime.timedelta(microseconds=one) for one in found.tolist()]
    return ["wrong" if place in wrong else one for place, one in enumerate(shown)]


JANUARY = datetime.datetime(2024, 1, 31)


@pytest.mark.parametrize(
    ("order", "cell", "wanted"),
    [
        ("ymd", "2024-01-31", JANUARY),
        ("ymd", "2024/1/31", JANUARY),
        ("ymd", "2024.01.31", JANUARY),
        ("ymd", "20240131", JANUARY),
        ("ymd", "1706659200", JANUARY),
        ("ymd", "1706659200000", JANUARY),
        ("dmy", "31.01.2024", JANUARY),
        ("dmy", "31/1/2024", JANUARY),
        ("mdy", "01/31/2024", JANUARY),
        ("mdy", "1-31-2024", JANUARY),
        ("mdy", "2024-01-31", JANUARY),
        ("ymd", "2024-01-31T10:30", JANUARY.replace(hour=10, minute=30)),
        ("ymd", "2024-01-31 10:30:15.25", JANUARY.replace(hour=10, minute=30, second=15, microsecond=250000)),
        ("ymd", "2024-01-31T10:30:15.123456789Z", JANUARY.replace(hour=10, minute=30, second=15, microsecond=123456)),
        ("ymd", "2024-01-31T10:30:00+02:00", JANUARY.replace(hour=8, minute=30)),
        ("ymd", "2024-01-31T10:30-0130", JANUARY.replace(hour=12)),
        ("ymd", "2024-01-31 10:30 UTC", JANUARY.replace(hour=10, minute=30)),
        ("mdy", "1/31/2024 12:05 AM", JANUARY.replace(minute=5)),
        ("mdy", "1/31/2024 3:30:00 pm", JANUARY.replace(hour=15, minute=30)),
        ("ymd", "NA", None),
        ("ymd", "", None),
        ("ymd", "2024-02-30", "wrong"),
        ("ymd", "2023-02-29", "wrong"),
        ("ymd", "2024-13-01", "wrong"),
        ("ymd", "2024-00-01", "wrong"),
        ("ymd", "2024-01-31T24:00", "wrong"),
        ("mdy", "1/31/2024 13:05 AM", "wrong"),
        ("ymd", "2024-01/31", "wrong"),
        ("ymd", "31.01.2024", "wrong"),
        ("mdy", "31.01.2024", "wrong"),
        ("mdy", "31/01/2024", "wrong"),
        ("ymd", "soon", "wrong"),
    ],
)
def test_dates_as_they_are_written(order, cell, wanted):
    assert at(order, cell) == [wanted]


moments = st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2200, 1, 1))
zones = st.none() | st.integers(-14 * 60, 14 * 60).map(lambda m: datetime.timezone(datetime.timedelta(minutes=m)))


@given(st.lists(st.tuples(moments, zones), min_size=1))
def test_instants_and_clocks_are_those_of_python(given_moments):
    whole = [moment.replace(tzinfo=zone) for moment, zone in given_moments]
    found, clocks, wrong = instants(Strings.of([one.isoformat() for one in whole]), "ymd")
    micro = datetime.timedelta(microseconds=1)
    wanted = [(one.replace(tzinfo=None) - (one.utcoffset() or 0 * micro) - EPOCH) // micro for one in whole]
    assert (found.tolist(), len(wrong)) == (wanted, 0)
    values = Dates("ymd", wanted[0], True).values(found, clocks)
    for row, one in zip(values, whole, strict=True):
        assert row[1:8].tolist() == [float(day == one.weekday()) for day in range(7)]
        assert row[8:].tolist() == [float(hour == one.hour) for hour in range(24)]
    assert values[:, 0].tolist() == pytest.approx([(one - wanted[0]) / DAY for one in wanted], rel=1e-14)


def test_a_missing_date_has_no_days_and_no_weekday():
    values = Dates("ymd", 0, False).values(np.array([NOT_THERE, DAY]), np.array([0, DAY]))
    assert math.isnan(values[0, 0]) and values[0, 1:].sum() == 0.0
    assert values[1, 0] == 1.0 and values[1, 1:].sum() == 1.0


@pytest.mark.parametrize(
    "text",
    [
        *("number", "number with decimal point", "number with decimal comma", "category", "text", "left out"),
        *("date ymd since 2024-01-31", "date dmy since 2024-01-31T10:30:00 with hours"),
    ],
)
def test_a_kind_is_read_as_it_was_written_down(text):
    assert str(Kind.of(text)) == text


@pytest.mark.parametrize("text", ["numbers", "date", "date ymd since 2024-13-01", "date ymd since", 3, None, ["text"]])
def test_other_kinds_there_are_none(text):
    with pytest.raises(SettingError, match="there is no kind of column"):
        Kind.of(text)


def test_hours_alone_do_not_move_an_origin():
    assert Kind.of("date ymd since 2024-01-31 with hours").dates == Dates("ymd", 19753 * 24 * HOUR, True)


def test_dates_of_python_and_numpy_are_written_as_in_a_file():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert as_written(datetime.datetime(2024, 1, 31, 10, tzinfo=zone)) == "2024-01-31T10:00:00+02:00"
    assert as_written(np.datetime64("2024-01-31T10:30")) == "2024-01-31T10:30"
    assert as_written(np.datetime64("NaT")) is None
    assert as_written(None) is None
