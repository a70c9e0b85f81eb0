"""The quadratic certificate by its recursion, round after round, in 120 decimal digits.

H_0 = λI, θ_1 = 0; in a round z0 = ⟨θ_t, x⟩, Q = ⟨x, H_{t−1}⁻¹x⟩, e = z0 − z and
δ = −s·e − ½h·e² + Q(s + h·e)²/(2(1 + hQ)); then θ and H⁻¹ move as by Sherman and Morrison. The bound is (λ/2)U² + Σδ,
and θ_{T+1} is where the sum of the minorants and (λ/2)‖θ‖² is least.
"""

from dataclasses import dataclass
from decimal import Decimal

from oracle.rows import Truth, dec, exp, norm, regret, root, row


def inner(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), start=Decimal(0))


def share(m):
    """1/(1 + e^m)."""
    return exp(-m) / (1 + exp(-m)) if m > 0 else 1 / (1 + exp(m))


def curvature(z, size, U):
    """h of the lemma at a score z, for all comparators of norm at most U on a row of this size."""
    reach, own = U * size, share(z) * share(-z)
    return own if abs(z) >= reach else own / (1 + (abs(z) + reach) / 2)


@dataclass
class Recursion:
    """δ, h, z0 and Q of every round, and the minimiser at the end."""

    delta: list
    h: list
    inner: list
    Q: list
    theta: list
    size: Decimal  # of what Σδ is made of, for the roundings of one that sums otherwise


def recursion(X, y, z, U, lam, k=None):
    """For rows, labels, scores and weights, whatever their types."""
    X = [[dec(part) for part in x] for x in X]
    y, z, k = ([dec(part) for part in line] for line in (y, z, [1] * len(y) if k is None else k))
    U, lam, d = dec(U), dec(lam), len(X[0]) if X else 0
    inverse = [[1 / lam if i == j else Decimal(0) for j in range(d)] for i in range(d)]
    theta, delta, curvatures, inners, forms = [Decimal(0)] * d, [], [], [], []
    for x, label, score, weight in zip(X, y, z, k, strict=True):
        s, h = -weight * label * share(label * score), weight * curvature(score, root(inner(x, x)), U)
        q = [inner(line, x) for line in inverse]
        Q, e = inner(x, q), inner(theta, x) - score
        pull = s + h * e
        delta.append(-s * e - h * e * e / 2 + Q * pull * pull / (2 * (1 + h * Q)))
        theta = [a - pull * b / (1 + h * Q) for a, b in zip(theta, q, strict=True)]
        inverse = [
            [a - h * p * b / (1 + h * Q) for a, b in zip(line, q, strict=True)]
            for line, p in zip(inverse, q, strict=True)
        ]
        curvatures.append(h / weight)
        inners.append(e + score)
        forms.append(Q)
    size = lam * (U * U + inner(theta, theta)) / 2
    for x, label, score, weight, h in zip(X, y, z, k, curvatures, strict=True):
        e, s = inner(theta, x) - score, share(label * score)
        size += weight * ((abs(score) + abs(e)) * s + h * (e * e + score * score))
    return Recursion(delta, curvatures, inners, forms, theta, size)


@row("quadratic")
def quadratic(data):
    lam, U = data.settings.get("ridge", 1.0), data.hindsight.radius
    found = recursion(data.X, data.y, data.z, U, lam, data.k)
    seen, scale = regret(data)
    values = {"norm": norm(data.points["v_quadratic"]), "radius": U}
    return Truth(dec(lam) * dec(U) ** 2 / 2 + sum(found.delta), seen, values, size=found.size, scale=scale)
