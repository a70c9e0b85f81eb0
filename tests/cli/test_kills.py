"""Killed at random moments, also as process 1 of a namespace: nothing lost, no later failure, nothing left behind."""

import random
import shutil
import subprocess

import pytest
from kills import NAMESPACE, WRITES, prepared, trial


def namespaces():
    found = shutil.which("unshare") is not None
    return found and subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("before", [(), tuple(NAMESPACE)], ids=["plain", "process 1"])
def test_a_kill_loses_nothing_and_leaves_nothing(tmp_path, before):
    if before and not namespaces():
        pytest.skip("needs unshare, and the right to use it")
    prepared(tmp_path)
    rng, remains = random.Random(3), 0
    for kind in (*WRITES, "save", "resume", "predictions")[: 4 if before else 8]:
        _, some, lost, failed, left = trial(kind, tmp_path, rng.uniform(0.0, 0.002), before)
        assert (lost, failed, left) == ("", "", [])
        remains += bool(some)
    assert remains, "no kill came while a file was being written"
