"""With a penalty the steps are others: what is true of any weights is certified, what needs the plain steps is not."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import SettingError
from noregret.learner import OnlineGradientDescent
from theorem.test_receipt_streams import FLAT, NARROW, RATES, STEEP, certified, streams

ANY = {"ogd-linearised", "ogd-linearised-at-hindsight"}


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(FLAT + STEEP), st.sampled_from(RATES), st.sampled_from([1e-3, 20.0]), st.booleans())
def test_receipts_of_descents_with_a_ridge_stand(data, loss, rate, ridge, bias):
    if rate == "horizon:5" and math.isinf(nr.LOSSES[loss.split(":")[0]]().lipschitz):
        rate = "auto"
    radius = data.draw(st.sampled_from([0.5, 3.0, 50.0]))
    learner = OnlineGradientDescent(loss=loss, rate=rate, radius=radius, l2=ridge, bias=bias)
    receipt = certified(learner, data.draw(streams(NARROW)))
    assert receipt is None or {one["theorem"] for one in receipt.certificates} == ANY


def test_the_bounds_of_plain_steps_would_be_false_with_a_penalty():
    """A strong ridge keeps the weights near 0: the regret grows like T, which `ogd-adaptive` forbids plain steps."""
    stream = np.ones((400, 1)), np.ones(400)
    run = nr.play(OnlineGradientDescent(radius=1.0, l2=100.0), stream)
    receipt = nr.certify(run, stream)
    adaptive = math.sqrt(8.0 * run.gradient["sum_norm2"])
    assert receipt.regret["lower"] > 2.0 * adaptive
    assert {one["theorem"] for one in receipt.certificates} == ANY
    assert receipt.regret["upper"] <= run.regret_upper * (1.0 + 1e-12)


@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan, "much"])
def test_a_penalty_is_a_number_from_0_on(value):
    with pytest.raises(SettingError, match="l2 must be at least 0 and finite"):
        OnlineGradientDescent(l2=value)
    assert "l2" not in OnlineGradientDescent(l2=0.0).settings
