"""`noregret demo`: a table and a picture from real data."""

import numpy as np
from command import snapshot
from matplotlib.image import imread
from sklearn.datasets import load_breast_cancer


def test_the_table_and_the_picture(noregret, here):
    answer = noregret("demo")
    assert (answer.code, answer.err) == (0, "")
    table = answer.rows()
    y = load_breast_cancer().target
    assert table["always the commoner label"] == ["212", "37.26 %"] == [str((y == 0).sum()), "37.26 %"]
    assert int(table["perceptron"][0]) < 212
    assert int(table["gradient descent"][0]) < 212
    assert float(table["gradient descent"][2]) > 0
    assert "demo/errors.png" in answer.out
    assert set(snapshot(here)) == {"demo", "demo/errors.png"}
    data = (here / "demo" / "errors.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    picture = imread(here / "demo" / "errors.png")
    assert picture.shape[:2] == (675, 1200)
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 20, "something is drawn"


def test_another_folder_is_made(noregret, here):
    for option in ("-o", "--output"):
        folder = here / option.strip("-") / "deep"
        assert noregret("demo", option, folder).code == 0
        assert (folder / "errors.png").is_file()


def test_it_says_the_same_every_time(noregret, here):
    first = noregret("demo").out
    picture = (here / "demo" / "errors.png").read_bytes()
    assert noregret("demo").out == first
    assert (here / "demo" / "errors.png").read_bytes() == picture


def test_as_a_program(start, here):
    process = start("demo")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"perceptron" in out
