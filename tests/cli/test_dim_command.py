"""`noregret dim`."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from command import snapshot


def test_the_table(noregret):
    answer = noregret("dim", "intervals:12")
    assert answer.code == 0
    rows = answer.rows()
    assert rows["hypotheses"] == ["79"] and rows["points"] == ["12"]
    assert rows["VC dimension"] == ["2"] and rows["Littlestone dimension"] == ["5"]
    assert rows["log2 of the hypotheses"] == ["6.304"]


def test_json(noregret):
    answer = noregret("dim", "thresholds:15", "--json").json
    assert answer.pop("seconds") >= 0.0
    assert answer == {
        "hypotheses": 16,
        "points": 15,
        "vc": 1,
        "vc_bounds": {"lower": 1, "upper": 1},
        "littlestone": {"lower": 4, "upper": 4},
        "log2_size": 4.0,
    }


def test_json_with_witnesses(noregret):
    answer = noregret("dim", "thresholds:3", "--json", "--witness").json
    assert answer["shattered"] == [1] and answer["tree"] == [1, 0, 2]


def test_a_file_with_names_and_repeated_rows(noregret, here):
    (here / "rules.csv").write_text("name,rain,sun\nnever,0,0\nalways,1,1\nboth,true,true\n")
    answer = noregret("dim", "rules.csv", "--witness", "--tree")
    assert answer.rows()["duplicate rows"] == ["1"]
    assert "shattered points: rain" in answer.out
    assert "point rain\n├─ 0: never\n└─ 1: always\n" in answer.out


def test_the_tree_is_drawn_and_cut_where_it_gets_too_deep(noregret):
    drawn = noregret("dim", "thresholds:3", "--tree").out
    assert drawn.endswith("point 1\n├─ 0: point 0\n│  ├─ 0: h0\n│  └─ 1: h1\n└─ 1: point 2\n   ├─ 0: h2\n   └─ 1: h3\n")
    deep = noregret("dim", "cube:7", "--tree").out
    assert deep.endswith("(2 more levels)\n") and deep.count("…") == 32
    assert noregret("dim", "singletons:1", "--tree", "--witness").out.endswith("\nno node\n\nh0\n")
    assert "the class is empty, so it has no tree" in noregret("dim", "subsets:3,2", "--tree").out


def test_the_picture(noregret, here):
    def words(name):
        return [text.text for text in ET.parse(here / name).getroot().iter("{http://www.w3.org/2000/svg}text")]

    assert noregret("dim", "thresholds:7", "--plot", "tree.svg", "--quiet").out == ""
    assert words("tree.svg").count("h3") == 1
    noregret("dim", "cube:9", "--plot", "deep.svg")
    assert words("deep.svg").count("…") == 64 and any("3 more levels" in word for word in words("deep.svg"))
    (here / "odd.csv").write_text("<a>&\n0\n1\n")
    noregret("dim", "odd.csv", "--plot", "odd.svg")
    assert "<a>&" in words("odd.svg")


def test_when_the_time_is_over_it_says_so(noregret, here):
    np.save(here / "random.npy", np.random.default_rng(0).integers(0, 2, (4096, 24)))
    answer = noregret("dim", "random.npy", "--seconds", "0.5")
    assert "stopped by --seconds: these intervals are proved so far" in answer.out
    assert " to " in answer.rows()["VC dimension"][0]
    found = noregret("dim", "random.npy", "--seconds", "0.5", "--json").json
    assert found["vc"] is None and found["littlestone"]["upper"] - found["littlestone"]["lower"] <= 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.csv"], "noregret: nothing.csv: there is no such file or family; the families are singletons:n"),
        (["cube:x"], "noregret: cube: expected cube:n with whole numbers, got cube:x"),
        (["cube:60"], "too many; rows times columns may be 268,435,456 at most"),
        (["bad.csv"], "noregret: bad.csv:2: column 2: expected 0, 1, false or true, got '7'"),
        (["cube:2", "--seconds", "0"], "noregret: --seconds must be positive, got 0.0"),
        (["cube:2", "--plot", "tree.gif"], "noregret: plot: the file must end in .png, .svg, .pdf, got 'tree.gif'"),
        ([], "noregret: dim: missing argument 'SOURCE' (see noregret dim --help)"),
    ],
)
def test_what_is_wrong_gets_one_line_and_changes_no_file(noregret, here, arguments, sentence):
    (here / "bad.csv").write_text("0,1\n1,7\n")
    before = snapshot(here)
    answer = noregret("dim", *arguments)
    assert answer.code == 2 and sentence in answer.err and answer.err.count("\n") == 1
    assert snapshot(here) == before
