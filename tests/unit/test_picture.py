"""Pictures are tested by what they show: the values on their lines, their labels and scales, never their dots."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import SettingError

pytest.importorskip("matplotlib")

from noregret._native import score_bin
from noregret.picture import pictures_of, plot
from noregret.picture.bounds import at_most
from noregret.picture.canvas import check_picture, new_figure, spread, thinned
from noregret.picture.curves import bin_scores, groups
from oracle import loops

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 4))
NOISY = (X, np.sign(X @ [1.0, -2.0, 0.5, 0.0] + 0.4 * rng.normal(size=900)))
CHANCES = (X, np.where(rng.random(900) < 1.0 / (1.0 + np.exp(-(X @ [1.0, -2.0, 0.5, 0.0]))), 1, -1))


@pytest.fixture(scope="module")
def perceptron():
    return nr.play(nr.Perceptron(), NOISY)


@pytest.fixture(scope="module")
def descent():
    return nr.play(nr.OnlineGradientDescent(loss="logistic", radius=3.0), CHANCES)


@pytest.fixture(scope="module")
def receipt(descent):
    return nr.certify(descent, CHANCES, anytime=True, radii=[0.5, 1.0, 2.0, 6.0])


def lines(axes):
    """The lines by name."""
    return {line.get_label(): line for line in axes.lines}


def words(axes):
    return [text.get_text() for text in axes.texts]


# -- curves ------------------------------------------------------------------------------------------------------------


def test_the_error_so_far_of_two_runs_and_two_baselines(perceptron, descent):
    axes = plot({"one": perceptron, "two": descent})
    assert axes.get_xlabel() == "round" and axes.get_ylabel() == "mistakes so far / rounds so far"
    assert axes.get_xscale() == "log" and axes.get_ylim()[0] == 0.0
    assert list(lines(axes)) == ["one", "two", "most frequent label", "previous label"]
    for name, run in (("one", perceptron), ("two", descent)):
        rounds, error = lines(axes)[name].get_data()
        assert rounds[-1] == 900 and error[-1] == run.mistakes / 900
        assert f"{name} {error[-1]:.3g}" in words(axes)
    assert lines(axes)["most frequent label"].get_ydata()[-1] * 900 == perceptron.baselines["majority_label"]


def test_the_mean_loss_so_far(descent):
    axes = plot(descent, kind="risk")
    assert axes.get_ylabel() == "mean loss so far (logistic)"
    assert lines(axes)["ogd"].get_ydata()[-1] == descent.loss / 900
    numbers = nr.play(nr.OnlineGradientDescentRegressor(radius=2.0), (X, X[:, 0]))
    assert plot(numbers).get_ylabel().startswith("mean loss so far"), "numbers have no errors: the risk is the default"
    assert "mean of the labels" in lines(plot(numbers))
    mixed = plot({"perceptron": nr.play(nr.Perceptron(), CHANCES), "descent": descent}, kind="risk")
    assert mixed.get_ylabel() == "mean loss so far (each learner in its own)"


def test_axes_that_are_given_are_drawn_on_and_returned(perceptron):
    figure = new_figure(4.0, 3.0)
    axes = figure.add_subplot()
    assert plot(perceptron, ax=axes) is axes and len(axes.lines) == 3


def test_mistakes_stay_below_every_bound_that_is_drawn(perceptron):
    receipt = nr.certify(perceptron, NOISY, radius=3.0)
    axes = plot(perceptron, kind="mistakes", receipt=receipt)
    drawn = lines(axes)
    made = drawn.pop("mistakes so far").get_ydata()
    assert made[-1] == perceptron.mistakes and (np.diff(made) >= 0.0).all()
    bounds = {one["theorem"]: one["bound"] for one in receipt.certificates if one["bound"] is not None}
    assert 3 <= len(drawn) <= 8
    for name, line in drawn.items():
        assert set(line.get_ydata()) == {bounds[name]} and bounds[name] >= made[-1]
        assert f"{name}: at most {at_most(bounds[name])}" in words(axes)
    assert axes.get_ylabel() == "mistakes" and axes.get_ylim()[1] > max(bounds[name] for name in drawn)


@given(st.floats(1e-6, 1e9))
def test_a_bound_is_never_written_below_itself(value):
    said = float(at_most(value).replace(",", ""))
    assert value <= said <= max(1.002 * value, value + 1.0)


def test_every_certificate_has_its_line(receipt):
    axes = plot(receipt, kind="bounds")
    named = [text.get_text() for text in axes.get_yticklabels()]
    assert sorted(named) == sorted(one["theorem"] for one in receipt.certificates if one["bound"] is not None)
    assert plot(nr.select(nr.Perceptron(), NOISY)).get_xlabel() == "bound (bar)"


def test_the_regret_lies_in_its_band_and_below_its_promises(receipt):
    axes = plot(receipt)
    drawn = lines(axes)
    rounds, upper = drawn["regret"].get_data()
    assert rounds.tolist() == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    for t, value in zip(rounds, upper, strict=True):
        heights = corners[corners[:, 0] == t, 1]
        assert heights.min() <= value <= heights.max()
    promised = {name: line for name, line in drawn.items() if name.startswith("ogd-")}
    assert promised
    for line in promised.values():
        assert (line.get_ydata() >= upper[-len(line.get_ydata()) :] - 1e-9).all()
    assert axes.get_xscale() == "log" and axes.get_xlabel() == "rounds so far" and "logistic" in axes.get_ylabel()


def test_the_regret_never_falls_as_the_ball_grows(receipt):
    axes = plot(receipt, kind="radius")
    radii, upper = lines(axes)["regret"].get_data()
    assert radii.tolist() == [0.5, 1.0, 2.0, 3.0, 6.0] and axes.get_xscale() == "log"
    corners = axes.collections[0].get_paths()[0].vertices
    lower = np.array([corners[corners[:, 0] == radius, 1].min() for radius in radii])
    assert (lower <= upper).all() and (upper[1:] >= lower[:-1]).all() and upper[-1] > upper[0]
    assert axes.get_xlabel() == "radius U of the comparator's ball"


def test_a_comparison_side_by_side():
    learners = {"small": 0.5, "large": 5.0}
    made = {name: nr.OnlineGradientDescent(loss="logistic", radius=radius) for name, radius in learners.items()}
    left, right = plot(nr.compare(CHANCES, made, seconds=1.0), kind="overview")
    assert left.get_ylabel().startswith("mistakes") and right.get_ylabel() == "mean loss so far (logistic)"
    assert {"small", "large"} <= set(lines(left)) and list(lines(right)) == ["small", "large"]


def test_the_weights_of_a_blend_add_up_to_one_and_its_regret_stays_below_the_promise():
    costs = np.random.default_rng(1).random((300, 3)) * [0.5, 0.7, 1.0]
    found = nr.blend((costs,), costs=["north", "south", "ferry"])
    above, below = plot(found, kind="overview")
    outline = {area.get_label(): area.get_xy() for area in above.patches}
    assert list(outline) == ["ferry", "south", "north"]
    assert np.allclose(outline["ferry"][1:-2, 1], 1.0), "stacked to 1"
    assert np.allclose(outline["north"][1:-2, 1], found.weights[:, 0])
    regret, promised, _ = below.lines
    assert (regret.get_ydata() <= promised.get_ydata() + 1e-9).all()
    assert plot(found).get_ylabel() == "weight of each expert, stacked"
    assert "expected cost" in plot(found, kind="regret").get_ylabel()


def test_the_parts_of_an_audit():
    log = {"a": X[:, 0], "b": X[:, 1], "label": NOISY[1], "said": X[:, 0]}
    import pyarrow

    found = nr.audit(pyarrow.table(log), score="said", radius=3.0, segments=3)
    axes = plot(found)
    logged = lines(axes)["logged predictions"].get_ydata()
    best = lines(axes)["best fixed model for each part"].get_ydata()
    assert len(logged) == 4 and (logged >= best).all()
    assert math.isclose(logged[0] * 900, found.overall.loss.hi, rel_tol=1e-9)


# -- reliability -------------------------------------------------------------------------------------------------------


def test_the_middle_of_each_bin_falls_into_it():
    middles = bin_scores(8193)
    assert (np.diff(middles) > 0.0).all()
    for place in (0, 1, 77, 4095, 4096, 4097, 6000, 8191, 8192):
        assert score_bin(float(middles[place])) == place


@given(st.floats(allow_nan=False) | st.sampled_from([2.0**k for k in (-33, -32, -31, 0, 31, 32, 33)]))
def test_a_score_falls_into_the_bin_of_the_definition(score):
    for one in (score, -score, math.nextafter(score, 0.0), math.nextafter(score, math.inf)):
        assert score_bin(one) == loops.score_bin(one)


def test_the_groups_hold_every_round_and_chances_that_were_meant_come_true(descent):
    found = groups(descent)
    assert sum(group.rounds for group in found) == 900
    assert sum(group.positive for group in found) == int((CHANCES[1] > 0).sum())
    axes = plot(descent, kind="reliability")
    said, seen = lines(axes)["came"].get_data()
    assert (np.diff(said) > 0.0).all() and np.corrcoef(said, seen)[0, 1] > 0.95
    assert lines(axes)["perfect"].get_xydata().tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert np.abs(said - seen).mean() < 0.06, "labels were drawn with the chances that the learner comes to know"


def test_scores_that_are_no_chances_have_no_diagonal(perceptron):
    axes = plot(perceptron, kind="reliability")
    assert "perfect" not in lines(axes) and axes.get_xlabel() == "score (perceptron)"
    for group in groups(perceptron):
        low, high = group.interval
        assert 0.0 <= low <= group.frequency + 1e-12 and group.frequency - 1e-12 <= high <= 1.0


# -- finite games ------------------------------------------------------------------------------------------------------


def test_the_tree_with_the_way_that_was_played():
    H = nr.family("thresholds:7")
    run = nr.duel(nr.SOA(H), nr.TreeAdversary(H))
    axes = plot(run)
    edges = [line.get_label() for line in axes.lines]
    assert edges.count("played") == 3 == run.mistakes and edges.count("played") + edges.count("edge") == 14
    assert sorted(word for word in words(axes) if word.startswith("h")) == [f"h{i}" for i in range(8)]
    way = [line.get_xdata() for line in axes.lines if line.get_label() == "played"]
    for label, (start, stop) in zip([one.label for one in run.rounds], way, strict=True):
        assert (stop > start) == bool(label), "label 1 to the right"
    assert "3 mistakes in 3 rounds" in axes.get_title()
    assert [line.get_label() for line in plot(nr.dimensions(H)).lines].count("played") == 0
    deep = plot(nr.dimensions(nr.family("cube:8")))
    assert "2 more levels" in deep.get_title() and words(deep).count("…") == 64


def test_the_mistakes_of_a_game_and_its_bound():
    H = nr.family("thresholds:7")
    axes = plot(nr.duel(nr.Halving(H), nr.TreeAdversary(H)), kind="mistakes")
    assert lines(axes)["mistakes so far"].get_ydata().tolist() == [0, 1, 2, 3]
    assert set(lines(axes)["halving-log"].get_ydata()) == {3.0} and "littlestone-lower" not in lines(axes)


# -- the canvas --------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.0, 1.0), max_size=12).map(sorted), st.floats(0.01, 0.3))
def test_names_are_moved_apart_and_keep_their_order(places, gap):
    found = spread(places, gap)
    assert len(found) == len(places)
    assert all(b - a >= gap - 1e-9 for a, b in pairwise(found))
    assert math.isclose(sum(found), sum(places), abs_tol=1e-9), "around where they were"
    if all(b - a >= gap for a, b in pairwise(places)):
        assert found == pytest.approx(places)


@given(st.integers(1, 10**7), st.booleans(), st.integers(2, 500))
def test_few_points_with_both_ends(count, logarithmic, points):
    at = thinned(count, logarithmic, points)
    assert 1 <= len(at) <= points and at[0] == 0 and at[-1] == count - 1 and (np.diff(at) > 0).all()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("x.jpg", "the file must end in .png, .svg, .pdf, got 'x.jpg'"), ("x", "must end in"), ("x.gif", "must end in")],
)
def test_files_that_cannot_be_drawn(name, sentence):
    with pytest.raises(SettingError, match=sentence):
        check_picture(name)
    check_picture("x.gif", moves=True)


def test_without_matplotlib_it_is_said(monkeypatch, perceptron):
    monkeypatch.setattr("noregret.picture.canvas.find_spec", lambda name: None)
    for ask in (lambda: plot(perceptron), lambda: check_picture("x.png")):
        with pytest.raises(SettingError, match=r"needs matplotlib; install it with pip install 'noregret\[plot\]'"):
            ask()


@pytest.mark.parametrize(
    ("thing", "more", "sentence"),
    [
        ("text", {}, "there is no picture of a str"),
        ({"a": 1}, {}, "there is no picture of these things together"),
        ({}, {}, "there is no picture of these things"),
        (nr.Perceptron(), {}, "no round was played"),
    ],
)
def test_things_without_a_picture(thing, more, sentence):
    with pytest.raises(SettingError, match=sentence):
        plot(thing, **more)


def test_kinds_that_a_thing_has_not(perceptron, descent, receipt):
    for ask, sentence in (
        (
            lambda: plot(perceptron, kind="regret"),
            "must be one of error, risk, mistakes, reliability, weights, windows, boundary",
        ),
        (lambda: plot(perceptron, kind="boundary"), "pass the stream that the learner was trained on"),
        (lambda: plot(perceptron, NOISY, kind="boundary"), "rows with two features; these have 4"),
        (lambda: plot({"a": perceptron, "b": descent}, kind="overview", ax=object()), "makes its own axes"),
        (lambda: plot(nr.certify(perceptron, NOISY), kind="regret"), "the receipt holds no regret to draw"),
        (lambda: plot(nr.certify(descent, CHANCES), kind="radius"), "the regret for one radius only"),
        (lambda: plot(receipt, kind="bounds", to="x.gif"), "the file must end in"),
        (lambda: plot(nr.play(nr.OnlineGradientDescentRegressor(), NOISY), kind="error"), "these labels are numbers"),
        (lambda: plot(nr.play(nr.OnlineGradientDescentRegressor(), NOISY), kind="reliability"), "two classes"),
    ):
        with pytest.raises(SettingError, match=sentence):
            ask()


def test_the_pictures_of_a_thing_in_the_order_of_telling(perceptron, receipt):
    titles = [picture.title for picture in pictures_of(perceptron)]
    assert titles == ["Error so far", "Mean loss so far", "Mistakes and bounds", "Reliability of the scores"]
    for title, caption, draw in pictures_of(receipt):
        axes = new_figure(6.0, 4.0).add_subplot()
        assert title and caption.endswith(".") and draw(axes) is axes and axes.lines
    bare = nr.certify(perceptron, NOISY)
    assert [picture.title for picture in pictures_of(bare)] == ["Observed values and bounds"]
