"""Two classes: the negative one first in `classes_`, and predicted at a score of exactly 0."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from noregret._native import OTHERWISE, PLAYED, two_values
from noregret.errors import InputError, SettingError
from noregret.example import checked_weight
from noregret.learner.core import Core
from noregret.loss import parse as parse_loss
from noregret.loss import probability, probability_of
from noregret.setting import check_weights, declares, setting
from noregret.sklearn.base import LinearEstimator, Vector, serialised
from noregret.sklearn.refusing import same_labels_if_refused, try_out
from noregret.sklearn.sure import Sets
from noregret.stream.features import Features
from noregret.stream.labels import Labels, same

BALANCED = "class_weight='balanced' needs all labels at once: use fit, or give the weights"


def _has_probabilities(estimator: Any) -> bool:
    if getattr(estimator, "calibrate", False):
        return True
    if not hasattr(estimator, "loss") or not parse_loss(estimator.loss).probabilistic:
        raise AttributeError("probabilities come with loss='logistic', or with calibrate=True")
    return True


@declares
class Weighing:
    """The settings of classifiers about their classes."""

    class_weight: dict[Any, float] | str | None = setting(None, "Weights by label, or balanced.")


class Classifier(Weighing, Sets, ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """What estimators of two and of many classes share: weights of classes, in fits, single rounds and files."""

    _regression = False
    bias: bool
    classes_: NDArray[Any]

    def _row_weights(
        self, y: NDArray[Any], classes: NDArray[Any], sample_weight: Any, X: Any, balanced: bool
    ) -> Vector | None:
        """The weight of each row; classes `balanced` among themselves need all labels at once."""
        weights = self._sample_weights(sample_weight, X)
        if self.class_weight is None:
            return weights
        if self.class_weight == "balanced" and not balanced:
            raise ValueError(BALANCED)
        if isinstance(self.class_weight, Mapping):
            check_weights("class_weight", self.class_weight)
        weight = self._by_class(y, classes, balanced)
        return weight if weights is None else weights * weight

    def _by_class(self, y: NDArray[Any], classes: NDArray[Any], balanced: bool) -> Vector:
        by_class = compute_class_weight(self.class_weight, classes=classes, y=y)
        return np.asarray(np.where(y == classes[1], by_class[1], by_class[0]))

    def _class_weight_of(self, y: Any) -> float:
        if isinstance(self.class_weight, str):
            raise SettingError(BALANCED)
        weights = {} if self.class_weight is None else self.class_weight
        check_weights("class_weight", weights)
        return next((float(weight) for label, weight in weights.items() if same(label, y)), 1.0)

    def _spelled_labels(self) -> list[Any]:
        """The labels by their codes, for the model file."""
        raise NotImplementedError

    def _shell(self) -> dict[str, Any]:
        weight = self.class_weight
        return {
            **super()._shell(),
            "classes": [as_python(label) for label in self._spelled_labels()],
            "dtype": self.classes_.dtype.str if self._has("classes_") else None,
            "class_weight": [[as_python(label), float(k)] for label, k in weight.items()]
            if isinstance(weight, dict)
            else weight,
        }

    def _restore(self, core: Core, shell: Mapping[str, Any] | None) -> None:
        super()._restore(core, shell)
        if shell is not None:  # otherwise it was learned by the command line
            if shell["dtype"] is not None:
                self.classes_ = np.array(shell["classes"], dtype=shell["dtype"])
            weight = shell["class_weight"]
            self.class_weight = dict(weight) if isinstance(weight, list) else weight


class LinearClassifier(Classifier):
    """A linear learner of two classes in scikit-learn's and in River's clothes."""

    _codes: dict[Any, float]  # −1 or +1 for every label met by `learn_one`, as it was spelled
    _pair: tuple[Any, Any]  # the two labels that `predict_one` gives, once both are known
    _held: list[tuple[Any, Any, float]]  # examples whose one label does not tell yet which it is
    _recipe: Features | None  # what the features of those will be

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # One pass through the origin is what the theorems speak of; it reaches no fixed share of correct answers.
        tags.classifier_tags.poor_score = not (self.bias and self.passes > 1)
        return tags

    # -- scikit-learn's way ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows, from nothing: `passes` times, in the order of the seed `shuffle`."""
        core = self._new_core()
        known = _at_a_glance(y)
        X, y = self._first_look(X, y, core, known=known is not None)
        classes = _classes(y, "y") if known is None else known
        if not len(classes):
            raise ValueError(f"{type(self).__name__}: there are no rows to learn from")
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__}: y must hold two classes, got one class only: {classes.tolist()[0]!r}"
            )
        core.labels = Labels.of(*classes.tolist())
        weights = self._row_weights(y, classes, sample_weight, X, balanced=True)
        signs = _signs(y, classes)
        self._advise(core, signs, 2)
        self._learn(core, X, signs, weights, self.passes, self.shuffle)
        for stale in ("_codes", "_pair", "_held", "_recipe"):
            self.__dict__.pop(stale, None)
        self._core, self.classes_ = core, classes
        return self

    @serialised
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning; without `classes` the labels −1/+1, 0/1, False/True are known, others must both be in y."""
        X, y = self._next_look(X, y)
        self._sample_weights(sample_weight, X)  # they are refused before a label is taken in
        if classes is not None:
            named = _classes(np.asarray(classes), "classes")
            if len(named) != 2:
                raise ValueError(f"classes: two are needed, got {named.tolist()}")
            if self._has("classes_") and not np.array_equal(self.classes_, named):
                raise ValueError(f"classes: {named.tolist()} are not those of before, {self.classes_.tolist()}")
            self._name_classes(named)
        else:
            self._name_classes(_classes(y, "y"))
        self.__dict__.pop("_recipe", None)
        for earlier in self.__dict__.pop("_held", []):
            self.learn_one(*earlier)
        weights = self._row_weights(y, np.array(self._labels()), sample_weight, X, balanced=False)
        self._learn(self.core, X, self._codes_of(y), weights, 1, None)
        return self

    def _name_classes(self, classes: NDArray[Any]) -> None:
        """Take in the labels of arrays; they must go with those of the rounds so far."""
        if self._has("classes_"):
            return
        labels = deepcopy(self.core.labels)  # what is refused changes nothing
        assert labels is not None
        if labels.untouched and len(classes) == 2:
            labels = Labels.of(*classes.tolist())
        for label in classes.tolist():
            labels.one(label)  # the second may tell what the first one is
        codes = dict(self._codes) if self._has("_codes") else {}
        for label in classes.tolist():
            code = labels.one(label)
            if code is None:
                raise ValueError(f"y: the one label {label!r} does not tell the other: give classes= on the first call")
            codes[label] = code
        self._codes, self.core.labels = codes, labels
        if labels.settled:
            self.classes_ = np.array(self._label_pair())

    def _codes_of(self, y: NDArray[Any]) -> Vector:
        known = dict(zip(self.classes_.tolist(), (-1.0, 1.0), strict=True)) if self._has("classes_") else self._codes
        codes = np.zeros(len(y))
        for label, code in known.items():
            codes[y == label] = code
        if not codes.all():
            raise ValueError(f"y: {y[codes == 0.0].tolist()[0]!r} is not one of the classes {list(known)}")
        return codes

    def decision_function(self, X: Any) -> Vector:
        """⟨w, x⟩ (+ b) for each row."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; the negative one at a score of exactly 0."""
        positive = self._scores(X) > 0.0
        classes = self.classes_ if self._has("classes_") else np.array(self._both_labels())
        return np.asarray(classes[positive.astype(int)])

    def _both_labels(self) -> tuple[Any, Any]:
        labels = self._labels()
        if None in labels:
            raise NotFittedError(f"this {type(self).__name__} has seen one label only: {labels}")
        return labels

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Vector:
        """The probabilities of the two classes: of the logistic loss, or calibrated."""
        positive = probability(self._odds(self._scores(X)))
        return np.column_stack([1.0 - positive, positive])

    @property
    def coef_(self) -> Vector:
        """The weights, as one row."""
        return self._fitted().weights[np.newaxis, :]

    @property
    def intercept_(self) -> Vector:
        """The bias; 0 without one."""
        return np.array([self._fitted().bias])

    # -- River's way -----------------------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> Self:
        """One round: a dict of features, an array, or a pair (indices, values), with its label."""
        try:
            code = self._codes[y]
        except (AttributeError, KeyError, TypeError):
            return self._learn_new(x, y, w)
        return self._learn_coded(x, y, code, w)

    def _learn_coded(self, x: Any, y: Any, code: float, w: float) -> Self:
        if w != 1.0 or self.class_weight is not None:
            w = checked_weight(w) * self._class_weight_of(y)
        core = self._core
        if w == 1.0:
            single = core.single  # another thread may drop it
            answer = OTHERWISE if single is None else single.play(x, code)
            if answer == PLAYED or core.follow_up(answer, x, code):
                return self
        self._learn_one(x, code, w)
        return self

    @serialised
    def _learn_new(self, x: Any, y: Any, w: float) -> Self:
        """An example whose label comes for the first time; it is held while that does not tell which it is."""
        weight = checked_weight(w)
        with same_labels_if_refused(self):
            recipe, square = try_out(self.core, x, self._recipe if self._has("_recipe") else None)
            labels = self.core.labels
            assert labels is not None
            code = labels.one(y)
            if (code is None or self._has("_held")) and not math.isfinite(weight * (square + 1.0) * weight):
                raise InputError("an example that waits for another label must not be too large to be squared")
            if code is None:
                held = (deepcopy(x), y, weight)
                self._held, self._recipe = [*(self._held if self._has("_held") else []), held], recipe
                return self
            self._codes = {**(self._codes if self._has("_codes") else {}), y: code}
            self.__dict__.pop("_recipe", None)
            for earlier in self.__dict__.pop("_held", []):
                self.learn_one(*earlier)
            return self._learn_coded(x, y, code, w)

    def predict_one(self, x: Any) -> Any:
        """The class of one example; None before any label was seen."""
        try:
            negative, positive = self._pair
        except AttributeError:
            negative, positive = self._labels()
            if negative is None or positive is None:
                return negative if positive is None else positive
        single = self._core.single  # another thread may drop it
        score = None if single is None else single.score(x)
        if score is None:
            score = self._score_one(x)
        return positive if score > 0.0 else negative

    @property
    def holding(self) -> bool:
        """Whether examples wait for a second label to tell which is which."""
        return self._has("_held")

    def _met(self) -> tuple[Any, Any]:
        """The two labels as they were first spelled; None for one that has not come yet."""
        if self.holding:
            return None, self._held[0][1]
        if self._has("classes_"):
            return self.classes_[0], self.classes_[1]
        found = {code: label for label, code in reversed(self._codes.items())} if self._has("_codes") else {}
        return found.get(-1.0), found.get(1.0)

    @serialised  # another thread may be meeting a label
    def _labels(self) -> tuple[Any, Any]:
        """The two labels; one that has not come yet follows from the other where it can be."""
        negative, positive = self._met()
        if negative is not None and positive is not None:
            self._pair = (negative, positive)
            return self._pair
        return (negative, positive) if self.holding else self._label_pair()

    def _label_pair(self) -> tuple[Any, Any]:
        labels = self.core.labels
        assert labels is not None
        found = {code: label for label, code in reversed(self._codes.items())} if self._has("_codes") else {}
        one = next(iter(found.values()), None)
        negative, positive = (_like(one, label) for label in labels.classes)
        return found.get(-1.0, negative), found.get(1.0, positive)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class, of the logistic loss or calibrated; empty before any label was seen."""
        return self._chances_one(x)

    def _labelled_scores(self, x: Any) -> tuple[Any, Vector]:
        return self._labels(), np.array([self._score_one(x) if self._has("_core") else 0.0])

    def _chances_one(self, x: Any) -> dict[Any, float]:
        try:
            negative, positive = self._pair
        except AttributeError:
            negative, positive = self._labels()
            if negative is None or positive is None:
                return {label: 1.0 for label in (negative, positive) if label is not None}
        single = self._core.single  # another thread may drop it
        score = None if single is None else single.score(x)
        score = self._score_one(x) if score is None else score
        p = probability_of(float(self._odds(np.array([score]))[0]))
        return {negative: 1.0 - p, positive: p}

    # -- the model file --------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; `noregret.load` reads it, and going on from it is as never having stopped."""
        if self.holding:
            raise SettingError("save: both labels must have been seen, or classes given, got one label only")
        super().save(path)

    def _spelled_labels(self) -> list[Any]:
        return list(self._met())

    def _restore(self, core: Core, shell: Mapping[str, Any] | None) -> None:
        super()._restore(core, shell)
        if shell is None:
            if core.labels is not None and core.labels.settled:
                labels = [as_whole(label) for label in core.labels.classes]
                self.classes_ = np.array(labels)
                self._codes = dict(zip(labels, (-1.0, 1.0), strict=True))
            return
        pairs = zip(shell["classes"], (-1.0, 1.0), strict=True)
        self._codes = {label: code for label, code in pairs if label is not None}


def _at_a_glance(y: Any) -> NDArray[Any] | None:
    """The sorted classes of a y of one or two whole float64, which is then well-formed; None for another."""
    if type(y) is not np.ndarray or y.dtype != np.float64 or y.ndim != 1 or not y.size:
        return None
    low, high, alone = two_values(y)
    return np.array(sorted({low, high})) if alone else None


def _classes(y: NDArray[Any], what: str) -> NDArray[Any]:
    """The sorted classes, at most two."""
    known = _at_a_glance(y)
    if known is not None:
        return known
    if y.dtype.kind in "iubf" and y.ndim == 1 and y.size:
        low, high = y.min(), y.max()
        if float(low).is_integer() and float(high).is_integer() and ((y == low) | (y == high)).all():
            return np.unique([low, high])  # seen at a glance, without sorting all of y
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        kind = type_of_target(y, input_name=what)
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}:"
            f" {what} holds {len(classes)} classes. MulticlassPerceptron learns from more than two."
        )
    return classes


def _signs(y: NDArray[Any], classes: NDArray[Any]) -> Vector:
    """−1 for the first class and +1 for the second: y itself, where it is just that."""
    if y.dtype == np.float64 and classes.tolist() == [-1.0, 1.0]:
        return np.ascontiguousarray(y)
    return np.where(y == classes[1], 1.0, -1.0)


def _like(one: Any, label: Any) -> Any:
    """A label told from the other one, of the same kind: False beside True, 0 beside 1."""
    if label is None or isinstance(label, str):
        return label
    return bool(label > 0) if isinstance(one, bool | np.bool_) else as_whole(label)


def as_whole(label: Any) -> Any:
    """A label that a file wrote as a number: 1, not 1.0."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def as_python(label: Any) -> Any:
    """A label as Python's own bool, int, float or str."""
    return label.item() if isinstance(label, np.generic) else label
