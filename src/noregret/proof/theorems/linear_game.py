"""What no learner can do: against the adversary of linear losses the regret grows like √T, so √T cannot be improved."""

from __future__ import annotations

from fractions import Fraction

from noregret.adversary import ZERO, LinearGame
from noregret.interval import Interval
from noregret.proof.theorem import Certificate, Claim, Need, theorem
from noregret.rational import nearest

NEARLY = Fraction(1, 2**80)  # the square of the cosine that rounding may leave between orthogonal vectors


def certificate(game: LinearGame) -> Certificate:
    """The lower bound, evaluated on a game."""
    return linear_lower(game)


def _orthogonal(game: LinearGame) -> bool:
    """Whether every |⟨g_t, w_t⟩| and |⟨g_t, Σ_{s<t} g_s⟩| is at most 2⁻⁴⁰ of the product of the two lengths."""
    points = [sum((Fraction(part) ** 2 for part in row), ZERO) for row in game.points.tolist()]
    sums = [ZERO, *game.sums_norm2[:-1]]
    parts = zip(game.norms2, game.own, points, game.along, sums, strict=True)
    return all(
        own * own <= NEARLY * norm2 * point and along * along <= NEARLY * norm2 * before
        for norm2, own, point, along, before in parts
    )


def _long(game: LinearGame) -> bool:
    """Whether every ‖g_t‖ is G to within 2⁻⁴⁰."""
    wanted = Fraction(game.length) ** 2
    return all(abs(one - wanted) <= wanted / 2**39 for one in game.norms2)


@theorem(
    "linear-lower",
    "regret, from below",
    "R ≥ U·√(Σ‖g_t‖²) = U·G·√T, G = ‖g_t‖",
    "Cesa-Bianchi's notes, the lower bound for linear losses",
    learners=("linear-game",),
    needs=(
        Need[LinearGame]("the losses are linear, in at least 3 dimensions", lambda game: game.points.shape[1] >= 3),
        Need[LinearGame](
            "every g_t is orthogonal to w_t and to the sum of the earlier ones, to within 2⁻⁴⁰ of their lengths",
            _orthogonal,
        ),
        Need[LinearGame]("every ‖g_t‖ is G, to within 2⁻⁴⁰", _long),
    ),
)
def linear_lower(game: LinearGame) -> Claim:
    """Against linear losses whose gradients are orthogonal to w_t and to the sum of the earlier gradients, every
    deterministic learner has the regret U·√(Σ‖g_t‖²) or more against ‖u‖ ≤ U. What rounding leaves of the scalar
    products is taken off where it helps the learner: Σ max(−⟨g_t, w_t⟩, 0), and below the root twice the same sum of
    ⟨g_t, Σ_{s<t} g_s⟩.

    Observed is that lower bound, rounded down; the bound is the regret.
    """
    norms2 = sum(game.norms2, ZERO)
    left = norms2 - 2 * sum((max(-one, ZERO) for one in game.along), ZERO)
    gained = sum((max(-one, ZERO) for one in game.own), ZERO)
    least = nearest(max(left, ZERO)).sqrt() * game.radius - nearest(gained)
    return Claim(game.regret, Interval.of(least.lo), float("inf"), {"sum_norm2": nearest(norms2).hi})
