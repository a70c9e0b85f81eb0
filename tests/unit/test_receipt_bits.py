"""A receipt says whether its replay gives the same bits everywhere, and `verify` asks for them without tolerance."""

from dataclasses import replace

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ReceiptError
from noregret.learner import OnlineGradientDescent
from noregret.proof import replay
from noregret.proof.certify import certify
from noregret.proof.receipt import Receipt
from noregret.proof.verify import verify
from noregret.protocol import play

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 5))
STREAM = (X, np.where(X @ np.arange(5.0) + RNG.normal(size=40) > 0.0, 1, -1))


def test_the_replay_of_a_run_is_promised_to_the_last_bit(tmp_path):
    receipt = certify(play(OnlineGradientDescent(loss="logistic", radius=2.0), STREAM), STREAM)
    assert receipt.replay["same_bits"] is True and receipt.replay["sentence"] == replay.SAME
    receipt.save(tmp_path / "r.json")
    assert Receipt.load(tmp_path / "r.json").replay == receipt.replay
    verify(receipt, STREAM)


@pytest.mark.parametrize("name", ["same_bits", "sentence", "scores", "learner"])
def test_no_part_of_it_can_be_changed(name):
    receipt = certify(play(OnlineGradientDescent(loss="logistic", radius=2.0), STREAM), STREAM)
    with pytest.raises(ReceiptError, match=f"the replay: {name.replace('_', ' ')}"):
        verify(replace(receipt, replay={**receipt.replay, name: "0" * 64}), STREAM)
    with pytest.raises(ReceiptError, match="what is said of the replay"):
        verify(replace(receipt, replay={key: said for key, said in receipt.replay.items() if key != name}), STREAM)


def test_one_bit_of_one_score_is_seen(monkeypatch):
    receipt = certify(play(OnlineGradientDescent(loss="logistic", radius=2.0), STREAM), STREAM)
    digest = replay._digest

    def off(arrays):
        return digest({key: np.nextafter(a, np.inf) if key == "scores" else a for key, a in arrays.items()})

    monkeypatch.setattr(replay, "_digest", off)
    with pytest.raises(ReceiptError, match="the replay: scores"):
        verify(receipt, STREAM)


def test_python_code_of_the_users_own_is_outside_the_promise():
    own = nr.custom_loss(lambda z, y: (z - y) * (z - y), lambda z, y: 2.0 * (z - y), name="mine")
    receipt = certify(play(OnlineGradientDescent(loss=own, radius=2.0), STREAM), STREAM)
    said = {"same_bits": False, "sentence": replay.OWN.format(what="loss")}
    assert receipt.replay == {**said, "rows": receipt.segments[0]["digest"], "layout": "dense"}
    verify(receipt, STREAM, loss=own)
