"""Memory that is used again: never while somebody refers to it, and never more than a little of it."""

import threading

import numpy as np

import noregret as nr
from noregret.stream.opening import LEAST, MOST, Buffers


def address(array):
    return array.__array_interface__["data"][0]


def test_what_nobody_refers_to_is_taken_again():
    buffers = Buffers()
    first = buffers.array(LEAST)
    at = address(first)
    del first
    assert address(buffers.array(LEAST)) == at


def test_text_is_taken_again_in_the_same_size_alone():
    buffers = Buffers()
    text = buffers.text(1000)
    text[:3] = b"abc"
    name = id(text)
    del text
    assert id(buffers.text(1000)) == name
    assert len(buffers.text(999)) == 999


def test_a_slice_of_a_slice_keeps_its_memory():
    buffers = Buffers()
    part = buffers.array(LEAST, np.uint32).reshape(2, -1)[1][5:]
    part[:] = 7
    buffers.array(LEAST, np.uint32)[:] = 9
    assert (part == 7).all()


def test_what_is_kept_by_others_is_forgotten_here():
    buffers = Buffers()
    kept = [buffers.array(LEAST) for _ in range(3 * MOST)]
    for place, one in enumerate(kept):
        one[:] = place
    assert all((one == place).all() for place, one in enumerate(kept))
    buffers.clear()
    assert all((one == place).all() for place, one in enumerate(kept))


def test_threads_are_never_given_the_same_memory():
    buffers, wrong = Buffers(), []

    def work(name):
        for _ in range(300):
            mine = buffers.array(LEAST)
            mine[:] = name
            if not (mine == name).all():
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_blocks_that_are_kept_stay_as_they_are(tmp_path):
    path = tmp_path / "rows.svm"
    lines = [f"{1 - 2 * (k % 2)} 1:{k}.5 {k + 2}:0.25" for k in range(60_000)]
    path.write_text("\n".join(lines))
    for threads in (1, 2):
        blocks = list(nr.read(str(path), threads=threads).blocks())
        values = np.concatenate([block.rows.values for block in blocks])
        assert (values[::2] == np.arange(60_000) + 0.5).all()
        assert (values[1::2] == 0.25).all()
