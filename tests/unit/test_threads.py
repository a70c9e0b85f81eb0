"""Work shared by threads is done once, all of it, and what goes wrong in a thread is heard.

So are calls of one model by several threads: all complete, none is lost, and nobody waits for ever.
"""

import faulthandler
import multiprocessing
import pickle
import random
import sys
import threading

import numpy as np
import pytest

import noregret as nr
from noregret.learner import LEARNERS, threads
from noregret.sklearn import ESTIMATORS


@pytest.fixture
def three_threads(monkeypatch):
    monkeypatch.setattr(threads, "MANY", 1)
    monkeypatch.setattr(threads, "PIECE", 4)
    monkeypatch.setattr(threads, "_threads", lambda: 3)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("count", [0, 1, 4, 5, 8, 101])
def test_every_piece_is_done_once(count):
    done = []
    for _ in range(20):
        threads.in_chunks(lambda begin, end: done.extend(range(begin, end)), count, 1)
    assert sorted(done) == sorted(20 * list(range(count)))


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("wrong", [0, 4, 96])
def test_an_error_reaches_the_caller(wrong):
    def task(begin, end):
        if begin == wrong:
            raise ValueError(f"piece {begin}")

    with pytest.raises(ValueError, match=f"piece {wrong}"):
        threads.in_chunks(task, 100, 1)


def _in_a_child(answers):
    done = []
    threads.in_chunks(lambda begin, end: done.extend(range(begin, end)), 50, 1)
    answers.put(sorted(done) == list(range(50)))


@pytest.mark.usefixtures("three_threads")
@pytest.mark.skipif(sys.platform != "linux", reason="where a fork is safe")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    threads.in_chunks(lambda begin, end: None, 50, 1)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_a_child, args=(answers,))
    child.start()
    assert answers.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0


# -- one model, several threads ----------------------------------------------------------------------------------------

NEEDS = {"CoinBetting": {"unit_norm": True}, "CoinBettingRegressor": {"unit_norm": True, "loss": "absolute"}}
KINDS = {kind.__name__: kind for kind in ESTIMATORS.values()}
TRIALS = 216  # of seven threads on one model, at least
REPEATS = -(-TRIALS // len(KINDS))
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@pytest.fixture
def hasty():
    """Threads take turns a thousand times as often as usual; where one hangs, all say where they are."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    faulthandler.dump_traceback_later(120)
    yield
    faulthandler.cancel_dump_traceback_later()
    sys.setswitchinterval(before)


def made(kind):
    return kind(**NEEDS.get(kind.__name__, {}))


def label(kind, rng):
    return rng.random() if kind._regression else rng.choice([-1, 1])


def grown(rng, i):
    """A dict whose names grow in number with i."""
    return {f"f{rng.randrange(i + 3)}": rng.random() for _ in range(5)}


def together(*tasks, first=1):
    """Run each task(rng), seeded from `first` on, in a thread of its own; all must end, without an error."""
    wrong = []

    def heard(task, seed):
        try:
            task(random.Random(seed))
        except Exception as error:
            wrong.append(error)

    running = [
        threading.Thread(target=heard, args=(task, seed), daemon=True) for seed, task in enumerate(tasks, start=first)
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(60)
    assert not any(thread.is_alive() for thread in running), "a thread waits for ever"
    assert not wrong, wrong


def test_every_learner_is_tried():
    assert {name for name, _ in ESTIMATORS} == set(LEARNERS)


@every_kind
@pytest.mark.parametrize("trial", range(REPEATS))
def test_a_model_learns_and_predicts_in_seven_threads(kind, trial, hasty):
    model, rounds = made(kind), 25

    def learn(rng):
        for i in range(rounds):
            model.learn_one(grown(rng, i), label(kind, rng))

    def predict(rng):
        for i in range(rounds):
            model.predict_one(grown(rng, i))

    together(*4 * [learn], *3 * [predict], first=1 + 7 * trial)
    assert model.rounds_ == 4 * rounds
    core = model.core
    assert core.width == core.features.width == len(core.features.names) == len(core.features.index)
    assert [core.features.index[name] for name in core.features.names] == [*range(core.width)]


def test_a_prediction_waits_while_another_thread_meets_a_label():
    model, answers = nr.NaiveBayes().learn_one({"a": 1.0}, "spam"), []  # the other label is not known yet
    waiting = threading.Thread(target=lambda: answers.append(model.predict_one({"a": 1.0})), daemon=True)
    with model.core.lock:  # as while a label is met
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        assert not answers
    waiting.join(60)
    assert answers == ["spam"]


@every_kind
def test_blocks_are_learned_from_beside_single_examples(kind, hasty):
    model, rounds, columns = made(kind), 20, 6
    begin = random.Random(0)
    for sign in (1, -1):
        model.learn_one(np.full(columns, begin.random()), 0.5 if kind._regression else sign)

    def numbers(rng, *shape):
        return np.random.default_rng(rng.getrandbits(32)).random(shape)

    def learn(rng):
        for _ in range(rounds):
            model.learn_one(numbers(rng, columns), label(kind, rng))

    def learn_blocks(rng):
        for _ in range(rounds):
            y = [label(kind, rng) for _ in range(3)]
            model.partial_fit(numbers(rng, 3, columns), y, **({} if kind._regression else {"classes": [-1, 1]}))

    def predict(rng):
        for _ in range(rounds):
            assert np.shape(model.predict(numbers(rng, 2, columns))) == (2,)
            model.predict_one(numbers(rng, columns))

    together(learn, learn, learn_blocks, learn_blocks, predict, predict)
    assert model.rounds_ == 2 + 2 * rounds + 2 * 3 * rounds
    assert model.core.width == columns


@every_kind
def test_copies_are_made_beside_single_examples(kind, hasty, tmp_path):
    model, rounds = made(kind), 20
    first = random.Random(0)
    for sign in (1, -1):
        model.learn_one(grown(first, 0), 0.5 if kind._regression else sign)
    copies = []

    def learn(rng):
        for i in range(rounds):
            model.learn_one(grown(rng, i), label(kind, rng))

    def pickled(rng):
        copies.extend(pickle.loads(pickle.dumps(model)) for _ in range(4))

    def saved(rng):
        for i in range(4):
            model.save(tmp_path / f"{i}.nrm")
            copies.append(nr.load(tmp_path / f"{i}.nrm"))

    together(learn, learn, learn, pickled, saved)
    assert model.rounds_ == 2 + 3 * rounds
    for copy in copies:
        assert 2 <= copy.rounds_ <= model.rounds_
        assert copy.core.width == copy.core.features.width
        before = copy.rounds_
        copy.learn_one({"f0": 1.0}, 0.5 if kind._regression else 1)
        assert copy.rounds_ == before + 1
