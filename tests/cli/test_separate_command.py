"""`noregret separate` and `noregret verify` of its proof."""

import json

import pytest

APART = "1 1:1 2:0.5\n1 1:0.5 2:2\n-1 1:-1 2:-0.25\n-1 1:-0.1 2:-3\n"
MIXED = "1 1:0\n-1 1:1\n1 1:3\n"


@pytest.fixture
def files(here):
    (here / "apart.svm").write_text(APART)
    (here / "mixed.svm").write_text(MIXED)
    (here / "mixed.csv").write_text("x,word,label\n0,a,yes\n1,a,no\n3,b,yes\n")
    return here


def test_a_separator(noregret, files):
    answer = noregret("separate", "apart.svm")
    assert answer.code == 0 and "a hyperplane separates the two classes (through 0)" in answer.out
    rows = answer.rows()
    assert rows["rows"] == ["4"] and int(rows["mistakes of a perceptron, at most"][0]) >= 1


def test_no_separator(noregret, files):
    answer = noregret("separate", "mixed.svm", "--bias")
    assert answer.code == 0 and "no hyperplane separates the two classes (anywhere)" in answer.out
    assert "Σ λ·y·x = 0 exactly" in answer.out and "row 2" in answer.out


def test_json(noregret, files):
    found = noregret("separate", "mixed.svm", "--bias", "--json").json
    assert found["answer"] == "inseparable" and found["exact"] and found["margin"] == {"lower": 0.0, "upper": 0.0}
    assert found["mistakes_at_most"] is None and found["weighted_rows"] == 3
    found = noregret("separate", "apart.svm", "--gap", "1e-9", "--json").json
    assert found["margin"]["upper"] - found["margin"]["lower"] <= 1e-9 * found["margin"]["upper"]
    assert found["mistakes_at_most"] + 1 > found["no_separator_below"]


@pytest.mark.parametrize(
    ("stream", "more"), [("apart.svm", ()), ("mixed.svm", ("--bias",)), ("apart.svm", ("--unit-norm",))]
)
def test_a_proof_is_written_and_verified(noregret, files, stream, more):
    assert noregret("separate", stream, *more, "--proof", "p.json", "--quiet").out == ""
    answer = noregret("verify", "p.json", stream)
    assert answer.code == 0 and "receipt verified: " in answer.out
    assert noregret("verify", "p.json", stream, "--json").json["stands"]


def test_columns_are_read_again_as_they_were(noregret, files):
    done = noregret("separate", "mixed.csv", "--bias", "--ignore", "word", "--positive", "no", "--proof", "p.json")
    assert done.code == 0 and noregret("verify", "p.json", "mixed.csv").code == 0
    assert json.loads((files / "p.json").read_text())["reading"]["ignore"] == ["word"]
    assert "separates" in noregret("separate", "mixed.csv", "--categorical", "word,x", "--label", "label").out


def test_a_proof_of_other_rows_does_not_stand(noregret, files):
    noregret("separate", "apart.svm", "--proof", "p.json")
    (files / "other.svm").write_text(APART.replace("2:-3", "2:-4"))
    answer = noregret("verify", "p.json", "other.svm")
    assert answer.code == 1 and "digest of the rows" in answer.err and answer.out == ""


def test_a_forged_proof_does_not_stand(noregret, files):
    noregret("separate", "mixed.svm", "--bias", "--proof", "p.json")
    body = json.loads((files / "p.json").read_text())
    (files / "p.json").write_text(json.dumps({**body, "rows": 4}))
    answer = noregret("verify", "p.json", "mixed.svm")
    assert answer.code == 1 and "checksum" in answer.err


def test_the_standard_input(noregret, files):
    assert noregret("separate", "-", stdin=APART.encode()).code == 0


def test_errors_are_one_sentence_and_leave_nothing_behind(noregret, files):
    before = sorted(path.name for path in files.iterdir())
    for arguments, said in [
        (("separate", "apart.svm", "--gap", "0"), "--gap must be positive"),
        (("separate", "apart.svm", "--seconds", "-1"), "--seconds must be positive"),
        (("separate", "nowhere.svm"), "nowhere.svm"),
        (("separate", "apart.svm", "--proof", "apart.svm"), "would be written over the stream"),
        (("separate", "apart.svm", "--proof", "none/p.json"), "does not exist"),
        (("verify", "p.json", "apart.svm"), "cannot be read"),
    ]:
        answer = noregret(*arguments)
        assert answer.code == 2 and answer.err.count("\n") == 1 and said in answer.err, arguments
    assert sorted(path.name for path in files.iterdir()) == before


def test_the_least_hinge_loss_with_and_without_a_separator(noregret, files):
    answer = noregret("separate", "mixed.svm", "--bias", "--hinge")
    assert answer.code == 0
    assert answer.rows()["least J_soft, at θ = 0, where every row has the score 0"] == ["0"]
    found = noregret("separate", "mixed.svm", "--bias", "--hinge", "--json").json["minimisers"]
    assert found["hinge"]["lower"] <= 2.0 + 1e-3 and found["hinge"]["upper"] >= 2.0 - 1e-3  # rows 0, 1, 3: +, −, +
    assert found["rows"] == 3 and found["misclassified"] >= 1 and found["soft"]["least"] == 0.0
    apart = noregret("separate", "apart.svm", "--hinge", "--json").json["minimisers"]
    assert apart["hinge"]["lower"] == 0.0 and apart["hinge"]["upper"] < 1e-3 and apart["misclassified"] == 0
    assert "minimisers" not in noregret("separate", "apart.svm", "--json").json
    assert noregret("separate", "-", "--hinge", stdin=APART.encode()).err.count("--hinge reads the rows twice") == 1


def test_starts_and_solutions_are_drawn(noregret, files):
    pytest.importorskip("matplotlib")
    for name, kind, said in (
        ("apart.svm", "starts", "different ends (full) in the grey cone"),
        ("mixed.svm", "solutions", "least J_soft: 0, at θ = 0"),
        ("apart.svm", "solutions", "least hinge loss"),
    ):
        assert noregret("separate", name, "--plot", "p.svg", "--picture", kind, "--quiet").code == 0
        assert said in (files / "p.svg").read_text()
    wide = noregret("separate", "mixed.csv", "--keep", "word", "--bias", "--plot", "q.svg", "--picture", "starts")
    assert wide.code == 2 and "two weights" in wide.err and not (files / "q.svg").exists()
