"""Hashed slots are numbered as they come, so that the pool of `auto` sees how wide a table really is."""

import csv
import random
from itertools import chain

import numpy as np
import pytest

import noregret as nr
from noregret.learner.numbering import Numbering
from noregret.stream.block import Dense, Sparse
from noregret.stream.features import Features

CITIES = ("Rome", "Paris", "Oslo")


def recipe():
    """Two columns, eight slots, and a key that came later."""
    features = Features.named(["price", "kind=old"])
    features.set_up_hashing(3)
    features.add("size")
    return features


def rows(rng, count):
    found = [rng.sample(range(11), rng.randrange(5)) for _ in range(count)]
    bounds = np.cumsum([0, *map(len, found)])
    return Sparse(bounds, np.array(list(chain(*found)), np.uint32), np.arange(1.0, bounds[-1] + 1.0))


def twin(found, start, known):
    """A dict that gives each feature from `start` on the next number when it first comes."""
    return [one if one < start else known.setdefault(one, start + len(known)) for one in found]


@pytest.mark.parametrize("seed", range(20))
def test_slots_are_numbered_in_the_order_in_which_they_come(seed):
    rng, numbering, known = random.Random(seed), Numbering(), {}
    numbering.follow(recipe())
    for _ in range(3):
        given = rows(rng, 4)
        found = numbering.take(given)
        assert found.indices.tolist() == twin(given.indices.tolist(), 2, known)
        assert np.array_equal(found.indptr, given.indptr) and np.array_equal(found.values, given.values)
    assert numbering.features(100).tolist() == [0, 1, *known]
    words = [1 if feature == 1 or 2 <= feature < 10 else 0 for feature in (0, 1, *known)]
    assert numbering.words_from(0).tolist() == words and numbering.words_from(2).tolist() == words[2:]


@pytest.mark.parametrize("seed", range(20))
def test_a_row_is_scored_with_the_numbers_that_it_would_be_learned_with(seed):
    rng, numbering = random.Random(seed), Numbering()
    numbering.follow(recipe())
    numbering.take(rows(rng, 1))
    before, later = numbering.slots.copy(), rows(rng, 5)
    scored = numbering.look(later)
    assert np.array_equal(numbering.slots, before), "looking changes nothing"
    for t in range(len(later)):
        kept = Numbering()
        kept.follow(recipe())
        kept.restore(before)
        assert kept.take(later.slice(t, t + 1)).indices.tolist() == scored.slice(t, t + 1).indices.tolist()


def test_a_window_into_more_rows_is_numbered_by_its_own_entries():
    numbering = Numbering()
    numbering.follow(recipe())
    window = Sparse(np.array([2, 3]), np.array([5, 6, 9, 4], np.uint32), np.arange(4.0))
    assert numbering.look(window).indices.tolist() == [2]
    found = numbering.take(window)
    assert (found.indices.tolist(), found.values.tolist(), found.indptr.tolist()) == ([2], [2.0], [0, 1])
    assert numbering.slots.tolist() == [7]


def test_rows_of_a_recipe_without_slots_stay_as_they_are():
    numbering, dense, sparse = (
        Numbering(),
        Dense(np.eye(2)),
        Sparse(np.array([0, 1]), np.array([5], np.uint32), np.ones(1)),
    )
    for features in (None, Features("index", 9), Features.named(["a"])):
        numbering.follow(features)
        assert numbering.take(dense) is dense and numbering.take(sparse) is sparse and numbering.look(sparse) is sparse
    assert numbering.features(3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("slots", [[-1], [3, 3], [[1]]])
def test_slots_of_a_file_that_cannot_be_are_refused(slots):
    with pytest.raises(ValueError, match="slots do not fit together"):
        Numbering().restore(np.array(slots))


def mixed(seed, count=400):
    """Rows of a table with an amount that decides and a word that helps."""
    rng = random.Random(seed)
    for _ in range(count):
        age, city = rng.gauss(40, 10), rng.choice(CITIES)
        yield {"age": round(age, 1), "city": city}, int(age + 5 * (city == "Rome") + rng.gauss(0, 5) > 43)


@pytest.mark.parametrize("seed", range(3))
def test_a_table_with_words_is_learned_as_well_as_with_a_column_for_each_word(tmp_path, seed):
    table = list(mixed(seed))
    with (tmp_path / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["age", "city", "label"], *([x["age"], x["city"], y] for x, y in table)])
    hashed = nr.play(nr.Auto(), nr.read(tmp_path / "table.csv"))
    columns = ({"age": x["age"], **{f"city={city}": float(x["city"] == city) for city in CITIES}} for x, _ in table)
    plain = nr.play(nr.Auto(), (np.array([list(row.values()) for row in columns]), [y for _, y in table]))
    assert hashed.loss <= 1.05 * plain.loss and hashed.mistakes <= 1.15 * plain.mistakes
    assert hashed.mistakes < 0.6 * hashed.baselines["majority_label"]


def test_blocks_single_rows_and_a_stop_between_give_the_same_bits(tmp_path):
    table, whole, alone = list(mixed(5, 120)), nr.Auto(), nr.Auto()
    table = [({**x, "shop": "abcdefgh"[i * i % 7 + (i > 60)]}, y) for i, (x, y) in enumerate(table)]
    nr.play(whole, nr.read(table, categorical=["city", "shop"]))
    nr.play(alone, nr.read(table[:50], categorical=["city", "shop"]))
    alone.save(tmp_path / "half.nr")
    resumed = nr.load(tmp_path / "half.nr")
    for x, y in table[50:]:
        score = resumed.predict_proba_one(x)
        assert resumed.predict_proba_one(x) == score
        resumed.learn_one(x, y)
    probe = {"age": 41.0, "city": "Rome", "shop": "never seen"}
    assert resumed.predict_proba_one(probe) == whole.predict_proba_one(probe)
    assert np.array_equal(resumed.core.standing, whole.core.standing, equal_nan=True)


def test_rows_with_words_that_were_never_learned_can_be_predicted(tmp_path):
    """Every row brings new words: members that are made for few features must not see them as features of their own."""
    rows = [(f"w{i} w{i + 1} common {'good' if i % 2 else 'bad'}", i % 2) for i in range(40)]
    path = tmp_path / "words.csv"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows[:36]))
    model = nr.Auto()
    nr.play(model, nr.read(path, text=["text"]))
    for text, _ in rows:
        alone = model.predict_proba_one({"text": text})
        assert sum(alone.values()) == pytest.approx(1.0)
    late = nr.play_late(nr.Auto(), nr.read(path, text=["text"]), delay=3)
    assert late.figures["labelled"] == 36
