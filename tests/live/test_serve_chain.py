"""Receipts of periods: a chain that stands, and every way in which one can be broken."""

import json
import shutil
import sqlite3

import pytest
from test_serve_rounds import ask, played, state, tell

from noregret import learner as learners
from noregret.errors import InputError, ReceiptError
from noregret.proof.receipt import checksum
from noregret.service import chain
from noregret.service.chain import verify_chain
from noregret.service.hosted import Periods
from noregret.service.moved import FOLDER as MOVED
from noregret.service.served import DATABASE, Served, create


@pytest.fixture(scope="module")
def chained(tmp_path_factory):
    """A model with three receipts, and events behind the last one."""
    folder = tmp_path_factory.mktemp("models") / "m"
    create(folder, learners.OnlineGradientDescent(loss="logistic").core)
    served = Served(folder, snapshot_every=70)
    for seed in range(3):
        played(served, 50, seed)
        assert served.receipt()
        assert not served.receipt()
        if seed == 1:
            served.close()
            served = Served(folder, snapshot_every=70)
    played(served, 20, 9)
    served.close()
    return folder


@pytest.fixture
def folder(chained, tmp_path):
    return shutil.copytree(chained, tmp_path / "m")


def rewritten(folder, receipt, **changes):
    """A receipt that says something else, with the checksum that goes with it."""
    path = folder / chain.FOLDER / f"{receipt:06}.json"
    body = json.loads(path.read_bytes())
    body.update(changes)
    body.pop("checksum")
    path.write_text(json.dumps({**body, "checksum": checksum(body)}))


def change_events(folder, sentence, *values):
    connection = sqlite3.connect(folder / DATABASE)
    assert connection.execute(sentence, values).rowcount > 0
    connection.commit()
    connection.close()


def test_a_chain_stands_and_says_what_was_recomputed(folder):
    done, told = verify_chain(folder)
    assert told == []
    assert {f"receipt {place}: the learner" for place in (1, 2, 3)} <= {what for what, _, _ in done.checks}
    assert len(done.checks) > 60


def test_a_chain_is_checked_while_its_model_is_served(folder):
    served = Served(folder)
    ask(served, "new")
    tell(served, "new")
    served.log.flush()
    assert verify_chain(folder)[1] == []
    served.close()
    assert verify_chain(folder)[1] == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"place": 7}, "receipt 2 is missing, 7 stands in its place"),
        ({"previous": "0" * 64}, "it names another receipt before it"),
        ({"events": 1}, "its period ends before it begins"),
        ({"more": 1}, "it has other parts"),
    ],
)
def test_a_link_that_does_not_fit_is_found(folder, changes, sentence):
    rewritten(folder, 2, **changes)
    with pytest.raises(ReceiptError, match=sentence) as error:
        verify_chain(folder)
    assert error.value.failed


@pytest.mark.parametrize("name", ["mistakes", "labelled", "waiting", "predicted"])
def test_a_figure_that_was_changed_is_found_even_with_every_later_link_made_anew(folder, name):
    body = json.loads((folder / chain.FOLDER / "000003.json").read_bytes())
    rewritten(folder, 3, figures={**body["figures"], name: body["figures"][name] + 1})
    connection = sqlite3.connect(folder / DATABASE)
    digest = chain.receipts(folder)[2]["digest"]
    connection.execute("UPDATE receipts SET digest = ? WHERE place = 3", (bytes.fromhex(digest),))
    connection.commit()
    connection.close()
    with pytest.raises(ReceiptError, match=f"receipt 3: {name}: the receipt says"):
        verify_chain(folder)


def test_a_loss_that_is_too_small_is_found(folder):
    body = json.loads((folder / chain.FOLDER / "000003.json").read_bytes())
    loss = {end: value * 0.999 for end, value in body["figures"]["loss"].items()}
    rewritten(folder, 3, figures={**body["figures"], "loss": loss})
    change_events(folder, "DELETE FROM receipts WHERE place = 3")
    with pytest.raises(ReceiptError, match="receipt 3: loss"):
        verify_chain(folder)


def test_a_receipt_that_was_damaged_is_found(folder):
    path = folder / chain.FOLDER / "000001.json"
    path.write_text(path.read_text().replace('"labelled"', '"labeled"', 1))
    with pytest.raises(ReceiptError, match="its checksum does not match"):
        verify_chain(folder)


def test_a_receipt_that_is_missing_is_found(folder):
    (folder / chain.FOLDER / "000002.json").unlink()
    with pytest.raises(ReceiptError, match="receipt 2 is missing"):
        verify_chain(folder)


def test_an_event_that_was_changed_is_found(folder):
    connection = sqlite3.connect(folder / DATABASE)
    events = connection.execute("SELECT number, event FROM events WHERE number > 60").fetchall()
    connection.close()
    number, text = next((number, text) for number, text in events if b'"y":1' in text)
    change_events(folder, "UPDATE events SET event = ? WHERE number = ?", text.replace(b'"y":1', b'"y":0'), number)
    with pytest.raises(ReceiptError, match="the digest of the log"):
        verify_chain(folder)


def test_events_that_are_missing_are_found(folder):
    change_events(folder, "DELETE FROM events WHERE number = 30")
    with pytest.raises(ReceiptError, match=r"event 30 is missing|cannot be replayed|unknown"):
        verify_chain(folder)


def test_events_at_the_end_that_are_missing_are_found(folder):
    last = chain.receipts(folder)[-1]["events"]
    change_events(folder, "DELETE FROM events WHERE number >= ?", last)
    with pytest.raises(ReceiptError, match=f"the log ends at event {last - 1}, receipt 3 is about {last}"):
        verify_chain(folder)


def test_rows_that_were_moved_are_read_from_their_files(folder):
    served = Served(folder)
    before = state(served.late)
    waiting = list(served.shelf)
    assert served.retain(0.0, None) and served.retain(0.0, None)
    served.close()
    assert len(list((folder / MOVED).iterdir())) == 2
    served = Served(folder)
    assert state(served.late) == before
    assert list(served.shelf) == waiting
    served.close()
    done, told = verify_chain(folder)
    assert told == []
    assert "receipt 1: the learner" in {what for what, _, _ in done.checks}


def test_rows_that_were_erased_are_said_and_the_rest_is_replayed(folder):
    served = Served(folder)
    while served.retain(0.0, None):
        pass
    last = chain.receipts(folder)[-1]["events"]
    assert served.log.first == last + 1
    assert not served.retain(0.0, 0.0)
    tell(served, next(iter(served.shelf)))  # a round of an erased period
    before = state(served.late)
    served.close()
    shutil.rmtree(folder / MOVED)
    done, told = verify_chain(folder)
    assert told == [f"receipt {place}: rows erased, its links hold" for place in (1, 2, 3)]
    assert "the learner saved with receipt 3" in {what for what, _, _ in done.checks}
    served = Served(folder)
    assert state(served.late) == before
    served.close()


def test_another_learner_in_place_of_the_saved_one_is_found(folder):
    served = Served(folder)
    served.retain(0.0, None)
    served.sweep()
    served.close()
    shutil.rmtree(folder / MOVED)
    first, second = (one["events"] for one in chain.receipts(folder)[:2])
    shutil.copy(folder / f"{second}.nr", folder / f"{first}.nr")
    with pytest.raises(ReceiptError, match="the learner saved with receipt 1"):
        verify_chain(folder)


def test_a_receipt_that_was_written_before_a_kill_is_taken_up(folder):
    """The file is there, the log does not know it yet."""
    change_events(folder, "DELETE FROM receipts WHERE place = 3")
    served = Served(folder)
    assert [place for place, _, _ in served.log.receipts()] == [1, 2, 3]
    served.close()
    verify_chain(folder)


def test_what_is_no_served_model_is_said(tmp_path):
    with pytest.raises(InputError, match="is not the folder of a served model"):
        verify_chain(tmp_path)


DAY = 86_400.0


def test_receipts_come_when_they_are_due(folder):
    served = Served(folder)
    ended = served.chain[-1]["ended"]
    Periods(daily=True).look(served, ended + 1.0 if (ended + 1.0) // DAY == ended // DAY else ended)
    assert len(served.chain) == 3
    labelled = served.late.book.counts.labelled - served.chain[-1]["labelled"]
    Periods(every=labelled + 1).look(served, ended)
    assert len(served.chain) == 3
    Periods(every=labelled).look(served, ended)
    assert len(served.chain) == 4
    Periods(daily=True).look(served, ended + 2 * DAY)
    assert len(served.chain) == 4  # nothing happened since
    ask(served, "new")
    Periods(daily=True, days=0.0).look(served, ended + 2 * DAY)
    assert len(served.chain) == 5
    assert served.log.first == served.late.events + 1
    served.close()
    verify_chain(folder)
