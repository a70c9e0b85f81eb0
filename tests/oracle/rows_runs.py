"""Runs for the comparison of rows: played, with points that solvers found, and every theorem that speaks of them.

Here the library's own code is asked: what it finds is what is compared (rows_compare.py).
"""

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from noregret.learner import LEARNERS
from noregret.loss import parse
from noregret.proof.facts import Facts, gradients, judged_by
from noregret.proof.hindsight import proved
from noregret.proof.solve import best
from noregret.proof.solve.points import gather
from noregret.proof.theorems import spoken
from noregret.protocol import play
from noregret.rounds import Gathering
from noregret.stream import Dense
from oracle.rows import Data, dense
from oracle.rows_compare import compare


def facts_of(name, settings, X, y, weights=None, radius=None, random_points=0, classes=None, passes=1, surrogate=None):
    """The facts of a run, with points that a solver found and others that nobody looked for."""
    learner = LEARNERS[name](**settings)
    with Gathering(bool(learner.core.settings.get("bias"))) as gathering:
        given = (X, y) if weights is None else (X, y, weights)
        if classes is not None:
            learner.core.labels = learner.core.labels.again(classes)
        run = play(learner, given, keep=gathering, passes=passes)
        rounds = gathering.done()
    core = run.learner
    found = None
    sigma = core.comparator_sigma(len(rounds))
    inside = core.domain.radius if math.isfinite(core.domain.radius) else radius
    wanted = len(rounds) and core.supports is None and run.tally is None and core.domain.fits_ball
    if wanted and (inside is not None or sigma):
        ball = math.inf if inside is None else inside
        found = best(rounds, judged_by(core), ball, sigma, gap=1e-3, seconds=2.0)
        points = {key: point for key, point in found.points.items() if key in ("u", "alpha")}
        found = proved(rounds, judged_by(core), points, ball, sigma)
    asked = None if surrogate is None else parse(surrogate)
    facts = gather(Facts(run, rounds, found, surrogate=asked), gap=1e-2, seconds=0.5)
    rng = np.random.default_rng(random_points)
    size = float(np.abs(rounds.rows.values).max(initial=0.0)) or 1.0
    if name in ("perceptron", "averaged", "voted", "second-order", "pa", "pa1", "pa2") and weights is None:
        v = rng.normal(size=rounds.width) / size
        more = {"v_passive": v} if name.startswith("pa") else {"v_other": v, "v_zero": np.zeros(rounds.width)}
        facts = replace(facts, points={**facts.points, **(more if random_points else {})})
    return facts


def data_of(facts):
    data = Data(facts.run, facts.rounds, facts.hindsight, facts.points)
    if facts.surrogate is not None:
        data.surrogate = facts.surrogate.name, Fraction(facts.surrogate.number)
    if facts.learner.name in ("pa", "pa1", "pa2"):
        data.tau, data.cap = facts.steps.tau, facts.steps.cap
    if facts.learner.name in ("softmax", "softmax-newton", "nearest-classes"):
        data.forecasts = facts.classes.forecasts
    if facts.learner.name == "auto":
        learner = facts.learner
        data.names, data.priors = [one.name for one in learner.members], [Fraction(one) for one in learner.priors]
        data.declared, data.said = getattr(learner.labels, "declared", 0), said_by_members(facts)
    return data


def data_of_selection(sampled):
    """What a selection is judged by, with the run whose mistakes its corollaries bound."""
    facts = sampled.facts
    data = None if facts is None else Data(facts.run, facts.rounds, None, facts.points)
    return SimpleNamespace(**vars(sampled), data=data)


def said_by_members(facts):
    """What each member of a mixture says of each round, the members alone played again; None of those that sleep."""
    again = type(facts.learner)(**facts.learner.settings)
    rounds, weights = facts.rounds, facts.rounds.weights
    if not len(rounds):
        return []
    if again.multiclass:
        again.labels = facts.learner.labels.again(facts.learner.labels.needed_again or [])
        for core in again.cores:
            core.labels = again.labels
        again._meet(rounds.y)
    rows = Dense(np.array(dense(rounds))[:, int(rounds.bias) :])
    awake = again._awake(rows.width)
    said = again._said(rows, rounds.y, np.zeros(0) if weights is None else weights, awake)
    return [[None if np.isnan(np.ravel(one)[0]) else one.tolist() for one in line] for line in np.swapaxes(said, 0, 1)]


def run_all(facts):
    """Every theorem that speaks of the run, compared; how many were evaluated."""
    data, allowance = data_of(facts), gradients.roundings(facts.rounds)
    return sum(compare(one, facts, data, allowance=allowance) for one in spoken(facts))
