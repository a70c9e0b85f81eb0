"""From a solver's floating-point answer to an interval that holds: everything is evaluated again, rounded outward."""

from __future__ import annotations

import math

import numpy as np

from noregret import enclose
from noregret.errors import SettingError
from noregret.interval import Interval, total
from noregret.loss import Loss
from noregret.rounds import Rounds, Vector

EPS = enclose.EPS


def shrunk(u: Vector, radius: float) -> Vector:
    """u, or the nearest multiple of it whose norm is at most the radius beyond any doubt."""
    u = np.where(np.isfinite(u), u, 0.0)
    slack = 1.0
    while enclose.norm(u).hi > radius:
        u = u * (radius / enclose.norm(u).hi * (1.0 - slack * EPS))
        slack *= 2.0
    return u


def lower_of(rounds: Rounds, loss: Loss, alpha: Vector, radius: float, sigma: float) -> tuple[Vector, float]:
    """α as a dual point and the bound that it proves; 0 instead where α proves nothing."""
    alpha = enclose.clipped(loss, alpha, rounds.y)
    found = enclose.dual(rounds, loss, alpha, radius, sigma).lo
    if found < 0.0:
        alpha = np.zeros(len(rounds))
        found = enclose.dual(rounds, loss, alpha, radius, sigma).lo
    return alpha, found


def tangent_bound(rounds: Rounds, loss: Loss, z: Vector, alpha: Vector, radius: float, sigma: float) -> float:
    """Σ k(ℓ(z) − αz) − max{‖Σ kαx‖·‖u‖ − (σT/2)‖u‖²}: no comparator is below, if α are the slopes of a convex ℓ at z.

    A slope is trusted to a few units of its last place, as a loss's value is.
    """
    product = alpha * z
    slack = 16.0 * EPS * np.abs(product) + enclose.TINY
    low, high = enclose.losses(loss, z, rounds.y)
    ends = np.nextafter(low - product - slack, -np.inf), np.nextafter(high - product + slack, np.inf)
    weights = np.ones(len(z)) if rounds.weights is None else rounds.weights
    found = total(np.nextafter(weights * ends[0], -np.inf), np.nextafter(weights * ends[1], np.inf))
    taken = enclose.support(enclose.norm_between(*enclose.combined(rounds, alpha)), radius, sigma * len(rounds))
    return (found - taken).lo


def linearised(rounds: Rounds, loss: Loss, radius: float) -> Interval:
    """Σ k·s·z + U‖Σ k·s·x‖ with s the slope at the score z that was predicted: no regret against the ball is above."""
    if rounds.scores is None:
        raise SettingError("linearised: the rounds must hold the scores of a run, got none")
    s = loss.gradients(rounds.scores, rounds.y)
    product = s * rounds.scores if rounds.weights is None else s * rounds.scores * rounds.weights
    slack = 4.0 * EPS * np.abs(product) + enclose.TINY
    found = total(product - slack, product + slack)
    size = enclose.norm_between(*enclose.combined(rounds, s))
    return found + size * (radius if size.hi > 0.0 or math.isfinite(radius) else 0.0)
