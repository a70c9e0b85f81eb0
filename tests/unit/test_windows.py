"""Windows of a run: their limits, their ledgers, what stood still; and that no way of reading or stopping matters."""

import math
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import noregret as nr
from noregret.domain import Domain
from noregret.errors import InputError, ModelFileError, SettingError
from noregret.interval import Interval
from noregret.learner import LEARNERS
from noregret.model import load, save
from noregret.stream.block import Dense
from noregret.watch.ledger import Ledger
from noregret.watch.retention import keeps, limits
from noregret.watch.switching import best_switching
from noregret.watch.windows import Watching, Windows, again

# golden-live.json, "retention": what is kept at time T, without 0
RETENTION = [
    (5, 1, [2, 4, 5]),
    (5, 2, [2, 3, 4, 5]),
    (10, 1, [4, 8, 9, 10]),
    (10, 2, [4, 6, 7, 8, 9, 10]),
    (100, 1, [64, 80, 88, 96, 98, 99, 100]),
    (100, 2, [32, 48, 64, 72, 80, 88, 92, 94, 96, 97, 98, 99, 100]),
]
# golden-live.json, "switching": P and G of five parts, U = 2, and the best certificates with at most 0, 1, … switches
PAID = [0.875, 1.875, 2.0, 0.375, 1.625]
SUMS = [[-1.25, 1.25], [1.375, -0.25], [-0.5, -0.375], [1.5, 0.875], [-0.625, -0.75]]
SWITCHING = [8.552775637731994, 13.925588850572996, 17.0143396185451, 17.861788639032508, 19.75629229414659]


def stream(rounds=230, features=4, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    return X, np.where(X @ rng.normal(size=features) + 0.5 * rng.normal(size=rounds) > 0, 1, -1)


# -- which limits are kept ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("now", "kept", "expected"), RETENTION)
def test_the_limits_that_are_kept(now, kept, expected):
    assert [limit for limit in limits(now, kept) if limit] == expected


@pytest.mark.parametrize("kept", [1, 2, 4, 8])
def test_for_every_length_a_limit_is_kept_that_is_hardly_older(kept):
    for now in [*range(1, 200), 1000, 1023, 1024]:
        ages = [now - limit for limit in limits(now, kept)]
        for wanted in range(1, now + 1):
            assert (
                any(wanted <= age < (1 + 2 / kept) * wanted for age in ages)
                or min(age for age in ages if age >= wanted) == now
            )
        assert len(ages) <= kept * (now.bit_length() + 1) + 1


def test_what_is_dropped_is_never_kept_again():
    for limit in range(1, 300):
        kept = [keeps(limit, now, 4) for now in range(limit, 2000)]
        assert sorted(kept, reverse=True) == kept


# -- comparators that change -------------------------------------------------------------------------------------------


def ledger(paid, G):
    return Ledger(1, Interval.of(0.0), Interval.of(paid), np.array(G), 0.0, 1.0)


def test_the_best_partition_is_that_of_the_golden_numbers():
    parts = [ledger(*one) for one in zip(PAID, SUMS, strict=True)]

    def bound(i, j):
        found = parts[i]
        for part in parts[i + 1 : j]:
            found = found + part
        return found.ball(2.0).hi

    found = best_switching(5, bound, 4)
    for value, expected in zip(found, SWITCHING, strict=True):
        assert expected * (1 - 1e-15) <= value <= expected * (1 + 1e-12)


@given(some.lists(some.tuples(*[some.integers(-8, 8)] * 3), min_size=1, max_size=6))
def test_the_best_partition_is_the_best_of_all(numbers):
    """Every partition by hand, where norms are |G| of one number."""

    def bound(i, j):
        return sum(p for p, _, _ in numbers[i:j]) + abs(sum(g for _, g, _ in numbers[i:j])) * 0.5

    def splits(start, blocks):
        yield [(start, len(numbers))]
        if blocks > 1:
            for stop in range(start + 1, len(numbers)):
                for rest in splits(stop, blocks - 1):
                    yield [(start, stop), *rest]

    for switches, value in enumerate(best_switching(len(numbers), bound, 3)):
        best = max(sum(bound(*one) for one in split) for split in splits(0, switches + 1))
        assert best <= value <= best + 1e-12 * (1 + abs(best))


# -- what is told ------------------------------------------------------------------------------------------------------


def exact(X, y, scores, first, last):
    """P and G of some rounds under the hinge loss, in fractions."""
    slopes = [
        Fraction(-int(y[t])) if Fraction(float(scores[t])) * int(y[t]) < 1 else Fraction(0) for t in range(len(y))
    ]
    paid = sum(slopes[t] * Fraction(float(scores[t])) for t in range(first, last))
    G = [sum(slopes[t] * Fraction(float(X[t, i])) for t in range(first, last)) for i in range(X.shape[1])]
    return paid, G


def test_every_window_is_bounded_as_the_formula_says():
    X, y = stream()
    told = []
    run = nr.play(
        nr.OnlineGradientDescent(radius=2.0),
        (X, y),
        windows=Windows("every:50"),
        watch=lambda block, labels, scores: told.append(scores.copy()),
    )
    scores = np.concatenate(told)
    parts = run.windows["parts"]
    assert [(one["first"], one["last"], one["rounds"]) for one in parts] == [
        (1, 50, 50), (51, 100, 50), (101, 150, 50), (151, 200, 50), (201, 230, 30),
    ]  # fmt: skip
    assert [one.get("open") for one in parts] == [None, None, None, None, True]
    for one in parts:
        first, last = one["first"] - 1, one["last"]
        paid, G = exact(X, y, scores, first, last)
        bound = float(paid) + 2.0 * math.sqrt(sum(g * g for g in G))
        assert bound <= one["bound"] <= bound + 1e-9
        loss = float(np.maximum(1.0 - y * scores, 0.0)[first:last].sum())
        assert one["loss"] == pytest.approx(loss, rel=1e-14)
        assert max(0.0, loss - bound - 1e-9) <= one["best_at_least"] <= max(0.0, loss - bound)
        assert one["mistakes"] == int(np.count_nonzero(scores[first:last] * y[first:last] <= 0.0))


def test_the_frozen_model_is_the_one_of_the_start_of_the_window():
    X, y = stream()
    run = nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y), windows=Windows("every:50"))
    for one in run.windows["parts"]:
        first, last = one["first"] - 1, one["last"]
        before = nr.OnlineGradientDescent(radius=2.0)
        if first:
            nr.play(before, (X[:first], y[:first]))
        scores = before.core.scores(Dense(X[first:last]))
        assert one["frozen"]["mistakes"] == int(
            np.count_nonzero(before.core.missed(scores, y[first:last].astype(float)))
        )
        assert one["frozen"]["loss"] == pytest.approx(float(np.maximum(1.0 - y[first:last] * scores, 0.0).sum()))


def test_joined_windows_are_those_of_the_retention_and_lose_nothing():
    X, y = stream(1000, 3)
    few = nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y), windows=Windows(10)).windows
    all_ = nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y), windows=Windows("every:10")).windows
    assert [one["first"] - 1 for one in few["parts"]] == [10 * limit for limit in limits(100)[:-1]]
    assert sum(one["rounds"] for one in few["parts"]) == 1000
    for one in few["parts"]:
        within = [part for part in all_["parts"] if one["first"] <= part["first"] <= one["last"]]
        assert one["mistakes"] == sum(part["mistakes"] for part in within)
        assert one["frozen"]["mistakes"] == sum(part["frozen"]["mistakes"] for part in within)
        assert one["loss"] == pytest.approx(sum(part["loss"] for part in within), rel=1e-12)
        assert one["bound"] <= sum(part["bound"] for part in within) + 1e-9


def test_the_last_rounds_are_windows_that_hold_as_many():
    X, y = stream(12000, 2)
    found = nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y), windows=Windows(100)).windows
    assert [one["asked"] for one in found["last"]] == [1000, 10000]
    for one in found["last"]:
        assert one["last"] == 12000
        assert one["asked"] <= one["rounds"] < 1.5 * one["asked"]


def test_a_comparator_that_may_change_gains_no_less():
    X, y = stream(600, 3)
    whole = nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y), windows=Windows("every:100")).windows["whole"]
    ladder = [whole["bound"], *(whole["switches"][k] for k in "123"), whole["bound_for_each_window"]]
    assert ladder == sorted(ladder)
    assert whole["loss"] == pytest.approx(nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y)).loss)


def test_many_windows_have_no_search_for_changes():
    X, y = stream(70, 2)
    whole = nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y), windows=Windows("every:1")).windows["whole"]
    assert whole["switches"] is None
    assert whole["bound_for_each_window"] >= whole["bound"]


# -- any learner -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_windows_of_every_learner(name):
    X, y = stream(90, 3)
    settings = {"unit_norm": True} if name == "coin" else {}
    core = LEARNERS[name](**settings)
    labels = X[:, 0] + 0.5 if core.regression else y
    plain = LEARNERS[name](**settings)
    run = nr.play(core, (X, labels), windows=Windows(20))
    other = nr.play(plain, (X, labels))
    assert run.loss == other.loss and run.mistakes == other.mistakes
    found = run.windows
    assert sum(one["rounds"] for one in found["parts"]) == 90
    if not core.regression:
        assert sum(one["mistakes"] for one in found["parts"]) == run.mistakes
    if found["against"] is None:
        assert all(one["bound"] is None for one in found["parts"]) and found["whole"] is None
    else:
        assert all(one["bound"] is not None for one in found["parts"])


@pytest.mark.parametrize("domain", ["ball", "box", "l1", "simplex"])
def test_the_bound_is_that_of_the_domain(domain):
    X, y = stream(80, 3)
    learner = nr.OnlineGradientDescent(radius=2.0, domain=domain, rate="sqrt:0.5")
    run = nr.play(learner, (X, y), windows=Windows("every:80"))
    assert run.windows["against"]["domain"] == domain
    (part,) = run.windows["parts"]
    assert run.regret_upper <= part["bound"] <= run.regret_upper * (1 + 1e-12) + 1e-9


# -- however it is read and stopped ------------------------------------------------------------------------------------


def in_blocks(source, sizes=(7, 1, 30, 12)):
    """The stream in blocks of these sizes."""
    blocks = source.blocks

    def split():
        for block in blocks():
            start, turn = 0, 0
            while start < len(block):
                stop = min(start + sizes[turn % len(sizes)], len(block))
                yield block.slice(start, stop)
                start, turn = stop, turn + 1

    source.blocks = split
    return source


@pytest.mark.parametrize("name", ["ogd", "auto", "perceptron", "multiclass", "ftrl"])
def test_any_split_gives_the_same_bits(name, tmp_path):
    X, y = stream(230, 4)
    whole, parts = LEARNERS[name](), LEARNERS[name]()
    one = nr.play(whole, (X, y), windows=Windows(20))
    other = nr.play(parts, in_blocks(nr.read((X, y))), windows=Windows(20))
    assert one.windows == other.windows
    assert whole.core.watched == parts.core.watched


@pytest.mark.parametrize("length", ["20", "every:20"])
@pytest.mark.parametrize("name", ["ogd", "auto", "multiclass", "ridge"])
@pytest.mark.parametrize("at", [1, 20, 57, 200])
def test_saved_and_gone_on_with_is_never_stopped(name, at, length, tmp_path):
    X, y = stream(230, 4)
    labels = X[:, 0] * 2.0 if LEARNERS[name]().regression else y
    whole = LEARNERS[name]()
    one = nr.play(whole, (X, labels), windows=Windows(length))
    first = LEARNERS[name]()
    nr.play(first, (X[:at], labels[:at]), windows=Windows(length))
    save(first.core, tmp_path / "m.nr")
    second, _ = load(tmp_path / "m.nr")
    other = nr.play(second, (X[at:], labels[at:]), windows=again(second))
    assert one.windows == other.windows
    assert whole.core.watched == second.watched


def test_rows_without_weight_are_in_no_window():
    X, y = stream(60, 3)
    weights = np.ones(60)
    weights[[0, 19, 20, 40, 59]] = 0.0
    run = nr.play(nr.OnlineGradientDescent(), nr.read((X, y, weights)), windows=Windows("every:20"))
    assert [one["rounds"] for one in run.windows["parts"]] == [20, 20, 15]


# -- days and weeks ----------------------------------------------------------------------------------------------------


def dated(path, days, features=2, seed=0, stamp=lambda day: day.isoformat()):
    rng = np.random.default_rng(seed)
    lines = ["when,a,b,label"]
    for day in days:
        a, b = rng.normal(size=2)
        lines.append(f"{stamp(day)},{a},{b},{1 if a + b > 0 else -1}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_days_and_weeks_are_those_of_the_column(tmp_path):
    monday = date(2024, 1, 1)
    days = [monday + timedelta(days=i // 3) for i in range(60)]
    table = dated(tmp_path / "t.csv", days)
    source = nr.read(table, label="label", ignore=["when"])
    found = nr.play(nr.OnlineGradientDescent(), source, windows=Windows("day", time="when")).windows
    assert [one["from"] for one in found["parts"]] == [(monday + timedelta(days=i)).isoformat() for i in range(20)]
    assert [one["rounds"] for one in found["parts"]] == [3] * 20
    source = nr.read(table, label="label", ignore=["when"])
    found = nr.play(nr.OnlineGradientDescent(), source, windows=Windows("week", time="when")).windows
    assert [(one["from"], one["rounds"]) for one in found["parts"]] == [
        ("2024-01-01", 21),
        ("2024-01-08", 21),
        ("2024-01-15", 18),
    ]


def test_the_day_is_that_of_the_clock_or_of_the_zone(tmp_path):
    stamps = ["2024-03-30T22:30Z", "2024-03-30T23:30Z", "2024-03-31T21:30Z", "2024-03-31T22:30Z"]
    days = iter(stamps)
    table = dated(tmp_path / "t.csv", stamps, stamp=lambda day: next(days))
    for zone, expected in (
        (None, ["2024-03-30", "2024-03-31"]),
        ("Europe/Paris", ["2024-03-30", "2024-03-31", "2024-04-01"]),
    ):
        source = nr.read(table, label="label", ignore=["when"])
        asked = Windows("day", time="when", time_zone=zone)
        found = nr.play(nr.OnlineGradientDescent(), source, windows=asked).windows
        assert [one["from"] for one in found["parts"]] == expected


def test_rows_must_come_in_the_order_of_time(tmp_path):
    table = dated(tmp_path / "t.csv", [date(2024, 1, 2), date(2024, 1, 1), date(2024, 1, 1)])
    source = nr.read(table, label="label", ignore=["when"])
    with pytest.raises(InputError, match=r":3: the time of this row is before"):
        nr.play(nr.OnlineGradientDescent(), source, windows=Windows("day", time="when"))


# -- what cannot be ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("0",), "windows must be a number of rounds such as 1000"),
        (("month",), "windows must be a number of rounds"),
        (("every:x",), "windows must be a number of rounds"),
        (("-3",), "windows must be a number of rounds"),
        (("day",), "needs the column with the dates: time="),
        (("1000", "when"), "time goes with windows='day' or 'week'"),
        (
            ("day", "when", "Mars/Olympus"),
            "time_zone must be a time zone such as UTC or Europe/Paris, got 'Mars/Olympus'",
        ),
        (("1000", None, None, -1.0), "radius must be positive and finite, got -1.0"),
    ],
)
def test_windows_that_cannot_be(given, sentence):
    with pytest.raises(SettingError, match=sentence):
        Windows(*given)


def test_a_radius_beside_the_learners_own():
    with pytest.raises(SettingError, match="radius conflicts with the learner, which has 2: leave it out"):
        Watching(Windows("10", radius=3.0), nr.OnlineGradientDescent(radius=2.0).core)
    assert Watching(Windows("10", radius=3.0), nr.Perceptron().core).domain == Domain("ball", 3.0)


def test_a_model_with_windows_needs_them(tmp_path):
    X, y = stream(30, 2)
    learner = nr.OnlineGradientDescent()
    nr.play(learner, (X, y), windows=Windows(10))
    with pytest.raises(SettingError, match="keeps windows, which must see every round"):
        nr.play(learner, (X, y))
    with pytest.raises(SettingError, match="windows='20' conflicts with the model, which has 10"):
        nr.play(learner, (X, y), windows=Windows(20))
    learner.learn_one(X[0], 1)
    with pytest.raises(SettingError, match="rounds that its windows did not see"):
        nr.play(learner, (X, y), windows=Windows(10))


def test_several_passes_have_no_windows():
    with pytest.raises(SettingError, match="give one pass, got 2"):
        nr.play(nr.OnlineGradientDescent(), stream(30, 2), passes=2, windows=Windows(10))


def test_a_damaged_model_gets_a_sentence(tmp_path):
    X, y = stream(35, 2)
    learner = nr.OnlineGradientDescent()
    nr.play(learner, (X, y), windows=Windows(10))
    whole = learner.core.watched["windows"]
    for damage in (
        {"parts": 3},
        {"parts": [{"units": [0, 1]}]},
        {"open": {"unit": 1}},
        {"parts": [*whole["parts"][:1], *whole["parts"][2:]]},
        {"keys": "no"},
    ):
        learner.core.watched = {"windows": {**whole, **damage}}
        with pytest.raises(ModelFileError, match="its windows cannot be read"):
            Watching(Windows(10), learner.core)
