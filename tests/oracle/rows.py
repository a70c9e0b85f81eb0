"""Every theorem a second time, from its statement: facts in fractions, roots and logarithms in 120 decimal digits.

`ORACLE` has a function for each theorem of the list, from plain data of a run to the `Truth`: the bound, what was
observed, the values that a certificate names. Nothing here is the library's own code; what stands in rows_*.py was
written from the statements and from the definitions of the losses, not from the formulas in src/.
"""

from dataclasses import dataclass, field
from decimal import Context, Decimal, setcontext
from fractions import Fraction

from oracle.losses import LOSS, sign

CONTEXT = Context(prec=120, Emin=-(10**9), Emax=10**9)
ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
ORACLE = {}


@dataclass
class Truth:
    """observed ≤ bound, as exact numbers; `observed` may be two ends that the interval must reach."""

    bound: object
    observed: object = None
    values: dict = field(default_factory=dict)
    at: dict = field(default_factory=dict)  # values at each comparator, by the name of its point
    size: object = None  # what roundings are measured by, where it is not the bound itself
    scale: object = None  # the same for what was observed
    sizes: dict = field(default_factory=dict)  # the same for single values
    strain: object = 0  # by how many units of the last place more the inverse of a matrix is off
    above: object = None  # the most that a share of roundings can make of the bound, where a root makes it more


def row(name):
    """Enter a function as the second derivation of the theorem of that name."""

    def entered(function):
        assert name not in ORACLE, name
        ORACLE[name] = function
        return function

    return entered


# -- numbers ---------------------------------------------------------------------------------------------------------


def dec(x):
    """A whole number, a fraction or a float as a decimal."""
    setcontext(CONTEXT)
    if isinstance(x, Decimal):
        return x
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def root(x):
    return dec(x).sqrt() if x > 0 else Decimal(0)


def ln(x):
    return dec(x).ln()


def exp(x):
    """e^x; what no float could tell from 0 is 0."""
    return dec(x).exp() if x > -3000 else Decimal(0)


def exact(x):
    """A decimal as the fraction that it is."""
    return Fraction(x)


def fractions(values):
    return [Fraction(float(value)) for value in values]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), start=ZERO)


def norm2(a):
    return dot(a, a)


def norm(a):
    return root(norm2(a))


def combination(coefficients, rows, width):
    """Σ c·x."""
    return [sum((c * x[j] for c, x in zip(coefficients, rows, strict=True)), start=ZERO) for j in range(width)]


def largest_root(below, start):
    """The largest M with M ≤ below(M), found by halving from a `start` that has it."""
    low = dec(start)
    high = low + 1
    while below(high) >= high:
        high = 2 * high
    for _ in range(900):
        middle = (low + high) / 2
        if middle in (low, high) or high - low <= high * Decimal("1e-40"):
            break
        low, high = (middle, high) if below(middle) >= middle else (low, middle)
    return low


# -- losses ----------------------------------------------------------------------------------------------------------


def value(loss, z, y):
    """ℓ(z, y) of a loss (name, parameter)."""
    name, p = loss
    if name == "logistic":
        m = y * z
        return exact(ln(1 + exp(-m)) if m > 0 else dec(-m) + ln(1 + exp(m)))
    if name == "exponential":
        return exact(exp(-y * z))
    return Fraction(LOSS[name][0](z, y, p))


def slope(loss, z, y):
    """The subgradient that the definition takes."""
    name, p = loss
    if name == "logistic":
        m = y * z
        return -y * exact(exp(-m) / (1 + exp(-m)) if m > 0 else 1 / (1 + exp(m)))
    if name == "exponential":
        return -y * exact(exp(-y * z))
    return Fraction(LOSS[name][1](z, y, p))


def gain(loss, alpha, y):
    """−ℓ*(α), from the table of duals."""
    name, p = loss
    beta = -alpha * y
    entropy = [q * exact(ln(q)) if q > 0 else ZERO for q in (beta, 1 - beta)] if name == "logistic" else []
    return {
        "hinge": lambda: beta,
        "margin-hinge": lambda: p * beta,
        "squared-hinge": lambda: beta - beta * beta / 4,
        "perceptron": lambda: ZERO,
        "logistic": lambda: -sum(entropy),
        "exponential": lambda: beta - beta * exact(ln(beta)) if beta > 0 else ZERO,
        "squared": lambda: -(alpha * y + alpha * alpha / 4),
        "absolute": lambda: -alpha * y,
        "pinball": lambda: -alpha * y,
        "epsilon-insensitive": lambda: -alpha * y - p * abs(alpha),
        "huber": lambda: -(alpha * y + alpha * alpha / 2),
    }[name]()


def lipschitz(loss):
    """L, or None where no number bounds the slope."""
    name, p = loss
    steep = {"margin-hinge": lambda: 1 / p, "huber": lambda: p, "pinball": lambda: max(p, 1 - p)}
    if name in ("squared", "squared-hinge", "exponential"):
        return None
    return steep.get(name, lambda: ONE)()


# -- the data of a run -----------------------------------------------------------------------------------------------


class Data:
    """What was played, as plain lists of fractions: rows, labels, weights, scores; settings; points by name."""

    def __init__(self, run, rounds, hindsight=None, points=None):
        learner = run.learner
        self.name, self.settings, self.run = learner.name, learner.settings, run
        self.T, self.d = len(rounds), rounds.width
        self.X = [fractions(x) for x in dense(rounds)]
        self.y = fractions(rounds.y)
        self.weighted = rounds.weights is not None
        self.k = fractions(rounds.weights) if self.weighted else [ONE] * self.T
        self.bias = bool(rounds.bias)
        self.multiclass = rounds.scores.ndim > 1
        self.z = [] if self.multiclass else fractions(rounds.scores)
        self.scores = rounds.scores.tolist()
        self.moves = [] if rounds.moves is None else rounds.moves.tolist()
        self.loss = learner.loss.name, Fraction(learner.loss.number)
        self.custom = learner.loss.custom
        self.rule = learner.rate
        self.eta = Fraction(learner.rate.eta)
        self.shape, self.U = learner.domain.shape, learner.domain.radius
        self.l1, self.l2, self.beta = (Fraction(float(self.settings.get(key) or 0.0)) for key in ("l1", "l2", "beta"))
        self.hindsight = hindsight
        self.radius = self.U if hindsight is None else hindsight.radius
        self.points = {name: fractions(point) for name, point in (points or {}).items()}
        self.floats = dict(points or {})
        self.told = {}  # values of the certificate that say what was chosen

    @property
    def judged(self):
        """The loss of the regret: the learner's own, of a perceptron the hinge."""
        return ("hinge", ZERO) if self.loss[0] == "zero-one" else self.loss

    @property
    def start(self):
        """w₁, the bias in front, 0 where nothing was given."""
        given = self.settings.get("start")
        w = [ZERO] * int(self.bias) + fractions([] if given is None else given)
        return w + [ZERO] * (self.d - len(w))

    def by_prefix(self, prefix):
        return {name: one for name, one in self.points.items() if name.startswith(prefix)}


def dense(rounds):
    """The rows as lists of floats."""
    rows = rounds.rows
    if hasattr(rows, "X"):
        return rows.X.tolist()
    found = [[0.0] * rounds.width for _ in range(len(rounds))]
    for t in range(len(rounds)):
        for place in range(int(rows.indptr[t]), int(rows.indptr[t + 1])):
            found[t][int(rows.indices[place])] += float(rows.values[place])
    return found


def missed(score, y, tie):
    """Whether a score was a mistake: one of 0 always, or unless the label is the one that ties go to."""
    if score == 0:
        return tie == "mistake" or y != int(tie)
    return sign(score) != sign(y)


# -- regret ----------------------------------------------------------------------------------------------------------


def risk(data, u):
    """F(u) = Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖²."""
    sigma = Fraction(data.hindsight.sigma)
    lost = (k * value(data.judged, dot(u, x), y) for k, x, y in zip(data.k, data.X, data.y, strict=True))
    return sum(lost, start=ZERO) + sigma * data.T * norm2(u) / 2


def dual(data):
    """D(α) = −Σ k·ℓ*(α) − max{a‖u‖ − (σT/2)‖u‖² : ‖u‖ ≤ U}, a = ‖Σ kαx‖; no comparator loses less, nor less than 0."""
    alpha, U, s = fractions(data.hindsight.alpha), data.hindsight.radius, Fraction(data.hindsight.sigma) * data.T
    paid = sum((k * gain(data.judged, a, y) for k, a, y in zip(data.k, alpha, data.y, strict=True)), start=ZERO)
    a = norm(combination([k * one for k, one in zip(data.k, alpha, strict=True)], data.X, data.d))
    if s == 0:
        taken = a * dec(U) if a else Decimal(0)
    elif float("inf") == U or a <= dec(s * Fraction(U)):
        taken = a * a / dec(2 * s)
    else:
        taken = dec(U) * a - dec(s * Fraction(U) ** 2 / 2)
    terms = (k * abs(one) * sum(map(abs, x)) for k, one, x in zip(data.k, alpha, data.X, strict=True))
    apart = dec(sum(terms, start=ZERO)) * Decimal("1e-18")  # Σ kαx is summed in twice the precision
    return max(dec(paid) - taken, Decimal(0)), dec(paid) + taken + apart * (1 if s else dec(U))


def own_loss(data):
    """Σ k·ℓ at the scores of the run."""
    return sum((k * value(data.judged, z, y) for k, z, y in zip(data.k, data.z, data.y, strict=True)), start=ZERO)


def regret(data, own=None):
    """Both ends of the regret that u and α prove, and the size of what they are differences of."""
    if data.hindsight is None:
        return None, None
    own = dec(own_loss(data) if own is None else own)
    lower, size = dual(data)
    u = fractions(data.hindsight.u)
    upper = dec(risk(data, u))
    return (own - upper, own - lower), own + upper + abs(size) + _parts(data, u)


def _parts(data, u):
    """Σ k(m + m²), m = |⟨u,x⟩| + |y|: where u is nearly right its loss is a difference of what is far larger."""
    sizes = ((k, abs(dot(u, x)) + abs(y)) for k, x, y in zip(data.k, data.X, data.y, strict=True))
    return dec(sum((k * (m + m * m) for k, m in sizes), start=ZERO))


def regret_at(data, own=None):
    """Against u itself."""
    own = dec(own_loss(data) if own is None else own)
    u = fractions(data.hindsight.u)
    lost = dec(risk(data, u))
    return own - lost, own + lost + _parts(data, u)
