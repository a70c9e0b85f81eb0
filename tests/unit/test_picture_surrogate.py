"""The surrogate losses of the perceptron: gradient descent on them in fractions, the figure, the command, refusals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.command import call

import noregret as nr
from noregret.errors import SettingError
from noregret.picture.surrogate import surrogates_of
from oracle.selection import perceptron_path
from oracle.theorems import dot, fractions


def noisy(rounds=80, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 2))
    return X, np.where(X @ [1.0, 0.6] + 0.45 * rng.normal(size=rounds) > 0.0, 1.0, -1.0)


@st.composite
def streams(draw):
    rounds, features = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    rows = [draw(st.lists(st.integers(-3, 3), min_size=features, max_size=features)) for _ in range(rounds)]
    return rows, draw(st.lists(st.sampled_from([-1, 1]), min_size=rounds, max_size=rounds))


@settings(max_examples=80, deadline=None)
@given(streams())
def test_the_perceptron_is_gradient_descent_on_the_surrogate_losses(stream):
    """In fractions: f_t is the hinge loss of a mistake, else 0; the perceptron steps along its slope."""
    X, y = [fractions(x) for x in stream[0]], stream[1]
    w, losses, mistakes = [Fraction(0)] * len(X[0]), [], []
    for x, label, own in zip(X, y, perceptron_path(X, y), strict=True):
        assert w == own
        wrong = label * dot(w, x) <= 0
        losses.append(max(Fraction(0), 1 - label * dot(w, x)) if wrong else Fraction(0))
        slope = [-label * part if wrong else Fraction(0) for part in x]
        w = [a - b for a, b in zip(w, slope, strict=True)]
        mistakes.append(wrong)
        assert losses[-1] >= int(wrong)
    run = nr.play(nr.Perceptron(), stream)
    found = surrogates_of(run, (stream,))
    assert found.losses.tolist() == [float(one) for one in losses]
    assert found.mistake.tolist() == mistakes and run.mistakes == sum(mistakes)
    assert np.all(found.hinge >= found.losses)


@pytest.mark.parametrize("tie", ["mistake", "+1", "-1"])
def test_the_rounds_that_are_zero_follow_the_tie_rule(tie):
    stream = np.array([[0.0], [1.0], [0.0], [-1.0]]), [1, 1, -1, -1]
    run = nr.play(nr.Perceptron(tie=tie), stream)
    found = surrogates_of(run, (stream,))
    expected = {"mistake": [1, 1, 1, 0], "+1": [0, 0, 1, 1], "-1": [1, 1, 0, 0]}[tie]
    assert found.mistake.astype(int).tolist() == expected and run.updates == sum(expected)
    assert (found.losses > 0).astype(int).tolist() == expected


def test_the_figure_shows_every_round(tmp_path):
    stream = noisy()
    run = nr.play(nr.Perceptron(), stream)
    along, across = nr.plot(run, stream, kind="surrogate", to=tmp_path / "s.svg")
    lines = {line.get_label(): line for line in along.lines}
    assert len(lines["mistake: hinge loss"].get_xdata()) == run.mistakes
    assert len(lines["f_t = 0"].get_xdata()) == 80 - run.mistakes
    assert lines["mistake: hinge loss"].get_ydata().min() >= 1.0
    assert lines["hinge loss left out"].get_ydata().max() < 1.0
    assert f"{run.mistakes} of 80 rounds are mistakes; {80 - run.mistakes} losses f_t are 0" == along.get_title()
    assert "never below the mistakes" in across.get_title()
    assert (tmp_path / "s.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(("rows", "labels"), [([[1.0]], [1]), ([[0.0]], [1]), ([[1.0]] * 5000, [1] * 5000)])
def test_streams_at_the_edge_are_drawn(rows, labels, tmp_path):
    run = nr.play(nr.Perceptron(), (rows, labels))
    along, _ = nr.plot(run, (rows, labels), kind="surrogate", to=tmp_path / "s.png")
    assert all(len(line.get_xdata()) <= 2000 for line in along.lines)


def test_what_has_no_surrogate_losses_is_said():
    stream = noisy(20)
    run = nr.play(nr.Perceptron(), stream)
    with pytest.raises(SettingError, match="surrogate losses need the rows: pass the stream"):
        nr.plot(run, kind="surrogate")
    with pytest.raises(SettingError, match="surrogate losses are drawn of the run of a perceptron"):
        nr.plot(nr.play(nr.OnlineGradientDescent(radius=1.0), stream), stream, kind="surrogate")
    weighted = (*stream, np.full(20, 2.0))
    with pytest.raises(SettingError, match="surrogate losses need rows of weight 1"):
        nr.plot(nr.play(nr.Perceptron(), weighted), weighted, kind="surrogate")


def test_the_command_draws_it(tmp_path):
    X, y = noisy()
    np.savetxt(tmp_path / "s.csv", np.column_stack([X, y]), delimiter=",", header="a,b,label", comments="")
    words = ("learn", tmp_path / "s.csv", "--plot", tmp_path / "s.png", "--picture", "surrogate", "--learner")
    assert call(*words, "ogd").code == 2 and not (tmp_path / "s.png").exists()
    assert call(*words, "perceptron").code == 0 and (tmp_path / "s.png").stat().st_size > 10_000
