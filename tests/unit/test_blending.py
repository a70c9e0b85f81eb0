"""Blend: tables of every kind, streaming = whole, resume bit for bit, comparators, sentences with file and line."""

import math

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noregret.errors import InputError, ModelFileError, SettingError
from noregret.experts.blender import Blender
from noregret.experts.methods import METHODS
from noregret.proof.verify import verify
from noregret.task.blend import blend
from oracle import experts as twin

WEATHER = """day,anna,bert,cleo,rain
1,0.9,0.2,0.5,1
2,0.8,0.4,,1
3,0.9,0.1,0.5,0
4,,0.3,0.5,0
5,0.7,0.2,0.5,1
"""
NAMES = ["anna", "bert", "cleo"]


@pytest.fixture
def weather(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weather.csv").write_text(WEATHER)
    return "weather.csv"


def numbers(rounds=200, experts=4, seed=0, sleepers=0.0):
    rng = np.random.default_rng(seed)
    y = rng.random(rounds)
    x = np.clip(y[:, None] + rng.normal(0.0, np.linspace(0.05, 0.4, experts), (rounds, experts)), 0.0, 1.0)
    x[rng.random(x.shape) < sleepers] = np.nan
    x[np.isnan(x).all(axis=1), 0] = 0.5
    return x, y


def test_a_table_is_the_same_blend_in_every_form(weather):
    frame = pandas.read_csv(weather)
    frame.to_parquet("weather.parquet")
    asked = {"outcome": "rain", "experts": NAMES, "loss": "log"}
    first = blend(weather, **asked)
    arrays = (frame[NAMES].to_numpy(), frame["rain"].to_numpy())
    others = [
        blend(frame, **asked),
        blend(polars.read_csv(weather), **asked),
        blend("weather.parquet", **asked),
        blend({name: frame[name].tolist() for name in frame}, **asked),
        blend(arrays, experts=NAMES, loss="log"),
    ]
    for other in others:
        assert other.to_dict() == first.to_dict()
        assert other.receipt().to_dict()["points"] == first.receipt().to_dict()["points"]
    assert first.rounds == 5
    assert [row["awake"] for row in first.table()] == [4, 5, 4]


def test_the_mixture_is_its_twin_with_sleepers_and_all(weather):
    found = blend(weather, outcome="rain", experts=NAMES, loss="log")
    rows = [[0.9, 0.2, 0.5], [0.8, 0.4, None], [0.9, 0.1, 0.5], [None, 0.3, 0.5], [0.7, 0.2, 0.5]]
    said, own = twin.mixture(rows, [1, 1, 0, 0, 1], "log", 1.0)
    assert found.forecasts[:, 0] == pytest.approx(said, abs=1e-14)
    assert found.losses == pytest.approx(own, abs=1e-14)
    assert found.weights[1][2] == 0.0 and found.weights[1].sum() == pytest.approx(1.0)
    played = list(zip(rows, [1, 1, 0, 0, 1], own, strict=True))
    regrets = [sum(lost - twin.loss_of("log", row[i], y) for row, y, lost in played if row[i]) for i in range(3)]
    assert [row["regret"] for row in found.table()] == pytest.approx(regrets, abs=1e-12)
    assert found.best == NAMES[int(np.argmax(regrets))]
    assert found.regret == pytest.approx(max(regrets), abs=1e-12)


@pytest.mark.parametrize("loss", ["squared", "absolute", "brier"])
@pytest.mark.parametrize("method", METHODS)
def test_streaming_and_stopping_is_the_whole_table_bit_for_bit(loss, method, tmp_path):
    if (method, loss) in (("mixture", "absolute"), ("gradient", "brier")):
        return
    x, y = numbers(60, sleepers=0.2)
    y = np.round(y) if loss == "brier" else y
    found = blend((x, y), loss=loss, method=method)
    blender = Blender(4, loss=loss, method=method, rounds=60)
    for t in range(60):
        if t in (7, 31):
            blender.save(tmp_path / "b.nr")
            blender = Blender.load(tmp_path / "b.nr")
        first = blender.predict(x[t])
        assert first == blender.predict(x[t]) == found.forecasts[t, 0]
        assert blender.learn(y[t]) == found.losses[t]
    assert blender.rounds == 60
    assert blender.loss == pytest.approx(found.loss, rel=1e-14)
    assert blender.regret == pytest.approx(found.regret, abs=1e-12)
    assert blender.best.split()[1] == found.best.split()[1]
    assert np.array(list(blender.weights().values())).tobytes() == found.last_weights.tobytes()


def test_labels_and_several_outcomes_stream_by_name(tmp_path):
    votes = Blender(["a", "b", "c"], loss="zero-one", outcomes=["no", "yes"])
    assert votes.predict({"a": "yes", "b": "yes", "c": "no"}) == "yes"
    assert votes.learn("no") == pytest.approx(2 / 3)
    assert votes.predict(["yes", None, "no"]) == "no"
    rng = np.random.default_rng(0)
    assert {votes.choose(rng) for _ in range(50)} == {"a", "c"}
    assert 0.0 < votes.learn("no") < 0.5
    three = Blender(["a", "b"], loss="brier", outcomes=["sun", "rain", "snow"])
    said = three.predict({"a": [0.2, 0.3, 0.5], "b": {"sun": 1.0, "rain": 0.0, "snow": 0.0}})
    assert said == pytest.approx({"sun": 0.6, "rain": 0.15, "snow": 0.25})
    assert three.learn("sun") == pytest.approx(0.4**2 + 0.15**2 + 0.25**2)
    three.save(tmp_path / "three.nr")
    assert Blender.load(tmp_path / "three.nr").weights() == three.weights()
    plain = Blender(2, loss="costs", range=(0, 10))
    assert plain.learn_costs([3.0, 7.0]) == 5.0


def test_zero_one_counts_the_expected_loss_and_the_mistakes_of_the_vote():
    table = {"y": ["a", "b", "b", "a"], "one": ["a", "a", "b", "a"], "two": ["b", "b", "b", None]}
    found = blend(table, outcome="y", experts=["one", "two"], loss="zero-one", method="weighted-majority")
    rows = [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, None]]
    weights, own = twin.weighted_majority(rows, 4)
    assert found.losses == pytest.approx(own, abs=1e-14)
    assert found.weights == pytest.approx(np.array(weights), abs=1e-14)
    assert [found.data.names[int(code)] for code in found.forecasts[:, 0]] == ["a", "a", "b", "a"]
    assert found.mistakes == 1 == found.to_dict()["mistakes"]


def test_several_outcomes_in_columns_named_expert_and_outcome():
    table = {
        "anna:sun": [0.5, 0.2, 0.1],
        "anna:rain": [0.5, 0.7, 0.1],
        "anna:snow": [0.0, 0.1, 0.8],
        "bert:snow": [0.2, 0.2, None],
        "bert:sun": [0.2, 0.2, 0.2],
        "bert:rain": [0.6, 0.6, 0.2],
        "came": ["rain", "sun", "snow"],
        "note": ["x", "y", "z"],
    }
    found = blend(table, outcome="came", experts=["anna", "bert"], loss="brier")
    rows = [[[0.5, 0.5, 0.0], [0.2, 0.6, 0.2]], [[0.2, 0.7, 0.1], [0.2, 0.6, 0.2]], [[0.1, 0.1, 0.8], None]]
    said, own = twin.mixture(rows, [1, 0, 2], "brier", 0.25)
    assert found.data.names == ("sun", "rain", "snow")
    assert found.forecasts == pytest.approx(np.array(said), abs=1e-14)
    assert found.losses == pytest.approx(own, abs=1e-14)
    single = {"anna": [0.2, 0.9], "came": [0, 1]}
    one = blend(single, outcome="came", experts=["anna"], loss="brier")
    assert one.losses == pytest.approx([0.08, 0.02])


def test_who_led_when_and_the_best_sequence():
    costs = {"a": [0, 0, 0, 1, 1, 1, 1, 1], "b": [1, 1, 1, 0, 0, 0, 0, 0]}
    found = blend(costs, costs=["a", "b"], switches=1)
    assert found.leaders() == [(1, 6, "a"), (7, 8, "b")]
    assert found.to_dict()["switching"]["parts"] == [[1, 3, "a"], [4, 8, "b"]]
    assert found.to_dict()["switching"]["loss"] == 0.0
    assert found.best == "b" and found.best_loss == 3.0


@settings(max_examples=25)
@given(arrays(np.float64, (12, 3), elements=st.floats(0, 1)), arrays(np.float64, 12, elements=st.floats(0, 1)))
def test_no_single_expert_beats_the_best_combination(x, y):
    found = blend((x, y), loss="squared")
    best = found.combination()
    assert best.lower <= best.upper
    assert best.lower <= found.best_loss + 1e-12


def test_the_best_combination_of_chances(weather):
    found = blend(weather, outcome="rain", experts=["bert"], loss="log").combination()
    true = -sum(map(math.log, [0.2, 0.4, 0.9, 0.7, 0.2]))
    assert found.lower <= true <= found.upper
    with pytest.raises(SettingError, match="needs a forecast from every expert in every round"):
        blend(weather, outcome="rain", experts=NAMES, loss="log").combination()


def test_one_at_zero_is_out_and_all_at_zero_is_a_sentence():
    table = {"a": [0.0, 0.5], "b": [0.5, 0.5], "y": [1, 1]}
    found = blend(table, outcome="y", experts=["a", "b"], loss="log")
    assert found.last_weights.tolist() == [0.0, 1.0]
    assert found.best == "b"
    assert found.regret <= math.log(2)
    table["b"] = [0.5, 0.0]
    with pytest.raises(InputError, match=r"the table:2: every remaining expert gave the outcome probability 0"):
        blend(table, outcome="y", experts=["a", "b"], loss="log")


ROWS = {
    "anna": (
        "anna,y\n0.5,1\n1.5,1\n",
        "squared",
        "t.csv:3: column 'anna' is 1.5, outside [0, 1]: declare another range with range=(lo, hi)",
    ),
    "outcome": ("anna,y\n0.5,1\n0.5,-2\n", "absolute", "t.csv:3: the outcome, column 'y', is -2, outside [0, 1]"),
    "chance": ("anna,y\n1.5,1\n", "log", "t.csv:2: column 'anna' is 1.5, outside [0, 1], so it is not a probability"),
    "label": ("anna,y\n0.5,1\n0.5,0.5\n", "brier", "t.csv:3: the outcome, column 'y', must be 0 or 1, got 0.5"),
    "missing": ("anna,y\n0.5,1\n0.5,\n", "squared", "t.csv:3: the outcome, column 'y', is missing"),
    "silent": ("anna,y\n0.5,1\n,1\n", "squared", "t.csv:3: every forecast in this row is missing"),
    "infinite": ("anna,y\n0.5,inf\n", "squared", "t.csv:2: the outcome, column 'y', must be finite"),
    "word": ("anna,y\n0.5,1\nhalf,1\n", "squared", "t.csv:3: column 'anna' must hold numbers, got 'half'"),
    "no column": ("bert,y\n0.5,1\n", "squared", "t.csv: there is no column 'anna': the columns are bert, y"),
    "no outcome": ("anna,z\n0.5,1\n", "zero-one", "t.csv: there is no column 'y': the columns are anna, z"),
    "sum": ("anna:a,anna:b,y\n0.5,0.5,a\n0.5,0.4,b\n", "brier", "t.csv:3: the probabilities of anna must sum to 1"),
    "unknown": ("anna:a,anna:b,y\n0.5,0.5,c\n", "log", "t.csv:2: the outcome 'c' has no column anna:c"),
    "no label": ("anna,y\na,\n", "zero-one", "t.csv:2: the outcome, column 'y', is missing"),
    "empty": ("anna,y\n", "squared", "t.csv: holds no rows"),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_wrong_with_a_table_is_said_with_its_line(name, tmp_path, monkeypatch):
    text, loss, sentence = ROWS[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError) as said:
        blend("t.csv", outcome="y", experts=["anna"], loss=loss)
    assert str(said.value).startswith(sentence)


X, Y = numbers(5)
SETTINGS = {
    "needs either outcome, experts and loss, or costs, not both": {"costs": ["a"], "loss": "squared"},
    "the expert 'a' is given twice": {"experts": ["a", "a"], "outcome": "y", "loss": "squared"},
    "the column 'a' cannot be both the outcome and an expert": {"experts": ["a"], "outcome": "a", "loss": "squared"},
    "loss must be one of squared, absolute, log, zero-one, brier, got 'hinge'": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "hinge",
    },
    "loss is missing (loss is one of squared, absolute, log, zero-one, brier)": {"experts": ["a"], "outcome": "y"},
    "outcome and loss are missing (loss is one of squared, absolute, log, zero-one, brier)": {"experts": ["a"]},
    "experts is missing: the columns are": {"outcome": "y", "loss": "squared"},
    "outcome, experts and loss are missing": {},
    "against must be one of expert, mean, got 'both'": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "squared",
        "against": "both",
    },
    "method hedge competes with the best expert; against mean is method gradient": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "squared",
        "method": "hedge",
        "against": "mean",
    },
    "method gradient competes with the best mean, so against cannot be expert": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "squared",
        "method": "gradient",
        "against": "expert",
    },
    "method gradient accepts only the losses squared and absolute, got log": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "log",
        "against": "mean",
    },
    "the last value is an expert for squared, absolute, zero-one loss, not for log": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "log",
        "last_value": True,
    },
    "method must be one of mixture, ": {"experts": ["a"], "outcome": "y", "loss": "squared", "method": "best"},
    "method mixture accepts only the losses log, squared and brier, got absolute": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "absolute",
        "method": "mixture",
    },
    "method must be mixture for the log loss, which is unbounded, got hedge": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "log",
        "method": "hedge",
    },
    "a range is for squared and absolute loss and for costs, not for brier": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "brier",
        "range": (0, 2),
    },
    "range must be finite with low < high, got 1 and 0": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "squared",
        "range": (1, 0),
    },
    "rate must be one of one, two, root-eight, got 'three'": {
        "experts": ["a"],
        "outcome": "y",
        "loss": "absolute",
        "method": "hedge",
        "rate": "three",
    },
    "switches must be at least 0, got -1": {"costs": ["a"], "switches": -1},
}


@pytest.mark.parametrize("sentence", SETTINGS)
def test_what_is_wrong_with_settings_is_said(sentence):
    with pytest.raises(SettingError) as said:
        blend({"a": [0.0, 1.0], "y": [1.0, 1.0]}, **SETTINGS[sentence])
    assert str(said.value).startswith(f"blend: {sentence}")


def test_what_is_wrong_with_a_stream_of_rounds_is_said(tmp_path):
    blender = Blender(["a", "b"], loss="squared")
    with pytest.raises(SettingError, match="call predict before learn"):
        blender.learn(1.0)
    with pytest.raises(SettingError, match=r"a says 3, outside \[0, 1\]"):
        blender.predict([3.0, 0.0])
    with pytest.raises(SettingError, match="a round has 2 forecasts, got 1"):
        blender.predict([0.5])
    with pytest.raises(SettingError, match="every forecast in this round is missing"):
        blender.predict([None, math.nan])
    blender.predict([0.5, 0.5])
    with pytest.raises(SettingError, match="a round waits for its outcome"):
        blender.save(tmp_path / "b.nr")
    with pytest.raises(SettingError, match=r"the outcome 7 lies outside \[0, 1\]"):
        blender.learn(7.0)
    assert blender.learn(0.5) == 0.0
    with pytest.raises(SettingError, match="fixed-share needs the number of rounds beforehand"):
        Blender(2, loss="absolute", method="fixed-share")
    with pytest.raises(SettingError, match="'maybe' is not one of the outcomes no, yes"):
        Blender(1, loss="zero-one", outcomes=["no", "yes"]).predict(["maybe"])
    (tmp_path / "b.nr").write_bytes(b"NOREGRET and so on")
    with pytest.raises(ModelFileError, match="is not an experts file"):
        Blender.load(tmp_path / "b.nr")


def test_what_is_missing_is_said_at_once_with_an_example():
    table = {"day": [1, 2, 3], "anna": [40.0, 42.0, 41.0], "bert": [44.0, None, 45.0], "target": [41.5, 43.0, 44.25]}
    with pytest.raises(SettingError) as said:
        blend(table)
    assert str(said.value) == (
        "blend: outcome, experts and loss are missing (loss is one of squared, absolute, log, zero-one, brier):"
        " the columns are day, anna, bert, target; for example blend(table, outcome='target', experts=['anna', 'bert'],"
        " loss='absolute', range=(40, 45))"
    )
    chances = {"rain": [1, 0], "a": [0.25, 0.5], "b": [0.5, 0.25]}
    with pytest.raises(
        SettingError, match=r"for example blend\(table, outcome='rain', experts=\['a', 'b'\], loss='log'\)"
    ):
        blend(chances, outcome="rain")
    with pytest.raises(InputError, match=r"there are no columns 'x', 'z': the columns are rain, a, b"):
        blend(chances, outcome="rain", experts=["x", "a", "z"], loss="log")
    with pytest.raises(SettingError, match=r"outcome and experts are missing: the columns are word$"):
        blend({"word": ["a", "b"]}, loss="log")


def test_the_absolute_loss_competes_with_the_best_mean_unless_told_otherwise():
    x, y = numbers(40)
    assert blend((x, y), loss="absolute").reading["method"] == "gradient"
    assert blend((x, y), loss="absolute", against="expert").reading["method"] == "adahedge"
    assert blend((x, y), loss="absolute", method="adahedge").mean is None
    assert blend((x, y), loss="squared").reading["method"] == "mixture"
    assert blend((x, y), loss="squared", against="mean").reading["method"] == "gradient"


@pytest.mark.parametrize("against", ["expert", "mean"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_the_last_value_is_an_expert_that_sleeps_in_the_first_round(loss, against, tmp_path):
    x, y = numbers(40, sleepers=0.2)
    found = blend((x, y), loss=loss, against=against, last_value=True)
    by_hand = np.column_stack([x, np.concatenate([[np.nan], y[:-1]])])
    same = blend((by_hand, y), loss=loss, against=against)
    assert found.names[-1] == "last value"
    assert found.forecasts.tobytes() == same.forecasts.tobytes()
    assert found.weights[0, -1] == 0.0
    assert found.bound == same.bound
    blender = Blender(4, loss=loss, against=against, last_value=True)
    for t in range(40):
        if t == 17:
            blender.save(tmp_path / "b.nr")
            blender = Blender.load(tmp_path / "b.nr")
        assert blender.predict(x[t]) == found.forecasts[t, 0]
        blender.learn(y[t])
    assert list(blender.weights()) == [*(f"expert {i}" for i in range(1, 5)), "last value"]


def test_the_last_value_of_labels_is_the_last_label():
    table = {"a": ["u", "v", "u"], "y": ["u", "u", "v"]}
    found = blend(table, outcome="y", experts=["a"], loss="zero-one", last_value=True)
    assert found.awake(1).tolist() == [False, True, True]
    assert found.expert_loss(1) == 1.0


def test_a_column_named_like_the_last_value_is_refused():
    with pytest.raises(SettingError, match="an expert is named 'last value'"):
        blend({"last value": [1.0], "y": [1.0]}, outcome="y", experts=["last value"], loss="squared", last_value=True)


def test_who_waits_hears_how_far_it_is_and_gets_the_same_figures(monkeypatch):
    from noregret.task.blend import making

    monkeypatch.setattr(making, "PART", 7)
    rng = np.random.default_rng(0)
    table = (rng.random((30, 3)), rng.random(30))
    heard = []
    for method in ("mixture", "gradient", "adahedge", "hedge-doubling", "fixed-share"):
        whole = blend(table, loss="squared", method=method)
        parts = blend(table, loss="squared", method=method, progress=lambda done, rounds: heard.append((done, rounds)))
        assert parts.receipt().to_dict() == whole.receipt().to_dict()
        assert np.array_equal(parts.weights, whole.weights)
        assert np.array_equal(parts.promised_so_far(), whole.promised_so_far())
    assert heard[:6] == [(0, 30), (7, 30), (14, 30), (21, 30), (28, 30), (30, 30)]
    short = np.full((30, 2), 0.5)
    short[9] = 0.0
    with pytest.raises(InputError, match="the arrays:10: every remaining expert gave"):
        blend((short, np.ones(30)), loss="log", progress=lambda done, rounds: None)


def test_a_picture_names_areas_that_are_thick_and_lists_those_that_are_not(tmp_path):
    pytest.importorskip("matplotlib")
    from noregret.picture import plot

    costs = np.random.default_rng(0).random((400, 9)) * np.linspace(0.2, 1.0, 9)
    plot(blend((costs,), costs=[f"route {i}" for i in range(9)]), kind="overview", to=tmp_path / "nine.svg")
    text = (tmp_path / "nine.svg").read_text()
    assert ">route 0<" in text and ">route 8<" in text and ">too small to label:<" in text
    assert ">weight of each expert, stacked<" in text and ">round<" in text
    plot(blend((costs[:1],), costs=[f"route {i}" for i in range(9)]), kind="overview", to=tmp_path / "one.svg")
    assert ">route 0<" in (tmp_path / "one.svg").read_text()


@pytest.mark.parametrize(
    ("said", "truth", "names", "forecasts"),
    [
        ([[2.0], [1.0], [0.0]], [2.0, 1.0, 0.0], ("0", "1", "2"), [2.0, 1.0, 0.0]),
        ([["b"], ["a"]], ["b", "a"], ("b", "a"), [0.0, 1.0]),
        ([[1.0, math.nan], [1.0, 3.0]], [1, 3], ("1", "3"), [0.0, 0.0]),
    ],
)
def test_labels_in_arrays(said, truth, names, forecasts, tmp_path):
    arrays = np.array(said), np.array(truth)
    found = blend(arrays, loss="zero-one")
    assert found.data.names == names and found.forecasts[:, 0].tolist() == forecasts
    found.receipt().save(tmp_path / "r.json")
    verify(tmp_path / "r.json", arrays)


def test_labels_in_arrays_are_all_there():
    with pytest.raises(SettingError, match="arrays must be labels"):
        blend((np.array([[1.0], [0.0]]), np.array([1.0])), loss="zero-one")
    with pytest.raises(InputError, match="the arrays:2: the outcome, column 'outcome', is missing"):
        blend((np.array([[1.0], [0.0]]), np.array([1.0, math.nan])), loss="zero-one")
