"""The same rows from every source: equal vectors, whatever the format, the block size or the compression."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
import tracemalloc
from itertools import islice

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse

from noregret.errors import InputError
from noregret.stream import RowFile, Stream, read, rereadable, shuffled
from noregret.stream.base import Watched
from noregret.stream.opening import Opened
from oracle.matrix import matrix

NAMES = ["a", "b", "c"]
RNG = np.random.default_rng(7)
X = np.round(RNG.normal(size=(23, 3)), 3) * (RNG.random((23, 3)) < 0.7)
Y = np.where(RNG.random(23) < 0.5, -1.0, 1.0)
COLUMNS = {"a": X[:, 0], "label": Y, "b": X[:, 1], "c": X[:, 2]}


def zstandard(data):
    return pyarrow.compress(data, codec="zstd", asbytes=True)


def csv_text(delimiter=","):
    lines = [
        delimiter.join(COLUMNS),
        *(delimiter.join(map(repr, map(float, row))) for row in zip(*COLUMNS.values(), strict=True)),
    ]
    return "\n".join(lines).encode()


def jsonlines_text():
    rows = zip(*(map(float, column) for column in COLUMNS.values()), strict=True)
    return "\n".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows).encode()


def svmlight_text():
    lines = [
        f"{y:+g} " + " ".join(f"{i}:{v!r}" for i, v in enumerate(map(float, x))) for x, y in zip(X, Y, strict=True)
    ]
    return "\n".join(lines).encode()


def ipc_bytes(maker):
    sink, table = io.BytesIO(), pyarrow.table(COLUMNS)
    with maker(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    return sink.getvalue()


def parquet_bytes():
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(COLUMNS), sink, row_group_size=7)
    return sink.getvalue()


def npz_bytes(**arrays):
    sink = io.BytesIO()
    np.savez_compressed(sink, **arrays, y=Y)
    return sink.getvalue()


CSR = scipy.sparse.csr_matrix(X)
FILES = {
    "rows.svm": svmlight_text(),
    "rows.csv": csv_text(),
    "rows.tsv": csv_text("\t"),
    "rows.jsonl": jsonlines_text(),
    "rows.ndjson": jsonlines_text(),
    "rows.parquet": parquet_bytes(),
    "rows.arrow": ipc_bytes(pyarrow.ipc.new_file),
    "rows.ipc": ipc_bytes(pyarrow.ipc.new_stream),
    "rows.npz": npz_bytes(X=X),
    "sparse.npz": npz_bytes(data=CSR.data, indices=CSR.indices, indptr=CSR.indptr, shape=CSR.shape),
}
IN_MEMORY = {
    "arrays": lambda: (X, Y),
    "csr": lambda: (CSR, Y),
    "pandas": lambda: pandas.DataFrame(COLUMNS),
    "polars": lambda: polars.DataFrame(COLUMNS),
    "arrow table": lambda: pyarrow.table(COLUMNS),
    "record batch": lambda: pyarrow.RecordBatch.from_pydict(COLUMNS),
    "dicts": lambda: [(dict(zip(NAMES, x, strict=True)), y) for x, y in zip(X, Y, strict=True)],
    "generator": lambda: ((dict(enumerate(x)), y) for x, y in zip(X, Y, strict=True)),
}
COMPRESSIONS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard}


def same(stream: Stream) -> bool:
    found, labels = matrix(stream)
    return np.array_equal(found, X) and labels == Y.tolist()


@pytest.fixture
def standard_input(monkeypatch):
    def feed(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return feed


@pytest.mark.parametrize("block_rows", [1, 4, None])
@pytest.mark.parametrize("name", FILES)
def test_every_file_holds_the_same_rows(tmp_path, name, block_rows):
    (tmp_path / name).write_bytes(FILES[name])
    stream = read(tmp_path / name, block_rows=block_rows)
    assert same(stream)
    assert same(stream), "a second pass"
    assert stream.fraction() in (None, 1.0)


@pytest.mark.parametrize("block_rows", [1, 4, None])
@pytest.mark.parametrize("name", IN_MEMORY)
def test_every_source_in_memory_holds_the_same_rows(name, block_rows):
    assert same(read(IN_MEMORY[name](), block_rows=block_rows))


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_an_extension_is_told_by_its_beginning(tmp_path, name):
    (tmp_path / "rows").write_bytes(FILES[name])
    assert same(read(tmp_path / "rows"))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("name", FILES)
def test_standard_input_is_told_by_its_beginning(standard_input, name, compress):
    standard_input(compress(FILES[name]))
    stream = read("-")
    assert stream.source == "standard input"
    assert same(stream)


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("name", FILES)
def test_compressed_files_hold_the_same_rows(tmp_path, name, ending):
    (tmp_path / (name + ending)).write_bytes(COMPRESSIONS[ending](FILES[name]))
    assert same(read(tmp_path / (name + ending)))


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_members_of_a_compressed_file_follow_each_other(tmp_path, ending):
    compress, (first, second) = COMPRESSIONS[ending], (FILES["rows.svm"][:40], FILES["rows.svm"][40:])
    (tmp_path / "rows.svm").write_bytes(compress(first) + compress(second))
    assert same(read(tmp_path / "rows.svm"))


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("name", ["rows.svm", "rows.csv", "rows.parquet"])
def test_a_truncated_compressed_file_is_one_sentence(tmp_path, name, ending):
    (tmp_path / name).write_bytes(COMPRESSIONS[ending](FILES[name])[:-9])
    with pytest.raises(InputError, match=rf"{name}(:\d+)?: the (gzip|bzip2|xz|zstd) data are damaged or cut short"):
        same(read(tmp_path / name))


def test_a_truncated_gzip_names_the_line_reached(tmp_path):
    text = "".join(f"1 {n}:{n}\n" for n in range(200_000)).encode()
    (tmp_path / "rows.svm").write_bytes(gzip.compress(text)[:-5])
    with pytest.raises(InputError) as caught:
        for _ in read(tmp_path / "rows.svm").blocks():
            pass
    assert caught.value.line > 150_000


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"none\.svm: there is no such file"):
        read(str(tmp_path / "none.svm"))


def test_a_directory(tmp_path):
    with pytest.raises(InputError, match="is a folder that holds no files to read"):
        read(tmp_path)


def test_a_path_that_cannot_be_one():
    with pytest.raises(InputError, match="cannot be opened"):
        read("a\0b")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "rows.svm").write_text("1 1:1\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match=r"rows\.svm: may not be read: permission denied"):
        list(read(tmp_path / "rows.svm").blocks())


def test_a_temporary_copy_that_cannot_be_written(standard_input, monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    standard_input(FILES["rows.npz"])
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(InputError, match=r"standard input: a temporary copy cannot be written \(No space left"):
        read("-")


class FailingFile(io.BytesIO):
    """A file whose disk fails after the first line."""

    def read1(self, size=-1):
        if self.tell() >= 10:
            raise OSError(5, "Input/output error")
        return super().read1(10)

    def readinto1(self, buffer):
        piece = self.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def test_a_disk_that_fails_is_one_sentence_with_the_line_reached(tmp_path, monkeypatch):
    text = b"1 1:1 2:2\n1 1:1\n"
    (tmp_path / "rows.svm").write_bytes(text)
    monkeypatch.setattr("noregret.stream.opening.Input.open", lambda file: Opened(file.name, FailingFile(text)))
    with pytest.raises(InputError, match=r"rows\.svm:2: the file is damaged or cut short \(.*Input/output error"):
        list(read(tmp_path / "rows.svm").blocks())


@pytest.mark.parametrize("content", [b"", b"  \n"])
def test_an_empty_file_without_an_extension(tmp_path, content):
    (tmp_path / "rows").write_bytes(content)
    with pytest.raises(InputError, match="rows: holds no rows"):
        read(tmp_path / "rows")


def test_standard_input_and_generators_are_read_once_unless_made_rereadable(standard_input):
    standard_input(FILES["rows.csv"])
    stream = read("-")
    assert same(stream)
    with pytest.raises(InputError, match="standard input: can be read only once, and has been"):
        stream.blocks()
    kept = rereadable(read(IN_MEMORY["generator"]()))
    assert same(kept)
    assert same(kept)
    in_memory = read((X, Y))
    assert rereadable(in_memory) is in_memory
    assert read(in_memory) is in_memory


def test_a_named_pipe_is_read_once_like_standard_input(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[FILES["rows.csv"]])
    writer.start()
    stream = read(tmp_path / "pipe")
    assert same(stream)
    writer.join()
    assert not stream.rereadable


@pytest.mark.parametrize("name", ["rows.svm", "rows.csv.gz", "rows.parquet", "arrays"])
def test_the_fraction_read_rises_to_one(tmp_path, name):
    source = (X, Y)
    if name != "arrays":
        source, data = tmp_path / name, FILES[name.removesuffix(".gz")]
        source.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    stream = read(source, block_rows=2)
    found = [stream.fraction() for _ in stream.blocks()]
    assert found == sorted(found)
    assert 0 < found[0] <= found[-1] == 1.0


def test_streams_need_numpy_alone_until_a_format_asks_for_more():
    heavy = ["pyarrow", "scipy", "numba", "pandas", "polars", "sklearn"]
    code = f"import sys, noregret.stream; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- missing values


@pytest.mark.parametrize("block_rows", [1, 2, None])
def test_missing_values_are_zero_or_leave_out_their_row(tmp_path, block_rows):
    holes = np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, np.nan], [4.0, 5.0]])
    (tmp_path / "h.svm").write_text("1 0:1 1:nan\n1 0:2 1:3\n1 0:nan 1:nan\n1 0:4 1:5\n")
    (tmp_path / "h.csv").write_text("label,a,b\n1,1,\n1,2,3\n1,,nan\n1,4,5\n")
    for source in ((holes, np.ones(4)), tmp_path / "h.svm", tmp_path / "h.csv"):
        zero = read(source, missing="zero", block_rows=block_rows)
        assert np.array_equal(matrix(zero)[0], np.nan_to_num(holes))
        skip = read(source, missing="skip", block_rows=block_rows)
        assert matrix(skip)[0].tolist() == [[2.0, 3.0], [4.0, 5.0]]
    lines = [line for block in read(tmp_path / "h.csv", missing="skip").blocks() for line in block.lines]
    assert lines == [3, 5]


def test_an_infinity_is_refused_by_every_rule():
    for rule in ("error", "zero", "skip"):
        with pytest.raises(InputError, match=r"\(X, y\):2: feature 0 must be finite, got -inf"):
            matrix(read((np.array([[1.0], [-np.inf]]), [1, 1]), missing=rule))


def test_a_missing_label_leaves_out_its_row_or_is_refused():
    source = (np.ones((2, 1)), [np.nan, 1.0])
    assert matrix(read(source, missing="skip"))[1] == [1.0]
    with pytest.raises(InputError, match=r"\(X, y\):1: the label is missing"):
        matrix(read(source, missing="zero"))


# --- other orders


@pytest.mark.parametrize("block_rows", [1, 4, None])
@pytest.mark.parametrize("name", ["arrays", "csr", "dicts", "generator", "pandas"])
def test_a_shuffle_is_the_permutation_that_the_seed_says(name, block_rows):
    order = np.random.default_rng(3).permutation(len(X))
    stream = shuffled(read(IN_MEMORY[name](), block_rows=block_rows), np.random.default_rng(3))
    for _ in range(2):
        found, labels = matrix(stream)
        assert np.array_equal(found, X[order])
        assert labels == Y[order].tolist()


def test_a_shuffle_keeps_words_weights_and_lines():
    words = np.array([f"word{n}" for n in range(23)])
    weights = np.arange(23.0)
    order = np.random.default_rng(5).permutation(23)
    for source in ((X, words, weights), [({0: 1.0}, str(w), k) for w, k in zip(words, weights, strict=True)]):
        blocks = list(shuffled(read(source, block_rows=5), np.random.default_rng(5)).blocks())
        assert np.concatenate([block.labels for block in blocks]).tolist() == words[order].tolist()
        assert np.concatenate([block.weights for block in blocks]).tolist() == weights[order].tolist()
        assert np.concatenate([block.lines for block in blocks]).tolist() == (order + 1).tolist()


def test_rows_left_out_are_left_out_of_the_shuffle_too():
    holes = np.array([[1.0], [np.nan], [3.0]])
    as_dicts = [({0: v}, 1) for v in holes[:, 0].tolist()]
    found = [
        matrix(shuffled(read(s, missing="skip"), np.random.default_rng(0)))[0].tolist()
        for s in ((holes, [1, 1, 1]), as_dicts)
    ]
    assert found[0] == found[1]
    assert sorted(found[0]) == [[1.0], [3.0]]


def test_a_row_file_is_closed_with_its_block_and_then_says_so(tmp_path):
    with RowFile(read((X, Y))) as rows:
        assert same(rows)
        assert same(RowFile(rows))
        assert np.array_equal(np.sort(matrix(shuffled(rows, np.random.default_rng(1)))[0], axis=0), np.sort(X, axis=0))
    with pytest.raises(InputError, match="the temporary row file is closed"):
        same(rows)


def test_a_row_file_leaves_nothing_behind_when_the_stream_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    bad = [({"a": 1.0}, 1)] * 5000 + [({"a": None}, 1)]
    with pytest.raises(InputError, match="the rows:5001: feature 'a' is missing"):
        RowFile(read(iter(bad)))
    with RowFile(read((X, Y))):
        assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("noregret.stream.rowfile.Column.append", full)
    with pytest.raises(InputError, match=r"the temporary row file cannot be written \(No space left on device\)"):
        RowFile(read((X, Y)))


def test_a_row_file_keeps_words_that_come_after_unlabelled_rows():
    rows = [({0: 1.0}, None), ({0: 1.0}, "b"), ({0: 1.0}, "a")]
    kept = RowFile(read(rows, labels=False, block_rows=1))
    assert [label for block in kept.blocks() for label in block.labels] == ["", "b", "a"]


# --- memory


def peak(consume):
    tracemalloc.start()
    try:
        consume()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["long.svm", "long.csv", "long.npz"])
def test_memory_does_not_grow_with_the_length_of_the_file(tmp_path, name, monkeypatch):
    monkeypatch.setattr("noregret.stream.pieces.LARGEST", 2**16)

    def consume():
        for _ in read(tmp_path / name, block_rows=256).blocks():
            pass

    used = []
    for rows in (50_000, 150_000) if name != "long.npz" else (2_000, 16_000):
        if name.endswith("npz"):
            np.savez(tmp_path / name, X=np.ones((rows, 10)), y=np.ones(rows))
        elif name.endswith("csv"):
            (tmp_path / name).write_text("label,a,b\n" + "1,2.5,3\n" * rows)
        else:
            (tmp_path / name).write_text("1 1:2 5:3.5\n" * rows)
        used.append(peak(consume))
    assert used[1] < 1.5 * used[0] + 600_000


def test_a_shuffle_through_a_row_file_needs_the_memory_of_a_block_and_of_the_permutation():
    rows = 40_000

    def consume():
        stream = (({0: 1.0, **{k: float(k) for k in range(1, 20)}}, 1.0) for _ in range(rows))
        for _ in shuffled(read(stream, block_rows=256), np.random.default_rng(0)).blocks():
            pass

    assert peak(consume) < rows * 20 * 12 / 2  # half of what the rows take


# -- a stream that is watched --------------------------------------------------------------------------------------


def test_a_watched_stream_is_the_stream_and_may_end_early():
    stream, seen = read((X, Y), block_rows=5), []

    def watch(blocks):
        for block in blocks:
            seen.append(len(block))
            yield block

    watched = Watched(stream, watch)
    assert same(watched) and same(watched) and sum(seen) == 2 * len(X)
    assert (watched.source, watched.features, watched.length) == (stream.source, stream.features, stream.length)
    assert [len(block) for block in watched.head(6)] == [5, 5] and same(watched)
    assert watched.fraction() == stream.fraction() == 1.0
    assert list(Watched(stream, lambda blocks: iter(())).blocks()) == []
    assert len(list(Watched(stream, lambda blocks: islice(blocks, 2)).blocks())) == 2


def test_a_watched_stream_can_be_read_as_often_as_the_stream():
    pairs = ((dict(zip(NAMES, x, strict=True)), y) for x, y in zip(X, Y, strict=True))
    watched = Watched(read(pairs), lambda blocks: blocks)
    assert not watched.rereadable and same(watched)
    with pytest.raises(InputError, match="can be read only once"):
        watched.blocks()
