"""The kernel perceptron's theorems on its runs, their receipts, and forged ones."""

import itertools
import math
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import DivergedError, ReceiptError
from noregret.kernel import parse
from noregret.learner import KernelPerceptron
from noregret.proof.certify import certify
from noregret.proof.facts import Facts, steps
from noregret.proof.gram import Gram, hinges
from noregret.proof.theorem import Verdict
from noregret.proof.theorems import THEOREMS
from noregret.proof.verify import verify
from noregret.rounds import Rounds

EXAMPLES = int(os.environ.get("NOREGRET_THOROUGH", "300"))
FAST = settings(deadline=None, max_examples=EXAMPLES // 5, suppress_health_check=list(HealthCheck))
OWN = [name for name in THEOREMS if name.startswith("kernel-")]
SETTINGS = [
    {"kernel": "linear"},
    {"kernel": "poly"},
    {"kernel": "poly", "degree": 3, "coef0": 0.5, "gamma": 0.1},
    {"kernel": "rbf"},
    {"kernel": "laplace", "gamma": 0.3},
]


def entry():
    return st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, 3.0]), st.floats(-3.0, 3.0, allow_subnormal=False), st.just(1e16)
    )


@st.composite
def streams(draw):
    rounds, features = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(entry(), min_size=features, max_size=features), min_size=rounds, max_size=rounds))
    if draw(st.booleans()):
        rows = [rows[draw(st.integers(0, rounds - 1))] for _ in range(rounds)]
    return np.array(rows), np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=rounds, max_size=rounds)))


def curved(rounds=120, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 2))
    y = np.where((X**2).sum(axis=1) > 1.5, 1.0, -1.0)
    return X, np.where(rng.random(rounds) < 0.05, -y, y)


def ring(rounds, seed=2):
    """A disc and what lies around it, with a gap between."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(4 * rounds, 2))
    X = X[np.abs((X**2).sum(axis=1) - 0.6) > 0.3][:rounds]
    return X, np.where((X**2).sum(axis=1) > 0.6, 1.0, -1.0)


@FAST
@given(streams(), st.sampled_from(SETTINGS), st.sampled_from(["mistake", "+1", "-1"]), st.booleans())
def test_nothing_is_broken_and_every_receipt_stands(stream, kernel, tie, bias):
    try:
        run = nr.play(KernelPerceptron(**kernel, tie=tie, bias=bias), stream)
    except DivergedError:
        return
    receipt = certify(run, stream, seconds=20.0)
    assert not receipt.broken, receipt.certificates
    assert {one["theorem"] for one in receipt.certificates} == set(OWN)
    verify(receipt, stream)


@FAST
@given(
    st.lists(st.tuples(st.lists(st.integers(-3, 3), min_size=2, max_size=2), st.sampled_from([-1, 1])), max_size=9),
    st.integers(1, 3),
    st.integers(0, 2),
    st.data(),
)
def test_the_bounds_hold_in_exact_arithmetic(rows, degree, coef0, data):
    """Any c: M ≤ Σh(v) + ‖v‖·√Tr K_I, and ‖S‖² ≤ Tr K_I, in whole numbers and by squaring."""

    def kernel(x, z):
        return (coef0 + sum(a * b for a, b in zip(x, z, strict=True))) ** degree

    updates = []
    for t, (x, y) in enumerate(rows):
        if y * sum(rows[s][1] * kernel(rows[s][0], x) for s in updates) <= 0:
            updates.append(t)
    trace = sum(kernel(rows[t][0], rows[t][0]) for t in updates)
    assert (
        sum(rows[s][1] * rows[t][1] * kernel(rows[s][0], rows[t][0]) for s, t in itertools.product(updates, updates))
        <= trace
    )
    c = [Fraction(data.draw(st.integers(-4, 4)), 4) for _ in rows]
    margins = [sum(a * kernel(z, x) for a, (z, _) in zip(c, rows, strict=True)) for x, _ in rows]
    hinge = sum((max(1 - y * m, Fraction(0)) for m, (_, y) in zip(margins, rows, strict=True)), Fraction(0))
    norm2 = sum((a * m for a, m in zip(c, margins, strict=True)), Fraction(0))
    assert max(len(updates) - hinge, 0) ** 2 <= norm2 * trace
    other_losses_hold(rows, margins, len(updates), norm2, trace, max((kernel(x, x) for x, _ in rows), default=0))
    if not rows:
        return
    learner = KernelPerceptron(kernel="poly", degree=degree, coef0=float(coef0))
    run = nr.play(learner, ([x for x, _ in rows], [y for _, y in rows]), mistakes=True)
    assert run.mistake_rounds.tolist() == updates
    rounds = replace(Rounds.of([x for x, _ in rows], [y for _, y in rows]), scores=np.array(scores_of(rows, kernel)))
    found = Facts(run, rounds, points={"c_sum": np.array([float(a) for a in c])})
    assert found.mistakes.premise
    assert found.mistakes.mistake_norm2.lo == found.mistakes.mistake_norm2.hi == trace
    one = found.comparators["sum"]
    assert Fraction(one.hinge.lo) <= hinge <= Fraction(one.hinge.hi)
    assert Fraction(one.norm.lo) ** 2 <= norm2 <= Fraction(one.norm.hi) ** 2


def other_losses_hold(rows, margins, M, norm2, trace, r2):
    """The L2 and the logistic bound, and Novikoff's where v separates: by squaring fractions; logarithms in floats."""
    h = [max(1 - y * m, Fraction(0)) for m, (_, y) in zip(margins, rows, strict=True)]
    a2 = sum((one * one for one in h), Fraction(0))
    # M ≤ a√M + p with p² = ‖v‖²·Tr K: M ≤ p, or (M² + p² − a²M)₊² ≤ 4M²p²
    p2, b2 = norm2 * trace, norm2 * r2
    assert p2 >= M * M or max(M * M + p2 - a2 * M, 0) ** 2 <= 4 * M * M * p2
    assert max(M - a2 - b2, 0) ** 2 <= 4 * a2 * b2
    if not any(h):
        assert b2 >= M and p2 >= M * M
    powers = [float(-y * m) for m, (_, y) in zip(margins, rows, strict=True)]
    lost = sum(max(power, 0.0) + math.log2(1.0 + 2.0 ** -abs(power)) for power in powers)  # at u = v·ln 2
    by_length = lost + math.sqrt(p2) / 2
    assert by_length * (1 + 1e-12) >= M
    b = math.sqrt(b2) / 2
    assert (b / 2 + math.sqrt(b * b / 4 + lost)) ** 2 * (1 + 1e-12) >= M


@pytest.mark.parametrize("rows", [1, 5, 24])
def test_rows_that_are_orthogonal_attain_novikoff(rows):
    """K = 1 on the diagonal and 0 elsewhere: u = Σ y·φ(x) has the norm √T, and every round is a mistake."""
    y = np.where(np.arange(rows) % 2, -1.0, 1.0)
    run = nr.play(nr.KernelPerceptron(kernel="precomputed"), (np.eye(rows), y))
    facts = Facts(run, replace(Rounds.of(np.eye(rows), y), scores=np.zeros(rows)), points={"c_separator": y})
    for name in ("kernel-novikoff", "kernel-novikoff-mistakes", "kernel-novikoff-sum"):
        one = THEOREMS[name](facts)
        assert one.observed == run.mistakes == rows
        assert rows <= one.bound <= rows * (1 + 1e-12)
        assert one.verdict is not Verdict.BROKEN


@pytest.mark.parametrize("share", [1.0, 1 - 1e-9])
def test_a_separator_that_does_not_separate_is_not_believed(share):
    y = np.array([1.0, -1.0, 1.0])
    run = nr.play(nr.KernelPerceptron(kernel="precomputed"), (np.eye(3), y))
    facts = Facts(run, replace(Rounds.of(np.eye(3), y), scores=np.zeros(3)), points={"c_separator": share * y})
    assert (THEOREMS["kernel-novikoff"](facts).verdict is Verdict.UNMET) == (share < 1.0)


def scores_of(rows, kernel):
    found, updates = [], []
    for t, (x, y) in enumerate(rows):
        found.append(float(sum(rows[s][1] * kernel(rows[s][0], x) for s in updates)))
        if y * found[-1] <= 0:
            updates.append(t)
    return found


@FAST
@given(streams(), st.sampled_from(SETTINGS[:3]), st.data())
def test_enclosures_hold_the_exact_values(stream, kernel, data):
    X, y = stream
    chosen = parse(**kernel)
    coef0, gamma, degree = (Fraction(part) for part in chosen.numbers)
    linear = chosen.name == "linear"

    def exact(x, z):
        dot = sum((Fraction(a) * Fraction(b) for a, b in zip(x, z, strict=True)), Fraction(0))
        return dot if linear else (coef0 + gamma * dot) ** int(degree)

    c = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=len(y), max_size=len(y))))
    gram = Gram(Rounds.of(X, y), chosen)
    places = np.arange(len(y))
    low, high = gram.sums(places, c[None], places)
    for t in places:
        value = sum((Fraction(a) * exact(z, X[t]) for a, z in zip(c.tolist(), X.tolist(), strict=True)), Fraction(0))
        assert Fraction(low[0, t]) <= value <= Fraction(high[0, t])
    lo, hi = gram.self_products()
    for t in places:
        assert Fraction(lo[t]) <= exact(X[t], X[t]) <= Fraction(hi[t])


@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"kernel": "poly", "coef0": 0.0, "gamma": 1.0, "degree": 2}])
@pytest.mark.parametrize("c", [2.8e-200, -1e-300, 5e-324])
def test_an_enclosure_holds_what_is_below_all_floats(kernel, c):
    gram, here = Gram(Rounds.of(np.array([[2.8e-200]]), np.ones(1)), parse(**kernel)), np.zeros(1, np.int64)
    low, high = gram.sums(here, np.array([[c]]), here)
    value = Fraction(c) * Fraction(2.8e-200) ** (2 if kernel["kernel"] == "linear" else 4)
    assert Fraction(low[0, 0]) <= value <= Fraction(high[0, 0])


@pytest.mark.parametrize("kernel", SETTINGS[3:])
def test_enclosures_of_exponential_kernels_hold_what_forty_digits_say(kernel):
    from decimal import Decimal, getcontext

    getcontext().prec = 60
    X, y = curved(12)
    X[3] = X[5]
    chosen = parse(**kernel)
    gram, places = Gram(Rounds.of(X, y), chosen), np.arange(12)
    low, high = gram.sums(places, np.eye(12), places)
    for s, t in itertools.product(range(12), range(12)):
        gaps = [Decimal(float(a)) - Decimal(float(b)) for a, b in zip(X[s], X[t], strict=True)]
        far = sum(abs(gap) if chosen.name == "laplace" else gap * gap for gap in gaps)
        value = (-Decimal(chosen.gamma) * far).exp()
        assert Decimal(float(low[s, t])) <= value <= Decimal(float(high[s, t]))
        assert high[s, t] - low[s, t] <= 1e-14 * high[s, t]
    assert low[3, 5] == high[3, 5] == 1.0


def test_hinges_are_enclosed():
    z = np.array([0.0, 1.0, 0.1, 1e-20, 2.0, -3.5, 0.3])
    for sign in (1.0, -1.0):
        low, high = hinges(np.full(7, sign), sign * z, sign * z)
        for a, lo, hi in zip(z, low, high, strict=True):
            assert Fraction(lo) <= max(1 - Fraction(a), 0) <= Fraction(hi)
            assert hi - lo <= 1e-15


def test_the_trace_without_its_root_would_be_false():
    """The printed kernel form: x = 0.1, v = 10: one mistake, and Tr K = 0.01 would allow ‖v‖·Tr = 0.1."""
    stream = ([[0.1]], [1.0])
    run = nr.play(KernelPerceptron(kernel="linear"), stream)
    rounds = replace(Rounds.of(*stream), scores=np.zeros(1))
    found = Facts(run, rounds, points={"c_sum": np.array([100.0])})  # v = 100·x = 10
    one = found.comparators["sum"]
    assert one.norm.hi == pytest.approx(10.0)
    assert one.hinge.hi + one.norm.hi * found.mistakes.mistake_norm2.hi < 1.0
    certificate = THEOREMS["kernel-hinge-mistakes"](found)
    assert certificate.bound >= 1.0
    assert certificate.verdict.name == "VACUOUS"


def test_the_certificates_of_a_curved_stream_say_something(tmp_path):
    stream = ring(300)
    run = nr.play(nr.KernelPerceptron(kernel="poly"), stream)
    receipt = certify(run, stream)
    said = {one["theorem"]: one for one in receipt.certificates}
    assert [said[name]["verdict"] for name in OWN] == ["holds"] * len(OWN)
    chain = [said[f"kernel-hinge-{name}"]["bound"] for name in ("sum", "mistakes", "root")]
    assert run.mistakes <= chain[0] <= chain[1] <= chain[2] * (1 + 1e-2) < 300
    apart = [said[f"kernel-novikoff{name}"]["bound"] for name in ("-sum", "-mistakes", "")]
    assert run.mistakes <= apart[0] <= apart[1] <= apart[2] * (1 + 1e-12) < 300
    least = said["kernel-novikoff"]["values"]["no_separator_below"]
    assert least <= apart[2] <= least * 1.02
    assert chain[1] <= said["kernel-l2-mistakes"]["bound"] <= said["kernel-l2-radius"]["bound"]
    assert chain[1] <= said["kernel-logistic-mistakes"]["bound"] * (1 + 1e-2)
    assert said["kernel-logistic-mistakes"]["bound"] <= said["kernel-logistic-root"]["bound"]
    assert said["kernel-l1-l2"]["observed"] <= said["kernel-l1-l2"]["bound"]
    receipt.save(tmp_path / "r.json")
    nr.verify(tmp_path / "r.json", stream)


def test_a_premise_that_rounding_leaves_open_is_unmet():
    """The float run scores 0 where exact arithmetic has 1."""
    stream = ([[1.0, 1e16, -1e16], [1.0, 1.0, 1.0]], [1.0, 1.0])
    run = nr.play(KernelPerceptron(kernel="linear"), stream)
    assert run.mistakes == 2
    said = {one["theorem"]: one["verdict"] for one in certify(run, stream).certificates}
    assert said["kernel-norm-lemma"] == "unmet"
    assert said["kernel-hinge-sum"] != "unmet"


def test_of_a_forgetful_learner_only_what_remains_true_is_claimed():
    stream = curved(200)
    run = nr.play(nr.KernelPerceptron(budget=10, forget="random", seed=4), stream)
    assert run.updates > 10
    receipt = certify(run, stream)
    said = {one["theorem"]: one for one in receipt.certificates}
    assert [name for name in OWN if said[name]["verdict"] != "unmet"] == ["kernel-hinge-sum"]
    failing = [one["statement"] for one in said["kernel-hinge-root"]["assumptions"] if one["holds"] is False]
    assert "no support was forgotten" in failing
    verify(receipt, stream)


def overlap(x, z):
    return np.minimum(x, z).sum()


def test_what_cannot_be_checked_of_a_kernel_of_ones_own_is_named():
    X, y = np.abs(curved(100)[0]), curved(100)[1]
    run = nr.play(nr.KernelPerceptron(kernel=overlap), (X, y))
    receipt = certify(run, (X, y))
    told = [one for one in receipt.certificates[0]["assumptions"] if "semi-definite" in one["statement"]]
    assert told == [
        {"statement": "the kernel is symmetric and positive semi-definite", "checked": False, "holds": None}
    ]
    verify(receipt, (X, y), kernel=overlap)
    with pytest.raises(ReceiptError, match="give it as kernel="):
        verify(receipt, (X, y))
    with pytest.raises(ReceiptError, match="with another 'custom'"):
        verify(receipt, (X, y), kernel=lambda x, z: 1.0)


def test_a_precomputed_kernel_has_the_same_certificates():
    X, y = curved(80)
    K = np.array([[parse("rbf")(x, z) for z in X] for x in X])
    receipts = [
        certify(nr.play(nr.KernelPerceptron(kernel=kernel), (rows, y), passes=2), (rows, y))
        for kernel, rows in (("rbf", X), ("precomputed", K))
    ]
    verify(receipts[1], (K, y))
    for one, other in zip(*(receipt.certificates for receipt in receipts), strict=True):
        if one["verdict"] == other["verdict"] == "holds":  # of a bound that is no use the last digits may be as well
            assert one["bound"] == pytest.approx(other["bound"], rel=1e-2)
            assert one["observed"] == pytest.approx(other["observed"], rel=1e-2)
    assert sum(one["verdict"] == "holds" for one in receipts[1].certificates) > 5


def test_runs_that_are_too_large_say_so(monkeypatch):
    stream = curved(60)
    monkeypatch.setattr(steps, "MOST", 10)
    receipt = certify(nr.play(nr.KernelPerceptron(), stream), stream)
    assert {one["verdict"] for one in receipt.certificates} == {"unmet"}
    failing = {
        part["statement"] for one in receipt.certificates for part in one["assumptions"] if part["holds"] is False
    }
    assert "rounds × updates × entries of a row are at most 2·10⁹" in failing


@pytest.fixture(scope="module")
def honest():
    stream = ring(90)
    return certify(nr.play(nr.KernelPerceptron(kernel="poly"), stream), stream), stream


def changed(receipt, theorem, **values):
    parts = [{**one, **values} if one["theorem"] == theorem else one for one in receipt.certificates]
    return replace(receipt, certificates=parts)


@pytest.mark.parametrize("theorem", OWN)
def test_a_bound_that_was_moved_is_noticed(honest, theorem):
    receipt, stream = honest
    verify(receipt, stream)
    bound = next(one["bound"] for one in receipt.certificates if one["theorem"] == theorem)
    with pytest.raises(ReceiptError, match=f"{theorem}: the bound"):
        verify(changed(receipt, theorem, bound=bound * (1 - 1e-6)), stream)
    verify(changed(receipt, theorem, bound=bound * (1 + 1e-6)), stream)  # it claims less, and so it stands


FORGERIES = {
    "another comparator": lambda r: replace(r, points={name: 0.9 * c for name, c in r.points.items()}),
    "a shorter comparator": lambda r: replace(r, points={name: c[:-1] for name, c in r.points.items()}),
    "fewer mistakes": lambda r: replace(r, figures={**r.figures, "mistakes": r.figures["mistakes"] - 1}),
    "another kernel": lambda r: replace(r, learner={**r.learner, "settings": {**r.learner["settings"], "gamma": 0.5}}),
    "a shorter trace": lambda r: replace(
        r, figures={**r.figures, "mistake_norm2": {end: 0.99 * x for end, x in r.figures["mistake_norm2"].items()}}
    ),
    "a claim of the perceptron": lambda r: replace(
        r, certificates=[{**r.certificates[0], "theorem": "norm-lemma"}, *r.certificates[1:]]
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_receipts_are_rejected(honest, forgery):
    receipt, stream = honest
    with pytest.raises(ReceiptError):
        verify(FORGERIES[forgery](receipt), stream)


def test_a_radius_has_no_meaning_for_a_kernel_learner():
    stream = curved(30)
    run = nr.play(nr.KernelPerceptron(), stream)
    with pytest.raises(nr.SettingError, match=r"left out.*: the comparators of a kernel learner have no radius"):
        certify(run, stream, radius=1.0)
    with pytest.raises(nr.SettingError, match=r"left out.*: the comparators of a kernel learner have no radius"):
        certify(run, stream, radii=[1.0])


def test_it_is_compared_with_other_learners():
    stream = ring(250)
    found = nr.compare(
        stream, {"straight": nr.Perceptron(), "curved": nr.KernelPerceptron(kernel="poly")}, radius=2.0, certify=True
    )
    straight, bent = found.contenders
    assert bent.run.mistakes < straight.run.mistakes
    assert bent.regret is None
    assert bent.bound.theorem.startswith("kernel-hinge")
    assert math.isfinite(bent.bound.bound)
