"""Many classes, and the learners with a matrix: the second-order perceptron and the Vovk–Azoury–Warmuth forecaster."""

from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from oracle.rows import (
    ZERO,
    Truth,
    dec,
    dot,
    largest_root,
    ln,
    missed,
    norm,
    norm2,
    regret,
    root,
    row,
)

# -- many classes ------------------------------------------------------------------------------------------------------


class Classes:
    """What moved, replayed in fractions: (round, class, ±1)."""

    def __init__(self, data):
        self.data, self.alone = data, data.settings["update"] == "one-vs-rest"
        self.K = len(data.run.tally["labels"])
        self.y = [int(label) for label in data.y]
        declared = getattr(data.run.learner.labels, "declared", 0)
        seen = [max([declared - 1, *self.y[: t + 1]]) for t in range(data.T)]
        self.first = [next(t for t in range(data.T) if seen[t] >= k) for k in range(self.K)]
        new = [t == self.first[label] and label >= declared for t, label in enumerate(self.y)]
        self.wrong = [bool(score[0] <= 0.0) or new[t] for t, score in enumerate(data.scores)]
        self.M = sum(self.wrong)
        self.moved = sorted({t for t, _, _ in data.moves})
        self.n = 0 if self.alone else sum(wrong and t not in self.moved for t, wrong in enumerate(self.wrong))
        self.R2 = sum((norm2(data.X[t]) for t in self.moved), start=ZERO)
        self.r2 = max((norm2(x) for x in data.X), default=ZERO)

    @cached_property
    def replayed(self):
        """(whether every move was where a wrong side was not behind, S as one vector)."""
        W, fair = [[ZERO] * self.data.d for _ in range(self.K)], not self.data.weighted
        for t in self.moved:
            here, x = [(c, s) for round_, c, s in self.data.moves if round_ == t], self.data.X[t]
            fair = fair and all(s == (1 if c == self.y[t] else -1) for c, s in here)
            ahead = [s * dot(W[c], x) for c, s in here]
            if self.alone:
                fair = fair and all(one <= 0 for one in ahead)
            else:
                fair = fair and sum(ahead) <= 0 and len(here) == 2 and {s for _, s in here} == {1, -1}
            for c, s in here:
                W[c] = [a + s * b for a, b in zip(W[c], x, strict=True)]
        return fair, [part for w in W for part in w]

    def rows_of(self, name):
        flat = self.data.points[name]
        return [flat[k * self.data.d : (k + 1) * self.data.d] for k in range(self.K)]

    def margins(self, name):
        """min_{r≠y} ⟨v_y − v_r, x⟩ of every round; None with one class alone."""
        V = self.rows_of(name)
        for x, y in zip(self.data.X, self.y, strict=True):
            yield min((dot(V[y], x) - dot(v, x) for r, v in enumerate(V) if r != y), default=None)

    def least(self, bound):
        at, bounds = {}, []
        for name in self.data.by_prefix("V_"):
            if name in ("V_each", "V_apart"):
                continue
            lost = sum((max(ZERO, 1 - m) for m in self.margins(name) if m is not None), start=ZERO)
            size = norm(self.data.points[name])
            at[name] = {"loss": lost, "norm": size, "unforeseen": self.n}
            bounds.append(self.n + bound(dec(lost), size))
        return Truth(min(bounds), self.M, at=at, size=min(bounds) + self.data.T)

    @property
    def separated(self):
        return "V_apart" in self.data.points and all(m is None or m >= 1 for m in self.margins("V_apart"))

    def one(self, k):
        """(Σ_t h_t(v_k) + ‖v_k‖·R_k, M_k) of class k's own perceptron."""
        v = self.rows_of("V_each")[k]
        mine = [t for t, c, _ in self.data.moves if c == k]
        lost = (
            max(ZERO, 1 - (1 if self.y[t] == k else -1) * dot(v, self.data.X[t]))
            for t in range(self.first[k], self.data.T)
        )
        R2 = sum((norm2(self.data.X[t]) for t in mine), start=ZERO)
        return dec(sum(lost, start=ZERO)) + norm(v) * root(R2), len(mine)


def classes(data):
    if not hasattr(data, "classes"):
        data.classes = Classes(data)
    return data.classes


@row("multiclass-norm")
def multiclass_norm(data):
    return Truth(root(2 * classes(data).R2), norm(classes(data).replayed[1]))


@row("multiclass-sum")
def multiclass_sum(data):
    length = norm(classes(data).replayed[1])
    return classes(data).least(lambda c, size: c + size * length)


@row("multiclass-mistakes")
def multiclass_mistakes(data):
    return classes(data).least(lambda c, size: c + size * root(2 * classes(data).R2))


@row("multiclass-root")
def multiclass_root(data):
    run = classes(data)
    return run.least(lambda c, size: largest_root(lambda N: c + size * (2 * dec(run.r2) * N).sqrt(), len(run.moved)))


@row("multiclass-novikoff")
def multiclass_novikoff(data):
    run, size = classes(data), norm(data.points["V_apart"])
    return Truth(run.n + 2 * dec(run.r2) * size * size, run.M, {"separator_norm": size, "unforeseen": run.n})


@row("one-vs-rest-updates")
def one_vs_rest_updates(data):
    each = [classes(data).one(k) for k in range(classes(data).K)]
    values = {f"bound_{k}": bound for k, (bound, _) in enumerate(each)}
    values |= {f"updates_{k}": count for k, (_, count) in enumerate(each)}
    return Truth(sum(bound for bound, _ in each), sum(count for _, count in each), values)


@row("one-vs-rest")
def one_vs_rest(data):
    return Truth(sum(classes(data).one(k)[0] for k in range(classes(data).K)), classes(data).M)


def _shares(counts, K):
    """What the best fixed shares lose, and what a KT estimator of K classes may lose beside it."""
    n = sum(counts)
    lost = sum((k * ln(Fraction(n, k)) for k in counts if k), start=Decimal(0))
    return lost + dec(Fraction(K - 1, 2)) * ln(n) + ln(K)


@row("succession-counts")
def succession_counts(data):
    y, K = [int(label) for label in data.y], len(data.run.tally["labels"])
    contexts, known, seen = {}, data.run.learner.labels.declared, [0, 0]
    for t, label in enumerate(y):
        context = (y[t - 1] if t else None) if data.settings["order"] else "all"
        contexts.setdefault(context, [0] * K)[label] += 1
        if known:
            seen[label >= known] += 1
        known = max(known, label + 1)
    bound = sum((_shares(counts, K) for counts in contexts.values()), start=Decimal(0))
    bound += _shares(seen, 2) if sum(seen) else 0
    paid = -sum((Fraction(float(score[3])) for score in data.scores), start=ZERO)
    return Truth(bound, paid, {"classes": K}, size=bound + len(y))


@row("softmax-linearised")
def softmax_linearised(data):
    known, r, n, total = data.run.learner.labels.declared, 0, 0, Decimal(0)
    G = [[ZERO] * data.d for _ in range(len(data.forecasts[0]))]
    for t, label in enumerate(int(label) for label in data.y):
        k, p = data.k[t], [Fraction(float(one)) for one in data.forecasts[t]]
        assert sum(p) == (label < known)
        if label < known:
            share = ln(Fraction(2 * (r - n) + 1, 2 * r + 2))
            total += dec(k) * (share - dec(float(data.scores[t][3])) + sum(dec(q) * ln(q) for q in p if q))
            for j, q in enumerate(p):
                G[j] = [a + k * (q - (j == label)) * x for a, x in zip(G[j], data.X[t], strict=True)]
        if known:
            r, n = r + 1, n + (label >= known)
        known = max(known, label + 1)
    norm_of_sum, U = norm([part for line in G for part in line]), dec(data.run.weight_norm)
    values = {"dot_weights": total, "norm_of_sum": norm_of_sum, "radius": U}
    size = dec(data.T) * 8 + U * norm_of_sum
    return Truth(total + U * norm_of_sum, None, values, size=size, sizes=dict.fromkeys(values, size))


# -- matrices ----------------------------------------------------------------------------------------------------------


def solved(A, b):
    """A⁻¹b and det A, by elimination."""
    n = len(b)
    rows = [[*line, part] for line, part in zip(A, b, strict=True)]
    det = Fraction(1)
    for j in range(n):
        pivot = next(i for i in range(j, n) if rows[i][j])
        if pivot != j:
            rows[j], rows[pivot], det = rows[pivot], rows[j], -det
        det *= rows[j][j]
        rows[j] = [part / rows[j][j] for part in rows[j]]
        for i in range(n):
            if i != j and rows[i][j]:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [line[-1] for line in rows], det


class Matrices:
    """A_t = aI + Σ k·x·xᵀ with the row of round t, b_t = Σ k·y·x before it, over the chosen rounds."""

    def __init__(self, data, chosen):
        self.a = Fraction(float(data.settings["ridge"]))
        A = [[self.a if i == j else ZERO for j in range(data.d)] for i in range(data.d)]
        b = [ZERO] * data.d
        self.forms, self.scores, det = [], [], self.a**data.d
        for t in chosen:
            x, k = data.X[t], data.k[t]
            A = [[A[i][j] + k * x[i] * x[j] for j in range(data.d)] for i in range(data.d)]
            q, det = solved(A, x) if data.d else ([], det)
            self.forms.append(dot(x, q))
            self.scores.append(dot(b, q))
            b = [part + k * data.y[t] * one for part, one in zip(b, x, strict=True)]
        self.log_det = ln(det / self.a**data.d)
        # ⟨x, A⁻¹x⟩ is off by Σ‖x‖²/a units, and a logarithm of 1 less it by the square of that
        self.strain = sum((data.k[t] * norm2(data.X[t]) for t in chosen), start=ZERO) / self.a


def _second_order(data):
    if not hasattr(data, "second"):
        data.chosen = [t for t in range(data.T) if missed(data.z[t], data.y[t], data.settings["tie"])]
        data.second = Matrices(data, data.chosen)
    return data.second


def _compared(data, growth, strain):
    """Σh(v) + √((a‖v‖² + Σ_I ⟨v,x⟩²)·growth), and what scores that were no mistakes would add."""
    run, at, bounds = _second_order(data), {}, []
    wrong = (2 * max(ZERO, data.y[t] * score) for t, score in zip(data.chosen, run.scores, strict=True))
    growth = dec(growth) + dec(sum(wrong, start=ZERO))
    for name, v in data.by_prefix("v_").items():
        lost = sum((max(ZERO, 1 - y * dot(v, x)) for x, y in zip(data.X, data.y, strict=True)), start=ZERO)
        stretched = run.a * norm2(v) + sum((dot(v, data.X[t]) ** 2 for t in data.chosen), start=ZERO)
        at[name] = {"hinge": lost, "norm": norm(v), "growth": growth}
        bounds.append((dec(lost), dec(stretched)))
    least = min(lost + (by * growth).sqrt() for lost, by in bounds)

    def above(share):
        """The growth is known to a share of the rounds that it is summed over."""
        more = growth + share * (growth + data.T)
        return min(lost + (by * more).sqrt() for lost, by in bounds) + share * data.T

    return Truth(least, len(data.chosen), at=at, size=least + data.T, strain=strain, above=above)


@row("second-order-steps")
def second_order_steps(data):
    return _compared(data, sum(_second_order(data).forms, start=ZERO), _second_order(data).strain)


@row("second-order")
def second_order(data):
    return _compared(data, _second_order(data).log_det, _second_order(data).strain ** 2)


def _vaw(data):
    if not hasattr(data, "vaw"):
        data.vaw = Matrices(data, range(data.T))
    return data.vaw


def _forecast(data, bound, power=1):
    """The bound on exact predictions, and what the run's own may have cost more: (|ŷ−y| + δ)² − (ŷ−y)²."""
    lost = ZERO
    for k, z, y, score in zip(data.k, data.z, data.y, _vaw(data).scores, strict=True):
        lost += k * ((abs(z - y) + abs(z - score)) ** 2 - (z - y) ** 2)
    seen, scale = regret(data)
    told = sum((k * (y * y + (z - y) ** 2) for k, y, z in zip(data.k, data.y, data.z, strict=True)), start=ZERO)
    size = dec(bound) + dec(told)
    strain = _vaw(data).strain ** power
    return Truth(dec(bound) + dec(lost), seen, {"rounding": lost}, size=size, scale=scale, strain=strain)


def _label_square(data):
    return max((k * y * y for k, y in zip(data.k, data.y, strict=True)), default=ZERO)


@row("vaw-steps")
def vaw_steps(data):
    terms = (k * k * y * y * form for k, y, form in zip(data.k, data.y, _vaw(data).forms, strict=True))
    return _forecast(data, sum(terms, start=ZERO))


@row("vaw-determinant")
def vaw_determinant(data):
    return _forecast(data, dec(_label_square(data)) * _vaw(data).log_det, 2)


@row("vaw-dimension")
def vaw_dimension(data):
    trace = sum((k * norm2(x) for k, x in zip(data.k, data.X, strict=True)), start=ZERO)
    growth = ln(1 + trace / (_vaw(data).a * data.d)) if data.d else Decimal(0)
    return _forecast(data, dec(_label_square(data)) * growth * data.d)
