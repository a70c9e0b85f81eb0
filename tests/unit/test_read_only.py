"""Learners whose arrays may only be read, as those that joblib maps into memory, predict as others do."""

import joblib
import numpy as np
import pytest
import scipy.sparse

import noregret as nr

KINDS = {
    "perceptron": nr.Perceptron(bias=True),
    "averaged": nr.AveragedPerceptron(),
    "gradient": nr.OnlineGradientDescent(loss="logistic"),
    "truncated": nr.OnlineGradientDescent(domain="box", rate="sqrt:0.5", l1=0.01),
    "adagrad": nr.AdaGrad(),
    "voted": nr.VotedPerceptron(),
    "multiclass": nr.MulticlassPerceptron(),
    "kernel": nr.KernelPerceptron(kernel="poly"),
    "laplace": nr.KernelPerceptron(kernel="laplace"),
    "linear kernel": nr.KernelPerceptron(kernel="linear"),
    "diagonal": nr.DiagonalNewton(),
    "newton": nr.LogisticNewton(),
    "second-order": nr.SecondOrderPerceptron(),
}


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("name", KINDS)
def test_a_model_that_is_only_read_predicts(name, layout, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 0] > X[:, 1], "a", "b")
    learned = KINDS[name].fit(layout(X), y)
    joblib.dump(learned, tmp_path / "m.joblib")
    loaded = joblib.load(tmp_path / "m.joblib", mmap_mode="r")
    assert np.array_equal(loaded.predict(layout(X)), learned.predict(layout(X)))
