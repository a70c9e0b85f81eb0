"""Every loss from its definition: (value, slope) of a score z, a label y and the loss's parameter."""

import math


def sign(number):
    return (number > 0) - (number < 0)


LOSS = {
    "hinge": (lambda z, y, p: max(0, 1 - y * z), lambda z, y, p: -y if y * z < 1 else 0),
    "margin-hinge": (lambda z, y, p: max(0, 1 - y * z / p), lambda z, y, p: -y / p if y * z < p else 0),
    "squared-hinge": (lambda z, y, p: max(0, 1 - y * z) ** 2, lambda z, y, p: -2 * y * max(0, 1 - y * z)),
    "perceptron": (lambda z, y, p: max(0, -y * z), lambda z, y, p: -y if y * z <= 0 else 0),
    "logistic": (lambda z, y, p: math.log(1 + math.exp(-y * z)), lambda z, y, p: -y / (1 + math.exp(y * z))),
    "exponential": (lambda z, y, p: math.exp(-y * z), lambda z, y, p: -y * math.exp(-y * z)),
    "squared": (lambda z, y, p: (z - y) ** 2, lambda z, y, p: 2 * (z - y)),
    "absolute": (lambda z, y, p: abs(z - y), lambda z, y, p: sign(z - y)),
    "huber": (
        lambda z, y, p: (z - y) ** 2 / 2 if abs(z - y) <= p else p * abs(z - y) - p * p / 2,
        lambda z, y, p: z - y if abs(z - y) <= p else p * sign(z - y),
    ),
    "pinball": (
        lambda z, y, p: p * (y - z) if z < y else (1 - p) * (z - y),
        lambda z, y, p: -p if z < y else (1 - p if z > y else 0),
    ),
    "epsilon-insensitive": (
        lambda z, y, p: max(0, abs(z - y) - p),
        lambda z, y, p: sign(z - y) if abs(z - y) > p else 0,
    ),
}


def loss_of(spec):
    """(value, slope) of (z, y) for a text such as "huber:0.3"; parameters are 1, 1, ½ and 0.1 if left out."""
    name, _, text = spec.partition(":")
    p = float(text) if text else {"pinball": 0.5, "epsilon-insensitive": 0.1}.get(name, 1.0)
    value, slope = LOSS[name]
    return lambda z, y: value(z, y, p), lambda z, y: slope(z, y, p)
