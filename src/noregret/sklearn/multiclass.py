"""Many classes: sorted in `classes_` where all are known at once, otherwise in the order in which they appeared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from noregret.errors import InputError
from noregret.example import NOT_FINITE, checked_weight, one_row, refuse_strange, without
from noregret.learner.classes import Multiclass
from noregret.learner.core import Core
from noregret.loss import softmax
from noregret.sklearn.base import Vector, serialised
from noregret.sklearn.classifier import Classifier, as_python, as_whole
from noregret.sklearn.refusing import same_labels_if_refused
from noregret.stream.labels import Classes


class MulticlassClassifier(Classifier):
    """A learner of many classes in scikit-learn's and in River's clothes."""

    _spelled: list[Any]  # the labels by their numbers, as they were first given

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # One pass through the origin is what the theorems speak of; it reaches no fixed share of correct answers,
        # and a weight of a thousand times another only makes it stumble.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def _multiclass(self) -> Multiclass:
        core = self.core
        assert isinstance(core, Multiclass)
        return core

    # -- scikit-learn's way ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows, from nothing: `passes` times, in the order of the seed `shuffle`.

        Every class of y is known from the first row on.
        """
        core = self._new_core()
        X, y = self._first_look(X, y, core)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__}: y must hold two classes, got one class only: {classes.tolist()[0]!r}"
            )
        core.labels = Classes(classes.tolist())
        weights = self._row_weights(y, classes, sample_weight, X, balanced=True)
        y = codes.astype(np.float64)
        self._advise(core, y, len(classes))
        self._learn(core, X, y, weights, self.passes, self.shuffle)
        self._core, self._spelled, self.classes_ = core, classes.tolist(), classes
        return self

    @serialised
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning; `classes` names them beforehand, on the first call. A label not named is a new class."""
        X, y = self._next_look(X, y)
        check_classification_targets(y)
        if classes is not None:
            self._declare(np.unique(np.asarray(classes)))
        codes = self._codes_of(y)
        weights = self._row_weights(y, np.unique(y), sample_weight, X, balanced=False)
        self._learn(self.core, X, codes, weights, 1, None)
        self._show_classes()
        return self

    def _declare(self, classes: NDArray[Any]) -> None:
        labels = self._multiclass.labels
        if labels.untouched:
            self._multiclass.labels = Classes(classes.tolist())
            self._spelled = classes.tolist()
        elif sorted(map(str, self._spelled)) != sorted(map(str, classes.tolist())):
            raise ValueError(f"classes: {classes.tolist()} are not those of before, {self._spelled}")

    def _codes_of(self, y: NDArray[Any]) -> Vector:
        """The number of each label; new ones are numbered in the order of the rows."""
        found, first, places = np.unique(y, return_index=True, return_inverse=True)
        codes = np.zeros(len(found))
        for i in np.argsort(first).tolist():
            codes[i] = self._code(as_python(found[i]))
        return np.asarray(codes[places])

    def _code(self, label: Any) -> float:
        code = self._multiclass.labels.one(label)
        spelled = self._spelled if self._has("_spelled") else []
        if code >= len(spelled):
            self._spelled = [*spelled, label]
        return code

    def _show_classes(self) -> None:
        self.classes_ = np.array(self._spelled)

    def _by_class(self, y: NDArray[Any], classes: NDArray[Any], balanced: bool) -> Vector:
        chosen = self.class_weight
        if isinstance(chosen, dict) and not balanced:  # a class may be weighed before it appears
            chosen = {label: weight for label, weight in chosen.items() if label in classes}
        by_class = compute_class_weight(chosen, classes=classes, y=y)
        return np.asarray(by_class[np.searchsorted(classes, y)])

    def decision_function(self, X: Any) -> Vector:
        """⟨w_k, x⟩ for each row and class; of two classes the second's score less the first's."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the highest score, the first of them on a tie."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self._known()[best])

    def _known(self) -> NDArray[Any]:
        """The classes by their numbers; those that `play` met are not in `classes_`."""
        known = self._multiclass.known
        if self._has("classes_") and len(self.classes_) >= known:
            return self.classes_
        return np.array([self._label(code) for code in range(known)])

    @property
    def coef_(self) -> Vector:
        """The weights, a row a class; of two classes one row, the second's less the first's."""
        W = self._fitted().weights
        return W[1:] - W[:1] if len(W) == 2 else W

    @property
    def intercept_(self) -> Vector:
        """The bias of each class; of two classes the second's less the first's."""
        self._fitted()
        b = self._multiclass.class_biases
        return b[1:] - b[:1] if len(b) == 2 else b

    # -- River's way -----------------------------------------------------------------------------------------

    @serialised
    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> Self:
        """One round: a dict of features, an array, or a pair (indices, values), with its label, old or new."""
        if self._multiclass.labels.knows(y):
            return self._learn_labelled(x, y, w)
        with same_labels_if_refused(self):
            refuse_strange(x)
            self.__dict__.pop("classes_", None)
            return self._learn_labelled(x, y, w)

    def _learn_labelled(self, x: Any, y: Any, w: float) -> Self:
        code = self._code(as_python(y))
        if w != 1.0 or self.class_weight is not None:
            w = checked_weight(w) * self._class_weight_of(y)
        self._learn_one(x, code, w)
        return self

    @serialised
    def predict_one(self, x: Any) -> Any:
        """The class of one example; None before any label was seen."""
        core = self._multiclass
        if not core.known:
            return None
        scores = self._score_classes(core, x)
        return self._label(int(scores.argmax()))

    def _label(self, code: int) -> Any:
        labels = self._spelled if self._has("_spelled") else []
        return labels[code] if code < len(labels) else as_whole(self._multiclass.labels.classes[code])

    def _score_classes(self, core: Multiclass, x: Any) -> Vector:
        if core.features is None:
            return np.zeros(core.known)
        row, width = one_row(core, x, False)
        scores: Vector = core.score_one(without(row, core.width) if width > core.width else row)
        if not np.isfinite(scores).all():
            raise InputError(NOT_FINITE)
        return scores

    def _labelled_scores(self, x: Any) -> tuple[Any, Vector]:
        core = self._multiclass
        return [self._label(code) for code in range(core.known)], self._score_classes(core, x)[np.newaxis]

    # -- the model file --------------------------------------------------------------------------------------

    def _spelled_labels(self) -> list[Any]:
        return [self._label(code) for code in range(len(self._multiclass.labels.classes))]

    def _restore(self, core: Core, shell: Mapping[str, Any] | None) -> None:
        super()._restore(core, shell)
        labels = core.labels.classes if core.labels is not None else ()
        self._spelled = [as_whole(label) for label in labels] if shell is None else list(shell["classes"])
        if shell is None:
            self._show_classes()


class MulticlassForecaster(MulticlassClassifier):
    """One that forecasts a probability for every class."""

    def predict_proba(self, X: Any) -> Vector:
        """The probability of each class, given that it is one of those known."""
        return softmax(self._scores(X))

    @serialised
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class known so far, given that it is one of them; empty before any label was seen."""
        core = self._multiclass
        if not core.known:
            return {}
        chances = softmax(self._score_classes(core, x)[np.newaxis])[0].tolist()
        return {self._label(code): chance for code, chance in enumerate(chances)}
