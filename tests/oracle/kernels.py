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


def kernel_perceptron(X, y, kernel, weights=None, tie=0.0, budget=None, forgets=lambda count: 0):
    """(scores, update rounds, supports still kept); `forgets` says which of so many supports goes."""
    kept, scores, updates = [], [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        score = math.fsum(a * kernel(X[s], x) for s, a in kept)
        scores.append(score)
        if (tie != label) if score == 0 else (score > 0) != (label > 0):
            updates.append(t)
            if budget is not None and len(kept) == budget:
                kept.pop(forgets(len(kept)))
            kept.append((t, label * (1.0 if weights is None else weights[t])))
    return scores, updates, [s for s, _ in kept]
