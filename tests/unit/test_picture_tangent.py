"""Lemma 1 drawn: both sides of the inequality in every round, the tangent of one, and what cannot be drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.command import call

import noregret as nr
from noregret.errors import SettingError
from noregret.loss import LOSSES, parse
from noregret.picture.tangent import ALONG, tangents_of


def rows(regression=False, count=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    signal = X @ [1.0, 0.5, 0.0] + 0.6 * rng.normal(size=count)
    return X, signal if regression else np.where(signal > 0.0, 1.0, -1.0)


def run_of(spec, sigma=None, data=None):
    kind = nr.OnlineGradientDescentRegressor if parse(spec).regression else nr.OnlineGradientDescent
    if sigma is not None:
        kind = nr.StronglyConvexGradientDescentRegressor if parse(spec).regression else nr.StronglyConvexGradientDescent
    options = {"loss": spec, "radius": 2.0, "bias": True, **({} if sigma is None else {"sigma": sigma})}
    return nr.play(kind(**options), rows(parse(spec).regression) if data is None else data)


@pytest.mark.parametrize("sigma", [None, 0.3])
@pytest.mark.parametrize("spec", LOSSES)
def test_no_round_falls_by_more_than_its_tangent(spec, sigma):
    data = rows(parse(spec).regression)
    run = run_of(spec, sigma)
    found = tangents_of(run, (data,), None)
    assert len(found.falls) == 120
    assert np.all(found.falls <= found.linear + 1e-9 * (1.0 + np.abs(found.linear)))
    at_w, at_u = found.along(np.array([0.0, 1.0]))
    assert at_w - at_u <= found.fall - found.bend + 1e-9 * (1.0 + abs(found.fall))
    tangent = at_w - ALONG * found.fall
    assert np.all(found.along(ALONG) >= tangent + ALONG**2 * found.bend - 1e-9 * (1.0 + np.abs(tangent)))
    if sigma is None:
        plain = run.loss - sum(found.loss.values(found.at_u, found.y))
        assert found.falls.sum() == pytest.approx(plain, rel=1e-9, abs=1e-9)
        assert found.falls[found.place] == pytest.approx(at_w - at_u)


def test_the_weights_of_the_round_are_those_before_it():
    """With a regulariser f(w_t) is taken at the weights that the learner had: played by hand up to there."""
    data = rows()
    found = tangents_of(run_of("hinge", 0.5), (data,), None)
    twin = nr.StronglyConvexGradientDescent(loss="hinge", radius=2.0, bias=True, sigma=0.5)
    if found.place:
        twin.partial_fit(data[0][: found.place], data[1][: found.place], classes=[-1.0, 1.0])
    w = np.append(twin.coef_[0], twin.intercept_) if found.place else np.zeros(4)
    assert found.ridge[0] == pytest.approx(w @ w)
    x = np.append(data[0][found.place], 1.0)
    assert found.at_w[found.place] == pytest.approx(w @ x)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["hinge", "logistic", "squared-hinge"]))
def test_on_random_rows(seed, spec):
    data = rows(count=25, seed=seed)
    found = tangents_of(run_of(spec, None, data), (data,), None)
    assert np.all(found.falls <= found.linear + 1e-9 * (1.0 + np.abs(found.linear)))


def test_the_figure_says_both_sides():
    data = rows()
    one, every = nr.plot(run_of("logistic"), data, kind="tangent")
    assert "at most ⟨g, w − u⟩" in one.get_title()
    assert "no round lies above the line" in every.get_title()
    assert [tick.get_text() for tick in one.get_xticklabels()] == ["w_t", "u"]
    one, every = nr.plot(run_of("logistic", 0.2), data, kind="tangent")
    assert "(σ/2)‖u − w‖²" in one.get_title() and "without the regulariser" in every.get_title()


def cut_hinge(z, y):
    return min(max(0.0, 1.0 - y * z), 5.0)


def cut_slope(z, y):
    return -y if 0.0 < 1.0 - y * z < 5.0 else 0.0


def test_a_loss_that_is_not_convex_is_told():
    """A hinge that is cut at 5 passes for convex at the few points that are looked at."""
    cut = nr.custom_loss(cut_hinge, cut_slope, name="cut")
    X, y = rows()
    data = 20.0 * X, y
    run = nr.play(nr.OnlineGradientDescent(loss=cut, radius=2.0, rate="constant:0.1"), data)
    _, every = nr.plot(run, data, kind="tangent")
    assert "this loss is not convex" in every.get_title()


def test_a_perceptron_is_compared_with_what_its_receipt_names():
    data = rows()
    run = nr.play(nr.Perceptron(), data)
    with pytest.raises(SettingError, match="plot: a tangent needs a best model in hindsight: give"):
        nr.plot(run, data, kind="tangent")
    receipt = nr.certify(run, data, radius=2.0)
    found = tangents_of(run, (data,), receipt)
    assert np.linalg.norm(receipt.points["u"]) <= 2.0
    assert np.all(found.falls <= found.linear + 1e-9)


@pytest.mark.parametrize(
    ("thing", "streams", "sentence"),
    [
        (lambda: nr.play(nr.KernelPerceptron(), rows()), (rows(),), "a tangent is drawn of the run of a learner with"),
        (lambda: run_of("hinge"), (), "a tangent needs the rows"),
    ],
)
def test_what_cannot_be_drawn_is_said(thing, streams, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.plot(thing(), *streams, kind="tangent")


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    np.savetxt("r.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,label", comments="")
    learn = ["learn", "r.csv", "--quiet", "--picture", "tangent", "--plot", "t.svg"]
    assert call(*learn, "--learner", "ogd", "--loss", "logistic").code == 0
    assert "tangent at w_t" in (tmp_path / "t.svg").read_text()
    assert call(*learn, "--learner", "perceptron", "--certify", "--radius", "2").code == 0
    answer = call(*learn[:-1], "n.svg", "--learner", "perceptron")
    assert answer.code == 2 and "a tangent needs a best model in hindsight" in answer.err
    assert not (tmp_path / "n.svg").exists()
    answer = call(*learn[:-1], "n.svg", "--learner", "kernel")
    assert answer.code == 2 and "--picture must be one of" in answer.err
