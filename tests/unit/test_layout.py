"""Imports point one way, heavy ones wait until they are needed, and nothing but a user's own function is compiled."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = SOURCE / "noregret"
FILES = sorted(PACKAGE.rglob("*.py"))

# A part may import those of its own line and of the lines above it.
LEVELS = [
    ("errors", "_version"),
    ("setting",),
    ("_native",),
    ("state", "fingerprint", "arithmetic"),
    ("own",),
    (
        "loss",
        "kernel",
        "domain",
        "rate",
        "stream",
        "expand",
        "prepare",
        "digest",
        "atomic",
        "memory",
        "threads",
        "interval",
        "rational",
    ),
    ("rounds",),
    ("rows_out",),
    ("learner", "finite", "experts"),
    ("run",),
    ("summary",),
    ("advice",),
    ("seen", "snapshots", "guarded", "windowed", "protocol", "example"),
    ("model",),
    ("watch",),
    ("live",),
    ("logged",),
    ("late", "shards"),
    ("batch", "mean", "adversary"),
    ("proof",),
    ("task",),
    ("cluster",),
    ("service",),
    ("sklearn",),
    ("bench",),
    ("picture",),
    ("reporting",),
    ("tour",),
    ("cli",),
    ("__main__", "noregret_verify"),
]
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}


def part_of(module):
    """The part that a dotted name belongs to: noregret.stream.block → stream."""
    return module.split(".")[1]


def module_of(file):
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree):
    """Every noregret module that a file imports at run time, wherever in the file."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                yield from imports(other)
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "noregret")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            if node.module == "noregret":
                yield from (f"noregret.{alias.name}" for alias in node.names)
            elif node.module and node.module.startswith("noregret."):
                yield node.module
        yield from imports(node)


def upward(file, text):
    """The imports of a file that point up, as sentences."""
    own = module_of(file)
    for imported in imports(ast.parse(text)):
        if imported.count(".") and LEVEL[part_of(imported)] > LEVEL[part_of(own)]:
            yield f"{own} imports {imported}"


CHECKED = [file for file in FILES if file != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("file", CHECKED, ids=[str(file.relative_to(PACKAGE)) for file in CHECKED])
def test_imports_point_one_way(file):
    assert list(upward(file, file.read_text())) == []


def test_every_part_has_its_place():
    parts = {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in CHECKED}
    assert parts == set(LEVEL)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from noregret.cli.main import program", True),
        ("import noregret.cli.main", True),
        ("from noregret import protocol", True),
        ("def late():\n    from noregret.model import load", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from noregret.cli.main import program", False),
        ("from noregret.errors import InputError\nfrom noregret.stream import read", False),
    ],
)
def test_the_walk_itself_finds_an_upward_import(text, found):
    assert bool(list(upward(PACKAGE / "stream" / "reading.py", text))) is found


COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "jitclass", "cfunc", "stencil"}


def compiles(text):
    """Whether a file asks numba to compile something."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in COMPILERS and ast.unparse(node.value) in ("numba", "nb"):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            names = {alias.name for alias in node.names}
            if COMPILERS & names:
                return True
    return False


def test_only_functions_of_the_users_own_are_compiled_at_run_time():
    assert [module_of(file) for file in FILES if compiles(file.read_text())] == ["noregret.own"]


# -- what is imported when -----------------------------------------------------------------------------------------

PRINT = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def imported(code, cwd):
    """The top-level packages in memory after some code ran in a new process."""
    command = [sys.executable, "-W", "error", "-c", f"{code}\n{PRINT}"]
    done = subprocess.run(
        command, cwd=cwd, env={"PYTHONPATH": str(SOURCE), "PATH": ""}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def command(*arguments):
    """Code that runs the command and lives on."""
    return f"""
import sys
from noregret.cli.main import main
sys.argv = {["noregret", *arguments]!r}
try:
    main()
except SystemExit as exit:
    assert not exit.code, exit.code
"""


def test_the_package_alone_is_light(tmp_path):
    loaded = imported("import noregret", tmp_path)
    assert loaded.isdisjoint({"sklearn", "numba", "pandas", "pyarrow", "numpy", "scipy", "matplotlib", "polars"})


def test_help_is_light(tmp_path):
    for arguments in (("--help",), ("learn", "--help"), ("--version",)):
        loaded = imported(command(*arguments), tmp_path)
        assert loaded.isdisjoint({"numba", "numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib"})


@pytest.mark.parametrize("more", ["", "--learner ogd --loss logistic", "--save m.nr --json"])
def test_learning_from_a_file_needs_no_scikit_learn(tmp_path, more):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:-1\n")
    loaded = imported(command("learn", "rows.svm", *more.split()), tmp_path)
    assert loaded.isdisjoint({"sklearn", "pandas", "polars", "matplotlib", "river"})


def test_a_plain_run_imports_nothing_for_files_that_it_does_not_write(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:-1\n")
    loaded = imported(command("learn", "rows.svm"), tmp_path)
    assert loaded.isdisjoint({"hashlib", "msgspec", "secrets", "tempfile", "concurrent", "fractions", "csv", "random"})


def test_predicting_and_inspecting_need_no_scikit_learn(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:-1\n")
    imported(command("learn", "rows.svm", "--save", "m.nr"), tmp_path)
    for arguments in (("predict", "m.nr", "rows.svm"), ("inspect", "m.nr")):
        assert imported(command(*arguments), tmp_path).isdisjoint({"sklearn", "pandas", "polars", "matplotlib"})


def test_every_public_name_is_there():
    import noregret

    assert sorted(noregret.__all__) == sorted(dir(noregret))
    for name in dir(noregret):
        assert getattr(noregret, name) is not None


def test_the_layout_in_contributing_names_what_there_is():
    root = SOURCE.parent
    layout = (root / "CONTRIBUTING.md").read_text().split("```text\n", 1)[1].split("```", 1)[0]
    named = {word.partition(".")[0].rstrip("/") for word in layout.split() if re.fullmatch(r"\w+(\.\w+|\.\*|/)", word)}
    folders = [PACKAGE, PACKAGE / "stream", PACKAGE / "proof", root / "native"]
    files = [file for folder in folders for file in folder.iterdir() if file.suffix in (".py", ".hpp", ".cpp")]
    parts = [folder for folder in PACKAGE.iterdir() if list(folder.glob("*.py"))]
    there = {path.stem for path in (*files, *parts) if not path.stem.startswith("__") and path.stem != "_version"}
    assert there - named == set()
