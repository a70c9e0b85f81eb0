"""Functions of the user's own: compiled where numba is installed, plain Python otherwise, the same answers."""

import math
import sys
import threading
import warnings
from collections import OrderedDict
from contextlib import contextmanager

import numpy as np
import pytest

import noregret as nr
from noregret import own
from noregret.errors import PlainPythonWarning
from noregret.fingerprint import fingerprint
from noregret.kernel import custom, parse
from noregret.learner import KernelPerceptron
from oracle.registry import LAYOUTS, everything


def overlap(x, z):
    total = 1.0
    for i in range(len(x)):
        total += min(x[i], z[i])
    return total


def fussy(x, z):
    if x[0] > 2.0:
        raise ValueError("a first entry above 2")
    return 1.0


def words(x, z):
    return f"{x} and {z}"


def nowhere(x, z):
    return math.nan


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    own._machine_code.cache_clear()
    own._say_once.cache_clear()
    yield
    own._machine_code.cache_clear()
    own._say_once.cache_clear()


def filled(function, stored, rows):
    G = np.zeros((len(rows), len(stored) + 1))
    custom(function).fill(np.asarray(stored, float), np.asarray(rows, float), G, 1)
    return G[:, 1:].tolist()


def test_every_pair_of_rows_has_its_value():
    stored, rows = [[1.0, 2.0], [3.0, 0.5], [0.0, 0.0]], [[2.0, 2.0], [-1.0, 4.0]]
    assert filled(overlap, stored, rows) == [[overlap(z, x) for z in stored] for x in rows]


def test_without_numba_the_answers_are_the_same_and_it_is_said_once(without_numba, monkeypatch):
    rng = np.random.default_rng(1)
    X, y = np.abs(rng.normal(size=(60, 3))), rng.choice([-1.0, 1.0], 60)
    plain = KernelPerceptron(kernel=overlap)
    with pytest.warns(PlainPythonWarning, match=r"runs as plain Python: pip install 'noregret\[own\]'") as said:
        scores = plain.play(LAYOUTS["dense"](X), y)
        filled(fussy, [[1.0]], [[1.0]])
    assert len(said) == 1
    monkeypatch.undo()
    own._machine_code.cache_clear()
    assert own.compiled(overlap, own.ROWS, "kernel") is not None
    compiled = KernelPerceptron(kernel=overlap)
    assert compiled.play(LAYOUTS["dense"](X), y).tolist() == scores.tolist()


@pytest.mark.parametrize("installed", [True, False])
def test_an_error_of_the_function_is_its_own(installed, request):
    if not installed:
        request.getfixturevalue("without_numba")
    with warnings.catch_warnings(), pytest.raises(ValueError, match="a first entry above 2"):
        warnings.simplefilter("ignore", PlainPythonWarning)
        filled(fussy, [[1.0], [3.0]], [[1.0], [2.0]])


def test_a_value_that_is_not_a_number_stays_one():
    assert all(math.isnan(value) for line in filled(nowhere, [[1.0], [3.0]], [[1.0]]) for value in line)
    with pytest.raises(nr.DivergedError, match="the kernel or the score would overflow in round 1"):
        KernelPerceptron(kernel=nowhere).play(LAYOUTS["dense"](np.ones((2, 1))), np.ones(2))


def test_what_cannot_be_compiled_is_said_in_one_line():
    with pytest.raises(nr.SettingError, match=r"^kernel: words cannot be compiled: [^\n]+$"):
        filled(words, [[1.0]], [[1.0]])


def test_a_function_is_compiled_once_and_again_when_what_it_uses_has_changed(monkeypatch):
    first = own.compiled(scaled, own.NUMBERS, "loss")
    assert own.compiled(scaled, own.NUMBERS, "loss") == first
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert own.compiled(scaled, own.NUMBERS, "loss") != first


FACTOR = 2.0


def scaled(z, y):
    return FACTOR * z * y


def test_rows_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="as long as each other"):
        filled(overlap, [[1.0, 2.0]], [[1.0]])
    with pytest.raises(ValueError, match="as long as each other"):
        parse("linear")([1.0, 2.0], [1.0])


# -- losses ------------------------------------------------------------------------------------------------------------

WIDTH = 1.5


def huber(z, y):
    """Quadratic near y, linear far from it."""
    r = abs(z - y)
    return 0.5 * r * r if r <= WIDTH else WIDTH * (r - 0.5 * WIDTH)


def huber_slope(z, y):
    return math.copysign(min(abs(z - y), WIDTH), z - y)


class Refusal(Exception):
    """Nobody else's."""


ARMED: list[str] = []


def failing(function):
    """The function, which raises an error while it is armed."""

    def refuses(z, y):
        if ARMED:
            raise Refusal(f"armed at {y}")
        return function(z, y)

    return refuses


def bend(z, y):
    return max(1.0 - y * z, 0.0)


def bend_slope(z, y):
    return -y if y * z < 1.0 else 0.0


def own_loss(part, regression):
    value, slope = (huber, huber_slope) if regression else (bend, bend_slope)
    pair = (failing(value), slope) if part == "value" else (value, failing(slope))
    return nr.custom_loss(*pair, regression=regression, lipschitz=WIDTH)


OWN_LOSS = {
    "ball": (nr.OnlineGradientDescent, {}),
    "doubling": (nr.OnlineGradientDescent, {"rate": "doubling"}),
    "strong": (nr.StronglyConvexGradientDescent, {}),
    "truncated": (nr.OnlineGradientDescent, {"domain": "box", "rate": "constant:0.1", "l1": 0.01}),
    "adagrad": (nr.AdaGrad, {}),
    "ftrl": (nr.FollowTheRegularisedLeader, {"l1": 0.1}),
    "coin": (nr.CoinBetting, {"unit_norm": False, "gradient_bound": 10.0}),
    "coin, scaled": (nr.CoinBetting, {}),
    "ball of numbers": (nr.OnlineGradientDescentRegressor, {"rate": "constant:0.1"}),
    "truncated, of numbers": (
        nr.OnlineGradientDescentRegressor,
        {"domain": "box", "rate": "constant:0.1", "l1": 0.01},
    ),
    "adagrad of numbers": (nr.AdaGradRegressor, {}),
    "ftrl of numbers": (nr.FollowTheRegularisedLeaderRegressor, {}),
    "coin of numbers": (nr.CoinBettingRegressor, {}),
}
plainly = pytest.mark.filterwarnings("ignore::noregret.errors.PlainPythonWarning")
every_own_loss = pytest.mark.parametrize("name", OWN_LOSS)
either_part = pytest.mark.parametrize("part", ["value", "slope"])


def with_own_loss(name, part):
    kind, settings = OWN_LOSS[name]
    return kind(loss=own_loss(part, kind._regression), **settings)


@pytest.fixture
def armed():
    """A context in which the functions fail."""

    @contextmanager
    def now():
        ARMED.append("now")
        try:
            yield
        finally:
            ARMED.clear()

    return now


def seen_of(core):
    """What can be seen of a learner: with l1 a weight may have been shrunk by what it owed, which shows nowhere."""
    return core.state.tobytes(), core.weights.tobytes(), core.gradient_sum.tobytes(), core.width, [*core.features.names]


@plainly
@either_part
@every_own_loss
def test_what_a_loss_raises_reaches_the_caller_and_nothing_is_booked(name, part, armed, without_numba):
    model = with_own_loss(name, part)
    for t in range(5):
        model.learn_one({"a": 0.5, f"b{t}": 0.25}, (-1) ** t)
    before = seen_of(model.core)
    for x in ({"a": 1.0}, {"b1": 0.5, "new": 1.0}, OrderedDict(a=0.5), OrderedDict(a=0.5, b0=1.0)):
        with armed(), pytest.raises(Refusal, match="armed at 1"):
            model.learn_one(x, 1)
        assert seen_of(model.core) == before
    model.learn_one({"a": 0.5, "new": 0.25}, 1)
    assert model.rounds_ == 6 and model.features.names[-1] == "new"


@plainly
@either_part
@every_own_loss
def test_a_block_ends_before_the_round_in_which_a_loss_raises(name, part, armed, without_numba):
    rng = np.random.default_rng(3)
    X, y = 0.25 * rng.normal(size=(40, 3)), rng.choice([-1, 1], 40)
    model = with_own_loss(name, part)
    for t in range(4):
        model.learn_one(X[t], y[t])
    before = model.core.weights.tobytes()
    with armed(), pytest.raises(Refusal):
        model.partial_fit(X, y, **({} if model._regression else {"classes": [-1, 1]}))
    assert model.rounds_ == 4 and model.core.weights.tobytes() == before
    model.learn_one(X[5], y[5])
    assert model.rounds_ == 5


@plainly
def test_a_loss_that_calls_its_model_does_no_harm(without_numba):
    """It sees the model in the middle of a round; what it asks for is answered, and the round goes on as it was."""
    seen, models = [], []

    def curious(z, y):
        if models and models[0].core.rounds > 2:
            seen.append(models[0].predict_one({f"f{i}": 0.5 for i in range(2000)}))
        return (z - y) * (z - y)

    def calm(z, y):
        return (z - y) * (z - y)

    def slope(z, y):
        return 2.0 * (z - y)

    for value in (curious, calm):
        model = nr.OnlineGradientDescentRegressor(
            loss=nr.custom_loss(value, slope, regression=True), rate="constant:0.1"
        )
        models.append(model)
        for t in range(20):
            model.learn_one({f"f{t % 5}": 0.5, f"f{t}": 0.25, "z": 0.125, "y": 0.5, "x": -1.0}, 0.5)
    assert len(seen) >= 17
    assert everything(models[0].core) == everything(models[1].core)


@plainly
def test_two_threads_do_not_hear_each_others_errors(without_numba):
    def loud(z, y):
        if y < -1.0:
            raise Refusal("too low")
        return (z - y) * (z - y)

    loss = nr.custom_loss(loud, lambda z, y: 2.0 * (z - y), regression=True)
    heard, wrong = [], []

    def learn(y):
        model = nr.OnlineGradientDescentRegressor(loss=loss, rate="constant:0.1")
        for _ in range(200):
            try:
                model.learn_one({"a": 0.5, "b": 1.0}, y)
            except Refusal:
                heard.append(y)
            except Exception as error:
                wrong.append(error)

    running = [threading.Thread(target=learn, args=(y,)) for y in (-3.0, 1.0, -2.0, 2.0)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    try:
        for thread in running:
            thread.start()
        for thread in running:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in running)
    assert not wrong and sorted(heard) == [-3.0] * 200 + [-2.0] * 200


# Numbers that model files and receipts were sealed with before there was a native core; they stay valid. Bytecode is
# that of a version of Python: what was written under it is read under it.
SEALED = {(3, 11): (36846412651722698, 9933523346314789)}


@pytest.mark.skipif(sys.version_info[:2] not in SEALED, reason="no number was kept of this version of Python")
def test_the_fingerprint_of_a_function_is_the_number_it_was():
    of_loss, of_kernel = SEALED[sys.version_info[:2]]
    assert nr.custom_loss(huber, huber_slope, regression=True).fingerprint == of_loss
    assert fingerprint(huber, huber_slope) == of_loss
    assert fingerprint(overlap) == fingerprint(custom(overlap).function) == of_kernel
