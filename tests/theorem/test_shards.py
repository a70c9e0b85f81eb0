"""Shards: iterative parameter mixing, what it promises and its receipts; one-shot averaging promises nothing."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, ReceiptError, SettingError
from noregret.interval import Interval
from noregret.loss import parse
from noregret.proof.on_shards import on_shards
from noregret.proof.receipt import checksum
from noregret.proof.solve import best
from noregret.proof.solve.spread import best_on
from noregret.rounds import Rounds
from noregret.shards.engine import Serial
from noregret.shards.mixing import mixed, shares
from noregret.shards.part import parts_of
from noregret.shards.play import hold
from noregret.stream import read

# golden-live, parameter_mixing: two shards of four rows, three passes.
SHARDS = (
    [((-1.0, -3.0), -1), ((-2.0, 1.0), -1), ((3.0, 1.0), -1), ((2.0, -3.0), -1)],
    [((-2.0, 1.0), -1), ((0.0, 0.0), 1), ((-2.0, 3.0), 1), ((1.0, -3.0), -1)],
)
GOLDEN = {
    "uniform": ([[3, 3], [2, 3], [2, 3]], [-1.0, 1.5], 8.0),
    "mistakes": ([[3, 3], [2, 3], [2, 3]], [-0.8, 2.3], 8.2),
}


def rows_of(shards):
    rows = [row for shard in shards for row in shard]
    return np.array([x for x, _ in rows]), np.array([y for _, y in rows])


@pytest.mark.parametrize("mixing", list(GOLDEN))
def test_the_worked_example(mixing):
    errors, w, K = GOLDEN[mixing]
    run = nr.play_shards(nr.Perceptron(), rows_of(SHARDS), shards=2, passes=3, mixing=mixing, certify=True)
    assert [[one["mistakes"] for one in epoch.figures] for epoch in run.epochs] == errors
    assert run.weights == pytest.approx(w, rel=1e-12)
    found = {one["theorem"]: one for one in run.receipt.certificates}
    assert found["mixing-sum"]["observed"] == pytest.approx(K, rel=1e-12)
    assert all(one["verdict"] in ("holds", "vacuous", "unmet") for one in found.values())


def noisy(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.choice([1.0, 1e-3, 50.0])
    flip = rng.random(n) < rng.choice([0.0, 0.1, 0.5])
    return X, np.where((X @ rng.normal(size=d) > 0.0) ^ flip, 1, -1), rng


@pytest.mark.parametrize("seed", range(12))
def test_no_certificate_is_broken_and_receipts_stand(seed, tmp_path):
    """Of mixing-sum, mixing-mistakes, mixing-root, shards-one and shards-each."""
    X, y, rng = noisy(seed)
    mixing = str(rng.choice(["uniform", "mistakes", "once"]))
    bias = bool(seed % 2)
    learner = nr.Perceptron(bias=bias, rate=0.3) if seed % 3 else nr.OnlineGradientDescent(loss="logistic", bias=bias)
    run = nr.play_shards(learner, (X, y), shards=1 + seed % 4, passes=3, mixing=mixing, certify=True, seconds=5.0)
    assert not run.receipt.broken
    run.receipt.save(tmp_path / "r.json")
    assert len(nr.verify(tmp_path / "r.json", (X, y)).checks) > 10
    speaks = {one["theorem"] for one in run.receipt.certificates}
    assert ("mixing-root" in speaks) is (seed % 3 != 0 and mixing != "once")


def test_the_separable_bound_is_attained_by_ties():
    """A row x = 1 on each of two shards, a tie at first: K = 1 = r²‖u‖² (mixing-novikoff, mixing-epochs)."""
    run = nr.play_shards(nr.Perceptron(), ([[1.0], [1.0]], [1, 1]), shards=2, passes=4, certify=True)
    found = {one["theorem"]: one for one in run.receipt.certificates}
    assert found["mixing-novikoff"]["observed"] == 1.0
    assert found["mixing-novikoff"]["bound"] <= 1.0 + 1e-9
    assert len(run.epochs) == 2  # the second pass makes no mistake, and is the last


def test_one_shot_averaging_can_be_wrong_for_ever():
    X, y = np.array([[3.0, 3.0], [3.0, 2.0]]), np.array([1, -1])
    once = nr.play_shards(nr.Perceptron(), (X, y), shards=2, passes=20, mixing="once", certify=True)
    assert once.weights.tolist() == [0.0, 0.5]
    assert np.sign(X @ once.weights)[1] == 1.0 and (y * (X @ [-1.0, 1.4]) > 0.0).all()
    assert once.receipt.certificates == []
    again = nr.play_shards(nr.Perceptron(), (X, y), shards=2, passes=200)
    assert (y * (X @ again.weights) > 0.0).all()


def test_mixtures_are_sums_in_the_order_of_the_shards():
    parts, counts = [np.array([0.1, 3.0]), np.array([0.2, -1.0]), np.array([0.3, 7.0])], [1, 2, 4]
    want = [(((1 * a + 2 * b) + 4 * c) / 7) for a, b, c in zip(*parts, strict=True)]
    assert mixed(parts, counts).tolist() == want
    assert sum(shares(counts)) == 1 and shares(counts)[1] == Fraction(2, 7)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared", "hinge", "absolute"])
@pytest.mark.parametrize("wide", [False, True])
def test_hindsight_on_shards_overlaps_that_of_one_machine(loss, wide):
    X, y, rng = noisy(4, 200, 5)
    X = np.hstack([X, rng.normal(size=(200, 2100)) * (rng.random((200, 2100)) < 0.005)]) if wide else X
    core = nr.OnlineGradientDescent(loss=loss).core if parse(loss).regression is False else None
    core = core or nr.OnlineGradientDescentRegressor(loss=loss).core
    engine, source = Serial(), read((X, y))
    agreed = hold(engine, core, parts_of(None, source, 3, {})[0], source.features)
    found, at, width = best_on(engine, core.loss, 2.0, agreed.width, seconds=20.0)
    alone = best(Rounds.of(X, y), core.loss, 2.0, gap=1e-4, seconds=20.0)
    assert found.lower <= alone.upper and alone.lower <= found.upper
    assert wide or found.gap <= (1e-2 if loss in ("hinge", "absolute") else 1e-4)
    again = on_shards(engine, core.loss, found.u, at, width, 2.0)
    assert (again.lower, again.upper) == (found.lower, found.upper)


def test_any_points_prove_an_interval_on_shards():
    X, y, rng = noisy(5, 80, 3)
    engine, source = Serial(), read((X, y))
    core = nr.OnlineGradientDescent(loss="hinge").core
    hold(engine, core, parts_of(None, source, 3, {})[0], source.features)
    alone = best(Rounds.of(X, y), core.loss, 1.0, gap=1e-6, seconds=10.0)
    for _ in range(10):
        u = rng.normal(size=3)
        found = on_shards(engine, core.loss, 0.9 * u / np.linalg.norm(u), rng.normal(size=3), rng.random(), 1.0)
        assert Interval(found.lower, found.upper).holds(alone.upper) or found.lower <= alone.upper <= found.upper


# -- receipts ----------------------------------------------------------------------------------------------------------

FORGERIES = {
    "another mixture": lambda body: body["epochs"][0]["counts"].__setitem__(0, 5),
    "fewer mistakes": lambda body: body["epochs"][1]["figures"][0].__setitem__("mistakes", 0),
    "other weights": lambda body: body.__setitem__("weights", "0" * 64),
    "another rule": lambda body: body["how"].__setitem__("mixing", "mistakes"),
    "no rule": lambda body: body["how"].__setitem__("mixing", "best"),
    "other shards": lambda body: body["how"].__setitem__("shards", 3),
    "a pass less": lambda body: body["epochs"].pop(),
    "other rows": lambda body: body["shards"][0].__setitem__("digest", "0" * 64),
    "a smaller ledger": lambda body: body["ledgers"][1]["paid"].__setitem__("upper", -9.0),
    "a tighter bound": lambda body: body["certificates"][0].__setitem__("bound", 0.5),
    "a better regret": lambda body: body["regret"].__setitem__("upper", 0.0),
    "a better comparator": lambda body: body["regret"]["comparator"].__setitem__("lower", 1e6),
    "another width": lambda body: body["regret"].__setitem__("width", -1.0),
    "a point that is none": lambda body: body["points"].pop("u"),
    "more than is said": lambda body: body.__setitem__("extra", 1),
    "another kind of learner": lambda body: body["learner"].__setitem__("name", "auto"),
}


@pytest.fixture(scope="module")
def certified():
    X, y, _ = noisy(7)
    learner = nr.OnlineGradientDescent(loss="logistic", radius=2.0)
    return (X, y), nr.play_shards(learner, (X, y), shards=2, passes=2, certify=True).receipt.to_dict()


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_field_is_refused(certified, forgery, tmp_path):
    stream, honest = certified
    body = copy.deepcopy(json.loads(json.dumps(honest)))
    FORGERIES[forgery](body)
    (tmp_path / "r.json").write_text(json.dumps({**body, "checksum": checksum(body)}))
    with pytest.raises(ReceiptError) as told:
        nr.verify(tmp_path / "r.json", stream)
    assert told.value.failed


def test_other_rows_are_not_those_of_the_receipt(certified, tmp_path):
    (X, y), body = certified
    (tmp_path / "r.json").write_text(json.dumps({**body, "checksum": checksum(body)}))
    with pytest.raises(ReceiptError, match="digest of shard 2"):
        nr.verify(tmp_path / "r.json", (X, np.append(y[:-1], -y[-1])))


# -- sentences ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "how", "told"),
    [
        (lambda: nr.Auto(), {}, "only perceptron and ogd"),
        (lambda: nr.OnlineGradientDescent(l1=0.1, radius=float("inf"), rate="sqrt:1"), {}, "l1 and start"),
        (lambda: nr.Perceptron(scale="max"), {}, "leave out scale"),
        (lambda: nr.Perceptron(), {"mixing": "best"}, "mixing must be uniform, mistakes or once"),
        (lambda: nr.Perceptron(), {"passes": 0}, "passes must be at least 1"),
        (lambda: nr.Perceptron(), {"shards": 0}, "shards must be at least 1"),
        (lambda: nr.Perceptron(), {"shards": 9}, "too few for 9 shards"),
        (lambda: nr.Perceptron(), {"cluster": "local"}, "cluster must be local:N"),
        (lambda: nr.Perceptron(), {"cluster": "10.0.0.1:99"}, "say into how many"),
        (lambda: nr.OnlineGradientDescentRegressor(), {"mixing": "mistakes"}, "mixing by mistakes is for classes"),
        (lambda: nr.OnlineGradientDescent(rate="doubling"), {}, "the rate must be"),
    ],
)
def test_what_cannot_be_is_said(learner, how, told):
    with pytest.raises((SettingError, InputError), match=told):
        nr.play_shards(learner(), ([[1.0], [2.0], [-1.0]], [1, 1, -1]), **how)


def test_shards_agree_on_labels_and_columns(tmp_path):
    """Every file is a shard: one label alone, columns in another order, a column more."""
    (tmp_path / "a.csv").write_text("x,z,label\n1,2,no\n3,1,no\n")
    (tmp_path / "b.csv").write_text("z,x,label,more\n2,-1,yes,7\n1,-3,yes,8\n")
    run = nr.play_shards(nr.Perceptron(), str(tmp_path), passes=2)
    assert run.parts == "files" and run.learner.labels.classes == ("no", "yes")
    assert run.learner.features.names == ["x", "z", "more"]
    wrong = (np.array([[1.0, 2.0, 0.0], [-1.0, 2.0, 7.0]]) @ run.learner.weights > 0.0).tolist()
    assert wrong == [False, True]


def test_a_third_label_names_its_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,no\n3,yes\n")
    (tmp_path / "b.csv").write_text("x,label\n1,no\n3,maybe\n")
    with pytest.raises(InputError, match=r"b\.csv:3"):
        nr.play_shards(nr.Perceptron(), str(tmp_path))
