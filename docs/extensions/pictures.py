"""The pictures of the theory pages, drawn from the program's own figures wherever it has them.

`python docs/extensions/pictures.py` writes them to `docs/theory/pictures/`; a test draws them again and looks whether
they still show the same. Text stays text, and no date is written, so that the same picture is the same file.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import noregret as nr

FOLDER = Path(__file__).parents[1] / "theory" / "pictures"
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#767676"  # told apart by all eyes
PICTURES: dict[str, Callable[[Any], None]] = {}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "noregret",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "path.simplify_threshold": 0.2,
}


def picture(draw: Callable[[Any], None]) -> Callable[[Any], None]:
    """Enter a function that draws on given axes; the file has its name."""
    PICTURES[draw.__name__] = draw
    return draw


def label(axes: Any, x: float, y: float, text: str, colour: str, **more: Any) -> None:
    axes.annotate(text, (x, y), color=colour, xytext=(5, 0), textcoords="offset points", va="center", **more)


def bare(axes: Any) -> None:
    """Axes of a drawing in the plane: equal units, no numbers."""
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


@picture
def novikoff(axes: Any) -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (90, 2))
    u = np.array([0.6, 0.8])
    X = X[(np.abs(X @ u) > 0.18) & (np.linalg.norm(X, axis=1) < 1)]
    y = np.sign(X @ u)
    for sign, colour, mark in ((1, BLUE, "o"), (-1, ORANGE, "s")):
        axes.plot(*X[y == sign].T, mark, color=colour, ms=4)
    along = np.array([-u[1], u[0]])
    ends = np.array([-1.15, 1.15])[:, None] * along
    axes.plot(*ends.T, color="black")
    for side in (-1, 1):
        axes.plot(*(ends + side * 0.18 * u).T, color=GREY, ls="--", lw=0.8)
    turn = np.linspace(0, 2 * np.pi, 200)
    r = np.linalg.norm(X, axis=1).max()
    axes.plot(r * np.cos(turn), r * np.sin(turn), color=GREY, lw=0.8)
    axes.annotate("", 0.18 * u, (0, 0), arrowprops={"arrowstyle": "<->", "color": GREEN})
    axes.text(0.09, 0.0, "γ", color=GREEN)
    axes.annotate("", (r, 0), (0, 0), arrowprops={"arrowstyle": "->", "color": PINK})
    axes.text(0.5, -0.13, "r", color=PINK)
    mistakes = nr.play(nr.Perceptron(), (X, y)).mistakes
    bound = (r / np.abs(X @ u).min()) ** 2
    axes.set_title(f"{mistakes} mistakes, at most (r/γ)² = {bound:.0f}", fontsize=10)
    bare(axes)


@picture
def tangents(axes: Any) -> None:
    m = np.linspace(-1.5, 2, 141)
    axes.step([-1.5, 0, 2], [1, 1, 0], where="pre", color="black")
    label(axes, -1.45, 0.82, "zero-one", "black")
    for name, value, slope, colour, where in (
        ("squared hinge", np.maximum(0, 1 - m) ** 2, -2.0, ORANGE, (-0.95, 3.8)),
        ("hinge", np.maximum(0, 1 - m), -1.0, BLUE, (-1.45, 2.62)),
        ("logistic", np.log2(1 + np.exp(-m)), -0.5 / math.log(2), GREEN, (1.2, 0.42)),
    ):
        axes.plot(m, value, color=colour)
        axes.plot(m, 1 + slope * m, color=colour, ls=":", lw=1)
        label(axes, *where, name, colour)
    axes.set_ylim(-0.2, 4.2)
    axes.set_xlabel("margin y⟨u,x⟩")
    axes.set_ylabel("loss, and its tangent at 0 (dotted)")


@picture
def ladder(axes: Any) -> None:
    """Random linear losses on a line: the regret and the lines above it after each number of rounds."""
    rng, rounds, U, G = np.random.default_rng(2), 400, 1.0, 1.4
    g = rng.choice([-1.0, 1.0], rounds, p=[0.45, 0.55]) * rng.uniform(0.3, 1.0, rounds)
    eta, w, weights = math.sqrt(2) * U / G, 0.0, []
    for t, slope in enumerate(g, 1):
        weights.append(w)
        w = min(max(w - eta / math.sqrt(t) * slope, -U), U)
    t = np.arange(1, rounds + 1)
    regret = np.cumsum(g * weights) + U * np.abs(np.cumsum(g))
    ball = U**2 / eta * (2 * np.sqrt(t) - 1.5) + eta / 2 * np.cumsum(g**2 / np.sqrt(t))
    largest = np.maximum.accumulate(np.abs(g))
    for name, value, colour in (
        ("regret = ogd-linearised", regret, "black"),
        ("ogd-ball", ball, BLUE),
        ("ogd-any-rate", 2 * U**2 * np.sqrt(t) / eta + largest**2 * eta * np.sqrt(t), GREEN),
        ("ogd-tuned", U * G * np.sqrt(8 * t), ORANGE),
    ):
        axes.plot(t, value, color=colour)
        label(axes, t[-1], value[-1], name, colour)
    axes.set_xlim(0, rounds * 1.45)
    axes.set_xticks([0, 100, 200, 300, 400])
    axes.set_xlabel("rounds (linear losses on a line, U = 1, G = 1.4 in the rate, gradients up to 1)")
    axes.set_ylabel("sum")


@picture
def harmonic(axes: Any) -> None:
    T = np.arange(1, 31)
    for name, value, colour, style in (
        ("1 + ln T", 1 + np.log(T), BLUE, "-"),
        ("H_T: what the run loses, times 2", np.cumsum(1.0 / T), "black", "o"),
        ("ln(T + 1), as printed in 2023", np.log(T + 1), ORANGE, "--"),
    ):
        axes.plot(T, value, style, color=colour, ms=3)
        label(axes, 30, value[-1], name, colour)
    axes.set_xlim(0, 52)
    axes.set_xticks([1, 10, 20, 30])
    axes.set_xlabel("rounds T, losses ½(w − w_t ∓ 1)², σ = G = 1")
    axes.set_ylabel("twice the regret")


@picture
def coin(axes: Any) -> None:
    n, size = 1000, np.logspace(-2, 2, 200)
    betting = 1 + size * np.sqrt(n * np.log(1 + 24 * n**2 * size**2))
    axes.loglog(size, betting, color=BLUE)
    label(axes, 1.0, 40, "coin betting", BLUE)
    for U, colour in ((1, ORANGE), (10, GREEN)):
        axes.loglog(size[size <= U], np.full((size <= U).sum(), U * math.sqrt(n)), color=colour)
        axes.plot(U, U * math.sqrt(n), "o", color=colour)
        axes.annotate(f"descent told U = {U}", (0.011, U * math.sqrt(n) * 1.2), color=colour)
    axes.set_xlabel("length ‖u‖ of the comparator (n = 1000, G = ε = 1)")
    axes.set_ylabel("bound on the regret")


@picture
def passive(axes: Any) -> None:
    x, w = np.array([0.8, 0.6]), np.array([-0.5, 0.9])
    lost = 1 - w @ x
    full, short = w + lost * x, w + 0.45 * lost * x
    along = np.array([-x[1], x[0]])
    line = x + np.array([-1.0, 1.5])[:, None] * along
    axes.plot(*line.T, color="black")
    axes.fill(*np.vstack([line, line[::-1] + 0.7 * x]).T, color=BLUE, alpha=0.12)
    axes.text(*(x + 0.25 * x - 0.9 * along), "y⟨w,x⟩ ≥ 1: no loss", color=BLUE)
    for end, colour in ((full, ORANGE), (short, GREEN)):
        axes.annotate("", end, w, arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.6})
    axes.plot(*w, "o", color="black")
    axes.text(w[0] - 0.12, w[1] + 0.04, "w")
    axes.text(full[0] + 0.04, full[1] + 0.05, "PA", color=ORANGE)
    axes.text(short[0] - 0.5, short[1] - 0.42, "PA-I, step at most C", color=GREEN)
    bare(axes)


@picture
def kernel(axes: Any) -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    X = np.vstack([rng.normal(centre, 0.38, (25, 2)) for centre in centres])
    y = np.repeat([1, 1, -1, -1], 25)
    model = nr.KernelPerceptron(kernel="rbf", gamma=1.0, passes=3, shuffle=0).fit(X, y)
    side = np.linspace(-2.3, 2.3, 60)
    across, up = np.meshgrid(side, side)
    score = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axes.contour(across, up, score, levels=[0.0], colors="black")
    for sign, colour, mark in ((1, BLUE, "o"), (-1, ORANGE, "s")):
        axes.plot(*X[y == sign].T, mark, color=colour, ms=3)
    axes.set_title(f"{model.support_count_} supports, an RBF kernel", fontsize=10)
    bare(axes)


@picture
def determinant(axes: Any) -> None:
    rng, d, rounds = np.random.default_rng(1), 5, 400
    X = rng.normal(size=(rounds, d)) * [1.0, 0.5, 0.2, 0.1, 0.05]
    A, steps = np.eye(d), []
    for x in X:
        A += np.outer(x, x)
        steps.append(x @ np.linalg.solve(A, x))
    t = np.arange(1, rounds + 1)
    squares = np.cumsum((X**2).sum(axis=1))
    logs = [np.linalg.slogdet(np.eye(d) + X[:k].T @ X[:k])[1] for k in t]
    for name, value, colour in (
        ("d ln(1 + Σ‖x‖²/ad)", d * np.log1p(squares / d), ORANGE),
        ("ln det(A/a)", np.array(logs), BLUE),
        ("Σ xᵀA⁻¹x", np.cumsum(steps), "black"),
    ):
        axes.plot(t, value, color=colour)
        label(axes, rounds, value[-1], name, colour)
    axes.set_xlim(0, rounds * 1.42)
    axes.set_xticks([0, 100, 200, 300, 400])
    axes.set_xlabel("rounds (5 features of very different sizes, a = 1)")
    axes.set_ylabel("sum")


@picture
def tree(axes: Any) -> None:
    hypotheses = nr.family("thresholds:7")
    found = nr.dimensions(hypotheses).tree
    run = nr.duel(nr.SOA(hypotheses), nr.TreeAdversary(hypotheses, found))
    path = found.path([one.label for one in run.rounds])
    place = {1: (0.0, 0.0)}
    for node in range(1, 8):
        x, y = place[node]
        for bit in (0, 1):
            child = 2 * node + bit
            place[child] = (x + (bit - 0.5) * 4 / 2 ** (node.bit_length() - 1), y - 1.0)
            played = node in path and run.rounds[path.index(node)].label == bit
            ends, colour = np.array([place[node], place[child]]), ORANGE if played else GREY
            axes.plot(*ends.T, color=colour, lw=2.5 if played else 1)
            axes.text(*ends.mean(axis=0), str(bit), color=colour, backgroundcolor="white", ha="center", fontsize=8)
    for node, (x, y) in place.items():
        if node < 8:
            frame = {"boxstyle": "round", "fc": "white"}
            axes.text(x, y, f"x = {found.point(node)}", ha="center", va="center", bbox=frame)
    for leaf in range(8, 16):
        axes.text(*place[leaf], "h", ha="center", va="top", color=GREY)
    axes.set_title(f"SOA errs {run.mistakes} times: the depth of the tree", fontsize=10)
    axes.set_axis_off()


@picture
def hedge(axes: Any) -> None:
    rng, rounds, experts = np.random.default_rng(3), 500, 5
    costs = (rng.random((rounds, experts)) < [0.45, 0.5, 0.5, 0.55, 0.6]).astype(float)
    t, logs, periods = np.arange(1, rounds + 1), math.log(experts), math.sqrt(2) / (math.sqrt(2) - 1)
    for name, learner, bound, colour in (
        ("hedge", nr.Hedge(experts), np.sqrt(t * logs), BLUE),
        (
            "hedge-doubling",
            nr.HedgeDoubling(experts),
            periods * np.sqrt(2 * t * logs),
            ORANGE,
        ),
    ):
        game = learner.play(costs)
        regret = np.cumsum(game.losses) - np.cumsum(costs, axis=0).min(axis=1)
        axes.plot(t, regret, color=colour)
        axes.plot(t, bound, color=colour, ls="--")
        label(axes, rounds, regret[-1] + (11 if name == "hedge-doubling" else 0), name, colour)
        label(axes, rounds, bound[-1], "its bound", colour)
    axes.set_xlim(0, rounds * 1.35)
    axes.set_xticks([0, 100, 200, 300, 400, 500])
    axes.set_xlabel("rounds")
    axes.set_ylabel("regret")


@picture
def steps(axes: Any) -> None:
    X, y = np.array([[2.0]] * 11 + [[-2.0]] + [[-9.0]]), np.array([1] * 12 + [-1])
    sizes = np.logspace(-2, 1, 13)
    for start, colour, name in (([-3.0], BLUE, "from θ₀ = (−3, 0)"), (None, ORANGE, "from θ₀ = 0")):
        taken = [nr.BatchPerceptron(step=size, start=start).fit(X, y).n_iter_ for size in sizes]
        axes.loglog(sizes, taken, "o-", color=colour, ms=4)
        label(axes, sizes[4], taken[4] * 1.25, name, colour)
    axes.set_xlabel("step size α")
    axes.set_ylabel("steps until all rows are right")


@picture
def risk(axes: Any) -> None:
    from scipy.stats import beta

    n, delta = np.arange(20, 2001, 10), 0.05
    k, logs = np.floor(0.1 * n), np.log(n / delta)
    exact = beta.ppf(1 - delta / n, k + 1, n - k)
    hoeffding = 0.1 + np.sqrt(logs / (2 * n))
    printed = 0.1 + 6 * np.sqrt(np.log(2 * (n + 1) / delta) / n)
    for name, value, colour, where in (
        ("risk-printed", printed, ORANGE, (700, 0.93)),
        ("risk-hoeffding", hoeffding, GREEN, (60, 0.4)),
        ("risk-binomial", exact, BLUE, (20, 0.22)),
    ):
        axes.semilogx(n[value <= 1], value[value <= 1], color=colour)
        label(axes, *where, name, colour)
    axes.axhline(0.1, color=GREY, ls=":")
    label(axes, 20, 0.06, "the error seen", GREY)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("rounds (every one a candidate, one error in ten, δ = 0.05)")
    axes.set_ylabel("limit on the risk")


def drawn(name: str) -> Figure:
    """One picture as a figure."""
    figure = Figure(figsize=(6.2, 3.4), layout="constrained")
    PICTURES[name](figure.add_subplot())
    return figure


def write(folder: Path) -> None:
    """Every picture as an SVG file."""
    with matplotlib.rc_context(STYLE):
        for name in PICTURES:
            drawn(name).savefig(folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
