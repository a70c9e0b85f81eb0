"""`noregret mean`."""

import math

import numpy as np
import pytest

import noregret as nr


@pytest.fixture
def sizes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(40, 2)).round(3)
    lines = [f"{a},row {t},{b}" for t, (a, b) in enumerate(rows)]
    (tmp_path / "sizes.csv").write_text("\n".join(["height,name,width", *lines]) + "\n")
    return rows


def test_the_figures_are_those_of_the_library(noregret, sizes):
    for options, radius in (((), math.inf), (("--radius", "0.1"), 0.1)):
        answer = noregret("mean", "sizes.csv", "--ignore", "name", "--sigma", "2", *options, "--json").json
        run = nr.mean_estimation(sizes, sigma=2.0, radius=radius)
        assert answer["columns"] == ["height", "width"] and answer["rounds"] == 40
        assert answer["mean"] == run.mean.tolist()
        assert answer["regret"] == {"lower": run.regret.lo, "upper": run.regret.hi}
        assert answer["radius"] == (None if math.isinf(radius) else radius)
        assert [one["theorem"] for one in answer["certificates"]] == ["mean-gradients", "mean-harmonic"]
        assert all(one["observed"] <= one["bound"] for one in answer["certificates"])


def test_the_table_and_the_picture(noregret, sizes, tmp_path):
    pytest.importorskip("matplotlib")
    answer = noregret("mean", "sizes.csv", "--ignore", "name", "--plot", "m.svg")
    assert answer.code == 0
    found = answer.rows()
    assert found["rows T"] == ["40"] and found["columns"] == ["2"]
    assert float(found["mean of width"][0]) == pytest.approx(sizes[:, 1].mean(), rel=1e-4)
    assert found["mean-gradients"][-1] == "holds"
    assert "(G²/2σ)·H_t" in (tmp_path / "m.svg").read_text()
    assert noregret("mean", "sizes.csv", "--ignore", "name", "--quiet").out == ""


def test_rows_from_standard_input(noregret):
    answer = noregret("mean", "-", "--json", stdin=b"a,b\n1,2\n3,5\n")
    assert answer.json["mean"] == [2.0, 3.5]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("sizes.csv", "sizes.csv:2: column 'name' must hold numbers, got 'row 0'"),
        ("sizes.csv --ignore name,none", "there is no column 'none' for --ignore"),
        ("sizes.csv --ignore name,height,width", "mean estimation: there are no columns"),
        ("sizes.csv --ignore name --sigma 0", "mean estimation: sigma must lie between 1e-100 and 1e+100, got 0.0"),
        ("sizes.csv --ignore name --radius -1", "mean estimation: radius must lie between 1e-100 and inf, got -1.0"),
        ("sizes.csv --missing mean", "mean estimation: --missing must be one of error, zero, skip, got 'mean'"),
        ("empty.csv", "empty.csv: holds no rows"),
        ("none.csv", "none.csv: there is no such file"),
        ("holes.csv", "holes.csv:2: feature 'b' is missing (NaN): use --missing"),
        ("s.svm", "s.svm: mean estimation needs a table of numbers"),
        ("sizes.csv --ignore name --plot sizes.csv", "would be written over the rows"),
        ("sizes.csv --ignore name --plot p.txt", "the file must end in .png, .svg, .pdf"),
    ],
)
def test_what_is_refused(noregret, sizes, tmp_path, words, sentence):
    (tmp_path / "empty.csv").write_text("a,b\n")
    (tmp_path / "holes.csv").write_text("a,b\n1,\n")
    (tmp_path / "s.svm").write_text("1 1:3\n")
    before = sorted(tmp_path.iterdir())
    answer = noregret("mean", *words.split())
    assert answer.code == 2 and sentence in answer.err and len(answer.err.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before
