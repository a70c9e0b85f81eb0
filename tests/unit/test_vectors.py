"""Receipts of every kind, honest and forged, and what both verifiers answer; their format, and the stand-alone file."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.oracle.schema import misfit

import noregret as nr
from noregret import noregret_verify

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
    assert kinds == {"run", "late", "separation", "blend"}


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
