"""A resumed model is not taught the same rows twice unless `--again` says so."""

import json

import pytest
from command import learned, snapshot, svmlight

import noregret as nr
from noregret import model


@pytest.fixture
def cut(here, examples):
    """all.svm, its first 150 rows in head.svm, the rest in tail.svm."""
    X, y = examples
    (here / "all.svm").write_text(svmlight(X, y))
    (here / "head.svm").write_text(svmlight(X[:150], y[:150]))
    (here / "tail.svm").write_text(svmlight(X[150:], y[150:]))
    return here


def refused(noregret, folder, *args):
    """The sentence of a refusal that leaves every file as it was."""
    before = snapshot(folder)
    answer = noregret("learn", *args, "--resume", "m.nr", "--save", "m.nr", "--predictions", "p.csv")
    assert (answer.code, answer.out) == (2, "")
    assert snapshot(folder) == before
    return answer.err


def test_the_same_file_once_more_is_refused_and_nothing_is_written(noregret, cut):
    noregret("learn", "all.svm", "--save", "m.nr", "--quiet")
    assert refused(noregret, cut, "all.svm") == (
        "noregret: all.svm: the model has already learned from the first 400 rows: use --again to learn from them"
        " once more, or --skip seen to continue after them\n"
    )


def test_again_learns_from_them_once_more(noregret, cut, examples):
    noregret("learn", "all.svm", "--save", "m.nr", "--quiet")
    answer = noregret("learn", "all.svm", "--resume", "m.nr", "--again", "--save", "m.nr", "--json")
    assert (answer.code, json.loads(answer.out)["rounds"]) == (0, 800)
    noregret("learn", "all.svm", "--passes", "2", "--save", "twice.nr", "--quiet")
    assert learned("m.nr") == learned("twice.nr")


def test_a_file_whose_beginning_was_seen_is_refused_as_well(noregret, cut):
    noregret("learn", "head.svm", "--save", "m.nr", "--quiet")
    assert "the model has already learned from the first 150 rows" in refused(noregret, cut, "all.svm")
    assert noregret("learn", "all.svm", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr", "--quiet").code == 0
    noregret("learn", "all.svm", "--save", "whole.nr", "--quiet")
    assert learned("m.nr") == learned("whole.nr")
    assert "the first 150 rows" in refused(noregret, cut, "head.svm")
    rest = refused(noregret, cut, "tail.svm")  # which was learned from behind the rows that were skipped
    assert "the first 250 rows" in rest and "--skip seen" not in rest


def test_an_earlier_file_is_known_too_and_skipping_is_not_advised(noregret, cut):
    noregret("learn", "head.svm", "--save", "m.nr", "--quiet")
    noregret("learn", "tail.svm", "--resume", "m.nr", "--save", "m.nr", "--quiet")
    sentence = refused(noregret, cut, "head.svm")
    assert "--again" in sentence and "--skip seen" not in sentence


@pytest.mark.parametrize("before", [["--passes", "3"], ["--shuffle", "4"], ["--passes", "2", "--shuffle", "1"], []])
@pytest.mark.parametrize("now", [["--passes", "2"], ["--shuffle", "0"], ["--passes", "4", "--shuffle", "1"], []])
def test_rows_are_known_in_other_passes_and_in_another_order(noregret, cut, before, now):
    noregret("learn", "head.svm", *before, "--save", "m.nr", "--quiet")
    assert "the model has already learned from" in refused(noregret, cut, "head.svm", *now)
    assert noregret("learn", "tail.svm", *now, "--resume", "m.nr", "--quiet").code == 0


def test_standard_input_is_looked_at_in_its_one_pass(noregret, cut):
    noregret("learn", "head.svm", "--save", "m.nr", "--quiet")
    answer = noregret("learn", "-", "--resume", "m.nr", "--json", stdin=(cut / "all.svm").read_bytes())
    assert answer.code == 2 and "the model has already learned from the first 150 rows" in answer.err
    assert noregret("learn", "-", "--resume", "m.nr", "--quiet", stdin=(cut / "tail.svm").read_bytes()).code == 0


@pytest.mark.parametrize("missing", ["mean", "zero"])
def test_rows_with_missing_values_are_known_whatever_they_are_filled_with(noregret, here, missing):
    (here / "holes.csv").write_text("a,b,label\n1,2,1\n,4,-1\n3,,1\n,,-1\n")
    noregret("learn", "holes.csv", "--missing", missing, "--save", "m.nr", "--quiet")
    assert "the first 4 rows" in refused(noregret, here, "holes.csv")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--again",), "--again goes with --resume"),
        (("--resume", "m.nr", "--again", "--skip", "seen"), "--skip seen passes over them: give one"),
    ],
)
def test_again_by_itself_or_beside_skip_is_a_sentence(noregret, cut, options, sentence):
    noregret("learn", "all.svm", "--save", "m.nr", "--quiet")
    answer = noregret("learn", "all.svm", *options)
    assert answer.code == 2 and sentence in answer.err


def test_a_model_without_digests_learns_what_it_is_given(noregret, cut, examples):
    nr.Perceptron(passes=1, shuffle=None).fit(*examples).save("m.nr")
    core, _ = model.load("m.nr")
    assert not core.segments
    learner = nr.load("m.nr")
    assert nr.play(learner, examples, again=False).rounds == 800


def test_in_python_rows_are_played_again_unless_they_must_not_be(examples):
    learner = nr.Perceptron()
    nr.play(learner, examples, digest=True)
    assert nr.play(learner, examples, digest=True).rounds == 800
    with pytest.raises(nr.InputError, match="the model has already learned from the first 400 rows"):
        nr.play(learner, examples, again=False)
    for size in (1, 7, 399, 400):  # wherever a block ends
        other = nr.Perceptron()
        nr.play(other, (examples[0][:150], examples[1][:150]), digest=True)
        with pytest.raises(nr.InputError, match="the first 150 rows"):
            nr.play(other, nr.read(examples, block_rows=size), again=False)


def test_other_rows_of_the_same_number_are_not_refused(examples):
    X, y = examples
    learner = nr.Perceptron()
    nr.play(learner, (X, y), digest=True)
    assert nr.play(learner, (X + 0.5, y), again=False).rounds == 800
