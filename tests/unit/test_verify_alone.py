"""Whoever checks a receipt asks no solver: `verify` imports none, now or later, for any kind of receipt."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SOLVERS = "noregret.proof.solve"

LEARNERS = ("perceptron", "ogd", "ogd-strong", "kernel", "multiclass", "second-order", "pa1", "adagrad", "vaw")
STREAM = """
X = [[2.0, 1.0], [-1.0, 2.0], [1.5, -0.5], [-0.5, -1.0], [1.0, 1.0], [0.25, -1.5]]
y = [1, -1, 1, -1, 1, -1]
"""
MAKE = """
import sys
import noregret as nr
from noregret.learner import LEARNERS
from noregret.proof.certify import certify
for name in sys.argv[2:]:
    certify(nr.play(LEARNERS[name](), (X, y)), (X, y), seconds=5.0).save(f"{sys.argv[1]}/{name}.json")
"""
CHECK = """
import json, sys
from noregret.proof.verify import verify
checks = {name: len(verify(f"{sys.argv[1]}/{name}.json", (X, y)).checks) for name in sys.argv[2:]}
found = sorted(name for name in sys.modules if name.partition(".")[0] == "noregret")
print(json.dumps({"checks": checks, "modules": found}))
"""


def run(code, *arguments):
    done = subprocess.run([sys.executable, "-c", STREAM + code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Receipts made in one process and checked in another: the checks of each, and the modules of the second."""
    folder = str(tmp_path_factory.mktemp("receipts"))
    run(MAKE, folder, *LEARNERS)
    return json.loads(run(CHECK, folder, *LEARNERS))


def test_receipts_are_checked_in_a_process_without_solvers(told):
    print(f"{sum(told['checks'].values())} checks with {len(told['modules'])} modules of noregret")
    assert min(told["checks"].values()) > 15
    assert [name for name in told["modules"] if name.startswith(SOLVERS)] == []


# -- by reading the sources --------------------------------------------------------------------------------------------


def file_of(module):
    """The file of a module; None of a name that is none."""
    base = SOURCE.joinpath(*module.split("."))
    found = [file for file in (base / "__init__.py", base.with_suffix(".py")) if file.exists()]
    return found[0] if found else None


def imported(module, everywhere):
    """The modules that a file imports when it is run: at its top, or `everywhere` in its functions too."""
    waiting = [ast.parse(file_of(module).read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not everywhere:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module
        waiting += ast.iter_child_nodes(node)


BY_NAME = tuple(f"noregret.learner.{file.stem}" for file in (SOURCE / "noregret" / "learner").glob("[a-z]*.py"))


def reached(everywhere):
    """Every module of noregret that `verify` imports, the packages above each included; learners it asks for by name.

    With `everywhere` imports that wait in functions are followed too, those of other kinds of receipts among them.
    """
    found, waiting = set(), ["noregret.proof.verify", *BY_NAME]
    while waiting:
        module = waiting.pop()
        parts = module.split(".")
        for name in (".".join(parts[:size]) for size in range(1, len(parts) + 1)):
            if name.split(".")[0] == "noregret" and name not in found and file_of(name) is not None:
                found.add(name)
                waiting += imported(name, everywhere)
    return found


@pytest.mark.parametrize("everywhere", [False, True], ids=["at the top of files", "in functions too"])
def test_no_import_leads_from_verify_to_a_solver(everywhere):
    found = reached(everywhere)
    print(f"{len(found)} modules of noregret")
    assert "noregret.proof.theorems.ladder" in found
    assert ("noregret.proof.blend" in found) is everywhere
    assert [name for name in sorted(found) if name.startswith(SOLVERS)] == []


def test_the_walk_finds_what_python_imports(told):
    """Were it to miss imports, it would prove nothing."""
    native = {name for name in told["modules"] if name.startswith("noregret._native.")}  # compiled: no source to walk
    assert set(told["modules"]) - native <= reached(everywhere=True)


def test_the_walk_finds_solvers_where_there_are_some():
    assert any(name.startswith(SOLVERS) for name in imported("noregret.proof.certify", everywhere=False))
