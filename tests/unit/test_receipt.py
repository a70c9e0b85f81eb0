"""Receipts: what they hold, that they verify, and that no number in them can be changed unnoticed."""

import json
import math

import msgspec
import numpy as np
import pytest
import scipy.sparse

import noregret as nr
from noregret.errors import InputError, ReceiptError, SettingError
from noregret.proof.certify import certify
from noregret.proof.receipt import Receipt, checksum, packed, unpacked
from noregret.proof.verify import verify
from noregret.stream import read
from oracle.forging import changed, false, loose, numbers


def labelled(seed, rounds=60, features=4, regression=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    signal = X @ rng.normal(size=features) + 0.5 * rng.normal(size=rounds)
    return X, signal if regression else np.where(signal > 0, 1, -1)


CASES = {
    "perceptron": (nr.Perceptron, {}, {"radius": 2.0}),
    "perceptron with bias, rate and tie": (nr.Perceptron, {"bias": True, "rate": 0.5, "tie": "+1"}, {}),
    "ogd": (nr.OnlineGradientDescent, {"radius": 3.0}, {}),
    "ogd anytime": (nr.OnlineGradientDescent, {"radius": 3.0, "loss": "logistic"}, {"anytime": True}),
    "ogd sqrt": (nr.OnlineGradientDescent, {"radius": 3.0, "rate": "sqrt:0.3", "loss": "squared-hinge"}, {}),
    "ogd constant": (nr.OnlineGradientDescent, {"radius": 3.0, "rate": "constant:0.1", "bias": True}, {}),
    "ogd horizon": (nr.OnlineGradientDescent, {"radius": 3.0, "rate": "horizon:60:5"}, {}),
    "ogd doubling": (nr.OnlineGradientDescent, {"radius": 3.0, "rate": "doubling:9"}, {}),
    "ogd without a ball": (
        nr.OnlineGradientDescent,
        {"radius": math.inf, "rate": "constant:0.1"},
        {"radii": [1.0, 4.0]},
    ),
    "ogd in a box": (nr.OnlineGradientDescent, {"radius": 1.0, "domain": "box", "rate": "sqrt:0.3"}, {}),
    "ogd, unit norm": (nr.OnlineGradientDescent, {"unit_norm": True, "scale": "max", "radius": 3.0}, {}),
    "strong": (nr.StronglyConvexGradientDescent, {"sigma": 0.3}, {}),
    "strong in a ball": (nr.StronglyConvexGradientDescent, {"sigma": 0.3, "radius": 0.5}, {"anytime": True}),
    "squared": (nr.OnlineGradientDescentRegressor, {"rate": "sqrt:0.1", "radius": 2.0}, {}),
    "absolute": (nr.OnlineGradientDescentRegressor, {"loss": "absolute", "radius": 2.0}, {}),
    "huber": (nr.OnlineGradientDescentRegressor, {"loss": "huber:0.5", "radius": 2.0}, {}),
    "pinball": (nr.OnlineGradientDescentRegressor, {"loss": "pinball:0.9", "radius": 2.0}, {}),
    "margin hinge": (nr.OnlineGradientDescent, {"loss": "margin-hinge:0.3", "radius": 2.0}, {}),
    "second-order": (nr.SecondOrderPerceptron, {"bias": True, "ridge": 0.5}, {"radius": 2.0}),
    "diagonal": (nr.DiagonalNewton, {"bias": True}, {"radius": 2.0}),
    "newton": (nr.LogisticNewton, {"bias": True, "walk": 0.01}, {"radius": 2.0}),
    "vaw": (nr.VovkAzouryWarmuth, {}, {"radii": [0.5]}),
    "vaw anytime": (nr.VovkAzouryWarmuth, {"bias": True, "ridge": 0.3}, {"anytime": True}),
}


def certified(name, seed=0, **more):
    kind, settings, asked = CASES[name]
    X, y = labelled(seed, regression=kind._regression, **more)
    return certify(nr.play(kind(**settings), (X, y)), (X, y), **asked), (X, y)


@pytest.mark.parametrize("name", CASES)
def test_an_untouched_receipt_stands(name):
    receipt, stream = certified(name)
    assert not receipt.broken
    assert len(verify(receipt, stream).checks) > 15


@pytest.mark.parametrize("name", CASES)
def test_a_saved_receipt_is_the_same_and_stands_on_other_blocks_and_layouts(name, tmp_path):
    receipt, (X, y) = certified(name, seed=1)
    receipt.save(tmp_path / "r.json")
    loaded = Receipt.load(tmp_path / "r.json")
    assert loaded.to_dict() == receipt.to_dict()
    for size in (1, 7):
        verify(tmp_path / "r.json", read((X, y), block_rows=size))
    if "loss" not in name:
        verify(loaded, (scipy.sparse.csr_matrix(X), y))


def write(path, body, anew=True):
    """A receipt file; with its checksum computed anew, or as it was."""
    path.write_bytes(msgspec.json.encode({**body, "checksum": checksum(body) if anew else body["checksum"]}))
    return path


@pytest.mark.parametrize(
    "name",
    [
        "perceptron",
        "ogd anytime",
        "ogd sqrt",
        "strong in a ball",
        "squared",
        "ogd without a ball",
        "second-order",
        "vaw anytime",
    ],
)
def test_no_number_can_say_too_much(name, tmp_path):
    receipt, stream = certified(name, rounds=24, features=3)
    receipt.save(tmp_path / "good.json")
    body = json.loads((tmp_path / "good.json").read_text())
    found = list(numbers(body))
    assert len(found) > 20
    for path, value in found:
        for wrong in false(path, value):
            with pytest.raises(ReceiptError) as said:
                verify(write(tmp_path / "bad.json", changed(body, path, wrong), anew=False), stream)
            assert "checksum" in str(said.value) or "version" in str(said.value), path
            clean = {key: part for key, part in body.items() if key != "checksum"}
            with pytest.raises(ReceiptError) as said:
                verify(write(tmp_path / "bad.json", changed(clean, path, wrong)), stream)
            assert said.value.failed or path == ("version",), (path, str(said.value))


@pytest.mark.parametrize("name", ["perceptron", "ogd anytime", "strong in a ball", "vaw anytime"])
def test_claims_that_are_looser_than_need_be_stand(name):
    """Of intervals and figures; a looser bound may have another verdict."""
    receipt, stream = certified(name, rounds=24, features=3)
    body = json.loads(json.dumps({key: part for key, part in vars(receipt).items() if key != "points"}))
    stood = 0
    for path, value in numbers({key: part for key, part in body.items() if key != "certificates"}):
        wider = loose(path, value)
        if wider is not None and "comparator" not in path:  # whose width is a claim of its own
            verify(Receipt(**changed(body, path, wider), points=receipt.points), stream)
            stood += 1
    assert stood > 10


def stands(receipt, stream):
    try:
        verify(receipt, stream)
    except ReceiptError as error:
        assert error.failed
        return False
    return True


@pytest.mark.parametrize("name", CASES)
def test_a_vector_that_proves_less_is_found_out(name):
    """Another vector may prove as much, but none of those claimed can be moved in every direction."""
    receipt, stream = certified(name, rounds=30)
    for key, vector in receipt.points.items():
        moved = []
        for place in {0, len(vector) // 2, len(vector) - 1}:
            for step in (1e-3, -1e-3):
                spoiled = vector.copy()
                spoiled[place] += step
                moved.append(Receipt(**{**vars(receipt), "points": {**receipt.points, key: spoiled}}))
        assert not all(stands(one, stream) for one in moved), key


def with_digests(receipt, stream, name):
    """The receipt as a forger would have it: every digest that of the changed stream."""
    kind, settings, _ = CASES[name]
    run = nr.play(kind(**settings), stream, digest=True)
    segments = [{**receipt.segments[0], "digest": run.digest}]
    return Receipt(**{**vars(receipt), "segments": segments})


@pytest.mark.parametrize("name", CASES)
def test_a_changed_row_and_swapped_rows_are_found_out(name):
    receipt, (X, y) = certified(name, seed=2)
    rng = np.random.default_rng(5)
    for _ in range(6):
        other = X.copy(), y.copy()
        first, second = rng.choice(len(y), 2, replace=False)
        if rng.random() < 0.5:
            other[0][first, rng.integers(X.shape[1])] += 1e-3
        else:
            for part in other:
                part[[first, second]] = part[[second, first]]
        with pytest.raises(ReceiptError, match="digest of stream 1"):
            verify(receipt, other)
        with pytest.raises(ReceiptError) as said:
            verify(with_digests(receipt, other, name), other)
        assert "digest" not in str(said.value)


def test_the_interval_holds_the_regret_that_a_fine_grid_finds():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 1)), np.where(rng.random(40) < 0.3, -1, 1)
    learner = nr.OnlineGradientDescent(radius=2.0)
    run = nr.play(learner, (X, y))
    regret = certify(run, (X, y), gap=1e-9).regret
    grid = np.linspace(-2.0, 2.0, 200_001)
    best = min(float(np.maximum(1.0 - y * (X[:, 0] * u), 0.0).sum()) for u in grid[::100])
    near = grid[
        np.abs(grid - grid[::100][np.argmin([np.maximum(1 - y * X[:, 0] * u, 0).sum() for u in grid[::100]])]) < 0.01
    ]
    best = min(best, *(float(np.maximum(1.0 - y * (X[:, 0] * u), 0.0).sum()) for u in near))
    assert regret["lower"] - 1e-9 <= run.loss - best + 1e-4
    assert run.loss - best <= regret["upper"] + 1e-9


def test_several_streams_passes_and_shuffles_are_replayed(tmp_path):
    X, y = labelled(7)
    learner = nr.OnlineGradientDescent(radius=2.0)
    nr.play(learner, (X[:20], y[:20]), passes=2, shuffle=3)
    run = nr.play(learner, (X[20:], y[20:]), class_weight={1: 2.0})
    receipt = certify(run, (X[:20], y[:20]), (X[20:], y[20:]))
    assert receipt.figures["rounds"] == 80
    verify(receipt, (X[:20], y[:20]), (X[20:], y[20:]))
    with pytest.raises(SettingError, match="2 streams, 1 were given"):
        certify(run, (X, y))
    with pytest.raises(ReceiptError, match="2 streams, 1 were given"):
        verify(receipt, (X, y))


def test_a_run_that_was_stopped_and_resumed_is_one_stream():
    X, y = labelled(8)
    learner, count = nr.OnlineGradientDescent(radius=2.0), iter(range(100))
    nr.play(learner, read((X, y), block_rows=10), digest=True, stop=lambda: next(count) == 2)
    run = nr.play(learner, read((X, y), block_rows=7), digest=True, skip_seen=True)
    receipt = certify(run, (X, y))
    assert receipt.figures["rounds"] == 60
    verify(receipt, (X, y))


def test_what_cannot_be_replayed_is_said():
    X, y = labelled(9)
    learner = nr.OnlineGradientDescent(radius=2.0)
    learner.fit(X, y)
    run = nr.play(learner, (X, y))
    with pytest.raises(SettingError, match="some rounds were not played from a stream"):
        certify(run, (X, y))
    again = nr.OnlineGradientDescent(radius=2.0)
    first = nr.play(again, (X, y))
    with pytest.raises(InputError, match="not the rows that this model learned from"):
        certify(first, (X[::-1], y[::-1]))
    nr.play(again, (X, y))
    with pytest.raises(SettingError, match="has learned more since"):
        certify(first, (X, y))


def test_radii_that_make_no_sense_are_refused():
    X, y = labelled(10)
    run = nr.play(nr.OnlineGradientDescent(radius=2.0), (X, y))
    with pytest.raises(SettingError, match="the learner has the radius 2; leave out the other, 3"):
        certify(run, (X, y), radius=3.0)
    with pytest.raises(SettingError, match="radius must be positive and finite, got -1"):
        certify(run, (X, y), radius=-1.0)
    with pytest.raises(SettingError, match="anytime needs a radius"):
        certify(nr.play(nr.Perceptron(), (X, y)), (X, y), anytime=True)


def test_a_loss_of_ones_own_is_certified_by_convexity_and_needed_again_to_verify():
    X, y = labelled(11)
    own = nr.custom_loss(lambda z, y: (1.0 - y * z) ** 2, lambda z, y: -2.0 * y * (1.0 - y * z), name="square margin")
    run = nr.play(nr.OnlineGradientDescent(loss=own, radius=2.0), (X, y))
    receipt = certify(run, (X, y))
    assert receipt.regret["upper"] - receipt.regret["lower"] < 0.02 * receipt.regret["comparator"]["upper"]
    best = certify(nr.play(nr.OnlineGradientDescentRegressor(loss="squared", radius=2.0), (X, y)), (X, y)).regret
    assert receipt.regret["comparator"]["lower"] <= best["comparator"]["upper"]
    assert best["comparator"]["lower"] <= receipt.regret["comparator"]["upper"]
    verify(receipt, (X, y), loss=own)
    with pytest.raises(ReceiptError, match="'square margin' of its own"):
        verify(receipt, (X, y))
    with pytest.raises(ReceiptError, match="another 'square margin'"):
        verify(receipt, (X, y), loss=nr.custom_loss(lambda z, y: (z - y) ** 2, lambda z, y: 2.0 * (z - y)))


def test_labels_that_are_words_or_turned_round_are_kept():
    X, y = labelled(12)
    words = np.where(y > 0, "ham", "spam")
    run = nr.play(nr.Perceptron(), (X, words))
    receipt = certify(run, (X, words))
    assert receipt.learner["labels"] == ["ham", "spam"]
    verify(receipt, (X, words))


def test_rows_that_carry_no_weight_are_no_rounds():
    X, y = labelled(13)
    run = nr.play(nr.Perceptron(), (X, y), class_weight={1: 0.0})
    receipt = certify(run, (X, y))
    assert receipt.figures["rounds"] == int((y < 0).sum())
    verify(receipt, (X, y))


def test_weights_other_than_1_leave_mistake_bounds_unmet():
    X, y = labelled(14)
    receipt = certify(nr.play(nr.Perceptron(), (X, y), class_weight={1: 2.0}), (X, y))
    assert {part["verdict"] for part in receipt.certificates} == {"unmet"}
    verify(receipt, (X, y))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is neither a receipt nor a proof: it is not JSON"),
        ("[1]", "is not a receipt of noregret"),
        ('{"receipt": 7}', "is a receipt of version 7, this noregret reads version 4"),
        ('{"receipt": 1}', "is a receipt of version 1, this noregret reads version 4: make it again"),
        ('{"kind": "run", "version": 4}', "states no arithmetic, this noregret checks only 'lanes-1': make it again"),
        (
            '{"kind": "run", "version": 4, "arithmetic": "outward-1"}',
            "was made with the arithmetic 'outward-1', this noregret checks only 'lanes-1': make it again",
        ),
        ('{"kind": "run", "version": 4, "arithmetic": "lanes-1"}', "its checksum does not match"),
    ],
)
def test_files_that_are_no_receipts_get_a_sentence(text, sentence, tmp_path):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(ReceiptError, match=sentence):
        Receipt.load(tmp_path / "r.json")


def test_a_missing_receipt_is_said(tmp_path):
    with pytest.raises(ReceiptError, match="cannot be read: No such file"):
        verify(tmp_path / "none.json", ([[1.0]], [1]))


def test_vectors_survive_the_file():
    point = np.array([0.1, -0.0, math.pi, 5e-324, 1e308])
    assert unpacked(packed(point)).tobytes() == point.tobytes()


def test_a_time_limit_gives_an_honest_wider_interval():
    X, y = labelled(15, rounds=400, features=30)
    run = nr.play(nr.OnlineGradientDescent(radius=50.0), (X, y))
    quick, slow = (certify(run, (X, y), gap=1e-8, seconds=limit).regret for limit in (1e-9, math.inf))
    assert quick["lower"] <= slow["upper"]
    assert slow["lower"] <= quick["upper"]
    assert slow["upper"] - slow["lower"] <= quick["upper"] - quick["lower"]


def test_a_receipt_that_is_not_text_is_one_sentence(tmp_path):
    (tmp_path / "r.json").write_bytes(b'{"a":"\xff"}')
    with pytest.raises(ReceiptError, match=r"r\.json: is neither a receipt nor a proof: it is not JSON"):
        verify(tmp_path / "r.json", ([[1.0]], [1]))
