"""The batch perceptron in scikit-learn's house, and its traces."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import noregret as nr
from noregret.errors import SettingError
from noregret.proof.theorem import Verdict

UPDATES = ("sum", "average", "normalised", "random")
X, SPECIES = load_iris(return_X_y=True)
SETOSA = np.where(SPECIES == 0, "setosa", "other")


@pytest.mark.parametrize("update", UPDATES)
def test_scikit_learns_own_checks_pass(update):
    results = check_estimator(nr.BatchPerceptron(update=update, rng=0, max_iterations=2000), on_fail=None, on_skip=None)
    assert [one["check_name"] for one in results if one["status"] == "failed"] == []


@pytest.mark.parametrize("update", UPDATES)
def test_it_stops_at_a_separator_and_predicts(update):
    model = nr.BatchPerceptron(update=update, rng=0).fit(X, SETOSA)
    run = model.run_
    assert run.separated and (model.predict(X) == SETOSA).all() and model.score(X, SETOSA) == 1.0
    assert len(run.hard) == len(run.soft) == len(run.misclassified) == model.n_iter_ + 1
    assert run.hard[-1] == run.misclassified[-1] == 0 and run.soft[-1] == 0.0
    assert model.decision_function(X[:1]) == pytest.approx(X[:1] @ model.coef_[0] + model.intercept_[0])
    assert model.classes_.tolist() == ["other", "setosa"]


@pytest.mark.parametrize("update", UPDATES)
def test_sparse_rows_are_the_same(update):
    dense = nr.BatchPerceptron(update=update, rng=0).fit(X, SETOSA)
    sparse = nr.BatchPerceptron(update=update, rng=0).fit(scipy.sparse.csr_array(X), SETOSA)
    assert sparse.run_.misclassified.tolist() == dense.run_.misclassified.tolist()
    assert sparse.run_.theta == pytest.approx(dense.run_.theta, rel=1e-12)


def test_traces_are_those_of_the_definitions():
    """θ_0 = 0, θ_1 = Σ y·x = (3, −3) and there y·g = 3·0, 3·1 + 3·2: the first row is wrong."""
    rows, y = np.array([[1.0, 1.0], [-2.0, 4.0]]), [1, -1]
    run = nr.BatchPerceptron(update="sum", bias=False).fit(rows, y).run_
    assert run.misclassified.tolist()[:2] == [2, 1] and run.soft.tolist()[:2] == [0.0, 0.0]
    assert run.hard.tolist()[:2] == [1, 1]  # a score of 0 is −1


def test_certificates_name_the_bound_and_the_steps():
    model = nr.BatchPerceptron().fit(X, SETOSA)
    (found,) = model.certificates(X, SETOSA)
    assert found.theorem == "batch-iterations" and found.observed == model.n_iter_
    assert found.verdict is Verdict.HOLDS and found.bound < 222


def test_a_start_of_its_own():
    model = nr.BatchPerceptron(start=[0.0, 0.0, -1.0, 0.0]).fit(X, SETOSA)
    assert model.run_.start.tolist() == [0.0, 0.0, 0.0, -1.0, 0.0]
    assert {one.verdict for one in model.certificates(X, SETOSA)} == {Verdict.UNMET}
    with pytest.raises(SettingError, match="start must be 4 finite numbers"):
        nr.BatchPerceptron(start=[1.0]).fit(X, SETOSA)


def test_the_same_seed_gives_the_same_run():
    one, other = (nr.BatchPerceptron(update="random", rng=7).fit(X, SETOSA).run_ for _ in range(2))
    assert one.picks.tolist() == other.picks.tolist()
    with pytest.raises(SettingError, match="needs rng"):
        nr.BatchPerceptron(update="random").fit(X, SETOSA)


@pytest.mark.parametrize(("update", "steps"), [("sum", 7), ("average", 2)])
def test_one_class_alone_is_a_sample_too(update, steps):
    """11 rows (2, 1) and one (−2, 1), all +1: B = R²/γ² = 5, and the printed sum takes 7 steps."""
    rows = [[2.0, 1.0]] * 11 + [[-2.0, 1.0]]
    model = nr.BatchPerceptron(update=update, bias=False).fit(rows, np.ones(12))
    assert model.n_iter_ == steps and model.run_.separated
    assert model.classes_.tolist() == [1.0]
    assert model.predict([*rows, [-9.0, 0.0]]).tolist() == [1.0] * 13
    assert model.decision_function(rows).min() > 0.0
    found = {one.theorem: one for one in model.certificates(rows, np.ones(12))}
    assert {one.verdict for one in found.values()} == {Verdict.HOLDS}
    assert model.n_iter_ >= 5.0 if update == "sum" else found["batch-iterations"].bound == pytest.approx(5.0)


@pytest.mark.parametrize(("label", "sign"), [(1, 1), (-1, -1), (0, -1), (True, 1), (False, -1), ("spam", 1), (7, 1)])
def test_the_sign_of_a_label_that_no_other_came_with(label, sign):
    rows = [[1.0], [2.0]]
    model = nr.BatchPerceptron(bias=False).fit(rows, [label, label])
    assert np.sign(model.coef_[0, 0]) == sign
    assert model.predict([[1.0], [-1.0]]).tolist() == [label, label]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(rows, [label])


def test_three_classes_are_refused():
    with pytest.raises(ValueError, match="Only binary"):
        nr.BatchPerceptron().fit(X, SPECIES)
    with pytest.raises(NotFittedError):
        nr.BatchPerceptron().predict(X)
    assert clone(nr.BatchPerceptron(step=2.0)).step == 2.0


def test_the_limit_is_kept():
    run = nr.BatchPerceptron(max_iterations=5).fit(X, SPECIES == 1).run_
    assert run.iterations == 5 and not run.separated and "limit" in run.sentence
