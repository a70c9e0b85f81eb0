"""The kernel perceptron from its definition: two loops in plain Python."""

import math


def dot(x, z):
    return math.fsum(a * b for a, b in zip(x, z, strict=True))


KERNELS = {
    "linear": lambda x, z, p: dot(x, z),
    "poly": lambda x, z, p: (p.get("coef0", 1.0) + p.get("gamma", 1.0) * dot(x, z)) ** p.get("degree", 2),
    "rbf": lambda x, z, p: math.exp(-p.get("gamma", 1.0) * math.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True))),
    "laplace": lambda x, z, p: math.exp(
        -p.get("gamma", 1.0) * math.fsum(abs(a - b) for a, b in zip(x, z, strict=True))
    ),
}


def in_order(terms, total=0.0):
    """A sum one after another: `sum` itself has done more than that since Python 3.12."""
    for one in terms:
        total += one
    return total


def exponential(x):
    """e^x for x ≤ 0: Taylor's polynomial of degree 13 around the nearest multiple of ln 2."""
    if x < -708.0:
        return 0.0
    n, total = math.floor(x * 1.4426950408889634 + 0.5), 0.0
    r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10
    for k in range(13, -1, -1):
        total = total * r + 1.0 / math.factorial(k)
    return math.ldexp(total, n)


def to_the_bit(name, x, z, coef0=1.0, gamma=1.0, degree=2, bias=0.0):
    """K(x, z) as the core computes it: the sum in the order of the features, then a function of it."""
    pairs = list(zip(x, z, strict=True))
    if name in ("rbf", "laplace"):
        gaps = (abs(a - b) if name == "laplace" else (a - b) * (a - b) for a, b in pairs)
        return exponential(-gamma * in_order(gaps))
    total = in_order(a * b for a, b in pairs) + bias
    base = power = total if name == "linear" else coef0 + gamma * total
    for _ in range(0 if name == "linear" else degree - 1):
        power *= base
    return power


def folded_score(x, supports, alpha, c, gamma, lanes=8):
    """Σ α·(c + γ⟨x, z⟩)² = a + Σ_i γx_i·(b_i + Σ_j A_ij·x_j), j from the first column of i's panel on."""
    total = in_order(c * (c * a) for a in alpha)
    for i in range(len(x)):
        first, weighted = i // lanes * lanes, [(gamma * a) * z[i] for a, z in zip(alpha, supports, strict=True)]
        line = in_order(2.0 * (c * a) * z[i] for a, z in zip(alpha, supports, strict=True))
        for j in range(first, len(x)):
            twice = 1.0 if j < first + lanes else 2.0
            line += x[j] * in_order(z[j] * (twice * w) for w, z in zip(weighted, supports, strict=True))
        total += (gamma * x[i]) * line
    return total


def kernel_perceptron(X, y, kernel, weights=None, tie=0.0, budget=None, forgets=lambda count: 0, total=math.fsum):
    """(scores, update rounds, supports still kept); `forgets` says which of so many supports goes."""
    kept, scores, updates = [], [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        score = total(a * kernel(X[s], x) for s, a in kept)
        scores.append(score)
        if (tie != label) if score == 0 else (score > 0) != (label > 0):
            updates.append(t)
            if budget is not None and len(kept) == budget:
                kept.pop(forgets(len(kept)))
            kept.append((t, label * (1.0 if weights is None else weights[t])))
    return scores, updates, [s for s, _ in kept]
