"""Where a predictor of two features changes its mind: among the points, after each update, and as a film."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.atomic import whole_file
from noregret.picture.canvas import COLOURS, colour_of, new_figure, plain_frame, thinned
from noregret.picture.plane import Film, Ints, Moment, Plane, Vector

SHOWN = 400  # points; of more rows an even sample is drawn
PANELS = 12  # small pictures of one learner; of several each has a row of its own
ROW = 5
FRAMES = 48
MILLISECONDS, LAST = 350, 2000  # of a frame, and of the last one
DOTS = 80  # to the inch, of a film
LOOKS = ((1.0, "o", COLOURS[0]), (-1.0, "s", COLOURS[1]))  # the two classes differ in form and in colour


def boundary_axes(axes: Any, films: Sequence[Film]) -> Any:
    """The points and the boundary at the end of each film; of a single one also its margin."""
    plane = films[0].plane
    framed(axes, plane)
    alone = len(films) == 1
    moments = [film.moments[-1] for film in films if film.moments]
    scattered(axes, plane, moments[0] if alone and moments else None)
    for place, film in enumerate(films):
        if film.moments:
            boundary_line(axes, plane, film.moments[-1], "black" if alone else colour_of(2 + place))
    if alone and moments:
        _margin(axes, plane, moments[0])
    if len(films[0].proof):
        _rings(axes, plane, films[0].proof, "proof")
        said = (
            "ringed: the rows that limit the margin"
            if moments
            else "no line separates the classes: the ringed rows prove it"
        )
        axes.set_title(said, fontsize=9, loc="right")
    names = [] if alone else [(f"— {film.name}", colour_of(2 + place)) for place, film in enumerate(films)]
    said_above(axes, [("● +1", LOOKS[0][2]), ("■ −1", LOOKS[1][2]), *names])
    return axes


def moment_axes(axes: Any, film: Film, moment: Moment) -> Any:
    """The points and the boundary at one moment; a ring around the rows that it was moved for."""
    framed(axes, film.plane)
    scattered(axes, film.plane, moment, size=3.5)
    boundary_line(axes, film.plane, moment, "black")
    _margin(axes, film.plane, moment)
    _rings(axes, film.plane, moment.rows, "moved for")
    axes.set_title(_when(film, moment), fontsize=9)
    return axes


def _when(film: Film, moment: Moment) -> str:
    if moment.updates == 0:
        return "start"
    if film.unit == "step" or moment.rounds == moment.updates:
        return f"{film.unit} {moment.updates:,}"
    return f"{film.unit} {moment.updates:,}, round {moment.rounds:,}"


def updates_figure(figure: Any, films: Sequence[Film]) -> NDArray[Any]:
    """Small multiples: the boundary after some of the updates, a row of pictures for each of several films."""
    rows = _rows(films)
    columns = max(len(row) for row in rows)
    figure.set_size_inches(2.3 * columns, 2.3 * len(rows) + 0.3)
    all_axes = figure.subplots(len(rows), columns, sharex=True, sharey=True, squeeze=False)
    for line, row in zip(all_axes, rows, strict=True):
        for axes, one in zip(line, [*row, *[None] * (columns - len(row))], strict=True):
            if one is None:
                axes.set_visible(False)
                continue
            moment_axes(axes, *one)
            axes.label_outer()
            axes.tick_params(labelsize=7)
        if len(films) > 1:
            line[0].set_ylabel(f"{row[0][0].name}\n{row[0][0].plane.names[1]}")
    return np.asarray(all_axes)


def _rows(films: Sequence[Film]) -> list[list[tuple[Film, Moment]]]:
    if len(films) > 1:
        return [[(film, moment) for moment in film.some(ROW).moments] for film in films]
    film = films[0].some(PANELS)
    shown = [(film, moment) for moment in film.moments]
    across = len(shown) if len(shown) <= ROW else 4
    return [shown[i : i + across] for i in range(0, len(shown), across)]


def write_film(films: Sequence[Film], path: str | os.PathLike[str]) -> int:
    """Write the films side by side as a GIF and say how many frames it has; a shorter one waits at its end."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    count = max(len(film.moments) for film in films)
    frames = []
    for i in range(count):
        figure = new_figure(4.5 * len(films), 4.2)
        canvas: Any = FigureCanvasAgg(figure)
        for axes, film in zip(figure.subplots(1, len(films), squeeze=False)[0], films, strict=True):
            moment_axes(axes, film, film.moments[min(i, len(film.moments) - 1)])
            if len(films) > 1:
                axes.set_title(f"{film.name}: {axes.get_title()}", fontsize=9)
        figure.set_dpi(DOTS)
        canvas.draw()
        size = canvas.get_width_height()
        frames.append(Image.frombuffer("RGBA", size, bytes(canvas.buffer_rgba())).convert("RGB").quantize(64))
    lasting = [MILLISECONDS] * (count - 1) + [LAST]
    with whole_file(path) as file:
        frames[0].save(file, format="GIF", save_all=True, append_images=frames[1:], duration=lasting, loop=0)
    return count


def framed(axes: Any, plane: Plane) -> None:
    across, up = plane.box
    axes.set_xlim(across)
    axes.set_ylim(up)
    axes.set_autoscale_on(False)
    axes.set_xlabel(plane.names[0])
    axes.set_ylabel(plane.names[1])
    plain_frame(axes)


def scattered(axes: Any, plane: Plane, moment: Moment | None, size: float = 4.5) -> None:
    """The points by class, hollow where the predictor has them wrong; a score of 0 is wrong."""
    shown = thinned(len(plane.y), points=SHOWN)
    X, y = plane.X[shown], plane.y[shown]
    right = np.ones(len(y), bool) if moment is None else y * moment.score(X) > 0.0
    for sign, form, colour in LOOKS:
        for kept, inside in ((right, colour), (~right, "white")):
            x1, x2 = X[(y == sign) & kept].T
            look = {"color": colour, "markerfacecolor": inside, "markersize": size, "markeredgewidth": 0.25 * size}
            axes.plot(x1, x2, form, label=f"{sign:+.0f}", **look)


def _rings(axes: Any, plane: Plane, rows: Ints, what: str) -> None:
    x, y = plane.X[rows[thinned(len(rows), points=SHOWN)]].T
    axes.plot(x, y, "o", color="black", markerfacecolor="none", markersize=9.0, markeredgewidth=0.8, label=what)


def said_above(axes: Any, names: Sequence[tuple[str, str]]) -> None:
    """Which look is which, in its own colour, above the frame from left to right."""
    before = None
    for name, colour in names:
        place: Any = {"xy": (0.0, 1.01), "xycoords": "axes fraction"}
        if before is not None:
            place = {"xy": (1.0, 0.0), "xycoords": before, "xytext": (12, 0), "textcoords": "offset points"}
        before = axes.annotate(name, color=colour, annotation_clip=False, va="bottom", **place)


def boundary_line(axes: Any, plane: Plane, moment: Moment, colour: str, width: float = 1.5) -> None:
    """The line ⟨w, x⟩ + b = 0, or the contour of 0 if the score is not linear."""
    found = moment.line(plane)
    if found is not None:
        ends = _ends(plane, *found)
        axes.plot(ends[:, 0], ends[:, 1], color=colour, linewidth=width, label="boundary")
        return
    across, up, places = plane.grid
    scores = moment.score(places).reshape(across.shape)
    if float(scores.min()) < 0.0 < float(scores.max()):
        axes.contour(across, up, scores, levels=[0.0], colors=[colour], linewidths=width)
        sides = [-math.inf, 0.0, math.inf]
        axes.contourf(across, up, scores, levels=sides, colors=[LOOKS[1][2], LOOKS[0][2]], alpha=0.08)


def _ends(plane: Plane, w: Vector, b: float) -> NDArray[np.float64]:
    """Two points of the line, both outside the frame."""
    (left, right), (bottom, top) = plane.box
    middle = np.array([0.5 * (left + right), 0.5 * (bottom + top)])
    size = float(np.linalg.norm(w))
    foot = middle - (float(w @ middle) + b) / size * (w / size)
    along = np.array([-w[1], w[0]]) / size
    far = math.hypot(right - left, top - bottom) + float(np.linalg.norm(foot - middle))
    return np.array([foot - far * along, foot + far * along])


def _margin(axes: Any, plane: Plane, moment: Moment) -> None:
    """Dashed, the lines through the nearest points, where the boundary is a line with every point on its side."""
    found = moment.line(plane)
    if found is None:
        return
    w, b = found
    least = float((plane.y * (plane.X @ w + b)).min())
    if least <= 0.0:
        return
    for shift in (-least, least):
        ends = _ends(plane, w, b + shift)
        axes.plot(ends[:, 0], ends[:, 1], "--", color="0.4", linewidth=0.8, label="margin")
