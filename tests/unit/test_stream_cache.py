"""The cache of a file's rows: whatever happens to it or to the file, the rows are those of the file."""

import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret._native import checksum
from noregret.stream.cache import origin as origins
from noregret.stream.cache.cached import Cached
from noregret.stream.cache.file import CacheFile, Damaged
from noregret.stream.cache.origin import places
from oracle.checksum import checksum as by_definition

SOURCE = Path(__file__).parents[2] / "src"
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

SVM = "".join(f"{'+1' if i % 3 else '-1'} {i % 5 + 1}:{i / 7!r} {i + 9}:{1 / (i + 1)!r}\n" for i in range(40))
MAIL = """label,subject,country,length
spam,Win a prize NOW,NG,120
ham,Minutes of the meeting,DE,900
spam,"Win money, now",US,80
ham,Lunch on Tuesday,FR,
spam,A prize for you,NG,60
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """The user's cache folder, kept out of the way."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(SVM)
    return path


def beside(path):
    return Path(f"{path}.nrcache")


def said(stream):
    """All that a pass over a stream tells, or the sentence with which it ends."""
    found = []
    try:
        for block in stream.blocks():
            rows = block.rows
            for t in range(len(block)):
                one = rows.slice(t, t + 1)
                entries = [one.values.dtype.str, one.values.tobytes()]
                if hasattr(one, "indices"):
                    entries += [one.indices.tobytes(), one.columns]
                found.append((entries, repr(block.labels[t]), block.lines[t].item(), block.source))
    except nr.InputError as error:
        return str(error), found
    return found, stream.features.to_dict()


def outcome(path, **how):
    """What reading a file comes to, opening included."""
    try:
        return said(nr.read(path, **how))
    except nr.NoregretError as error:
        return str(error)


def opened(path):
    """What a file's cache says of itself."""
    with CacheFile(str(beside(path))) as found:
        return found


def is_sound(path, **how):
    found = nr.read(path, cache=True, **how).sound()
    if found is not None:
        found.close()
    return found is not None


# -- the same rows -----------------------------------------------------------------------------------------------------

numbers = st.one_of(st.floats(width=64), st.integers(-9, 9).map(float), st.just(0.0))
labels = st.sampled_from(["1", "-1", "0", "spam", "ham", "2.5", "", "nan"])


@st.composite
def svmlight(draw):
    lines = []
    for _ in range(draw(st.integers(0, 12))):
        pairs = draw(st.dictionaries(st.integers(0, 60), numbers, max_size=4))
        label = draw(st.sampled_from(["1", "-1", "spam", "2"]))
        lines.append(" ".join([label, *(f"{i}:{value!r}" for i, value in pairs.items())]))
        lines += draw(st.sampled_from([[], [], ["# nothing"], [""], ["1 3:x"]]))
    return ".svm", "\n".join(lines).encode(), {}


cell = st.one_of(st.sampled_from(["", "NA", "a", "b c", "Rome, Oslo", "7"]), numbers.map(repr))


@st.composite
def delimited(draw):
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["x", "label", "y", "z"])
    for _ in range(draw(st.integers(0, 12))):
        writer.writerow([draw(numbers), draw(labels), draw(cell), draw(cell)])
    how = draw(st.sampled_from([{}, {"text": ["y"]}, {"text": ["y"], "hash_bits": 3}, {"ignore": ["z"]}]))
    return ".csv", text.getvalue().encode(), how


@st.composite
def archives(draw):
    import io

    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from([np.float64, np.float32, np.int16]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    X = (rng.integers(-2, 3, (rows, columns)) * rng.random((rows, columns)) * 9).astype(kind)
    y = rng.choice([["no", "yes"], [0.0, 1.0]][draw(st.integers(0, 1))], rows)
    held = io.BytesIO()
    if draw(st.booleans()):
        np.savez(held, X=X, y=y)
    else:
        from scipy.sparse import csr_matrix

        sparse = csr_matrix(X)
        shape = np.array(sparse.shape)
        np.savez(held, data=sparse.data, indices=sparse.indices, indptr=sparse.indptr, shape=shape, y=y)
    return ".npz", held.getvalue(), {}


@st.composite
def parquets(draw):
    import io

    import pyarrow
    from pyarrow import parquet

    rows = draw(st.lists(st.tuples(numbers, labels, cell), min_size=1, max_size=9))
    columns = {name: list(column) for name, column in zip(("x", "label", "y"), zip(*rows, strict=True), strict=True)}
    held = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), held)
    return ".parquet", held.getvalue(), draw(st.sampled_from([{}, {"text": ["y"], "hash_bits": 4}]))


@FEW
@given(
    st.one_of(svmlight(), delimited(), archives(), parquets()),
    st.sampled_from(["error", "zero", "skip"]),
    st.sampled_from([None, None, 1, 3]),
    st.booleans(),
)
def test_the_rows_are_the_same_with_and_without_a_cache(tmp_path, made, missing, block_rows, packed):
    ending, content, how = made
    path = tmp_path / f"rows{ending}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    beside(path).unlink(missing_ok=True)
    how = {**how, "missing": missing, "block_rows": block_rows}
    expected = outcome(path, **how)
    assert outcome(path, **how, cache=True) == expected  # made on the way
    assert outcome(path, **how, cache=True) == expected  # from the cache, if the rows could be read at all
    assert outcome(path, **{**how, "block_rows": 2}, cache=True)[0] == outcome(path, **{**how, "block_rows": 2})[0]


@pytest.mark.parametrize("kind", [".svm", ".svm.gz", ".csv"])
def test_a_run_is_the_same_bit_for_bit(tmp_path, kind):
    path = tmp_path / f"rows{kind}"
    path.write_bytes({".svm": SVM.encode(), ".svm.gz": gzip.compress(SVM.encode()), ".csv": MAIL.encode()}[kind])
    runs = []
    for cache in (False, True, True):
        core = nr.AdaGrad().core
        stream = nr.read(path, missing="zero", cache=cache)
        run = nr.play(core, stream, passes=3, digest=True)
        runs.append((run.digest, core.weights.tobytes(), run.loss, core.features.to_dict()))
    assert runs[0] == runs[1] == runs[2]
    assert is_sound(path)


def test_words_and_the_values_of_slots_come_as_far_as_the_rows_came(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text(MAIL)
    how = {"text": ["subject"], "missing": "zero", "block_rows": 1}
    list(nr.read(path, **how, cache=True).blocks())
    plain, cached = nr.read(path, **how), nr.read(path, **how, cache=True)
    for ours, theirs in zip(plain.blocks(), cached.blocks(), strict=True):
        assert ours.labels.tolist() == theirs.labels.tolist()
        assert plain.features.to_dict() == cached.features.to_dict()


def test_a_recipe_that_knows_values_already_keeps_its_own(tmp_path):
    path, other = tmp_path / "mail.csv", tmp_path / "more.csv"
    path.write_text(MAIL)
    other.write_text(MAIL.replace("prize", "price").replace("NG", "PT"))
    found = []
    for cache in (False, True, True):
        features = nr.read(path, hash_bits=4, missing="zero").features
        list(nr.read(path, features=features, missing="zero").blocks())
        list(nr.read(other, features=features, missing="zero", cache=cache).blocks())
        found.append(features.to_dict())
    assert found[0] == found[1] == found[2]


# -- damage ------------------------------------------------------------------------------------------------------------


def test_damage_in_any_byte_is_seen_before_a_row_is_used(file, tmp_path):
    file.write_text("".join(SVM.splitlines(keepends=True)[:4]))
    expected = outcome(file, block_rows=3)
    list(nr.read(file, block_rows=3, cache=True).blocks())
    whole = beside(file).read_bytes()
    for at in [*range(500), *range(4096, len(whole))]:
        beside(file).write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
        assert outcome(file, block_rows=3, cache=True) == expected
        assert opened(file).contents.rows == len(expected[0])


@pytest.mark.parametrize("kept", [0, 1, 15, 16, 60, 4095, 4096, 4100, 4300, -1])
def test_a_cache_that_is_cut_off_is_made_anew(file, kept):
    expected = outcome(file, block_rows=7)
    list(nr.read(file, block_rows=7, cache=True).blocks())
    whole = beside(file).read_bytes()
    beside(file).write_bytes(whole[:kept])
    assert outcome(file, block_rows=7, cache=True) == expected
    assert is_sound(file)


def test_damage_met_half_way_does_not_disturb_the_run(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text(MAIL)
    how = {"text": ["subject"], "missing": "zero", "block_rows": 1}
    expected = outcome(path, **how)
    list(nr.read(path, **how, cache=True).blocks())
    whole = bytearray(beside(path).read_bytes())
    with CacheFile(str(beside(path))) as found:
        end = found._page.end
    whole[end - 20] ^= 1  # in the last block
    beside(path).write_bytes(whole)
    stream = nr.read(path, **how, cache=True)
    assert isinstance(stream, Cached)
    found = stream.sound()
    assert found is not None  # nothing shows at first
    found.close()
    assert said(stream) == expected
    with CacheFile(str(beside(path))) as found:
        assert len(list(found.blocks("x"))) == 5


def test_a_file_that_is_no_cache_is_left_alone(file):
    beside(file).write_text("my own notes, under this name by chance")
    with pytest.raises(nr.InputError, match=r"which is not a cache: move that away"):
        list(nr.read(file, cache=True).blocks())
    assert beside(file).read_text().startswith("my own notes")


@given(st.lists(st.integers(0, 2**64 - 1), max_size=11), st.integers(0, 10), st.integers(0, 63))
@settings(deadline=None)
def test_a_checksum_tells_every_change_of_one_word(words, at, bit):
    held = np.array(words, dtype=np.uint64)
    before = checksum(held)
    assert before == by_definition(words)
    assert checksum(held[:-1].copy()) != before or not words
    if at < len(words):
        held[at] ^= np.uint64(1 << bit)
        assert checksum(held) != before


# -- a source that changed ---------------------------------------------------------------------------------------------


def labelled(path, **how):
    return [label for block in nr.read(path, **how).blocks() for label in block.labels.tolist()]


def test_other_content_of_the_same_size_and_time_is_seen(file):
    list(nr.read(file, cache=True).blocks())
    times = (os.stat(file).st_atime_ns, os.stat(file).st_mtime_ns)
    with file.open("r+b") as held:
        held.write(b"+1")
    os.utime(file, ns=times)
    assert labelled(file, cache=True) == labelled(file)
    assert labelled(file, cache=True)[0] == 1.0


def test_a_change_within_the_tick_of_the_clock_is_seen(file, monkeypatch):
    """The times tell nothing of a file that was written just before it was read: then every byte is compared."""
    list(nr.read(file, cache=True).blocks())
    kept = opened(file).origin
    assert kept.recent
    file.write_text("+1" + SVM[2:])
    monkeypatch.setattr(origins.Origin, "of", lambda path: kept)  # it looks the same
    assert origins.still(str(file), kept) is None
    assert labelled(file, cache=True)[0] == 1.0


def test_an_older_file_is_not_read_again(file, monkeypatch):
    before = time.time_ns() - 3600 * 10**9
    os.utime(file, ns=(before, before))
    later = time.time_ns() + 10 * 10**9
    monkeypatch.setattr(origins.time, "time_ns", lambda: later)
    list(nr.read(file, cache=True).blocks())
    monkeypatch.setattr(origins, "same_bytes", None)  # nobody may call it
    assert is_sound(file)


def test_a_file_that_was_only_touched_keeps_its_cache(file):
    list(nr.read(file, cache=True).blocks())
    inode = os.stat(beside(file)).st_ino
    os.utime(file, ns=(10**18, 10**18))
    assert labelled(file, cache=True) == labelled(file)
    assert os.stat(beside(file)).st_ino == inode
    assert opened(file).origin.modified == 10**18


def test_more_rows_make_a_new_cache(file):
    list(nr.read(file, cache=True).blocks())
    with file.open("a") as held:
        held.write("+1 3:4\n")
    assert len(labelled(file, cache=True)) == 41
    assert opened(file).contents.rows == 41


def test_a_file_that_changes_while_it_is_read_gets_no_cache(file):
    blocks = nr.read(file, block_rows=4, cache=True).blocks()
    next(blocks)
    with file.open("a") as held:
        held.write("+1 3:4\n")
    list(blocks)
    assert not beside(file).exists()


# -- settings ----------------------------------------------------------------------------------------------------------


def test_other_settings_make_it_anew(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text(MAIL)
    for how in ({}, {"categorical": ["subject"]}, {"hash_bits": 9}, {"ignore": ["country"]}, {"label": "country"}):
        assert not is_sound(path, missing="zero", **how)
        assert outcome(path, missing="zero", **how, cache=True) == outcome(path, missing="zero", **how)
        assert is_sound(path, missing="zero", **how)


def test_the_rule_for_missing_values_is_applied_to_the_same_cache(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text(MAIL)
    list(nr.read(path, missing="zero", cache=True).blocks())
    inode = os.stat(beside(path)).st_ino
    for missing in ("skip", "error", "zero"):
        assert outcome(path, missing=missing, cache=True) == outcome(path, missing=missing)
    assert os.stat(beside(path)).st_ino == inode


def test_who_needs_no_labels_is_served_by_a_cache_with_labels(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text(MAIL)
    stream = nr.read(path, missing="zero", cache=True)
    list(stream.blocks())
    how = {"features": stream.features, "frozen": True, "labels": False, "missing": "zero"}
    assert is_sound(path, **how)
    assert outcome(path, **how, cache=True) == outcome(path, **how)


def test_what_was_read_without_labels_does_not_serve_who_needs_them(file):
    list(nr.read(file, labels=False, cache=True).blocks())
    assert not is_sound(file)


def test_a_cache_of_another_version_is_made_anew(file, monkeypatch):
    list(nr.read(file, cache=True).blocks())
    monkeypatch.setattr("noregret.stream.cache.cached.__version__", "0.0.0")
    assert not is_sound(file)


# -- where, when and by whom -------------------------------------------------------------------------------------------


def test_a_pass_that_ends_early_leaves_nothing(file, tmp_path):
    blocks = nr.read(file, block_rows=4, cache=True).blocks()
    next(blocks)
    blocks.close()
    assert [path.name for path in tmp_path.iterdir()] == ["rows.svm"]


def test_a_file_with_an_error_leaves_nothing(file, tmp_path):
    file.write_text(SVM + "+1 3;4\n")
    for _ in range(2):
        with pytest.raises(nr.InputError, match=r"rows.svm:41: expected INDEX:VALUE"):
            list(nr.read(file, block_rows=4, cache=True).blocks())
    assert [path.name for path in tmp_path.iterdir()] == ["rows.svm"]


def test_an_empty_file_says_so(tmp_path):
    (tmp_path / "rows.svm").write_text("# nothing\n")
    with pytest.raises(nr.InputError, match="holds no rows"):
        list(nr.read(tmp_path / "rows.svm", cache=True).blocks())
    assert [path.name for path in tmp_path.iterdir()] == ["rows.svm"]


def no_writing(folder):
    """`os.access` for a folder that may not be written to."""
    return lambda path, mode: not (mode == os.W_OK and Path(path) == folder)


def test_beside_a_file_in_a_folder_that_may_not_be_written_nothing_is_written(file, tmp_path, monkeypatch):
    monkeypatch.setattr("noregret.stream.cache.origin.os.access", no_writing(tmp_path))
    list(nr.read(file, cache=True).blocks())
    assert not beside(file).exists()
    assert places(str(file))[1].is_file()
    assert str(places(str(file))[1]).startswith(str(tmp_path / "own"))
    assert is_sound(file)


def test_where_nothing_can_be_written_one_sentence_says_so(file, tmp_path, monkeypatch):
    monkeypatch.setattr("noregret.stream.cache.origin.os.access", no_writing(tmp_path))
    (tmp_path / "own").write_text("no folder")
    with pytest.raises(nr.InputError, match=r"rows.svm: no cache can be written beside it, nor in .*own/noregret"):
        list(nr.read(file, cache=True).blocks())


def test_a_link_leads_to_the_cache_of_the_file(file, tmp_path):
    (tmp_path / "link.svm").symlink_to(file)
    list(nr.read(tmp_path / "link.svm", cache=True).blocks())
    assert beside(file).is_file()
    assert is_sound(file)


def test_nobody_may_read_the_cache_who_may_not_read_the_file(file):
    file.chmod(0o600)
    list(nr.read(file, cache=True).blocks())
    assert beside(file).stat().st_mode & 0o777 == 0o600


def test_two_at_once_make_one_whole_cache(file):
    code = "import sys, noregret; found = noregret.read(sys.argv[1], block_rows=1, cache=True).blocks()"
    code += "; print(sum(map(len, found)))"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code, str(file)]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    assert [int(one.communicate(timeout=120)[0]) for one in both] == [40, 40]
    with CacheFile(str(beside(file))) as found:
        assert len(list(found.blocks("x"))) == 40
    assert is_sound(file)


def test_what_is_no_file_has_no_cache(tmp_path):
    with pytest.raises(nr.SettingError, match="cache is for files"):
        nr.read(([[1.0]], [1]), cache=True)
    with pytest.raises(nr.InputError, match="standard input: cannot be cached"):
        nr.read("-", cache=True)


def test_a_cache_is_not_taken_for_a_stream(file):
    list(nr.read(file, cache=True).blocks())
    with pytest.raises(nr.InputError, match="is a cache: give the file that it was made of"):
        nr.read(beside(file))


def test_a_cache_of_the_other_byte_order_is_refused(file):
    list(nr.read(file, cache=True).blocks())
    whole = bytearray(beside(file).read_bytes())
    whole[15:16] = b">" if sys.byteorder == "little" else b"<"
    beside(file).write_bytes(whole)
    with pytest.raises(Damaged, match="of another version or machine"):
        CacheFile(str(beside(file)))
    assert not is_sound(file)


def test_how_far_a_pass_has_come(file):
    stream = nr.read(file, block_rows=10, cache=True)
    list(stream.blocks())
    again = nr.read(file, cache=True, block_rows=10)
    assert [again.fraction() for _ in again.blocks()] == [0.25, 0.5, 0.75, 1.0]
