"""Compiled once, kept on disk, and never served stale: what only makes sense with the compiler on."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret._kernel.linear import score_row, score_rows
from noregret.learner import OnlineGradientDescent
from oracle.registry import LAYOUTS, data

DRIVER = """
import noregret as nr
from mine import value, slope
from noregret.learner import OnlineGradientDescent
learner = OnlineGradientDescent(loss=nr.custom_loss(value, slope), rate="constant:0.125", radius=float("inf"))
nr.play(learner, ([[1.0], [2.0], [-1.0]], [1, -1, 1]))
print(repr(float(learner.core.weights[0])), repr(float(learner.core.state["loss"][0])))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def run_with(folder: Path, cache: Path, **files: str) -> str:
    """The driver's words, in a new process, with these modules beside it."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",  # an edit within the clock's resolution must not be masked by Python itself
        "NUMBA_CACHE_DIR": str(cache),
    }
    done = subprocess.run([sys.executable, "-c", DRIVER], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def kept(cache: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in cache.rglob("*.nb?")}


LINE = """
def value(z, y):
    return FACTOR * -y * z

def slope(z, y):
    return FACTOR * -y
"""


def linear_loss(factor: float) -> str:
    """What the driver must print for ℓ = −factor·y·z: w moves by y·x·factor/8 each round."""
    w = loss = 0.0
    for x, y in ((1.0, 1.0), (2.0, -1.0), (-1.0, 1.0)):
        loss -= factor * y * w * x
        w += factor * y * x / 8.0
    return f"{w!r} {loss!r}\n"


EDITS = {
    "a constant in the function": (
        {"mine": "def value(z, y):\n    return 2.0 * -y * z\n\ndef slope(z, y):\n    return 2.0 * -y\n"},
        {"mine": "def value(z, y):\n    return 4.0 * -y * z\n\ndef slope(z, y):\n    return 4.0 * -y\n"},
    ),
    "a global imported from another file": (
        {"mine": "from theirs import FACTOR\n" + LINE, "theirs": "FACTOR = 2.0\n"},
        {"theirs": "FACTOR = 4.0\n"},
    ),
    "an attribute of another module": (
        {
            "mine": "import theirs\n" + LINE.replace("FACTOR", "theirs.FACTOR"),
            "theirs": "FACTOR = 2.0\n",
        },
        {"theirs": "FACTOR = 4.0\n"},
    ),
    "a function that it calls": (
        {
            "mine": "from theirs import factor\n" + LINE.replace("FACTOR", "factor()"),
            "theirs": "import numba\n@numba.njit\ndef factor():\n    return 2.0\n",
        },
        {"theirs": "import numba\n@numba.njit\ndef factor():\n    return 4.0\n"},
    ),
    "an entry of an array": (
        {
            "mine": "from theirs import TABLE\n" + LINE.replace("FACTOR", "TABLE[1000]"),
            "theirs": "import numpy as np\nTABLE = np.zeros(2000)\nTABLE[1000] = 2.0\n",
        },
        {"theirs": "import numpy as np\nTABLE = np.zeros(2000)\nTABLE[1000] = 4.0\n"},
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_loss_is_not_served_stale(edit, tmp_path, cache):
    before, after = EDITS[edit]
    assert run_with(tmp_path, cache, **before) == linear_loss(2.0)
    assert run_with(tmp_path, cache, **after) == linear_loss(4.0)


def test_a_loss_of_ones_own_is_compiled_once_for_all_processes(tmp_path, cache):
    own = "def value(z, y):\n    return 3.0 * -y * z\n\ndef slope(z, y):\n    return 3.0 * -y\n"
    first = run_with(tmp_path, cache, mine=own)
    files = kept(cache)
    assert files
    assert run_with(tmp_path, cache) == first == linear_loss(3.0)
    assert kept(cache) == files


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_second_block_compiles_nothing(layout):
    X, y = data("hinge", rounds=30, columns=5, seed=1)
    learner = OnlineGradientDescent()
    kernel = learner.loss.kernel()
    learner.play(LAYOUTS[layout](X), y)
    learner.scores(LAYOUTS[layout](X))
    compiled = kernel.signatures, score_rows.signatures
    assert compiled[0]
    learner.play(LAYOUTS[layout](X[:7]), y[:7], np.ones(7))
    learner.scores(LAYOUTS[layout](X[:3]))
    OnlineGradientDescent(radius=2.0, rate="sqrt:1").play(LAYOUTS[layout](X[:7]), y[:7])
    assert (kernel.signatures, score_rows.signatures) == compiled


def test_one_example_uses_the_code_of_the_block():
    X, y = data("hinge", rounds=30, columns=5, seed=2)
    learned = nr.OnlineGradientDescent().fit(X, y)
    kernel = learned.core.loss.kernel()
    learned.predict_one(X[0])
    compiled = kernel.signatures, score_row.signatures
    for x, label in zip(X, y, strict=True):
        learned.predict_one(x)
        learned.learn_one(x, label)
    assert (kernel.signatures, score_row.signatures) == compiled


def test_two_learners_with_one_loss_share_its_code():
    assert OnlineGradientDescent(loss="huber:0.5").loss.kernel() is OnlineGradientDescent(loss="huber:2").loss.kernel()


def test_equal_functions_at_two_places_are_one_loss_on_disk_and_other_ones_are_not():
    from noregret._kernel.stamp import fingerprint

    def scaled(by):
        return lambda z, y: by * z

    assert fingerprint(scaled(2.0)) == fingerprint(scaled(2.0))
    assert fingerprint(scaled(2.0)) != fingerprint(scaled(3.0))
    assert fingerprint(scaled(np.array([0.1]))) != fingerprint(scaled(np.array([0.1 + 1e-12])))
    assert fingerprint(scaled(1)) != fingerprint(scaled(1.0))
