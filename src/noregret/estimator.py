"""The learners in scikit-learn's and in River's clothes: thin shells over a core that plays the rounds.

`fit` starts anew, `partial_fit`, `learn_one` and `noregret.play` go on. `predict` gives the negative class at a score of
exactly 0. Nothing that only predicts changes any state.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from noregret import learner as cores
from noregret import model
from noregret._kernel.linear import score_row
from noregret.errors import DivergedError, InputError, SettingError
from noregret.learner.linear import Given, Linear, Settings, given
from noregret.loss import Loss
from noregret.loss import parse as parse_loss
from noregret.stream.block import MAX_INDEX, Dense, Rows, Sparse
from noregret.stream.features import Features
from noregret.stream.labels import Labels
from noregret.stream.rows import encode

Vector = NDArray[np.float64]
FLOAT64 = np.dtype(np.float64)
FLOATS = (FLOAT64, np.dtype(np.float32))
NOT_FINITE = "an example must hold finite numbers only"


class LinearEstimator(BaseEstimator):  # type: ignore[misc]
    """What the classifiers and regressors share: rows in, one core behind them."""

    _core_type: ClassVar[type[Linear]]
    passes: int
    shuffle: int | None

    # -- the core ------------------------------------------------------------------------------------------

    @property
    def core(self) -> Linear:
        """The learner itself, made on first use."""
        try:
            return self._core
        except AttributeError:
            self._core: Linear = self._new_core()
            return self._core

    def _new_core(self) -> Linear:
        return self._core_type(**self._settings())

    def _settings(self) -> Settings:
        """The core's settings among this estimator's parameters."""
        own = {"passes", "shuffle", "class_weight"}
        return {name: value for name, value in self.get_params(deep=False).items() if name not in own}

    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in vars(self) and (self._core.rounds > 0 or "_held" in vars(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -- rows ----------------------------------------------------------------------------------------------

    def _learn(self, X: Any, y: Vector, weights: Vector | None, passes: int, shuffle: int | None) -> None:
        rows = as_rows(X)
        core = self.core
        if core.features is None:
            names = getattr(self, "feature_names_in_", None)
            core.features = Features("columns", X.shape[1]) if names is None else Features.named(list(names))
        for order in _orders(len(rows), passes, shuffle):
            if order is None:
                core.play(rows, y, weights)
            else:
                core.play(rows.take(order), y[order], None if weights is None else weights[order])

    def _checked(self, X: Any, y: Any, reset: bool, **options: Any) -> tuple[Any, Any]:
        return validate_data(  # type: ignore[no-any-return]
            self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", **options
        )

    def _scores(self, X: Any) -> Vector:
        check_is_fitted(self)
        self._describe()
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        return self.core.scores(as_rows(X))

    def _describe(self) -> None:
        """After rounds that did not come from arrays: tell scikit-learn the number of features."""
        if "n_features_in_" not in vars(self) or self.core.width > self.n_features_in_:
            self.n_features_in_ = self.core.width

    # -- one example -----------------------------------------------------------------------------------------

    def _row(self, x: Any, grow: bool) -> tuple[Given, int]:
        """One example, a dict, an array or a pair (indices, values), as the kernels take it, and its width."""
        core = self._core
        row: Rows
        if type(x) is dict or isinstance(x, Mapping):
            features = core.features
            if features is None:
                features = core.features = Features("names")
            indices, values = encode(features, x, grow)
            if core.plain:
                return (_bounds(len(values)), indices, values), features.width
            row = Sparse(_bounds(len(values)), indices, values)
        elif type(x) is np.ndarray and x.ndim == 1:
            row = Dense(np.ascontiguousarray(x if x.dtype in FLOATS else x.astype(np.float64)).reshape(1, -1))
            self._admit(row.width, "columns", grow)
        elif isinstance(x, tuple) and len(x) == 2:
            row = _pair(*x)
            self._admit(row.width, "index", grow)
        else:
            row = Dense(_one_array(x).reshape(1, -1))
            self._admit(row.width, "columns", grow)
        if not core.plain:
            if not np.isfinite(row.values).all():
                raise InputError(NOT_FINITE)
            row = core.preparation.apply(row, learn=grow)
        return given(row), row.width

    def _admit(self, width: int, kind: Any, grow: bool) -> None:
        features = self.core.features
        if features is None:
            self.core.features = Features(kind, width)
        elif features.kind == "index":
            if grow:
                features.reach(width)
        elif width > features.width or (kind == "columns" and width != features.width):
            raise InputError(f"expected {features.width} features, got {width}")

    def _score_one(self, x: Any) -> float:
        """The score of one example; the learner is left as it was."""
        core = self._core
        if type(x) is np.ndarray and x.dtype is FLOAT64 and x.shape == (core.width,) and core.plain:
            row = x
        else:
            row, width = self._row(x, False)
            if width > core.width:
                row = _without(row, core.width)
        score = score_row(row, core.z, core.state, core.config)
        if score != score:
            raise InputError(NOT_FINITE)
        return score

    def _learn_one(self, x: Any, y: float, weight: float) -> None:
        core = self._core
        if type(x) is np.ndarray and x.dtype is FLOAT64 and x.shape == (core.width,) and core.plain:
            row, width = x[None], core.width
        else:
            row, width = self._row(x, True)
        try:
            core.play_one(row, width, y, weight)
        except DivergedError:
            if not np.isfinite(row[2] if isinstance(row, tuple) else row).all():
                raise InputError(NOT_FINITE) from None
            raise

    # -- what was learned ----------------------------------------------------------------------------------

    def _fitted(self) -> Linear:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} has not learned from anything yet")
        return self.core

    @property
    def rounds_(self) -> int:
        """How many rounds were played."""
        return self._fitted().rounds

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; `noregret.load` reads it, and going on from it is as never having stopped."""
        if "_held" in vars(self):
            raise SettingError("save: only one label was seen, so it cannot be told yet which is positive")
        model.save(self._fitted(), path, self._shell())

    def _shell(self) -> dict[str, Any]:
        """What a model file keeps beside the core."""
        names = getattr(self, "feature_names_in_", None)
        own = {name: getattr(self, name) for name in ("passes", "shuffle")}
        return {
            "regression": isinstance(self, RegressorMixin),
            "params": own,
            "columns": getattr(self, "n_features_in_", None),
            "names": None if names is None else [str(name) for name in names],
        }

    def _restore(self, core: Linear, shell: Mapping[str, Any] | None) -> None:
        self._core = core
        if shell is not None and shell["columns"] is not None:
            self.n_features_in_ = int(shell["columns"])
            if shell["names"] is not None:
                self.feature_names_in_ = np.array(shell["names"], dtype=object)


class LinearClassifier(ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """Two classes: the negative one first in `classes_`."""

    bias: bool
    class_weight: dict[Any, float] | str | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # One pass through the origin is what the theorems speak of; it reaches no fixed share of correct answers.
        tags.classifier_tags.poor_score = not (self.bias and self.passes > 1)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in order, starting anew."""
        X, y = self._checked(X, y, reset=True)
        classes = _classes(y, "y")
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__}: y must hold two classes, got one class only: {classes[0]!r}")
        self._core = self._new_core()
        for stale in ("_held", "_codes", "_pair", "classes_"):
            vars(self).pop(stale, None)
        self._name_classes(classes)
        weights = self._row_weights(y, sample_weight, X, balanced=True)
        self._learn(X, self._codes_of(y), weights, self.passes, self.shuffle)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning; without `classes` the labels −1/+1, 0/1, False/True are known, others must both be in y."""
        first = "_core" not in vars(self) or self.core.features is None
        X, y = self._checked(X, y, reset=first)
        check_classification_targets(y)
        if classes is not None:
            self._name_classes(_classes(np.asarray(classes), "classes"))
        elif "classes_" not in vars(self):
            self._name_classes(_paired(_classes(y, "y")))
        weights = self._row_weights(y, sample_weight, X, balanced=False)
        self._learn(X, self._codes_of(y), weights, 1, None)
        return self

    def _name_classes(self, classes: NDArray[Any]) -> None:
        if "classes_" in vars(self) and self.core.rounds and not np.array_equal(self.classes_, classes):
            raise ValueError(f"classes: {list(classes)} are not those of before, {list(self.classes_)}")
        self.classes_ = classes
        self.core.labels = Labels.of(*classes.tolist())

    def _codes_of(self, y: NDArray[Any]) -> Vector:
        positive, negative = y == self.classes_[1], y == self.classes_[0]
        strange = ~(positive | negative)
        if strange.any():
            raise ValueError(f"y: {y[strange][0]!r} is not one of the classes {list(self.classes_)}")
        return np.where(positive, 1.0, -1.0)

    def _row_weights(self, y: NDArray[Any], sample_weight: Any, X: Any, balanced: bool) -> Vector | None:
        weights: Vector | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if self.class_weight is None:
            return weights
        if self.class_weight == "balanced" and not balanced:
            raise ValueError("class_weight='balanced' needs all labels at once: use fit, or give the weights")
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        weight = np.where(y == self.classes_[1], by_class[1], by_class[0])
        return weight if weights is None else weights * weight

    def decision_function(self, X: Any) -> Vector:
        """⟨w, x⟩ (+ b) for each row."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; the negative one at a score of exactly 0."""
        scores = self._scores(X)
        return np.asarray(self._both_classes()[(scores > 0.0).astype(int)])

    def _both_classes(self) -> NDArray[Any]:
        if "classes_" in vars(self):
            return np.asarray(self.classes_)
        found = self._labels_of_one()
        if None in found:
            raise NotFittedError(f"this {type(self).__name__} has seen one label only: {found}")
        return np.array(found)

    @available_if(lambda self: parse_loss(getattr(self, "loss", "hinge")).name == "logistic")
    def predict_proba(self, X: Any) -> Vector:
        """The probabilities of the two classes (logistic loss)."""
        positive = _sigmoid(self._scores(X))
        return np.column_stack([1.0 - positive, positive])

    # -- River's way -----------------------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> Self:
        """One round: a dict of features, an array, or a pair (indices, values), with its label."""
        try:
            code = self._codes[y]
        except (AttributeError, KeyError):
            if (code := self._meet(x, y, w)) is None:
                return self
        if w != 1.0 or self.class_weight is not None:
            w = _checked_weight(w) * self._class_weight_of(y)
        self._learn_one(x, code, w)
        return self

    @property
    def _known(self) -> dict[Any, float]:
        """The code of every label met so far, as it was spelled."""
        try:
            return self._codes
        except AttributeError:
            self._codes: dict[Any, float] = {}
            return self._codes

    def _meet(self, x: Any, y: Any, w: float) -> float | None:
        """A label's code on its first appearance; None while it cannot be told, the example being held."""
        labels = self.core.labels
        assert labels is not None
        code = labels.one(y)
        if code is None:
            _checked_weight(w)
            vars(self).setdefault("_held", []).append((dict(x) if isinstance(x, Mapping) else x, y, w))
            return None
        self._known[y] = code
        for held_x, held_y, held_w in vars(self).pop("_held", []):
            self.learn_one(held_x, held_y, held_w)
        return code

    def _class_weight_of(self, y: Any) -> float:
        if self.class_weight is None:
            return 1.0
        if not isinstance(self.class_weight, dict):
            raise SettingError("class_weight='balanced' needs all labels at once: use fit, or give the weights")
        return float(self.class_weight.get(y, 1.0))

    def predict_one(self, x: Any) -> Any:
        """The class of one example; None before any label was seen."""
        try:
            negative, positive = self._pair
        except AttributeError:
            negative, positive = self._labels_of_one()
            if negative is None or positive is None:
                return negative if positive is None else positive
        return positive if self._score_one(x) > 0.0 else negative

    def _labels_of_one(self) -> tuple[Any, Any]:
        """The two labels as they were first spelled; None for one that is not known."""
        if "_held" in vars(self):
            return None, vars(self)["_held"][0][1]
        known = self._known
        if "classes_" in vars(self):
            found = {-1.0: self.classes_[0], 1.0: self.classes_[1]}
        else:
            found = {code: label for label, code in reversed(known.items())}
        if len(found) == 2:  # settled for good
            self._pair: tuple[Any, Any] = (found[-1.0], found[1.0])
            return self._pair
        labels = self.core.labels
        assert labels is not None
        negative, positive = labels.classes
        return found.get(-1.0, negative), found.get(1.0, positive)

    @available_if(lambda self: parse_loss(getattr(self, "loss", "hinge")).name == "logistic")
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class (logistic loss); empty before any label was seen."""
        negative, positive = self._labels_of_one()
        if negative is None or positive is None:
            return {} if positive is None and negative is None else {positive if negative is None else negative: 1.0}
        p = float(_sigmoid(np.array([self._score_one(x)]))[0])
        return {negative: 1.0 - p, positive: p}

    @property
    def coef_(self) -> Vector:
        """The weights, as one row."""
        return self._fitted().weights[np.newaxis, :]

    @property
    def intercept_(self) -> Vector:
        """The bias; 0 without one."""
        return np.array([self._fitted().bias])

    def _shell(self) -> dict[str, Any]:
        negative, positive = self._labels_of_one()
        classes = np.array([negative, positive])
        weight = self.class_weight
        if isinstance(weight, dict):
            weight = [[_python(label), float(k)] for label, k in weight.items()]  # type: ignore[assignment]
        return {
            **super()._shell(),
            "classes": [_python(label) for label in (negative, positive)],
            "dtype": classes.dtype.str,
            "fitted": "classes_" in vars(self),
            "class_weight": weight,
        }

    def _restore(self, core: Linear, shell: Mapping[str, Any] | None) -> None:
        super()._restore(core, shell)
        if shell is not None:
            if shell["fitted"]:
                self.classes_ = np.array(shell["classes"], dtype=shell["dtype"])
            self._codes = {
                label: code for label, code in zip(shell["classes"], (-1.0, 1.0), strict=True) if label is not None
            }


class LinearRegressor(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """A number for each row."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in order, starting anew."""
        X, y = self._checked(X, y, reset=True, y_numeric=True)
        self._core = self._new_core()
        self._learn(X, _targets(y), self._row_weights(sample_weight, X), self.passes, self.shuffle)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning."""
        first = "_core" not in vars(self) or self.core.features is None
        X, y = self._checked(X, y, reset=first, y_numeric=True)
        self._learn(X, _targets(y), self._row_weights(sample_weight, X), 1, None)
        return self

    def _row_weights(self, sample_weight: Any, X: Any) -> Vector | None:
        if sample_weight is None:
            return None
        weights: Vector = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return weights

    def predict(self, X: Any) -> Vector:
        """⟨w, x⟩ (+ b) for each row."""
        return self._scores(X)

    def learn_one(self, x: Any, y: float, w: float = 1.0) -> Self:
        """One round: a dict of features, an array, or a pair (indices, values), with its number."""
        target = float(y)
        if not math.isfinite(target):
            raise InputError(f"the label must be finite, got {y}")
        self.core  # noqa: B018, made on first use
        self._learn_one(x, target, w if w == 1.0 else _checked_weight(w))
        return self

    def predict_one(self, x: Any) -> float:
        """The score of one example; 0 before anything was learned."""
        return self._score_one(x) if "_core" in vars(self) else 0.0

    @property
    def coef_(self) -> Vector:
        """The weights."""
        return self._fitted().weights

    @property
    def intercept_(self) -> float:
        """The bias; 0 without one."""
        return self._fitted().bias


class Perceptron(LinearClassifier):
    """The perceptron: w ← w + η·y·x on a mistake.

    >>> Perceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """

    _core_type = cores.Perceptron

    def __init__(
        self,
        *,
        rate: float = 1.0,
        tie: str = "mistake",
        bias: bool = False,
        start: Sequence[float] | None = None,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        self.rate = rate
        self.tie = tie
        self.bias = bias
        self.start = start
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight


class OnlineGradientDescent(LinearClassifier):
    """Projected online gradient descent for two classes, with any classification loss.

    >>> model = OnlineGradientDescent(loss="logistic", radius=5.0).fit([[1.0], [-1.0]], ["spam", "ham"])
    >>> model.predict_one({0: 2.0})
    'spam'
    """

    _core_type = cores.OnlineGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        radius: float = 10.0,
        domain: str = "ball",
        rate: str = "auto",
        tie: str = "mistake",
        bias: bool = False,
        start: Sequence[float] | None = None,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        self.loss = loss
        self.radius = radius
        self.domain = domain
        self.rate = rate
        self.tie = tie
        self.bias = bias
        self.start = start
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight


class StronglyConvexGradientDescent(LinearClassifier):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for two classes."""

    _core_type = cores.StronglyConvexGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        sigma: float = 0.1,
        radius: float = math.inf,
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        self.loss = loss
        self.sigma = sigma
        self.radius = radius
        self.tie = tie
        self.bias = bias
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight


class OnlineGradientDescentRegressor(LinearRegressor):
    """Projected online gradient descent for numbers, with any regression loss.

    >>> float(OnlineGradientDescentRegressor(rate="constant:0.5").fit([[1.0], [1.0]], [3.0, 3.0]).coef_[0])
    3.0
    """

    _core_type = cores.OnlineGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "squared",
        radius: float = 10.0,
        domain: str = "ball",
        rate: str = "auto",
        bias: bool = False,
        start: Sequence[float] | None = None,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
    ) -> None:
        self.loss = loss
        self.radius = radius
        self.domain = domain
        self.rate = rate
        self.bias = bias
        self.start = start
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle


class StronglyConvexGradientDescentRegressor(LinearRegressor):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for numbers."""

    _core_type = cores.StronglyConvexGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "absolute",
        sigma: float = 0.1,
        radius: float = math.inf,
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
    ) -> None:
        self.loss = loss
        self.sigma = sigma
        self.radius = radius
        self.bias = bias
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle


ESTIMATORS: dict[tuple[str, bool], type[LinearEstimator]] = {
    ("perceptron", False): Perceptron,
    ("ogd", False): OnlineGradientDescent,
    ("ogd", True): OnlineGradientDescentRegressor,
    ("ogd-strong", False): StronglyConvexGradientDescent,
    ("ogd-strong", True): StronglyConvexGradientDescentRegressor,
}


def load(path: str | os.PathLike[str], loss: Loss | None = None) -> LinearEstimator:
    """The model of a file written by `save` or by `noregret learn --save`, ready to go on.

    A loss of one's own is not in the file: give it again as `loss`.
    """
    core, shell = model.load(path, loss)
    kind = ESTIMATORS[core.name, core.regression]
    settings = dict(core.settings)
    if core.regression:
        settings.pop("tie")
    if shell is not None:
        settings.update(shell["params"])
        if shell.get("class_weight") is not None:
            weight = shell["class_weight"]
            settings["class_weight"] = weight if isinstance(weight, str) else {tuple(pair)[0]: pair[1] for pair in weight}
    estimator = kind(**settings)
    estimator._restore(core, shell)
    return estimator


def as_rows(X: Any) -> Rows:
    """A checked array or CSR matrix as rows."""
    if isinstance(X, np.ndarray):
        return Dense(np.ascontiguousarray(X))
    X.sum_duplicates()
    return Sparse(X.indptr.astype(np.int64), X.indices.astype(np.uint32, copy=False), X.data)


def _orders(rows: int, passes: int, shuffle: int | None) -> Iterator[NDArray[np.int64] | None]:
    """The order of the rows in each pass; None is the order they came in."""
    if not isinstance(passes, int | np.integer) or passes < 1:
        raise SettingError(f"passes must be a whole number of at least 1, got {passes}")
    rng = None if shuffle is None else np.random.default_rng(shuffle)
    for _ in range(passes):
        yield None if rng is None else rng.permutation(rows)


@lru_cache(maxsize=256)
def _bounds(count: int) -> NDArray[np.int64]:
    return np.array([0, count], dtype=np.int64)


def _checked_weight(weight: float) -> float:
    if not (weight >= 0.0 and math.isfinite(weight)):
        raise InputError(f"a weight must be at least 0 and finite, got {weight}")
    return float(weight)


def _pair(indices: Any, values: Any) -> Sparse:
    where, what = np.asarray(indices, np.int64), np.asarray(values, np.float64)
    if where.shape != what.shape or where.ndim != 1:
        raise InputError("an (indices, values) pair must be two rows of one length")
    if where.size and not 0 <= where.min() <= where.max() <= MAX_INDEX:
        raise InputError(f"the indices of an (indices, values) pair must lie between 0 and {MAX_INDEX}")
    if np.unique(where).size != where.size:
        raise InputError("an (indices, values) pair may name each index only once")
    return Sparse(_bounds(where.size), where.astype(np.uint32), what)


def _one_array(x: Any) -> Vector:
    try:
        row = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros((0, 0))
    if row.ndim != 1:
        raise InputError("one example must be a dict, a row of numbers or a pair (indices, values)")
    return np.ascontiguousarray(row)


def _without(row: Given, width: int) -> Given:
    """A row without the features from `width` on, which were never learned from."""
    if not isinstance(row, tuple):
        return np.ascontiguousarray(row[:, :width])
    kept = row[1] < width
    return _bounds(int(kept.sum())), row[1][kept], row[2][kept]


def _classes(y: NDArray[Any], what: str) -> NDArray[Any]:
    """The sorted classes, at most two."""
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        kind = type_of_target(y, input_name=what)
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}:"
            f" {what} holds {len(classes)} classes."
        )
    return classes


def _paired(classes: NDArray[Any]) -> NDArray[Any]:
    """Both classes where only one of a known pair was given."""
    if len(classes) == 2:
        return classes
    labels = Labels()
    labels.one(classes[0].item())
    if None in labels.classes:
        raise ValueError(f"y: the one label {classes[0]!r} does not tell the other: give classes= on the first call")
    return np.array(labels.classes).astype(classes.dtype)


def _targets(y: NDArray[Any]) -> Vector:
    return np.ascontiguousarray(y, dtype=np.float64)


def _sigmoid(scores: Vector) -> Vector:
    e = np.exp(-np.abs(scores))
    return np.where(scores >= 0.0, 1.0, e) / (1.0 + e)


def _python(label: Any) -> Any:
    """A label as Python's own bool, int, float or str."""
    return label.item() if isinstance(label, np.generic) else label
