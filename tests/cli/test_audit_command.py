"""`noregret audit` prints the intervals of the library, and says in one line what is wrong with a log."""

from pathlib import Path

import numpy as np
import pandas
import pytest
from command import snapshot

from noregret.task.audit import audit


@pytest.fixture
def log(here, examples):
    """log.csv: three features, string labels, a score, a prediction, a probability and a month."""
    X, y = examples
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame["bought"] = np.where(y > 0, "yes", "no")
    frame["score"] = (X[:, 0] - X[:, 1]).round(3)
    frame["said"] = np.where(frame["score"] > 0, "yes", "no")
    frame["p"] = 1.0 / (1.0 + np.exp(-frame["score"]))
    frame["month"] = np.where(np.arange(len(y)) % 3, "May", "June")
    frame.to_csv("log.csv", index=False)
    return "log.csv"


LABEL = ("--label", "bought")
ONE = "needs exactly one of --score, --probability and --prediction"
SCORE = (*LABEL, "--score", "score", "--radius", 2, "--ignore", "said,p,month")


def test_json_is_what_the_library_finds(noregret, log):
    answer = noregret("audit", log, *LABEL, "--score", "score", "--ignore", "said,p", "--segment-by", "month", "--json")
    found = audit(log, label="bought", score="score", ignore=["said", "p"], segment_by="month")
    assert answer.code == 0
    assert answer.json == found.to_dict()
    assert [part["segment"] for part in answer.json["segments"]] == ["June", "May"]


def test_the_table_has_a_row_for_all_and_one_a_segment(noregret, log):
    answer = noregret("audit", log, *SCORE, "--segments", 2, "--loss", "logistic")
    assert answer.code == 0
    assert answer.err == ""
    first, *_, last = answer.out.splitlines()
    assert first == "log.csv: logistic loss, compared with the best fixed weights ‖u‖ ≤ 2 on 3 features"
    assert last == "each best loss is known to a relative precision of 0.0001 (absolute below 1)"
    rows = answer.rows()
    assert rows["all"][0] == "400"
    assert rows["rounds 1 to 200"][0] == rows["rounds 201 to 400"][0] == "200"
    assert sum(int(rows[name][1]) for name in ("rounds 1 to 200", "rounds 201 to 400")) == int(rows["all"][1])
    assert "drift, what one fixed model loses compared with one per segment: [" in answer.out


def test_printed_ends_hold_the_interval(noregret, log):
    printed = noregret("audit", log, *SCORE).rows()["all"][4]
    regret = audit(log, label="bought", score="score", ignore=["said", "p", "month"], radius=2.0).overall.regret
    low, high = map(float, printed.strip("[]").split(", "))
    assert low <= regret.lo < regret.hi <= high
    assert high - low <= regret.hi - regret.lo + 2e-4


def test_hard_predictions_and_bias(noregret, log):
    said = ("--prediction", "said", "--ignore", "score,p,month", "--bias", "--positive", "no")
    answer = noregret("audit", log, *LABEL, *said, "--json")
    assert answer.json["bias"] is True
    assert answer.json["loss"]["total"] == 2.0 * answer.json["mistakes"]


def test_every_way_of_reading_is_passed_on(noregret, log):
    reading = ("--categorical", "month", "--text", "said", "--ignore", "p", "--hash-bits", 5, "--missing", "zero")
    answer = noregret("audit", log, *LABEL, "--score", "score", *reading, "--json")
    assert answer.json["features"] == 3 + 2**5


def test_a_time_limit_is_admitted(noregret, log):
    answer = noregret("audit", log, *SCORE, "--seconds", 1e-9, "--gap", 1e-12)
    assert answer.code == 0
    assert "time ran out before every best loss was known to 1e-12" in answer.out


def test_probabilities_are_remarked_upon(noregret, log):
    answer = noregret(
        "audit", log, *LABEL, "--score", "p", "--ignore", "said,score,month", "--loss", "logistic", "--json"
    )
    assert answer.code == 0
    assert answer.json["rounds"] == 400
    assert answer.err.count("\n") == 1
    assert "every score lies in [0, 1]: if these are probabilities, use --probability instead of --score" in answer.err


def test_quiet_prints_nothing(noregret, log):
    answer = noregret("audit", log, *SCORE, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_probabilities_of_0_and_1_are_said_to_lose_infinitely_much(noregret, here):
    Path("sure.csv").write_text("x,label,p\n1,1,1\n-1,1,0\n2,0,0.25\n")
    answer = noregret("audit", "sure.csv", "--probability", "p", "--plot", "sure.svg")
    assert answer.code == 0
    assert answer.out.startswith("sure.csv: logistic loss, compared with")
    assert answer.rows()["all"][2] == answer.rows()["all"][4] == "∞"
    lost = "1 round gave the actual outcome probability 0; the loss of the other 2 rounds is 0.287682"
    assert f"the loss is infinite: {lost}" in answer.out
    assert noregret("audit", "sure.csv", "--probability", "p", "--json").json["loss"]["infinite"] == 1
    assert "infinite" in Path("sure.svg").read_text()


def test_what_was_logged_beside_is_left_out_with_a_line(noregret, log):
    answer = noregret("audit", log, *LABEL, "--probability", "p", "--ignore", "month")
    line = "not used as features because they look like logged predictions: score, said (override: --keep COLUMNS)"
    assert line in answer.out
    kept = noregret("audit", log, *LABEL, "--probability", "p", "--ignore", "month", "--keep", "score", "--json").json
    assert (kept["left_out"], kept["features"]) == (["said"], 4)


def test_a_regret_below_0_is_explained(noregret, here):
    Path("good.csv").write_text("x,label,s\n" + "1,1,9\n1,-1,-9\n" * 10)
    answer = noregret("audit", "good.csv", "--score", "s")
    assert "regret below 0 (all): the predictions did better than every fixed linear model" in answer.out
    assert "below 0" not in noregret("audit", "good.csv", "--score", "x", "--ignore", "s", "--bias").out


def test_blank_predictions_are_counted_in_a_line(noregret, here):
    Path("ties.csv").write_text("x,label,said\n1,yes,\n1,no,no\n2,yes,yes\n")
    answer = noregret("audit", "ties.csv", "--prediction", "said")
    assert "1 prediction is blank: a blank counts as score 0, which is a mistake" in answer.out
    assert answer.rows()["all"][1] == "1"


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
@pytest.mark.parametrize("segments", [(), ("--segments", 3), ("--segments", 60)])
def test_a_picture_is_drawn(noregret, log, ending, magic, segments):
    picture = f"audit.{ending}"
    assert noregret("audit", log, *SCORE, *segments, "--quiet", "--plot", picture).code == 0
    drawn = Path(picture).read_bytes()
    assert drawn.startswith(magic)
    assert len(drawn) > 5000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), f"audit: {ONE}: the column with the logged predictions"),
        (
            ("--score", "score", "--prediction", "said"),
            f"audit: {ONE}",
        ),
        (("--score", "nothing"), "log.csv: there is no column 'nothing': the columns are a, b, c, bought, score, said"),
        (("--score", "score", "--segment-by", "day"), "there is no column 'day': the columns are a, b, c, bought"),
        (("--score", "said"), "log.csv:2: the score, column 'said', must be a number, got '"),
        (("--prediction", "score"), "column 'score' holds more than two predictions"),
        (("--prediction", "month"), "the prediction 'June' is not one of the labels 'no' and 'yes'"),
        (("--score", "score", "--loss", "squared"), "regression needs numbers as labels"),
        (("--score", "score", "--loss", "squared", "--positive", "yes"), "positive is for two classes"),
        (("--score", "score", "--radius", "inf"), "radius must be positive and finite, got inf"),
        (("--score", "score", "--segments", 500), "holds 400 rounds, too few for 500 segments"),
        (
            ("--score", "score", "--segments", 2, "--segment-by", "month"),
            "--segments and --segment-by cannot",
        ),
        (("--score", "score", "--gap", 0), "gap must be positive and finite, got 0"),
        (("--score", "score", "--plot", "audit.gif"), "plot: the file must end in .png, .svg, .pdf"),
        (("--score", "score", "--plot", "log.csv"), "log.csv: would be written over the stream"),
        (("--score", "score", "--categorical", "score"), "the column 'score' is the score: it cannot be a feature too"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(noregret, log, here, arguments, sentence):
    before = snapshot(here)
    plot = () if "--plot" in arguments else ("--plot", "audit.png")
    answer = noregret("audit", log, *LABEL, *arguments, *plot)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("noregret: ")
    assert answer.err.count("\n") == 1
    assert sentence in answer.err
    assert snapshot(here) == before


def test_standard_input_is_refused_in_words(noregret):
    answer = noregret("audit", "-", "--score", "score", stdin=b"x,label,score\n1,1,1\n")
    assert answer.code == 2
    assert answer.err == "noregret: standard input: a log is read more than once: use a file or a table\n"


def test_a_missing_file(noregret, here):
    answer = noregret("audit", "none.csv", "--score", "score")
    assert (answer.code, answer.err) == (2, "noregret: none.csv: there is no such file\n")
