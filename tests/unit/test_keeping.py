"""Machine code on disk: where it is kept, when it is used again, and what happens where nothing can be written.

Permissions do not bind every user who runs tests, so a folder that cannot be written is a path through a file.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from noregret._kernel.vector import norm2

SOURCE = Path(__file__).parents[2] / "src" / "noregret"
DRIVER = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from noregret._kernel.keeping import package_folder
    from noregret._kernel.vector import norm2, norm1
    import numpy as np, sys
    print(norm2(np.array([3.0, 4.0])), norm1(np.array([3.0, 4.0])))
    print(package_folder())
    print(len(caught))
    print("scipy.linalg" in sys.modules)
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of the package whose kernels have a file where their `__pycache__` would be."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "site" / "noregret", ignore=ignored)
    (tmp_path / "site" / "noregret" / "_kernel" / "__pycache__").write_text("in the way")
    return tmp_path / "site"


def said(site, **environment):
    """(figures, folder, warnings, whether the compiler was readied) of a new process."""
    kept = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment = {**kept, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run([sys.executable, "-c", DRIVER], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures, folder, warned, readied = done.stdout.splitlines()
    assert figures == "25.0 7.0"
    return folder, int(warned), readied == "True"


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in Path(folder).glob("*.nbc")}


def test_a_read_only_installation_keeps_its_code_in_the_users_cache_folder(installed, tmp_path):
    cache = tmp_path / "cache"
    assert said(installed, XDG_CACHE_HOME=str(cache)) == (str(cache / "noregret"), 0, True)
    kept = files(cache / "noregret")
    assert {name.partition("-")[0] for name in kept} == {"vector.norm1", "vector.norm2"}
    assert said(installed, XDG_CACHE_HOME=str(cache)) == (str(cache / "noregret"), 0, False)
    assert files(cache / "noregret") == kept


def test_without_the_variable_it_is_the_cache_folder_of_the_platform(installed, tmp_path):
    folder, warned, _ = said(installed, HOME=str(tmp_path / "home"), LOCALAPPDATA=str(tmp_path / "home"))
    assert Path(folder).is_relative_to(tmp_path / "home") and Path(folder).name == "noregret"
    assert warned == 0


def test_where_nothing_can_be_written_every_process_compiles_with_one_warning(installed, tmp_path):
    (tmp_path / "home").write_text("no folder")
    for _ in range(2):
        assert said(installed, HOME=str(tmp_path / "home"), XDG_CACHE_HOME=str(tmp_path / "home")) == ("None", 1, True)


def test_numbas_own_variable_decides(installed, tmp_path):
    chosen = tmp_path / "chosen"
    assert said(installed, NUMBA_CACHE_DIR=str(chosen), XDG_CACHE_HOME=str(tmp_path / "other"))[0] == str(chosen)
    assert files(chosen) and not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "damaged",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:-2000] + bytes([data[-2000] ^ 1]) + data[-1999:],  # in the bitcode, which is read seldom
        lambda data: data[32:],
    ],
    ids=["half", "empty", "a bit", "without digest"],
)
def test_a_damaged_file_is_compiled_anew(installed, tmp_path, damaged):
    cache = tmp_path / "cache"
    said(installed, XDG_CACHE_HOME=str(cache))
    whole = {path: path.read_bytes() for path in (cache / "noregret").glob("*.nbc")}
    for path, data in whole.items():
        path.write_bytes(damaged(data))
    assert said(installed, XDG_CACHE_HOME=str(cache))[2]
    assert not said(installed, XDG_CACHE_HOME=str(cache))[2]


PASS = """
import sys
import numpy as np
from noregret.learner import Perceptron
from noregret.stream.block import Sparse
rows = Sparse(np.arange(4), np.arange(3, dtype=np.uint32), np.ones(3), 3)
learner = Perceptron()
learner.play(rows, np.array([1.0, -1.0, 1.0]))
print(learner.weights.tolist())
large = ("numba.np.arrayobj", "numba.cpython.unicode", "numba.cpython.listobj", "numpy.ma", "yaml")
print([name for name in large if name in sys.modules])
"""


def test_a_kept_loop_does_not_import_what_it_was_compiled_with():
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", PASS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[1.0, -1.0, 1.0]", "[]"]


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(3),
        np.zeros((4, 2), dtype=np.float32),
        np.zeros((4, 2)).T,
        np.zeros(8)[::2],
        np.frombuffer(b"text", dtype=np.uint8),
        np.zeros(2, dtype=[("a", "f8"), ("b", "i8", 3)]),
        (np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.uint32), np.zeros(2)),
        (np.zeros(3), 1.0),
        (),
        2.5,
    ],
    ids=str,
)
def test_arrays_have_the_types_that_numba_gives_them(value):
    assert norm2.typeof_pyval(value) == numba.typeof(value)


@pytest.mark.parametrize(("settings", "expected"), [(None, "False 0"), ("show_help: 1\n", "True 1")])
def test_a_settings_file_of_numbas_is_read_where_there_is_one(tmp_path, settings, expected):
    pytest.importorskip("yaml")
    if settings is not None:
        (tmp_path / ".numba_config.yaml").write_text(settings)
    code = "import noregret._kernel, numba, sys; print('yaml' in sys.modules, numba.config.SHOW_HELP); import yaml"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, expected, "")


OUTER = """
from noregret._kernel import compiled
from noregret._kernel.inner import inner
@compiled
def outer(z):
    return 10.0 * inner(z)
"""
INNER = "from noregret._kernel import compiled\n@compiled\ndef inner(z):\n    return z[0]\n"
ASK = "import numpy as np; from noregret._kernel.outer import outer; print(outer(np.array([3.0, 4.0])))"


def answer(site, cache, command):
    """What a new process prints that keeps its machine code in `cache`."""
    environment = {**os.environ, "PYTHONPATH": str(site), "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "inner",
    [
        INNER,
        # what an overload stands for is not in the function that calls it by name
        "from numba.extending import overload\ndef inner(z):\n    return 0.0\n"
        "@overload(inner, strict=False)\ndef _inner(z):\n    return lambda z: z[0]\n",
    ],
    ids=["function", "overload"],
)
def test_what_is_edited_in_another_file_is_compiled_anew(installed, tmp_path, inner):
    kernels = installed / "noregret" / "_kernel"
    (kernels / "outer.py").write_text(OUTER)
    for entry, expected in (("z[0]", "30.0"), ("z[1]", "40.0")):
        (kernels / "inner.py").write_text(inner.replace("z[0]", entry))
        assert answer(installed, tmp_path / "cache", ASK) == expected


def test_what_is_kept_can_be_compiled_into_another_function(installed, tmp_path):
    kernels, cache = installed / "noregret" / "_kernel", tmp_path / "cache"
    (kernels / "outer.py").write_text(OUTER)
    (kernels / "inner.py").write_text(
        "from noregret._kernel import compiled\n@compiled\ndef inner(z):\n    return z[1]\n"
    )
    inner = "import numpy as np; from noregret._kernel.inner import inner; print(inner(np.array([3.0, 4.0])))"
    assert answer(installed, cache, inner) == "4.0"
    kept = files(cache)
    assert answer(installed, cache, ASK) == "40.0"
    assert {name: at for name, at in files(cache).items() if name in kept} == kept, (
        "it was not loaded but compiled anew"
    )
    assert len(files(cache)) == 2
    assert answer(installed, cache, inner.replace("print", "from noregret._kernel.outer import outer; print")) == "4.0"
    assert answer(installed, cache, ASK) == "40.0"


FACTORY = """
from noregret._kernel import compiled
from noregret._kernel.bits import apart
def made(factor):
    @compiled
    def inner(x):
        apart()
        return factor * x
    @compiled
    def outer(x):
        return inner(x) + 1.0
    return outer
"""


def test_what_two_processes_compiled_can_be_loaded_into_a_third(installed, tmp_path):
    """The functions of a loss are called by one name in every loop: numba would take the first for all of them."""
    (installed / "noregret" / "_kernel" / "factory.py").write_text(FACTORY)
    ask = "from noregret._kernel.factory import made; print([made(factor)(1.0) for factor in {}])"
    cache = tmp_path / "cache"
    assert answer(installed, cache, ask.format([2.0])) == "[3.0]"
    assert answer(installed, cache, ask.format([5.0])) == "[6.0]"
    kept = files(cache)
    assert answer(installed, cache, ask.format([2.0, 5.0])) == "[3.0, 6.0]"
    assert answer(installed, cache, ask.format([5.0, 2.0])) == "[6.0, 3.0]"
    assert files(cache) == kept, "the third compiled for itself"
