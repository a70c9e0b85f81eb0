"""Small good files of every format, with or without missing values, and ways to damage them."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
from hypothesis import strategies as st

SVMLIGHT = b"# head\n+1 1:0.5 7:2\n-1 qid:2 3:1e-3 # tail\n\n1 0:1\n-1 2:-4 5:6\n"
VOWPAL = b"1 2 'first|user age:0.5 tall |ad:2 sports\n-1 |user age:1e-3 |ad\n\n1 'x |user tall tall\r\n-1 | a b:4\n"
CSR = {"data": np.ones(3), "indices": np.array([0, 2, 1]), "indptr": np.array([0, 2, 3]), "shape": (2, 3)}


def good_files(holes):
    """The bytes of a file by its name; with `holes` the tables lack a number."""
    csv = b'label,price,city,"a note"\n1,2.5,Rome,"two\nlines"\n0,3,Oslo,plain\n1,%s,Rome,\n' % (b"" if holes else b"7")
    objects = (
        b'{"label": 1, "price": 2.5, "city": "Rome", "user": {"age": 3}, "at": [1, 2]}\n\n'
        b'{"label": 0, "price": 3, "city": "O\\"slo", "user": {"age": 4}, "at": [0, 5]}\r\n'
        b'{"label": 1, "price": %s, "city": null, "user": {"age": true}, "at": [1, 1]}\n' % (b"null" if holes else b"7")
    )
    table = pyarrow.table(
        {
            "label": ["yes", "no", "yes", "yes"],
            "price": [1.5, None if holes else 0.0, 2.0, 3.0],
            "city": ["Rome", "Oslo", None, "Rome"],
            "kind": pyarrow.array(["a", "b", "a", "a"]).dictionary_encode(),
        }
    )
    return {
        "rows.svm": SVMLIGHT,
        "rows.vw": VOWPAL,
        "rows.csv": csv,
        "rows.jsonl": objects,
        "objects": objects,
        "rows.tsv": csv.replace(b",", b"\t"),
        "rows.parquet": written(lambda file: pyarrow.parquet.write_table(table, file)),
        "rows.arrow": written(lambda file: by_twos(pyarrow.ipc.new_file(file, table.schema), table)),
        "rows.ipc": written(lambda file: by_twos(pyarrow.ipc.new_stream(file, table.schema), table)),
        "dense.npz": written(lambda file: np.savez(file, X=np.eye(3), y=np.array(["a", "b", "a"]))),
        "zipped.npz": written(lambda file: np.savez_compressed(file, X=np.eye(3), y=np.ones(3))),
        "sparse.npz": written(lambda file: np.savez(file, **CSR, y=np.array([1, -1]))),
        "rows.svm.gz": gzip.compress(SVMLIGHT),
        "rows.csv.bz2": bz2.compress(csv),
        "rows.svm.xz": lzma.compress(SVMLIGHT),
        "rows.csv.zst": pyarrow.compress(csv, codec="zstd", asbytes=True),
        "unnamed": SVMLIGHT,
        "rows.jsonl.gz": gzip.compress(objects),
        "zipped": gzip.compress(csv),
    }


def written(write):
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def by_twos(writer, table):
    with writer:
        writer.write_table(table, max_chunksize=2)


position = st.floats(0, 1, exclude_max=True)
mutation = st.one_of(
    st.tuples(st.just("flip"), position, st.integers(1, 255)),
    st.tuples(st.just("insert"), position, st.binary(min_size=1, max_size=6)),
    st.tuples(st.just("insert"), position, st.sampled_from([b"nan", b"inf", b" 2:", b",", b'"', b"\n", b"\0", b"x"])),
    st.tuples(st.just("delete"), position, st.integers(1, 12)),
    st.tuples(st.just("cut"), position, st.none()),
    st.tuples(st.just("repeat"), position, st.integers(1, 40)),
)


def mutated(data, mutations):
    """The bytes after each mutation in turn."""
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
