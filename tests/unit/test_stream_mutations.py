"""Damaged files of every format: each is read, or refused in one sentence with the file's name."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from noregret.errors import InputError, SettingError
from noregret.stream import read

SVMLIGHT = b"# head\n+1 1:0.5 7:2\n-1 qid:2 3:1e-3 # tail\n\n1 0:1\n-1 2:-4 5:6\n"
CSV = b'label,price,city,"a note"\n1,2.5,Rome,"two\nlines"\n0,3,Oslo,plain\n1,,Rome,\n'
TABLE = pyarrow.table(
    {
        "label": [1, 0, 1, 1],
        "price": [1.5, None, 2.0, 3.0],
        "city": ["Rome", "Oslo", None, "Rome"],
        "kind": pyarrow.array(["a", "b", "a", "a"]).dictionary_encode(),
    }
)


def arrow_bytes(maker):
    sink = io.BytesIO()
    with maker(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    return sink.getvalue()


def parquet_bytes():
    sink = io.BytesIO()
    pyarrow.parquet.write_table(TABLE, sink)
    return sink.getvalue()


def npz_bytes(save, **arrays):
    sink = io.BytesIO()
    save(sink, **arrays)
    return sink.getvalue()


CSR = {"data": np.ones(3), "indices": np.array([0, 2, 1]), "indptr": np.array([0, 2, 3]), "shape": (2, 3)}
GOOD = {
    "rows.svm": SVMLIGHT,
    "rows.csv": CSV,
    "rows.parquet": parquet_bytes(),
    "rows.arrow": arrow_bytes(pyarrow.ipc.new_file),
    "rows.ipc": arrow_bytes(pyarrow.ipc.new_stream),
    "dense.npz": npz_bytes(np.savez, X=np.eye(3), y=np.array(["a", "b", "a"])),
    "zipped.npz": npz_bytes(np.savez_compressed, X=np.eye(3), y=np.ones(3)),
    "sparse.npz": npz_bytes(np.savez, **CSR, y=np.ones(2)),
    "rows.svm.gz": gzip.compress(SVMLIGHT),
    "rows.csv.bz2": bz2.compress(CSV),
    "rows.svm.xz": lzma.compress(SVMLIGHT),
    "rows.csv.zst": pyarrow.compress(CSV, codec="zstd", asbytes=True),
    "unnamed": SVMLIGHT,
    "zipped": gzip.compress(CSV),
}
WHOLE_FILE = ("holds no rows", "there is no column")  # sentences about no line in particular

position = st.floats(0, 1, exclude_max=True)
mutation = st.one_of(
    st.tuples(st.just("flip"), position, st.integers(1, 255)),
    st.tuples(st.just("insert"), position, st.binary(min_size=1, max_size=6)),
    st.tuples(st.just("delete"), position, st.integers(1, 12)),
    st.tuples(st.just("cut"), position, st.none()),
    st.tuples(st.just("repeat"), position, st.integers(1, 40)),
)


def mutated(data, mutations):
    for kind, where, what in mutations:
        at = int(where * len(data))
        if kind == "flip" and data:
            data = data[:at] + bytes([data[at] ^ what]) + data[at + 1 :]
        elif kind == "insert":
            data = data[:at] + what + data[at:]
        elif kind == "delete":
            data = data[:at] + data[at + what :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "repeat":
            data = data[: at + what] + data[at:]
    return data


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
        if name in ("rows.svm", "rows.csv") and not error.sentence.startswith(WHOLE_FILE):
            assert error.line is not None, error.sentence
    except SettingError as error:
        assert mutations
        assert "\n" not in str(error)
    assert [held.name for held in folder.iterdir() if held != file and held.name not in GOOD] == []
