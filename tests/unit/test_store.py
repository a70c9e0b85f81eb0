"""Files that are opened through pyarrow's filesystems: the same rows as from the path, in the same order."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import noregret as nr
from noregret.stream import store

TABLE = pa.table({"a": np.arange(30.0), "label": np.arange(30) % 2})
TEXT = "a,label\n" + "".join(f"{i},{i % 2}\n" for i in range(30))


def rows(path):
    return [(block.rows.values.tolist(), block.labels.tolist()) for block in nr.read(path).blocks()]


@pytest.fixture
def folder(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    feather.write_feather(TABLE, tmp_path / "t.arrow")
    (tmp_path / "t.csv").write_text(TEXT)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    np.savez(tmp_path / "t.npz", X=np.arange(30.0)[:, None], y=np.arange(30) % 2)
    return tmp_path


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv", "t.csv.gz", "t.npz"])
def test_a_file_has_the_rows_that_its_path_has(folder, name):
    assert rows(f"file://{folder}/{name}") == rows(folder / name)


def test_a_folder_is_one_stream_in_the_order_of_its_numbers(tmp_path):
    for part in ("part-10", "part-2", "sub/part-1", "_left/out", "sub/.left"):
        (tmp_path / part).parent.mkdir(exist_ok=True)
        (tmp_path / f"{part}.csv").write_text(f"a,label\n{len(part)},1\n")
    assert rows(f"file://{tmp_path}") == rows(tmp_path) and len(rows(tmp_path)) == 3
    run = nr.play(nr.Perceptron(), f"file://{tmp_path}/")
    assert run.rounds == 3


def test_a_run_is_certified_verified_and_gone_on_with(folder, tmp_path):
    (tmp_path / "parts").mkdir()
    for part in (2, 10, 1):
        pq.write_table(TABLE.slice(part, 5), tmp_path / "parts" / f"part-{part}.parquet")
    address = f"file://{tmp_path}/parts"
    run = nr.play(nr.OnlineGradientDescent(), address)
    receipt = nr.certify(run, address)
    assert len(nr.verify(receipt, address).checks) == len(nr.verify(receipt, tmp_path / "parts").checks)


@pytest.mark.parametrize(
    "ending, sentence",
    [
        ("none.csv", "there is no such file"),
        ("*.csv", "a pattern must be of files of this machine: give the folder"),
        ("_empty", "there is no such file"),
    ],
)
def test_what_is_not_there_is_a_sentence(tmp_path, ending, sentence):
    with pytest.raises(nr.InputError, match=sentence):
        nr.read(f"file://{tmp_path}/{ending}")


def test_a_store_has_no_cache(folder):
    with pytest.raises(nr.InputError, match="cannot be cached: only files of this machine"):
        nr.read(f"file://{folder}/t.csv", cache=True)


def test_a_stream_of_a_broker_has_no_rows():
    with pytest.raises(nr.InputError, match="is a stream of events, not of rows"):
        nr.read("kafka://localhost/clicks")


def test_an_address_that_cannot_be_one_shows_no_key():
    with pytest.raises(nr.InputError, match="cannot be opened") as error:
        nr.read("s3://key:secret@bu cket/a.csv?region=x")
    assert "secret@" not in str(error.value).partition(" (")[0]
    assert store.shown("s3://k:s@b/c?x=1") == "s3://b/c"
