"""A proof that is not one: every claim of it is recomputed, and the one that does not stand is named."""

import json

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, ReceiptError
from noregret.proof.receipt import checksum, packed, unpacked
from noregret.proof.separation import verify_separation

SEPARABLE = ([[1.0, 0.5], [0.5, 2.0], [-1.0, -0.25], [-0.1, -3.0]], [1, 1, -1, -1])
INSEPARABLE = ([[0.0], [1.0], [3.0]], [1, -1, 1])


@pytest.fixture
def separable():
    return nr.separate(SEPARABLE).proof()


@pytest.fixture
def inseparable():
    return nr.separate(INSEPARABLE, bias=True).proof()


def test_true_proofs_stand(separable, inseparable):
    assert separable["answer"] == "separable" and inseparable["answer"] == "inseparable"
    assert len(verify_separation(separable, SEPARABLE).checks) >= 12
    assert len(verify_separation(inseparable, INSEPARABLE).checks) >= 12


def larger(number):
    return number * (1 + 1e-9)


def smaller(number):
    return number * (1 - 1e-9)


FORGED = [
    (lambda b: b.update(rows=3), "rows"),
    (lambda b: b.update(features=3), "features"),
    (lambda b: b.update(digest="0" * 64), "digest of the rows"),
    (lambda b: b.update(labels=[1, -1]), "the two labels"),
    (lambda b: b.update(answer="perhaps"), "the answer is separable, inseparable or undecided"),
    (lambda b: b["margin"].update(lower=b["margin"]["upper"] * 1.001), "at least the lower end"),
    (lambda b: b["margin"].update(lower=0.0), "at least the lower end"),
    (lambda b: b["margin"].update(lower=-1.0), "at least the lower end"),
    (lambda b: b["margin"].update(upper=b["margin"]["lower"] * 0.999), "no separator has a larger margin"),
    (lambda b: b["margin"].update(upper=-b["margin"]["upper"]), "no separator has a larger margin"),
    (lambda b: b["radius"].update(lower=larger(b["radius"]["upper"])), "lower end of the radius"),
    (lambda b: b["radius"].update(upper=smaller(b["radius"]["lower"])), "upper end of the radius"),
    (lambda b: b["mistakes"].update(at_most=b["mistakes"]["at_most"] - 1), "mistakes"),
    (lambda b: b["mistakes"].update(no_separator_below=b["mistakes"]["no_separator_below"] * 1.01), "gives less"),
    (lambda b: b.update(separator=None), "a separator is given"),
    (lambda b: b.update(separator=packed(-unpacked(b["separator"]))), "on every row"),
    (lambda b: b.update(separator=packed(0.0 * unpacked(b["separator"]))), "on every row"),
    (lambda b: b.update(separator=packed(np.array([np.nan, 1.0]))), "the separator is finite"),
    (lambda b: b.update(separator=packed(np.ones(3))), "a weight for every feature"),
    (lambda b: b["weights"].update(floats=packed(-np.ones(len(b["weights"]["rows"])))), "no weight is negative"),
    (lambda b: b["weights"].update(floats=packed(np.zeros(len(b["weights"]["rows"])))), "some weight is positive"),
    (lambda b: b["weights"].update(floats=packed(np.ones(9))), "every weight belongs to one row"),
    (lambda b: b["weights"].update(rows=[99] * len(b["weights"]["rows"])), "every weight belongs to"),
    (lambda b: b["reading"].update(shape="round"), "read with settings that exist"),
    (lambda b: b["preparation"].update(bias=True), "features"),
    (lambda b: b["preparation"].update(warp=9), "damaged"),
    (lambda b: b.pop("margin"), "what a proof of separation holds"),
    (lambda b: b.update(answer="undecided"), "no separator is given"),
    (lambda b: b.update(answer="inseparable"), "no separator is given"),
]


@pytest.mark.parametrize("change", [{"version": 1}, {"version": 5}, {"arithmetic": "near-1"}])
def test_a_proof_of_other_rules_is_refused_not_judged(separable, change):
    with pytest.raises(ReceiptError, match="make it again") as caught:
        verify_separation({**separable, **change}, SEPARABLE)
    assert not caught.value.failed


@pytest.mark.parametrize(("forge", "named"), FORGED)
def test_a_forged_separator_is_refused(separable, forge, named):
    forge(separable)
    with pytest.raises(ReceiptError, match=named) as caught:
        verify_separation(separable, SEPARABLE)
    assert caught.value.failed


@pytest.mark.parametrize(
    ("forge", "named"),
    [
        (lambda b: b["weights"].update(whole=["0x1", "0x1", "0x1"]), "exactly"),
        (lambda b: b["weights"].update(whole=["0x0", "0x0", "0x0"]), "some weight is positive"),
        (lambda b: b["weights"].update(whole=["-0x2", "-0x3", "-0x1"]), "no weight is negative"),
        (lambda b: b["weights"].update(rows=[1, 1, 2]), "every weight belongs to one row"),
        (lambda b: b["weights"].update(rows=[0, 1, 2]), "a row of the stream"),
        (lambda b: b["weights"].update(whole=["0x2", "what", "0x1"]), "damaged"),
        (lambda b: b["margin"].update(upper=1.0), "the best margin is 0"),
        (lambda b: b.update(mistakes={"at_most": 3, "no_separator_below": 1.0}), "no bound on mistakes"),
        (lambda b: b.update(separator=packed(np.ones(2))), "no separator is given"),
        (lambda b: b.update(answer="separable"), "a separator is given"),
    ],
)
def test_forged_weights_are_refused(inseparable, forge, named):
    assert sorted(inseparable["weights"]["whole"]) == ["0x1", "0x2", "0x3"]
    forge(inseparable)
    with pytest.raises(ReceiptError, match=named):
        verify_separation(inseparable, INSEPARABLE)


def test_weights_that_cancel_but_for_rounding_prove_nothing():
    """0.1 + 0.2 − 0.3 is not 0 in whole numbers, and not in floats either: 5.6·10⁻¹⁷."""
    rows = ([[0.1], [0.2], [0.3]], [1, 1, -1])
    proof = nr.separate(rows).proof()
    assert proof["answer"] == "inseparable"
    proof["weights"] = {"rows": [1, 2, 3], "whole": ["0x1", "0x1", "0x1"]}
    with pytest.raises(ReceiptError, match="in every feature, exactly"):
        verify_separation(proof, rows)


def test_other_rows_are_not_those_of_the_proof(separable):
    other = ([[1.0, 0.5], [0.5, 2.0], [-1.0, -0.25], [-0.1, -3.5]], [1, 1, -1, -1])
    with pytest.raises(ReceiptError, match="digest"):
        verify_separation(separable, other)


def test_a_file_is_written_whole_and_read_again(tmp_path):
    found = nr.separate(INSEPARABLE, bias=True)
    found.save(tmp_path / "proof.json")
    assert [file.name for file in tmp_path.iterdir()] == ["proof.json"]
    assert nr.verify(tmp_path / "proof.json", INSEPARABLE).checks
    body = json.loads((tmp_path / "proof.json").read_text())
    body["weights"]["rows"][0] = 2
    (tmp_path / "proof.json").write_text(json.dumps(body))
    with pytest.raises(ReceiptError, match="checksum"):
        nr.verify(tmp_path / "proof.json", INSEPARABLE)
    body.pop("checksum")
    (tmp_path / "proof.json").write_text(json.dumps({**body, "checksum": checksum(body)}))
    with pytest.raises(ReceiptError, match="one row"):
        nr.verify(tmp_path / "proof.json", INSEPARABLE)
    (tmp_path / "proof.json").write_text(json.dumps(body))
    with pytest.raises(ReceiptError, match="its checksum does not match"):
        nr.verify(tmp_path / "proof.json", INSEPARABLE)


def test_a_stream_that_is_not_there(separable):
    with pytest.raises(InputError, match="no such file"):
        verify_separation(separable, "nowhere.svm")


def test_prepared_rows_are_prepared_again(tmp_path):
    for more in ({"unit_norm": True}, {"positive": -1}, {"bias": True, "unit_norm": True}):
        found = nr.separate(SEPARABLE, **more)
        found.save(tmp_path / "proof.json")
        assert nr.verify(tmp_path / "proof.json", SEPARABLE).checks
