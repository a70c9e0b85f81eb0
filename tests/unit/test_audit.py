"""An audit's intervals hold the true regret and drift, and every column is read beside its own row."""

import gzip
import math
from fractions import Fraction
from itertools import pairwise

import cvxpy
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from pyarrow import feather, parquet

from noregret.errors import InputError, SettingError
from noregret.stream import read
from noregret.task.audit import audit


def exact_hinge_best(x, y, radius):
    """min over |u| ≤ radius of Σ max(0, 1 − y·u·x), as a fraction: a convex piecewise linear function of one number."""
    x, y = [Fraction(float(v)) for v in x], [int(v) for v in y]
    corners = [Fraction(s) / a for a, s in zip(x, y, strict=True) if a]
    places = [u for u in corners if abs(u) <= radius] + [Fraction(radius), -Fraction(radius)]
    return min(sum(max(Fraction(0), 1 - s * u * a) for a, s in zip(x, y, strict=True)) for u in places)


def exact_hinge(scores, y):
    return sum(max(Fraction(0), 1 - int(s) * Fraction(float(z))) for z, s in zip(scores, y, strict=True))


def log_of(rows=120, seed=0, width=3):
    """Features a, b, c, two labels with noise, the score of a poor model, and three segments in turn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, width)).round(3)
    y = np.where(X[:, 0] - X[:, -1] * (width > 1) + 0.5 * rng.normal(size=rows) > 0, 1, -1)
    frame = pandas.DataFrame(X, columns=list("abcdefg")[:width])
    frame["label"] = y
    frame["score"] = (X[:, 0] + 0.25 * rng.normal(size=rows)).round(3)
    frame["segment"] = [f"s{place % 3}" for place in range(rows)]
    return frame


@pytest.mark.parametrize("seed", range(6))
def test_regret_and_drift_of_one_feature_hold_their_exact_values(seed):
    log = log_of(60, seed, 1)
    radius = (0.25, 1.0, 4.0)[seed % 3]
    found = audit(log, score="score", segment_by="segment", radius=radius)
    x, y, scores = log["a"].to_numpy(), log["label"].to_numpy(), log["score"].to_numpy()
    best = exact_hinge_best(x, y, radius)
    assert found.overall.best.lower <= best <= found.overall.best.upper
    regret = found.overall.regret
    assert regret.lo <= exact_hinge(scores, y) - best <= regret.hi
    assert regret.hi - regret.lo <= 1e-4 * max(found.overall.best.upper, 1.0) + 1e-9
    parts = [(log["segment"] == f"s{place}").to_numpy() for place in range(3)]
    apart = sum(exact_hinge_best(x[part], y[part], radius) for part in parts)
    assert found.drift.lo <= best - apart <= found.drift.hi
    assert found.drift.lo >= 0.0
    for segment, part in zip(found.segments, parts, strict=True):
        true = exact_hinge(scores[part], y[part]) - exact_hinge_best(x[part], y[part], radius)
        assert segment.regret.lo <= true <= segment.regret.hi


OBJECTIVES = {
    "hinge": lambda z, y: cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, z))),
    "logistic": lambda z, y: cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(y, z))),
    "squared-hinge": lambda z, y: cvxpy.sum_squares(cvxpy.pos(1 - cvxpy.multiply(y, z))),
    "squared": lambda z, y: cvxpy.sum_squares(z - y),
    "absolute": lambda z, y: cvxpy.norm1(z - y),
}
VALUES = {
    "hinge": lambda z, y: np.maximum(0.0, 1.0 - y * z),
    "logistic": lambda z, y: np.log1p(np.exp(-y * z)),
    "squared-hinge": lambda z, y: np.maximum(0.0, 1.0 - y * z) ** 2,
    "squared": lambda z, y: (z - y) ** 2,
    "absolute": lambda z, y: np.abs(z - y),
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("loss", OBJECTIVES)
def test_regret_agrees_with_a_general_solver(loss, bias):
    log = log_of().drop(columns="segment")
    X, y, scores = log[["a", "b", "c"]].to_numpy(), log["label"].to_numpy(), log["score"].to_numpy()
    if bias:
        X = np.column_stack([np.ones(len(X)), X])
    u = cvxpy.Variable(X.shape[1])
    best = cvxpy.Problem(cvxpy.Minimize(OBJECTIVES[loss](X @ u, y)), [cvxpy.norm(u) <= 1.5]).solve()
    regret = VALUES[loss](scores, y).sum() - best
    found = audit(log, score="score", loss=loss, radius=1.5, bias=bias, gap=1e-5).overall.regret
    assert found.lo - 1e-4 <= regret <= found.hi + 1e-4
    assert found.hi - found.lo <= 1e-5 * max(best, 1.0) + 1e-6


def test_the_parts_are_what_each_would_be_alone_and_add_up():
    log = log_of()
    found = audit(log, score="score", segment_by="segment", radius=2.0)
    assert [part.name for part in found.segments] == ["s0", "s1", "s2"]
    for part in found.segments:
        alone = audit(log[log["segment"] == part.name], score="score", ignore=["segment"], radius=2.0).overall
        assert (part.rounds, part.mistakes, part.loss) == (alone.rounds, alone.mistakes, alone.loss)
        assert max(part.regret.lo, alone.regret.lo) <= min(part.regret.hi, alone.regret.hi)
    assert sum(part.rounds for part in found.segments) == found.overall.rounds
    assert sum(part.mistakes for part in found.segments) == found.overall.mistakes
    total = sum(part.loss.lo for part in found.segments)
    assert total == pytest.approx(found.overall.loss.lo, rel=1e-12)


@pytest.mark.parametrize("count", [1, 2, 7, 120])
def test_equal_segments_follow_each_other(count):
    log = log_of().drop(columns="segment")
    found = audit(log, score="score", segments=count, radius=2.0)
    ends = [place * 120 // count for place in range(count + 1)]
    scores, y = log["score"].to_numpy(), log["label"].to_numpy()
    assert len(found.segments) == count
    for part, (start, stop) in zip(found.segments, pairwise(ends), strict=True):
        assert part.name == f"rounds {start + 1} to {stop}"
        assert part.rounds == stop - start
        assert part.mistakes == np.count_nonzero(scores[start:stop] * y[start:stop] <= 0)


def test_without_segments_there_is_no_drift():
    found = audit(log_of().drop(columns="segment"), score="score")
    assert found.segments == ()
    assert found.drift is None
    assert found.to_dict()["drift"] is None


def figures(found):
    return {key: value for key, value in found.to_dict().items() if key != "source"}


def test_the_order_of_the_columns_does_not_matter():
    log = log_of()
    settings = {"score": "score", "segment_by": "segment", "radius": 2.0}
    expected = audit(log, **settings)
    moved = audit(log[["segment", "c", "score", "label", "a", "b"]], **settings)
    for one, other in zip((expected.overall, *expected.segments), (moved.overall, *moved.segments), strict=True):
        assert (one.name, one.rounds, one.mistakes, one.loss) == (other.name, other.rounds, other.mistakes, other.loss)
        assert max(one.regret.lo, other.regret.lo) <= min(one.regret.hi, other.regret.hi)


def written(log, folder, kind):
    """The log in one of the forms that can be audited."""
    path = folder / f"log.{kind}"
    table = pyarrow.Table.from_pandas(log, preserve_index=False)
    match kind:
        case "csv":
            log.to_csv(path, index=False)
        case "tsv":
            log.to_csv(path, index=False, sep="\t")
        case "csv.gz":
            path.write_bytes(gzip.compress(log.to_csv(index=False).encode()))
        case "parquet":
            parquet.write_table(table, path)
        case "arrow":
            feather.write_feather(table, path)
        case "table":
            return table
        case "polars":
            return polars.from_pandas(log)
        case _:
            return log
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet", "arrow", "table", "polars"])
def test_every_form_of_a_log_gives_the_same_figures(kind, tmp_path):
    log = log_of()
    settings = {"score": "score", "segment_by": "segment", "radius": 2.0}
    assert figures(audit(written(log, tmp_path, kind), **settings)) == figures(audit(log, **settings))


SPELLED = {
    "the labels": (("ham", "spam"), ("ham", "spam")),
    "minus and plus one": (("ham", "spam"), ("-1", "+1")),
    "zero and one": (("ham", "spam"), ("0", "1")),
    "numbers for numbers": ((0, 1), (0, 1)),
    "signs for zero and one": ((0, 1), (-1, 1)),
    "zero and one for one and two": ((1, 2), (0, 1)),
    "one and two": ((1, 2), (1, 2)),
    "words for truth": ((0, 1), ("false", "true")),
}


@pytest.mark.parametrize("kind", ["csv", "frame"])
@pytest.mark.parametrize("spelled", SPELLED.values(), ids=SPELLED)
def test_hard_predictions_are_scores_of_one(spelled, kind, tmp_path):
    labels, predictions = spelled
    log = log_of().drop(columns="segment")
    signs = np.where(log["score"] > 0, 1.0, -1.0)
    expected = audit(log.assign(score=signs), score="score", radius=2.0)
    log["label"] = [labels[int(sign > 0)] for sign in log["label"]]
    log["score"] = [predictions[int(sign > 0)] for sign in signs]
    positive = 2 if labels == (1, 2) else None
    found = audit(written(log, tmp_path, kind), prediction="score", positive=positive, radius=2.0)
    assert figures(found) == figures(expected)


def test_positive_turns_labels_and_predictions_together():
    log = log_of().drop(columns="segment")
    log["label"] = np.where(log["label"] > 0, "a", "b")
    log["score"] = np.where(log["score"] > 0, "a", "b")
    first, second = (audit(log, prediction="score", positive=one, radius=2.0) for one in "ab")
    assert first.overall.mistakes == second.overall.mistakes
    assert first.overall.best.upper == pytest.approx(second.overall.best.upper, rel=1e-3)


def test_predictions_of_a_label_that_the_log_does_not_hold():
    log = pandas.DataFrame({"x": [1.0, 2.0, 3.0], "label": ["spam"] * 3, "said": ["spam", "ham", "spam"]})
    assert audit(log, prediction="said").overall.mistakes == 1


def test_a_prediction_of_a_number_is_a_score():
    log = log_of().drop(columns="segment")
    settings = {"loss": "squared", "radius": 2.0}
    found = audit(log, prediction="score", **settings)
    assert figures(found) == figures(audit(log, score="score", **settings))
    assert found.overall.mistakes is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_left_out_take_their_scores_and_segments_with_them(kind, tmp_path):
    log = log_of(9000, width=2)
    log["label"] = np.where(log["label"] > 0, "yes", "no")
    rng = np.random.default_rng(5)
    for column in ("a", "label", "score", "segment"):
        log.loc[rng.random(len(log)) < 0.05, column] = None
    settings = {"score": "score", "segment_by": "segment", "radius": 2.0, "gap": 1e-2}
    found = audit(written(log, tmp_path, kind), missing="skip", **settings)
    whole = log.dropna().reset_index(drop=True)
    assert figures(found) == figures(audit(whole, **settings))
    y = np.where(whole["label"] == "yes", 1.0, -1.0)
    assert found.overall.rounds == len(whole) < len(log)
    assert found.overall.loss.holds(math.fsum(np.maximum(0.0, 1.0 - y * whole["score"])))


def test_rows_held_until_the_second_label_keep_their_scores(tmp_path):
    log = log_of(9000, width=1).sort_values("label", kind="stable").drop(columns="segment")
    log["label"] = np.where(log["label"] > 0, "b", "a")
    found = audit(written(log, tmp_path, "csv"), score="score", gap=1e-2)
    y = np.where(log["label"] == "b", 1.0, -1.0)
    assert found.overall.loss.holds(math.fsum(np.maximum(0.0, 1.0 - y * log["score"])))


def test_segments_are_as_they_are_written(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,label,score,part\n1,1,1,007\n2,-1,1,7\n3,1,1,north\n4,-1,-1,007\n")
    found = audit(path, score="score", segment_by="part")
    assert [(part.name, part.rounds) for part in found.segments] == [("007", 2), ("7", 1), ("north", 1)]


def test_a_segment_that_is_left_out_altogether_is_none(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,label,score,part\n1,1,1,a\n2,-1,,b\n3,1,1,c\n4,-1,-1,a\n")
    found = audit(path, score="score", segment_by="part", missing="skip")
    assert [(part.name, part.rounds) for part in found.segments] == [("a", 2), ("c", 1)]


def test_a_score_of_zero_is_a_mistake():
    log = pandas.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "label": [1, -1, 1, -1], "score": [0.0, 0.0, 1.0, -1.0]})
    assert audit(log, score="score").overall.mistakes == 2


def test_zero_fills_features_but_no_score(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,label,score\n1,1,1\n,-1,-1\n")
    assert audit(path, score="score", missing="zero").overall.rounds == 2
    path.write_text("x,label,score\n1,1,1\n2,-1,\n")
    with pytest.raises(InputError, match=r"log.csv:3: the score, column 'score', is missing"):
        audit(path, score="score", missing="zero")


def test_hashed_columns_are_features_too():
    log = pandas.DataFrame({"word": ["a", "b", "a", "b"], "label": [1, -1, 1, -1], "score": [-1.0, 1.0, -1.0, 1.0]})
    found = audit(log, score="score", hash_bits=4, radius=10.0)
    assert found.overall.mistakes == 4
    assert found.overall.best.upper < 1e-3
    assert found.features == 16


@pytest.mark.parametrize("loss", ["hinge", "absolute", "logistic"])
def test_when_the_time_is_up_the_interval_is_wide_and_true(loss):
    log = log_of(3000, width=3).drop(columns="segment")
    hurried = audit(log, score="score", loss=loss, segments=2, seconds=1e-9, gap=1e-9).overall
    settled = audit(log, score="score", loss=loss, gap=1e-5).overall
    assert not hurried.best.finished
    assert hurried.regret.lo <= settled.regret.hi
    assert settled.regret.lo <= hurried.regret.hi
    assert hurried.regret.hi - hurried.regret.lo > settled.regret.hi - settled.regret.lo


def test_scores_that_look_like_probabilities_are_noticed():
    log = log_of().drop(columns="segment")
    assert not audit(log, score="score", loss="logistic").probabilities
    log["score"] = 1.0 / (1.0 + np.exp(-log["score"]))
    assert audit(log, score="score", loss="logistic").probabilities
    assert not audit(log, score="score", loss="hinge").probabilities


def test_to_dict_holds_what_the_contract_names():
    found = audit(log_of(), score="score", segment_by="segment").to_dict()
    assert set(found) == {
        *(
            "rounds",
            "features",
            "columns",
            "left_out",
            "mistakes",
            "blank",
            "loss",
            "regret",
            "bias",
            "gap",
            "finished",
        ),
        *("decisions", "segments", "by_segment", "drift"),
    }
    assert set(found["loss"]) == {"name", "total", "mean", "infinite", "finite"}
    assert set(found["regret"]) == {"lower", "upper", "comparator", "domain"}
    assert set(found["segments"][0]) == {"segment", "rounds", "mistakes", "loss", "regret", "finished"}
    assert found["drift"]["lower"] <= found["drift"]["upper"]


def test_watch_is_told():
    told = []
    audit(log_of(), score="score", segment_by="segment", watch=lambda what, fraction: told.append((what, fraction)))
    assert told[0] == ("reading 120 rows", 1.0)
    assert told[-1][0] == "solving for the best of s2"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "audit: needs exactly one of score, probability and prediction: the column with the logged predictions"),
        ({"score": "score", "prediction": "score"}, "needs exactly one of score, probability and prediction"),
        ({"score": "score", "radius": 0.0}, "audit: radius must be positive and finite, got 0"),
        ({"score": "score", "radius": math.inf}, "audit: radius must be positive and finite, got inf"),
        ({"score": "score", "gap": 0.0}, "audit: gap must be positive and finite, got 0"),
        ({"score": "score", "seconds": 0.0}, "audit: seconds must be positive, got 0"),
        ({"score": "score", "segments": 0}, "audit: segments must be at least 1, got 0"),
        ({"score": "score", "segments": 2, "segment_by": "segment"}, "segments and segment_by cannot be combined"),
        ({"score": "score", "loss": "squared", "positive": 1}, "positive is for two classes; the loss squared is for"),
        ({"score": "score", "loss": "cubic"}, "loss must be one of"),
        ({"score": "label"}, "the column 'label' cannot be both the label and the score"),
        ({"score": "score", "segment_by": "score"}, "the column 'score' cannot be both the score and the segment"),
        ({"score": "score", "categorical": ["score"]}, "the column 'score' is the score: it cannot be a feature too"),
        ({"score": "score", "keep": ["score"]}, "the column 'score' is the score: it cannot be a feature too"),
        ({"prediction": "score", "text": "score"}, "the column 'score' is the prediction: it cannot be a feature"),
        ({"score": "score", "missing": "drop"}, "missing must be one of error, zero, mean, skip, got 'drop'"),
    ],
)
def test_settings_that_cannot_be(settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        audit(log_of(), **settings)


@pytest.mark.parametrize(
    ("text", "settings", "sentence"),
    [
        ("x,label,s\n1,1,2\n", {"score": "t"}, r"log.csv: there is no column 't': the columns are x, label, s"),
        ("x,z,s\n1,1,2\n", {"score": "s"}, r"no column is named label, .*the columns are x, z, s"),
        ("x,label,s\n1,1,2\n", {"score": "s", "segment_by": "t"}, "there is no column 't': the columns are"),
        ("x,label,s\n1,1,2\n", {"score": "s", "ignore": ["t"]}, "there is no column 't' for ignore"),
        (
            "x,label,s\n1,1,2\n2,-1,high\n",
            {"score": "s"},
            r"log.csv:3: the score, column 's', must be a number, got 'h",
        ),
        ("x,label,s\n1,1,2\n2,-1,inf\n", {"score": "s"}, r"log.csv:3: the score, column 's', must be finite, got inf"),
        ("x,label,s\n1,1,2\n2,-1,\n", {"score": "s"}, r"log.csv:3: the score, column 's', is missing"),
        ("x,label,s\n1,1,\n", {"probability": "s"}, r"log.csv:2: the probability, column 's', is missing"),
        ("x,label,s\n1,1,\n", {"prediction": "s", "loss": "squared"}, r"log.csv:2: the score, column 's', is missing"),
        (
            "x,label,s\n1,1,1\n",
            {"score": "s", "keep": ["t"]},
            "there is no column 't' for keep: the columns are x, label, s",
        ),
        ("pred,label,s\n1,1,1\n", {"score": "s"}, r"holds no features .*use keep to keep them as features: pred"),
        ("x,label,s\n1,1,1\n2,0,maybe\n", {"prediction": "s"}, r"log.csv:3: the prediction 'maybe' is not one of the"),
        (
            "x,label,s\n1,a,a\n2,b,c\n",
            {"prediction": "s"},
            r"log.csv:3: the prediction 'c' is not one of the labels 'a'",
        ),
        ("x,label,s\n1,a,1\n2,b,0\n3,a,-1\n", {"prediction": "s"}, "the prediction '1' is not one of the labels"),
        ("x,label,s\n1,a,1\n2,b,1\n3,c,1\n", {"score": "s"}, r"log.csv:4: a third label, 'c'"),
        ("x,label,s\n1,a,1\n", {"score": "s", "loss": "squared"}, "regression needs numbers as labels"),
        ("x,label,s,g\n1,1,1,\n", {"score": "s", "segment_by": "g"}, r"log.csv:2: the segment, column 'g', is missing"),
        ("x,label,s\n1,1,1\n2,1,1\n", {"score": "s", "segments": 3}, "holds 2 rounds, too few for 3 segments"),
        ("label,s\n1,1\n", {"score": "s"}, "holds no features besides the predictions"),
        ("x,label,s\n", {"score": "s"}, "holds no rows"),
        ("x,label,s\n1,1,\n", {"score": "s", "missing": "skip"}, "holds no rows without missing values"),
        ("x,label,s\n1,1,1e300\n", {"score": "s", "loss": "squared"}, "so large that the loss squared overflows"),
    ],
)
def test_logs_that_cannot_be(text, settings, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises((InputError, SettingError), match=sentence):
        audit("log.csv", **settings)


def test_a_score_given_as_a_prediction_is_recognised(tmp_path):
    path = tmp_path / "log.csv"
    log_of().drop(columns="segment").to_csv(path, index=False)
    with pytest.raises(InputError, match=r"column 'score' holds more than two predictions .*: is it a score\?"):
        audit(path, prediction="score")


@pytest.mark.parametrize("log", ["-", read(([[1.0]], [1])), pyarrow.table({"x": [1.0]}).to_reader()])
def test_what_can_be_read_only_once_is_refused(log):
    with pytest.raises(InputError, match="a log is read more than once: use a file or a table"):
        audit(log, score="score")


def test_what_has_no_columns_is_refused(tmp_path):
    with pytest.raises(SettingError, match="label names a column, but an array has no named columns"):
        audit(([[1.0]], [1]), score="score")
    (tmp_path / "log.svm").write_text("1 1:2\n")
    with pytest.raises(SettingError, match=r"no named columns"):
        audit(tmp_path / "log.svm", score="score")


def test_probabilities_are_scored_by_their_odds(tmp_path):
    p = [0.9, 0.2, 0.6, 0.5]
    log = pandas.DataFrame({"x": [1.0, -1.0, 0.5, 2.0], "label": [1, 0, 1, 0], "p": p})
    scores = log.drop(columns="p").assign(score=np.log(log["p"]) - np.log1p(-log["p"]))
    by_odds = audit(log, probability="p", loss="logistic", radius=1.0).overall
    assert by_odds.loss == audit(scores, score="score", loss="logistic", radius=1.0).overall.loss
    assert by_odds.loss.hi == pytest.approx(-math.log(0.9) - math.log(0.8) - math.log(0.6) - math.log(0.5))


@pytest.mark.parametrize("p", [1.5, -0.25])
def test_a_probability_lies_between_0_and_1(tmp_path, p):
    (tmp_path / "log.csv").write_text(f"x,label,p\n1,1,0.5\n2,0,{p}\n")
    with pytest.raises(InputError, match=r"log\.csv:3: the probability, column 'p', must lie between 0 and 1, got"):
        audit(tmp_path / "log.csv", probability="p")


def test_probabilities_are_judged_by_the_log_loss_unless_told_otherwise():
    log = pandas.DataFrame({"x": [1.0, -1.0, 0.5], "label": [1, 0, 1], "p": [0.9, 0.2, 0.6]})
    found = audit(log, probability="p", radius=1.0)
    assert found.loss.name == "logistic"
    assert found.overall.loss.hi == pytest.approx(-math.log(0.9) - math.log(0.8) - math.log(0.6))
    assert audit(log, probability="p", loss="hinge", radius=1.0).loss.name == "hinge"
    assert audit(log, score="p", radius=1.0).loss.name == "hinge"


@pytest.mark.parametrize("loss", [None, "hinge", "squared-hinge", "exponential"])
def test_certainty_that_is_right_costs_nothing(loss):
    log = pandas.DataFrame({"x": [1.0, -1.0, 0.5, 2.0], "label": [1, 0, 1, 0], "p": [1.0, 0.0, 0.6, 0.5]})
    found = audit(log, probability="p", loss=loss, radius=1.0)
    unsure = audit(log.iloc[2:], probability="p", loss=loss, radius=1.0)
    assert found.overall.loss == unsure.overall.loss
    assert (found.overall.infinite, found.overall.mistakes) == (0, 1)


def test_certainty_that_is_wrong_costs_infinitely_much_and_is_counted():
    p = [1.0, 0.0, 1.0, 0.25, 0.5, 0.75]
    log = pandas.DataFrame({"x": [1.0, -1.0, 0.5, 2.0, 3.0, 4.0], "label": [0, 1, 1, 0, 1, 1], "p": p})
    found = audit(log, probability="p", segments=2, radius=1.0)
    first, second = found.segments
    assert (found.overall.infinite, first.infinite, second.infinite) == (2, 2, 0)
    assert found.overall.loss.lo == found.overall.regret.lo == first.regret.hi == math.inf
    assert found.overall.finite.holds(-2.0 * math.log(0.75) - math.log(0.5))
    assert second.regret.hi < math.inf
    told = found.to_dict()
    assert told["loss"]["total"] is told["loss"]["mean"] is told["regret"]["lower"] is told["regret"]["upper"] is None
    assert told["loss"]["infinite"] == 2
    assert told["loss"]["finite"] == pytest.approx(-2.0 * math.log(0.75) - math.log(0.5))
    assert found.overall.mistakes == 3


def with_predictions(rows=200, seed=3):
    """A log in which the same model's score, probabilities and decision stand beside the features."""
    log = log_of(rows, seed).drop(columns="segment").rename(columns={"score": "s"})
    log["s"] += 0.0005  # no ties
    log["chance"] = 1.0 / (1.0 + np.exp(-log["s"]))
    log["against"] = 1.0 - log["chance"]
    log["said"] = np.where(log["s"] > 0, "yes", "no")
    log["flag"] = (log["s"] > 0).astype(int)
    log["lean"] = (log["a"] > 0).astype(int)  # a feature: nearly the sign, not always
    log["y_pred"] = log["label"].iloc[::-1].to_numpy()  # known by its name alone
    return log


LOGGED = {"chance", "against", "said", "flag", "s", "y_pred"}


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"score": "s"}, LOGGED - {"s"}),
        ({"probability": "chance"}, LOGGED - {"chance"}),
        ({"prediction": "said"}, {"flag", "y_pred"}),
    ],
)
def test_what_else_the_model_logged_is_not_a_feature(said, found, kind, tmp_path):
    log = written(with_predictions(), tmp_path, kind)
    result = audit(log, **said, positive=None, radius=2.0) if "prediction" not in said else None
    if result is None:  # decisions in words need labels in words
        frame = with_predictions()
        frame["label"] = np.where(frame["label"] > 0, "yes", "no")
        result = audit(written(frame, tmp_path, kind), **said, radius=2.0)
    assert set(result.left_out) == found
    assert {"a", "b", "c", "lean"} <= set(result.columns)
    assert not found & set(result.columns)


def test_a_logged_prediction_can_be_kept_as_a_feature():
    log = with_predictions()
    found = audit(log, score="s", keep=["flag"], categorical=["said"], radius=2.0)
    assert set(found.left_out) == {"chance", "against", "y_pred"}
    assert "flag" in found.columns
    assert "said (hashed)" in found.columns


def test_the_hindsight_model_learns_nothing_from_another_prediction():
    log = with_predictions()
    plain = audit(log[["a", "b", "c", "lean", "label", "s"]], score="s", radius=2.0)
    found = audit(log, score="s", radius=2.0)
    assert found.overall.best.upper == plain.overall.best.upper


def test_few_rows_are_no_proof_that_a_column_is_a_prediction():
    log = pandas.DataFrame({"x": [1.0, 0.0], "label": [1, -1], "s": [1.0, -1.0]})
    assert audit(log, score="s").left_out == ()


def test_a_prediction_of_numbers_is_left_out_when_it_is_a_copy():
    log = log_of().drop(columns="segment").assign(copy=lambda frame: frame["score"])
    log["side"] = (log["score"] > 0).astype(int)
    assert audit(log, score="score", loss="squared").left_out == ("copy",)


def test_the_row_count_of_a_prediction_file_is_not_a_feature():
    log = log_of().drop(columns="segment").assign(row=range(2, 122), prediction=1)
    assert set(audit(log, score="score").left_out) == {"row", "prediction"}
    assert "row" in audit(log.drop(columns="prediction"), score="score").columns


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1)])
@pytest.mark.parametrize("missing", ["error", "skip"])
def test_a_blank_prediction_is_a_mistake(kind, labels, missing, tmp_path):
    log = log_of().drop(columns="segment")
    log["label"] = [labels[int(sign > 0)] for sign in log["label"]]
    scores = log["score"].round(0)
    log["score"] = [None if score == 0 else labels[int(score > 0)] for score in scores]
    y = np.where(log["label"] == labels[1], 1, -1)
    found = audit(written(log, tmp_path, kind), prediction="score", radius=2.0, missing=missing)
    assert found.blank == np.count_nonzero(scores == 0) > 0
    assert found.overall.rounds == len(log)
    assert found.overall.mistakes == np.count_nonzero(scores * y <= 0)
    assert found.overall.loss.holds(float(np.maximum(0.0, 1.0 - y * np.sign(scores)).sum()))
