"""The voted perceptron: the perceptron's rounds, and the vote of every predictor it went through."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import check_estimator

import noregret as nr
from noregret import model
from noregret.errors import DivergedError, ModelFileError
from noregret.learner import Perceptron, VotedPerceptron
from noregret.learner.log import UpdateLog
from oracle import learners as plain
from oracle.classes import vote
from oracle.registry import LAYOUTS, everything

TIES = {"mistake": 0, "+1": 1, "-1": -1}


def whole_numbers(rounds, seed, columns=3):
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 3, (rounds, columns)).astype(float), rng.choice([-1.0, 1.0], rounds)


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_vote_is_that_of_all_predictors_of_the_run(tie, bias, layout):
    X, y = whole_numbers(60, seed=1)
    learner = VotedPerceptron(tie=tie, bias=bias)
    learner.play(LAYOUTS[layout](X), y)
    longer = np.column_stack([X, np.ones(60)]) if bias else X
    game = plain.perceptron(longer.tolist(), y.tolist(), tie=TIES[tie])
    new = whole_numbers(40, seed=2)[0]
    asked = np.column_stack([new, np.ones(40)]) if bias else new
    wanted = [vote(game, x, TIES[tie]) for x in asked.tolist()]
    for other in ("dense", "sparse"):
        assert learner.scores(LAYOUTS[other](new)).tolist() == wanted
    assert [learner.score_one(LAYOUTS[layout](new[i : i + 1]).native) for i in range(40)] == wanted
    assert learner.ballots.sum() == 61
    assert learner.log.count == sum(game.mistakes)


def test_its_rounds_are_the_perceptrons():
    X, y = whole_numbers(200, seed=3)
    voted, single = nr.play(VotedPerceptron(bias=True), (X, y)), nr.play(Perceptron(bias=True), (X, y))
    assert voted.state.tobytes() == single.state.tobytes()
    assert voted.learner.z.tobytes() == single.learner.z.tobytes()


def test_a_weight_multiplies_the_step_of_every_predictor():
    X, y = whole_numbers(50, seed=4)
    learner = VotedPerceptron()
    learner.play(LAYOUTS["dense"](X), y, np.full(50, 3.0))
    alike = VotedPerceptron()
    alike.play(LAYOUTS["dense"](X), y)
    assert learner.steps.tolist() == (3.0 * alike.steps).tolist()
    assert learner.scores(LAYOUTS["dense"](X)).tolist() == alike.scores(LAYOUTS["dense"](X)).tolist()


def test_rows_of_other_widths_and_layouts_are_kept_together():
    X, y = whole_numbers(60, seed=5, columns=6)
    X[:20, 3:] = 0.0
    whole, pieces = VotedPerceptron(), VotedPerceptron()
    whole.play(LAYOUTS["dense"](X), y)
    pieces.play(LAYOUTS["dense"](X[:20, :3].copy()), y[:20])
    pieces.play(LAYOUTS["sparse"](X[20:40]), y[20:40])
    pieces.play(LAYOUTS["dense"](X[40:]), y[40:])
    assert whole.scores(LAYOUTS["dense"](X)).tolist() == pieces.scores(LAYOUTS["dense"](X)).tolist()


def test_asking_changes_nothing_and_unknown_features_count_nothing():
    X, y = whole_numbers(40, seed=6)
    for layout in ("dense", "sparse"):
        learner = VotedPerceptron()
        learner.play(LAYOUTS[layout](X), y)
        before = everything(learner)
        wide = np.column_stack([X, np.full((40, 80), 9.0)])
        assert learner.scores(LAYOUTS["sparse"](wide)).tolist() == learner.scores(LAYOUTS["dense"](X)).tolist()
        assert everything(learner) == before


def test_the_rounds_before_one_that_would_overflow_are_kept():
    learner = VotedPerceptron()
    rows = np.array([[1.0], [-1.0], [1e200], [1.0]])
    with np.errstate(all="ignore"), pytest.raises(DivergedError):
        learner.play(LAYOUTS["dense"](rows), np.array([1.0, 1.0, -1.0, 1.0]))
    assert learner.rounds == 2 == learner.survived.sum()
    assert learner.log.count == 2


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_model_file_votes_as_before(layout, tmp_path):
    X, y = whole_numbers(60, seed=7)
    learner = VotedPerceptron(bias=True, scale="max")
    learner.play(LAYOUTS[layout](X), y)
    model.save(learner, tmp_path / "m.nr")
    again, _ = model.load(tmp_path / "m.nr")
    assert everything(again) == everything(learner)
    assert again.scores(LAYOUTS["dense"](X)).tolist() == learner.scores(LAYOUTS["dense"](X)).tolist()


def test_a_log_that_points_beyond_its_features_is_refused(tmp_path):
    X, y = whole_numbers(30, seed=8)
    learner = VotedPerceptron()
    learner.play(LAYOUTS["sparse"](X), y)
    arrays = learner.arrays()
    with pytest.raises(ValueError, match="do not fit together"):
        UpdateLog.of({**arrays, "log_indices": arrays["log_indices"] + np.uint32(9)}, learner.width)
    learner._steps = learner._steps[:-1]
    learner.log.count -= 1
    learner._survived = np.append(learner._survived, 1.0)
    learner.log.count += 1
    model.save(learner, tmp_path / "m.nr")
    with pytest.raises(ModelFileError, match="do not fit together"):
        model.load(tmp_path / "m.nr")


def test_on_digits_the_vote_beats_the_last_perceptron():
    X, y = load_digits(return_X_y=True)
    y = np.where(y > 4, 1, -1)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    voted, single = nr.VotedPerceptron(bias=True).fit(X[:1200], y[:1200]), nr.Perceptron(bias=True)
    single.fit(X[:1200], y[:1200])
    assert voted.score(X[1200:], y[1200:]) > single.score(X[1200:], y[1200:])
    sparse = nr.VotedPerceptron(bias=True).fit(scipy.sparse.csr_matrix(X[:1200]), y[:1200])
    assert np.array_equal(sparse.predict(X[1200:]), voted.predict(X[1200:]))


def test_scikit_learns_own_checks_pass_but_for_the_order_of_weighted_rows():
    results = check_estimator(nr.VotedPerceptron(), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert all(name.startswith("check_sample_weight_equivalence_on_") for name in failed)
    assert not hasattr(nr.VotedPerceptron().fit([[1.0], [-1.0]], [1, -1]), "coef_")


def test_one_example_at_a_time():
    X, y = whole_numbers(50, seed=9)
    one, block = nr.VotedPerceptron(), VotedPerceptron()
    for x, label in zip(X, y, strict=True):
        one.learn_one(x, int(label))
    block.play(LAYOUTS["dense"](X), y)
    assert one.core.scores(LAYOUTS["dense"](X)).tolist() == block.scores(LAYOUTS["dense"](X)).tolist()
    assert [one.predict_one(x) for x in X] == np.where(block.scores(LAYOUTS["dense"](X)) > 0, 1, -1).tolist()
