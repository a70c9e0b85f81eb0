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


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    st.data(), st.sampled_from(FLAT + STEEP), st.sampled_from([1e-3, 0.5]), st.sampled_from([0.0, 0.5]), st.booleans()
)
def test_receipts_of_descents_with_a_threshold_stand(data, loss, threshold, ridge, bias):
    rate = data.draw(st.sampled_from(["constant:0.3", "sqrt:0.5"]))
    radius = data.draw(st.sampled_from([0.5, 50.0, math.inf]))
    learner = OnlineGradientDescent(
        loss=loss, rate=rate, radius=radius, domain="box", l1=threshold, l2=ridge, bias=bias
    )
    receipt = certified(learner, data.draw(streams([1.0, 1e-10])), 3.0 if radius == math.inf else None)
    expected = ANY if radius == math.inf else {*ANY, "box-linearised"}
    assert receipt is None or {one["theorem"] for one in receipt.certificates} == expected


@pytest.mark.parametrize("where", [{}, {"domain": "l1"}, {"domain": "simplex", "rate": "sqrt:1"}])
def test_a_threshold_is_refused_where_all_weights_move_together(where):
    with pytest.raises(SettingError, match="ogd: l1 needs the domain box or an infinite radius"):
        OnlineGradientDescent(l1=0.1, **where)


def test_a_larger_threshold_leaves_fewer_weights_and_all_count_as_they_are_read():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.2)
    stream = X, np.where(X[:, 0] - X[:, 1] > 0.0, 1.0, -1.0)
    runs = [
        nr.play(OnlineGradientDescent(l1=l1, domain="box", rate="sqrt:0.5"), stream) for l1 in (1e-9, 0.02, 0.2, 9.0)
    ]
    left = [run.nonzero for run in runs]
    assert left[0] == 40
    assert left == sorted(left, reverse=True)
    assert 2 <= left[2] < left[1] < 40
    assert left[3] == 0
    for run in runs:
        assert run.nonzero == np.count_nonzero(run.learner.weights)
        assert run.weight_norm == pytest.approx(np.linalg.norm(run.learner.weights))


def test_the_bounds_of_plain_steps_would_be_false_with_a_penalty():
    """A strong ridge keeps the weights near 0: the regret grows like T, which `ogd-adaptive` forbids plain steps."""
    stream = np.ones((400, 1)), np.ones(400)
    run = nr.play(OnlineGradientDescent(radius=1.0, l2=100.0), stream)
    receipt = nr.certify(run, stream)
    adaptive = math.sqrt(8.0 * run.gradient["sum_norm2"])
    assert receipt.regret["lower"] > 2.0 * adaptive
    assert {one["theorem"] for one in receipt.certificates} == ANY
    assert receipt.regret["upper"] <= run.regret_upper * (1.0 + 1e-9)


@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan, "much"])
def test_a_penalty_is_a_number_from_0_on(value):
    for name in ("l1", "l2"):
        with pytest.raises(SettingError, match=f"{name} must be at least 0 and finite"):
            OnlineGradientDescent(domain="box", rate="sqrt:1", **{name: value})
    assert "l2" not in OnlineGradientDescent(l2=0.0).settings
