"""An example that `auto` refuses leaves everything as it was: labels, names, views, members, mixture.

Each refusal is met by a new model, by one after a round or two, and by one in the midst of a stream; afterwards it is,
byte for byte, one that never met it, and goes on as such.
"""

import numpy as np
import pytest

from noregret import Auto, AutoRegressor
from noregret.errors import NoregretError
from noregret.learner import Auto as Core
from noregret.stream.block import Dense
from noregret.stream.features import Features
from oracle.registry import everything

BEFORE = (0, 1, 3, 40)
AFTER = 12
COLUMNS = 4


REFUSED = (NoregretError, ValueError, TypeError, OverflowError)


class Strange:
    """What has a number in it that cannot be had."""

    def __float__(self):
        raise TypeError("no number")


def examples(kind, count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, COLUMNS)).round(3)
    if kind == "array":
        return list(X)
    if kind == "pair":
        return [(np.flatnonzero(row > -0.5), row[row > -0.5]) for row in X]
    if kind == "dict":
        return [{f"f{i}": value for i, value in enumerate(row)} for row in X.tolist()]
    return [{"size": row[0], "kind": "abc"[i % 3], f"f{i % 5}": row[1]} for i, row in enumerate(X.tolist())]


def labels(task, count, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "binary": rng.choice(["ham", "spam"], count).tolist(),
        "signs": rng.choice([-1, 1], count).tolist(),
        "multiclass": rng.choice(["a", "b", "c"], count).tolist(),
        "regression": rng.normal(size=count).tolist(),
    }[task]


def wrong_rows(kind, rounds):
    """What is no example of this kind, whatever its label."""
    if kind == "array":
        for bad in (np.nan, np.inf, -np.inf):
            yield [1.0, bad, 0.0, 2.0], f"{bad}"
            yield np.array([bad, 1.0, 0.0, 2.0]), f"array {bad}"
        yield np.zeros((2, COLUMNS)), "two rows"
        yield ["a", "b", "c", "d"], "words"
        yield [1.0, None, 0.0, 2.0], "None"
        yield [1.0, Strange(), 0.0, 2.0], "strange"
        yield np.array([1.0, 2j, 0.0, 1.0]), "complex"
        yield "text", "text"
        yield None, "nothing"
        yield 3.0, "a number"
        return
    if kind == "pair":
        for bad in (np.nan, np.inf):
            yield (np.array([0, 9]), np.array([1.0, bad])), f"{bad} behind a new index"
        yield (np.array([0, 0]), np.ones(2)), "twice"
        yield (np.array([-1]), np.ones(1)), "negative"
        yield (np.array([2**40]), np.ones(1)), "too large an index"
        yield (np.array([0.5]), np.ones(1)), "half an index"
        yield (np.array([0, 1]), np.ones(1)), "two lengths"
        yield ([0, 1], ["a", "b"]), "words"
        yield (None, None), "nothing"
        return
    for bad in (np.nan, np.inf, None, [1.0], b"x", 2j, Strange(), (1,), 10**400):
        yield {"f0": 1.0, "new": bad}, f"{bad!r:.20} under a new name"
        yield {"another": 1.0, "f0": bad}, f"{bad!r:.20} behind a new name"
    yield {"f0": 1.0, 3: 2.0}, "an index among names"
    yield {None: 1.0}, "no name"
    yield {("f", 0): 1.0}, "a tuple as a name"


def huge(kind):
    """Numbers too large to be squared, with a new feature where there may be one."""
    if kind == "array":
        return np.array([1.0, 1e200, 0.0, -1e200])
    return (np.array([0, 7]), np.array([1e200, 1.0])) if kind == "pair" else {"f0": 1e200, "new": 1.0}


def wrong_labels(task, rounds):
    if task == "regression":
        return [np.nan, np.inf, -np.inf, "x", None, [1.0], 1e200, -1e160, 10**400]
    third = (task == "signs" and rounds >= 1) or (task == "binary" and rounds >= 3)
    return [np.nan, None, [1], {}, *(["third", 7, 2.5] if third else [])]


def started(task, kind, rounds):
    model = AutoRegressor() if task == "regression" else Auto(task="multiclass" if task == "multiclass" else "binary")
    for x, y in zip(examples(kind, rounds), labels(task, rounds), strict=True):
        model.learn_one(x, y)
    assert model.core.rounds <= rounds  # its learner is there, whether it has learned or not
    return model


def said(model):
    """Everything that a model is, as far as it can be compared."""
    own = {name: value for name, value in vars(model).items() if name not in ("_core", "_pair")}
    core = model.core
    numbering = core.numbering
    more = core.reached.tolist(), core.out.tolist(), numbering.start, [view.arrays().keys() for view in core.views]
    return repr((own, more)), everything(core), core.record.tobytes()


def go_on(model, kind, task):
    for x, y in zip(examples(kind, AFTER, 5), labels(task, AFTER, 6), strict=True):
        model.predict_one(x)
        model.learn_one(x, y)
    return said(model)


def refusals(task, kind, rounds):
    """What must be refused after so many rounds: an example, its label, its weight, and what is wrong."""
    x, known = examples(kind, 1, 7)[0], labels(task, 3)
    for wrong, what in wrong_rows(kind, rounds):
        yield from ((wrong, label, 1.0, what) for label in dict.fromkeys(known))
    yield huge(kind), known[0], 1.0, "too large"
    yield huge(kind), known[0], 0.5, "too large, of a smaller weight"
    yield from ((x, label, 1.0, f"label {label!r:.20}") for label in wrong_labels(task, rounds))
    yield from ((x, known[0], weight, f"weight {weight!r}") for weight in (-1.0, np.nan, np.inf, "x", None))


TASKS = ("binary", "signs", "multiclass", "regression")
CASES = [(task, kind) for task in TASKS for kind in ("array", "pair", "dict", "words")]


@pytest.mark.parametrize(("task", "kind"), CASES)
@pytest.mark.parametrize("rounds", BEFORE)
def test_what_is_refused_changes_nothing(task, kind, rounds):
    model, other = started(task, kind, rounds), started(task, kind, rounds)
    before = said(model)
    for wrong, label, weight, what in refusals(task, kind, rounds):
        try:
            model.learn_one(wrong, label, weight)
        except REFUSED:
            assert said(model) == before, what
        else:
            pytest.fail(f"accepted: {what}")
    assert go_on(model, kind, task) == go_on(other, kind, task)


@pytest.mark.parametrize(("task", "kind"), CASES)
def test_a_weight_near_the_largest_number_is_learned_or_changes_nothing(task, kind):
    model, other = started(task, kind, 20), started(task, kind, 20)
    before = said(model)
    try:
        model.learn_one(examples(kind, 1, 7)[0], labels(task, 3)[0], 1e308)
    except REFUSED:
        assert said(model) == before
        assert go_on(model, kind, task) == go_on(other, kind, task)
    else:
        assert model.core.rounds == 21


def test_what_is_held_until_another_label_comes_can_be_learned_then():
    """An example is held while the one label so far does not tell the other: what cannot be learned is refused now."""
    model = Auto()
    model.learn_one({"a": 1.0}, "spam")
    for wrong in ({3: 1.0}, {"b": [1.0]}, {"b": 1e200}, {"a": float("nan")}):
        for label in ("spam", "ham"):
            with pytest.raises(REFUSED):
                model.learn_one(wrong, label)
    assert not model.core.rounds
    model.learn_one({"b": 2.0}, "spam").learn_one({"c": 3.0}, "ham")
    assert model.core.rounds == 3
    assert model.features.names == ["a", "b", "c"]
    plain = Auto()
    for x, y in (({"a": 1.0}, "spam"), ({"b": 2.0}, "spam"), ({"c": 3.0}, "ham")):
        plain.learn_one(x, y)
    assert said(model) == said(plain)


def test_a_block_ends_before_the_first_row_that_is_refused():
    """As with other learners the rounds before it are played, and it leaves no trace."""
    X, y = np.random.default_rng(3).normal(size=(70, 3)), np.tile([1.0, -1.0], 35)
    X[41] = 1e200
    whole, before = Core(), Core()
    whole.features, before.features = Features("columns", 3), Features("columns", 3)
    with pytest.raises(NoregretError, match="in round 42"):
        whole.play(Dense(X), y)
    before.play(Dense(X[:41]), y[:41])
    assert everything(whole) == everything(before)
