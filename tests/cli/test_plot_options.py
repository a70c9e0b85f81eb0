"""`--plot FILE` and `--picture KIND`: what is drawn, and what is said before the work where it cannot be."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

FLAT = "plot: a boundary needs rows with two features; these have 3"
WORDS = re.compile(r"<text[^>]*>([^<]*)</text>")


@pytest.fixture
def rows(here):
    """Two clouds in the plane, as a table with names, as a file that counts from 1, and with a third feature."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal([1.4, 1.0], 0.5, size=(30, 2)), rng.normal([-1.2, -0.8], 0.5, size=(30, 2))]).round(3)
    lines = [(a, b, label) for (a, b), label in zip(X.tolist(), [1] * 30 + [-1] * 30, strict=True)]
    lines = [lines[i] for i in rng.permutation(60)]
    (here / "flat.csv").write_text("height,weight,label\n" + "".join(f"{a},{b},{c}\n" for a, b, c in lines))
    (here / "flat.svm").write_text("".join(f"{c:+d} 1:{a} 2:{b}\n" for a, b, c in lines))
    (here / "deep.csv").write_text("a,b,c,label\n" + "".join(f"{a},{b},1,{c}\n" for a, b, c in lines))
    (here / "deep.svm").write_text("".join(f"{c:+d} 1:{a} 2:{b} 3:1\n" for a, b, c in lines))
    return here


def words(path):
    return WORDS.findall(path.read_text())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("learn flat.csv --learner ogd --picture risk", "mean loss so far (hinge)"),
        ("learn flat.csv --picture mistakes --certify", "mistakes"),
        ("learn flat.csv --learner ogd --loss logistic --picture reliability", "predicted probability of +1"),
        ("learn flat.csv --picture boundary", "height"),
        ("learn flat.svm --picture boundary --bias --passes 2 --shuffle 1", "feature 1"),
        ("learn flat.csv --picture updates --bias", "start"),
        ("learn flat.csv --learner kernel --picture boundary", "weight"),
        ("learn flat.csv --learner ogd --certify --picture regret", "rounds so far"),
        ("learn flat.csv --learner perceptron --certify --picture bounds", "novikoff"),
        ("compare flat.csv --learner perceptron --learner ogd --picture error", "mistakes so far / rounds so far"),
        ("separate flat.svm --bias", "ringed: the rows that limit the margin"),
        ("separate deep.csv --picture steps", "step k"),
        ("separate deep.svm --picture step-sizes", "rows misclassified, |M_k|"),
        ("separate flat.csv --bias --picture updates", "start"),
        ("game thresholds:7", "h7"),
        ("game thresholds:7 --learner halving --picture mistakes", "mistakes so far 3"),
    ],
)
def test_what_is_drawn(noregret, rows, command, said):
    answer = noregret(*command.split(), "--plot", "picture.svg", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert said in words(rows / "picture.svg"), words(rows / "picture.svg")


def test_certify_draws_what_its_receipt_holds(noregret, rows):
    assert noregret("learn", "flat.csv", "--learner", "ogd", "--save", "m.nr", "--quiet").code == 0
    for kind, said in (
        ("radius", "radius U of the comparator's ball"),
        ("bounds", "ogd-linearised"),
        ("mistakes", "round"),
    ):
        more = ("--radii", "1,2,4") if kind == "radius" else ()
        answer = noregret("certify", "m.nr", "flat.csv", *more, "--plot", "p.svg", "--picture", kind, "--quiet")
        assert answer.code == 0, answer.err
        assert said in words(rows / "p.svg")


@pytest.mark.parametrize("command", ["learn flat.csv --bias", "separate flat.csv --bias"])
def test_a_name_that_ends_in_gif_asks_for_the_film(noregret, rows, command):
    from PIL import Image

    assert noregret(*command.split(), "--plot", "film.gif", "--quiet").code == 0
    with Image.open(rows / "film.gif") as film:
        assert film.format == "GIF" and film.n_frames >= 2


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            "learn deep.csv --plot p.svg --picture boundary",
            FLAT,
        ),
        (
            "learn deep.svm --plot p.svg --picture boundary",
            FLAT,
        ),
        (
            "learn deep.svm --plot p.gif --save m.nr",
            FLAT,
        ),
        ("separate deep.svm --plot p.svg", FLAT),
        ("separate deep.csv --plot p.svg", FLAT),
        ("separate - --plot p.svg", "--plot reads the rows twice: use a file, not standard input"),
        (
            "learn flat.csv --plot p.gif --picture error",
            "--picture error cannot be animated: only updates can be written to p.gif",
        ),
        ("learn flat.csv --plot p.svg --picture sunset", "--picture must be one of error, risk, mistakes, reliability"),
        ("learn flat.csv --picture error", "--picture needs --plot"),
        ("learn flat.csv --plot p.svg --picture regret", "--picture regret goes with --certify or --receipt"),
        (
            "learn flat.csv --learner perceptron --certify --plot p.svg --picture regret",
            "--picture regret: perceptron has no regret without",
        ),
        (
            "learn flat.csv --learner multiclass --plot p.svg --picture boundary",
            "plot: a boundary needs exactly two classes",
        ),
        ("learn flat.csv --learner ogd --loss squared --plot p.svg --picture error", "--picture must be one of risk"),
        ("compare flat.csv --learner ogd --plot p.svg --picture boundary", "--picture must be one of overview, error"),
        ("game thresholds:3 --plot p.txt", "plot: the file must end in .png, .svg, .pdf, got 'p.txt'"),
        ("dim thresholds:3 --plot p.gif", "plot: the file must end in .png, .svg, .pdf, got 'p.gif'"),
    ],
)
def test_a_sentence_before_the_work_and_nothing_written(noregret, rows, command, sentence):
    before = sorted(rows.iterdir())
    answer = noregret(*command.split())
    assert answer.code == 2 and answer.out == ""
    assert answer.err.startswith(f"noregret: {sentence}"), answer.err
    assert sorted(rows.iterdir()) == before


def test_certify_says_before_it_solves_that_there_is_nothing_to_draw(noregret, rows):
    assert noregret("learn", "flat.csv", "--learner", "perceptron", "--save", "m.nr", "--quiet").code == 0
    for more, sentence in (
        ((), "noregret: --picture regret: perceptron has no regret without a radius"),
        (("--picture", "radius"), "noregret: --picture radius needs --radii"),
    ):
        answer = noregret("certify", "m.nr", "flat.csv", "--plot", "p.svg", *more, "--receipt", "r.json")
        assert answer.code == 2 and answer.err.startswith(sentence), answer.err
        assert not (rows / "r.json").exists()


def test_a_resumed_model_has_no_rounds_to_be_drawn_among(noregret, rows):
    noregret("learn", "flat.csv", "--save", "m.nr", "--quiet")
    answer = noregret("learn", "flat.csv", "--resume", "m.nr", "--plot", "p.gif")
    assert answer.code == 2 and "--picture updates needs every round, and a resumed model holds none" in answer.err
