"""An alarm from its definition: the e-values in exact fractions, and the same steps in floats; the baselines."""

from fractions import Fraction

BETS = range(1, 9)


def e_values(losses, m):
    """E_t after every round, exactly: λ_j = 2^−j/m, weights 1/8, the reserve 1/(t + 1)."""
    m, A, found = Fraction(m), [Fraction(0)] * 8, []
    for t, loss in enumerate(map(Fraction, losses), 1):
        A = [(a + Fraction(1, t * (t + 1))) * (1 + (loss - m) / (m * 2**j)) for a, j in zip(A, BETS, strict=True)]
        found.append(sum(A, start=Fraction(0)) / 8 + Fraction(1, t + 1))
    return found


def steps(losses, m, threshold):
    """The same in floats, step by step, up to the round after which E is surely at least `threshold`."""
    bets, A, found = [0.5 / m * 0.5**j for j in range(8)], [0.0] * 8, []
    for t, loss in enumerate(losses, 1):
        A = [
            min((a + 1.0 / (t * (t + 1.0))) * (1.0 + bet * (loss - m)), 2.0**900)
            for a, bet in zip(A, bets, strict=True)
        ]
        total = 0.0
        for a in A:
            total += a
        found.append(total / 8.0 + 1.0 / (t + 1.0))
        if found[-1] * (1.0 - (6.0 * t + 20.0) * 2.0**-53) >= threshold:
            break
    return found


def most_frequent(labels):
    """Whether each label differs from the most frequent one before it, the first to have come so often."""
    counts, leader, wrong = {}, None, []
    for label in labels:
        wrong.append(float(label != leader))
        counts[label] = counts.get(label, 0) + 1
        if leader is None or counts[label] > counts[leader]:
            leader = label
    return wrong


def means(labels, first):
    """The mean of the labels before each."""
    return [sum(labels[:t]) / t if t else first for t in range(len(labels))]
