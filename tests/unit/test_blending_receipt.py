"""A blend's receipt stands on its table, and no number in it can be changed unnoticed."""

import json
import math

import numpy as np
import pytest

from noregret.errors import ReceiptError
from noregret.experts.methods import METHODS
from noregret.proof.blend import load_blend, verify_blend
from noregret.proof.receipt import checksum, packed, unpacked
from noregret.task.blend import blend
from oracle import blend as definitions
from oracle.forging import EXACT, changed, end_of, false, loose, numbers


def table(seed=0, rounds=24, sleepers=0.15):
    rng = np.random.default_rng(seed)
    y = (rng.random(rounds) < 0.5).astype(float)
    x = np.clip(y[:, None] + rng.normal(0.0, [0.3, 0.4, 0.5], (rounds, 3)), 0.02, 0.98).round(3)
    x[rng.random(x.shape) < sleepers] = np.nan
    x[np.isnan(x).all(axis=1), 1] = 0.5
    found = {"y": y.tolist(), **{name: x[:, i].tolist() for i, name in enumerate("abc")}}
    words = np.where(np.isnan(x), None, np.where(x > 0.5, "yes", "no"))
    found |= {f"said {name}": words[:, i].tolist() for i, name in enumerate("abc")}
    raw = rng.dirichlet(np.ones(3), (rounds, 3)).round(4)
    raw[:, :, 2] = 1.0 - raw[:, :, 0] - raw[:, :, 1]
    found |= {
        f"{name}:{k}": raw[:, i, j].tolist() for i, name in enumerate("pq") for j, k in enumerate(("u", "v", "w"))
    }
    return found | {
        "word": np.where(y > 0, "yes", "no").tolist(),
        "came": rng.choice(["u", "v", "w"], rounds).tolist(),
    }


ABC = ["a", "b", "c"]
CASES = {
    "squared": {"outcome": "y", "experts": ABC, "loss": "squared"},
    "squared, wider": {"outcome": "y", "experts": ABC, "loss": "squared", "range": (-1, 2)},
    "log": {"outcome": "y", "experts": ABC, "loss": "log"},
    "brier": {"outcome": "y", "experts": ABC, "loss": "brier"},
    "brier of three": {"outcome": "came", "experts": ["p", "q"], "loss": "brier"},
    "log of three": {"outcome": "came", "experts": ["p", "q"], "loss": "log", "switches": 2},
    "zero-one": {"outcome": "word", "experts": [f"said {name}" for name in ABC], "loss": "zero-one"},
    "costs": {"costs": ABC, "switches": 1},
    "one expert": {"outcome": "y", "experts": ["b"], "loss": "absolute"},
    "one expert by fixed-share": {"outcome": "y", "experts": ["b"], "loss": "absolute", "method": "fixed-share"},
    "one expert, told": {"outcome": "y", "experts": ["b"], "loss": "absolute", "method": "weighted-majority"},
    **{
        f"absolute, {method}": {"outcome": "y", "experts": ABC, "loss": "absolute", "method": method}
        for method in list(METHODS)[1:]
    },
    "squared, against the mean": {
        "outcome": "y",
        "experts": ABC,
        "loss": "squared",
        "against": "mean",
        "range": (-1, 2),
    },
    "absolute with the last value": {"outcome": "y", "experts": ABC, "loss": "absolute", "last_value": True},
    "labels with the last value": {
        "outcome": "word",
        "experts": [f"said {name}" for name in ABC],
        "loss": "zero-one",
        "last_value": True,
    },
    "hedge, other rates": {"costs": ABC, "method": "hedge", "rate": "root-eight", "range": (-3, 1)},
    "squared by fixed-share": {
        "outcome": "y",
        "experts": ABC,
        "loss": "squared",
        "method": "fixed-share",
        "switches": 3,
    },
}


def made(name, seed=0):
    given = table(seed, sleepers=0.0 if "one expert" in name else 0.15)
    return json.loads(json.dumps(blend(given, **CASES[name]).receipt().to_dict())), given


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_an_untouched_receipt_stands(name, seed):
    body, given = made(name, seed)
    assert len(verify_blend(body, given).checks) > 15


def test_a_saved_receipt_stands_and_a_damaged_one_says_so(tmp_path):
    given = table()
    blend(given, **CASES["squared"]).receipt().save(tmp_path / "r.json")
    body = load_blend(tmp_path / "r.json")
    verify_blend(body, given)
    whole = json.loads((tmp_path / "r.json").read_text())
    assert whole == {**body, "checksum": checksum(body)}
    (tmp_path / "r.json").write_text(json.dumps({**whole, "rounds": 7}))
    with pytest.raises(ReceiptError, match="checksum does not match") as said:
        load_blend(tmp_path / "r.json")
    assert said.value.failed
    (tmp_path / "r.json").write_text("{}")
    with pytest.raises(ReceiptError, match="is not a receipt of noregret"):
        load_blend(tmp_path / "r.json")
    (tmp_path / "r.json").write_text(json.dumps({**whole, "kind": "run"}))
    with pytest.raises(ReceiptError, match="is a receipt of the kind 'run', not of the kind 'blend'"):
        load_blend(tmp_path / "r.json")


@pytest.mark.parametrize("name", CASES)
def test_no_number_can_say_too_much(name):
    body, given = made(name)
    found = list(numbers(body))
    assert len(found) > 15
    for path, value in found:
        if path == ("version",):
            continue
        for wrong in false(path, value, exact=("switches",)):
            bad = changed(body, path, wrong)
            with pytest.raises(ReceiptError) as said:
                verify_blend(bad, given)
            assert said.value.failed, (path, value, wrong)


@pytest.mark.parametrize("name", CASES)
def test_no_claim_can_say_more_by_one_unit_of_the_last_place(name):
    """There is no tolerance: what is claimed is what is found, and a claim that is the next float inward is false."""
    body, given = made(name)
    ends = [(path, value) for path, value in numbers(body) if end_of(path, EXACT) and isinstance(value, float)]
    assert len(ends) > 10
    for path, value in ends:
        inward = float(np.nextafter(value, -math.inf * end_of(path, EXACT)))
        with pytest.raises(ReceiptError) as said:
            verify_blend(changed(body, path, inward), given)
        assert said.value.failed, (path, value)


def test_intervals_that_are_wider_than_need_be_stand():
    body, given = made("log of three")
    for path, value in numbers(body):
        if (wider := loose(path, value)) is not None and path[0] != "bound" and "certificates" not in path:
            verify_blend(changed(body, path, wider), given)


@pytest.mark.parametrize("change", [{"version": 1}, {"version": 5}, {"version": "3"}, {"arithmetic": "near-1"}])
def test_receipts_of_other_rules_are_refused_not_judged(change):
    body, given = made("log")
    with pytest.raises(ReceiptError, match="make it again") as said:
        verify_blend({**body, **change}, given)
    assert not said.value.failed


@pytest.mark.parametrize("name", CASES)
def test_no_entry_of_a_vector_can_be_changed(name):
    body, given = made(name)
    for key in ("forecasts", "losses", "weights"):
        vector = unpacked(body["points"][key])
        for place in {0, len(vector) // 2, len(vector) - 1}:
            spoiled = vector.copy()
            spoiled[place] += 1e-6
            with pytest.raises(ReceiptError, match=f"{key[:4]}\\w* {place + 1}: the receipt says"):
                verify_blend(changed(body, ("points", key), packed(spoiled)), given)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("best", "expert"), "c"),
        (("reading", "loss"), "brier"),
        (("reading", "method"), "adahedge"),
        (("reading", "experts"), ["a", "c", "b"]),
        (("certificates", 0, "verdict"), "open"),
        (("certificates", 0, "assumptions"), []),
        (("certificates", 0, "source"), "somebody"),
        (("certificates",), []),
        (("bound",), None),
        (("digest",), "0" * 64),
        (("points",), {}),
        (("experts", 0, "expert"), "z"),
    ],
)
def test_no_word_can_be_changed_either(path, value):
    body, given = made("squared")
    with pytest.raises(ReceiptError) as said:
        verify_blend(changed(body, path, value), given)
    assert said.value.failed


MEANS = ("absolute, gradient", "squared, against the mean", "absolute with the last value")


@pytest.mark.parametrize("name", MEANS)
def test_the_best_mean_needs_its_proof(name):
    """Weights that lose more and slopes that prove less do not carry the interval that is claimed."""
    body, given = made(name)
    weights, slopes = (unpacked(body["points"][key]) for key in ("mean", "slopes"))
    other = np.roll(weights, 1)
    verify_blend(changed(body, ("points", "mean"), packed(2.0 * weights)), given)  # the same mean
    with pytest.raises(ReceiptError, match="the loss of the best mean at most"):
        verify_blend(changed(body, ("points", "mean"), packed(other)), given)
    for wrong in (np.zeros_like(slopes), -slopes):
        with pytest.raises(ReceiptError, match="the loss of the best mean at least"):
            verify_blend(changed(body, ("points", "slopes"), packed(wrong)), given)
    for wrong in (-weights, 0.0 * weights, weights * np.nan, weights + 1e308, weights[1:]):
        with pytest.raises(ReceiptError, match="the weights of the best mean are those of a mean"):
            verify_blend(changed(body, ("points", "mean"), packed(wrong)), given)
    if "absolute" in name:
        with pytest.raises(ReceiptError, match="are slopes of the loss"):
            verify_blend(changed(body, ("points", "slopes"), packed(slopes + 1.5)), given)


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_the_interval_of_the_best_mean_must_contain_what_is_found(name, end):
    """An end that is moved inward by one part in 10⁹ is a false claim, however near."""
    body, given = made(name)
    loss = body["mean"]["loss"]
    inward = loss[end] * (1.0 + (1e-9 if end == "lower" else -1e-9))
    with pytest.raises(ReceiptError, match="the loss of the best mean"):
        verify_blend(changed(body, ("mean", "loss", end), inward), given)


def test_the_last_value_cannot_be_left_out_of_a_receipt():
    body, given = made("absolute with the last value")
    with pytest.raises(ReceiptError):
        verify_blend(changed(body, ("reading", "last_value"), False), given)


def test_another_table_does_not_do():
    body, given = made("log")
    given["a"][3] = 0.123
    with pytest.raises(ReceiptError, match="the digest of the table"):
        verify_blend(body, given)
    with pytest.raises(ReceiptError, match=r"the blend cannot be replayed: .*there are no columns 'b', 'c', 'y'"):
        verify_blend(body, {"a": [0.5]})


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_replay_is_what_the_definitions_give(name):
    """Round after round in longer floats, by other formulas: what the loop gives to some eleven figures."""
    found = blend(table(0, sleepers=0.0 if "one expert" in name else 0.15), **CASES[name])
    contest = found.contest
    wanted = definitions.replayed(found.data, found.reading, found.losses, found.forecasts.reshape(-1))
    same = {"own": contest.own, "forecasts": contest.forecasts, "costs": contest.costs, "gap": contest.gap}
    for part, value in {**same, "weights": found.last_weights}.items():
        np.testing.assert_allclose(value, getattr(wanted, part), rtol=1e-9, atol=1e-11, err_msg=part)
    if contest.switches is not None:
        least = definitions.least_switching(wanted.costs, contest.switches)
        assert contest.switching_loss.lo - 1e-11 <= least <= contest.switching_loss.hi + 1e-11
    if contest.learner == "gradient" and contest.experts > 1:
        spreads = wanted.linear.max(axis=1) - wanted.linear.min(axis=1)
        np.testing.assert_allclose(contest.spreads, spreads, rtol=1e-9, atol=1e-11)
        assert contest.linear.hi == pytest.approx(float((-wanted.linear.sum(axis=0)).max()), rel=1e-9, abs=1e-11)


def test_ties_that_are_none_in_floats_are_replayed_as_they_were_played():
    """0.1 + 0.2 and 0.3 + 0.0 differ by a rounding; leaders are leaders nevertheless."""
    given = {"a": [0.1, 0.2, 1.0, 0.0] * 5, "b": [0.3, 0.0, 0.0, 1.0] * 5, "c": [0.2, 0.1, 0.3, 0.7] * 5}
    found = blend(given, costs=["a", "b", "c"])
    verify_blend(found.receipt().to_dict(), given)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"loss": "absolute", "method": "mixture", "range": [0.0, 1.0]}, "cannot be replayed: .*got absolute"),
        ({"loss": "brier", "range": [-10.0, 10.0]}, "cannot be replayed: .*not for brier"),
        ({"source": "somebody"}, "with settings that exist"),
        ({"rate": "one"}, "with settings that exist"),
        ({"experts": ["a", "a"]}, "with settings that exist"),
    ],
)
def test_a_blend_that_cannot_be_made_is_refused(change, sentence):
    rows = {"y": [1.0, 0.0, 1.0], "a": [0.9, 0.2, 0.6], "b": [0.5, 0.5, 0.5]}
    body = dict(blend(rows, outcome="y", experts=["a", "b"], loss="squared").receipt().body)
    body["reading"] = {**body["reading"], **change}
    with pytest.raises(ReceiptError, match=sentence):
        verify_blend(body, rows)


def test_numbers_far_from_0_and_losses_of_0_verify():
    rng = np.random.default_rng(4)
    far = {name: (1013000.0 + 100.0 * rng.random(60)).round(2).tolist() for name in ("y", "a", "b")}
    for rows, more in (
        (far, {"loss": "squared", "range": (1013000.0, 1013100.0)}),
        ({"y": [1.0, 1.0], "a": [1.0, 1.0], "b": [1.0, 1.0]}, {"loss": "log"}),
    ):
        verify_blend(blend(rows, outcome="y", experts=["a", "b"], **more).receipt().body, rows)
