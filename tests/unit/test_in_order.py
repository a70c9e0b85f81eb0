"""Work by several threads: answers in order, errors in their place, nothing left behind, never far ahead."""

import threading
import time

import pytest

from noregret.stream.pieces import available, in_order

THREADS = [1, 2, 4]


def living():
    return {thread for thread in threading.enumerate() if thread.name.startswith(("parse", "fetch"))}


def take(answers, found):
    """Take every answer there is, into a list that outlives an error."""
    for answer in answers:
        found.append(answer)


def slow_for_some(piece):
    time.sleep(0.002 * (piece % 3 == 0))
    return piece * piece


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_answers_come_in_the_order_of_the_pieces(threads, count):
    assert list(in_order(iter(range(count)), slow_for_some, threads)) == [k * k for k in range(count)]
    assert not living()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("wrong", [0, 7])
def test_an_error_of_the_work_comes_where_its_answer_would_have_come(threads, wrong):
    def work(piece):
        if piece == wrong:
            raise ValueError(f"piece {piece}")
        return piece

    found = []
    with pytest.raises(ValueError, match=f"piece {wrong}"):
        take(in_order(iter(range(20)), work, threads), found)
    assert found == list(range(wrong))
    assert not living()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("wrong", [0, 7])
def test_an_error_of_the_pieces_comes_behind_the_answers_of_those_before(threads, wrong):
    def pieces():
        yield from range(wrong)
        raise OSError("the disk is gone")

    found = []
    with pytest.raises(OSError, match="the disk is gone"):
        take(in_order(pieces(), slow_for_some, threads), found)
    assert found == [k * k for k in range(wrong)]
    assert not living()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("taken", [0, 1, 5])
def test_who_stops_early_leaves_no_thread_behind(threads, taken):
    answers = in_order(iter(range(10**9)), slow_for_some, threads)
    for k in range(taken):
        assert next(answers) == k * k
    answers.close()
    assert not living()


@pytest.mark.parametrize("threads", [2, 4])
def test_the_pieces_on_their_way_are_bounded(threads):
    fetched = 0

    def pieces():
        nonlocal fetched
        for piece in range(200):
            fetched += 1
            yield piece

    answers = in_order(pieces(), lambda piece: piece, threads)
    for taken in range(1, 101):
        next(answers)
        if taken % 20 == 0:
            time.sleep(0.02)  # whoever would run ahead has the time to
        assert fetched <= taken + threads + 2
    answers.close()
    assert fetched <= 100 + 2 * threads + 4


def test_work_goes_on_at_the_same_time():
    together = threading.Barrier(2, timeout=30)
    assert list(in_order(iter("ab"), lambda piece: together.wait() >= 0 and piece, 2)) == ["a", "b"]


def test_at_least_one_thread_and_at_most_eight_are_of_use():
    assert 1 <= available() <= 8
