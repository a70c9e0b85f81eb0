"""The default: a pool of simple learners that play every round by themselves, and a mixture of what they say.

The members do not influence one another, so each plays a whole block alone, several of them at a time. The mixture
(`native/mixture.hpp`) then goes over the block round by round; the total of its log-loss is never more than
ln(1/π_i) + ln 2 + ln(3/2) above that of member i, whatever the labels. The score is the mixture's log-odds.

A member sleeps outside of the widths that it is made for. On wide rows it retires after 16 384 rounds, one that costs
much after 2 048, or at a later doubling, unless it leads. One that would overflow sleeps from then on.
"""

from __future__ import annotations

import math
from copy import deepcopy
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret import _native, arithmetic
from noregret._native import CONSTANT, GRADIENTS, HISTORY_ROWS, MEMBER_COLUMNS, TOPS, norm2
from noregret.domain import Domain
from noregret.errors import DivergedError, SettingError
from noregret.learner import auto_state, settings
from noregret.learner.core import NO_WEIGHTS, Arrays, Call, Core, NativeRows, Vector, check_memory
from noregret.learner.markov import entropy
from noregret.learner.numbering import Numbering
from noregret.learner.platt import Platt, Temperature
from noregret.learner.pool import chosen, marks, priors
from noregret.learner.short import MOST, Short
from noregret.learner.threads import side_by_side
from noregret.loss import Loss, logistic
from noregret.prepare import Preparation, Recipe
from noregret.rate import Rate
from noregret.stream.block import Rows, Sparse, rows_of
from noregret.stream.labels import Labels

if TYPE_CHECKING:
    from noregret.learner.combined import Combined

Said = NDArray[np.float64]  # what the members say: a row a member, a column a round

PRIOR, LOSS = 0, 1  # columns of the table of members
SHARED = slice(2, 4)
MIXED = slice(4, 6)
SEQUENCES = slice(6, MEMBER_COLUMNS)  # the best that end with a member, by their switches
REVIEW = 2_048  # rounds after which costly members may retire, and again at every doubling
FULL = 16_384  # rounds that most are given
LEADS = 0.02  # the share from which a costly member stays
MIXING = np.array([0.01, 0.002, 0.005, 1.0])  # α of the constant sharing, both rates of the logit mixers, caution
TOP_PRIORS = (0.5, *[0.125] * (TOPS - 1))
HOMES = {"multiclass": ("auto_classes", "AutoClasses"), "regression": ("auto_numbers", "AutoNumbers")}
RULES = {"label_frequency": "labels", "after_previous": "labels-1"}  # baselines, and the members that count for them
LARGEST_LOSS = 1000.0  # of a round: no class of K is given less than a share 1/K of 1/(t + 2)²
MANY = 64  # rows from which threads are worth waking


class Auto(Core):
    """A pool of members and their mixture, for two classes; for others the class that `task` stands for."""

    name = "auto"
    declared = settings.Auto
    params: settings.Auto
    gathers = GRADIENTS
    mixes = True
    scale_free = True  # members scale for themselves
    _grows = "a score or the loss"
    _remedy = "divide the largest columns by a power of ten"
    columns: ClassVar[int] = MEMBER_COLUMNS  # what is kept of a member, ln π first
    extra: ClassVar[int] = 0  # rows of the table behind the members
    reshares: ClassVar[bool] = True  # whether its weights can be set back to the prior
    since: tuple[int, float] = (0, 0.0)  # the rounds, and their loss, before the weights were last set back

    def __new__(cls, **given: Any) -> Auto:
        """The class for a task is read when it is first asked for."""
        home = HOMES.get(str(given.get("task")))
        if cls is not Auto or home is None:
            return object.__new__(cls)
        made: type[Auto] = getattr(import_module(f"noregret.learner.{home[0]}"), home[1])
        return object.__new__(made)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.members = chosen(self.params.task or "binary", self.params.members)
        n = len(self.members)
        self.cores: list[Core] = []
        self.views: list[Preparation] = []  # one for all members that are given the same rows
        self.view_of: list[int] = []
        self.scalings: dict[int, Platt | Temperature] = {}  # of members whose scores are no log-odds
        self._build()
        self.standing = np.zeros((n + self.extra, self.columns))
        self.priors = priors(self.members)
        self._begin_mixture(n)
        self.out = np.zeros(n, np.bool_)  # members that will not play again
        self.total = np.zeros(0)  # Σg on the rows themselves
        self.reached = np.zeros(1, np.int64)  # the width of the rows so far
        self.numbering = Numbering()  # of the features that members see

    def _begin_mixture(self, n: int) -> None:
        """Every weight as it is before the first round."""
        self.standing[:, PRIOR] = [arithmetic.log(prior) for prior in self.priors]
        self.standing[:, SHARED] = np.array(self.priors)[:, None]
        self.tops = np.array([[arithmetic.log(prior), 0.0, 0.0] for prior in TOP_PRIORS])
        self._begin_history(n)

    def _begin_history(self, n: int) -> None:
        """A table of the shares over time, and (its rows, their spacing, the next round to keep)."""
        self.history = np.zeros((HISTORY_ROWS, n + 1))
        self.beats = np.array([0, 1, 1], np.int64)

    @property
    def mixture(self) -> Arrays:
        """What the mixture keeps beside the members' own states."""
        return {"standing": self.standing, "tops": self.tops, "history": self.history, "beats": self.beats}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        super().__setstate__(deepcopy(stored))  # joblib may map arrays from a file that cannot be written to

    def _build(self) -> None:
        places: dict[tuple[Any, ...], int] = {}
        for member in self.members:
            core, preparation = member.core()
            if member.view not in places:
                places[member.view] = len(self.views)
                self.views.append(preparation)
            if member.scaled and not core.regression:
                self.scalings[len(self.cores)] = Temperature()
            elif isinstance(core.labels, Labels) and not core.loss.probabilistic:
                self.scalings[len(self.cores)] = Platt()
            self.cores.append(core)
            self.view_of.append(places[member.view])

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return logistic(), Domain("ball", self.params.radius), Rate(CONSTANT, 1.0)

    # -- what the pass alone proves of the mixture's own scores --------------------------------------------------------

    @property
    def weight_norm(self) -> float:
        """There is no one row of weights."""
        return 0.0

    @property
    def gradient_sum(self) -> Vector:
        return self.total[: self.width].copy()

    @property
    def gradient_norm(self) -> float:
        return math.sqrt(norm2(self.total) + float(np.square(self.state["bias_gradient"][0])))

    # -- the members ---------------------------------------------------------------------------------------------------

    @property
    def shares(self) -> Vector:
        """The share of each member in the mixture of the next round."""
        found = np.empty(len(self.members))
        _native.mixture_shares(self.standing, self.tops, MIXING, ~self._awake(self._width_so_far), found)
        return found

    def combined(self) -> Combined | None:
        """The weights of the linear members in the units of the columns; None where none of them plays."""
        from noregret.learner.combined import combined

        return combined(self)

    def label_figures(self) -> dict[str, float]:
        """Σ_c n_c·H(c) over the contexts c: none, or the previous label; as far as members count them."""
        counted = {member.name: core.label_counts for member, core in zip(self.members, self.cores, strict=True)}
        found = {rule: counted.get(name) for rule, name in RULES.items()}
        return {rule: entropy(counts) for rule, counts in found.items() if counts is not None and self.rounds}

    def units_of(self, i: int) -> tuple[float, float]:
        """(m, s) where the mixture is given m + s·z for a score z of member i."""
        if i not in self.scalings:
            return 0.0, 1.0
        at_0, at_1 = self.scalings[i].scores(np.array([0.0, 1.0])).tolist()
        return at_0, at_1 - at_0

    @property
    def _loss_beside_members(self) -> float:
        """What the mixture lost in the rounds that the losses of its members count."""
        return float(self.state["loss"][0]) - self.since[1]

    def reshare(self) -> None:
        """The weights of the members are those of the prior again; what each has learned stays.

        Their losses are counted from here on.
        """
        history, beats = self.history, self.beats
        self.standing[:] = 0.0
        self._begin_mixture(len(self.members))
        self.history, self.beats = history, beats
        self.standing[:, MIXED] = 1.0 / max(int(np.count_nonzero(self._awake(self._width_so_far))), 1)
        self.since = (self.rounds, float(self.state["loss"][0]))
        self.single = None

    def _awake(self, width: int) -> NDArray[np.bool_]:
        """Who plays on rows of a stream that is so wide by now."""
        fits = [member.least <= width <= member.most for member in self.members]
        return np.array(fits) & ~self.out

    @property
    def recipe(self) -> Recipe | None:
        """What the numbers mean that members see."""
        self.numbering.follow(self.features)
        return self.features if self.numbering.start is None else self.numbering

    @property
    def _width_so_far(self) -> int:
        """The number of columns, where it is known beforehand; else one more than the highest feature so far."""
        columns = self.features.width if self.features is not None and self.features.kind == "columns" else 0
        return max(int(self.reached[0]), columns)

    def member_figures(self) -> list[dict[str, Any]]:
        """Each member's name, prior, loss so far and share, and whether it plays; who leads comes first.

        `price` is what the mixture lost more than it, in the rounds that the member's loss counts.
        """
        own = self._loss_beside_members
        awake = self._awake(self._width_so_far).tolist()
        found = [
            {
                "name": member.name,
                "share": share,
                "prior": arithmetic.exp(prior),
                "loss": loss,
                "price": own - loss,
                "awake": plays,
                **({"since": self.since[0]} if self.since[0] else {}),
            }
            for member, share, (prior, loss), plays in zip(
                self.members, self.shares.tolist(), self.standing[: len(awake), : LOSS + 1].tolist(), awake, strict=True
            )
        ]
        return sorted(found, key=lambda one: (-one["share"], one["loss"]))

    # -- rounds --------------------------------------------------------------------------------------------------------

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        if isinstance(self.single, Short):
            self.single.forget()
        given = rows_of(rows)
        if len(weights) and not weights.all():  # what is no round must not move the means of others
            some = np.flatnonzero(weights)
            played = self._blank(len(some))
            self._play_rounds(given.take(some), y[some], weights[some], played)
            scores.fill(math.nan)
            scores[some] = played
        else:
            self._play_rounds(given, y, weights, scores if self.outputs == 1 else scores.reshape(-1, self.outputs))

    def _play_rounds(self, rows: Rows, y: Vector, weights: Vector, scores: Vector) -> None:
        if not len(y):
            return
        if not self._bears(norm2(np.asarray(rows.values, np.float64)), y, float(weights.max(initial=0.0)) or 1.0):
            if len(y) == 1:
                self._diverged()
            for half in (slice(0, len(y) // 2), slice(len(y) // 2, len(y))):
                self._play_rounds(rows.slice(half.start, half.stop), y[half], weights[half], scores[half])
            return
        self._expect(y)
        self.numbering.follow(self.features)
        numbered = self.numbering.take(rows)
        marks = self._marks(numbered)
        for (start, width), (stop, _) in zip(marks, [*marks[1:], (len(y), 0)], strict=True):
            self._review()
            part, some, awake = rows.slice(start, stop), weights[start:stop], self._awake(width)
            if not awake.any():
                features = f"{self._width_so_far:,} features"
                raise SettingError(f"auto: members must be able to play on {features}, and none of those chosen is")
            said = self._said(numbered.slice(start, stop), y[start:stop], some, awake)
            if self.foretold is not None:
                said = self._as_foretold(said, self.foretold)
            if self._mix(part, y[start:stop], some, said, scores[start:stop]) < stop - start:
                self._diverged()

    def _bears(self, square: float, y: Vector, weight: float) -> bool:
        """Whether the mixture can play rounds of these labels, with this Σ‖x‖² and no larger weight, whatever is said.

        What it refuses no member may learn, and no view of the rows.
        """
        slope, loss = self._largest(y)
        state, slope = self.state[0], weight * slope  # a record: its fields are single numbers
        size = square + float(self.config["bias"][0]) * len(y)
        return math.isfinite(float(state["gradient2"]) + slope * slope * size) and math.isfinite(
            float(state["loss"]) + len(y) * weight * loss
        )

    def _largest(self, y: Vector) -> tuple[float, float]:
        """What slope and loss of a round are never above."""
        return 1.0, LARGEST_LOSS

    def _expect(self, y: Vector) -> None:
        """Rounds of these labels come next."""

    def _mix(self, rows: Rows, y: Vector, weights: Vector, said: Said, scores: Vector) -> int:
        """Mix what the members say round by round; how many rounds could be."""
        if not self.rounds:
            self.standing[:, MIXED] = 1.0 / max(int(np.count_nonzero(~np.isnan(said[: len(self.members), 0]))), 1)
        return int(self._mix_call(rows.native, y, weights, said, scores)())

    def _mix_call(self, rows: NativeRows, y: Vector, weights: Vector, said: Said, scores: Vector) -> Call:
        state = (said, self.standing, self.tops, MIXING, self.history, self.beats, self.total, self.record)
        return partial(_native.play_mixture, rows, y, weights, *state, scores)

    def mix_calls(self, row: NativeRows, y: Vector, said: Said, guess: Said, scores: Vector) -> tuple[Call, Call]:
        """What mixes what is said of a round, and what scores a guess."""
        score = partial(_native.score_mixture, guess, self.standing, self.tops, MIXING, self.record, scores)
        return self._mix_call(row, y, NO_WEIGHTS, said, np.zeros(1)), score

    def _new_single(self) -> Short | None:
        fits = self.plain and self.rounds and self.width <= MOST and self.numbering.start is None
        return Short(self, REVIEW) if fits and type(self) is Auto else None

    def _marks(self, rows: Rows) -> list[tuple[int, int]]:
        """Where other members may play than before, and how wide the stream is from there on."""
        found = marks(self.members, rows, self._width_so_far, self.rounds, REVIEW)
        self.reached[0] = max(rows.width, self._width_so_far)
        return found

    def _review(self) -> None:
        """Costly members that do not lead retire."""
        quotient, rest = divmod(self.rounds, REVIEW)
        if rest or not quotient or quotient & (quotient - 1):
            return
        width = self._width_so_far
        for i, (member, share) in enumerate(zip(self.members, self.shares.tolist(), strict=True)):
            limit = member.costly if self.rounds >= FULL else member.early
            self.out[i] |= width >= limit and share < LEADS

    def _said(self, rows: Rows, y: Vector, weights: Vector, awake: NDArray[np.bool_]) -> Said:
        """What each member says of each row before it learns it; NaN of those that sleep."""
        said = self._silence(len(y))
        playing = np.flatnonzero(awake).tolist()
        prepared: dict[int, Rows] = {}

        def prepare(view: int) -> None:
            prepared[view] = self.views[view].apply(rows, learn=True, features=self.recipe, y=y)

        def play(i: int) -> None:
            core, mine = self.cores[i], prepared[self.view_of[i]]
            before = core.rounds
            try:
                core.grow(mine.width, sparse=isinstance(mine, Sparse))
                self._let_play(i, mine, y, weights, said[i])
            except (DivergedError, SettingError):
                said[i, core.rounds - before :] = math.nan
                self.out[i] = True

        in_turn = len(y) < MANY
        side_by_side(prepare, sorted({self.view_of[i] for i in playing}), alone=in_turn)
        side_by_side(play, playing, alone=in_turn)
        return said

    def _as_foretold(self, said: Said, before: Said) -> Said:
        """What members and tops said when the row came, before labels in between came: they are judged by that."""
        found = before[:, np.newaxis].copy()
        found[: len(said)][self.out] = math.nan
        return found

    def _silence(self, rows: int) -> Said:
        """What members say who all sleep."""
        return np.full((len(self.members), rows), math.nan)

    def _let_play(self, i: int, rows: Rows, y: Vector, weights: Vector, said: Said) -> None:
        self.cores[i]._play(rows.native, y, weights, said)
        if i in self.scalings:
            said[:] = self.scalings[i].play(said, y, weights)

    # -- scores --------------------------------------------------------------------------------------------------------

    def _score(self, rows: Rows) -> Vector:
        return self._mixed(rows, past=False)

    def score_one(self, row: NativeRows) -> Any:
        given = rows_of(row)
        return self._mixed(given, past=True)[0] * (1.0 if np.isfinite(given.values).all() else math.nan)

    def foretell(self, row: NativeRows, past: bool) -> tuple[Any, Said]:
        """The score of a row, and what each member, and each top, says of it."""
        said, scores, voices = self._guesses(rows_of(row), past), np.empty(1), np.empty(TOPS)
        _native.foretell_mixture(said, self.standing, self.tops, MIXING, self.record, scores, voices)
        return scores[0], np.concatenate([said[:, 0], voices])

    def hears(self, voices: Said) -> bool:
        """Whether members and tops can have said this of a row."""
        return voices.shape == (len(self.members) + TOPS,)

    def _mixed(self, rows: Rows, past: bool) -> Vector:
        return self._mix_scores(self._guesses(rows, past))

    def _guesses(self, rows: Rows, past: bool) -> Said:
        """What each member says of rows that are not learned; who knows only past labels sleeps if they are unknown."""
        said = self._silence(len(rows))
        awake = self._awake(self._width_so_far)
        self.numbering.follow(self.features)
        rows, width = self.numbering.look(rows), self._width_so_far
        if rows.width > width:  # what was never learned from counts nothing, and must not widen what members see
            rows = rows.below(width)
        prepared: dict[int, Rows] = {}
        for i in np.flatnonzero(awake).tolist():
            view, core = self.view_of[i], self.cores[i]
            if core.needs_past and not past:
                continue
            if view not in prepared:
                prepared[view] = self.views[view].apply(rows, learn=False, features=self.recipe)
            self._let_score(i, prepared[view], said[i])
        return said

    def _let_score(self, i: int, rows: Rows, said: Said) -> None:
        said[:] = self.cores[i]._score(rows)
        if i in self.scalings:
            said[:] = self.scalings[i].scores(said)

    def _mix_scores(self, said: Said) -> Vector:
        scores = np.empty(said.shape[1])
        _native.score_mixture(said, self.standing, self.tops, MIXING, self.record, scores)
        return scores

    # -- memory --------------------------------------------------------------------------------------------------------

    def grow(self, width: int, sparse: bool) -> None:
        """Room for the sums of features below `width`; members grow with the rows that they are given."""
        if width > self.width:
            self.width, self.single = width, None
        if width > len(self.total):
            room = max(width, 3 * len(self.total) // 2)
            check_memory(8 * room, width)
            grown = np.zeros(room)
            grown[: len(self.total)] = self.total
            self.total = grown

    def arrays(self) -> Arrays:
        return auto_state.arrays_of(self)

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        auto_state.restore(self, arrays, width, paired)
