"""Every error is one line on standard error, exit code 2, and not a byte of any file is created or changed."""

import bz2
import gzip
import lzma
import os
import re

import pytest
from command import snapshot
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from oracle.files import good_files, mutated, mutation

GOOD = "1 1:1 2:2\n-1 1:-1 2:1\n1 1:3\n"
OUTPUTS = ("--save", "old.nr", "--predictions", "old.csv", "--plot", "old.png")


@pytest.fixture
def folder(here, noregret):
    """A folder with good rows, a good model, and older results that an error must not touch."""
    (here / "good.svm").write_text(GOOD)
    (here / "good.csv").write_text("label,a,b\n1,1,2\n-1,2,1\n")
    noregret("learn", "good.svm", "--save", "good.nr", "--quiet")
    for name in ("old.nr", "old.csv", "old.png"):
        (here / name).write_text("older")
    (here / "taken").mkdir()
    return here


def refused(answer, sentence):
    """The whole of what an error may say."""
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert re.fullmatch(rf"noregret: {sentence}\n", answer.err), answer.err
    assert "Traceback" not in answer.err
    assert answer.code == 2


BAD_FILES = {
    "malformed.svm": (GOOD + "1 3;4\n", r"malformed\.svm:4: expected INDEX:VALUE, got '3;4'"),
    "word.svm": (GOOD + "1 3:four\n", r"word\.svm:4: the value of feature 3 must be a number, got 'four'"),
    "index.svm": (GOOD + "1 -3:4\n", r"index\.svm:4: an index must be a whole number from 0 to \d+, got '-3'"),
    "huge.svm": (GOOD + "1 2147483648:4\n", r"huge\.svm:4: an index must be .*, got '2147483648'"),
    "twice.svm": (GOOD + "1 3:4 3:5\n", r"twice\.svm:4: feature 3 appears twice in the row"),
    "unlabelled.svm": (GOOD + "3:4\n", r"unlabelled\.svm:4: expected a label before the features, got '3:4'"),
    "nan.svm": (GOOD + "1 2:nan\n", r"nan\.svm:4: feature 2 is missing \(NaN\): use --missing mean, zero or skip"),
    "inf.svm": (GOOD + "1 2:-inf\n", r"inf\.svm:4: feature 2 must be finite, got -inf"),
    "third.svm": (
        GOOD + "1 1:1\n" * 1000 + "2 1:1\n",
        r"third\.svm:1004: a third label, 2, after -1 and 1: for more than two classes use --task multiclass.*",
    ),
    "label.svm": (GOOD + "spam 1:1\n", r"label\.svm:4: the label must be a number as in the rows before, got 'spam'"),
    "empty.svm": ("", r"empty\.svm: holds no rows"),
    "comments.svm": ("# nothing\n\n", r"comments\.svm: holds no rows"),
    "empty.csv": ("", r"empty\.csv: holds no rows, not even a header line"),
    "header.csv": ("label,a\n", r"header\.csv: holds no rows"),
    "unnamed.csv": ("label,\n1,2\n", r"unnamed\.csv:1: column 2 has no name"),
    "twins.csv": ("label,a,a\n1,2,3\n", r"twins\.csv:1: two columns are named 'a'"),
    "nolabel.csv": ("a,b\n1,2\n", r"nolabel\.csv: no column is named label, .* or y \(.*\): the columns are a, b"),
    "ragged.csv": ("label,a\n1,2\n1,2,3\n", r"ragged\.csv:3: expected 2 cells as in the header, got 3"),
    "hole.csv": ("label,a\n1,2\n1,\n", r"hole\.csv:3: feature 'a' is missing \(NaN\): use --missing mean, zero .*"),
    "labelless.csv": ("label,a\n1,2\n,3\n", r"labelless\.csv:3: the label is missing \(use --missing skip .*\)"),
    "inf.csv": ("label,a\n1,2\n1,inf\n", r"inf\.csv:3: feature 'a' must be finite, got inf"),
    "third.csv": (
        "label,a\n" + "x,2\ny,3\n" * 500 + "z,4\n",
        r"third\.csv:1002: a third label, 'z', after 'x' and 'y': for more than two classes use --task multiclass.*",
    ),
    "cut.jsonl": ('{"y": 1, "a": 2}\n{"y": 1,\n', r"cut\.jsonl:2: each line must be one JSON object: .* cut short"),
    "nan.jsonl": ('{"y": 1, "a": 2}\n{"y": 1, "a": NaN}\n', r"nan\.jsonl:2: .*: NaN and Infinity are not JSON, .*"),
    "twice.jsonl": ('{"y": 1, "a": 2, "a": 3}\n', r"twice\.jsonl:1: the key 'a' comes twice"),
    "hole.ndjson": (
        '{"y": 1, "a": 2}\n{"y": 0}\n',
        r"hole\.ndjson:2: feature 'a' is missing .* --missing mean, .*",
    ),
    "tags.jsonl": ('{"y": 1, "a": ["x"]}\n', r"tags\.jsonl:1: the value of 'a' must be .* \(or use --ignore a\)"),
    "late.jsonl": (
        '{"y": 1, "a": 2}\n' * 1500 + '{"y": 1, "a": 2, "b": 3}\n',
        r"late\.jsonl:1501: 'b' is in none of the first 1,000 rows: .* --numeric b, --categorical b or --ignore b",
    ),
    "open.csv": ('label,a\n1,"2\n', r"open\.csv:2: is not well-formed CSV \(.*\)"),
    "latin.csv": (b"label,a\n1,caf\xe9\n", r"latin\.csv:2: is not UTF-8 text: byte 0xe9 has no meaning there"),
    "late.csv": (
        "label,a\n" + "1,2\n" * 1500 + "1,word\n",
        r"late\.csv:1502: column 'a' must hold numbers, got 'word' \(if its values are names, .* --categorical a\)",
    ),
    "binary.svm": (bytes(range(256)), r"binary\.svm:1: holds a NUL byte: this is a binary file, expected text"),
    "binary.csv": (b"label,a\n1,\0\n", r"binary\.csv:\d: holds a NUL byte: this is a binary file, expected text"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", r"picture:\d: .*"),
    "cut.svm.gz": (gzip.compress(GOOD.encode() * 500)[:-20], r"cut\.svm\.gz:\d+: .*gzip.*"),
    "cut.bz2": (bz2.compress(GOOD.encode() * 500)[:-20], r"cut\.bz2:?\d*: .*bzip2.*"),
    "cut.xz": (lzma.compress(GOOD.encode() * 500)[:-20], r"cut\.xz:?\d*: .*xz.*"),
    "cut.parquet": (b"PAR1 and no more", r"cut\.parquet: is truncated or corrupt \(.*\)"),
    "cut.npz": (b"PK\x03\x04 and no more", r"cut\.npz: is not a well-formed \.npz archive \(.*\)"),
    "cut.arrow": (b"ARROW1 and no more", r"cut\.arrow: is truncated or corrupt \(.*\)"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_input(noregret, folder, name):
    content, sentence = BAD_FILES[name]
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    before = snapshot(folder)
    refused(noregret("learn", name, *OUTPUTS), sentence)
    refused(noregret("learn", name, *OUTPUTS, "--json"), sentence)
    refused(noregret("learn", name, *OUTPUTS, "--quiet", "--shuffle", 1), sentence)
    assert snapshot(folder) == before


def test_a_bad_line_of_standard_input(noregret, folder):
    before = snapshot(folder)
    answer = noregret("learn", "-", *OUTPUTS, stdin=GOOD.encode() + b"1 x\n")
    refused(answer, r"standard input:4: expected INDEX:VALUE, got 'x'")
    refused(noregret("learn", "-", *OUTPUTS), r"standard input: holds no rows")
    assert snapshot(folder) == before


BAD_USAGE = {
    "missing file": ("learn nowhere.svm", r"nowhere\.svm: there is no such file"),
    "directory": ("learn taken", r"taken: is a folder that holds no files to read"),
    "no command": ("", r".+"),
    "unknown command": ("forget good.svm", r".*no such command 'forget'.*"),
    "unknown option": ("learn good.svm --colour red", r"learn: no such option: --colour.*"),
    "no stream": ("learn", r"learn: missing argument 'STREAM'.*"),
    "too many": ("learn good.svm good.svm", r"learn: got unexpected extra argument.*"),
    "option without value": ("learn good.svm --radius", r".*--radius.*"),
    "radius is a word": ("learn good.svm --learner ogd --radius wide", r"learn: invalid value for '--radius': .*"),
    "radius 0": ("learn good.svm --learner ogd --radius 0", r"radius must be positive, got 0\.0"),
    "radius nan": ("learn good.svm --learner ogd --radius nan", r"radius must be positive, got nan"),
    "learner": (
        "learn good.svm --learner svm",
        r"learner must be one of the \d+ that noregret learn --help lists, got 'svm'",
    ),
    "loss": ("learn good.svm --learner ogd --loss cosine", r"loss must be one of hinge, .*, got 'cosine'"),
    "loss parameter": ("learn good.svm --learner ogd --loss huber:x", r"loss huber: delta must be a number, got 'x'"),
    "no parameter": ("learn good.svm --learner ogd --loss hinge:2", r"loss hinge takes no parameter, got '2'"),
    "domain": (
        "learn good.svm --learner ogd --domain cube",
        r"domain must be one of ball, box, l1, simplex, got 'cube'",
    ),
    "rate": ("learn good.svm --learner ogd --rate fast", r"rate must be one of auto, .*, got 'fast'"),
    "rate 0": ("learn good.svm --learner ogd --rate constant:0", r"rate constant:0: 0 must be positive and finite"),
    "perceptron's rate": (
        "learn good.svm --learner perceptron --rate sqrt:1",
        r"rate of the perceptron must be auto or constant:η, .*",
    ),
    "auto in a box": ("learn good.svm --learner ogd --domain box", r"rate auto needs the radius of a ball; .*"),
    "sigma": ("learn good.svm --learner ogd-strong --sigma 0", r"ogd-strong: sigma must be positive .*, got 0\.0"),
    "no bound": ("learn good.svm --learner ogd-strong --loss squared", r"ogd-strong: the slope of the loss squared .*"),
    "coin without a bound": ("learn good.svm --learner coin", r"coin: gradients need a bound: give --unit-norm or .*"),
    "coin beyond its bound": (
        "learn good.svm --learner coin --gradient-bound 0.001 --save m.nr",
        r"good\.svm:1: coin: the gradient of round 1 has the norm .*, more than the bound 0\.001: give .*",
    ),
    "aggressiveness": ("learn good.svm --learner pa1 --aggressiveness 0", r"pa1: aggressiveness must be positive .*"),
    "loss of pa": ("learn good.svm --learner pa --loss logistic", r"pa: loss must be one of hinge, absolute, .*"),
    "l1": ("learn good.svm --learner ftrl --l1 -1", r"ftrl: l1 must be at least 0 and finite, got -1\.0"),
    "rate of adagrad": ("learn good.svm --learner adagrad --rate sqrt:1", r"rate must be auto or constant:η, .*"),
    "not its option": ("learn good.svm --sigma 1", r"--sigma is for ogd-strong, not for auto"),
    "radius of a perceptron": (
        "learn good.svm --learner perceptron --radius 1",
        r"--radius is for auto, ogd, ogd-strong, .* and ftrl, not for perceptron",
    ),
    "tie": ("learn good.svm --tie 0", r"tie must be one of mistake, \+1, -1, got '0'"),
    "tie of numbers": ("learn good.svm --learner ogd --loss squared --tie +1", r"--tie is for classes; .*"),
    "scale": ("learn good.svm --scale min", r"auto: scale must be max or standard or log or left out, got 'min'"),
    "passes 0": ("learn good.svm --passes 0", r".*passes.* must be at least 1, got 0"),
    "passes": ("learn good.svm --passes many", r"learn: invalid value for '--passes': .*"),
    "seed": ("learn good.svm --shuffle dice", r"learn: invalid value for '--shuffle': .*"),
    "negative seed": ("learn good.svm --shuffle -1", r".*shuffle.*"),
    "label of svmlight": ("learn good.svm --label a", r"--label names a column, but an svmlight file has no .*"),
    "text of svmlight": ("learn good.svm --text a", r"--text names a column, but an svmlight file has no .*"),
    "label": ("learn good.csv --label c", r"good\.csv: there is no column 'c': the columns are label, a, b"),
    "text": ("learn good.csv --text c", r"good\.csv: there is no column 'c' for --text: the columns are .*"),
    "categorical": ("learn good.csv --categorical c", r"good\.csv: there is no column 'c' for --categorical: .*"),
    "both": ("learn good.csv --text a --categorical a", r"column 'a' cannot be both categorical and text"),
    "label is text": ("learn good.csv --label a --text a", r"column 'a' is the label: it cannot be a feature too"),
    "usual label is text": ("learn good.csv --text label", r".*column 'label' is the label: .*"),
    "hash bits": ("learn good.csv --text a --hash-bits 31", r".*hash.bits must be a whole number from 1 to 30, got 31"),
    "hash bits 0": ("learn good.csv --text a --hash-bits 0", r".*hash.bits must be a whole number from 1 to 30, got 0"),
    "missing": ("learn good.svm --missing drop", r"--missing must be one of error, zero, mean, skip, got 'drop'"),
    "class weight": ("learn good.svm --class-weight 1", r"--class-weight must be LABEL=WEIGHT,LABEL=WEIGHT, got '1'"),
    "class weight twice": (
        "learn good.svm --class-weight 1=1,1=2",
        r"--class-weight names the label '1' twice, got '1=1,1=2'",
    ),
    "save to -": ("learn good.svm --save -", r"-: must be the name of a file, or /dev/stdout"),
    "class weight < 0": ("learn good.svm --class-weight 1=-2", r"--class-weight must be LABEL=WEIGHT.*, got '1=-2'"),
    "positive": ("learn good.svm --positive 7", r"good\.svm:2: the labels are 1 and -1: neither is the positive '7'"),
    "skip alone": ("learn good.svm --skip seen", r"--skip seen goes with --resume"),
    "skip what": ("learn good.svm --resume good.nr --skip some", r"--skip accepts only \"seen\"; got 'some'"),
    "resume nothing": ("learn good.svm --resume no.nr", r"no\.nr: cannot be read: No such file or directory"),
    "resume no model": ("learn good.svm --resume good.csv", r"good\.csv: is not a noregret model file"),
    "resume other features": (
        "learn good.csv --resume good.nr",
        r"the model was learned from rows without column names, .*good\.csv.*",
    ),
    "diverged": (
        "learn good.svm --learner ogd --rate constant:1e300 --radius inf",
        r"good\.svm:\d: ogd: the weights .* overflow .*",
    ),
    "save in no folder": ("learn good.svm --save no/m.nr", r"no/m\.nr: cannot be written: 'no' does not exist"),
    "save in a file": ("learn good.svm --save old.csv/m.nr", r"old\.csv/m\.nr: cannot be written: .*"),
    "save over a folder": ("learn good.svm --save taken", r"taken: is a folder, a file was expected"),
    "long name": (f"learn good.svm --save {'m' * 300}", r"m{300}: .*"),
    "long stream": (f"learn {'m' * 300}", r"m{300}: cannot be opened \(File name too long\)"),
    "predictions nowhere": ("learn good.svm --predictions no/p.csv", r"no/p\.csv: cannot be written: .*"),
    "plot nowhere": ("learn good.svm --plot no/p.png", r"no/p\.png: cannot be written: .*"),
    "plot kind": (
        "learn good.svm --plot old.txt --save old.nr",
        r".*plot.* must end in \.png.*, got 'old.txt'",
    ),
    "predict nothing": ("predict", r"predict: missing argument 'model'.*"),
    "predict no rows": ("predict good.nr", r"predict: missing argument 'stream'.*"),
    "predict without model": ("predict no.nr good.svm", r"no\.nr: cannot be read: No such file or directory"),
    "predict with rows": ("predict good.svm good.svm", r"good\.svm: is not a noregret model file"),
    "predict nowhere": ("predict good.nr good.svm -o no/p.csv", r"no/p\.csv: cannot be written: .*"),
    "predict no stream": ("predict good.nr no.svm -o old.csv", r"no\.svm: there is no such file"),
    "predict other features": ("predict good.nr good.csv -o old.csv", r".*rows without column names, .*good\.csv.*"),
    "inspect nothing": ("inspect", r"inspect: missing argument 'model'.*"),
    "inspect no model": ("inspect old.nr", r"old\.nr: is not a noregret model file"),
    "inspect folder": ("inspect taken", r"taken: cannot be read: Is a directory"),
    "inspect top": ("inspect good.nr --top -1", r"inspect: invalid value for '--top': .*"),
    "demo over a file": ("demo -o old.csv", r"old\.csv: .*"),
    "demo under a file": ("demo -o old.csv/sub", r"old\.csv/sub: .*"),
    "demo argument": ("demo please", r"demo: got unexpected extra argument.*"),
}


@pytest.mark.parametrize("name", BAD_USAGE)
def test_bad_usage(noregret, folder, name):
    arguments, sentence = BAD_USAGE[name]
    before = snapshot(folder)
    refused(noregret(*arguments.split()), sentence)
    assert snapshot(folder) == before


def test_no_arguments_is_one_short_line(noregret):
    """Not the whole help on one line."""
    assert len(noregret().err) < 120


@pytest.mark.parametrize("option", ["--save", "--predictions", "--plot"])
def test_a_folder_that_may_not_be_written_to(noregret, folder, monkeypatch, option):
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))  # also for root
    before = snapshot(folder)
    refused(noregret("learn", "good.svm", option, "taken/new.png"), r"taken/new\.png: cannot be written: .*read-only")
    refused(noregret("predict", "good.nr", "good.svm", "-o", "taken/p.csv"), r"taken/p\.csv: cannot be written: .*")
    assert snapshot(folder) == before


@pytest.mark.parametrize("option", ["--save", "--predictions", "--plot"])
def test_the_stream_is_never_overwritten(noregret, folder, option):
    (folder / "rows.png").write_text(GOOD)
    before = snapshot(folder)
    assert noregret("learn", "rows.png", option, "rows.png").code == 2
    assert snapshot(folder) == before


def test_two_outputs_under_one_name(noregret, folder):
    before = snapshot(folder)
    assert noregret("learn", "good.svm", "--save", "old.nr", "--predictions", "old.nr").code == 2
    assert snapshot(folder) == before


@pytest.mark.parametrize("damage", ["cut", "flip", "version", "header"])
def test_a_damaged_model(noregret, folder, damage):
    data = bytearray((folder / "good.nr").read_bytes())
    if damage == "cut":
        data = data[:-7]
    elif damage == "flip":
        data[len(data) // 2] ^= 1
    elif damage == "version":
        data[8] = 99
    else:
        data = data[:10]
    (folder / "bad.nr").write_bytes(data)
    before = snapshot(folder)
    for args in (
        ("inspect", "bad.nr"),
        ("predict", "bad.nr", "good.svm", "-o", "old.csv"),
        ("learn", "good.svm", "--resume", "bad.nr", "--save", "bad.nr"),
    ):
        refused(noregret(*args), r"bad\.nr: .*(damaged|cut short|version 99).*")
    assert snapshot(folder) == before


def test_an_error_late_in_the_stream_takes_everything_back(noregret, folder):
    (folder / "long.svm").write_text(GOOD * 5000 + "1 oops\n")
    before = snapshot(folder)
    refused(noregret("learn", "long.svm", *OUTPUTS), r"long\.svm:15001: expected INDEX:VALUE, got 'oops'")
    refused(noregret("predict", "good.nr", "long.svm", "-o", "old.csv"), r"long\.svm:15001: .*")
    assert snapshot(folder) == before


def test_errors_of_the_program_itself(start, folder):
    """The same through a real process: the code, one line, no traceback, whatever the terminal."""
    for args, sentence in (
        (("learn", "nowhere.svm"), b"noregret: nowhere.svm: there is no such file\n"),
        (("learn", "good.svm", "--radius", "x"), b"--radius"),
        ((), b"noregret: "),
    ):
        process = start(*args)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (2, b"")
        assert err.count(b"\n") == 1
        assert err.startswith(b"noregret: ")
        assert sentence in err
        assert b"python" not in err, "the program is called noregret however it was started"


# -- damaged files of every format ----------------------------------------------------------------------------------

FORMATS = good_files(holes=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("mutations")


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None)
@given(mutations=st.lists(mutation, max_size=4), missing=st.sampled_from(["error", "zero", "skip"]))
@example(mutations=[], missing="error")
def test_a_damaged_file_is_learned_from_or_refused(noregret, place, name, mutations, missing):
    file, older, said = place / name, place / "m.nr", place / "p.csv"
    file.write_bytes(mutated(FORMATS[name], mutations))
    older.write_bytes(b"older")
    said.write_bytes(b"older")
    before = snapshot(place)
    hashing = () if name.endswith("npz") or "svm" in name or name == "unnamed" else ("--hash-bits", 6)
    options = ("--missing", missing, "--predictions", said, *hashing)
    answer = noregret("learn", file, *options, "--save", older, "--json")
    if answer.code == 0:
        assert answer.err == ""
        assert answer.json["rounds"] + 1 <= len(said.read_bytes().splitlines()) <= answer.json["rounds"] * 2 + 1
        assert set(snapshot(place)) == set(before)
    else:
        assert mutations, answer.err
        refused(answer, r".+")
        assert snapshot(place) == before
    file.unlink()
