"""Signed receipts: what is signed, and what is refused."""

from __future__ import annotations

import base64
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command import call

import noregret as nr
from noregret.errors import InputError, SettingError
from noregret.proof.sign import check_signature, file_digest, make_keys, sign

pytest.importorskip("cryptography")
VECTORS = Path(__file__).parents[1] / "vectors"


@pytest.fixture
def signed(tmp_path, monkeypatch):
    """A folder with a receipt, keys and a signature."""
    monkeypatch.chdir(tmp_path)
    for name in ("hinge-unit-norm.json", "perceptron.json", "rows.svm"):
        shutil.copy(VECTORS / name, tmp_path)
    make_keys("private.pem", "public.pem")
    return sign("hinge-unit-norm.json", "private.pem", previous="perceptron.json")


def edited(path, change):
    said = json.loads(Path(path).read_text())
    change(said)
    Path(path).write_text(json.dumps(said))


def test_what_is_signed_names_the_receipt_the_rows_and_the_one_before(signed):
    said = check_signature("hinge-unit-norm.json", "public.pem", previous="perceptron.json")
    receipt = nr.Receipt.load("hinge-unit-norm.json")
    assert said["rows"] == [receipt.segments[0]["digest"]] and said["model"] == receipt.replay["learner"]
    assert said["previous"] == file_digest("perceptron.json") and said["expires"] is None
    envelope = json.loads(signed.read_text())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert statement["subject"][0]["digest"]["sha256"] == file_digest("hinge-unit-norm.json")


def test_another_key_is_refused(signed):
    make_keys("other.pem", "other.public.pem")
    with pytest.raises(nr.ReceiptError, match="not by this key"):
        check_signature("hinge-unit-norm.json", "other.public.pem")


def test_every_altered_byte_of_the_receipt_is_refused(signed):
    path = Path("hinge-unit-norm.json")
    whole = path.read_bytes()
    for place in range(0, len(whole), 997):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(nr.NoregretError):
            check_signature(path, "public.pem")
    path.write_bytes(whole + b"\n")
    with pytest.raises(nr.ReceiptError, match="other bytes"):
        check_signature(path, "public.pem")


def test_every_altered_byte_of_what_is_signed_is_refused(signed):
    payload = base64.b64decode(json.loads(signed.read_text())["payload"])
    for place in range(len(payload)):
        bad = payload[:place] + bytes([payload[place] ^ 1]) + payload[place + 1 :]
        edited(signed, lambda said, bad=bad: said.update(payload=base64.b64encode(bad).decode()))
        with pytest.raises(nr.ReceiptError, match="not by this key, or the envelope was changed"):
            check_signature("hinge-unit-norm.json", "public.pem")


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.update(payloadType="text"),
        lambda said: said.update(signatures=[]),
        lambda said: said["signatures"][0].update(sig="AA=="),
        lambda said: said.pop("payload"),
        lambda said: said.update(signatures=3),
    ],
)
def test_envelopes_of_another_form_are_refused(signed, change):
    edited(signed, change)
    with pytest.raises(nr.ReceiptError):
        check_signature("hinge-unit-norm.json", "public.pem")


def test_another_receipt_before_it_is_refused(signed):
    with pytest.raises(nr.ReceiptError, match="the receipt before this one is not"):
        check_signature("hinge-unit-norm.json", "public.pem", previous="hinge-unit-norm.json")


def test_times_are_checked(signed):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    sign("perceptron.json", "private.pem", days=2, now=now)
    assert check_signature("perceptron.json", "public.pem", now=now + timedelta(days=1))["expires"].startswith(
        "2026-01-03"
    )
    with pytest.raises(nr.ReceiptError, match="counted until 2026-01-03"):
        check_signature("perceptron.json", "public.pem", now=now + timedelta(days=3))
    with pytest.raises(nr.ReceiptError, match="of the future"):
        check_signature("perceptron.json", "public.pem", now=now - timedelta(days=1))


def test_a_signature_of_a_forged_receipt_does_not_make_it_true(signed):
    shutil.copy(VECTORS / "perceptron-own.forged.json", "forged.json")
    sign("forged.json", "private.pem")
    found = call("verify", "forged.json", "rows.svm", "--public", "public.pem")
    assert found.code == 1 and "own loss" in found.err


def test_keys_replace_nothing_and_the_private_one_is_for_its_owner_alone(signed):
    whole = Path("private.pem").read_bytes()
    with pytest.raises(SettingError, match=r"private\.pem exists"):
        make_keys("private.pem", "new.pem")
    assert Path("private.pem").read_bytes() == whole and not Path("new.pem").exists()
    assert Path("private.pem").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["public.pem", "rows.svm", "nothing.pem"])
def test_what_is_no_private_key_is_refused(signed, name):
    with pytest.raises(InputError):
        sign("perceptron.json", name)
    assert not Path("perceptron.json.dsse").exists()


def test_the_commands(signed):
    assert call("keygen", "--private", "a.pem", "--public", "b.pem").code == 0
    assert call("keygen", "--private", "a.pem").code == 2
    assert call("sign", "perceptron.json", "--key", "a.pem", "--days", "-1").code == 2
    assert call("sign", "perceptron.json", "--key", "a.pem", "--to", "perceptron.json").code == 2
    assert call("sign", "perceptron.json", "--key", "a.pem", "--to", "p.dsse", "--days", "3").code == 0
    words = ["verify", "perceptron.json", "rows.svm", "--public", "b.pem", "--envelope", "p.dsse"]
    found = call(*words)
    assert found.code == 0 and "signature verified" in found.out
    assert json.loads(call(*words, "--json").out)["signed"]["kind"] == "run"
    assert call(*words, "--previous", "rows.svm").code == 1
    assert call("verify", "perceptron.json", "rows.svm", "--envelope", "p.dsse").code == 2
    assert call("verify", "perceptron.json", "rows.svm", "--public", "public.pem").code == 2  # there is no envelope
