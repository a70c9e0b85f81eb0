"""Bugs planted on purpose: what stands between a wrong line of code and a false receipt.

Every bug is planted twice. In the maker alone, while the run is played and certified: `verify`, which computes all of
it again, must refuse the receipt. And in both, as a bug in shared code would be: then a second derivation must tell,
a row of tests/oracle/rows*.py or the plain twin of a loop; the verifier is blind to most of these.

| bug | in the maker alone | in maker and verifier |
|---|---|---|
| the value of a loss is too small | verify: the loss, the first of the figures | rows: what was observed |
| the slope of a loss is too flat | verify: figures of the gradients | rows: the bounds made from them |
| the conjugate of a loss is too small | verify: the comparator's lower end | rows: what was observed |
| the dual bound forgets part of ‖Σαx‖ | verify: the comparator's lower end | rows: what was observed |
| a norm is too short | verify: bounds | rows: bounds below the exact ones |
| ‖x‖² is too small | verify: bounds | rows: bounds below the exact ones |
| a root is rounded down | verify: bounds | rows: bounds below the exact ones |
| the learner steps too far | verify: the scores, to the last bit | twin of the loop |
| the learner projects on another ball | verify: the scores | twin of the loop |
| ties count as +1 | verify: the scores or the state | twin of the loop |
| the learner forgets its bias | verify: the scores or the state | twin of the loop |
| rows are not scaled to norm 1 | verify: the scores | twin of the preparation |
| features are not divided by their largest value | verify: the scores | twin of the preparation |
| the digest of a stream leaves out the labels | verify: the digest | twin of the digest |
| a theorem's bound is too small | verify: the bound | rows: the bound |
| a theorem's need is not asked | verify: its assumptions | rows: its needs |
| the path is replayed in another ball | verify: bounds | rows: the telescoped bound |
| kernel values K(x, x) are too small | verify: bounds | rows: bounds |
| the updates of a perceptron are miscounted | verify: what was observed | rows: what was observed |
| a theorem on blends has a bound too small | verify: the bound | rows: the bound |
| the best expert of a blend is not looked at | verify: the regret | rows: what was observed |
| the rate of a blend is another | verify: the forecasts, to the last bit | the blend from its definition |
| a theorem on selections has a bound too small | verify: the bound | rows: the bound |
| errors of candidates are miscounted | verify: the choice or its errors | selection from its definition |

And a verifier that skips a check accepts a receipt with a false claim there, which the clean one refuses.
"""

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import noregret as nr
from noregret import _native, prepare
from noregret.digest import Digest
from noregret.errors import ReceiptError
from noregret.experts import engine, rules
from noregret.experts.contest import Contest
from noregret.interval import Interval
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.loss import Loss, zero_one
from noregret.proof import enclose, gram
from noregret.proof import verify as verifier
from noregret.proof.blend import BlendReceipt, verify_blend
from noregret.proof.certify import certify
from noregret.proof.facts import selection as selecting
from noregret.proof.facts import steps
from noregret.proof.theorem import Need
from noregret.proof.theorems import THEOREMS, risk
from noregret.proof.theorems import experts as followers
from noregret.proof.verify import verify
from noregret.stream import Dense
from noregret.task.blend import blend
from oracle import blend as definitions
from oracle import learners as twins
from oracle.losses import loss_of
from oracle.preparation import scaled, unit
from oracle.rows import fractions
from oracle.rows_compare import compare
from oracle.rows_experts import Experts
from oracle.rows_others import OTHER_NEEDS
from oracle.rows_runs import data_of_selection, facts_of, run_all
from oracle.selection import errors, penalised, perceptron_path

ROWS = np.array(
    [[2.0, 1.0], [-1.0, 2.0], [1.5, -0.5], [-0.5, -1.0], [1.0, 1.0], [-2.0, 0.5], [0.25, -1.5], [1.0, -1.0]]
)
LABELS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
NUMBERS = np.array([0.7, -1.2, 2.0, 0.1, 1.5, -0.4, 0.3, -2.0])
SQUARED = "ogd", {"loss": "squared", "radius": 1.5, "rate": "sqrt:0.5"}, NUMBERS
HINGE = "ogd", {"loss": "hinge", "radius": 1.5, "rate": "sqrt:0.5"}, LABELS
PERCEPTRON = "perceptron", {}, LABELS
SELECTED = "selected", {}, LABELS
HELD_OUT = "selected", {"how": "holdout", "holdout": 4}, -LABELS[::-1]


# -- what tells --------------------------------------------------------------------------------------------------------


def rows(name, settings, y):
    """Every theorem of the run against its second derivation."""
    assert run_all(facts_of(name, settings, ROWS, y, random_points=1, radius=1.0 if name == "perceptron" else None)) > 3


def twin_of_the_loop(name, settings, y):
    """The weights at the end, from the definition."""
    run = nr.play(LEARNERS[name](**settings), (ROWS, y))
    X = np.hstack([np.ones((len(ROWS), 1)), ROWS]) if settings.get("bias") else ROWS
    if name == "perceptron":
        tie = {"mistake": 0, "+1": 1, "-1": -1}[settings.get("tie", "mistake")]
        game = twins.perceptron(X.tolist(), y.tolist(), tie=tie)
    else:
        step, project = twins.over_root(0.5), twins.ball(settings["radius"])
        game = twins.descent(X.tolist(), y.tolist(), loss_of(settings["loss"]), step, project)
    w = [run.learner.bias, *run.learner.weights] if settings.get("bias") else list(run.learner.weights)
    assert w == pytest.approx(game.W[-1], rel=1e-12, abs=1e-12)


def twin_of_the_preparation(name, settings, y):
    """The rows that are played, from the definition."""
    given = [list(enumerate(row)) for row in ROWS.tolist()]
    wanted = scaled(given, {}, True) if settings.get("scale") else unit(given)
    learner = LEARNERS[name](**settings)
    found = learner.core.preparation.apply(Dense(ROWS.copy()), learn=True)
    assert found.X.tolist() == [pytest.approx([x for _, x in row], rel=1e-15) for row in wanted]


def twin_of_the_digest(name, settings, y):
    """SHA-256 over the five streams, each as bytes."""
    taken = Digest()
    taken.update(Dense(ROWS), y, None)
    parts = [y, np.ones(len(y)), np.full(len(y), 2), np.tile([0, 1], len(y)), ROWS.reshape(-1)]
    kinds = ("<f8", "<f8", "<i8", "<u4", "<f8")
    each = [hashlib.sha256(part.astype(kind).tobytes()).digest() for part, kind in zip(parts, kinds, strict=True)]
    assert taken.hexdigest() == hashlib.sha256(b"".join(each)).hexdigest()


TABLE = {"outcome": "y", "experts": ["a", "b"], "loss": "squared"}
FORECASTS = {"y": [1.0, 0.0, 1.0, 1.0], "a": [0.875, 0.25, 0.75, 0.5], "b": [0.5, 0.5, 0.25, 0.125]}
BLEND = "blend", TABLE, FORECASTS


def rows_of_a_blend(name, settings, table):
    found = blend(table, **settings)
    given, said = found.data.values[:, :, 0].tolist(), found.forecasts[:, 0].tolist()
    x, p, y = [[Fraction(one) for one in line] for line in given], fractions(said), fractions(table["y"])
    data = Experts(found.contest, found.losses, None, x, p, y)
    for one in followers.spoken(found.contest):
        compare(one, found.contest, data, OTHER_NEEDS, found.contest.spare / len(y))


def blend_by_definition(name, settings, table):
    found = blend(table, **settings)
    wanted = definitions.replayed(found.data, found.reading, found.losses, found.forecasts.reshape(-1))
    assert found.forecasts == pytest.approx(wanted.forecasts, rel=1e-9)


def rows_of_a_selection(name, settings, y):
    sampled = nr.select(nr.Perceptron(), (ROWS, y), **settings).sampled
    for one in risk.spoken(sampled):
        compare(one, sampled, data_of_selection(sampled), OTHER_NEEDS)


def selection_by_definition(name, settings, y):
    found = nr.select(nr.Perceptron(), (ROWS, y), confidence=0.9)
    at, wrong, _ = penalised(perceptron_path(ROWS, y), ROWS, y, 1.0 - 0.9)
    assert (found.round, found.sampled.errors) == (at, wrong)


def held_out_by_definition(name, settings, y):
    found = nr.select(nr.Perceptron(), (ROWS, y), **settings).sampled
    path, m = perceptron_path(ROWS, y), settings["holdout"]
    assert found.errors == min(errors(w, ROWS[-m:], y[-m:]) for w in path[: len(y) - m + 1])


# -- what is planted ---------------------------------------------------------------------------------------------------


def scaled_result(owner, name, factor):
    """A function whose numbers come out smaller or larger."""

    def plant(patch):
        true = getattr(owner, name)
        patch.setattr(owner, name, lambda *given: _times(true(*given), factor))

    return plant


def _times(found, factor):
    if isinstance(found, Interval):
        return Interval(found.lo * factor, found.hi * factor)
    return tuple(part * factor for part in found) if isinstance(found, tuple) else found * factor


def conjugate_too_small(patch):
    true = Loss.conjugate
    patch.setattr(Loss, "conjugate", lambda self, alpha, y: true(self, alpha, y) - 0.05 * np.abs(alpha))


def short_support(patch):
    true = enclose.support
    patch.setattr(enclose, "support", lambda a, *given: true(a * 0.9, *given))


def rounded_down(patch):
    true = Interval.sqrt
    patch.setattr(Interval, "sqrt", lambda self: _times(true(self), 1.0 - 1e-9))


def loop_with(other=None, **changed):
    """The loop of linear learners with other settings, or another loss, than the learner has."""

    def plant(patch):
        true = _native.play_linear

        def play_linear(loss, rows_, y, weights, z, total, record, scores):
            kept = record["config"].copy()
            for name, change in changed.items():
                record["config"][name] = change(record["config"][name])
            try:
                return true(loss if other is None else other, rows_, y, weights, z, total, record, scores)
            finally:
                record["config"] = kept

        patch.setattr(_native, "play_linear", play_linear)

    return plant


def left_out(owner, name):
    """A step that is not taken."""

    def plant(patch):
        patch.setattr(owner, name, lambda *given: None)

    return plant


def digest_without_labels(patch):
    true = Digest.update
    patch.setattr(Digest, "update", lambda self, rows_, y, weights: true(self, rows_, np.zeros_like(y), weights))


def row_with(name, **changed):
    """A theorem that is another."""

    def plant(patch):
        one = THEOREMS[name]
        patch.setitem(THEOREMS, name, replace(one, **{key: change(one) for key, change in changed.items()}))

    return plant


def row_of(module, name, **changed):
    """A theorem on blends or selections that is another."""

    def plant(patch):
        one = getattr(module, name)
        patch.setattr(module, name, replace(one, **{key: change(one) for key, change in changed.items()}))

    return plant


def first_expert_is_best(patch):
    patch.setattr(Contest, "_best", property(lambda self: (1, self.regret_against(1))))


def slower_mixture(patch):
    patch.setattr(rules, "mixture", lambda rate: engine.Rule(engine.CONSTANT, 0.5 * rate))


def fewer_errors(patch):
    true = selecting.tails

    def tails(*given, **more):
        found = true(*given, **more)
        return replace(found, errors=np.maximum(found.errors - 1, 0))

    patch.setattr(selecting, "tails", tails)


def fewer_held_out(patch):
    true = selecting.held_out

    def held_out(*given):
        places, wrong = true(*given)
        return places, np.maximum(wrong - 1, 0)

    patch.setattr(selecting, "held_out", held_out)


def half_bound(one):
    def function(facts):
        claim = one.function(facts)
        return replace(claim, bound=claim.bound * 0.5)

    return function


def needs_nothing(one):
    return tuple(Need(need.statement, lambda facts: True) for need in one.needs)


def path_elsewhere(patch):
    true = steps.replay_path
    patch.setattr(steps, "replay_path", lambda r, s, e, g, radius, *more: true(r, s, e, g, 0.5 * radius, *more))


def squares_too_small(patch):
    true = gram.kernel_squares

    def kernel_squares(*given):
        true(*given)
        given[-1][:] *= 0.5

    patch.setattr(gram, "kernel_squares", kernel_squares)


def miscounted(patch):
    true = Core.missed
    patch.setattr(Core, "missed", lambda self, scores, y: true(self, scores, y) & (np.arange(len(y)) > 0))


@dataclass(frozen=True)
class Bug:
    """A bug, the run it shows in, and what tells where maker and verifier share it."""

    plant: object
    run: tuple
    tells: object
    refused: str  # what verify names, planted in the maker alone


def ogd(**more):
    return "ogd", {**HINGE[1], **more}, LABELS


BUGS = {
    "loss value": Bug(scaled_result(Loss, "values", 0.75), SQUARED, rows, "loss at most"),
    "slope": Bug(scaled_result(Loss, "gradients", 0.5), SQUARED, rows, "max norm"),
    "conjugate": Bug(conjugate_too_small, SQUARED, rows, "the comparator's loss"),
    "dual": Bug(short_support, HINGE, rows, "the comparator's loss at least"),
    "norm": Bug(scaled_result(enclose, "norm", 0.9), PERCEPTRON, rows, "hinge-sum: the bound"),
    "row norms": Bug(scaled_result(enclose, "row_norms2", 0.9), PERCEPTRON, rows, "max norm"),
    "rounding": Bug(rounded_down, PERCEPTRON, rows, "max norm"),
    "step": Bug(loop_with(eta=lambda eta: 1.01 * eta), HINGE, twin_of_the_loop, "the replay: scores"),
    "projection": Bug(loop_with(radius=lambda radius: 1.2 * radius), SQUARED, twin_of_the_loop, "the replay: scores"),
    "tie": Bug(
        loop_with(zero_one("+1").native, tie=lambda tie: tie * 0 + 1),
        PERCEPTRON,
        twin_of_the_loop,
        "the replay: scores",
    ),
    "bias": Bug(
        loop_with(bias=lambda bias: bias * 0),
        ("perceptron", {"bias": True}, LABELS),
        twin_of_the_loop,
        "the replay: scores",
    ),
    "unit norm": Bug(
        left_out(prepare, "unit_rows"), ogd(unit_norm=True), twin_of_the_preparation, "the replay: scores"
    ),
    "scale": Bug(left_out(prepare, "scale_features"), ogd(scale="max"), twin_of_the_preparation, "the replay: scores"),
    "digest": Bug(digest_without_labels, PERCEPTRON, twin_of_the_digest, "these are not the rows"),
    "row": Bug(row_with("hinge-mistakes", function=half_bound), PERCEPTRON, rows, "hinge-mistakes: the bound"),
    "need": Bug(
        row_with("hinge-explicit", needs=needs_nothing),
        ("perceptron", {"start": [0.5, -1.0]}, LABELS),
        rows,
        "hinge-explicit: the run starts at",
    ),
    "path": Bug(path_elsewhere, SQUARED, rows, "ogd-telescoped: the bound"),
    "kernel": Bug(squares_too_small, ("kernel", {"kernel": "rbf"}, LABELS), rows, "max norm"),
    "updates": Bug(miscounted, PERCEPTRON, rows, "mistakes: the receipt says 2"),
    "blend row": Bug(
        row_of(followers, "blend_mixture", function=half_bound),
        BLEND,
        rows_of_a_blend,
        "mixture: the bound",
    ),
    "best expert": Bug(first_expert_is_best, BLEND, rows_of_a_blend, "the name of the best expert"),
    "blend rate": Bug(slower_mixture, BLEND, blend_by_definition, "forecast 2: the receipt says"),
    "selection row": Bug(
        row_of(risk, "risk_binomial", function=half_bound), SELECTED, rows_of_a_selection, "risk-binomial: the bound"
    ),
    "corollary row": Bug(
        row_of(risk, "risk_hinge", function=half_bound), SELECTED, rows_of_a_selection, "risk-hinge: the bound"
    ),
    "kernel row": Bug(
        row_with("kernel-l2-radius", function=half_bound),
        ("kernel", {"kernel": "rbf"}, LABELS),
        rows,
        "kernel-l2-radius: the bound",
    ),
    "errors held out": Bug(fewer_held_out, HELD_OUT, held_out_by_definition, "the selection: errors"),
    "selection errors": Bug(fewer_errors, SELECTED, selection_by_definition, "the selection: "),
}
every_bug = pytest.mark.parametrize("bug", BUGS.values(), ids=list(BUGS))


@contextmanager
def planted(bug):
    with pytest.MonkeyPatch.context() as patch:
        bug.plant(patch)
        yield


def made(bug):
    """The receipt of the bug's run."""
    name, settings, y = bug.run
    if name == "blend":
        return blend(y, **settings).receipt(), y
    if name == "selected":
        run = nr.play(nr.Perceptron(), (ROWS, y))
        return certify(run, (ROWS, y), selection=nr.select(run, (ROWS, y), **settings)), (ROWS, y)
    stream = ROWS, y
    return certify(nr.play(LEARNERS[name](**settings), stream), stream, seconds=2.0), stream


def checked(receipt, stream):
    return verify_blend(receipt.body, stream) if isinstance(receipt, BlendReceipt) else verify(receipt, stream)


@every_bug
def test_without_the_bug_the_receipt_stands_and_nothing_tells(bug):
    receipt, stream = made(bug)
    assert "broken" not in {part["verdict"] for part in receipt.to_dict()["certificates"]}
    assert len(checked(receipt, stream).checks) > 15
    bug.tells(*bug.run)


@every_bug
def test_planted_in_the_maker_alone_the_receipt_is_refused(bug):
    with planted(bug):
        receipt, stream = made(bug)
    with pytest.raises(ReceiptError, match=bug.refused):
        checked(receipt, stream)


@every_bug
def test_planted_in_both_a_second_derivation_tells(bug):
    with planted(bug), pytest.raises(AssertionError):
        bug.tells(*bug.run)


SEEN_THROUGH = ("loss value", "conjugate", "dual")  # ends that cross, or that exact rationals contradict


@pytest.mark.parametrize("name", BUGS)
def test_a_verifier_with_the_same_bug_is_blind_so_the_second_derivations_are_needed(name):
    with planted(BUGS[name]):
        receipt, stream = made(BUGS[name])
        if name in SEEN_THROUGH:
            with pytest.raises(ReceiptError):
                verify(receipt, stream)
        else:
            checked(receipt, stream)


# -- a verifier that skips a check -------------------------------------------------------------------------------------


def lower_bound_claimed(receipt):
    """The first bound is claimed a little lower."""
    certificates = [dict(part) for part in receipt.certificates]
    next(part for part in certificates if part["bound"])["bound"] *= 0.99
    return replace(receipt, certificates=certificates)


def other_figure(receipt):
    """One mistake less."""
    return replace(receipt, figures={**receipt.figures, "mistakes": receipt.figures["mistakes"] - 1})


def other_scores(receipt):
    """The bits of another replay."""
    return replace(receipt, replay={**receipt.replay, "scores": "0" * 64})


def other_stream(receipt):
    """The digest of another stream."""
    return replace(receipt, segments=[{**one, "digest": "0" * 64} for one in receipt.segments])


def narrower_regret(receipt):
    """The regret a little below what is proved."""
    regret = {**receipt.regret, "upper": receipt.regret["upper"] - 0.01 * abs(receipt.regret["upper"])}
    return replace(receipt, regret=regret)


SKIPPED = {
    "_check_certificates": lower_bound_claimed,
    "_check_figures": other_figure,
    "_check_replay": other_scores,
    "check_entry": narrower_regret,
}


@pytest.mark.parametrize("skipped", SKIPPED)
def test_a_verifier_that_skips_a_check_accepts_what_the_clean_one_refuses(skipped):
    stream = ROWS, LABELS
    receipt = certify(nr.play(LEARNERS["ogd"](**HINGE[1]), stream), stream)
    false = SKIPPED[skipped](receipt)
    verify(receipt, stream)
    with pytest.raises(ReceiptError):
        verify(false, stream)
    with pytest.MonkeyPatch.context() as patch:
        _skip(patch, skipped)
        verify(false, stream)  # the forgeries of test_forgeries.py would tell


def _skip(patch, name):
    """The check is made on a copy of the notes, and whatever it finds is forgotten."""
    true = getattr(verifier, name)

    def unchecked(done, *given):
        if name != "check_entry":
            return None
        quiet = verifier.Verification()
        for how in ("same", "true", "at_least", "at_most", "contains", "ends"):
            patch.setattr(quiet, how, lambda *said: None)
        return true(quiet, *given)

    patch.setattr(verifier, name, unchecked)


def test_a_verifier_that_does_not_compare_the_digest_still_replays_and_one_that_does_neither_is_blind():
    stream, other = (ROWS, LABELS), (ROWS + 0.25, LABELS)
    receipt = certify(nr.play(LEARNERS["perceptron"](), stream), stream)
    with pytest.raises(ReceiptError, match="these are not the rows that the receipt is about"):
        verify(receipt, other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verifier, "_check_streams", lambda *given: None)
        with pytest.raises(ReceiptError, match="the digest of stream 1"):
            verify(receipt, other)
        patch.setattr(verifier, "_check_segments", lambda *given: None)
        with pytest.raises(ReceiptError, match="the replay: scores"):
            verify(receipt, other)
    with pytest.raises(ReceiptError, match="digest"):
        verify(other_stream(receipt), stream)
