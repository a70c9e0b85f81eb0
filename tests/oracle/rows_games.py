"""Linear losses against their adversary, and the mean of rows: their theorems from the statements."""

from fractions import Fraction

from oracle.rows import HALF, ZERO, Truth, combination, dec, dot, fractions, norm, norm2, root, row
from oracle.rows_others import OTHER_NEEDS


class Linear:
    """A game: w_t, g_t, the radius of the comparators, the length that the gradients should have."""

    def __init__(self, game):
        self.W, self.G = ([fractions(row_) for row_ in table.tolist()] for table in (game.points, game.gradients))
        self.U, self.length = Fraction(game.radius), Fraction(game.length)
        self.before = [combination([1] * t, self.G[:t], len(self.G[0])) for t in range(len(self.G))]

    @property
    def regret(self):
        total = combination([1] * len(self.G), self.G, len(self.G[0]))
        return dec(sum((dot(g, w) for g, w in zip(self.G, self.W, strict=True)), start=ZERO)) + dec(self.U) * norm(
            total
        )

    @property
    def orthogonal(self):
        pairs = [*zip(self.G, self.W, strict=True), *zip(self.G, self.before, strict=True)]
        return all(dot(g, other) ** 2 <= norm2(g) * norm2(other) / 2**80 for g, other in pairs)


@row("linear-lower")
def linear_lower(game):
    norms = sum((norm2(g) for g in game.G), start=ZERO)
    slack = sum((max(-dot(g, s), ZERO) for g, s in zip(game.G, game.before, strict=True)), start=ZERO)
    gained = sum((max(-dot(g, w), ZERO) for g, w in zip(game.G, game.W, strict=True)), start=ZERO)
    least = dec(game.U) * root(norms - 2 * slack) - dec(gained)
    scale = dec(game.U) * root(norms) + dec(gained)
    return Truth(game.regret, least, {"sum_norm2": norms}, size=scale, scale=scale)


class Mean:
    """A run on (σ/2)‖w − a‖²: the rows, the points it was at, σ and the ball."""

    def __init__(self, run):
        self.A, self.W = ([fractions(row_) for row_ in table.tolist()] for table in (run.rows, run.points[:-1]))
        self.sigma, self.T = Fraction(run.sigma), len(self.A)
        self.U = None if run.radius == float("inf") else Fraction(run.radius)

    @property
    def squares(self):
        """‖w_t − a_t‖²."""
        return [norm2([p - q for p, q in zip(w, a, strict=True)]) for w, a in zip(self.W, self.A, strict=True)]

    @property
    def loss(self):
        return self.sigma * HALF * sum(self.squares, start=ZERO)

    @property
    def best(self):
        """The least Σ(σ/2)‖u − a‖²: at the mean, or at the point of the ball in its direction."""
        mean = combination([Fraction(1, self.T)] * self.T, self.A, len(self.A[0]))
        inside = sum((norm2([p - q for p, q in zip(mean, a, strict=True)]) for a in self.A), start=ZERO)
        off = max(norm(mean) - dec(self.U), dec(0)) if self.U is not None else dec(0)
        return dec(self.sigma) / 2 * (dec(inside) + self.T * off * off)

    def truth(self, bound, longest):
        """The bound of exact steps; the run's own roundings are measured by the sizes of what they were made on."""
        size = dec(bound) + dec(self.sigma) * self.T * max(dec(norm2(a)) for a in self.A)
        return Truth(
            bound, dec(self.loss) - self.best, {"max_gradient": longest}, size=size, scale=dec(self.loss) + size
        )


@row("mean-gradients")
def mean_gradients(run):
    bound = run.sigma * HALF * sum((one / t for t, one in enumerate(run.squares, 1)), start=ZERO)
    return run.truth(bound, dec(run.sigma) * root(max(run.squares)))


@row("mean-harmonic")
def mean_harmonic(run):
    harmonic = sum((Fraction(1, t) for t in range(1, run.T + 1)), start=ZERO)
    return run.truth(run.sigma * HALF * max(run.squares) * harmonic, dec(run.sigma) * root(max(run.squares)))


GAME_NEEDS = {
    **OTHER_NEEDS,
    "the losses are linear, in at least 3 dimensions": lambda game: len(game.G[0]) >= 3,
    "every g_t is orthogonal to w_t and to the sum of the earlier ones, to within 2⁻⁴⁰ of their lengths": (
        lambda game: game.orthogonal
    ),
    "every ‖g_t‖ is G, to within 2⁻⁴⁰": (
        lambda game: all(abs(norm2(g) / game.length**2 - 1) <= Fraction(1, 2**39) for g in game.G)
    ),
}
