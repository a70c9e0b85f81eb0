"""Where the process of a command begins: settings before anything large, and a quiet end if it is stopped there."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

SOURCE = str(Path(__file__).parents[2] / "src")


def run(code, **environment):
    environment = {**os.environ, "PYTHONPATH": SOURCE, **environment}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


def test_stopped_while_it_imports_it_ends_without_a_traceback():
    code = """
import sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "noregret.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stop())
from noregret.cli.start import main
main()
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_threads_of_linear_algebra_do_not_spin_unless_the_user_says_so():
    code = """
import atexit, os, sys
from noregret.cli.start import main
sys.argv = ["noregret", "--version"]
atexit.register(lambda: print(os.environ["OPENBLAS_THREAD_TIMEOUT"]))
main()
"""
    assert run(code, OPENBLAS_THREAD_TIMEOUT="9").stdout.split()[-1] == "9"
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_THREAD_TIMEOUT"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**environment, "PYTHONPATH": SOURCE}, capture_output=True, text=True
    )
    assert done.stdout.split()[-1] == "4"


def test_garbage_is_looked_for_once_the_command_runs():
    code = """
import atexit, gc, sys
from noregret.cli.start import main
sys.argv = ["noregret", "--version"]
atexit.register(lambda: print(gc.isenabled()))
main()
"""
    assert run(code).stdout.split()[-1] == "True"


def test_what_is_not_used_is_not_read_and_can_be_used_later(tmp_path):
    rows = tmp_path / "rows.svm"
    rows.write_text("1 1:1\n-1 2:1\n")
    code = f"""
import atexit, sys
from noregret.cli.start import main
sys.argv = ["noregret", "learn", {str(rows)!r}]
def at_the_end():
    print([name for name in ("email", "yaml", "numpy.ma", "scipy.linalg") if name in sys.modules])
    import importlib.metadata
    print(importlib.metadata.version("numpy"))
atexit.register(at_the_end)
main()
"""
    done = run(code)
    assert done.stdout.splitlines()[-2:] == ["[]", numpy.__version__], done.stderr


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["nothing"], 2), (["learn", "nowhere.svm"], 2)])
@pytest.mark.parametrize("watched", ["", "sys.setprofile(lambda *_: None);"])
def test_it_ends_with_the_code_of_the_command_and_all_of_its_output(words, code, watched):
    """It leaves without taking itself apart, unless somebody watches, who may have something to do at the end."""
    began = f"import atexit, sys; sys.argv = ['noregret', *{words!r}]; atexit.register(print, 'the end');{watched}"
    done = run(f"{began}\nfrom noregret.cli.start import main; main()")
    assert done.returncode == code
    assert done.stdout.endswith("the end\n")
    assert len(done.stdout.splitlines()) == 1 + (code == 0)
    assert len(done.stderr.splitlines()) == (code != 0)


@pytest.mark.skipif(os.name != "posix", reason="a shell that closes streams")
@pytest.mark.parametrize(
    ("words", "code"), [("--version >&-", 0), ("learn nowhere.svm >&-", 2), ("learn nowhere.svm >&- 2>&-", 2)]
)
def test_streams_that_are_closed_change_no_exit_code(words, code):
    command = f'"{sys.executable}" -m noregret {words}'
    done = subprocess.run(
        command, shell=True, env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_an_error_that_cannot_be_said_is_told_by_the_exit_code():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "noregret", "learn", "nowhere.svm"],
            env={**os.environ, "PYTHONPATH": SOURCE},
            stderr=full,
            timeout=120,
        )
    assert done.returncode == 2


# A library that is interrupted where nothing can be raised goes on, and fails in words of its own.
INTERRUPTED = """
import os, signal, sys
from noregret.cli import main

class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

def interrupted(**options):
    late = Late()
    del late
    raise RuntimeError("no object yet")

main._command = lambda words: interrupted
main.main()
"""


def test_what_a_ctrl_c_makes_of_a_library_is_not_shown():
    done = run(INTERRUPTED)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    done = run(INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", "pass"))
    assert done.returncode == 1 and "RuntimeError: no object yet" in done.stderr  # that is a bug, and shown
