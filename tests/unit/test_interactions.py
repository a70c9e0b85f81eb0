"""Interactions: what two columns become together, the same in every format and one row at a time."""

import json
import pickle

import numpy as np
import pyarrow
import pytest

import noregret as nr
from noregret.errors import InputError, SettingError, on_command_line
from noregret.stream import read
from noregret.stream.cells import Strings
from noregret.stream.features import Features
from noregret.stream.hashing import hashes
from noregret.stream.interactions import paired
from oracle.matrix import matrix

ROWS = [  # label, n, m, city, kind; a blank cell adds nothing
    (1, 2.0, 3.0, "Ulm", "a"),
    (-1, 0.0, 5.0, "Köln", "b"),
    (1, -1.5, 0.5, "Ulm", ""),
    (-1, 4.0, 2.0, "", "b"),
    (1, 1.0, -1.0, "Ulm", "b"),
]
PAIRS = ("n:m", "city:kind", "n:city", "kind:m")
HOW = {"interactions": PAIRS, "hash_bits": 12, "categorical": ("city", "kind")}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [",".join(map(str, row)) for row in ROWS]
    path.write_text("\n".join(["label,n,m,city,kind", *lines]) + "\n")
    return path


def expected():
    """The rows from the definition: columns n, m and n:m, then 4096 slots."""
    X = np.zeros((len(ROWS), 3 + 4096))

    def add(row, text, value):
        X[row, 3 + int(hashes([text])[0]) % 4096] += value

    for row, (_, n, m, city, kind) in enumerate(ROWS):
        X[row, :3] = n, m, n * m
        if city:
            add(row, f"city={city}", 1.0)
            add(row, f"n:city={city}", n)
        if kind:
            add(row, f"kind={kind}", 1.0)
            add(row, f"m:kind={kind}", m)
        if city and kind:
            add(row, f"city={city}:kind={kind}", 1.0)
    return X


def sources(file):
    columns = dict(zip(("label", "n", "m", "city", "kind"), zip(*ROWS, strict=True), strict=True))
    table = pyarrow.table(columns)
    codes = {name: table[name].dictionary_encode() for name in ("city", "kind")}
    lines = file.with_suffix(".jsonl")
    lines.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    coded = pyarrow.table(columns | codes)
    return {"csv": file, "jsonl": lines, "arrow": table, "dictionary": coded, "pandas": table.to_pandas()}


@pytest.mark.parametrize("source", ["csv", "jsonl", "arrow", "dictionary", "pandas"])
@pytest.mark.parametrize("block_rows", [1, 2, None])
def test_two_columns_become_what_the_definition_says(file, source, block_rows):
    stream = read(sources(file)[source], block_rows=block_rows, **HOW)
    X, y = matrix(stream)
    wide = np.zeros(expected().shape)
    wide[:, : X.shape[1]] = X
    assert np.array_equal(wide, expected())
    assert y == [row[0] for row in ROWS]
    features = stream.features
    assert features.names == ["n", "m", "n:m"] and features.interactions == PAIRS
    assert {"city=Ulm:kind=a", "n:city=Köln", "m:kind=b"} <= set(features.values.values())
    assert features.reading["interactions"] == list(PAIRS)
    assert stream.columns == {"n": "number", "m": "number", "city": "category", "kind": "category"}


def test_numbers_alone_make_dense_rows_and_written_amounts_are_numbers_too(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a,b\n1,2,$3.50\n-1,-1,$2.00\n")
    stream = read(path, interactions=["a:b", "a:a"])
    assert np.array_equal(matrix(stream)[0], [[2.0, 3.5, 7.0, 4.0], [-1.0, 2.0, -2.0, 1.0]])
    assert stream.features.names == ["a", "b", "a:b", "a:a"]


def test_a_missing_number_makes_a_missing_product_and_no_slot(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a,b,c\n1,,3,x\n-1,2,4,x\n")
    X, _ = matrix(read(path, interactions=["a:b", "a:c"], missing="zero", hash_bits=6, categorical="c"))
    slot = 3 + int(hashes(["a:c=x"])[0]) % 64
    assert (X[0, :3].tolist(), X[0, slot]) == ([0.0, 3.0, 0.0], 0.0)
    assert (X[1, :3].tolist(), X[1, slot]) == ([2.0, 4.0, 8.0], 2.0)


def test_one_row_is_scored_and_learned_as_a_row_of_the_table(file):
    rows = [{"n": n, "m": m, "city": city, "kind": kind} for _, n, m, city, kind in ROWS]
    learned, online = nr.AdaGrad(), nr.AdaGrad()
    nr.play(learned, read(file, **HOW))
    nr.play(online, read(file, **HOW))
    frame, table = sources(file)["pandas"].drop(columns="label"), sources(file)["arrow"].drop(["label"])
    assert learned.predict(frame).tolist() == [learned.predict_one(row) for row in rows]
    scores = learned.decision_function(table).tolist()
    assert [learned._score_one(row) for row in rows] == pytest.approx(scores, rel=1e-12)
    nr.play(online, read(file, features=online.features))
    for row, (label, *_) in zip(rows, ROWS, strict=True):
        learned.learn_one(row, label)
    assert learned.coef_ == pytest.approx(online.coef_, rel=1e-12)
    assert pickle.loads(pickle.dumps(learned)).predict_one(rows[0]) == learned.predict_one(rows[0])
    with pytest.raises(ValueError, match="has learned from a table with words: X must be a table too"):
        learned.predict(np.ones((1, 3)))


def test_a_model_of_products_alone_does_not_take_arrays(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a,b\n1,2,3\n-1,1,2\n")
    model = nr.AdaGrad()
    nr.play(model, read(path, interactions="a:b"))
    with pytest.raises(ValueError, match="has learned from a table with interactions: X must be a table too"):
        model.predict(np.ones((1, 3)))
    assert model._score_one({"a": 2.0, "b": 3.0}) == pytest.approx(float(model.coef_[0] @ [2.0, 3.0, 6.0]), rel=1e-12)


def test_the_recipe_is_in_the_model_file_the_cache_and_the_receipt(file, tmp_path):
    model = nr.AdaGrad(radius=2.0)
    run = nr.play(model, read(file, **HOW), digest=True)
    model.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    assert again.features.interactions == PAIRS
    assert np.array_equal(matrix(read(file, features=again.features, frozen=True))[0], matrix(read(file, **HOW))[0])
    receipt = nr.certify(run, read(file, **HOW))
    assert receipt.reading["interactions"] == list(PAIRS)
    assert nr.verify(receipt, file).checks
    for how in (HOW, HOW | {"interactions": ()}, HOW):
        assert np.array_equal(matrix(read(file, cache=True, **how))[0], matrix(read(file, **how))[0])


def test_more_interactions_can_be_added_to_a_recipe(file):
    features = read(file, **(HOW | {"interactions": "n:city"})).features
    stream = read(file, features=features, interactions=["n:m", "n:city"])
    X, _ = matrix(stream)
    assert stream.features.interactions == ("n:city", "n:m")
    assert X[:, stream.features.index["n:m"]].tolist() == [n * m for _, n, m, _, _ in ROWS]


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"interactions": "n"}, SettingError, "interactions must be pairs of columns such as a:b, got 'n'"),
        (
            {"interactions": "n:m:city"},
            SettingError,
            "interactions must be pairs of columns such as a:b, got 'n:m:city'",
        ),
        ({"interactions": ":m"}, SettingError, "interactions must be pairs of columns such as a:b, got ':m'"),
        ({"interactions": ["n:m", "m:n"]}, SettingError, "interactions must name each pair once, got n:m and m:n"),
        ({"interactions": "n:x"}, InputError, "rows.csv: there is no column 'x' for interactions: the columns are"),
        ({"interactions": "n:label"}, InputError, "column 'label' is the label: it cannot be in interactions too"),
        ({"interactions": "n:m", "ignore": "m"}, SettingError, "column 'm' cannot be ignored and used too"),
        (
            {"interactions": "n:city", "text": "city"},
            SettingError,
            "interactions must be pairs of numbers and categories, got 'n:city', where 'city' is text",
        ),
        (
            {"interactions": "n:m", "features": Features.named(["n"]), "frozen": True},
            SettingError,
            "interactions cannot be given: the model's recipe is frozen",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(file, settings, error, sentence):
    with pytest.raises(error, match=sentence):
        read(file, **settings)


def test_a_column_with_the_name_of_a_product_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a,b,a:b\n1,2,3,4\n")
    with pytest.raises(SettingError, match="the interaction 'a:b' has the name of a column: rename one"):
        read(path, interactions="a:b")


def test_what_has_no_columns_has_no_interactions(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("+1 1:2\n")
    with (
        on_command_line(),
        pytest.raises(SettingError, match="--interactions names a column, but"),
    ):
        read(path, interactions="a:b")
    with pytest.raises(SettingError, match="interactions names a column of a table"):
        read([({"a": 1.0}, 1)], interactions="a:b")


@pytest.mark.parametrize("pair", ["n", "n:x", "n:m:city", "city:m", "n:city"])
def test_a_damaged_recipe_is_refused(pair, file):
    stored = read(file, **(HOW | {"interactions": "n:m"})).features.to_dict()
    fits = pair in ("n:city", "city:m")
    if fits:
        assert Features.from_dict(stored | {"interactions": [pair, "n:m"]}).interactions == (pair, "n:m")
        stored["names"] = ["n", "m", pair]
    with pytest.raises(ValueError, match="does not fit the columns"):
        Features.from_dict(stored | {"interactions": [pair]})


def test_paired_cells_are_those_of_a_plain_loop():
    rng = np.random.default_rng(0)
    words = ["", " ", "a", "ß", "long word", "日本"]
    for _ in range(20):
        left, right = (rng.choice(words, 9).tolist() for _ in range(2))
        codes = rng.integers(-1, 6, 9)
        found = paired(Strings.of(left), ":b=", Strings.of(right))
        assert [found.text(row) for row in range(9)] == [joined(a, b) for a, b in zip(left, right, strict=True)]
        distinct = Strings.of(words)
        found = paired(Strings(distinct.data, distinct.starts, distinct.stops, codes), ":b=", Strings.of(right))
        coded = ["" if code < 0 else words[code] for code in codes]
        assert [found.text(row) for row in range(9)] == [joined(a, b) for a, b in zip(coded, right, strict=True)]


def joined(left, right):
    return f"{left}:b={right}" if left.strip() and right.strip() else ""
