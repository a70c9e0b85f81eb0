"""Every example is a program that runs as it stands and shows what it says it shows."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

SHOWS = {
    "spam_from_raw_text.py": (r"receipt verified: \d+ claims recomputed", r"new mail: \['spam', 'ham'\]"),
    "audit_a_model_in_production.py": (r"drift: one fixed model loses", r"on the new device"),
    "blend_forecasters.py": (
        r"regret against it: -?\d+\.\d, bound: \d+\.\d",
        r"receipt verified: \d+ claims",
    ),
    "own_loss_and_resume.py": (r"the same weights, bit for bit: True",),
}


def test_every_example_is_run_here():
    assert {one.name for one in EXAMPLES} == set(SHOWS)


@pytest.mark.parametrize("example", EXAMPLES, ids=[one.name for one in EXAMPLES])
def test_the_example_runs_and_shows_what_it_should(example, tmp_path):
    command = [sys.executable, "-W", "error", str(example)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    for pattern in SHOWS[example.name]:
        assert re.search(pattern, done.stdout), done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=[one.name for one in EXAMPLES])
def test_the_example_is_short_and_says_what_it_is(example):
    text = example.read_text()
    assert len(text.splitlines()) < 80
    told = ast.get_docstring(ast.parse(text))
    assert told is not None
    assert f"python examples/{example.name}" in told


def test_a_blend_is_within_its_promise_and_the_spam_regret_within_its_bound(tmp_path):
    """The figures that two of them print, as theorems."""
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import blend_forecasters

        import noregret as nr

        table = blend_forecasters.forecasts(blend_forecasters.demand(seed=11))
        rules = [name for name in table if name != "demand"]
        found = nr.blend(table, outcome="demand", experts=rules, loss="absolute", range=(0.0, blend_forecasters.TOP))
    finally:
        sys.path.remove(str(ROOT / "examples"))
    assert found.regret <= found.bound
    assert found.loss - min(row["loss"] for row in found.table()) == pytest.approx(found.regret)
