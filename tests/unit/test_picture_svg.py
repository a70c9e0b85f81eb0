"""Pictures as text for a page."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import noregret as nr

pytest.importorskip("matplotlib")

from noregret.picture import pictures_of, plot
from noregret.picture.canvas import new_figure, svg_text

X = np.random.default_rng(0).normal(size=(30_000, 3))
RUN = nr.play(nr.OnlineGradientDescent(loss="logistic", radius=2.0), (X, np.sign(X[:, 0] + 0.1)))


def drawn(picture):
    figure = new_figure(8.0, 4.5)
    picture.draw(figure.add_subplot())
    return figure


def test_the_same_picture_is_the_same_text():
    for picture in pictures_of(RUN):
        figure = drawn(picture)
        text = svg_text(figure)
        assert text == svg_text(figure) == svg_text(drawn(picture))


def test_nothing_is_fetched_and_every_name_means_one_thing():
    for picture in pictures_of(RUN):
        text = svg_text(drawn(picture))
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert set(re.findall(r"https?://[^\"']+", text)) <= {
            "http://www.w3.org/2000/svg",
            "http://www.w3.org/1999/xlink",
        }
        names = re.findall(r' id="([^"]+)"', text)
        assert len(names) == len(set(names))
        used = {a or b for a, b in re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", text)}
        assert used == set(names), "nothing but what is referred to has a name"


def test_text_stays_text_and_curves_stay_short():
    text = svg_text(drawn(pictures_of(RUN)[0]))
    assert ">mistakes so far / rounds so far</text>" in text and ">most frequent label" in text
    longest = max(path.count(" L ") + path.count("\nL ") for path in re.findall(r'<path d="([^"]*)"', text))
    assert longest <= 500 and len(text) < 60_000


def test_a_file_is_the_same_text_with_its_heading(tmp_path):
    axes = plot(RUN, to=tmp_path / "error.svg")
    written = (tmp_path / "error.svg").read_text()
    assert written.startswith("<?xml") and written.endswith(svg_text(axes.get_figure()))
    plot(RUN, to=tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == written


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("SVG", b"<?xml")])
def test_the_other_formats(tmp_path, ending, magic):
    plot(RUN, to=tmp_path / f"error.{ending}")
    assert (tmp_path / f"error.{ending}").read_bytes().startswith(magic)
