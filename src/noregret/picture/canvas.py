"""Where every picture is made and written: one figure, one palette, names at the ends of lines, files that are whole.

A picture is a function that draws on given axes. Everything here works without a display, and without pyplot: nothing
is remembered between two pictures. Matplotlib is imported when a picture is asked for, never before.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.atomic import whole_file
from noregret.errors import SettingError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # told apart by every kind of sight
FORMATS = (".png", ".svg", ".pdf")
MOVING = ".gif"
POINTS = 500  # a curve has no more: more draw the same line into a larger file
DOTS = 150  # to the inch, of pictures made of dots
LINE = 13.0  # points from one name to the next

Vector = NDArray[np.float64]


def check_picture(path: str | os.PathLike[str], moves: bool = False) -> None:
    """Whether such a file can be drawn at all, said before the work; `moves` where the picture has frames."""
    suffix = Path(path).suffix.lower()
    known = (*FORMATS, MOVING) if moves else FORMATS
    if suffix not in known:
        film = " (only the kind updates can be animated)" if suffix == MOVING else ""
        raise SettingError(f"plot: the file must end in {', '.join(known)}, got {os.fspath(path)!r}{film}")
    check_installed()


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def check_installed() -> None:
    if not can_draw():
        raise SettingError("plot: needs matplotlib; install it with pip install 'noregret[plot]'")


def new_figure(width: float, height: float) -> Any:
    """An empty figure, its size in inches."""
    check_installed()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format that the file's name asks for; the file appears whole or not at all."""

    suffix = Path(path).suffix.lower()
    with whole_file(path) as file:
        if suffix == ".svg":
            file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{svg_text(figure)}'.encode())
        else:
            figure.savefig(file, format=suffix[1:], dpi=DOTS)


def thinned(count: int, logarithmic: bool = False, points: int = POINTS) -> NDArray[np.int64]:
    """At most this number of the places 0 … count − 1, the first and the last among them, evenly or by ratio.

    >>> thinned(9, points=3).tolist(), thinned(10_001, logarithmic=True, points=5).tolist()
    ([0, 4, 8], [0, 9, 99, 999, 10000])
    """
    if count <= points:
        return np.arange(count)
    places = np.geomspace(1, count, points) - 1.0 if logarithmic else np.linspace(0, count - 1, points)
    return np.unique(np.round(places).astype(np.int64))


@dataclass(frozen=True, order=True)
class Ending:
    """A name to be written where a line ends."""

    name: str
    x: float
    y: float
    colour: str


def name_ends(axes: Any, endings: Sequence[Ending]) -> None:
    """Write names to the right of the axes, each at the height of its line's end, moved apart where they would touch.

    To be called when the axes have their limits. A name that had to move is tied to its line by a thin stroke.
    """
    ends = sorted((_within(axes, end), end) for end in endings)
    gap = LINE / (72.0 * _height(axes))
    places = spread([y for (y, _), _ in ends], gap)
    tied = [abs(place - y) > 0.5 * gap or x < 0.98 for ((y, x), _), place in zip(ends, places, strict=True)]
    for ((y, x), end), place, moved in zip(ends, places, tied, strict=True):
        tie = {"arrowstyle": "-", "color": end.colour, "linewidth": 0.6, "shrinkA": 1.0, "relpos": (0.0, 0.5)}
        axes.annotate(
            end.name,
            (x, y),
            (1.04 if any(tied) else 1.01, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=end.colour,
            va="center",
            annotation_clip=False,
            arrowprops=tie if moved else None,
        )


def _within(axes: Any, end: Ending) -> tuple[float, float]:
    """The height and the place across of a line's end, as parts of the axes."""
    x, y = (axes.transData + axes.transAxes.inverted()).transform((end.x, end.y))
    return min(max(float(y), 0.0), 1.0), float(x)


def _height(axes: Any) -> float:
    """About how many inches high the axes are."""
    return float(axes.get_position().height * axes.get_figure(root=True).get_figheight())


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Rising places moved as little as need be until neighbours are a gap apart.

    Places too close form a pile around their common middle; piles that then touch become one.

    >>> [round(place, 2) for place in spread([0.0, 0.5, 0.5, 0.52], 0.1)]
    [0.0, 0.41, 0.51, 0.61]
    """
    piles: list[tuple[float, int]] = []  # the middle of each pile, and how many places it holds
    for place in places:
        piles.append((place, 1))
        while len(piles) > 1:
            (below, many), (above, more) = piles[-2:]
            if above - below >= 0.5 * gap * (many + more):
                break
            piles[-2:] = [((below * many + above * more) / (many + more), many + more)]
    return [middle + gap * (i - 0.5 * (many - 1)) for middle, many in piles for i in range(many)]


def signed(value: float) -> str:
    """Four figures and a true minus.

    >>> signed(-1234567.0), signed(0.5)
    ('−1.235e+06', '0.5')
    """
    return f"{value:,.4g}".replace("-", "−", 1) if value < 0.0 else f"{value:,.4g}"


def colour_of(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def plain_frame(axes: Any) -> Any:
    """Axes without the two sides that measure nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def round_axis(axes: Any, last: float, logarithmic: bool) -> None:
    """The axis of rounds: whole numbers, by ratio where there are many."""
    axes.set_xlabel("round")
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(1.0, max(last, 1.0 + 1e-9) if last > 1.0 else 2.0)
    else:
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlim(right=last)
    axes.xaxis.set_major_formatter("{x:,.0f}")


class Picture(NamedTuple):
    """A picture that can be drawn: its title, what is to be seen in it, and the function that draws it on axes."""

    title: str
    caption: str
    draw: Callable[[Any], Any]


STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "noregret", "svg.image_inline": True}
NOBODY = dict.fromkeys(("Creator", "Date", "Format", "Type"))
PLACES = re.compile(r' (d|x|y)="([^"]*)"')
MARKS = re.compile(r'<g clip-path="([^"]*)">((?:\s*<use [^>]*/>)+)\s*</g>')
LOOK = re.compile(r' style="([^"]*)"')


def svg_text(figure: Any) -> str:
    """The `<svg>` element of a figure, text kept as text; names inside it depend on what is drawn and on nothing else.

    Groups that nothing refers to lose their numbers, so that several pictures of one page never share an id that means
    two things. Places are kept to a hundredth of a point, and a look that all points of a line share is said once.
    """
    from matplotlib import rc_context

    figure.draw_without_rendering()  # finds the places of everything once: a second look would move them by a hair
    figure.set_layout_engine("none")
    buffer = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata=NOBODY)
    text = buffer.getvalue()
    text = text[text.index("<svg ") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", text))
    text = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", text)
    return re.sub(r"\n +<", "\n<", MARKS.sub(_said_once, PLACES.sub(_rounded, text)))


def _rounded(found: re.Match[str]) -> str:
    """Numbers of an outline or a place, cut to two decimals."""
    short = re.sub(r"(\d\.\d\d)\d+", r"\1", found[2])
    return f' {found[1]}="{" ".join(short.split())}"'


def _said_once(found: re.Match[str]) -> str:
    """Points of one look, with the look at their group."""
    looks = set(LOOK.findall(found[2]))
    if len(looks) != 1:
        return found[0]
    return f'<g clip-path="{found[1]}" style="{looks.pop()}">{LOOK.sub("", found[2])}\n</g>'
