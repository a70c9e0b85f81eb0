"""Files that appear whole or not at all: what is a file, what is not, and what the dead leave behind."""

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from noregret.atomic import TEMPORARY, descriptor, has_whole, whole_file
from noregret.errors import InputError

SHARED = Path("/dev/shm")


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs a folder of files below /dev")
def test_a_file_below_dev_is_a_file(tmp_path):
    path = SHARED / f"noregret-test-{os.getpid()}"
    try:
        for said in (b"first", b"second"):
            with whole_file(path) as file:
                file.write(said)
            assert path.read_bytes() == said
    finally:
        path.unlink(missing_ok=True)


def test_a_pipe_is_written_to_as_it_comes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    with whole_file(tmp_path / "pipe") as file:
        file.write(b"some")
    assert reader.communicate(timeout=60)[0] == b"some"
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_the_output_that_is_open_is_known_by_any_name(tmp_path):
    (tmp_path / "link").symlink_to("/dev/stdout")
    assert [descriptor(name) for name in ("/dev/stdout", "/dev/fd/2", tmp_path / "link")] == [1, 2, 1]
    assert descriptor(tmp_path / "file") is None
    assert not has_whole("/dev/null") and not has_whole("/dev/stdout")
    assert has_whole(tmp_path / "file") and has_whole(tmp_path)


def test_what_a_dead_writer_left_goes_with_the_next_file(tmp_path):
    left = tmp_path / ".noregret-0123456789abcdef.part"
    left.write_bytes(b"half")
    for other in (".noregret-1-0.part", ".noregret-0123456789abcdef.part.txt", "0123456789abcdef.part"):
        (tmp_path / other).write_bytes(b"somebody's own")
    with whole_file(tmp_path / "m") as file:
        file.write(b"whole")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".noregret-0123456789abcdef.part.txt", ".noregret-1-0.part", "0123456789abcdef.part", "m"]


def test_what_a_living_writer_has_stays(tmp_path):
    with whole_file(tmp_path / "slow") as slow:
        slow.write(b"slow")
        with whole_file(tmp_path / "quick") as quick:
            quick.write(b"quick")
        assert len([path for path in tmp_path.iterdir() if TEMPORARY.fullmatch(path.name)]) == 1
    assert (tmp_path / "slow").read_bytes() == b"slow"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quick", "slow"]


def test_a_file_that_somebody_else_locked_is_not_ours_to_remove(tmp_path):
    with (tmp_path / ".noregret-00000000000000ff.part").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with whole_file(tmp_path / "m") as file:
            file.write(b"whole")
        assert Path(other.name).exists()


def test_file_and_folder_are_synced_before_it_is_said(tmp_path, monkeypatch):
    synced, real = [], os.fsync

    def noted(handle):
        synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
        real(handle)

    monkeypatch.setattr(os, "fsync", noted)
    with whole_file(tmp_path / "m") as file:
        file.write(b"whole")
    assert synced == [False, True]


def test_a_full_device_is_one_sentence():
    if not os.path.exists("/dev/full"):
        pytest.skip("needs a device that is full")
    said = r"^/dev/full: cannot be written: No space left on device$"
    with pytest.raises(InputError, match=said), whole_file("/dev/full") as file:
        file.write(b"x")


KEPT = """
import sys
from noregret.atomic import whole_file
print("second")
with whole_file("/dev/stdout") as file:
    file.write(b"third\\n")
print("fourth")
"""


def test_standard_output_that_is_a_file_keeps_what_stands_in_it(tmp_path):
    command = f'( echo first; "{sys.executable}" -c "$CODE" ) > log'
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env={**os.environ, "CODE": KEPT}, check=True, timeout=120)
    assert (tmp_path / "log").read_text().split() == ["first", "second", "third", "fourth"]
