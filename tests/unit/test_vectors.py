"""Receipts of every kind, honest and forged, and what both verifiers answer; their format, and the stand-alone file."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.schema import misfit

import noregret as nr
from noregret import arithmetic, noregret_verify
from noregret.proof.receipt import checksum

ROOT = Path(__file__).parents[2]
HERE = ROOT / "tests" / "vectors"
VECTORS = json.loads((HERE / "vectors.json").read_text())
ALONE = Path(noregret_verify.__file__)
SCHEMA = json.loads(ALONE.with_name("receipt.schema.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=[one["receipt"].removesuffix(".json") for one in VECTORS])
def test_both_verifiers_answer_as_they_must(vector, monkeypatch, capsys):
    monkeypatch.chdir(HERE)
    if vector["stands"]:
        nr.verify(vector["receipt"], *vector["streams"])
    else:
        with pytest.raises(nr.ReceiptError):
            nr.verify(vector["receipt"], *vector["streams"])
    assert noregret_verify.main([vector["receipt"], *vector["streams"]]) == vector["alone"]
    assert bool(capsys.readouterr().out)


def test_there_are_vectors_of_every_kind():
    kinds = {json.loads((HERE / one["receipt"]).read_text())["kind"] for one in VECTORS}
    assert kinds == {"run", "late", "separation", "blend", "ledger", "watched"}


@pytest.mark.parametrize("path", [one["receipt"] for one in VECTORS if one["stands"]])
def test_honest_receipts_fit_the_schema(path):
    said = json.loads((HERE / path).read_text())
    assert misfit(said, SCHEMA, SCHEMA) is None
    for key in said:
        assert misfit({one: said[one] for one in said if one != key}, SCHEMA, SCHEMA) is not None
    assert misfit({**said, "more": 1}, SCHEMA, SCHEMA) is not None


def test_the_file_runs_alone_in_another_place_and_imports_the_standard_library_only(tmp_path):
    copy = tmp_path / "check.py"
    copy.write_bytes(ALONE.read_bytes())
    call = [sys.executable, "-I", str(copy), str(HERE / "logistic.json"), str(HERE / "rows.svm")]
    found = subprocess.run(call, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    names = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(ALONE.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert names <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([], 2),
        (["nothing.json", "rows.svm"], 2),
        (["rows.svm", "rows.svm"], 2),
        (["ladder.json", "rows.svm", "--partial"], 0),
        (["ladder.json", "rows.svm", "--other"], 2),
        (["ladder.json", "numbers.svm"], 1),
    ],
)
def test_exit_codes(given, code, monkeypatch):
    monkeypatch.chdir(HERE)
    assert noregret_verify.main(given) == code


FORMATS = "rows must be svmlight (noregret learn --rows-out FILE writes them), events of late labels JSON Lines"


@pytest.mark.parametrize("receipt", ["logistic.json", "late-events.json"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a,b,c,label\n1,2,3,0\n", f":1: {FORMATS}, got 'a,b,c,label'"),
        (b"0.5,0.25\n", f":1: {FORMATS}, got '0.5,0.25'"),
        (b"a\tb\tlabel\n", f":1: {FORMATS}, got 'a\\tb\\tlabel'"),
        (b"\xff\xfe\n", f": {FORMATS}; this is not text in UTF-8"),
        (None, ": cannot be read: No such file or directory"),
    ],
)
def test_files_that_are_no_rows_are_bad_usage(receipt, text, sentence, tmp_path, capsys):
    rows = tmp_path / "rows.csv"
    if text is not None:
        rows.write_bytes(text)
    assert noregret_verify.main([str(HERE / receipt), str(rows)]) == 2
    assert capsys.readouterr() == ("", f"{rows}{sentence}\n")


def test_a_receipt_that_is_missing_is_one_sentence(tmp_path, capsys):
    path = str(tmp_path / "none.json")
    assert noregret_verify.main([path, "rows.svm"]) == 2
    assert capsys.readouterr() == ("", f"{path}: cannot be read: No such file or directory\n")


def test_rows_of_another_label_fail(tmp_path, capsys):
    """They are svmlight: the claim is what is wrong."""
    rows = tmp_path / "rows.svm"
    rows.write_text("what\n1 1:1\n")
    assert noregret_verify.main([str(HERE / "logistic.json"), str(rows)]) == 1
    assert capsys.readouterr().out == "does not stand: the label 'what' is none of the receipt's\n"


def test_its_exponential_has_the_bits_of_the_core():
    rng = np.random.default_rng(0)
    xs = np.concatenate([rng.normal(size=500) * 20, rng.uniform(-746, 710, 500), [0.0, -0.0, -745.0, 709.7, 800.0]])
    assert [noregret_verify.exp(x) for x in xs.tolist()] == arithmetic.exp(xs).tolist()


def test_its_canonical_form_is_that_of_the_checksum():
    rng = np.random.default_rng(0)
    numbers = (rng.normal(size=300) * 10.0 ** rng.integers(-320, 300, 300)).tolist()
    body = {"b": [*numbers, 0.0, -0.0, 1e16, 1e15, 1e-5, 1e-6, 3, True, None], "c": {}}
    body |= {'a"\\\x1f\x7fé\n': {"z": "\u2028", "y": []}}
    assert noregret_verify.checksum({**body, "checksum": "left out"}) == checksum(body)


def test_prepared_rows_are_handed_over(tmp_path):
    raw, made, rows = (str(tmp_path / name) for name in ("raw.csv", "made.json", "made.svm"))
    rng = np.random.default_rng(1)
    lines = [f"{a},{b},{'yes' if a > b else 'no'}" for a, b in rng.normal(size=(40, 2)).tolist()]
    Path(raw).write_text("\n".join(["a,b,label", *lines]) + "\n")
    words = "--learner ogd --loss logistic --scale standard --bias --class-weight yes=2,no=0.3 --quiet"
    call = ["learn", *shlex.split(words)]
    asked = [*call[:1], raw, *call[1:], "--receipt", made, "--rows-out", rows]
    subprocess.run([sys.executable, "-m", "noregret", *asked], check=True)
    done = noregret_verify.check(made, [rows])
    assert done.uncovered == ["the digest of the rows before they were prepared"]
    nr.verify(made, raw)
    Path(rows).write_text(Path(rows).read_text().replace("weight 2.0", "weight 2.5", 1))
    with pytest.raises(noregret_verify.FailedError, match="digest of the rows"):
        noregret_verify.check(made, [rows])
