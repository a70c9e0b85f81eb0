"""Work shared by threads is done once, all of it, and what goes wrong in a thread is heard."""

import multiprocessing
import sys

import pytest

from noregret.learner import threads


@pytest.fixture(autouse=True)
def three_threads(monkeypatch):
    monkeypatch.setattr(threads, "MANY", 1)
    monkeypatch.setattr(threads, "PIECE", 4)
    monkeypatch.setattr(threads, "_threads", lambda: 3)


@pytest.mark.parametrize("count", [0, 1, 4, 5, 8, 101])
def test_every_piece_is_done_once(count):
    done = []
    for _ in range(20):
        threads.in_pieces(lambda begin, end: done.extend(range(begin, end)), count, 1)
    assert sorted(done) == sorted(20 * list(range(count)))


@pytest.mark.parametrize("wrong", [0, 4, 96])
def test_an_error_reaches_the_caller(wrong):
    def task(begin, end):
        if begin == wrong:
            raise ValueError(f"piece {begin}")

    with pytest.raises(ValueError, match=f"piece {wrong}"):
        threads.in_pieces(task, 100, 1)


def _in_a_child(answers):
    done = []
    threads.in_pieces(lambda begin, end: done.extend(range(begin, end)), 50, 1)
    answers.put(sorted(done) == list(range(50)))


@pytest.mark.skipif(sys.platform != "linux", reason="where a fork is safe")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    threads.in_pieces(lambda begin, end: None, 50, 1)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_a_child, args=(answers,))
    child.start()
    assert answers.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
