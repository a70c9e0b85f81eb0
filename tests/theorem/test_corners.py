"""‖w‖₁ ≤ U and the simplex: the pass bounds the regret against every point of the domain, and the receipt stands."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ReceiptError, SettingError
from noregret.learner import OnlineGradientDescent
from oracle.losses import loss_of
from theorem.test_receipt_streams import FLAT, NARROW, RATES, STEEP, certified, streams

DOMAINS = {"l1": "l1-linearised", "simplex": "simplex-linearised"}


def corners(shape, features, radius):
    """The domain is the hull of these: a linear function is largest at one of them."""
    tips = [radius * one for one in np.eye(features)]
    return [np.zeros(features), *tips] if shape == "simplex" else [*tips, *(-tip for tip in tips)]


def exactly(loss, X, y, u):
    value, _ = loss_of(loss)
    return math.fsum(value(float(x @ u), label) for x, label in zip(X, y, strict=True))


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(streams([1.0, 0.1]), st.sampled_from(["l1", "simplex"]), st.sampled_from(["hinge", "logistic"]), st.data())
def test_no_point_of_the_domain_does_better_than_the_pass_allows(stream, shape, loss, data):
    X, y = np.clip(stream[0], -9.0, 9.0), stream[1]
    rate = data.draw(st.sampled_from(["auto", "sqrt:0.5", "doubling:4"]))
    radius = data.draw(st.sampled_from([0.5, 3.0]))
    run = nr.play(OnlineGradientDescent(loss=loss, domain=shape, radius=radius, rate=rate), (X, y))
    (found,) = nr.certify(run, (X, y)).certificates
    assert found["theorem"] == DOMAINS[shape]
    assert found["bound"] == pytest.approx(run.regret_upper, rel=1e-9, abs=1e-9)
    tips = corners(shape, X.shape[1], radius)
    mixed = np.random.default_rng(0).dirichlet(np.ones(len(tips)), 20) @ np.array(tips)
    for u in [*tips, *mixed]:
        assert run.loss - exactly(loss, X, y, u) <= found["bound"] + 1e-9 * (1.0 + run.loss)


@pytest.mark.parametrize("shape", sorted(DOMAINS))
def test_the_bound_of_a_run_that_stays_at_zero(shape):
    """The hinge has the slope −1 at 0, where the run all but stays: the bound is 3·U."""
    stream = ([[1.0], [1.0], [1.0]], [1, 1, 1])
    run = nr.play(OnlineGradientDescent(domain=shape, radius=2.0, rate="constant:1e-300"), stream)
    (found,) = nr.certify(run, stream).certificates
    assert run.regret_upper == 6.0
    assert 6.0 <= found["bound"] <= 6.0 * (1.0 + 1e-9)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(list(DOMAINS)), st.sampled_from(FLAT + STEEP), st.sampled_from(RATES), st.booleans())
def test_receipts_stand(data, shape, loss, rate, bias):
    if rate == "horizon:5" and math.isinf(nr.LOSSES[loss.split(":")[0]]().lipschitz):
        rate = "auto"
    radius = data.draw(st.sampled_from([0.5, 3.0, 50.0]))
    learner = OnlineGradientDescent(loss=loss, rate=rate, radius=radius, domain=shape, bias=bias)
    receipt = certified(learner, data.draw(streams(NARROW)))
    assert receipt is None or [one["theorem"] for one in receipt.certificates] == [DOMAINS[shape]]
    assert receipt is None or receipt.regret is None


@pytest.mark.parametrize("shape", sorted(DOMAINS))
@pytest.mark.parametrize("share", [0.999, 0.5])
def test_a_smaller_bound_is_found_out(shape, share, tmp_path):
    rng = np.random.default_rng(4)
    stream = rng.normal(size=(50, 4)), rng.choice([-1.0, 1.0], 50)
    run = nr.play(OnlineGradientDescent(domain=shape, radius=1.0), stream)
    receipt = nr.certify(run, stream)
    receipt.save(tmp_path / "r.json")
    nr.verify(tmp_path / "r.json", stream)
    (said,) = receipt.certificates
    with pytest.raises(ReceiptError, match=DOMAINS[shape]):
        nr.verify(replace(receipt, certificates=[{**said, "bound": said["bound"] * share}]), stream)


def test_a_ball_of_comparators_is_refused():
    stream = ([[1.0], [-1.0]], [1, -1])
    run = nr.play(OnlineGradientDescent(domain="l1", radius=1.0), stream)
    with pytest.raises(SettingError, match="radius must be left out, got 1: l1 is the learner's own domain"):
        nr.certify(run, stream, radius=1.0)
    with pytest.raises(SettingError, match="anytime"):
        nr.certify(run, stream, anytime=True)
