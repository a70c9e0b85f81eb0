"""A served model without HTTP: what it answers, what it refuses, and what is there after a restart."""

import random
import sqlite3

import numpy as np
import pytest

from noregret import model
from noregret.errors import InputError, NoregretError, SettingError
from noregret.late.events import apply, event_of
from noregret.late.pending import Pending
from noregret.learner import LEARNERS
from noregret.service import shelf
from noregret.service.log import Group, Reader
from noregret.service.served import DATABASE, Served, create
from noregret.service.wire import Label, Question, Refused

LEARNER = {
    "ogd": ("ogd", {"loss": "logistic", "rate": "late"}),
    "auto": ("auto", {}),
    "multiclass": ("multiclass", {}),
    "vaw": ("vaw", {}),
    "kernel": ("kernel", {"kernel": "rbf"}),
    "intervals": ("vaw", {"cover": 0.8}),
    "sets": ("ogd", {"loss": "logistic", "cover": 0.8, "calibrate": True}),
}


def learner(name):
    kind, settings = LEARNER[name]
    return LEARNERS[kind](**settings)


@pytest.fixture
def made(tmp_path):
    """A function that makes a served model, and opens it again at every further call."""
    opened = []

    def make(name="ogd", rules=None, **more):
        folder = tmp_path / "m"
        if opened:
            opened.pop().close(snapshot=False)
        if not folder.exists():
            create(folder, learner(name), **(rules or {}))
        opened.append(Served(folder, **more))
        return opened[-1]

    yield make
    for one in opened:
        one.close(snapshot=False)


def ask(served, id, x=None, **more):
    return served.predict([Question(id=id, x={"f": 1.0} if x is None else x, **more)])[0]


def tell(served, id, y=1, **more):
    return served.label([Label(id=id, y=y, **more)])[0]


def played(served, count, seed=0, labels=(0, 1), dense=False):
    """Rounds with labels that come late, twice or never, that expire and are revised."""
    rng, late = random.Random(seed), []
    for i in range(count):
        row = [rng.uniform(-1.0, 1.0) for _ in range(4)]
        x = row if dense else {f"f{rng.randrange(30)}": value for value in row}
        ask(served, f"{seed}-{i}", x)
        late.append(f"{seed}-{i}")
        while late and rng.random() < 0.55:
            id = late.pop(rng.randrange(len(late)))
            y = rng.choice(labels)
            if rng.random() < 0.03:
                served.label([Label(id=id, expire=True)])
            elif served.late.round(id) is not None:
                tell(served, id, y, decision=rng.choice(labels) if rng.random() < 0.5 else None)
                if rng.random() < 0.05:
                    tell(served, id, rng.choice(labels), revise=True)


def state(late):
    """The learner to the last bit: its arrays, and what it has counted."""
    core = late.core
    arrays = {**core.arrays(), **core.preparation.arrays()}
    arrays |= {name: core.state[name] for name in core.state.dtype.names}
    return {name: array.tobytes() for name, array in arrays.items()}, late.figures


def replay(folder):
    """The plain twin: the first learner, and every event of the log in turn; nothing of the service is used."""
    origin = min(int(path.stem) for path in folder.glob("*.nr"))
    late = Pending(model.load(folder / f"{origin}.nr")[0])
    connection = sqlite3.connect(folder / DATABASE)
    for (text,) in connection.execute("SELECT event FROM events ORDER BY number"):
        apply(late, event_of(text))
        late.take_down(text)
    connection.close()
    return late


RULES = [{}, {"expire": 7}, {"pending": 5}, {"remembered": 3, "pending": 20}]


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("name", LEARNER)
def test_a_restart_and_a_replay_give_the_same_bits(made, monkeypatch, name, rules):
    monkeypatch.setattr(shelf, "HOT", 8)
    labels = {"vaw": (0.5, -1.25, 3), "intervals": (0.5, 3), "multiclass": ("a", "b", "c")}.get(name, (0, 1))
    served = made(name, rules, snapshot_every=100)
    for seed in range(3):
        played(served, 60, seed, labels)
        served.log.flush()
        before = state(served.late)
        served = made(snapshot_every=100)
        assert state(served.late) == before
    twin = replay(served.folder)
    assert state(twin) == state(served.late)
    assert list(twin.book.waiting) == list(served.late.book.waiting)
    assert served.snapshot > 0


def test_answers_have_intervals_and_sets(made):
    served = made("intervals")
    played(served, 60, labels=(0.5, 3))
    low, high = ask(served, "now").interval
    assert low <= ask(served, "now").prediction <= high


def test_a_default_label_is_learned_in_place_of_one_that_expired_and_replayed(made):
    served = made(rules={"expire": 3, "default_label": 0})
    played(served, 50)
    before = state(served.late)
    assert served.figures["defaulted"] > 0
    assert state(made().late) == before
    assert state(replay(served.folder)) == before


def test_the_order_of_the_names_in_a_row_does_not_matter(made):
    """What is played is what is written, where names are sorted: sums come out alike."""
    served, rng = made(), random.Random(4)
    names = [f"n{i}" for i in range(40)]
    for i in range(30):
        rng.shuffle(names)
        ask(served, i, {name: rng.uniform(-1.0, 1.0) for name in names})
        tell(served, i, i % 2)
    before = state(served.late)
    assert state(made().late) == before


def test_rounds_leave_the_memory_and_are_found_on_the_disk(made, monkeypatch):
    monkeypatch.setattr(shelf, "HOT", 10)
    served = made()
    for i in range(100):
        ask(served, i, {"f": float(i)})
        served.log.flush()
    assert len(served.shelf._hot) <= 10
    assert len(served.shelf) == 100
    assert list(served.shelf) == list(range(100))
    assert tell(served, 3).state == "learned"
    assert tell(served, 3).state == "repeated"
    assert served.round("4").prediction.id == 4
    assert list(served.shelf)[:4] == [0, 1, 2, 4]
    before = state(served.late)
    served = made()
    assert state(served.late) == before
    assert list(served.shelf)[:4] == [0, 1, 2, 4]


def test_a_model_that_was_learned_elsewhere_is_gone_on_with(made, tmp_path):
    late = Pending(LEARNERS["ogd"](loss="logistic"))
    for i in range(5):
        late.predict_one(i, {"f": float(i)})
    late.learn_one(3, 1)
    late.save(tmp_path / "old.nr")
    create(tmp_path / "m", model.load(tmp_path / "old.nr")[0])
    served = made()
    assert served.late.figures == late.figures
    assert tell(served, 2, 0).state == "learned"
    before = state(served.late)
    for _ in range(2):  # also from a later snapshot, and not twice
        served = made()
        assert state(served.late) == before
        assert list(served.shelf) == [0, 1, 4]
        served.save()
        served.log.flush()


def test_ids_make_a_retry_the_same_round(made):
    served = made()
    first = ask(served, "a", {"f": 2.0, "g": 1.0})
    assert ask(served, "a", {"g": 1.0, "f": 2}) == first
    with pytest.raises(Refused, match="already belongs to another row") as refused:
        ask(served, "a", {"f": 3.0})
    assert refused.value.status == 409
    assert ask(served, "a", {"g": 1.0, "f": 2}) == first
    assert served.late.events == 1
    learned = tell(served, "a", 1)
    assert (learned.applied, learned.state) == (True, "learned")
    again = tell(served, "a", 1)
    assert (again.applied, again.state, again.loss) == (False, "repeated", learned.loss)
    assert served.late.events == 2
    assert ask(served, "a", {"g": 1.0, "f": 2}) == first
    assert served.predict([Question(x={"f": 1.0})])[0].id != served.predict([Question(x={"f": 1.0})])[0].id


def test_refusals_change_nothing(made):
    served = made()
    ask(served, "a")
    tell(served, "a", 1)
    ask(served, "b")
    before = state(served.late)
    refused = [
        (404, lambda: tell(served, "nobody", 1), "unknown prediction 'nobody'"),
        (409, lambda: tell(served, "a", 0), "another label"),
        (400, lambda: served.label([Label(id="b")]), "needs y"),
        (400, lambda: served.label([Label(id="b", y=1, expire=True)]), "neither y nor"),
        (400, lambda: tell(served, "b", 1, revise=True, decision=1), "no decision"),
        (409, lambda: served.label([Label(id="b", y=1), Label(id="b", y=1)]), "stands twice"),
        (404, lambda: served.label([Label(id="b", y=1), Label(id="c", y=1)]), "unknown prediction 'c'"),
        (409, lambda: served.predict([Question(id="n", x={"f": 1.0}), Question(id="n", x={"f": 1.0})]), "twice"),
        (404, lambda: served.round("c"), "unknown round"),
        (None, lambda: tell(served, "b", "what"), "label"),
        (None, lambda: tell(served, "b", 1, decision="what"), "the decision cannot be judged"),
        (None, lambda: ask(served, "c", {"f": None}), "must be finite"),
        (None, lambda: ask(served, "c", [1.0, 2.0]), "expected 1 features, got 2"),
        (None, lambda: ask(served, 2**70), "64 bits"),
        (None, lambda: ask(served, "\0"), "NUL"),
        (
            None,
            lambda: served.predict([Question(id="d", x={"new": 1.0}), Question(id="e", x={"f": None})]),
            "must be finite",
        ),
    ]
    for status, act, sentence in refused:
        with pytest.raises(NoregretError, match=sentence) as error:
            act()
        assert getattr(error.value, "status", None) == status, sentence
        assert state(served.late) == before, sentence
    assert served.late.core.features.width == 1
    assert state(made().late) == before


def test_an_array_that_fails_in_its_middle_leaves_nothing_of_its_beginning(made):
    """The first row tells how many columns there are, the second has another number: it is played, then undone."""
    served = made()
    with pytest.raises(InputError, match="expected 2 features, got 3"):
        served.predict([Question(id="a", x=[1.0, 2.0]), Question(id="b", x=[1.0, 2.0, 3.0])])
    assert served.late.events == 0
    assert served.late.round("a") is None
    assert ask(served, "a", [1.0, 2.0, 3.0]).version == 0
    assert state(made().late)[1]["predicted"] == 1


def test_what_fails_half_done_is_undone_by_the_log(made, monkeypatch):
    """An error in the learner itself, behind a label that was learned already."""
    served = made()
    for id in "abc":
        ask(served, id, {"f": 1.0})
    tell(served, "a", 1)
    before = state(served.late)
    book = type(served.late.book)
    learn = book._learn

    def fails(self, one, key, y, ended):
        learn(self, one, key, y, ended)
        if key == "c":
            raise RuntimeError("a bug")

    monkeypatch.setattr(book, "_learn", fails)
    with pytest.raises(RuntimeError, match="a bug"):
        served.label([Label(id="b", y=1), Label(id="c", y=0)])
    monkeypatch.undo()
    assert state(served.late) == before
    assert [one.state for one in served.label([Label(id="b", y=1), Label(id="c", y=0)])] == ["learned", "learned"]
    before = state(served.late)
    assert state(made().late) == before


def test_labels_of_two_classes_are_held_until_both_are_known(made):
    served = made()
    for id in "abc":
        ask(served, id)
    held = tell(served, "a", "spam")
    assert (held.applied, held.state, held.loss) == (False, "held", None)
    served = made()
    assert tell(served, "b", "ham").state == "learned"
    assert served.round("a").state == "labelled"
    before = state(served.late)
    assert state(made().late) == before


def test_decisions_are_judged_on_the_rounds_that_have_them(made):
    served = made()
    wrong = own = 0
    for i in range(40):
        said = ask(served, i, {"f": 1.0 if i % 2 else -1.0})
        decision = None if i % 4 == 0 else i % 3 % 2
        tell(served, i, i % 2, decision=decision)
        if decision is not None:
            wrong, own = wrong + (decision != i % 2), own + (said.prediction != i % 2)
    found = served.figures["decisions"]
    assert (found["rounds"], found["mistakes"], found["own_mistakes"]) == (30, wrong, own)
    assert made().figures["decisions"] == found


def test_decisions_of_numbers_are_judged_by_the_loss(made):
    served, plain = made("vaw"), 0.0
    for i in range(10):
        ask(served, i, {"f": float(i)})
        tell(served, i, 2.0 * i, decision=i)
        plain += (i - 2.0 * i) ** 2
    ratio = served.figures["decisions"]["loss"] / plain
    assert ratio in (0.5, 1.0)  # (z − y)², or half of it
    assert served.figures["decisions"]["own_loss"] == pytest.approx(served.figures["loss"])


def test_a_damaged_snapshot_is_passed_over_and_the_log_played_from_the_start(made):
    served = made(snapshot_every=20)
    played(served, 40)
    served.log.flush()
    before, snapshot = state(served.late), served.snapshot
    assert snapshot > 0
    path = served.folder / f"{snapshot}.nr"
    path.write_bytes(path.read_bytes()[:-40])
    served = made()
    assert served.snapshot == 0
    assert state(served.late) == before


def test_a_log_that_was_changed_is_not_served(made):
    served = made()
    played(served, 30)
    served.log.flush()
    connection = sqlite3.connect(served.folder / DATABASE)
    events = connection.execute("SELECT number, event FROM events").fetchall()
    number, text = next((number, text) for number, text in events if b'"y":1' in text)
    connection.execute("UPDATE events SET event = ? WHERE number = ?", (text.replace(b'"y":1', b'"y":0'), number))
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="the replay of its log gives other bits"):
        made()


def test_one_process_serves_a_model(made):
    served = made()
    with pytest.raises(InputError, match="is served by another process"):
        Served(served.folder)


def test_a_folder_without_a_snapshot_is_refused(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError, match="holds no snapshot"):
        Served(tmp_path / "m")


def test_rules_that_cannot_be_leave_no_folder(tmp_path):
    with pytest.raises(SettingError, match="expire"):
        create(tmp_path / "m", LEARNERS["ogd"](loss="logistic"), expire=0)
    assert list(tmp_path.iterdir()) == []


# -- the disk ---------------------------------------------------------------------------------------------------------


def test_a_full_disk_is_said_and_nothing_is_lost(made, monkeypatch):
    served = made()
    ask(served, "a")
    served.log.flush()
    write = Group.write

    def full(self, connection):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("noregret.service.log.AGAIN", 0.01)
    monkeypatch.setattr(Group, "write", full)
    tell(served, "a")
    with pytest.raises(InputError, match="database or disk is full"):
        served.log.flush()
    with pytest.raises(Refused, match="nothing is taken") as refused:
        ask(served, "b")
    assert refused.value.status == 503
    monkeypatch.setattr(Group, "write", write)
    with served.log._change:
        assert served.log._change.wait_for(lambda: not served.log.failed and not served.log._writing, 10)
    assert tell(served, "a").state == "repeated"
    assert served.log.written == served.late.events == 2
    before = state(served.late)
    assert state(made().late) == before


def test_a_snapshot_that_cannot_be_written_costs_nothing_but_time(made, monkeypatch):
    served = made(snapshot_every=10)

    def full(*given, **more):
        raise InputError("cannot be written: No space left on device")

    monkeypatch.setattr(model, "save", full)
    played(served, 40)
    assert served.snapshot == 0
    assert "No space left" in served.trouble
    monkeypatch.undo()
    before = state(served.late)
    assert state(made().late) == before


def test_a_group_is_one_transaction(made):
    served = made()
    with pytest.raises(sqlite3.IntegrityError):
        Group(events=[(1, 0.0, b"{}", None), (1, 0.0, b"{}", None)]).write(served.log._connection)
    reader = Reader(served.folder / DATABASE)
    assert list(reader.events(0, 10)) == []
    reader.close()


def test_marks_are_figures_at_every_hundred_labels(made):
    served = made()
    for i in range(250):
        ask(served, i, {"f": float(np.sin(i))})
        tell(served, i, i % 2)
    served.log.flush()
    marks = served.log.marks(100)
    assert [event for event, _, _ in marks] == [200, 400]
    assert len(served.log.marks(1)) == 1


def test_a_round_has_ended_for_the_memory_before_it_has_on_the_disk(made, monkeypatch):
    """Its prediction is on the disk, its label not yet: the disk alone would say that it waits."""
    monkeypatch.setattr(shelf, "HOT", 4)
    served = made()
    for i in range(10):
        ask(served, i, {"f": float(i)})
        served.log.flush()
    write, allowed = Group.write, []

    def held(self, connection):
        if not allowed:
            raise sqlite3.OperationalError("not now")
        write(self, connection)

    monkeypatch.setattr("noregret.service.log.AGAIN", 0.01)
    monkeypatch.setattr(Group, "write", held)
    labels = [Label(id=i, y=i % 2) for i in (0, 9)]  # one that is on the disk alone, one in memory
    served.label(labels)
    assert [one.state for one in (served.round("0"), served.round("9"))] == ["labelled", "labelled"]
    assert not {0, 9} & set(served.shelf)
    assert 0 not in served.shelf and 9 not in served.shelf
    allowed.append(True)
