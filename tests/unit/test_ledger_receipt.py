"""Receipts of ledgers: of logs, of learners, merged; what is false in one is refused."""

import copy
import json
import math

import numpy as np
import pyarrow
import pytest

import noregret as nr
from noregret.errors import InputError, ReceiptError, SettingError
from noregret.learner import LEARNERS
from noregret.loss import custom
from noregret.proof.ledger import LedgerReceipt
from noregret.proof.ledger_again import Ledgers
from noregret.proof.receipt import packed, unpacked, write
from noregret.protocol import play
from oracle.forging import changed, numbers


def log(seed, rounds=80, **more):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 2))
    said = 1.0 / (1.0 + np.exp(-X[:, 0] - rng.normal(size=rounds)))
    label = (X.sum(axis=1) + rng.normal(size=rounds) > 0.0).astype(int)
    return pyarrow.table({"a": X[:, 0], "b": X[:, 1], "p": said, "label": label} | more)


def ledger(table, radius=1.0, **asked):
    return nr.audit_pass(table, **{"probability": "p"} | asked, radius=radius, digest=True).receipt()


def learned(name="ogd", seed=0, stream=None, **settings):
    core = LEARNERS[name](**settings)
    keeper = Ledgers(core)
    given = nr.read(log(seed), label="label", ignore=["p"]) if stream is None else stream
    return keeper.receipt(play(core, given, digest=True, keep=keeper))


def again(receipt, tmp_path):
    receipt.save(tmp_path / "receipt.json")
    return LedgerReceipt.load(tmp_path / "receipt.json")


WORDS = {"c": ["red", "blue", "green", "red"] * 20}


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        (log(0), {}),
        (log(0), {"bias": True, "loss": "hinge"}),
        (log(0, **WORDS), {"bias": True, "interactions": ["a:c"]}),
        (log(0, c=[None, 1.0] * 40), {"missing": "mean"}),
        (log(0, c=[None, 1.0] * 40), {"missing": "skip"}),
        (log(0, said=[1, 0] * 40), {"probability": None, "prediction": "said"}),
        (log(0), {"probability": None, "prediction": "p", "loss": "squared"}),
        (pyarrow.table({"a": [1.0, 2.0], "p": [1.0, 1.0], "label": [1, 0]}), {}),
    ],
)
def test_logs_of_many_kinds(tmp_path, table, asked):
    made = ledger(table, **asked)
    assert len(nr.verify(again(made, tmp_path), table).checks) > 30
    assert not made.broken


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ogd", {"loss": "logistic", "radius": 2.0, "bias": True}),
        ("ogd", {"loss": "hinge", "scale": "max"}),
        ("perceptron", {}),
        ("adagrad", {"loss": "squared-hinge"}),
        ("auto", {}),
        ("pa1", {}),
    ],
)
def test_learners(tmp_path, name, settings):
    made = learned(name, **settings)
    stream = nr.read(log(0), label="label", ignore=["p"])
    assert len(nr.verify(again(made, tmp_path), stream).checks) > 30
    assert made.parts[0].name == f"learner {name}"


def test_weights_and_passes_are_replayed(tmp_path):
    core = LEARNERS["ogd"](loss="logistic")
    keeper = Ledgers(core)
    run = play(
        core,
        nr.read(log(0), label="label", ignore=["p"]),
        digest=True,
        keep=keeper,
        class_weight={"1": 3.0},
        passes=2,
        shuffle=4,
    )
    made = keeper.receipt(run)
    assert made.whole.rounds == 160
    nr.verify(again(made, tmp_path), nr.read(log(0), label="label", ignore=["p"]))


def test_rows_that_are_others():
    with pytest.raises(ReceiptError, match="not the rows that the receipt is about"):
        nr.verify(ledger(log(0)), log(1))
    with pytest.raises(ReceiptError, match="not the rows that the receipt is about"):
        nr.verify(learned(), nr.read(log(1), label="label", ignore=["p"]))
    other = log(0).set_column(2, "p", pyarrow.array(1.0 - log(0)["p"].to_numpy()))
    with pytest.raises(ReceiptError, match="digest of the scores"):
        nr.verify(ledger(log(0)), other)


def test_merged_receipts_hold_all_parts(tmp_path):
    tables = [log(seed, 40 + 10 * seed) for seed in range(4)]
    parts = [ledger(one) for one in tables]
    nested = again(nr.merge(nr.merge(parts[0], parts[1]), again(nr.merge(parts[2], parts[3]), tmp_path)), tmp_path)
    flat = nr.merge(*parts)
    assert nested.to_dict() == flat.to_dict()
    assert flat.bound <= flat.bound_of_each
    assert flat.whole.rounds == 220
    whole = nr.audit_pass(pyarrow.concat_tables(tables), probability="p", radius=1.0)
    assert whole.overall.ledger.ball(1.0).lo <= flat.bound
    nr.verify(nested, *tables)
    with pytest.raises(ReceiptError, match="not the rows"):
        nr.verify(nested, *tables[::-1])
    with pytest.raises(SettingError, match="4 in their order"):
        nr.verify(nested, *tables[:3])


def test_a_model_and_a_learner_side_by_side():
    both = nr.merge(ledger(log(0)), learned(seed=1, loss="logistic", radius=1.0))
    nr.verify(both, log(0), nr.read(log(1), label="label", ignore=["p"]))
    assert [part.name for part in both.parts] == ["probability in column 'p'", "learner ogd"]


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (lambda: ledger(log(0)), "parts 1 and 2 are of the same rows"),
        (lambda: nr.merge(ledger(log(0)), ledger(log(1))), "parts 1 and 2 are of the same rows"),
        (lambda: ledger(log(1), loss="hinge"), "different losses: logistic and hinge"),
        (lambda: ledger(log(1), bias=True), "different biases: False and True"),
        (lambda: ledger(log(1, c=np.arange(80.0))), "different features"),
        (lambda: ledger(log(1).rename_columns(["a", "z", "p", "label"])), "different features"),
        (lambda: ledger(log(1), radius=2.0), "radii 1 and 2: give a radius"),
        (lambda: learned(loss="logistic", radius=1.0, seed=1, unit_norm=True), "different preparations"),
    ],
)
def test_what_does_not_add_up(other, sentence):
    with pytest.raises((InputError, SettingError), match=sentence):
        nr.merge(ledger(log(0)), other())


def test_rows_prepared_by_what_was_seen_are_not_the_same_features():
    gaps = [log(seed, c=[None, 1.0] * 40) for seed in (0, 1)]
    with pytest.raises(InputError, match="prepared by what each part had seen"):
        nr.merge(*(ledger(one, missing="mean") for one in gaps))


def test_another_radius():
    found = nr.merge(ledger(log(0)), ledger(log(1), radius=5.0), radius=3.0)
    assert found.radius == 3.0
    nr.verify(found, log(0), log(1))
    with pytest.raises(SettingError, match="radius must be positive"):
        nr.merge(ledger(log(0)), radius=math.nan)
    with pytest.raises(SettingError, match="at least one ledger"):
        nr.merge()


# -- what is false -----------------------------------------------------------------------------------------------------


def load(body, tmp_path):
    write(tmp_path / "forged.json", body)
    return LedgerReceipt.load(tmp_path / "forged.json")


def refused(body, tmp_path, *tables):
    with pytest.raises(ReceiptError) as caught:
        nr.verify(load(body, tmp_path), *tables)
    assert caught.value.failed, caught.value
    return str(caught.value)


UPPER = ("upper", "sizes", "norms", "error", "bound", "paid", "norm_of_sum", "norm1_of_sum", "largest_of_sum")


def false(path, value):
    """Numbers that would say too much in that place."""
    if isinstance(value, int):
        return [value + 1, value - 1]
    little = 1e-6 * abs(value)
    if path[-1] == "lower":
        return [value + little]
    if path[-1] == "error":  # how far G may be off: a smaller share may be true as well
        return [0.01 * value, 0.0, -value]
    if path[-1] in UPPER:
        return [value - little, value - abs(value) - 1.0]
    return [value + 1e-3, value / 2]


def test_every_number_that_is_false_is_refused(tmp_path):
    tables = [log(0), log(1)]
    body = nr.merge(*(ledger(one, bias=True) for one in tables)).to_dict()
    places = [(path, value) for path, value in numbers(body) if path not in [("version",)]]
    assert len(places) > 35
    for path, value in places:
        if "reading" in path:
            continue
        for wrong in false(path, value):
            refused(changed(body, path, wrong), tmp_path, *tables)


def test_every_word_that_is_false_is_refused(tmp_path):
    table = log(0)
    body = ledger(table).to_dict()
    for path, wrong in [
        (("loss",), "hinge"),
        (("bias",), True),
        (("features", "names"), ["b", "a"]),
        (("features",), {"kind": "index"}),
        (("prepared", "learned"), True),
        (("parts", 0, "rows"), "0" * 64),
        (("parts", 0, "scores"), "0" * 64),
        (("parts", 0, "sound"), False),
        (("parts", 0, "how", "kind"), "score"),
        (("parts", 0, "how", "kind"), "x"),
        (("parts", 0, "how", "from"), "nowhere"),
        (("parts", 0, "how", "column"), "a"),
        (("parts", 0, "how", "labels"), [1.0, 0.0]),
        (("parts", 0, "how", "reading", "more"), "zero"),
        (("parts", 0, "how", "reading", "label"), "a"),
        (("parts", 0, "how", "reading"), {}),
        (("parts", 0, "how"), {}),
        (("parts", 0, "infinite"), True),
        (("parts",), []),
        (("certificates",), []),
        (("certificates", 0, "theorem"), "ledger-box"),
        (("certificates", 0, "source"), "nobody"),
        (("certificates", 0, "verdict"), "vacuous"),
        (("certificates", 0, "bound"), "-inf"),
        (("certificates", 0, "assumptions"), []),
    ]:
        refused(changed(body, path, wrong), tmp_path, table)
    extra = copy.deepcopy(body) | {"more": 1}
    assert "must say" in refused(extra, tmp_path, table)


def test_every_field_is_needed(tmp_path):
    body = ledger(log(0)).to_dict()
    for key in set(body) - {"kind", "version", "arithmetic"}:
        refused({one: value for one, value in body.items() if one != key}, tmp_path, log(0))
    for key in body["parts"][0]:
        lacking = copy.deepcopy(body)
        del lacking["parts"][0][key]
        refused(lacking, tmp_path, log(0))


def test_a_vector_that_is_off(tmp_path):
    body = ledger(log(0)).to_dict()
    G = unpacked(body["parts"][0]["G"])
    for wrong in (G * (1.0 + 1e-9), G[:1], np.append(G, 0.0), -G, G * math.nan):
        refused(changed(body, ("parts", 0, "G"), packed(wrong)), tmp_path, log(0))


def test_looser_claims_stand(tmp_path):
    body = ledger(log(0)).to_dict()
    for path in (("parts", 0, "error"), ("parts", 0, "norms"), ("parts", 0, "sizes"), ("certificates", 0, "bound")):
        value = body
        for key in path:
            value = value[key]
        nr.verify(load(changed(body, path, value * 1.001), tmp_path), log(0))


def test_parts_of_the_same_rows_in_a_file(tmp_path):
    body = ledger(log(0)).to_dict()
    body["parts"] *= 2
    assert "same rows" in refused(body, tmp_path, log(0), log(0))


def test_a_learner_that_was_another(tmp_path):
    body = learned(loss="logistic", radius=2.0).to_dict()
    stream = lambda: nr.read(log(0), label="label", ignore=["p"])  # noqa: E731
    for path, wrong in [
        (("parts", 0, "how", "learner", "settings", "radius"), 3.0),
        (("parts", 0, "how", "learner", "name"), "adagrad"),
        (("parts", 0, "how", "learner", "name"), "nobody"),
        (("parts", 0, "how", "segments", 0, "rows"), 79),
        (("parts", 0, "how", "segments", 0, "passes"), 2),
        (("parts", 0, "how", "segments", 0, "class_weight"), {"1": 2.0}),
        (("parts", 0, "how", "segments", 0), {}),
        (("prepared", "unit_norm"), True),
    ]:
        with pytest.raises(ReceiptError) as caught:
            nr.verify(load(changed(body, path, wrong), tmp_path), stream())
        assert caught.value.failed


def test_a_damaged_file(tmp_path):
    ledger(log(0)).save(tmp_path / "l.json")
    body = json.loads((tmp_path / "l.json").read_text())
    (tmp_path / "l.json").write_text(json.dumps(body | {"radius": 2.0}))
    with pytest.raises(ReceiptError, match="checksum"):
        LedgerReceipt.load(tmp_path / "l.json")
    with pytest.raises(ReceiptError, match="of the kind 'ledger'"):
        nr.Receipt.load(tmp_path / "l.json")


def test_what_has_no_ledger():
    with pytest.raises(SettingError, match="scores that are single numbers"):
        Ledgers(LEARNERS["multiclass"]())
    own = custom(lambda z, y: abs(z - y), lambda z, y: 1.0 if z > y else -1.0, name="mine", regression=True)
    with pytest.raises(SettingError, match="your own Python code"):
        Ledgers(LEARNERS["ogd"](loss=own))
    table = pyarrow.table({"a": [1.0, 2.0], "said": [0.5, 0.25], "label": [1.5, 0.5]})
    with pytest.raises(SettingError, match="your own Python code"):
        nr.audit_pass(table, prediction="said", loss=own, digest=True).receipt()
