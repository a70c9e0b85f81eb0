"""Folders and patterns: the rows of many files are those of one file that holds them all, in the order of numbers."""

import gzip

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError
from noregret.stream import read

ROWS = [(x, y, colour) for x, y, colour in zip(range(12), [1, 0, 0] * 4, "abcadbeacbde", strict=True)]


def csv(rows, header="x,colour,label"):
    return header + "\n" + "".join(f"{x},{colour},{y}\n" for x, y, colour in rows)


@pytest.fixture
def folder(tmp_path):
    """Twelve rows in parts 1, 2 and 10, one of them compressed, beside files that are no parts."""
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "part-1.csv").write_text(csv(ROWS[:5]))
    (parts / "part-10.csv").write_text(csv(ROWS[7:]))
    (parts / "part-2.csv.gz").write_bytes(gzip.compress(csv(ROWS[5:7]).encode()))
    (parts / "_SUCCESS").write_text("")
    (parts / ".part-1.csv.crc").write_text("crc")
    (parts / "_temporary").mkdir()
    (parts / "_temporary" / "part-3.csv").write_text(csv(ROWS))
    (tmp_path / "whole.csv").write_text(csv(ROWS))
    return parts


def played(path, **given):
    return nr.play(nr.AdaGrad(loss="logistic"), read(path, label="label", **given))


@pytest.mark.parametrize("given", [{}, {"block_rows": 2}, {"cache": True}, {"categorical": "colour"}], ids=str)
def test_parts_are_one_stream(folder, given):
    whole = played(folder.parent / "whole.csv", **given)
    for path in (folder, str(folder / "*"), str(folder / "part-*.csv*")):
        run = played(path, **given)
        assert run.rounds == 12
        assert run.loss == whole.loss
        assert np.array_equal(run.learner.weights, whole.learner.weights)
        assert run.learner.features.names == whole.learner.features.names


def test_a_pattern_with_two_stars_looks_into_folders(folder):
    run = played(str(folder.parent / "**" / "part-[0-9]*"))
    assert run.rounds == 24


def test_the_order_is_that_of_numbers(folder):
    labels = [label for block in read(folder, label="label").blocks() for label in block.labels.tolist()]
    assert labels == [float(y) for _, y, _ in ROWS]


def test_a_second_pass_reads_all_parts_again(folder):
    stream = read(folder, label="label")
    first, second = ([len(block) for block in stream.blocks()] for _ in range(2))
    assert first == second == [5, 2, 5]


def test_a_run_on_parts_is_certified_and_verified(folder, tmp_path):
    run = nr.play(nr.OnlineGradientDescent(), read(folder, label="label"), digest=True)
    nr.certify(run, read(folder, label="label")).save(tmp_path / "r.json")
    nr.verify(tmp_path / "r.json", read(folder, label="label"))
    nr.verify(tmp_path / "r.json", read(folder.parent / "whole.csv", label="label"))


def test_empty_parts_are_passed_over(folder):
    (folder / "part-0.csv").write_text("")
    (folder / "part-3.csv").write_text("x,colour,label\n")
    (folder / "part-99.csv").write_text("")
    assert played(folder).loss == played(folder.parent / "whole.csv").loss


def test_a_wrong_row_is_named_by_its_part(folder):
    (folder / "part-2.csv.gz").write_bytes(gzip.compress(b"x,colour,label\n5,red,1\n6,7\n"))
    with pytest.raises(InputError, match=r"part-2\.csv\.gz:3: "):
        played(folder)


def test_parts_whose_columns_differ_take_in_the_new_ones(tmp_path):
    (tmp_path / "1.csv").write_text("x,label\n1,0\n2,1\n")
    (tmp_path / "2.csv").write_text("x,z,label\n1,3,0\n2,4,1\n")
    run = played(tmp_path)
    assert run.learner.features.names == ["x", "z"]
    assert run.rounds == 4


@pytest.mark.parametrize("name", ["nothing-*.csv", "*.parquet"])
def test_a_pattern_without_files_is_a_sentence(folder, name):
    with pytest.raises(InputError, match="no file matches this pattern"):
        read(str(folder / name))


def test_a_folder_without_files_is_a_sentence(tmp_path):
    (tmp_path / "_SUCCESS").write_text("")
    with pytest.raises(InputError, match="is a folder that holds no files to read"):
        read(tmp_path)


def test_only_empty_parts_are_a_sentence(tmp_path):
    (tmp_path / "1.csv").write_text("")
    (tmp_path / "2.csv").write_text("")
    with pytest.raises(InputError, match=r"2\.csv: holds no rows"):
        read(tmp_path)


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path):
    path = tmp_path / "a[1].csv"
    path.write_text(csv(ROWS))
    (tmp_path / "a1.csv").write_text(csv(ROWS[:3]))
    assert played(str(path)).rounds == 12
