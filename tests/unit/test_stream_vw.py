"""Vowpal Wabbit's text: what each part of a line means, how it is recognised, and one sentence for everything else."""

import gzip

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, SettingError
from noregret.stream import Features, read
from noregret.stream.formats.vw import looks_like as looks_like_vowpal
from oracle.murmur import murmur3


def written(folder, text, name="rows.vw"):
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def rows_of(stream):
    """(label, weight, {name: value}) of each row, with slots enough that no two names meet."""
    found = []
    for block in stream.blocks():
        weights = np.ones(len(block)) if block.weights is None else block.weights
        for t in range(len(block)):
            low, high = block.rows.indptr[t : t + 2]
            names = [stream.features.name_of(index) for index in block.rows.indices[low:high].tolist()]
            held = dict(zip(names, block.rows.values[low:high].tolist(), strict=True))
            found.append((block.labels[t], float(weights[t]), held))
    return found


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("1 | a b", (1.0, 1.0, {"^a": 1.0, "^b": 1.0})),
        ("-1 |f a:0.5", (-1.0, 1.0, {"f^a": 0.5})),
        ("1 2.5 |f a", (1.0, 2.5, {"f^a": 1.0})),
        ("1 2.5 tag|f a", (1.0, 2.5, {"f^a": 1.0})),
        ("1 'tag |f a", (1.0, 1.0, {"f^a": 1.0})),
        ("1 tag|f a", (1.0, 1.0, {"f^a": 1.0})),
        ("1 2 'tag |f a", (1.0, 2.0, {"f^a": 1.0})),
        ("1 |f:2 a:3 b |g:-1 a|h a", (1.0, 1.0, {"f^a": 6.0, "f^b": 2.0, "g^a": -1.0, "h^a": 1.0})),
        ("1 |f a a:2 |g a |f a", (1.0, 1.0, {"f^a": 4.0, "g^a": 1.0})),
        ("1 |f", (1.0, 1.0, {})),
        ("1 |", (1.0, 1.0, {})),
        ("1 |f |g\ta\r", (1.0, 1.0, {"g^a": 1.0})),
        ("  1\t|f   a  ", (1.0, 1.0, {"f^a": 1.0})),
        ("1 |café crème:1e-2", (1.0, 1.0, {"café^crème": 0.01})),
    ],
)
def test_a_line_is_label_importance_tag_and_namespaces_of_features(tmp_path, line, row):
    assert rows_of(read(written(tmp_path, line + "\n"), hash_bits=30)) == [row]


def test_a_feature_goes_to_the_hash_of_namespace_hat_name(tmp_path):
    stream = read(written(tmp_path, "1 |user age | tall\n"), hash_bits=12)
    (block,) = stream.blocks()
    assert block.rows.indices.tolist() == [murmur3(b"user^age") % 4096, murmur3(b"^tall") % 4096]
    assert stream.features.width == 4096


def test_words_are_labels_too(tmp_path):
    assert [row[0] for row in rows_of(read(written(tmp_path, "spam | a\nham | b\n")))] == ["spam", "ham"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1 2 3 |f a", r"an initial value, the third number before the \|, cannot be used here"),
        ("1 f a", r"expected a \| before the features, got '1 f a'"),
        ("1:2 |f a", "a label must be a number or a word without a colon, got '1:2'"),
        ("1 x |f a", "the importance must be a number, got 'x'"),
        ("1 -2 |f a", "the weight must be at least 0 and finite, got -2.0"),
        ("1 |f a:x", "the value of feature 'a' must be a number, got 'x'"),
        ("1 |f a:1:2", "the value of feature 'a' must be a number, got '1:2'"),
        ("1 |f a:", "the value of feature 'a' must be a number, got ''"),
        ("1 |f :3", "expected the name of a feature before the colon, got ':3'"),
        ("1 |:3 a", "expected the name of a namespace before the colon, got ':3'"),
        ("1 |f:x a", "the scale of namespace 'f' must be a number, got 'x'"),
        ("|f a", "the label is missing"),
        ("1|f a", "the label is missing"),
        ("1 |f a:nan", r"f\^a is missing \(NaN\)"),
        ("1 |f a:inf", r"f\^a must be finite, got inf"),
        ("x |f a", "the label must be a number as in the rows before, got 'x'"),
        (b"1 |f \xff", "is not UTF-8 text: byte 0xff has no meaning there"),
        (b"1 |f a\x00", "holds a NUL byte"),
    ],
)
def test_everything_else_is_one_sentence_with_file_and_line(tmp_path, line, sentence):
    text = line if isinstance(line, bytes) else line.encode()
    file = written(tmp_path, b"1 |f a\n\n" + text + b"\n1 |f a\n")
    with pytest.raises(InputError, match=rf"rows\.vw:3: {sentence}"):
        rows_of(read(file))


def test_rows_without_a_label_are_left_out_or_need_none(tmp_path):
    file = written(tmp_path, "1 |f a\n|f b\n'tag|f c\n")
    assert len(rows_of(read(file, missing="skip"))) == 1
    assert [row[2] for row in rows_of(read(file, labels=False))] == [{"f^a": 1.0}, {"f^b": 1.0}, {"f^c": 1.0}]


@pytest.mark.parametrize(
    ("line", "yes"),
    [
        (b"1 |f a", True),
        (b"|f a", True),
        (b"-1 0.5 'tag|f a", True),
        (b"-1 0.5 'tag |f a:1", True),
        (b"1 |", True),
        (b"label|a|b", False),
        (b"a |b |c", False),
        (b"1 2:3", False),
        (b"1,2", False),
    ],
)
def test_the_first_line_tells_the_format(tmp_path, line, yes):
    assert looks_like_vowpal(line) == yes


def test_a_file_without_an_extension_and_a_compressed_one_are_read(tmp_path):
    text = b"1 |f a\n-1 |f b\n"
    expected = rows_of(read(written(tmp_path, text)))
    assert rows_of(read(written(tmp_path, text, "rows"))) == expected
    assert rows_of(read(written(tmp_path, gzip.compress(text), "rows.vw.gz"))) == expected


def test_a_model_keeps_to_its_kind_of_features(tmp_path):
    file = written(tmp_path, "1 |f a\n-1 |f b\n")
    table = written(tmp_path, "label,a\n1,2\n", "rows.csv")
    model = read(file, hash_bits=6).features
    assert read(file, features=model, frozen=True).features.width == 64
    with pytest.raises(SettingError, match=r"the model was learned from Vowpal Wabbit's hashed names, and .*\.csv has"):
        read(table, features=model, frozen=True)
    for other in (Features.named(["a"]), Features("index", 5)):
        with pytest.raises(SettingError, match=r"the model was learned from another format, and"):
            read(file, features=other)
    with pytest.raises(SettingError, match="label names a column, but a Vowpal Wabbit file has no named columns"):
        read(file, label="y")


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_few_slots_are_enough(tmp_path, bits):
    file = written(tmp_path, "1 |f a b c d e f g h\n")
    (block,) = read(file, hash_bits=bits).blocks()
    assert block.rows.values.sum() == 8.0
    assert block.rows.indices.max() < 2**bits
    assert len(set(block.rows.indices.tolist())) == len(block.rows.indices)


def test_the_importance_is_the_weight_of_the_round(tmp_path):
    rng = np.random.default_rng(5)
    y, weights, values = rng.choice([-1, 1], 60), np.arange(60) % 4 * 1.5, rng.normal(size=60).round(3)
    lines = [f"{label} {weight} |f a:{value} b\n" for label, weight, value in zip(y, weights, values, strict=True)]
    run = nr.play(nr.Perceptron(), read(written(tmp_path, "".join(lines))))
    arrays = nr.play(nr.Perceptron(), (np.column_stack([values, np.ones(60)]), y, weights))
    assert (run.rounds, run.mistakes, run.loss) == (arrays.rounds, arrays.mistakes, arrays.loss)
    assert run.loss != run.mistakes
