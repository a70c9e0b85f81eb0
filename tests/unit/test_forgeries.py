"""Receipts that claim what is not so, with everything else in order: `verify` must name what does not stand."""

import copy
import math

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, ReceiptError
from noregret.proof.certify import certify
from noregret.proof.receipt import Receipt
from noregret.proof.verify import verify
from noregret.run import Run
from oracle.forging import changed, end_of, numbers


def stream(rounds=60, features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    return X, np.where(X @ rng.normal(size=features) + rng.normal(size=rounds) > 0, 1, -1)


STREAM = stream()


def made(learner, **asked):
    return certify(nr.play(learner, STREAM), STREAM, **asked)


SQRT = made(nr.OnlineGradientDescent(radius=2.0, rate="sqrt:0.01"), anytime=True)
PERCEPTRON = made(nr.Perceptron())
STRONG = made(nr.StronglyConvexGradientDescent())
JUDGED = made(nr.Perceptron(), radius=2.0)
LOGISTIC = made(nr.OnlineGradientDescent(radius=2.0, loss="logistic"))


def forged(receipt, change, **points):
    """The receipt after a change to its content, and with other vectors."""
    body = copy.deepcopy({key: part for key, part in vars(receipt).items() if key != "points"})
    change(body)
    return Receipt(**body, points={**receipt.points, **points})


def refused(receipt, sentence, rows=STREAM):
    with pytest.raises(ReceiptError, match=sentence) as said:
        verify(receipt, rows)
    assert said.value.failed


def certificate(body, name):
    return next(part for part in body["certificates"] if part["theorem"] == name)


def test_a_regret_without_a_dual_point():
    def change(body):
        regret = body["regret"]
        regret["points"] = {"u": "u"}
        regret["comparator"]["lower"] = regret["comparator"]["upper"] - 0.01
        regret["upper"] = regret["own"]["upper"] - regret["comparator"]["lower"]

    refused(forged(SQRT, change), "proved by the points")


def test_tangents_in_place_of_a_dual_point():
    def change(body):
        body["regret"]["points"] = {"u": "u", "tangent": "tangent"}

    refused(forged(LOGISTIC, change, tangent=np.zeros(60)), "proved by the points")


@pytest.mark.parametrize(
    ("receipt", "name", "vector"),
    [
        (PERCEPTRON, "v_sum", np.full(3, math.nan)),
        (PERCEPTRON, "v_sum", np.zeros(0)),
        (PERCEPTRON, "beta_sum", np.zeros(59)),
        (LOGISTIC, "alpha", np.zeros(1000)),
        (LOGISTIC, "u", np.zeros(2)),
        (SQRT, "alpha@4", np.zeros(60)),
    ],
)
def test_vectors_of_another_length_or_that_are_no_numbers(receipt, name, vector):
    refused(forged(receipt, lambda body: None, **{name: vector}), f"{name} must hold")


def test_other_feasible_vectors_change_the_numbers():
    refused(forged(SQRT, lambda body: None, alpha=np.zeros(60)), "comparator's loss at least")
    refused(forged(SQRT, lambda body: None, u=np.zeros(3)), "comparator's loss at most")
    refused(forged(SQRT, lambda body: None, u=np.full(3, 2.0)), "must lie in the ball")
    refused(forged(SQRT, lambda body: None, alpha=np.ones(60)), "outside its domain")


@pytest.mark.parametrize(
    ("receipt", "name"),
    [
        (SQRT, "ogd-adaptive"),
        (SQRT, "ogd-constant"),
        (SQRT, "ogd-square-loss"),
        (SQRT, "strong-gradients"),
        (SQRT, "norm-lemma"),
        (LOGISTIC, "ogd-ball"),
        (STRONG, "ogd-tuned"),
        (STRONG, "ogd-adaptive"),
        (PERCEPTRON, "ogd-linearised"),
        (PERCEPTRON, "no-such-theorem"),
    ],
)
def test_a_theorem_about_another_learner(receipt, name):
    def change(body):
        body["certificates"].append({**body["certificates"][-1], "theorem": name})

    refused(forged(receipt, change), "the theorems: the receipt says")


def test_a_promise_that_was_not_made():
    def change(body):
        body["curve"][0]["bounds"]["ogd-linearised-at-hindsight"] = 0.4

    refused(forged(SQRT, change), "the theorems that promise something")


def test_a_lower_end_that_belongs_to_another_theorem():
    def change(body):
        other = certificate(body, "hinge-mistakes")
        mine = certificate(body, "hinge-sum")
        mine["points"] = [mine["points"][0], "beta_mistakes"]
        mine["values"]["no_comparator_below"] = other["values"]["no_comparator_below"]

    refused(forged(PERCEPTRON, change), "its vectors")


@pytest.mark.parametrize(
    ("receipt", "change", "sentence"),
    [
        (
            SQRT,
            lambda b: b["regret"]["own"].update(lower=b["regret"]["own"]["upper"] + 1e-12),
            "is above the upper end",
        ),
        (SQRT, lambda b: b["regret"].update(mean=1.0), "what is said of a regret"),
        (SQRT, lambda b: b["segments"][0].update(source="x"), "what is said of stream 1"),
        (SQRT, lambda b: b["segments"][0].update(ended="perhaps"), "ended of stream 1 must be true or false"),
        (SQRT, lambda b: b["segments"][0].update(ended=1), "ended of stream 1 must be true or false"),
        (SQRT, lambda b: b["segments"][0].update(rows=60.0), "rows of stream 1 must be a whole number"),
        (SQRT, lambda b: b["segments"][0].update(passes=True), "passes of stream 1 must be a whole number"),
        (SQRT, lambda b: b["segments"][0].update(shuffle=-1), "shuffle of stream 1 must be null"),
        (SQRT, lambda b: b["segments"][0].update(class_weight={"1": -1.0}), "class_weight of stream 1"),
        (SQRT, lambda b: b["segments"][0].update(class_weight=[1.0]), "class_weight of stream 1"),
        (SQRT, lambda b: b["segments"][0].update(digest="none"), "digest of stream 1 must be 64"),
        (SQRT, lambda b: b["segments"][0].pop("ended"), "what is said of stream 1"),
        (SQRT, lambda b: b["regret"].update(lower=b["regret"]["upper"] + 1.0), "is above the upper end"),
        (SQRT, lambda b: b["figures"]["loss"].update(lower=1e9), "is above the upper end"),
        (SQRT, lambda b: b["figures"].update(loss=b["figures"]["loss"]["upper"]), "a lower and an upper end"),
        (SQRT, lambda b: b["figures"]["loss"].update(about=1.0), "a lower and an upper end"),
        (SQRT, lambda b: b["regret"].update(gap=0.0), "the width of the comparator's interval"),
        (SQRT, lambda b: b["regret"].update(upper=True), "is not a number"),
        (SQRT, lambda b: b["regret"].update(upper=10**30), "is not a number"),
        (SQRT, lambda b: b["regret"].update(upper=math.nan), "is not a number"),
        (SQRT, lambda b: b["learner"].update(version=3), "the learner, its settings"),
        (SQRT, lambda b: b["learner"]["settings"].update(colour=3), "settings are damaged|cannot be replayed"),
        (SQRT, lambda b: b["figures"].update(accuracy=0.99), "figures are those"),
        (SQRT, lambda b: b["figures"].update(mistakes=b["figures"]["mistakes"] + 1e-8), "mistakes"),
        (SQRT, lambda b: b["figures"].update(mistakes=float(b["figures"]["mistakes"])), "mistakes"),
        (SQRT, lambda b: b["regret"].update(upper=str(b["regret"]["upper"])), "is not a number"),
        (SQRT, lambda b: certificate(b, "ogd-linearised").update(bound="25"), "is not a number"),
        (SQRT, lambda b: b["certificates"][0].update(source="Nobody 1900"), "its source: the receipt says Nobody 1900"),
        (SQRT, lambda b: b["regret"].update(loss=None), "judged by"),
        (SQRT, lambda b: b["regret"].update(loss="absolute"), "judged by|outside its domain"),
        (SQRT, lambda b: b["reading"].update(accuracy=3), "read with settings that exist"),
        (SQRT, lambda b: b["certificates"][0].update(bound=10**400), "damaged"),
        (SQRT, lambda b: b["certificates"].append(b["certificates"][0]), "the theorems: the receipt says"),
        (SQRT, lambda b: b["certificates"][0].update(verdict="broken"), "verdict"),
        (SQRT, lambda b: b["certificates"][0].update(points=["nothing"]), "its vectors"),
        (
            SQRT,
            lambda b: b["certificates"][0]["assumptions"][0].update(checked=False),
            "the loss is convex in the score: the receipt says",
        ),
        (SQRT, lambda b: b["certificates"][0]["assumptions"].append({}), "damaged"),
        (SQRT, lambda b: b["certificates"][0].update(observed=None), "is not a number"),
        (PERCEPTRON, lambda b: certificate(b, "novikoff").update(observed=3.0), "verdict"),
        (PERCEPTRON, lambda b: certificate(b, "hinge-sum").update(bound=3.0), "bound"),
        (PERCEPTRON, lambda b: b["segments"][0].update(rows=59), "digest|figures|passes|ends"),
        (STRONG, lambda b: b["regret"].update(sigma=0.2), "regulariser"),
    ],
)
def test_what_else_is_not_so(receipt, change, sentence):
    refused(forged(receipt, change), sentence)


def test_a_stream_that_goes_on_is_not_the_one_of_the_receipt():
    X, y = STREAM
    longer = np.vstack([X, X[:1]]), np.append(y, y[0])
    refused(SQRT, "ends with the last row of the run", longer)


def test_a_stopped_run_claims_no_end():
    X, y = STREAM
    learner, count = nr.OnlineGradientDescent(radius=2.0), iter(range(9))
    run = nr.play(learner, nr.read((X, y), block_rows=20), stop=lambda: next(count) == 1)
    receipt = certify(run, STREAM)
    assert (receipt.segments[0]["rows"], receipt.segments[0]["ended"]) == (40, False)
    verify(receipt, STREAM)
    verify(receipt, (X[:40], y[:40]))


# -- intervals contain, they are not close ---------------------------------------------------------------------------


def far_labels():
    """49 rows of zeros with y = 10⁶ and one more: every comparator loses what the run loses, and the regret is 0."""
    X, y = np.zeros((50, 1)), np.full(50, 1e6)
    X[49], y[49] = 1.0, 0.0
    return X, y


def test_a_regret_that_is_false_by_a_hair_of_a_large_loss():
    rows = far_labels()
    honest = certify(nr.play(nr.OnlineGradientDescentRegressor(loss="squared", radius=1.0), rows), rows)
    verify(honest, rows)
    assert honest.regret["lower"] <= 0.0 <= honest.regret["upper"] < 10.0
    for own, claimed in ((-440.5, (-441.0, -440.0)), (440.5, (440.0, 441.0))):

        def change(body, own=own, claimed=claimed):
            loss = body["regret"]["comparator"]
            body["regret"]["own"] = {"lower": loss["lower"] + own - 0.2, "upper": loss["upper"] + own + 0.2}
            body["regret"].update(lower=claimed[0], upper=claimed[1])

        refused(forged(honest, change), "the run's own loss at", rows)
        refused(forged(honest, lambda b, c=claimed: b["regret"].update(lower=c[0], upper=c[1])), "the regret at", rows)


@pytest.mark.parametrize("share", [1e-3, 1e-9])
@pytest.mark.parametrize("receipt", [SQRT, LOGISTIC, STRONG, JUDGED])
def test_no_end_can_be_moved_inward_by_more_than_it_was_moved_outward(receipt, share):
    body = {key: part for key, part in vars(receipt).items() if key != "points"}
    moved = 0
    for path, value in numbers(body):
        if not isinstance(value, float) or not end_of(path) or path[0] == "figures" or "gap" in path:
            continue
        if share < 1e-6 and ("certificates" in path or "bounds" in path):
            continue  # bounds on exact steps are put higher for the steps of floats
        size = max(abs(receipt.regret["own"]["upper"]) if receipt.regret else 0.0, abs(value))
        wrong = changed(body, path, value - end_of(path) * share * size)
        refused(Receipt(**wrong, points=receipt.points), ": ")
        moved += 1
    assert moved >= 6


def test_a_bound_that_says_nothing_is_not_called_one_that_holds():
    name = next(part["theorem"] for part in SQRT.certificates if part["verdict"] == "vacuous")
    refused(forged(SQRT, lambda body: certificate(body, name).update(verdict="holds")), "the verdict")


def test_a_bound_that_holds_is_not_called_one_that_says_nothing():
    name = next(part["theorem"] for part in JUDGED.certificates if part["verdict"] == "holds")
    refused(forged(JUDGED, lambda body: certificate(body, name).update(verdict="vacuous")), "the verdict")


# -- which regret is the run's ---------------------------------------------------------------------------------------


def test_a_smaller_ball_under_another_name_is_not_the_balls_own_regret():
    """A ball of almost nothing has almost no regret: it must not stand for that of the run."""
    learner = nr.OnlineGradientDescent(radius=2.0, rate="sqrt:0.01")
    small = certify(nr.play(learner, STREAM), STREAM, radii=[1e-3])
    verify(small, STREAM)

    def change(body):
        body["regret"] = copy.deepcopy(body["curve"][0])
        body["regret"]["points"] = {"u": "u/main", "alpha": "alpha/main"}
        body["curve"], body["certificates"] = [], []

    points = {"u/main": small.points["u/0"], "alpha/main": small.points["alpha/0"]}
    body = copy.deepcopy({key: part for key, part in vars(small).items() if key != "points"})
    change(body)
    refused(Receipt(**body, points=points), "have its names")
    body["regret"]["points"] = {"u": "u", "alpha": "alpha"}
    named = {"u": points["u/main"], "alpha": points["alpha/main"]}
    refused(Receipt(**body, points=named), "the radius of the regret")


def test_regrets_so_far_are_those_of_the_same_ball_after_fewer_rounds():
    def other_ball(body):
        body["curve"][2]["domain"] = {"radius": 3.0}

    def at_the_end(body):
        body["curve"].append({**copy.deepcopy(body["regret"]), "points": {"u": "u@60", "alpha": "alpha@60"}})

    refused(forged(SQRT, other_ball), "the ball of a regret so far")
    last = {"u@60": SQRT.points["u"], "alpha@60": SQRT.points["alpha"]}
    refused(forged(SQRT, at_the_end, **last), "after fewer rounds")


# -- what a risk certificate needs -----------------------------------------------------------------------------------


def coin_flips(rounds=400, seed=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rounds, 3)), rng.choice([-1, 1], rounds)


def selected(rows, **more):
    run = nr.play(nr.Perceptron(bias=True), rows, **more)
    return certify(run, rows, selection=nr.select(run, rows)), rows


def test_rows_that_weigh_0_leave_risk_certificates_unmet():
    """Without the rows of one label the other is always right on what is left, and wrong on half of what comes."""
    receipt, rows = selected(coin_flips(), class_weight={-1: 0.0})
    for part in receipt.selection["certificates"]:
        assert part["verdict"] == "unmet" and part["bound"] is None
        assert {"statement": "every row weighs 1", "checked": True, "holds": False} in part["assumptions"]
    verify(receipt, rows)

    def change(body):
        part = body["selection"]["certificates"][0]
        part.update(bound=0.045, verdict="holds")
        part["assumptions"][2]["holds"] = True

    refused(forged(receipt, change), "every row weighs 1", rows)


def test_the_vote_is_promised_nothing_where_rows_weigh_0():
    rows = coin_flips(60)
    receipt = certify(nr.play(nr.VotedPerceptron(), rows, class_weight={-1: 0.0}), rows)
    assert certificate(vars(receipt), "voted-test-error")["verdict"] == "unmet"
    verify(receipt, rows)


def twice(rows):
    return np.vstack([rows[0], rows[0]]), np.concatenate([rows[1], rows[1]])


def test_that_every_row_was_played_once_is_never_called_checked():
    rows = twice(coin_flips(60))
    receipt, _ = selected(rows)
    said = {"statement": "every row was played once", "checked": False, "holds": None}
    voted = certify(nr.play(nr.VotedPerceptron(), rows), rows)
    for part in (*receipt.selection["certificates"], certificate(vars(voted), "voted-test-error")):
        assert said in part["assumptions"]
    verify(receipt, rows)
    verify(voted, rows)
    true = {**said, "checked": True, "holds": True}

    def change(part):
        part["assumptions"] = [true if one == said else one for one in part["assumptions"]]

    refused(forged(receipt, lambda b: change(b["selection"]["certificates"][0])), "every row was played once", rows)
    refused(forged(voted, lambda b: change(certificate(b, "voted-test-error"))), "every row was played once", rows)


@pytest.mark.parametrize("how", ["the same stream again", "two passes"])
def test_rows_that_were_played_twice_are_known_where_streams_or_passes_show_it(how):
    rows, learner = coin_flips(60), nr.VotedPerceptron()
    nr.play(learner, rows, passes=1 if "stream" in how else 2)
    streams = (rows, rows) if "stream" in how else (rows,)
    run = nr.play(learner, rows) if "stream" in how else Run.of(learner.core)
    receipt = certify(run, *streams)
    part = certificate(vars(receipt), "voted-test-error")
    assert part["verdict"] == "unmet"
    assert {"statement": "every row was played once", "checked": True, "holds": False} in part["assumptions"]
    verify(receipt, *streams)


# -- how the stream was read -----------------------------------------------------------------------------------------


def test_a_path_is_read_as_the_receipt_says(tmp_path):
    rng = np.random.default_rng(3)
    lines = ["id,size,colour,label"]
    lines += [
        f"{i},{x:.3f},{c},{y}"
        for i, (x, c, y) in enumerate(zip(rng.normal(size=40), ("rgb" * 14)[:40], "ab" * 20, strict=True))
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    read = {"label": "label", "ignore": ["id"], "categorical": ["colour"], "hash_bits": 5}
    learner = nr.Perceptron()
    run = nr.play(learner, nr.read(tmp_path / "rows.csv", **read))
    learner.core.options = read
    certify(run, tmp_path / "rows.csv").save(tmp_path / "r.json")
    kept = {key: value for key, value in read.items() if key != "categorical"}
    assert Receipt.load(tmp_path / "r.json").reading == {**kept, "columns": {"colour": "category"}}
    verify(tmp_path / "r.json", tmp_path / "rows.csv")
    verify(tmp_path / "r.json", str(tmp_path / "rows.csv"))
    for other in ({"ignore": []}, {"hash_bits": 6}, {"ignore": [], "categorical": ["colour", "id"]}):
        wrong = forged(Receipt.load(tmp_path / "r.json"), lambda body, other=other: body["reading"].update(other))
        refused(wrong, "digest of stream 1", tmp_path / "rows.csv")


def test_a_file_that_is_not_there_is_no_fault_of_the_receipt(tmp_path):
    with pytest.raises(InputError) as said:
        verify(SQRT, tmp_path / "nothing.svm")
    assert not isinstance(said.value, ReceiptError)
