"""`missing="mean"`: a missing number counts as the mean of its column so far, and the means go with the model."""

import itertools

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse

import noregret as nr
from noregret import model
from noregret.learner import LEARNERS
from noregret.proof.certify import certify
from noregret.proof.verify import verify
from noregret.stream import Dense, read
from oracle.means import filled
from oracle.registry import everything

RNG = np.random.default_rng(11)
X = np.round(RNG.normal(size=(90, 4)), 3)
Y = np.where(X @ [1.0, -1.0, 0.5, 2.0] > 0, 1, -1)
HOLES = np.where(RNG.random(X.shape) < 0.3, np.nan, X)
HOLES[:3, 2] = np.nan  # before the column has a value
WHOLE = np.array(filled(HOLES.tolist()))
NAMES = list("abcd")


def text():
    table = pandas.DataFrame(HOLES, columns=NAMES).assign(label=Y)
    return table.to_csv(index=False)


def parquet(folder):
    table = pandas.DataFrame(HOLES, columns=NAMES).assign(label=Y)
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(table), folder / "holes.parquet")
    return str(folder / "holes.parquet")


def svmlight(folder):
    lines = [
        f"{label} " + " ".join(f"{i}:{'nan' if np.isnan(x) else repr(x)}" for i, x in enumerate(row))
        for label, row in zip(Y.tolist(), HOLES.tolist(), strict=True)
    ]
    (folder / "holes.svm").write_text("\n".join(lines) + "\n")
    return str(folder / "holes.svm")


def csv(folder):
    (folder / "holes.csv").write_text(text())
    return str(folder / "holes.csv")


SOURCES = {
    "csv": csv,
    "parquet": parquet,
    "svmlight": svmlight,
    "array": lambda folder: (HOLES, Y),
    "matrix": lambda folder: (scipy.sparse.csr_matrix(HOLES), Y),
    "pandas": lambda folder: (pandas.DataFrame(HOLES, columns=NAMES), Y),
    "polars": lambda folder: (polars.DataFrame(HOLES, schema=NAMES), Y),
    "arrow": lambda folder: (pyarrow.table(dict(zip(NAMES, HOLES.T, strict=True))), Y),
    "dicts": lambda folder: [
        ({name: None if np.isnan(x) else x for name, x in zip(NAMES, row, strict=True)}, label)
        for row, label in zip(HOLES.tolist(), Y.tolist(), strict=True)
    ],
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", ["perceptron", "adagrad"])
def test_from_every_source_the_rows_are_those_filled_by_hand(kind, name, tmp_path):
    learner, by_hand = LEARNERS[name](), LEARNERS[name]()
    found = nr.play(learner, read(SOURCES[kind](tmp_path), missing="mean", block_rows=7))
    expected = nr.play(by_hand, (WHOLE, Y))
    assert (found.rounds, found.mistakes) == (expected.rounds, expected.mistakes)
    assert learner.weights == pytest.approx(by_hand.weights, rel=1e-12, abs=1e-14)


def test_a_feature_that_a_sparse_row_does_not_name_is_a_zero_and_not_missing(tmp_path):
    (tmp_path / "s.svm").write_text("1 1:3\n-1 2:1\n1 1:nan 2:nan\n")
    learner = LEARNERS["perceptron"](tie="+1")
    nr.play(learner, read(str(tmp_path / "s.svm"), missing="mean"))
    assert learner.preparation.means.sums.tolist()[:3] == [0.0, 3.0, 1.0]
    prepared = learner.preparation.apply(Dense(np.array([[np.nan, np.nan, np.nan]])), learn=False)
    assert prepared.X.tolist() == [[0.0, 3.0 / 2.0, 1.0 / 2.0]]  # of two rows each; the third was missing


@pytest.mark.parametrize("options", [{}, {"scale": "max"}, {"unit_norm": True, "bias": True}])
@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_matrix])
def test_any_split_is_the_whole_bit_for_bit(options, layout, tmp_path):
    whole = LEARNERS["ogd"](**options)
    nr.play(whole, read((layout(HOLES), Y), missing="mean"))
    for bounds in (range(91), [0, 1, 4, 50, 90]):
        parts = LEARNERS["ogd"](**options)
        for start, stop in itertools.pairwise(bounds):
            if start in (4, 50):
                model.save(parts, tmp_path / "m.nr")
                parts, _ = model.load(tmp_path / "m.nr")
            nr.play(parts, read((layout(HOLES[start:stop]), Y[start:stop]), missing="mean", features=parts.features))
        parts.segments = whole.segments
        assert everything(parts) == everything(whole)
        for ours, theirs in zip(parts.preparation.means.arrays().values(), means_of(whole), strict=True):
            assert np.trim_zeros(ours, "b").tobytes() == np.trim_zeros(theirs, "b").tobytes()


def means_of(core):
    return core.preparation.means.arrays().values()


def test_a_row_of_weight_0_enters_no_mean():
    learner, without = LEARNERS["perceptron"](), LEARNERS["perceptron"]()
    weights = np.resize([1.0, 0.0, 1.0], 90)
    nr.play(learner, read((HOLES, Y, weights), missing="mean"))
    nr.play(without, read((HOLES[weights > 0], Y[weights > 0]), missing="mean"))
    assert learner.weights.tobytes() == without.weights.tobytes()


def test_the_user_s_array_is_left_as_it_was():
    before = HOLES.tobytes()
    nr.play(LEARNERS["perceptron"](), read((HOLES, Y), missing="mean"))
    assert HOLES.tobytes() == before


def test_passes_and_shuffles_fill_in_the_order_of_play():
    learner, by_hand = LEARNERS["perceptron"](), LEARNERS["perceptron"]()
    nr.play(learner, read((HOLES, Y), missing="mean"), passes=2, shuffle=3)
    rng = np.random.default_rng(3)
    order = np.concatenate([rng.permutation(90), rng.permutation(90)])
    nr.play(by_hand, (np.array(filled(HOLES[order].tolist())), Y[order]))
    assert learner.weights == pytest.approx(by_hand.weights, rel=1e-12)


def test_a_learner_that_kept_no_means_is_not_given_some_half_way():
    learner = LEARNERS["perceptron"]()
    nr.play(learner, (X, Y))
    with pytest.raises(nr.InputError, match="missing values cannot become means"):
        nr.play(learner, read((HOLES, Y), missing="mean"))


def test_an_infinity_and_a_missing_label_are_errors_still(tmp_path):
    bad = HOLES.copy()
    bad[40, 1] = np.inf
    with pytest.raises(nr.InputError, match="41: feature 1 must be finite, got inf"):
        nr.play(LEARNERS["perceptron"](), read((bad, Y), missing="mean"))
    with pytest.raises(nr.InputError, match="3: the label is missing"):
        nr.play(LEARNERS["perceptron"](), read((HOLES, np.where(np.arange(90) == 2, np.nan, Y)), missing="mean"))


def test_receipts_stand_on_the_rows_as_read():
    learner = nr.OnlineGradientDescent(radius=2.0, bias=True)
    run = nr.play(learner, read((HOLES, Y), missing="mean"), digest=True)
    receipt = certify(run, read((HOLES, Y), missing="mean"))
    verify(receipt, read((HOLES, Y), missing="mean"))
    other = HOLES.copy()
    other[80, 0] = np.nan if not np.isnan(other[80, 0]) else 0.25
    with pytest.raises(nr.ReceiptError):
        verify(receipt, read((other, Y), missing="mean"))


def test_a_loaded_model_predicts_with_the_means_of_its_rows(tmp_path):
    core = LEARNERS["ogd"](loss="logistic")
    nr.play(core, read((HOLES, Y), missing="mean"))
    core.options = {"missing": "mean"}
    model.save(core, tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    means = [float(np.nanmean(column)) for column in HOLES.T]
    whole = np.where(np.isnan(HOLES), means, HOLES)
    assert loaded.decision_function(HOLES) == pytest.approx(whole @ core.weights, rel=1e-12)
    assert loaded.predict_one({0: None, 1: 1.0}) == loaded.predict_one({0: means[0], 1: 1.0})
    assert loaded.predict_one(HOLES[0]) == loaded.predict([whole[0]])[0]
    assert loaded.partial_fit(HOLES, Y).rounds_ == 180


@pytest.mark.parametrize(
    ("name", "forged"),
    [
        ("sums", np.array([1.0])),
        ("sums", np.full(4, np.nan)),
        ("gaps", np.array([0, 0, -1, 0])),
        ("gaps", np.array([0, 0, 91, 0])),
        ("rows", np.array([0])),
        ("rows", np.zeros(2, np.int64)),
    ],
)
def test_means_that_cannot_be_are_a_damaged_file(name, forged, tmp_path):
    core = LEARNERS["perceptron"]()
    nr.play(core, read((HOLES, Y), missing="mean"))
    setattr(core.preparation.means, name, forged)
    model.save(core, tmp_path / "m.nr")
    with pytest.raises(nr.ModelFileError, match="its means do not fit together"):
        model.load(tmp_path / "m.nr")


def test_selection_asks_for_rows_that_look_the_same_to_all():
    with pytest.raises(nr.SettingError, match="with missing mean a row looks different to every predictor"):
        nr.select(nr.Perceptron(), read((HOLES, Y), missing="mean"))


def test_separate_compare_and_audit_fill_in_alike(tmp_path):
    with_means = nr.separate((HOLES, Y), missing="mean", bias=True)
    assert with_means.answer == nr.separate((WHOLE, Y), bias=True).answer
    one = nr.compare(read((HOLES, Y), missing="mean"), [LEARNERS["perceptron"](), LEARNERS["ogd"]()])
    two = nr.compare((WHOLE, Y), [LEARNERS["perceptron"](), LEARNERS["ogd"]()])
    assert [run.mistakes for run in one.runs.values()] == [run.mistakes for run in two.runs.values()]
    log = pandas.DataFrame(HOLES, columns=NAMES).assign(label=Y, said=1.0)
    full = pandas.DataFrame(WHOLE, columns=NAMES).assign(label=Y, said=1.0)
    found, expected = (nr.audit(one, score="said", **more) for one, more in ((log, {"missing": "mean"}), (full, {})))
    assert found.overall.regret.hi == pytest.approx(expected.overall.regret.hi, rel=1e-9)


def test_what_rules_there_are_is_said():
    with pytest.raises(nr.SettingError, match="missing must be one of error, zero, mean, skip, got 'median'"):
        read((HOLES, Y), missing="median")
