"""Labels that come late: predictions by the learner as it was, updates in the order in which labels come."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, SettingError
from noregret.late.book import Book, Rules
from noregret.late.events import event_of
from noregret.late.pending import Pending
from noregret.learner import LEARNERS
from noregret.loss import parse
from oracle.late import descent, replayed

GOLDEN = json.loads((Path(__file__).parents[1] / "oracle" / "late_labels.json").read_text())  # computed apart from us
LEARNER = {
    "ogd": {"loss": "logistic", "radius": 2.0},
    "perceptron": {},
    "adagrad": {"loss": "hinge"},
    "newton": {},
    "scale-free": {},
    "auto": {},
}


def stream(seed, rounds=60, features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features)).round(3)
    y = np.where(X @ rng.normal(size=features) + 0.3 * rng.normal(size=rounds) > 0.0, 1, -1)
    return X, y


def schedule(seed, rounds, missing=0.1):
    """Predictions in order, each label somewhere behind its own; some never come."""
    rng = random.Random(seed)
    waiting, events = [], []
    for row in range(rounds):
        events.append(("predict", row))
        if rng.random() >= missing:
            waiting.append(row)
        while waiting and rng.random() < 0.55:
            events.append(("label", waiting.pop(rng.randrange(len(waiting)))))
    rng.shuffle(waiting)
    return events + [("label", row) for row in waiting]


def written(X, y, events, seed=0):
    """The same as events, some rows with their labels at once."""
    for what, row in events:
        if what == "predict":
            yield {"id": f"r{row}", "x": {f"f{i}": float(v) for i, v in enumerate(X[row])}}
        else:
            yield {"id": f"r{row}", "y": int(y[row])}


# -- against the mathematics -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN, ids=[case["loss"] for case in GOLDEN])
def test_numbers_computed_elsewhere(case):
    late = Pending(nr.OnlineGradientDescent(loss=case["loss"], radius=case["U"], rate="late"))
    X, y, weights, felt = np.array(case["X"]), case["y"], [], [0.0]
    for what, row in case["events"]:
        if what == "predict":
            late.predict(row, X[row])
            continue
        late.learn_one(row, y[row])
        weights.append(late.core.weights.copy())
        felt.append(float(late.core.state["delayed2"][0]))
    wanted, found = case["expect"], late.figures
    np.testing.assert_allclose(weights, wanted["weights"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diff(felt), wanted["c"], rtol=0, atol=1e-12)
    assert found["delay"] == wanted["total_delay"]
    for name, theirs in {"loss": "loss_plays", "fresh_loss": "loss_fresh", "staleness": "staleness"}.items():
        assert found[name] == pytest.approx(wanted[theirs], abs=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute"])
@pytest.mark.parametrize("seed", range(4))
def test_descent_with_the_late_rate_is_what_it_says(loss, seed):
    X, y = stream(seed, 40)
    events = schedule(seed, len(X), missing=0.0)
    kind = nr.OnlineGradientDescentRegressor if loss == "absolute" else nr.OnlineGradientDescent
    late = Pending(kind(loss=loss, radius=1.5, rate="late"))
    weights = []
    for what, row in events:
        if what == "predict":
            late.predict(row, X[row])
        else:
            late.learn_one(row, int(y[row]))
            weights.append(late.core.weights.copy())
    W, C, Z, fresh = descent(parse(loss), X.tolist(), y.tolist(), 1.5, events)
    np.testing.assert_allclose(weights, W, rtol=0, atol=1e-9)
    assert float(late.core.state["delayed2"][0]) == pytest.approx(math.fsum(C))
    labels = [y[row] for what, row in events if what == "label"]
    lost = [parse(loss)(z, float(label)) for z, label in zip(Z, labels, strict=True)]
    again = [parse(loss)(z, float(label)) for z, label in zip(fresh, labels, strict=True)]
    assert late.figures["staleness"] == pytest.approx(math.fsum(lost) - math.fsum(again), abs=1e-9)


@pytest.mark.parametrize("name", ["ogd", "perceptron", "adagrad", "newton", "scale-free"])
@pytest.mark.parametrize("seed", range(3))
def test_every_prediction_is_that_of_the_learner_as_it_was(name, seed):
    X, y = stream(seed)
    events = schedule(seed, len(X))
    core = LEARNERS[name](**LEARNER[name])
    late, said = Pending(LEARNERS[name](**LEARNER[name])), {}
    for what, row in events:
        if what == "predict":
            said[row] = late.predict(row, X[row]).score
        else:
            late.learn_one(row, int(y[row]))
    predicted, delays = replayed(core, X, y.astype(float), events)
    labelled = [row for what, row in events if what == "label"]
    assert all(said[row] == predicted[row] for row in labelled)
    for key, array in core.arrays().items():
        assert np.array_equal(array, late.core.arrays()[key], equal_nan=True), key
    found = late.figures
    assert found["delay"] == sum(delays.values())
    assert found["labelled"] == len(labelled) and found["waiting"] == len(X) - len(labelled)
    assert found["mistakes"] == sum(
        bool((predicted[row] > 0) != (y[row] > 0) or predicted[row] == 0) for row in labelled
    )


def test_the_total_delay_is_counted_from_either_end():
    """Σ of the updates between a prediction and its label = Σ of the rounds that waited at each prediction."""
    for seed in range(30):
        X, y = stream(seed, 30)
        events = schedule(seed, len(X), missing=0.0)
        late, waited = Pending(nr.Perceptron()), 0
        for what, row in events:
            if what == "predict":
                waited += late.waiting
                late.predict(row, X[row])
            else:
                late.learn_one(row, int(y[row]))
        assert late.figures["delay"] == waited


def test_without_a_delay_it_is_the_plain_run():
    X, y = stream(1, 300)
    for name, settings in LEARNER.items():
        run = nr.play(LEARNERS[name](**settings), (X, y))
        late = nr.play_late(LEARNERS[name](**settings), (X, y), delay=0)
        assert abs(late.figures["staleness"]) < 1e-9
        if name == "auto":  # its members see a row among the scales before it, where they play it with its own
            assert late.run.loss == pytest.approx(run.loss, rel=0.01)
            continue
        assert late.run.loss == run.loss and late.run.mistakes == run.mistakes == late.figures["mistakes"]
        for key, array in run.learner.arrays().items():
            assert np.array_equal(array, late.run.learner.arrays()[key], equal_nan=True), (name, key)


def test_a_constant_delay_predicts_with_what_was_known():
    X, y = stream(2, 50)
    late = nr.play_late(nr.Perceptron(), (X, y), delay=7)
    assert late.figures["most_waiting"] == 8  # seven older ones, and the row that was just predicted
    assert late.figures["delay"] == sum(min(row, 7) for row in range(50))


# -- the same whichever way --------------------------------------------------------------------------------------------


def everything(late):
    core = late.core
    arrays = {key: array.tobytes() for key, array in core.arrays().items()}
    figures = {key: value for key, value in late.figures.items() if key not in ("events", "log")}
    return arrays, core.state.tobytes(), figures


@pytest.mark.parametrize("name", LEARNER)
def test_live_replayed_resumed_and_one_by_one_are_the_same(name, tmp_path):
    X, y = stream(3, 50)
    events = list(written(X, y, schedule(3, len(X))))
    log = tmp_path / "events.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in events))
    whole = nr.play_late(LEARNERS[name](**LEARNER[name]), log)
    one_by_one = Pending(LEARNERS[name](**LEARNER[name]))
    answers, said = [], []
    for one in events:
        if "x" in one:
            answers.append(one_by_one.predict(one["id"], one["x"]).to_dict())
        else:
            one_by_one.learn_one(one["id"], one["y"])
    wanted = everything(one_by_one)
    assert everything(Wrapped(whole)) == wanted
    again = nr.play_late(LEARNERS[name](**LEARNER[name]), events, answer=lambda one: said.append(one.to_dict()))
    assert everything(Wrapped(again)) == wanted and said == answers
    for stop in (1, 17, len(events) - 1):
        part = Pending(LEARNERS[name](**LEARNER[name]))
        for one in events[:stop]:
            part.predict(one["id"], one["x"]) if "x" in one else part.learn_one(one["id"], one["y"])
        part.keep_in_model()
        from noregret import model

        model.save(part.core, tmp_path / "part.nr")
        core, _ = model.load(tmp_path / "part.nr")
        rest = nr.play_late(core, events[stop:])
        assert everything(Wrapped(rest)) == wanted


class Wrapped:
    """A late run as a Pending shows itself."""

    def __init__(self, late):
        self.core, self.figures = late.run.learner, late.figures


def test_a_log_goes_on_behind_the_events_that_were_seen(tmp_path):
    X, y = stream(4, 40)
    events = list(written(X, y, schedule(4, len(X))))
    model = nr.OnlineGradientDescent(loss="logistic")
    nr.play_late(model, events[:33])
    model.save(tmp_path / "m.nr")
    pending = nr.load(tmp_path / "m.nr")
    assert isinstance(pending, Pending) and pending.figures["events"] == 33
    rest = nr.play_late(pending.learner, events, skip_seen=True)
    whole = nr.play_late(nr.OnlineGradientDescent(loss="logistic"), events)
    assert everything(Wrapped(rest)) == everything(Wrapped(whole))
    with pytest.raises(InputError, match="33: the log differs from the one that the model has seen"):
        nr.play_late(nr.load(tmp_path / "m.nr").learner, [events[1], events[0], *events[2:]], skip_seen=True)
    with pytest.raises(InputError, match="holds only 5 events, the model has seen 33"):
        nr.play_late(nr.load(tmp_path / "m.nr").learner, events[:5], skip_seen=True)


def test_a_saved_pending_knows_what_waits(tmp_path):
    late = Pending(nr.Auto())
    for i in range(30):
        late.both({"a": float(i % 3), "b": 1.0}, "yes" if i % 3 else "no")
    late.predict("x", {"a": 2.0, "c": 1.0})
    late.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    assert again.waiting == 1 and again.figures == late.figures
    for one in (late, again):
        assert one.learn_one("x", "yes") == "learned"
    assert everything(again) == everything(late)
    assert again.predict("y", {"a": 0.0}).to_dict() == late.predict("y", {"a": 0.0}).to_dict()


# -- the rules ---------------------------------------------------------------------------------------------------------


def test_what_becomes_of_labels():
    late = Pending(nr.Perceptron(), expire=3)
    x = {"a": 1.0}
    for key in "abc":
        late.predict(key, x)
    assert late.learn_one("a", 1) == "learned" and late.learn_one("a", 1) == "repeated"
    assert late.learn_one("a", -1) == "conflicting" and late.learn_one("z", 1) == "unknown"
    assert late.revise("a", -1) == "revised" and late.learn_one("a", -1) == "repeated"
    late.predict("d", x)
    late.predict("e", x)
    assert late.figures["expired"] == 0  # three others were predicted behind b: its label would be in time now
    late.predict("f", x)
    assert late.figures["expired"] == 1 and late.waiting == 4
    assert late.learn_one("b", 1) == "learned" and late.figures["after_expiry"] == 1
    assert late.expire("c") == "expired" and late.expire("c") == "repeated" and late.expire("z") == "unknown"
    found = late.figures
    assert (found["predicted"], found["labelled"], found["expired"], found["revised"]) == (6, 2, 2, 1)
    assert (found["repeated"], found["unknown"], found["conflicting"]) == (3, 2, 1)


def test_the_default_label_is_learned_when_the_time_is_over():
    late = Pending(nr.Perceptron(), expire=1, default_label=-1)
    late.predict("a", {"x": 1.0})
    late.predict("b", {"x": 1.0})
    late.predict("c", {"x": 1.0})
    assert late.figures["defaulted"] == 1 and late.figures["expired"] == 0 and late.core.rounds == 1
    assert late.learn_one("a", -1) == "repeated"
    late.predict("d", {"x": 1.0})
    assert late.learn_one("b", 1) == "revised" and late.figures["revised"] == 1


def test_only_so_many_rounds_wait():
    late = Pending(nr.Perceptron(), pending=5)
    for i in range(12):
        late.predict(i, {"x": 1.0})
    assert late.waiting == 5 and late.figures["expired"] == 7 and list(late.book.waiting) == [7, 8, 9, 10, 11]


def test_a_revision_replaces_what_the_round_cost():
    late = Pending(nr.OnlineGradientDescent(loss="hinge"))
    late.predict("a", [1.0])
    late.learn_one("a", 1)
    late.predict("b", [1.0])
    z = late.book.waiting["b"].said[0]
    late.learn_one("b", 1)
    late.revise("b", -1)
    assert late.figures["loss"] == 1.0 + max(0.0, 1.0 + z) and late.core.rounds == 3


def test_the_same_prediction_twice_is_one():
    late = Pending(nr.Perceptron())
    first = late.predict("a", {"x": 1.0, "y": 2.0})
    assert late.predict("a", {"y": 2.0, "x": 1.0}) == first and late.figures["predicted"] == 1
    with pytest.raises(InputError, match="the id 'a' already belongs to another row"):
        late.predict("a", {"x": 1.0, "y": 2.5})
    late.learn_one("a", 1)
    assert late.predict("a", {"x": 1.0, "y": 2.0}).score == first.score


def test_labels_wait_until_it_is_known_which_is_which():
    late = Pending(nr.Perceptron())
    for key in "abc":
        late.predict(key, {"x": 1.0})
    assert late.learn_one("a", "spam") == "held" and late.core.rounds == 0 and late.figures["held"] == 1
    assert late.learn_one("b", "ham") == "learned" and late.core.rounds == 2
    assert late.predict_one("d", {"x": 1.0}) in ("spam", "ham")


def test_classes_may_be_new_at_any_time():
    late = Pending(nr.SoftmaxAdaGrad())
    assert late.predict("a", {"x": 1.0}).prediction is None
    late.learn_one("a", "red")
    late.predict("b", {"x": 1.0})
    late.learn_one("b", "green")
    answer = late.predict("c", {"x": 1.0})
    late.learn_one("c", "blue")
    assert answer.prediction in ("red", "green") and 0.5 <= answer.probability <= 1.0
    assert math.isfinite(late.figures["loss"]) and late.figures["mistakes"] == 3


def test_members_of_a_pool_are_judged_by_what_they_said_when_the_row_came():
    X, _ = stream(5, 400)
    flips = np.random.default_rng(5).choice([-1, 1], 40).repeat(10)  # the label before tells all, and comes too late
    late = nr.play_late(LEARNERS["auto"](), (X, flips), delay=40)
    plain = nr.play(LEARNERS["auto"](), (X, flips))
    assert plain.loss / 400 < 0.4 and late.run.loss / 400 > 0.5
    assert abs(late.figures["staleness"]) < 0.4 * late.figures["loss"]


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ('{"id": "a"}', "is not an event: expected {id, x}"),
        ('{"y": 1}', "got y"),
        ('{"id": "a", "x": {"f": 1}, "expire": true}', "got id, x, expire"),
        ('{"id": "a", "y": 1, "w": 2}', "is not an event"),
        ('{"id": "a", "x": {"f": 1}, "extra": 1}', "unknown field"),
        ('{"id": 1.5, "y": 1}', "is not an event: expected"),
        ('{"id": "a", "y": 1', "is not an event: "),
        ('{"id": "a", "x": {"f": 1e999}}', "is not an event|must be finite"),
        ('{"id": "a", "x": {"f": null}}', "must be finite"),
        ('{"id": "a", "x": "f"}', "is not an event: expected"),
        ('{"id": "a", "x": {"f": 1}, "w": -1}', "a weight must be at least 0"),
        ('{"id": "known", "x": {"f": 2.0}}', "already belongs to another row"),
    ],
)
def test_an_event_that_is_none_says_where_and_changes_nothing(event, sentence):
    first = [{"id": "known", "x": {"f": 1.0}}, {"id": "b", "x": {"g": 1.0}, "y": 1}]
    late = Pending(nr.Perceptron())
    nr.play_late(late.learner, first)
    before = late.core.features.width, late.core.state.tobytes()
    learner = nr.Perceptron()
    with pytest.raises(InputError, match=sentence) as told:
        nr.play_late(learner, [*first, event])
    assert str(told.value).startswith("the events:3: ")
    assert (learner.core.features.width, learner.core.state.tobytes()) == before


def test_settings_that_cannot_be():
    for wrong in ({"expire": 0}, {"pending": 0}, {"remembered": -1}, {"expire": 1.5}):
        with pytest.raises(SettingError, match=f"{next(iter(wrong))} must be a whole number of at least"):
            Pending(nr.Perceptron(), **wrong)
    with pytest.raises(SettingError, match="rate late needs a loss with bounded slopes"):
        nr.OnlineGradientDescentRegressor(loss="squared", rate="late").partial_fit([[1.0]], [1.0])
    with pytest.raises(SettingError, match="delay and arrival both say when labels come"):
        nr.play_late(nr.Perceptron(), ([[1.0]], [1]), delay=1, arrival="at")
    with pytest.raises(SettingError, match="delay must be a whole number of at least 0, got -1"):
        nr.play_late(nr.Perceptron(), ([[1.0]], [1]), delay=-1)
    with pytest.raises(SettingError, match="the first argument must be a learner, got int"):
        Pending(3)
    with pytest.raises(InputError, match=r"an id must be a string or a whole number of 64 bits, got 1\.5"):
        Pending(nr.Perceptron()).predict(1.5, [1.0])
    with pytest.raises(SettingError, match="2 rows that wait for their labels: go on with play_late or Pending"):
        learner = nr.Perceptron()
        nr.play_late(learner, [{"id": 1, "x": [1.0]}, {"id": 2, "x": [2.0]}])
        assert Pending(learner).waiting == 2
        nr.play_late(learner, ([[1.0]], [1]), delay=1)
    assert event_of('{"id": "a", "y": 1}').asks == "label"
    assert Book(LEARNERS["perceptron"](), Rules()).digest == "00" * 32


# -- when labels come --------------------------------------------------------------------------------------------------


def test_a_column_says_behind_which_row_a_label_comes(tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("x,label,at\n1,1,3\n-1,-1,2\n2,1,\n-2,-1,1\n3,1,5\n")
    order = []
    late = nr.play_late(nr.Perceptron(), nr.read(table, ignore=["at"]), arrival="at", answer=order.append)
    assert [answer.id for answer in order] == [2, 3, 4, 5, 6]  # lines of the file
    assert [answer.version for answer in order] == [0, 0, 1, 2, 3]  # row 4 cannot have its label before itself
    assert late.figures["waiting"] == 1 and late.figures["labelled"] == 4
    assert late.run.learner.width == 1  # nothing is learned from the column itself


def test_a_column_says_at_what_time(tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text(
        "x,label,day,known\n1,1,2024-01-01,2024-01-03\n-1,-1,2024-01-02,2024-01-02\n"
        "2,1,2024-01-03,2024-02-01\n-2,-1,2024-01-03,2024-01-04\n3,1,2024-01-05,2024-01-05\n"
    )
    order = []
    source = nr.read(table, ignore=["known", "day"])
    nr.play_late(nr.Perceptron(), source, arrival="known", time_column="day", answer=order.append)
    assert [answer.version for answer in order] == [0, 0, 2, 2, 3]
    with pytest.raises(InputError, match=r"rows\.csv:5: the time of this row is before that of the row before"):
        table.write_text(table.read_text().replace("-2,-1,2024-01-03", "-2,-1,2024-01-01"))
        nr.play_late(nr.Perceptron(), nr.read(table, ignore=["known", "day"]), arrival="known", time_column="day")


# -- what was found by trying to break it ------------------------------------------------------------------------------


def test_one_class_alone_is_gone_on_with(tmp_path):
    """What members say of one class has the shape of what they say of two."""
    late = Pending(nr.Auto(task="multiclass"))
    late.both([1.0], "u")
    late.predict("b", [2.0])
    late.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    for one in (late, again):
        assert one.learn_one("b", "u") == "learned"
    assert everything(late) == everything(again)


def test_a_label_that_nobody_asked_for_is_met_by_no_class():
    late = Pending(nr.MulticlassPerceptron())
    assert late.learn_one("nobody", "ghost") == "unknown"
    late.both([1.0], "x", "a")
    assert late.learn_one("a", "ghost") == "conflicting" and late.learn_one("a", "x") == "repeated"
    assert late.predict("b", [1.0]).prediction == "x" and late.core.labels.classes == ("x",)
    two = Pending(nr.Perceptron())
    assert two.learn_one("nobody", "typo") == "unknown" and two.figures["held"] == 0
    two.predict("a", [1.0]), two.predict("b", [2.0])
    assert [two.learn_one("a", "spam"), two.learn_one("b", "ham")] == ["held", "learned"]


def test_a_label_that_is_refused_leaves_its_round_waiting():
    late = Pending(LEARNERS["ogd"]())
    late.both([1.0], 1)
    late.predict("z", [1e200])
    for _ in range(2):
        with pytest.raises(nr.NoregretError):
            late.learn_one("z", 1)
    assert late.waiting == 1 and late.expire("z") == "expired"
    with pytest.raises(InputError, match="the labels are 1 and 7"):
        late.both([1.0], 7)
    assert late.waiting == 0 and late.figures["predicted"] == 2


def test_a_log_that_is_refused_moves_nothing():
    X, y = stream(6, 10)
    events = list(written(X, y, schedule(6, 10)))
    late = Pending(nr.Perceptron())
    nr.play_late(late, events[:6])
    for wrong in (events[:3], [events[1], events[0], *events[2:]]):
        with pytest.raises(InputError):
            nr.play_late(late, wrong, skip_seen=True)
        assert late.figures["events"] == 6
    nr.play_late(late, events, skip_seen=True)
    whole = nr.play_late(nr.Perceptron(), events)
    assert everything(late) == everything(Wrapped(whole)) and late.figures == whole.figures


def test_a_label_in_time_is_not_given_up():
    X, y = stream(8, 40)
    for delay in (1, 5):
        assert nr.play_late(nr.Perceptron(), (X, y), delay=delay, expire=delay).figures["expired"] == 0
        assert nr.play_late(nr.Perceptron(), (X, y), delay=delay + 1, expire=delay).figures["expired"] > 0


def test_receipts_of_what_python_gave(tmp_path):
    X, y = stream(9, 30)
    for more in ({"class_weight": {1: 2.0, -1: 1.0}}, {"expire": 3, "default_label": np.int64(1)}):
        late = nr.play_late(nr.OnlineGradientDescent(), (X, y), delay=5, **more)
        receipt = nr.certify(late, (X, y))
        receipt.save(tmp_path / "r.json")
        assert nr.verify(tmp_path / "r.json", (X, y)).checks and nr.verify(receipt, (X, y)).checks


@pytest.mark.parametrize(
    "change",
    [
        lambda late: late["rounds"][0][1].update(said=[]),
        lambda late: late["rounds"][0][1].update(said=[math.nan]),
        lambda late: late["rounds"][0][1].update(weight=-1.0),
        lambda late: late["rounds"][0][1].update(version=10**9),
        lambda late: late["rounds"][0][1].update(place=-5),
        lambda late: late["rounds"][0][1].update(size=math.inf),
        lambda late: late["rounds"][0][1].update(label=1.0),
        lambda late: late["rounds"][0][1].update(ended="expired"),
        lambda late: late["rounds"][0][1].update(values=bytes(8 * 50), indices=None),
        lambda late: late["rounds"][0][1].update(voices=bytes(8), shape=[1]),
        lambda late: late["rounds"].append(late["rounds"][0]),
        lambda late: late["known"].append(late["rounds"][0]),
        lambda late: late["counts"].update(labelled=-5),
        lambda late: late.update(chain=b"short"),
        lambda late: late.update(figures=[math.inf] * 5),
        lambda late: late.update(figures=[0.0]),
        lambda late: late.update(events=-3),
        lambda late: late["rules"].update(pending=0),
        lambda late: late.pop("held"),
    ],
)
@pytest.mark.parametrize("name", ["ogd", "auto"])
def test_a_model_file_that_was_changed_is_refused(change, name):
    late = Pending(LEARNERS[name](**LEARNER[name]))
    for key in "abc":
        late.predict(key, [1.0, 2.0])
    late.learn_one("a", 1)
    late.keep_in_model()
    change(late.core.late)
    with pytest.raises((nr.ModelFileError, SettingError)):
        Pending(late.core)
