"""The one loop: passes, shuffles, labels, digests, stopping and going on, the trace."""

import itertools
import json
import math

import numpy as np
import pytest
import scipy.sparse

import noregret as nr
from noregret.errors import InputError, SettingError
from noregret.learner import OnlineGradientDescent, Perceptron
from noregret.stream import read
from oracle import learners as plain
from oracle.registry import everything

RNG = np.random.default_rng(1)
X = RNG.normal(size=(50, 3))
Y = RNG.choice([-1.0, 1.0], 50)


def digest(stream, **more):
    return nr.play(Perceptron(), stream, digest=True, **more).digest


def test_passes_play_the_rows_again_in_order():
    run = nr.play(Perceptron(), (X, Y), passes=3, mistakes=True)
    game = plain.perceptron(X.tolist() * 3, Y.tolist() * 3)
    assert run.rounds == 150
    assert run.mistake_rounds.tolist() == [t for t, miss in enumerate(game.mistakes) if miss]
    assert run.learner.weights == pytest.approx(game.W[-1], rel=1e-12)


def test_a_shuffle_is_a_permutation_made_from_its_seed_anew_for_each_pass():
    run = nr.play(Perceptron(), (X, Y), passes=2, shuffle=4)
    rng = np.random.default_rng(4)
    order = np.concatenate([rng.permutation(50), rng.permutation(50)])
    game = plain.perceptron(X[order].tolist(), Y[order].tolist())
    assert run.mistakes == sum(game.mistakes)
    assert run.learner.weights == pytest.approx(game.W[-1], rel=1e-12)
    assert nr.play(Perceptron(), (X, Y), passes=2, shuffle=5).learner.weights != pytest.approx(game.W[-1])


def test_every_source_of_the_same_rows_is_shuffled_alike():
    rows = [({"a": a, "b": b, "c": c}, y) for (a, b, c), y in zip(X.tolist(), Y.tolist(), strict=True)]
    weights = nr.play(Perceptron(), (X, Y), shuffle=4).learner.weights
    assert nr.play(Perceptron(), iter(rows), shuffle=4).learner.weights == pytest.approx(weights, rel=1e-12)
    assert nr.play(Perceptron(), (scipy.sparse.csr_matrix(X), Y), shuffle=4).learner.weights == pytest.approx(weights)


def test_an_iterator_is_kept_for_further_passes():
    rows = [({"a": a}, y) for a, y in zip(X[:, 0].tolist(), Y.tolist(), strict=True)]
    assert nr.play(Perceptron(), iter(rows), passes=2).rounds == 100


def test_mistake_rounds_are_kept_only_when_asked_for():
    with pytest.raises(ValueError, match="mistake rounds were not kept; ask for them with mistakes=True"):
        nr.play(Perceptron(), (X, Y)).mistake_rounds  # noqa: B018


def test_mistake_rounds_are_those_of_this_call():
    learner = Perceptron()
    nr.play(learner, (X[:20], Y[:20]))
    run = nr.play(learner, (X[20:], Y[20:]), mistakes=True)
    expected = [t - 20 for t, miss in enumerate(plain.perceptron(X.tolist(), Y.tolist()).mistakes) if miss and t >= 20]
    assert run.mistake_rounds.tolist() == expected
    assert run.this_run["mistakes"] == len(expected)
    assert run.this_run["rounds"] == 30
    assert run.rounds == 50


def test_rows_of_weight_zero_are_no_rounds():
    weights = np.resize([1.0, 0.0], 50)
    run = nr.play(Perceptron(), (X, Y, weights), mistakes=True)
    alone = nr.play(Perceptron(), (X[::2], Y[::2]), mistakes=True)
    assert run.rounds == 25
    assert run.mistake_rounds.tolist() == alone.mistake_rounds.tolist()
    assert run.state.tobytes() == alone.state.tobytes()


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_a_weight_must_be_at_least_zero(bad):
    weights = np.ones(50)
    weights[7] = bad
    with pytest.raises(InputError, match=r"\(X, y\):8: the weight must be at least 0 and finite, got"):
        nr.play(Perceptron(), (X, Y, weights))


def test_class_weights_go_by_label_however_it_is_spelled():
    expected = nr.play(OnlineGradientDescent(), (X, Y, np.where(Y > 0, 2.0, 0.5)))
    for weights in ({1: 2.0, -1: 0.5}, {"+1": 2.0, "-1": 0.5}, {1.0: 2.0, -1.0: 0.5}):
        run = nr.play(OnlineGradientDescent(), (X, Y), class_weight=weights)
        assert run.state.tobytes() == expected.state.tobytes()


# -- digests ---------------------------------------------------------------------------------------------------


def test_the_digest_is_that_of_the_rows_whatever_holds_them():
    first = digest((X, Y))
    rows = np.where(np.abs(X) < 0.5, 0.0, X)
    assert digest((rows, Y)) == digest((scipy.sparse.csr_matrix(rows), Y)) != first
    for size in (1, 7, 49, 50, 1000):
        assert digest(read((rows, Y), block_rows=size)) == digest((rows, Y))
        assert digest(read((scipy.sparse.csr_matrix(rows), Y), block_rows=size)) == digest((rows, Y))
    explicit = scipy.sparse.csr_matrix(rows)
    explicit.data[0] = 0.0
    rows[0, explicit.indices[0]] = 0.0
    assert digest((explicit, Y)) == digest((rows, Y))


def test_the_digest_tells_rows_labels_weights_and_order_apart():
    others = [
        (X, -Y),
        (X[::-1], Y[::-1]),
        (X[:, ::-1], Y),
        (np.vstack([X[:-1], X[-1:] + 1e-15]), Y),
        (X[:49], Y[:49]),
        (X, Y, np.full(50, 2.0)),
    ]
    found = [digest((X, Y)), *(digest(stream) for stream in others)]
    assert len(set(found)) == len(found)


def test_a_weight_given_for_some_rows_does_not_make_the_digest_depend_on_the_blocks():
    rows = [({"a": 1.0}, 1), ({"a": 2.0}, -1, 2.0), ({"a": 3.0}, 1)]
    assert len({digest(read(rows, block_rows=size)) for size in (1, 2, 3)}) == 1


# -- stopping and going on -------------------------------------------------------------------------------------


def test_watch_sees_every_block_with_its_labels_and_scores_and_stop_ends_the_run():
    seen = []
    run = nr.play(
        Perceptron(),
        read((X, Y), block_rows=10),
        watch=lambda block, y, scores: seen.append((len(block), y.copy(), scores.copy())),
        stop=lambda: len(seen) == 3,
    )
    assert run.stopped
    assert run.rounds == 30
    assert [size for size, _, _ in seen] == [10, 10, 10]
    assert np.array_equal(np.concatenate([y for _, y, _ in seen]), Y[:30])
    expected = plain.perceptron(X[:30].tolist(), Y[:30].tolist()).scores
    assert np.concatenate([scores for _, _, scores in seen]) == pytest.approx(expected, rel=1e-12)


def stopped(after, size=10, **more):
    learner, count = OnlineGradientDescent(), itertools.count(1)
    nr.play(learner, read((X, Y), block_rows=size), digest=True, stop=lambda: next(count) == after, **more)
    return learner


def test_a_stopped_run_goes_on_in_the_same_rows():
    learner = stopped(2)
    run = nr.play(learner, read((X, Y), block_rows=7), skip_seen=True, digest=True)
    whole = nr.play(OnlineGradientDescent(), (X, Y))
    assert run.this_run["rounds"] == 30
    assert run.state.tobytes() == whole.state.tobytes()
    assert learner.weights.tobytes() == whole.learner.weights.tobytes()
    assert [segment["rows"] for segment in learner.segments] == [20, 30]
    assert nr.play(learner, (X, Y), skip_seen=True).this_run["rounds"] == 0


def test_a_run_stopped_twice_goes_on_twice():
    learner, count = stopped(1), itertools.count(1)
    nr.play(learner, read((X, Y), block_rows=10), skip_seen=True, digest=True, stop=lambda: next(count) == 2)
    assert learner.rounds == 30
    nr.play(learner, (X, Y), skip_seen=True, digest=True)
    assert learner.state.tobytes() == nr.play(OnlineGradientDescent(), (X, Y)).state.tobytes()


def test_other_rows_are_not_skipped():
    other = X.copy()
    other[11, 1] += 1.0
    learner = stopped(2)
    before = everything(learner)
    with pytest.raises(InputError, match=r"\(X, y\):20: the rows up to here are not those that the model has seen"):
        nr.play(learner, (other, Y), skip_seen=True)
    assert everything(learner) == before


def test_fewer_rows_than_were_seen_are_an_error():
    with pytest.raises(InputError, match="holds only 15 rows, the model has seen 20"):
        nr.play(stopped(2), (X[:15], Y[:15]), skip_seen=True)


def test_skipping_needs_a_digest():
    learner = Perceptron()
    nr.play(learner, (X, Y))
    with pytest.raises(SettingError, match="skip_seen=True needs a digest of the rows that the model saw"):
        nr.play(learner, (X, Y), skip_seen=True)


def test_the_rows_of_another_number_of_columns_are_refused():
    learner = Perceptron()
    nr.play(learner, (X, Y))
    with pytest.raises(InputError, match="expected 3 columns as the model has, got 2"):
        nr.play(learner, (X[:, :2], Y))


# -- labels ----------------------------------------------------------------------------------------------------


def test_two_strings_are_held_until_both_are_known_whatever_the_blocks():
    y = ["ham"] * 13 + ["spam", "ham"] * 10
    expected = nr.play(Perceptron(), (X[:33], np.where(np.array(y) == "spam", 1, -1)))
    for size in (1, 5, 100):
        run = nr.play(Perceptron(), read((X[:33], y), block_rows=size))
        assert run.state.tobytes() == expected.state.tobytes()
        assert run.learner.labels.classes == ("ham", "spam")


def test_one_string_alone_is_positive_when_the_stream_ends():
    run = nr.play(Perceptron(), read((X[:5], ["spam"] * 5), block_rows=2))
    assert run.rounds == 5
    assert run.learner.labels.classes == (None, "spam")


def test_a_third_label_is_an_error_with_its_place():
    y = ["ham", "spam"] * 25
    y[30] = "eggs"
    with pytest.raises(InputError, match=r"\(X, y\):31: a third label, 'eggs', after 'ham' and 'spam'"):
        nr.play(Perceptron(), (X, y))


def test_regression_needs_numbers():
    with pytest.raises(InputError, match="regression needs numbers as labels, got 'a'"):
        nr.play(OnlineGradientDescent(loss="squared"), (X, ["a"] * 50))


def test_a_regression_label_must_be_finite():
    with pytest.raises(InputError, match="label"):
        nr.play(OnlineGradientDescent(loss="squared"), (X, np.where(Y > 0, np.inf, Y)))


def test_a_row_that_is_not_finite_is_refused_with_its_place():
    rows = X.copy()
    rows[4, 1] = np.inf
    with pytest.raises(InputError, match=r"\(X, y\):5: "):
        nr.play(Perceptron(), (rows, Y))


# -- the trace and the curve -----------------------------------------------------------------------------------

MANY = np.random.default_rng(2).normal(size=(5000, 2))
SIGNS = np.where(MANY[:, 0] + 0.5 * np.random.default_rng(3).normal(size=5000) > 0, 1.0, -1.0)


@pytest.mark.parametrize("rounds", [1, 7, 2047, 2048, 2049, 5000])
def test_the_trace_is_short_increasing_and_ends_with_the_totals(rounds):
    run = nr.play(OnlineGradientDescent(), (MANY[:rounds], SIGNS[:rounds]), mistakes=True)
    trace = run.trace
    at = trace["rounds"].astype(int)
    assert 1 <= len(at) <= 2049
    assert len(at) >= min(rounds, 1000)
    assert (np.diff(at) > 0).all()
    assert at[-1] == rounds
    wrong = np.zeros(rounds)
    wrong[run.mistake_rounds] = 1.0
    assert np.array_equal(trace["mistakes"], np.cumsum(wrong)[at - 1])
    last = np.cumsum(np.append(1.0, SIGNS[1:rounds] != SIGNS[: rounds - 1]))
    assert np.array_equal(trace["last"], last[at - 1])
    positives = np.cumsum(SIGNS[:rounds] > 0)[at - 1]
    assert np.array_equal(trace["constant"], np.minimum(positives, at - positives))
    assert trace["loss"][-1] == run.loss
    assert (np.diff(trace["loss"]) >= 0).all()
    assert trace["gradient2"][-1] == run.gradient["sum_norm2"]
    assert trace["gradient_dot_weights"][-1] == run.gradient["sum_dot_weights"]


def test_the_trace_is_the_same_for_any_split():
    whole, pieces = OnlineGradientDescent(), OnlineGradientDescent()
    expected = nr.play(whole, (MANY, SIGNS)).trace
    for low, high in itertools.pairwise([0, 1, 1500, 2048, 2050, 4999, 5000]):
        found = nr.play(pieces, (MANY[low:high], SIGNS[low:high])).trace
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_the_trace_says_what_a_shorter_run_would_have_said():
    long = nr.play(OnlineGradientDescent(), (MANY, SIGNS)).trace
    place = len(long["rounds"]) // 2
    rounds = int(long["rounds"][place])
    short = nr.play(OnlineGradientDescent(), (MANY[:rounds], SIGNS[:rounds]))
    assert long["loss"][place] == short.loss
    assert long["mistakes"][place] == short.mistakes


def test_the_regret_curve_is_the_bound_of_every_shorter_run():
    run = nr.play(OnlineGradientDescent(radius=2.0, bias=True), (MANY[:700], SIGNS[:700]))
    curve = run.regret_curve
    assert len(curve["rounds"]) <= 4 * 10 + 4
    for place in (0, 3, len(curve["rounds"]) // 2, len(curve["rounds"]) - 1):
        rounds = int(curve["rounds"][place])
        short = nr.play(OnlineGradientDescent(radius=2.0, bias=True), (MANY[:rounds], SIGNS[:rounds]))
        bound = curve["gradient_dot_weights"][place] + 2.0 * curve["gradient_sum_norm"][place]
        assert curve["loss"][place] == short.loss
        assert bound == pytest.approx(short.regret_upper, rel=1e-12)


def test_a_stream_without_rows_is_an_error():
    with pytest.raises(InputError, match=r"\(X, y\): holds no rows"):
        nr.play(Perceptron(), (np.zeros((0, 2)), []))


def test_a_run_without_rounds_says_so():
    run = nr.play(Perceptron(), (X, Y, np.zeros(50)))
    assert run.rounds == 0
    assert math.isnan(run.sequential_risk)
    assert run.metrics == {}
    assert run.auc is None
    assert all(len(part) == 0 for part in run.trace.values())


@pytest.mark.parametrize("learner", [Perceptron(), OnlineGradientDescent(loss="huber:0.5"), OnlineGradientDescent()])
def test_a_run_as_plain_numbers(learner):
    run = nr.play(learner, (X, Y), digest=True)
    said = json.loads(json.dumps(run.to_dict(), allow_nan=False))
    assert said["rounds"] == 50
    assert said["loss"] == {"name": learner.loss.spec, "total": run.loss, "mean": run.loss / 50}
    assert said["features"] == 3
    assert said["weight_norm"] == pytest.approx(np.linalg.norm(learner.weights), rel=1e-12)
    assert said["max_norm"] == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-12)
    assert said["digest"] == run.digest
    assert (said["regret"] is None) == isinstance(learner, Perceptron)


def test_rows_that_were_played_without_a_digest_cannot_be_skipped():
    learned = Perceptron()
    nr.play(learned, (X[:5], Y[:5]), digest=True)
    nr.play(learned, (X[5:9], Y[5:9]))
    with pytest.raises(SettingError, match="every row that the model saw; some were played without one"):
        nr.play(learned, (X, Y), skip_seen=True)


def test_going_on_in_the_same_stream_twice():
    learned = Perceptron()
    nr.play(learned, (X[:5], Y[:5]), digest=True)
    nr.play(learned, (X[:20], Y[:20]), skip_seen=True)
    assert nr.play(learned, (X, Y), skip_seen=True).rounds == len(Y)


def test_an_estimators_class_weight_counts_in_play():
    model = nr.Perceptron(class_weight={1: 5.0, -1: 1.0})
    assert nr.play(model, ([[1.0], [1.0]], [1, -1])).loss == 6.0


@pytest.mark.parametrize(
    ("learner", "sentence"),
    [(nr.Perceptron, r"give a learner, not its class: Perceptron\(\)"), ((X, Y), "must be a learner, got tuple")],
)
def test_what_is_no_learner_is_said(learner, sentence):
    with pytest.raises(SettingError, match=sentence):
        nr.play(learner, (X, Y))


def test_a_run_introduces_itself_in_a_line():
    assert repr(nr.play(Perceptron(), ([[1.0]], [1]))) == "<Run of perceptron: 1 rounds, 1 mistakes, loss 1>"


def test_a_start_beyond_the_first_features_is_projected_too():
    start = np.zeros(100)
    start[80] = 1.0
    rows = scipy.sparse.csr_matrix((np.ones(3), (range(3), range(3))), shape=(3, 100))
    learned = nr.OnlineGradientDescent(start=start, radius=1.0, rate="constant:0.5").fit(rows, [1, 1, -1])
    assert np.linalg.norm(learned.coef_) <= 1.0 + 1e-12
