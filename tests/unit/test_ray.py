"""Shards on Ray: the same bits as in this process, also after a worker, and then a whole machine, was lost."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import noregret as nr
from noregret.cluster.ray_engine import RayEngine, imported
from noregret.errors import SettingError
from noregret.learner import LEARNERS
from noregret.proof.certify_shards import shard_receipt
from noregret.proof.shards import Proving
from noregret.shards.engine import Serial
from noregret.shards.part import parts_of
from noregret.shards.play import play_on
from noregret.stream import read

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'noregret[ray]'")
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers need not find the tests
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray")]
RULES = {"perceptron": "mistakes", "ogd": "uniform"}


def stream():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 12))
    return X, np.where(X @ rng.normal(size=12) + rng.normal(size=2000) > 0.0, 1, -1)


def schedule(engine, name, shards, watch=None):
    """A run with its receipt on an engine, as bytes and plain values."""
    X, y = stream()
    source = read((X, y))
    core = LEARNERS[name](**({"loss": "logistic", "radius": 3.0} if name == "ogd" else {}))
    proving = Proving(engine, core, RULES[name])
    how = {"passes": 4, "mixing": RULES[name], "watch": watch, "after": proving}
    run = play_on(engine, core, parts_of(None, source, shards, {}), source.features, **how)
    ledgers = [(one.G.tobytes(), one.loss, one.paid, one.error) for one in run.ledgers]
    receipt = shard_receipt(run, proving, gap=0.05).to_dict() if shards == 2 else None
    return run.weights.tobytes(), ledgers, run.epochs, receipt


@pytest.fixture(scope="module")
def here():
    engine = RayEngine(2)
    yield engine
    engine.close()


@pytest.mark.parametrize("shards", [1, 2, 4])
@pytest.mark.parametrize("name", RULES)
def test_ray_gives_the_same_bits(here, name, shards):
    assert schedule(here, name, shards) == schedule(Serial(), name, shards)


def pid(shard):
    return os.getpid()


def test_a_worker_that_is_killed_is_started_again(here):
    killed = []

    def kill(number, figures):
        if number in (1, 3):
            killed.append(here.each(pid)[1])
            os.kill(killed[-1], signal.SIGKILL)

    assert schedule(here, "perceptron", 4, kill) == schedule(Serial(), "perceptron", 4)
    assert len(set(killed)) == 2 and not set(killed) & set(here.each(pid))


def failing(shard, number):
    raise SettingError(f"the sentence of {number}")


def test_an_error_of_a_shard_is_the_users_sentence(here):
    schedule(here, "perceptron", 2)
    with pytest.raises(SettingError, match=r"^the sentence of 7$"):
        here.each(failing, 7)


def test_the_same_from_python_and_a_process_that_uses_ray_already(here):
    with pytest.raises(SettingError, match="uses Ray already"):
        nr.play_shards(nr.Perceptron(), stream(), cluster="local:1")


NODE = """
import sys
sys.path.insert(0, sys.argv[1])
from ray.cluster_utils import Cluster
from noregret.cluster.ray_engine import RayEngine, imported
from noregret.shards.engine import Serial
from unit.test_ray import pid, schedule
imported()
head = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=head)
other = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
engine = RayEngine(None, cluster.address)
before = []
def lose(number, figures):
    if number == 2:
        before.extend(engine.each(pid))
        cluster.remove_node(other, allow_graceful=False)
same = schedule(engine, "ogd", 4, lose) == schedule(Serial(), "ogd", 4)
moved = len(set(before) - set(engine.each(pid)))
engine.close()
cluster.shutdown()
print("same" if same else "different", moved, "moved")
"""


def test_a_whole_machine_that_is_lost(tmp_path):
    """Two nodes in one machine, each with workers; one of them is killed in the middle of the run."""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    command = [sys.executable, "-c", NODE, tests]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    words = done.stdout.split()
    assert words[-3] == "same" and int(words[-2]) >= 1, done.stdout[-500:]


def test_without_ray_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SettingError, match=r"pip install 'noregret\[ray\]'"):
        imported()
