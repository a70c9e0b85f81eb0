"""`auto` as every learner: however a stream is cut, stopped and gone on with, it is the same bit for bit.

Small pools keep it quick; a member of each kind is in one of them.
"""

import itertools
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import noregret as nr
from noregret import model
from noregret.errors import SettingError
from noregret.learner import LEARNERS
from noregret.learner.auto import Auto
from noregret.learner.pool import POOLS
from noregret.stream import read
from oracle.registry import LAYOUTS, everything

SMALL = {
    "binary": (
        "labels,labels-2,adagrad-.15,betting,newton-.02,passive",
        "logs-.15,diagonal-standard,naive-bayes,steps-lagged,quadratic",
        "adagrad-.8,fourier,nearest,bins-.8,crosses-.15,second-order",
    ),
    "multiclass": ("labels,labels-1,softmax-.15,newton", "labels,standard-.15,logs-.15,fourier-.15"),
    "regression": (
        "mean,last,drift,ridge-3,ridge-raw,betting,passive",
        "passive,forgetting-.03,lagged,fourier,crosses-.15",
    ),
}
POOLS_OF = [(task, members) for task, pools in SMALL.items() for members in pools]
every_pool = pytest.mark.parametrize(("task", "members"), POOLS_OF, ids=lambda one: one.partition(",")[0])


def rows(task, seed, rounds=70, columns=5):
    """A stream in general position, features that come late and far in half of the cases, weights in a third."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, columns)) * (rng.random((rounds, columns)) < 0.8)
    signal = X @ rng.normal(size=columns) + 0.3 * rng.normal(size=rounds)
    if seed % 2:
        wide = np.zeros((rounds, 340))
        wide[:, :3], wide[rounds // 2 :, -2:] = X[:, :3], X[rounds // 2 :, 3:]
        X = wide
    y = {"binary": np.sign(signal), "multiclass": np.digitize(signal, [-1.0, 0.0, 1.0]), "regression": 3.0 * signal}[
        task
    ]
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], rounds) if seed % 3 == 0 else None
    return X, y.astype(float), weights


def part(X, y, weights, start, stop, layout):
    return LAYOUTS[layout](X[start:stop]), y[start:stop], None if weights is None else weights[start:stop]


def made(task, members):
    return LEARNERS["auto"](task=task, members=members)


@every_pool
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(4))
def test_one_at_a_time_and_any_split_are_the_whole_block(task, members, layout, seed):
    X, y, weights = rows(task, seed if layout == "sparse" else 2 * seed)
    whole = made(task, members)
    scores = whole.play(*part(X, y, weights, 0, len(y), layout))
    cuts = sorted(np.random.default_rng(seed).integers(0, len(y) + 1, 5).tolist())
    for bounds in (range(len(y) + 1), [0, *cuts, len(y)]):
        pieces = made(task, members)
        played = [pieces.play(*part(X, y, weights, a, b, layout)) for a, b in itertools.pairwise(bounds)]
        assert np.concatenate(played).tobytes() == scores.tobytes()
        assert everything(pieces) == everything(whole)


@every_pool
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_save_load_and_go_on_is_never_having_stopped(task, members, layout, tmp_path):
    """Fifteen random stops in each pool and layout: two hundred in all."""
    rng = np.random.default_rng([5, *members.encode(), *layout.encode()])
    for seed in range(15):
        X, y, weights = rows(task, seed if layout == "sparse" else 2 * seed)
        stop = int(rng.integers(1, len(y)))
        whole, first = made(task, members), made(task, members)
        scores = whole.play(*part(X, y, weights, 0, len(y), layout))
        first.play(*part(X, y, weights, 0, stop, layout))
        model.save(first, tmp_path / "m.nr")
        second, _ = model.load(tmp_path / "m.nr")
        assert everything(second) == everything(first)
        assert second.play(*part(X, y, weights, stop, len(y), layout)).tobytes() == scores[stop:].tobytes()
        assert everything(second) == everything(whole)


def test_there_are_two_hundred_stops():
    assert 15 * 2 * len(POOLS_OF) >= 200


def test_the_members_of_the_small_pools_are_members():
    for task, members in POOLS_OF:
        assert set(members.split(",")) <= {member.name for member in POOLS[task]}


@pytest.mark.parametrize("task", SMALL)
def test_all_members_together_are_split_as_well(task):
    X, y, _ = rows(task, 2)
    whole, pieces = Auto(task=task), Auto(task=task)
    scores = whole.play(*part(X, y, None, 0, 70, "dense"))
    played = [pieces.play(*part(X, y, None, a, b, "dense")) for a, b in itertools.pairwise([0, 1, 30, 31, 70])]
    assert np.concatenate(played).tobytes() == scores.tobytes()
    assert everything(pieces) == everything(whole)


TEXT = ["buy now", "see you at noon", "win a prize now", "lunch at noon?"]


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_table_with_words_is_gone_on_with(task, tmp_path):
    rng = np.random.default_rng(3)
    labels = ["spam", "ham"] if task == "binary" else ["spam", "ham", "news", "mail"]
    lines = [
        f"{labels[i % len(labels)]},{TEXT[i % 4]} {rng.integers(9)},{rng.normal():.3f},{'abc'[rng.integers(3)]}\n"
        for i in range(60)
    ]
    for name, some in (("all", lines), ("a", lines[:23]), ("b", lines[23:])):
        (tmp_path / f"{name}.csv").write_text("label,subject,size,kind\n" + "".join(some))
    how = {"text": ["subject"], "hash_bits": 8}
    members = SMALL[task][0]
    whole, first = made(task, members), made(task, members)
    nr.play(whole, read(tmp_path / "all.csv", **how))
    nr.play(first, read(tmp_path / "a.csv", **how))
    model.save(first, tmp_path / "m.nr")
    second, _ = model.load(tmp_path / "m.nr")
    nr.play(second, read(tmp_path / "b.csv", **how))
    second.segments = whole.segments
    assert everything(second) == everything(whole)


# -- the estimators --------------------------------------------------------------------------------------------------

SHELLS = {"binary": nr.Auto, "multiclass": nr.Auto, "regression": nr.AutoRegressor}


def shell(task, members):
    told = {"task": "multiclass"} if task == "multiclass" else {}
    return SHELLS[task](members=members, shuffle=None, **told)


@every_pool
def test_learn_one_and_partial_fit_are_fit(task, members):
    X, y, _ = rows(task, 2, rounds=40)
    whole, ones, parts = (shell(task, members) for _ in range(3))
    whole.fit(X, y)
    for x, label in zip(X, y, strict=True):
        ones.learn_one(x, label)
    declared = {} if task == "regression" else {"classes": np.unique(y)}
    parts.partial_fit(X[:13], y[:13], **declared).partial_fit(X[13:14], y[13:14]).partial_fit(X[14:], y[14:])
    assert kept(parts.core) == kept(whole.core)
    if task != "multiclass":  # which numbers classes as they come where they are not declared
        assert kept(ones.core) == kept(whole.core)


def kept(core):
    return {name: array.tobytes() for name, array in core.arrays().items()} | {"state": core.state.tobytes()}


@every_pool
def test_dicts_and_pairs_are_the_sparse_rows_they_stand_for(task, members):
    X, y, _ = rows(task, 4, rounds=40)
    whole, dicts, pairs = made(task, members), shell(task, members), shell(task, members)
    whole.play(LAYOUTS["sparse"](X), y if task != "multiclass" else numbered(y))
    for x, label in zip(X, y, strict=True):
        where = np.flatnonzero(x)
        dicts.learn_one({int(i): x[i] for i in where}, label)
        pairs.learn_one((where, x[where]), label)
    assert kept(dicts.core) == kept(whole)
    assert kept(pairs.core) == kept(whole)


def numbered(y):
    """Labels in the order in which they appear."""
    places: dict[float, int] = {}
    return np.array([places.setdefault(label, len(places)) for label in y.tolist()], dtype=float)


@every_pool
def test_predicting_changes_no_byte(task, members):
    X, y, _ = rows(task, 6, rounds=40)
    learned = shell(task, members).fit(X, y)
    other = 5.0 * np.random.default_rng(0).normal(size=(9, 5))
    before, settings = everything(learned.core), pickle.dumps(learned.get_params())
    for way in ("predict", "decision_function", "predict_proba"):
        if hasattr(learned, way):
            getattr(learned, way)(other)
    for x in other:
        learned.predict_one(x)
        learned.predict_one((np.array([1, 3]), x[:2]))
        learned.predict_one({0: x[0], 2: x[2], 90: 1.0})
        if task != "regression":
            assert sum(learned.predict_proba_one(x).values()) == pytest.approx(1.0)
    learned.core.scores(LAYOUTS["sparse"](np.hstack([other, other])))
    assert everything(learned.core) == before
    assert pickle.dumps(learned.get_params()) == settings


def test_the_next_row_is_predicted_as_it_is_played():
    """By members whose rows are as they came; means and deviations take in a row before it is scored."""
    X, y, _ = rows("binary", 8, rounds=30)
    learned = nr.Auto(members="labels,labels-2,betting,diagonal-1,naive-bayes", shuffle=None).partial_fit(X, y)
    found = learned.core.score_one(X[:1])
    assert learned.core.play(LAYOUTS["dense"](X[:1]), y[:1])[0] == found


@every_pool
def test_clones_pickles_and_joblib(task, members, tmp_path):
    X, y, _ = rows(task, 4)
    learned = shell(task, members).partial_fit(X[:40], y[:40])
    assert clone(learned).get_params() == learned.get_params()
    assert not clone(learned).__sklearn_is_fitted__()
    joblib.dump(learned, tmp_path / "m.joblib")
    copies = [pickle.loads(pickle.dumps(learned)), joblib.load(tmp_path / "m.joblib")]
    learned.save(tmp_path / "m.nr")
    copies.append(nr.load(tmp_path / "m.nr"))
    learned.partial_fit(X[40:], y[40:])
    for copy in copies:
        assert type(copy) is SHELLS[task]
        assert everything(copy.partial_fit(X[40:], y[40:]).core) == everything(learned.core)


def test_sparse_matrices_are_the_rows_they_hold():
    X, y, _ = rows("binary", 1)
    members = SMALL["binary"][0]
    one, other = nr.Auto(members=members, shuffle=None), nr.Auto(members=members, shuffle=None)
    one.fit(scipy.sparse.csr_matrix(X), y)
    other.fit(scipy.sparse.csr_array(X), y)
    assert everything(one.core) == everything(other.core)
    assert np.array_equal(one.predict(X), one.predict(scipy.sparse.csr_matrix(X)))


@every_pool
def test_a_round_of_no_weight_is_no_round(task, members):
    X, y, _ = rows(task, 2)
    weights = np.random.default_rng(1).choice([0.0, 1.0], len(y))
    some, other = made(task, members), made(task, members)
    if task == "multiclass":
        some.labels = some.labels.again([0, 1, 2, 3])
        other.labels = other.labels.again([0, 1, 2, 3])
    played = some.play(LAYOUTS["dense"](X), y, weights)
    wanted = other.play(LAYOUTS["dense"](X[weights > 0]), y[weights > 0])
    assert played.reshape(len(y), -1)[weights > 0].tobytes() == wanted.tobytes()
    assert np.isnan(played.reshape(len(y), -1)[weights == 0]).all()
    none = made(task, members)
    none.play(LAYOUTS["dense"](X), y, np.zeros(len(y)))
    assert none.rounds == 0


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_class_weights_are_sample_weights(task):
    X, y, _ = rows(task, 2)
    of = {label: 0.25 * (1 + place) for place, label in enumerate(np.unique(y).tolist())}
    members = SMALL[task][0]
    told = {"task": "multiclass"} if task == "multiclass" else {}
    by_class = nr.Auto(members=members, class_weight=of, shuffle=None, **told).fit(X, y)
    by_row = nr.Auto(members=members, shuffle=None, **told).fit(X, y, sample_weight=np.array([of[one] for one in y]))
    assert kept(by_class.core) == kept(by_row.core)


def test_an_unknown_member_is_a_sentence():
    with pytest.raises(SettingError, match=r"auto: members must name some of .*, got 'newtn'; did you mean newton"):
        Auto(members="labels,newtn")


def test_a_pool_of_nobody_who_plays_on_so_many_features_is_a_sentence():
    wide = np.ones((4, 400))
    with pytest.raises(SettingError, match="auto: members must be able to play on 400 features, and none of those"):
        Auto(members="newton,quadratic").play(LAYOUTS["dense"](wide), np.ones(4))
    assert Auto(members="newton,betting").play(LAYOUTS["dense"](wide), np.ones(4)).shape == (4,)
