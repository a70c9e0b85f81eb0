"""What every learner is: settings that never change, named figures that do, and rounds played on prepared rows.

The settings of a learner stand in settings.py. It says by which loss, domain and rate it plays (`_rules`), keeps its
own arrays (`arrays`, `restore`), grows with the features, plays blocks of rows (`_play`) and scores them (`_score`).
All else, the preparation of rows, the labels, what was learned from, is common to all and lives here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret._native import CONSTANT
from noregret.domain import Domain
from noregret.errors import DivergedError, MemoryShortError, spelled
from noregret.learner.settings import Prepared
from noregret.learner.sure import Sure
from noregret.loss import Loss, hinge, tie_code, zero_one
from noregret.memory import free_memory
from noregret.prepare import Lags, Means, Preparation
from noregret.rate import Rate
from noregret.rounds import Keeper
from noregret.setting import as_dict, checked_settings, fields, signature
from noregret.state import RECORD, begin
from noregret.stream.block import Rows, Sparse, rows_of
from noregret.stream.features import Features
from noregret.stream.labels import Classes, Labels

if TYPE_CHECKING:
    from noregret.learner.short import Short

Vector = NDArray[np.float64]
NO_WEIGHTS: Vector = np.zeros(0)
EVERYWHERE = Domain(radius=math.inf)
Settings = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
NativeRows = Any  # a matrix, or the triple (indptr, indices, values)
LINE = 64  # bytes that come from memory together
TOOLS = ("lock", "single", "_loss")  # what a copy makes for itself
Call = Callable[[], Any]  # a loop with all that it is given
Segment = dict[str, Any]  # one `learn` call: its rows, those skipped before it, and their digest


class Core(ABC):
    """A learner: `play` rounds, ask for `scores`; its state is arrays, compared bit for bit."""

    name: str
    declared: ClassVar[type[Prepared]]  # its settings
    params: Any  # the settings of this one, an object of that class; `settings` has them as a dictionary
    learns: ClassVar[bool] = True
    outputs: ClassVar[int] = 1  # how many numbers `play` gives for a round
    gathers: ClassVar[int] = 0  # what its loop sums beside the weights
    compared_only: ClassVar[bool] = False  # without a radius of its own: one that is given is its comparators'
    scale_free: ClassVar[bool] = False  # the units of the features matter little to it, or not at all
    perceptron_rounds: ClassVar[bool] = False  # its rounds are the perceptron's, of which the mistake theorems speak
    weighs_features: ClassVar[bool] = True  # its comparators are weights of the features
    selects: ClassVar[str | None] = None  # the selection among a run's predictors that it already is
    mixes: ClassVar[bool] = False  # it is a mixture of members, each with a weight
    linear: ClassVar[bool] = False  # a round's score is ⟨w, x⟩ with weights that its row does not change
    _grows: ClassVar[str] = "the weights or the loss"
    _remedy: ClassVar[str] = "use a smaller rate or radius"
    averages: ClassVar[bool] = False  # weights learned on several shards can be mixed: no more is needed to go on
    multiclass: ClassVar[bool] = False  # whether labels are the numbers of classes, two or more
    paired: bool = False  # weights and Σg side by side in memory
    needs_past: bool = False  # it looks at the labels of rounds before
    foretold: NDArray[np.float64] | None = None  # what a mixture's members said of the row that is learned now
    waited: int = 0  # predictions of late rounds that were made while others waited for their labels
    late: dict[str, Any] | None = None  # rounds that wait for their labels, as a model file keeps them
    sure: Sure | None = None  # what it says beside its scores
    aside: bool = False  # whether that is learned elsewhere: a round whose label came late is judged by what was said
    watched: dict[str, Any] | None = None  # what watches its rounds, by name, as a model file keeps it
    ordered: bool = False  # whether a row means something by its place, so that rows cannot be shuffled

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "declared"):
            cls.__signature__ = signature(fields(cls.declared))  # type: ignore[attr-defined]

    def __init__(self, **given: Any) -> None:
        self.params = params = checked_settings(self.declared, self.name, given)
        self.loss, self.domain, self.rate = loss, domain, rate = self._rules()
        self.settings: Settings = as_dict(params)
        lags = Lags(params.lags, self.multiclass) if params.lags else None
        self.preparation = Preparation(params.scale, params.unit_norm, expand=params.expand, lags=lags)
        self.needs_past = self.ordered = lags is not None
        self.plain = not self.preparation.active  # rows are played as they come
        self.record = np.zeros(1, RECORD)
        begin(self.record["state"])
        self.config["rate"], self.config["eta"] = rate.code, rate.eta
        self.config["domain"], self.config["radius"] = domain.code, domain.radius
        self.config["bias"], self.config["gather"] = float(params.bias), self.gathers
        self.config["tie"], self.config["parameter"] = tie_code(params.tie), loss.number
        self.config["classify"] = not loss.regression
        self.extent = np.zeros(1, np.int64)
        self.features: Features | None = None
        self.labels: Labels | Classes | None = None if loss.regression else Labels()
        self.segments: list[Segment] = []
        self.options: dict[str, Any] = {}  # how its streams were read, kept with the model
        self.sure = Sure.of(self.name, params, loss, self.multiclass)
        self._fresh_tools()

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        """What it plays by, from its settings: where settings must agree with each other, a sentence if not."""
        return zero_one(self.params.tie), EVERYWHERE, Rate(CONSTANT, 1.0)

    def _fresh_tools(self) -> None:
        """What belongs to this process alone, and is made again in every copy."""
        self.lock = _native.Lock()  # calls from several threads are made one after another
        self.single: _native.Single | Short | None = None  # one example at a time, while the arrays stay where they are
        self._loss: _native.Loss | None = None

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return deepcopy({name: part for name, part in vars(self).items() if name not in TOOLS})

    @property
    def core(self) -> Self:
        return self

    @property
    def regression(self) -> bool:
        return self.loss.regression

    @property
    def judged_by(self) -> Loss:
        """The convex loss that its regret is counted in: its own, or the hinge loss of its scores."""
        return self.loss if self.loss.convex else hinge()

    @property
    def width(self) -> int:
        """How many features are known: a number that `single` counts up too."""
        return int(self.extent[0])

    @width.setter
    def width(self, width: int) -> None:
        self.extent[0] = width

    @property
    def state(self) -> NDArray[Any]:
        """The named figures: one record, which changes with every round."""
        return np.asarray(self.record["state"])

    @state.setter
    def state(self, state: NDArray[Any]) -> None:
        self.record["state"] = state

    @property
    def config(self) -> NDArray[Any]:
        """The settings as the kernels read them: one record, which never changes."""
        return np.asarray(self.record["config"])

    def __setstate__(self, stored: dict[str, Any]) -> None:
        vars(self).update(stored)
        self._fresh_tools()

    @property
    def columns_read(self) -> int:
        """How many columns rows have as they come: the features known, but where rows are expanded."""
        return self.width if self.features is None or not self.preparation.remade else self.features.width

    def name_of(self, index: int) -> str:
        """What the feature is called that a weight is of."""
        name = str if self.features is None else self.features.name_of
        return self.preparation.name_of(index, name)

    def know_all(self) -> None:
        """Columns and slots of the recipe that no row has touched have weights too."""
        if self.features is not None and not self.preparation.remade:
            self.grow(self.features.width, sparse=self.paired)

    @property
    def rounds(self) -> int:
        return int(self.state["rounds"][0])

    @property
    def guarded(self) -> bool:
        """Whether the loop itself stops at a feature for which the rows that it is given now have no column."""
        return False

    @property
    def weights(self) -> Vector:
        """The weights of the features, without the bias; empty where a learner has none."""
        return NO_WEIGHTS

    @property
    def bias(self) -> float:
        return 0.0

    @property
    @abstractmethod
    def weight_norm(self) -> float:
        """‖w‖ with the bias, taken from the weights themselves."""

    @property
    def gradient_sum(self) -> Vector:
        """Σg without the bias; empty where it is not kept."""
        return NO_WEIGHTS

    @property
    def gradient_norm(self) -> float:
        """‖Σg‖ with the bias; 0 where it is not kept."""
        return 0.0

    def comparator_sigma(self, rounds: int) -> float:
        """The σ of (σT/2)‖u‖², which a comparator of T rounds pays beside its losses."""
        return float(self.config["sigma"][0])

    @property
    def supports(self) -> int | None:
        """How many rows a kernel learner keeps; None for others."""
        return None

    @property
    def dual_norm(self) -> float:
        """max of ⟨−Σg, u⟩/U over the domain of radius U: what the regret bound of a pass is made from."""
        return self.gradient_norm

    @property
    def nonzero(self) -> int:
        """How many weights are not 0, the bias among them."""
        return int(np.count_nonzero(self.weights)) + int(self.bias != 0.0)

    @abstractmethod
    def arrays(self) -> Arrays:
        """What a model file keeps of this learner beside its figures; `restore` takes it back."""

    @abstractmethod
    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        """Go back to a state that was kept; raises KeyError, ValueError or TypeError where the arrays do not fit."""

    @abstractmethod
    def grow(self, width: int, sparse: bool) -> None:
        """Make room for features below `width`."""

    def play(self, rows: Rows, y: Vector, weights: Vector | None = None, keep: Keeper | None = None) -> Vector:
        """Predict, suffer and update on each row in turn; the scores that were predicted with.

        Rows of weight 0 are no rounds and have the score NaN. `keep` takes in the rows as they are played.
        """
        with self.lock:
            sure = None if self.aside else self.sure
            if sure is not None and sure.row_by_row:
                return sure.play_classes(self, rows, y, weights, keep)
            scores = self.play_rows(rows, y, weights, keep)
            if sure is not None:
                sure.follow(scores, y, weights)
            return scores

    def play_rows(self, rows: Rows, y: Vector, weights: Vector | None = None, keep: Keeper | None = None) -> Vector:
        """As `play`, with nothing said beside the scores."""
        with self.lock:
            if not self.plain:
                if weights is not None and not weights.all():  # what is no round must not move the maxima of others
                    scores, some = self.blank(len(rows)), np.flatnonzero(weights)
                    scores[some] = self.play_rows(rows.take(some), y[some], weights[some], keep)
                    return scores
                if (most := self.preparation.most(rows)) < len(rows):
                    return self._play_in_chunks(rows, y, weights, keep, most)
                rows = self.preparation.apply(rows, learn=True, features=self.features, y=y)
            self.grow(rows.width, sparse=isinstance(rows, Sparse))
            scores = self._blank(len(rows))
            if keep is None:
                self._play(rows.native, y, NO_WEIGHTS if weights is None else weights, scores)
            else:
                self._play_gathered(rows, y, weights, scores, keep)
            return scores

    def _play_in_chunks(self, rows: Rows, y: Vector, weights: Vector | None, keep: Keeper | None, most: int) -> Vector:
        """As `play`, where all the rows together would become too large."""
        scores = self.blank(len(rows))
        for start in range(0, len(rows), most):
            some = slice(start, min(start + most, len(rows)))
            weighed = None if weights is None else weights[some]
            scores[some] = self.play_rows(rows.slice(some.start, some.stop), y[some], weighed, keep)
        return scores

    def learn(self, rows: Rows, y: Vector, weights: Vector | None = None) -> None:
        """As `play`, where nobody asks for the scores."""
        self.play(rows, y, weights)

    def play_one(self, row: NativeRows, width: int, y: float, weight: float) -> None:
        """One round, for a row as the loops take it (`Rows.native`) with features below `width`."""
        if width > self.width:
            self.grow(width, sparse=isinstance(row, tuple))
        weights, score = NO_WEIGHTS if weight == 1.0 else np.array([weight]), np.empty(self.outputs)
        sure, label = self.sure, np.array([y])
        if sure is None:
            self._play(row, label, weights, score)
        elif not sure.row_by_row:
            self._play(row, label, weights, score)
            sure.follow(score, label, weights)
        else:
            said = np.array(self.score_one(row))
            told = sure.told(said)
            self._play(row, label, weights, score)
            sure.label(told, said, y, weight)

    def blank(self, rows: int) -> Vector:
        """Room for the scores of rows, of which some may be no rounds: NaN."""
        return Core._blank(self, rows)

    def _blank(self, rows: int) -> Vector:
        """Room for what `play` gives: NaN where nothing will be written."""
        return np.full(rows if self.outputs == 1 else (rows, self.outputs), math.nan)

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        """The rounds themselves, on prepared rows; the scores are written where they are asked for."""
        if self.round_call(rows, y, weights, scores)() < len(y):
            self._diverged()

    def round_call(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> Call:
        """The loop with all that it is given: it says how many rounds it played before one would overflow.

        The call may be made again for other rows in the same arrays, until the learner grows.
        """
        raise NotImplementedError(f"{self.name} plays its rounds in another way")

    def score_call(self, rows: NativeRows, scores: Vector) -> Call:
        """The same for scores alone, of rows with features that are known."""
        raise NotImplementedError(f"{self.name} scores in another way")

    def _play_gathered(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, keep: Keeper) -> None:
        """The rounds, handed on as they were played."""
        self._play(rows.native, y, NO_WEIGHTS if weights is None else weights, scores)
        keep.add(rows, y, weights, scores)

    def follow_up(self, answer: int, x: Any, y: float) -> bool:
        """What `single` left to do in a round of weight 1; False, and nothing played, for one that needs a closer look.

        `answer` is what its `play` said, OTHERWISE where there is no `single` yet.
        """
        with self.lock:
            if answer == _native.ROOM_NEEDED:
                self.make_room(self.width + len(x), sparse=True)
            elif self.single is not None:
                return False
            if self.features is None or self.sure is not None or (single := self._new_single()) is None:
                return False
            if self.features.plain_names:
                single.name(self.features.index, self.features.names, self.features.slots)
            self.single = single
            answer = single.play(x, y)
            return answer == _native.PLAYED or (answer == _native.ROOM_NEEDED and self.follow_up(answer, x, y))

    def _new_single(self) -> _native.Single | Short | None:
        """What single examples are played with from now on; None for a learner that has no short way."""
        return None

    def make_room(self, width: int, sparse: bool) -> None:  # noqa: B027, a learner without a short way needs none
        """Memory for features below `width`; nothing that anybody sees changes."""

    def _diverged(self) -> NoReturn:
        raise DivergedError(
            f"{self.name}: {self._grows} would overflow in round {self.rounds + 1}: {self._remedy}, or scale the rows"
            f" ({spelled('unit_norm', python='unit_norm=True')}, {spelled('scale', 'max')})"
        )

    def scores(self, rows: Rows, ahead: int = 0) -> Vector:
        """The score of each row; the learner is left as it was. A feature never learned from counts nothing.

        `ahead` rows since the last round were scored before these, which matters to a learner that needs the past.
        """
        with self.lock:
            if self.plain:
                return self._score(rows)
            most, found = self.preparation.most(rows), []
            for start in range(0, max(len(rows), 1), most):
                part = rows.slice(start, min(start + most, len(rows)))
                part = self.preparation.apply(part, learn=False, features=self.features, ahead=ahead + start)
                found.append(self._score(part))
            return found[0] if len(found) == 1 else np.concatenate(found)

    def score_one(self, row: NativeRows) -> Any:
        """The score of a single prepared row, of many classes that of each; no feature beyond those that are known."""
        return self._score(rows_of(row))[0]

    def score_next(self, row: Rows) -> Any:
        """The score of a row that comes next, as it came; of many classes that of each."""
        if not self.plain:
            row = self.preparation.apply(row, learn=False, features=self.features)
        return self.score_one(row.below(self.width).native if row.width > self.width else row.native)

    @abstractmethod
    def _score(self, rows: Rows) -> Vector:
        """The scores of prepared rows, whatever their width."""

    def missed(self, scores: Vector, y: Vector) -> NDArray[np.bool_]:
        """For each round whether its score was a mistake, a score of 0 counting as `tie` says."""
        tie = float(self.config["tie"][0])
        return np.asarray(np.where(scores == 0.0, y != tie, (scores > 0.0) != (y > 0.0)))

    def tally(self) -> dict[str, Any] | None:
        """What is counted by class, of a learner of many classes."""
        return None

    def member_figures(self) -> list[dict[str, Any]] | None:
        """The members of a mixture, who leads first; None of a learner that plays alone."""
        return None

    def label_figures(self) -> dict[str, float]:
        """Of a mixture, what rules lose that know the labels alone, with their frequencies known in hindsight."""
        return {}

    @property
    def label_counts(self) -> Vector | None:
        """How often each label came, a row a context; None where labels are not counted."""
        return None

    def kept(self) -> Arrays:
        """All that a model file keeps of what it has learned, beside its figures."""
        return {**self.arrays(), **({} if self.sure is None else self.sure.arrays())}

    def about(self) -> dict[str, Any]:
        """What else there is to say of a model: figures that only this kind of learner has."""
        return {}

    def fill_missing(self) -> None:
        """From now on a value that is missing counts as the mean of its feature so far."""
        if self.preparation.means is None:
            self.preparation.means, self.plain, self.single = Means(), False, None

    def take_prepared(self) -> None:
        """From now on rows come prepared: they are played as they are."""
        self.preparation, self.plain, self.single = Preparation(), True, None

    def reset(self) -> None:
        """Back to before the first round; settings stay."""
        fresh = type(self)(**self.settings)
        vars(self).clear()
        vars(self).update(vars(fresh))


def aligned(*shape: int) -> Vector:
    """Zeros that begin where a line of the processor's cache does: four numbers never lie across two lines."""
    numbers = math.prod(shape)
    space = np.zeros(numbers + LINE // 8)
    first = -space.ctypes.data % LINE // 8
    return space[first : first + numbers].reshape(shape)


def fit(arrays: Arrays, shapes: dict[str, tuple[int, ...]]) -> None:
    """A ValueError unless arrays of numbers have these shapes: asked before any memory is taken for them."""
    for name, shape in shapes.items():
        if arrays[name].shape != shape or arrays[name].dtype.kind not in "fiu":
            raise ValueError(f"the array {name!r} does not fit")


def check_memory(needed: int, width: int) -> None:
    """A sentence instead of an exhausted machine."""
    if needed < 1 << 28:
        return
    free = free_memory()
    if free is not None and needed > free:
        raise MemoryShortError(
            f"feature {width - 1} needs {needed / 1e9:.1f} GB of weights and {free / 1e9:.1f} GB are free:"
            " number the features from 0 or 1 without large gaps, or hash them"
        )
