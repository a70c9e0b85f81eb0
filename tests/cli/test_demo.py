"""`noregret demo`: a table, a certified run, pictures and a report from real data."""

import re
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command import snapshot
from matplotlib.image import imread
from sklearn.datasets import load_breast_cancer

FILES = ("errors.png", "explains.svg", "receipt.json", "report.html", "tumours.nr", "tumours.svm")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def shown(noregret, tmp_path_factory):
    """What the demo said, and the folder that it was started in."""
    folder = tmp_path_factory.mktemp("shown")
    with chdir(folder):
        return noregret("demo"), folder


def test_the_table_and_the_picture(shown):
    answer, here = shown
    assert (answer.code, answer.err) == (0, "")
    table = answer.rows()
    y = load_breast_cancer().target
    assert table["baseline: most frequent label"] == ["212", "37.26 %"] == [str((y == 0).sum()), "37.26 %"]
    assert int(table["auto, the default"][0]) < min(int(table[name][0]) for name in ("perceptron", "gradient descent"))
    assert int(table["perceptron"][0]) < 212
    assert int(table["gradient descent"][0]) < 212
    assert set(snapshot(here)) == {"demo", *(f"demo/{name}" for name in FILES)}
    for name in FILES:
        assert f"demo/{name}" in answer.out or name == "tumours.nr"
    assert answer.out.splitlines()[-1] == "report, to open in a browser: demo/report.html"
    data = (here / "demo" / "errors.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    picture = imread(here / "demo" / "errors.png")
    assert picture.shape[:2] == (675, 1200)
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 20, "something is drawn"


def test_the_receipt_stands_and_the_report_tells_of_it(noregret, shown, monkeypatch):
    answer, here = shown
    monkeypatch.chdir(here)
    (line,) = [line for line in answer.out.splitlines() if "noregret verify" in line]
    checked = noregret(*line.partition("noregret ")[2].split())
    assert checked.code == 0
    assert "receipt verified: " in checked.out
    regret = re.search(r"certified regret, the difference: (\S+) to (\S+)", answer.out)
    text = (here / "demo" / "report.html").read_text()
    assert f"{regret[1]} … {regret[2]}" in text
    assert text.count("<svg") >= 4


def sums(path):
    """What stands in the picture, and the places of its curves."""
    tree = ElementTree.parse(path)
    texts = [one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    curves = [one.get("d") for one in tree.iter("{http://www.w3.org/2000/svg}path")]
    places = [np.array(re.findall(r"[ML] (\S+) (\S+)", curve), dtype=float) for curve in curves]
    return texts, [place for place in places if len(place) > 15]


def test_the_picture_of_the_readme_is_the_one_that_the_demo_draws(shown):
    texts, curves = sums(shown[1] / "demo" / "explains.svg")
    shown, drawn = sums(DOCS / "pictures" / "explains.svg")
    assert texts == shown
    assert len(curves) == len(drawn) >= 5
    for curve, other in zip(curves, drawn, strict=True):
        assert curve == pytest.approx(other, abs=0.5)
    assert any(text.startswith("regret: ") for text in texts)
    assert (DOCS / "pictures" / "explains.svg").stat().st_size < 50_000


def test_another_folder_is_made(noregret, here):
    folder = here / "output" / "deep"
    assert noregret("demo", "--output", folder).code == 0
    assert {one.name for one in folder.iterdir()} == set(FILES)


def test_it_says_the_same_every_time(noregret, shown, monkeypatch):
    answer, here = shown
    monkeypatch.chdir(here)
    written = snapshot(here)
    assert noregret("demo").out == answer.out
    assert snapshot(here) == written


def test_as_a_program(start, here):
    process = start("demo")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, b"")
    assert b"perceptron" in out


def test_the_demo_needs_no_matplotlib(noregret, here, monkeypatch):
    """What the report and the table say is there; only the pictures are not."""
    for place in ("noregret.picture.canvas", "noregret.reporting.page"):
        monkeypatch.setattr(import_module(place), "can_draw", lambda: False)
    answer = noregret("demo", "-o", "shown")
    assert answer.code == 0, answer.err
    assert "no pictures: they need matplotlib" in answer.out
    assert sorted(path.name for path in (here / "shown").iterdir()) == [
        "receipt.json",
        "report.html",
        "tumours.nr",
        "tumours.svm",
    ]
