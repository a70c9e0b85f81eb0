"""The lifting of Theorem 3's proof: the lifted stream in fractions, the figure, the command, what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.command import call

import noregret as nr
from noregret.errors import SettingError
from noregret.picture.lifting import Lifting, lifting_of
from noregret.proof.theorems import THEOREMS
from noregret.rounds import Rounds
from oracle.selection import perceptron_path
from oracle.theorems import dot, fractions


def overlapping(rounds=80, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 2))
    return X, np.where(X @ [1.0, 0.6] + 0.45 * rng.normal(size=rounds) > 0.0, 1.0, -1.0)


@st.composite
def streams(draw):
    rounds, features = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    rows = [draw(st.lists(st.integers(-3, 3), min_size=features, max_size=features)) for _ in range(rounds)]
    labels = draw(st.lists(st.sampled_from([-1, 1]), min_size=rounds, max_size=rounds))
    return rows, labels, [Fraction(draw(st.integers(-6, 6)), 4) for _ in range(features)]


@settings(max_examples=100, deadline=None)
@given(streams(), st.fractions(Fraction(1, 4), 5))
def test_the_lifted_stream_is_separable_and_is_played_as_before(stream, width):
    """In fractions: y⟨u,x'⟩ ≥ 1 everywhere, the same mistakes, and Novikoff's bound on the lifted stream holds."""
    X, y, v = stream
    T = len(X)
    rows = [fractions(x) for x in X]
    h = [max(Fraction(0), 1 - label * dot(v, x)) for x, label in zip(rows, y, strict=True)]
    lifted = [[*x, *(width if s == t else Fraction(0) for s in range(T))] for t, x in enumerate(rows)]
    u = [*v, *(label * one / width for label, one in zip(y, h, strict=True))]
    assert all(label * dot(u, x) >= 1 for x, label in zip(lifted, y, strict=True))
    paths = perceptron_path(rows, y), perceptron_path(lifted, y)
    before, after = (
        [label * dot(w, x) for w, x, label in zip(path, given_, y, strict=True)]
        for path, given_ in zip(paths, (rows, lifted), strict=True)
    )
    assert before == after
    r2, M = max(dot(x, x) for x in rows), sum(m <= 0 for m in before)
    assert (r2 + width**2) * dot(u, u) >= M
    assert dot(u, u) == dot(v, v) + sum(one * one for one in h) / width**2
    found = Lifting.of(Rounds.of(np.array(X, dtype=float), np.array(y, dtype=float)), np.array(v, dtype=float), M)
    exact = float((r2 + width**2) * dot(u, u))
    assert found.bound(float(width)) == pytest.approx(exact, rel=1e-9)
    assert np.all(found.y * (found.scores + found.own) >= 1.0 - 1e-12)


def test_the_least_bound_is_that_of_the_certificate():
    stream = overlapping()
    run = nr.play(nr.Perceptron(), stream)
    receipt = nr.certify(run, stream)
    found = lifting_of(run, (stream,), receipt)
    bound = next(one["bound"] for one in receipt.certificates if one["theorem"] == "l2-radius")
    assert found.bound(found.best) == pytest.approx(bound, rel=1e-9)
    assert all(found.bound(found.best) <= found.bound(found.best * factor) for factor in (0.5, 0.99, 1.01, 2.0))
    assert lifting_of(run, (stream,), None).bound(found.best) == pytest.approx(bound, rel=1e-3)
    assert THEOREMS["l2-radius"].source.endswith("Theorem 3 (8)")


def test_the_figure_shows_every_row_and_the_margin_between_the_classes(tmp_path):
    stream = overlapping()
    run = nr.play(nr.Perceptron(), stream)
    before, after, widths = nr.plot(run, stream, kind="lifting", to=tmp_path / "lift.svg")
    assert sum(len(line.get_xdata()) for line in before.lines if line.get_marker() in "os") == 80
    points = {
        line.get_label(): np.column_stack(line.get_data()) for line in after.lines if line.get_marker() in ("o", "s")
    }
    assert {name: len(part) for name, part in points.items()} == {
        "label +1": int(np.sum(stream[1] > 0)),
        "label −1": int(np.sum(stream[1] < 0)),
    }
    assert points["label +1"].sum(axis=1).min() >= 1.0 - 1e-12
    assert points["label −1"].sum(axis=1).max() <= -1.0 + 1e-12
    assert "Novikoff" in widths.get_title() and "hollow" in before.get_title()
    assert (tmp_path / "lift.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(("rows", "labels"), [([[1.0]], [1]), ([[0.0]], [1]), ([[1.0], [1.0]], [1, -1])])
def test_streams_at_the_edge_are_drawn(rows, labels, tmp_path):
    run = nr.play(nr.Perceptron(), (rows, labels))
    nr.plot(run, (rows, labels), kind="lifting", to=tmp_path / "lift.png")
    found = lifting_of(run, ((rows, labels),), None)
    assert found.best >= 0.0 and not math.isnan(found.best)


def test_what_cannot_be_lifted_is_said():
    stream = overlapping(20)
    run = nr.play(nr.Perceptron(), stream)
    with pytest.raises(SettingError, match="a lifting needs the rows: pass the stream"):
        nr.plot(run, kind="lifting")
    with pytest.raises(SettingError, match="a lifting is drawn of the run of a perceptron"):
        nr.plot(nr.play(nr.OnlineGradientDescent(radius=1.0), stream), stream, kind="lifting")
    weighted = (*stream, np.full(20, 2.0))
    with pytest.raises(SettingError, match="a lifting needs rows of weight 1"):
        nr.plot(nr.play(nr.Perceptron(), weighted), weighted, kind="lifting")


def test_the_command_draws_it(tmp_path):
    X, y = overlapping()
    np.savetxt(tmp_path / "s.csv", np.column_stack([X, y]), delimiter=",", header="a,b,label", comments="")
    done = call(
        "learn", tmp_path / "s.csv", "--learner", "perceptron", "--plot", tmp_path / "l.png", "--picture", "lifting"
    )
    assert done.code == 0 and (tmp_path / "l.png").stat().st_size > 10_000
    done = call("learn", tmp_path / "s.csv", "--learner", "ogd", "--plot", tmp_path / "m.png", "--picture", "lifting")
    assert done.code == 2 and "--picture must be one of" in done.err
    assert not (tmp_path / "m.png").exists()
