"""Exercises 1 to 3 of Shalev-Shwartz & Ben-David's chapter 21, as games that can be played by name and size.

`exercise:1,12` is exercise 1 on 12 points; without a size it is that of the table `EXERCISES`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from noregret.errors import SettingError
from noregret.finite.dimension import MistakeTree
from noregret.finite.families import family
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.learners import VersionSpaceLearner
from noregret.finite.playing import FiniteRun, Player, TreeAdversary, duel, play_finite, singleton_rounds

Stream = list[tuple[Hashable, int]]
MOST = 12  # points up to which every version space of the singletons is searched


@dataclass(frozen=True)
class Exercise:
    """One exercise: the family of its class, the learner that it asks about, and the mistakes that it claims."""

    number: int
    family: str
    points: int  # where no size is given
    learner: str
    claim: str
    mistakes: Callable[[int], int]  # of that learner, from the number of points
    most: int | None = None  # points, where every sequence is searched

    def hypotheses(self, points: int) -> HypothesisClass:
        return family(f"{self.family}:{points}")


EXERCISES = {
    1: Exercise(1, "singletons", 8, "consistent", "Consistent errs |H| − 1 times", lambda n: n - 1),
    2: Exercise(2, "cube", 4, "halving", "Halving errs log2 |H| times", lambda n: n),
    3: Exercise(
        3, "singletons", 8, "halving", "Halving errs once at most, whatever |H|", lambda n: min(n - 1, 1), MOST
    ),
}


def exercise(name: str) -> tuple[Exercise, int]:
    """An exercise by its name, and the number of points.

    >>> found, points = exercise("exercise:1,5")
    >>> found.learner, points
    ('consistent', 5)
    """
    kind, _, rest = name.partition(":")
    number, comma, size = rest.partition(",")
    if kind != "exercise" or not number.strip().isdecimal() or int(number) not in EXERCISES:
        raise SettingError(f"the exercises are {', '.join(f'exercise:{one}' for one in EXERCISES)}; got {name}")
    found = EXERCISES[int(number)]
    if not comma:
        return found, found.points
    if not size.strip().isdecimal() or int(size) < 1:
        raise SettingError(f"{name}: the number of points must be a whole number of at least 1, got {size!r}")
    if found.most is not None and int(size) > found.most:
        raise SettingError(f"{name}: every sequence is searched, so that {found.most} points are the most, got {size}")
    return found, int(size)


def play_exercise(
    found: Exercise, hypotheses: HypothesisClass, make: Callable[[], Player], tree: MistakeTree | None = None
) -> FiniteRun:
    """The game of an exercise with a learner on its class: the sequence that exercise 1 shows, the adversary of
    exercise 2, on its `tree` if it is known already, and for exercise 3 a sequence that costs this learner as many
    mistakes as any.

    >>> from noregret.finite import Halving
    >>> third, points = exercise("exercise:3")
    >>> line = third.hypotheses(points)
    >>> play_exercise(third, line, lambda: Halving(line)).mistakes
    1
    """
    if found.number == 1:
        return play_finite(make(), singleton_rounds(len(hypotheses.points)))
    if found.number == 2:
        return duel(make(), TreeAdversary(hypotheses, tree))
    learner = make()
    if not isinstance(learner, VersionSpaceLearner):
        raise SettingError("exercise:3 searches every version space of a learner: it needs soa, halving or consistent")
    return play_finite(learner, worst_case(learner).rounds)


@dataclass(frozen=True)
class WorstCase:
    """A realizable sequence that costs a learner the most mistakes, and how many version spaces were searched."""

    rounds: Stream
    mistakes: int
    version_spaces: int


def worst_case(learner: VersionSpaceLearner) -> WorstCase:
    """The sequence, of the fewest rounds, that costs a learner as many mistakes as any realizable sequence can.

    Every version space that points and labels lead to is searched, which asks of a learner that it predicts from its
    version space alone. It is given as it was before its first round.

    >>> from noregret.finite import Consistent, family
    >>> worst_case(Consistent(family("thresholds:3"), "last")).mistakes
    3
    """
    known: dict[int, tuple[int, Stream]] = {}

    def worst(space: int) -> tuple[int, Stream]:
        if space not in known:
            learner.turn_to(space)
            cuts = [(point, learner.split(point), learner.predict(point)) for point in learner.hypotheses.points]
            best: tuple[int, Stream] = (0, [])
            for point, parts, said in cuts:
                for label, part in enumerate(parts if all(parts) else ()):
                    mistakes, after = worst(part)
                    mistakes += label != said
                    if (mistakes, -len(after) - 1) > (best[0], -len(best[1])):
                        best = mistakes, [(point, label), *after]
            known[space] = best
        return known[space]

    mistakes, rounds = worst(learner.hypotheses.everything)
    learner.turn_to(learner.hypotheses.everything)
    return WorstCase(rounds, mistakes, len(known))
