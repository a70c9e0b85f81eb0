"""Every part that a warm-up compiles can be compiled, in every layout of rows."""

import pytest

from noregret import warming
from noregret._kernel import coordinate
from noregret.loss import LOSSES, parse

PARTS = warming.jobs()


@pytest.mark.parametrize("name", PARTS)
def test_every_part_can_be_warmed(name, tmp_path):
    began = []
    ((done, seconds),) = warming.warm({name: PARTS[name]}, began.append)
    assert done == name and began == [name] and seconds > 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loops_of_a_loss_are_compiled_for_every_layout(loss):
    name = f"learners with the loss {loss}"
    list(warming.warm({name: PARTS[name]}))
    loops = parse(loss).kernel(), parse(loss).kernel(coordinate.rounds)
    for loop in loops:
        rows = {str(signature[0]) for signature in loop.signatures}
        assert len(rows) >= len(warming.layouts()), loop


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    list(warming.warm({"readers": PARTS["readers"]}))
    assert not list(tmp_path.iterdir())
