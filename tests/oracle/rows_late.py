"""Late labels: their theorems from the statements, on the events themselves."""

from fractions import Fraction

from oracle.rows import ZERO, Data, Truth, dec, fractions, norm, own_loss, regret, root, row
from oracle.rows_gradient import grads


class Late:
    """The plays and the learner's own rounds; x_i of every row that waited while the label of k was learned."""

    def __init__(self, facts, waiting):
        self.facts, self.waiting = facts, waiting
        self.plays = Data(facts.plays.run, facts.plays.rounds, facts.hindsight, facts.points)
        self.fresh = Data(facts.run, facts.arrived)
        self.U = facts.run.learner.domain.radius

    @property
    def staleness(self):
        return own_loss(self.plays) - own_loss(self.fresh)

    @property
    def felt(self):
        """Σ‖g'‖² + 2‖g'‖·Λ·Σ‖x_i‖, all losses here having slopes of at most 1."""
        found = grads(self.fresh)
        lengths = [dec(abs(s)) * norm(x) if s else dec(0) for s, x in zip(found.slopes, self.fresh.X, strict=True)]
        outside = [sum((norm(fractions(x)) for x in rows), start=dec(0)) for rows in self.waiting]
        return sum((g * g + 2 * g * more for g, more in zip(lengths, outside, strict=True)), start=dec(0))


def linearised(data, U):
    """Σ s·z + U‖Σ s·x‖, and the size of what it is made from."""
    found = grads(data)
    reach = norm(found.total)
    spread = sum((abs(s) * sum(map(abs, x)) for s, x in zip(found.slopes, data.X, strict=True)), start=ZERO)
    return dec(found.dot_weights) + dec(U) * reach, dec(found.dot_size) + dec(U) * dec(spread), reach


def _claim(late, bound, size, **values):
    seen, scale = regret(late.plays)
    return Truth(bound, seen, values, size=size, scale=scale)


@row("late-plays")
def late_plays(late):
    bound, size, reach = linearised(late.plays, late.U)
    dots = grads(late.plays).dot_weights
    return _claim(late, bound, size, dot_weights=dots, norm_of_sum=reach, radius=Fraction(late.U))


@row("late-fresh")
def late_fresh(late):
    own, size, _ = linearised(late.fresh, late.U)
    lost = own_loss(late.plays) + own_loss(late.fresh)
    bound, more = own + dec(late.staleness), size + dec(lost)
    truth = _claim(late, bound, more, learner=own, staleness=late.staleness, radius=Fraction(late.U))
    truth.sizes.update(learner=size, staleness=dec(lost))
    return truth


@row("late-rate")
def late_rate(late):
    bound = root(8) * dec(late.U) * root(late.felt)
    return _claim(late, bound, bound, sum_c=late.felt, radius=Fraction(late.U))


LATE_NEEDS = {
    "the loss is convex in the score": lambda late: True,
    "no label was revised": lambda late: not late.facts.book.counts.revised,
    "no label came after its round had expired": lambda late: not late.facts.book.counts.after_expiry,
    "rows are played as they come, or at length 1": lambda late: late.facts.run.learner.params.scale is None,
    "the run starts at w₁ = 0": lambda late: not any(late.fresh.start),
}
