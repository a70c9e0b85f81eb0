"""Every setting that cannot be is refused with one sentence: who, what must hold, what came."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SettingError
from noregret.learner import OnlineGradientDescent, Perceptron, StronglyConvexGradientDescent
from noregret.loss import huber, margin_hinge, parse, pinball, tie_code

LOSS_NAMES = "hinge, margin-hinge, squared-hinge, perceptron, logistic, exponential, squared, absolute, huber, pinball"
LOSS_NAMES += ", epsilon-insensitive"
SENTENCES = [
    (lambda: parse("hings"), f"loss must be one of {LOSS_NAMES}, got 'hings'"),
    (lambda: parse(3), r"loss must be a name or noregret.custom_loss\(value, slope\), got 3"),
    (lambda: parse("hinge:2"), "loss hinge takes no parameter, got '2'"),
    (lambda: parse("huber:x"), "loss huber: delta must be a number, got 'x'"),
    (lambda: parse("huber:0"), "loss huber: delta must be positive and finite, got 0.0"),
    (lambda: huber(math.nan), "loss huber: delta must be positive and finite, got nan"),
    (lambda: parse("margin-hinge:-1"), "loss margin-hinge: the margin must be positive and finite, got -1.0"),
    (lambda: margin_hinge(math.inf), "loss margin-hinge: the margin must be positive and finite, got inf"),
    (lambda: parse("pinball:1"), "loss pinball: tau must lie between 0 and 1, got 1.0"),
    (lambda: pinball(math.nan), "loss pinball: tau must lie between 0 and 1, got nan"),
    (lambda: tie_code("0"), "tie must be one of mistake, \\+1, -1, got '0'"),
    (lambda: nr.custom_loss(max, lambda z, y: 0.0), r"loss custom: value must be a plain Python function of \(z, y\)"),
    (lambda: nr.custom_loss(lambda z, y: z, lambda z: z, name="mine"), "loss mine: slope must be a plain Python"),
    (lambda: nr.custom_loss(lambda z, y: z, lambda z, y: 1.0, lipschitz=0), "lipschitz must be positive, got 0"),
    (lambda: parse("hinge").conjugate is None or nr.custom_loss(lambda z, y: z, lambda z, y: 1.0).conjugate(0, 1),
     "loss custom: no dual is known for it"),
    (lambda: nr.Domain("ring", 1.0), "domain must be one of ball, box, l1, simplex, got 'ring'"),
    (lambda: nr.Domain("ball", 0.0), "radius must be positive, got 0.0"),
    (lambda: nr.Domain("box", math.nan), "radius must be positive, got nan"),
    (lambda: OnlineGradientDescent(radius=-1), "radius must be positive, got -1"),
    (lambda: OnlineGradientDescent(rate="fast"), "rate must be one of auto, .*, got 'fast'"),
    (lambda: OnlineGradientDescent(rate=0.5), "rate must be one of auto, .*, got 0.5"),
    (lambda: OnlineGradientDescent(rate="constant"), "rate must be one of auto, .*, got 'constant'"),
    (lambda: OnlineGradientDescent(rate="constant:0"), "rate constant:0: 0 must be positive and finite"),
    (lambda: OnlineGradientDescent(rate="sqrt:inf"), "rate sqrt:inf: inf must be positive and finite"),
    (lambda: OnlineGradientDescent(rate="sqrt:x"), "rate sqrt:x: 'x' is not a number"),
    (lambda: OnlineGradientDescent(rate="horizon:2.5"), "rate horizon:2.5: the horizon must be a whole number"),
    (lambda: OnlineGradientDescent(loss="squared", rate="horizon:5"),
     "rate horizon:5: the slope of the loss squared has no bound; write horizon:5:G"),
    (lambda: OnlineGradientDescent(loss="squared", rate="doubling"),
     "rate doubling: the slope of the loss squared has no bound; write doubling:G"),
    (lambda: OnlineGradientDescent(radius=math.inf), "rate auto needs the radius of a ball"),
    (lambda: OnlineGradientDescent(domain="box", rate="horizon:9"), "rate horizon:9 needs the radius of a ball"),
    (lambda: OnlineGradientDescent(rate="doubling", start=[1.0]), "the doubling rate starts every period at 0"),
    (lambda: OnlineGradientDescent(radius=1.0, start=[1.0, 1.0]), "ogd: start must lie in the ball of radius 1.0"),
    (lambda: OnlineGradientDescent(radius=1.0, domain="box", rate="sqrt:1", start=[1.5, 0.0]),
     "ogd: start must lie in the box of radius 1.0"),
    (lambda: Perceptron(start=[math.nan]), "perceptron: start must be one row of finite numbers"),
    (lambda: Perceptron(start=[[1.0, 2.0]]), "perceptron: start must be one row of finite numbers"),
    (lambda: Perceptron(rate=0), "perceptron: rate must be positive and finite, got 0"),
    (lambda: Perceptron(rate=math.inf), "perceptron: rate must be positive and finite, got inf"),
    (lambda: Perceptron(rate="1"), "perceptron: rate must be positive and finite, got '1'"),
    (lambda: Perceptron(tie="plus"), "tie must be one of"),
    (lambda: Perceptron(scale="min"), "scale must be max or standard or log or left out, got 'min'"),
    (lambda: StronglyConvexGradientDescent(sigma=0), "ogd-strong: sigma must be positive and finite, got 0"),
    (lambda: StronglyConvexGradientDescent(sigma=math.nan), "ogd-strong: sigma must be positive and finite, got nan"),
    (lambda: nr.play(Perceptron(), (np.eye(2), [1, -1]), passes=0), "passes must be at least 1, got 0"),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_what_cannot_be_is_said(attempt, sentence):
    with pytest.raises(SettingError, match=sentence) as caught:
        attempt()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [np.float64(0.5), np.float32(0.5), np.int64(2), 2])
def test_numbers_of_numpy_are_numbers(number):
    assert Perceptron(rate=number).settings["rate"] == float(number)
    assert StronglyConvexGradientDescent(sigma=number).settings["sigma"] == float(number)
    assert OnlineGradientDescent(radius=number).settings["radius"] == float(number)


@pytest.mark.parametrize("spec", ["hinge", "margin-hinge:0.25", "huber:0.1", "pinball:0.9", "logistic"])
def test_a_loss_reads_back_from_its_own_text(spec):
    assert parse(parse(spec).spec) == parse(spec)


def test_a_loss_is_taken_as_it_is():
    loss = huber(0.3)
    assert parse(loss) is loss


@pytest.mark.parametrize(
    ("value", "slope"),
    [(lambda z, y: max(0.0, 1.0 - y * z), lambda z, y: y), (lambda z, y: -z * z, lambda z, y: -2.0 * z)],
)
def test_a_slope_that_is_no_subgradient_is_refused(value, slope):
    with pytest.raises(nr.SettingError, match="slope must be a subgradient of a convex value"):
        nr.custom_loss(value, slope)


def test_a_loss_that_does_not_compile_is_said_in_a_sentence():
    loss = nr.custom_loss(lambda z, y: eval("z * z"), lambda z, y: 2.0 * z)
    with pytest.raises(nr.SettingError, match="cannot be compiled"):
        nr.OnlineGradientDescent(loss=loss).fit([[1.0], [2.0]], [0, 1])
