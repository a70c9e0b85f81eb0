"""What is done to rows before they are played, against its definition; splits, saves and predictions change nothing."""

import itertools

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret import model
from noregret.errors import InputError
from noregret.learner import LEARNERS
from noregret.prepare import Preparation
from noregret.stream import Dense, read
from noregret.stream.features import Features
from oracle.preparation import bins, cosines, logs, one_hot, standardised
from oracle.registry import LAYOUTS, MAKE, MANY, everything

CHOICES = [{"scale": "standard"}, {"scale": "log"}, {"scale": "standard", "unit_norm": True}]
CHOICES += [{"expand": "fourier:9:2"}, {"scale": "standard", "expand": "fourier:16", "unit_norm": True}]
DENSE = [
    {"lags": 3},
    {"scale": "standard", "expand": "fourier:5", "lags": 2, "unit_norm": True},
    {"expand": "bins:5"},
    {"expand": "crosses:4"},
    {"scale": "standard", "expand": "quadratic"},
]
CASES = [(told, layout) for told in CHOICES for layout in ("dense", "sparse")] + [(told, "dense") for told in DENSE]
every_choice = pytest.mark.parametrize("told", CHOICES, ids=str)
both_layouts = pytest.mark.parametrize("layout", ["dense", "sparse"])


def some(rows=90, columns=7, seed=0):
    """Columns of all sizes, a constant one, one that begins late, and zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-3, 4, columns) * (rng.random((rows, columns)) < 0.8)
    X[:, 1], X[: rows // 3, 2], X[rows // 2, 3] = 0.1, 0.0, 1e6
    return X, np.where(rng.random(rows) < 0.5, -1.0, 1.0)


def entries(X):
    return [[(i, x) for i, x in enumerate(row) if x] for row in X.tolist()]


def full(rows, width):
    """Prepared rows as a matrix."""
    if isinstance(rows, Dense):
        return rows.X
    X = np.zeros((len(rows), width))
    X[np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), rows.indices] = rows.values
    return X


@both_layouts
def test_standard_is_the_distance_from_the_mean_in_deviations(layout):
    X, _ = some()
    ready = Preparation(scale="standard")
    found = full(ready.apply(LAYOUTS[layout](X[:60]), learn=True), 7)
    np.testing.assert_allclose(found, standardised(entries(X[:60]), 7, learn=True), rtol=1e-9, atol=1e-12)
    assert not found[0].any() and not found[:, 1].any(), "first rows and constant columns are 0"
    assert found.max() == 5.0, "the outlier is clipped"
    before = {name: array.copy() for name, array in ready.arrays().items()}
    later = full(ready.apply(LAYOUTS[layout](X[60:]), learn=False), 7)
    np.testing.assert_allclose(
        later, standardised(entries(X[60:]), 7, False, before=X[:60].tolist()), rtol=1e-9, atol=1e-12
    )
    assert all(np.array_equal(array, before[name]) for name, array in ready.arrays().items())


@both_layouts
def test_standard_keeps_huge_values_finite_and_nan_visible(layout):
    X = np.array([[1e308, 1.0], [-1e308, 2.0], [np.nan, 3.0], [1.0, np.inf], [1.0, 5.0]])
    ready = Preparation(scale="standard")
    found = full(ready.apply(LAYOUTS[layout](X), learn=True), 2)
    assert np.isnan(found[2, 0]) and np.isnan(found[3, 1])
    assert np.isfinite(found[[0, 1, 4]]).all()
    assert all(np.isfinite(array).all() for array in ready.arrays().values())


@both_layouts
def test_log_keeps_the_sign(layout):
    X, _ = some()
    found = full(Preparation(scale="log").apply(LAYOUTS[layout](X), learn=True), 7)
    wanted = [[dict(row).get(i, 0.0) for i in range(7)] for row in logs(entries(X))]
    np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_words_are_not_standardised():
    ages = np.arange(20.0) ** 2 % 7.0
    rows = [{"age": ages[k], "town": "Rome" if k % 2 else "Oslo"} for k in range(20)]
    table = {"age": [row["age"] for row in rows], "town": [row["town"] for row in rows]}
    y = np.where(np.arange(20) % 3, 1.0, -1.0)
    for given in (list(zip(rows, y, strict=True)), (pd.DataFrame(table), y)):
        stream = read(given)
        core = LEARNERS["adagrad"](scale="standard")
        nr.play(core, stream)
        block = next(iter(read(given, features=core.features).blocks())).rows
        found = core.preparation.apply(block, learn=False, features=core.features)
        values = dict(zip(found.indices[found.indptr[19] :].tolist(), found.values[found.indptr[19] :], strict=True))
        assert sorted(values.values()) == pytest.approx([1.0, (ages[19] - ages.mean()) / ages.std()])


def test_too_many_columns_are_refused_and_words_do_not_count():
    y = [1, -1]
    wide = LAYOUTS["sparse"](np.ones((2, 1001)))
    with pytest.raises(Exception, match="at most 1000 columns are allowed, got 1001: use scale='max' or scale='log'"):
        LEARNERS["adagrad"](scale="standard").play(wide, np.array([1.0, -1.0]))
    with pytest.raises(InputError, match="at most 1000 columns"):
        nr.play(LEARNERS["adagrad"](scale="standard"), [({str(k): 1.0 for k in range(1001)}, label) for label in y])
    features = Features.named([f"word={k}" for k in range(1500)])
    found = Preparation(scale="standard").apply(LAYOUTS["sparse"](np.eye(2, 1500)), True, features)
    assert found.values.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("told", "layout"), CASES, ids=str)
def test_any_split_and_a_stop_on_disk_give_the_same_bits(told, layout, tmp_path):
    X, y = some(seed=3)
    whole = LEARNERS["adagrad"](bias=True, **told)
    scores = whole.play(LAYOUTS[layout](X), y)
    rng = np.random.default_rng(4)
    for cuts in (range(len(y) + 1), [0, *sorted(rng.integers(0, len(y), 3).tolist()), len(y)]):
        core, found = LEARNERS["adagrad"](bias=True, **told), []
        for start, stop in itertools.pairwise(cuts):
            found.append(core.play(LAYOUTS[layout](X[start:stop]), y[start:stop]))
            model.save(core, tmp_path / "m.nr")
            core, _ = model.load(tmp_path / "m.nr")
        assert np.concatenate(found).tobytes() == scores.tobytes()
        assert everything(core) == everything(whole)


@pytest.mark.parametrize("told", DENSE, ids=str)
def test_single_arrays_play_the_rows_of_a_stream(told):
    X, y = some(rows=150, seed=5)
    one, other = (nr.AdaGrad(bias=True, **told) for _ in range(2))
    nr.play(one, (X, y))
    for row, label in zip(X, y, strict=True):
        other.learn_one(row, label)
    before = everything(other.core)
    assert one.core.weights.tobytes() == other.core.weights.tobytes()
    assert other.predict(X[:1]).tolist() == [other.predict_one(X[0])]
    assert everything(other.core) == before


@every_choice
def test_single_examples_play_the_rows_of_a_stream(told):
    X, y = some(seed=5)
    names = [f"c{i}" for i in range(X.shape[1])]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    one, other = (nr.AdaGrad(bias=True, **told) for _ in range(2))
    nr.play(one, list(zip(rows, y, strict=True)))
    for row, label in zip(rows, y, strict=True):
        other.learn_one(row, label)
    before = everything(other.core)
    assert one.core.weights.tobytes() == other.core.weights.tobytes()
    assert [one.predict_one(row) for row in rows] == [other.predict_one(row) for row in rows]
    assert everything(other.core) == before


@both_layouts
def test_cosines_are_those_of_the_definition(layout):
    X, _ = some(rows=20)
    X /= np.abs(X).max(axis=0)
    ready = Preparation(expand="fourier:11:1.5")
    found = ready.apply(LAYOUTS[layout](X), learn=True).X
    np.testing.assert_allclose(found, cosines(entries(X), 11, 1.5), rtol=0, atol=1e-13)
    again = ready.apply(LAYOUTS[layout](X[3:5]), learn=False).X
    assert again.shape == (2, 11)
    assert not np.array_equal(again, found[3:5]), "column 2 was 0 then, and counts now"


def test_cosines_are_near_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[0] = 1.0
    found = Preparation(expand="fourier:10000").apply(Dense(X), learn=True).X
    gaps = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found @ found.T, np.exp(-gaps / 8.0), atol=0.06)


def test_far_features_have_cosines_without_a_table():
    rows = LAYOUTS["sparse"](np.array([[1.0, 2.0]]))
    far = type(rows)(rows.indptr, np.array([5, 2_000_000], np.uint32), rows.values)
    found = Preparation(expand="fourier:6").apply(far, learn=True).X
    np.testing.assert_allclose(found, cosines([[(5, 1.0), (2_000_000, 2.0)]], 6, 1.0), atol=1e-13)


@pytest.mark.parametrize("values", [[1e300], [np.inf], [np.nan], [1e12]])
def test_cosines_stay_between_their_limits_or_become_nan(values):
    found = Preparation(expand="fourier:4").apply(Dense(np.array([values])), learn=True).X
    assert np.isnan(found).all() if not np.isfinite(values).all() else (np.abs(found) <= np.sqrt(0.5) + 1e-15).all()


@pytest.mark.parametrize("kind", ["bins", "crosses"])
def test_bins_and_crosses_are_those_of_the_definition(kind):
    X, _ = some(rows=600)
    found = Preparation(expand=f"{kind}:6").apply(Dense(X), learn=True)
    wanted = one_hot(bins(X.tolist(), 6), 6, kind == "crosses")
    assert found.width == 7 * 6 + (2**16 if kind == "crosses" else 0)
    for t, row in enumerate(wanted):
        part = slice(found.indptr[t], found.indptr[t + 1])
        assert dict(zip(found.indices[part].tolist(), found.values[part].tolist(), strict=True)) == row
        assert len(set(found.indices[part].tolist())) == part.stop - part.start


def test_the_edges_of_bins_are_frozen_after_2048_rows():
    X, _ = some(rows=2100)
    ready = Preparation(expand="bins:4")
    ready.apply(Dense(X), learn=True)
    edges = ready.arrays()["bins.edges"].copy()
    assert ready.arrays()["bins.past"].shape == (0, 7)
    ready.apply(Dense(100.0 * X), learn=True)
    assert np.array_equal(ready.arrays()["bins.edges"], edges)


def test_quadratic_has_every_product_once():
    X = np.array([[2.0, 3.0, 5.0]])
    found = Preparation(expand="quadratic").apply(Dense(X), learn=True)
    assert found.X.tolist() == [[2.0, 4.0, 3.0, 6.0, 9.0, 5.0, 10.0, 15.0, 25.0]]


def test_columns_that_were_made_have_names():
    names = ["a", "b", "c"].__getitem__
    X = np.arange(96.0).reshape(32, 3)
    made = {told: Preparation(expand=told) for told in ("quadratic", "bins:2", "crosses:2", "fourier:3")}
    for one in made.values():
        one.apply(Dense(X), learn=True)
    called = {told: one.expansion.name_of for told, one in made.items()}
    assert [called["quadratic"](k, names) for k in (2, 1, 3, 8)] == ["b", "a·a", "a·b", "c·c"]
    assert [called["bins:2"](k, names) for k in (0, 3)] == ["a in [-inf, 48)", "b in [49, inf)"]
    assert called["crosses:2"](0, names) == "cross 0"
    assert called["fourier:3"](2, names) == "cosine 2"


@pytest.mark.parametrize(
    "told", ["fourier:0", "fourier:9:-1", "fourier:x", "bins:1", "crosses:300", "quadratic:2", "cubic"]
)
def test_an_expansion_that_there_is_not_is_refused(told):
    with pytest.raises(nr.SettingError, match=f"adagrad: expand must be fourier:D .*got '{told}'"):
        LEARNERS["adagrad"](expand=told)


def test_rows_that_cannot_be_expanded_are_refused():
    y = np.array([1.0])
    for told, most in (("quadratic", 60), ("crosses", 40), ("bins", 1000)):
        with pytest.raises(nr.SettingError, match=f"are for at most {most} columns, got {most + 1}"):
            LEARNERS["adagrad"](expand=told).play(Dense(np.ones((1, most + 1))), y)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_lags_put_the_last_labels_first(k):
    X, y = some(rows=30)
    core = LEARNERS["adagrad"](lags=k)
    cut = core.preparation.apply(Dense(X[:20]), True, y=y[:20])
    wanted = [[y[t - lag] if t >= lag else 0.0 for lag in range(1, k + 1)] for t in range(20)]
    assert np.array_equal(cut.X[:, k:], X[:20]) and cut.X[:, :k].tolist() == wanted
    scored = core.preparation.apply(Dense(X[20:]), False)
    unknown = [[y[20 + t - lag] if lag > t else 0.0 for lag in range(1, k + 1)] for t in range(10)]
    assert scored.X[:, :k].tolist() == unknown, "only the first row that is scored knows the label before it"
    assert core.needs_past and not LEARNERS["adagrad"]().needs_past
    assert core.preparation.name_of(0, str) == "label 1 before" and core.preparation.name_of(k, str) == "0"


def test_a_batch_is_scored_alike_however_it_is_cut():
    X, y = some(rows=30)
    core = LEARNERS["adagrad"](lags=3)
    core.play(Dense(X[:20]), y[:20])
    parts = [core.scores(Dense(X[20 + a : 20 + b]), ahead=a) for a, b in itertools.pairwise([0, 1, 2, 6, 10])]
    assert np.concatenate(parts).tobytes() == core.scores(Dense(X[20:])).tobytes()


def test_lags_of_classes_are_one_hot_and_of_numbers_the_numbers():
    X, _ = some(rows=12)
    y = np.arange(12.0)
    found = LEARNERS["multiclass"](lags=2).preparation.apply(Dense(X), True, y=y).X[:, :20]
    assert found[2].tolist() == [*np.eye(10)[1], *np.eye(10)[0]]
    assert found[11].tolist() == [0.0] * 10 + [*np.eye(10)[9]], "the eleventh class has no place"
    assert LEARNERS["vaw"](lags=2).preparation.apply(Dense(X), True, y=y).X[5, :2].tolist() == [4.0, 3.0]


def test_lags_find_labels_that_alternate():
    y = np.where(np.arange(400) % 2, 1.0, -1.0)
    X = np.zeros((400, 1))
    assert nr.play(nr.AdaGrad(lags=1), (X, y)).mistakes < 5 < 150 < nr.play(nr.AdaGrad(bias=True), (X, y)).mistakes


@pytest.mark.parametrize("name", [name for name in LEARNERS if name in MAKE])
def test_every_learner_plays_prepared_rows_one_at_a_time(name):
    X, y = some(rows=40)
    y = np.where(y > 0.0, 1.0, 0.0) if name in MANY and name != "auto" else y
    told = {"scale": "standard", "expand": "quadratic", "lags": 2, "unit_norm": True}
    whole, single = (MAKE[name]("squared" if name == "vaw" else "hinge", **told) for _ in range(2))
    scores = whole.play(Dense(X), y)
    parts = [single.play(Dense(X[t : t + 1]), y[t : t + 1]) for t in range(len(y))]
    assert np.concatenate(parts).tobytes() == scores.tobytes()
    assert everything(single) == everything(whole)


def test_what_lags_cannot_do_is_refused():
    with pytest.raises(nr.SettingError, match="lags must be at most 8, got 9"):
        LEARNERS["adagrad"](lags=9)
    with pytest.raises(nr.SettingError, match="shuffle must be left out: rows with lags must keep their order"):
        nr.play(LEARNERS["adagrad"](lags=1), ([[1.0], [2.0]], [1, -1]), shuffle=1)


@every_choice
def test_dense_and_sparse_rows_are_played_alike(told):
    X, y = some(seed=6)
    dense, sparse = (LEARNERS["adagrad"](**told).play(LAYOUTS[layout](X), y) for layout in ("dense", "sparse"))
    np.testing.assert_allclose(dense, sparse, rtol=1e-12, atol=1e-12)


def test_a_damaged_model_file_is_refused(tmp_path):
    X, y = some()
    core = LEARNERS["adagrad"](scale="standard")
    core.play(Dense(X), y)
    core.preparation.moments.squares[0] = -1.0
    model.save(core, tmp_path / "m.nr")
    with pytest.raises(nr.ModelFileError, match="its means and deviations do not fit together"):
        model.load(tmp_path / "m.nr")
