"""`--missing mean` from the file to the verified receipt: resumed, skipped, cached, predicted with the same means."""

import numpy as np
import pytest
from command import learned, lines_of

from noregret import model
from noregret.proof.receipt import Receipt

RNG = np.random.default_rng(5)
X = np.round(RNG.normal(size=(80, 3)), 3)
Y = np.where(X @ [1.0, -2.0, 0.5] > 0, 1, -1)
HOLES = np.where(RNG.random(X.shape) < 0.25, np.nan, X)
MEAN = ("--missing", "mean", "--bias")


def table(rows, labels):
    cells = [["" if np.isnan(x) else repr(x) for x in row] for row in rows.tolist()]
    towns = ["Rome" if label > 0 else "Oslo" for label in labels]
    lines = [",".join([*row, town, str(y)]) for row, town, y in zip(cells, towns, labels, strict=True)]
    return "\n".join(["a,b,c,town,label", *lines]) + "\n"


@pytest.fixture
def holes(here):
    (here / "holes.csv").write_text(table(HOLES, Y))
    (here / "first.csv").write_text(table(HOLES[:30], Y[:30]))
    (here / "second.csv").write_text(table(HOLES[30:], Y[30:]))
    return here


def test_two_files_with_a_stop_between_are_one_bit_for_bit(noregret, holes):
    assert noregret("learn", "holes.csv", *MEAN, "--save", "whole.nr", "--quiet").code == 0
    noregret("learn", "first.csv", *MEAN, "--save", "parts.nr", "--quiet")
    assert noregret("learn", "second.csv", "--resume", "parts.nr", "--save", "parts.nr", "--quiet").code == 0
    noregret("learn", "first.csv", *MEAN, "--save", "skips.nr", "--quiet")
    assert noregret("learn", "holes.csv", "--resume", "skips.nr", "--skip", "seen", "--save", "skips.nr").code == 0
    noregret("learn", "holes.csv", *MEAN, "--cache", "--save", "cached.nr", "--quiet")
    noregret("learn", "holes.csv", *MEAN, "--cache", "--save", "cached.nr", "--quiet")
    for other in ("parts.nr", "skips.nr", "cached.nr"):
        assert learned(other) == learned("whole.nr")
        ours, theirs = (model.load(name)[0].preparation.means.arrays() for name in (other, "whole.nr"))
        assert all(np.array_equal(np.trim_zeros(ours[key], "b"), np.trim_zeros(theirs[key], "b")) for key in ours)


def test_the_receipt_stands(noregret, holes):
    common = ("learn", "holes.csv", *MEAN, "--learner", "ogd", "--receipt", "r.json", "--save", "m.nr", "--json")
    assert noregret(*common).code == 0
    assert Receipt.load("r.json").reading["missing"] == "mean"
    assert noregret("verify", "r.json", "holes.csv", "--quiet").code == 0
    assert noregret("certify", "m.nr", "holes.csv", "--quiet").code == 0
    (holes / "other.csv").write_text(table(np.nan_to_num(HOLES), Y))
    assert noregret("verify", "r.json", "other.csv", "--quiet").code == 1


def test_predict_fills_in_the_means_of_the_rows_learned_from(noregret, holes):
    noregret("learn", "holes.csv", *MEAN, "--save", "m.nr", "--quiet")
    assert noregret("predict", "m.nr", "holes.csv", "-o", "holes.out").code == 0
    (holes / "full.csv").write_text(table(np.where(np.isnan(HOLES), np.nanmean(HOLES, axis=0), HOLES), Y))
    assert noregret("predict", "m.nr", "full.csv", "-o", "full.out").code == 0
    found, expected = ([float(line["score"]) for line in lines_of(name)] for name in ("holes.out", "full.out"))
    assert found == pytest.approx(expected, rel=1e-9)


def test_it_cannot_be_selected_from(noregret, holes):
    answer = noregret("learn", "holes.csv", *MEAN, "--select", "last", "--save", "m.nr", "--predictions", "p.csv")
    assert answer.code == 2 and "select: with missing mean" in answer.err
    assert not (holes / "m.nr").exists() and not (holes / "p.csv").exists()
