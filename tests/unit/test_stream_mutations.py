"""Damaged files of every format: each is read, or refused in one sentence with the file's name."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from noregret.errors import InputError, SettingError
from noregret.stream import read
from oracle.files import good_files, mutated, mutation

GOOD = good_files(holes=True)
WHOLE_FILE = ("holds no rows", "no column is named")  # sentences about no line in particular


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mutations")


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(mutations=st.lists(mutation, max_size=4), rule=st.sampled_from(["error", "zero", "skip"]))
@example(mutations=[], rule="skip")
def test_a_damaged_file_is_read_or_refused_in_one_sentence(folder, name, mutations, rule):
    file = folder / name
    file.write_bytes(mutated(GOOD[name], mutations))
    try:
        for block in read(file, missing=rule, hash_bits=8).blocks():
            assert len(block) == len(block.labels) == len(block.lines) > 0
            assert np.isfinite(block.rows.values).all()
    except InputError as error:
        assert mutations or rule == "error", "the good file, which has holes, is read"
        assert error.source == str(file)
        assert "\n" not in str(error)
        if name in ("rows.svm", "rows.vw", "rows.csv", "rows.jsonl") and not error.sentence.startswith(WHOLE_FILE):
            assert error.line is not None, error.sentence
    except SettingError as error:
        assert mutations
        assert "\n" not in str(error)
    assert [held.name for held in folder.iterdir() if held != file and held.name not in GOOD] == []
