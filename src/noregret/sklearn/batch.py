"""The batch perceptron in scikit-learn's clothes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from noregret import _native, batch
from noregret.errors import SettingError
from noregret.rounds import Gathering, Rounds, Vector
from noregret.sklearn.rows import as_rows
from noregret.stream.labels import Labels

if TYPE_CHECKING:
    from noregret.proof.theorem import Certificate

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}


class BatchPerceptron(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """All misclassified rows at once: θ ← θ + step·(their sum, average, normalised sum, or one at random).

    `start` are the weights to begin with, the bias begins at 0. `update="random"` needs `rng`, a seed or a Generator.

    >>> model = BatchPerceptron().fit([[2.0], [1.0], [-1.0]], ["yes", "yes", "no"])
    >>> model.run_.separated, model.n_iter_, model.predict([[3.0]]).tolist()
    (True, 1, ['yes'])
    """

    classes_: NDArray[Any]
    run_: batch.BatchRun
    n_features_in_: int

    def __init__(
        self,
        *,
        update: str = "average",
        step: float = 1.0,
        start: Sequence[float] | None = None,
        bias: bool = True,
        max_iterations: int = 10_000,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        self.update = update
        self.step = step
        self.start = start
        self.bias = bias
        self.max_iterations = max_iterations
        self.rng = rng

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Iterate until no row is misclassified; how it ended is in `run_`.

        With one class alone every row has the same label, −1 for −1, 0 and False, +1 for all others.
        """
        X, y = validate_data(self, X, y, **CHECKS)
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        rounds = self._rounds(X, y, classes)
        self.run_ = batch.run(
            rounds,
            update=self.update,
            step=self.step,
            start=self._start(X.shape[1]),
            limit=self.max_iterations,
            rng=self.rng,
        )
        self.classes_ = classes
        return self

    def _rounds(self, X: Any, y: NDArray[Any], classes: NDArray[Any]) -> Rounds:
        signs = np.where(y == classes[-1], 1.0, -1.0) * (_sign_alone(classes[0]) if len(classes) == 1 else 1.0)
        with Gathering(self.bias) as gathering:
            gathering.add(as_rows(X), signs, None, np.zeros(len(signs)))
            return gathering.done()

    def _start(self, features: int) -> Vector | None:
        if self.start is None:
            return None
        try:
            found = np.asarray(self.start, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != (features,) or not np.isfinite(found).all():
            raise SettingError(f"BatchPerceptron: start must be {features} finite numbers, got {self.start!r}")
        return np.concatenate([[0.0], found]) if self.bias else found

    @property
    def n_iter_(self) -> int:
        """K: steps taken."""
        return self.run_.iterations

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights, as one row."""
        return self.run_.weights[None, :]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias; 0 without one."""
        return np.array([self.run_.intercept])

    def __sklearn_is_fitted__(self) -> bool:
        return "run_" in self.__dict__

    def decision_function(self, X: Any) -> Vector:
        """⟨w, x⟩ (+ b) for each row."""
        check_is_fitted(self)
        rows = as_rows(validate_data(self, X, reset=False, **CHECKS))
        found = np.empty(len(rows))
        _native.score_linear(rows.native, np.array(self.run_.weights), 1.0, self.run_.intercept, found)
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; a score of 0 is the first class. With one class alone it is that one."""
        above = self.decision_function(X) > 0.0
        return np.asarray(self.classes_[np.minimum(above.astype(np.int64), len(self.classes_) - 1)])

    def certificates(self, X: Any, y: Any, *, gap: float = 1e-4, seconds: float = 60.0) -> list[Certificate]:
        """The convergence theorems on the rows that were fitted, with the separator of the largest margin."""
        from noregret.proof.theorems.batch import certificates
        from noregret.task.separate.solve import answered_within

        check_is_fitted(self)
        X, y = validate_data(self, X, y, reset=False, **CHECKS)
        rounds = self._rounds(X, y, self.classes_)
        return certificates(self.run_, rounds, answered_within(rounds, gap, seconds).separator)


def _sign_alone(label: Any) -> float:
    """The sign of a label that no other came with."""
    known = Labels().one(label)
    return 1.0 if known is None else known
