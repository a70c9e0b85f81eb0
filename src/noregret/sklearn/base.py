"""What the estimators share: rows in, one core behind them; and the estimators of numbers.

A shell takes its parameters from the class in which its learner declares its settings (`estimator`).

`fit` starts from nothing and passes over the rows `passes` times, in a new random order each time, from the seed
`shuffle`: the order in which they came does not decide. With `passes=1, shuffle=None` they are a stream, as they are
for `partial_fit`, `learn_one` and `noregret.play`, which go on and never shuffle. Nothing that only predicts changes
any state. The columns of a frame with words in it become features by the recipe that `read` follows.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import wraps
from inspect import Parameter
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import assert_all_finite, check_array, check_consistent_length
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted, validate_data

from noregret import learner, model
from noregret._native import OTHERWISE, PLAYED
from noregret.errors import DivergedError, InputError, OrderWarning, SettingError
from noregret.example import NOT_FINITE, checked_weight, is_finite, one_row, refuse_strange, without
from noregret.learner.core import Core, Settings
from noregret.setting import declares, fields, setting, signature
from noregret.sklearn.rows import as_rows, blocks_of, chunks, orders
from noregret.sklearn.sure import Intervals
from noregret.stream.block import stacked
from noregret.stream.features import Features
from noregret.stream.formats.frames import has_words, is_frame

Vector = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C")
SETTINGS = learner.settings.__name__  # where learners declare their settings
SORTED = 10  # rows a class: fewer may be sorted by chance
CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}


def serialised(method: F) -> F:
    """Calls from several threads are made one after another, under the lock of the learner."""

    @wraps(method)
    def one_at_a_time(self: Any, *args: Any, **settings: Any) -> Any:
        with self.core.lock:
            return method(self, *args, **settings)

    return cast(F, one_at_a_time)


@declares
class Fitting:
    """The settings of `fit`."""

    passes: int = setting(5, "How many times `fit` goes over the rows.")
    shuffle: int | None = setting(0, "The seed of the order of the rows, a new one each pass; None leaves it.")


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: type[C]) -> type[C]:
    """A shell over the learner whose settings the class inherits, with a constructor that does nothing but assign."""
    shell: Any = declares(cls)
    shell._core_type = getattr(learner, next(one.__name__ for one in cls.__mro__ if one.__module__ == SETTINGS))
    known = parameters(shell)

    def __init__(self: Any, **given: Any) -> None:
        for name in given.keys() - known.keys():
            raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}")
        for name, one in known.items():
            setattr(self, name, given.get(name, one.default))

    __init__.__signature__ = signature(known, Parameter("self", Parameter.POSITIONAL_OR_KEYWORD))  # type: ignore[attr-defined]
    shell.__init__ = __init__
    return cls


def parameters(shell: Any) -> dict[str, Any]:
    """The settings that an estimator takes."""
    known: dict[str, Any] = fields(shell)
    for name in ("tie", "calibrate") if shell._regression else ():
        known.pop(name, None)  # numbers are not right or wrong, and have no probabilities
    return known


class LinearEstimator(Fitting, BaseEstimator):  # type: ignore[misc]
    """An estimator around a core, which is made on first use."""

    _core_type: ClassVar[type[Core]]
    _regression: ClassVar[bool]
    _supervised: ClassVar[bool] = True  # what River's pipelines ask
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _core: Core

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        river = sys.modules.get("river.base")  # it tells classifiers and regressors by their base class
        if river is not None:
            getattr(river, "Regressor" if cls._regression else "Classifier").register(cls)
        made: Self = super().__new__(cls)
        return made

    @property
    def core(self) -> Core:
        """The learner itself."""
        try:
            return self._core
        except AttributeError:
            core: Core = self.__dict__.setdefault("_core", self._new_core())  # another thread may have been faster
            return core

    def _new_core(self) -> Core:
        core = self._core_type(**self._settings())
        if core.regression != self._regression:
            wanted, other = ("numbers", "two classes") if self._regression else ("two classes", "numbers")
            raise SettingError(f"{type(self).__name__}: is for {wanted}, the loss {core.loss.name} is for {other}")
        return core

    def clone(self, new_params: Mapping[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """As River copies: the same parameters or new ones, nothing learned; with attributes, what was learned too."""
        made: Self = deepcopy(self) if include_attributes else clone(self)
        if include_attributes and new_params:
            raise SettingError("clone: what was learned goes with the parameters that it was learned with")
        return made.set_params(**new_params) if new_params else made

    def _settings(self) -> Settings:
        """The core's settings among this estimator's parameters."""
        return {name: getattr(self, name) for name in fields(self._core_type.declared) if name in fields(type(self))}

    def _has(self, name: str) -> bool:
        """Whether an attribute was set: scikit-learn wants none before `fit`."""
        return name in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return self._has("_core") and self._core.rounds > 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learn(self, core: Core, X: Any, y: Vector, weights: Vector | None, passes: int, shuffle: int | None) -> None:
        new = core is not self.__dict__.get("_core")  # one that stops half-way is never seen again
        framed = is_frame(X)  # otherwise it was checked, and is an array or a matrix
        rows = stacked(blocks_of(core, X, recognise=new)) if framed else as_rows(X, guarded=new and core.guarded)
        if core.features is None:
            named = self._has("feature_names_in_")
            core.features = Features.named(list(self.feature_names_in_)) if named else Features("columns", X.shape[1])
        try:
            for order in orders(len(rows), passes, None if core.ordered else shuffle):
                if order is None:
                    core.learn(rows, y, weights)
                    continue
                for some in chunks(order, len(rows.values)):
                    core.learn(rows.take(some), y[some], None if weights is None else weights[some])
            if framed:
                core.know_all()
            return
        except DivergedError as error:
            diverged = error
        if not framed:
            assert_all_finite(X, input_name="X")  # what `fit` left to the loop to find
            as_rows(X)
        raise diverged

    def _advise(self, core: Core, y: Vector, classes: int) -> None:
        """Warn of rows that are sorted by their label, of which the last class would be learned last and best."""
        if self.shuffle is not None or core.ordered or core.needs_past or len(y) < SORTED * classes:
            return
        if np.count_nonzero(y[1:] != y[:-1]) == classes - 1:
            warnings.warn(
                f"{type(self).__name__}: the rows are sorted by their label and shuffle is None, so each class is"
                " learned at the cost of those before it: use shuffle=0, or shuffle the rows",
                OrderWarning,
                stacklevel=3,
            )

    def _first_look(self, X: Any, y: Any, core: Core, *, known: bool = False, **options: Any) -> tuple[Any, Any]:
        """X and y checked for `fit`, of a y that is `known` the length alone; a frame with words stays a frame.

        Where rows are played as they are, the loop itself stops at what is not finite.
        """
        if is_frame(X) and has_words(X):
            return self._look_by_name(X, y, True, known, **options)
        options = {"ensure_all_finite": not core.plain, **CHECKS, **options}
        if not known:
            checked = validate_data(self, X, y, **options)
            return checked[0], checked[1]
        if type(X) is np.ndarray or issparse(X):  # without names, which scikit-learn looks for at length
            X = check_array(X, input_name="X", estimator=self, **options)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = X.shape[1]
        else:
            X = validate_data(self, X, "no_validation", **options)
        check_consistent_length(X, y)
        return X, y

    def _next_look(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        """X and y checked for `partial_fit`; a frame whose columns go by name stays a frame."""
        if self._by_name(X):
            return self._look_by_name(X, y, self._core_features() is None, False, **options)
        checked = validate_data(self, X, y, reset=self._first(), **self._checks(), **options)
        return checked[0], checked[1]

    def _look_by_name(self, X: Any, y: Any, first: bool, known: bool, y_numeric: bool = False) -> tuple[Any, Any]:
        self._check_names(X, first)
        checked = y if known else _check_y(y, y_numeric=y_numeric, estimator=self)
        check_consistent_length(X, checked)
        return X, checked

    def _check_names(self, X: Any, first: bool) -> None:
        """The names of a frame's columns, as scikit-learn keeps and checks them; `noregret.play` keeps its own."""
        if first or self._has("feature_names_in_"):
            validate_data(self, X, reset=first, skip_check_array=True)

    def _checks(self) -> dict[str, Any]:
        """What scikit-learn is to check; values may be missing where the model was learned with their means."""
        filled = self._has("_core") and self._core.preparation.means is not None
        return {**CHECKS, "ensure_all_finite": "allow-nan"} if filled else CHECKS

    def _first(self) -> bool:
        """Whether rows in arrays have yet to say how many columns there are."""
        if not self._has("_core") or self._core.features is None:
            return True
        if not self._has("n_features_in_"):  # the rounds so far did not come from arrays
            self.n_features_in_ = self._core.features.width
        return False

    def _sample_weights(self, sample_weight: Any, X: Any) -> Vector | None:
        if sample_weight is None:
            return None
        return np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))

    @property
    def features(self) -> Features | None:
        """What the feature indices mean: `read` takes it, to read another stream the same way."""
        return self.core.features

    def _core_features(self) -> Features | None:
        return self._core.features if self._has("_core") else None

    def _by_name(self, X: Any) -> bool:
        """Whether X is a frame whose columns become features by name: there are words in it, or `play` read another."""
        if not is_frame(X):
            return False
        features = self._core_features()
        if features is None:
            return has_words(X)
        return features.kind == "names" and (features.hashes or not self._has("feature_names_in_"))

    @serialised
    def _scores(self, X: Any) -> Vector:
        check_is_fitted(self)
        if self._by_name(X):
            self._check_names(X, False)
            parts, ahead = [], 0
            for rows in blocks_of(self.core, X, frozen=True):
                parts.append(self.core.scores(rows, ahead))
                ahead += len(rows)
            return np.concatenate(parts)
        features = self._core.features
        if features is not None and (features.hashes or features.interactions):
            what = "words" if features.hashes else "interactions"
            raise ValueError(f"{type(self).__name__} has learned from a table with {what}: X must be a table too")
        if not self._has("n_features_in_") or self.core.columns_read > self.n_features_in_:
            self.n_features_in_ = self.core.columns_read  # the rounds did not come from arrays
        return self.core.scores(as_rows(validate_data(self, X, reset=False, **self._checks())))

    @serialised
    def _score_one(self, x: Any) -> float:
        """The score of one example; the learner is left as it was."""
        core = self._core
        if core.features is None:
            return 0.0
        row, width = one_row(core, x, False)
        if width > core.width:
            row = without(row, core.width)
        score = float(core.score_one(row))
        if score - score != 0.0:  # NaN or an infinity
            raise InputError(NOT_FINITE)
        return score

    @serialised
    def _learn_one(self, x: Any, y: float, weight: float) -> None:
        core = self._core
        if weight == 0.0:
            refuse_strange(x)
            if core.features is not None:
                one_row(core, x, False)
            return
        features, width = core.features, core.width
        known = 0 if features is None else features.width
        row, reach = one_row(core, x, True, y)
        try:
            core.play_one(row, reach, y, weight)
        except BaseException as error:  # the round was refused, or a loss of the user's own raised it
            if reach > width and core.supports is None:  # a round that was refused leaves no feature behind
                core.width, core.single = width, None
                core.features = features
                if features is not None:
                    features.cut(known)
            if isinstance(error, DivergedError) and not is_finite(row):
                raise InputError(NOT_FINITE) from None
            raise

    def _fitted(self) -> Core:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} has not learned from anything yet")
        return self._core

    @property
    def rounds_(self) -> int:
        """How many rounds were played."""
        return self._fitted().rounds

    @serialised
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; `noregret.load` reads it, and going on from it is as never having stopped."""
        model.save(self._fitted(), path, self._shell())

    def _shell(self) -> dict[str, Any]:
        """What a model file keeps beside the core."""
        return {
            "params": {"passes": self.passes, "shuffle": self.shuffle},
            "columns": self.n_features_in_ if self._has("n_features_in_") else None,
            "names": [str(name) for name in self.feature_names_in_] if self._has("feature_names_in_") else None,
        }

    def _restore(self, core: Core, shell: Mapping[str, Any] | None) -> None:
        self._core = core
        if shell is None:
            self.n_features_in_ = core.columns_read
        elif shell["columns"] is not None:
            self.n_features_in_ = int(shell["columns"])
            if shell["names"] is not None:
                self.feature_names_in_ = np.array(shell["names"], dtype=object)


class LinearRegressor(Intervals, RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """A linear learner of numbers in scikit-learn's and in River's clothes."""

    _regression = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows, from nothing: `passes` times, in the order of the seed `shuffle`."""
        core = self._new_core()
        X, y = self._first_look(X, y, core, y_numeric=True)
        weights = self._sample_weights(sample_weight, X)
        self._learn(core, X, np.array(y, np.float64), weights, self.passes, self.shuffle)
        self._core = core
        return self

    @serialised
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning."""
        X, y = self._next_look(X, y, y_numeric=True)
        self._learn(self.core, X, np.array(y, np.float64), self._sample_weights(sample_weight, X), 1, None)
        return self

    def predict(self, X: Any) -> Vector:
        """⟨w, x⟩ (+ b) for each row."""
        return self._scores(X)

    def learn_one(self, x: Any, y: float, w: float = 1.0) -> Self:
        """One round: a dict of features, an array, or a pair (indices, values), with its number."""
        target = float(y)
        if not math.isfinite(target):
            raise InputError(f"the label must be finite, got {y}")
        core = self.core
        if w == 1.0:
            single = core.single  # another thread may drop it
            answer = OTHERWISE if single is None else single.play(x, target)
            if answer == PLAYED or core.follow_up(answer, x, target):
                return self
        self._learn_one(x, target, w if w == 1.0 else checked_weight(w))
        return self

    def predict_one(self, x: Any) -> float:
        """The score of one example; 0 before anything was learned."""
        if not self._has("_core"):
            return 0.0
        single = self._core.single  # another thread may drop it
        score = None if single is None else single.score(x)
        return self._score_one(x) if score is None else score

    @property
    def coef_(self) -> Vector:
        """The weights."""
        return self._fitted().weights

    @property
    def intercept_(self) -> float:
        """The bias; 0 without one."""
        return self._fitted().bias
