"""The evidence of a kernel learner: its updates through the Gram matrix, comparators v = Σ_s c_s·φ(x_s) of its rounds.

Such a v is given by c, a number for each round, most of them 0 for a long run. Hinge losses over all rounds and ‖v‖ are
sums of kernel values, enclosed; how c was found does not matter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret.gram import Gram, hinges
from noregret.interval import Interval, total
from noregret.learner.kernel import KernelPerceptron
from noregret.learner.supports import BLOCK, Columns, store
from noregret.rounds import Rounds
from noregret.theorem.comparator import Comparator
from noregret.theorem.evidence import COMPARATORS, Evidence, Mistakes, Points, update_rounds

Vector = NDArray[np.float64]
Places = NDArray[np.int64]
MOST = 2e9  # rounds × supports × entries of a row: beyond, the certificates are not computed
SMALL = 300  # up to so many rounds a comparator may lean on every one; else on the update rounds alone
NEAR = 1e-2  # any comparator gives a bound, so its best is not looked for more closely
ZERO = Interval.of(0.0)


def learner_of(evidence: Evidence) -> KernelPerceptron:
    learner = evidence.run.learner
    assert isinstance(learner, KernelPerceptron)
    return learner


def spanned(bare: Evidence, points: Points) -> Evidence:
    """The evidence at given points (c_sum, c_mistakes, c_root), without a solver."""
    chosen = update_rounds(bare.run, bare.rounds)
    gram = Gram(replace(bare.rounds, weights=None), learner_of(bare).kernel)
    if len(bare.rounds) * max(len(chosen), 1) * gram.entries > MOST:
        return replace(bare, mistakes=Mistakes(len(chosen), False, ZERO, ZERO, ZERO, ZERO))
    found = replace(bare, gram=gram, mistakes=_mistakes(bare, gram, chosen))
    return with_spans(found, points)


def with_spans(bare: Evidence, points: Points) -> Evidence:
    """With the comparators at these points."""
    named = {name: points[f"c_{name}"] for name in COMPARATORS if f"c_{name}" in points}
    if bare.gram is None or not named:
        return bare
    found = dict(zip(named, _comparators(bare, np.array(list(named.values()))), strict=True))
    return replace(bare, comparators=found, points={**bare.points, **points})


def _mistakes(bare: Evidence, gram: Gram, chosen: Places) -> Mistakes:
    """Every update was made at y·score ≤ 0 beyond any doubt or it was not; ‖S‖, max K(x,x), Tr K_I."""
    y = bare.rounds.y[chosen]
    lo, hi = gram.squares()
    before = gram.sums(chosen, y[None], chosen, before=True)
    ends = gram.sums(chosen, y[None], chosen)
    worst = np.where(y > 0.0, before[1][0], -before[0][0])
    length = gram.length(y, ends[0][0], ends[1][0])
    return Mistakes(
        len(chosen),
        bare.rounds.weights is None and bool((worst <= 0.0).all()),
        length,
        length,
        Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0))),
        total(lo[chosen], hi[chosen]),
    )


def _comparators(bare: Evidence, rows: NDArray[np.float64]) -> list[Comparator]:
    """Each row of coefficients c as v = Σ c_s·φ(x_s): ‖v‖, Σh(v) and Σh(v)² over all rounds."""
    assert bare.gram is not None
    which = np.flatnonzero(rows.any(axis=0))
    low, high = bare.gram.sums(which, rows[:, which], np.arange(len(bare.rounds)))
    made = []
    for c, a, b in zip(rows, low, high, strict=True):
        least, most = hinges(bare.rounds.y, a, b)
        squares = np.maximum(np.nextafter(least * least, -np.inf), 0.0), np.nextafter(most * most, np.inf)
        norm = bare.gram.length(c[which], a[which], b[which])
        made.append(Comparator(c, norm, total(least, most), total(*squares), ZERO))
    return made


def solved(bare: Evidence, *, gap: float, seconds: float) -> Evidence:
    """With comparators that make the bounds small: a linear problem in coordinates of the span.

    The coordinates are those of the Gram matrix's own vectors, so that ⟨φ(x), φ(z)⟩ is an ordinary inner product.
    """
    if bare.gram is None or bare.mistakes is None or bare.rounds.weights is not None or not len(bare.rounds):
        return bare
    if not bare.mistakes.measurable:
        return bare
    from noregret.hindsight import penalised, root

    which = _base(bare)
    rows, back = _coordinates(bare, which)
    rounds = Rounds.of(rows, bare.rounds.y)
    found, gap = {}, max(gap, NEAR)
    for name, rho in (("sum", bare.mistakes.sum_norm), ("mistakes", bare.mistakes.mistake_norm)):
        found[f"c_{name}"] = back @ penalised(rounds, rho, gap=gap, seconds=seconds).v
    found["c_root"] = back @ root(rounds, gap=gap, seconds=seconds).v
    return with_spans(bare, {name: _spread(c, which, len(rounds)) for name, c in found.items()})


def _base(bare: Evidence) -> Places:
    """The rounds that comparators may lean on."""
    if len(bare.rounds) <= SMALL:
        return np.arange(len(bare.rounds))
    return update_rounds(bare.run, bare.rounds)


def _spread(c: Vector, which: Places, count: int) -> Vector:
    found = np.zeros(count)
    found[which] = c
    return found


def _coordinates(bare: Evidence, which: Places) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every round in coordinates of the span of some, and the matrix that turns coordinates into coefficients."""
    K = _values(bare, which)
    sizes, vectors = np.linalg.eigh((K[which] + K[which].T) / 2.0)
    kept = sizes > 1e-11 * max(float(sizes.max(initial=0.0)), 1e-300)
    back = vectors[:, kept] / np.sqrt(sizes[kept])
    return K @ back, back


def _values(bare: Evidence, which: Places) -> NDArray[np.float64]:
    """K(x_t, x_s) for every round t and these s, as floats."""
    rounds, kernel = bare.rounds, learner_of(bare).kernel
    if not kernel.summed:
        assert bare.gram is not None
        return bare.gram.given(np.arange(len(rounds)), which)
    kept = store(kernel, False, rounds.width, sparse=isinstance(rounds.given, tuple))
    assert not isinstance(kept, Columns)
    chosen = kept.prepared(rounds.rows.take(which).given)
    kept.keep(chosen, np.arange(len(which)), np.arange(len(which)))
    found = np.empty((len(rounds), len(which)))
    for start in range(0, len(rounds), BLOCK):
        block = kept.prepared(rounds.rows.slice(start, min(start + BLOCK, len(rounds))).given)
        G = np.empty((len(block), -(-len(which) // 8) * 8))
        kept.fill(block, 0, len(which), G)
        found[start : start + BLOCK] = G[: len(rounds) - start, : len(which)]
    return found
