"""`noregret learn`: the options are the library's settings, the figures are the run's, and stopping loses nothing."""

import fcntl
import gzip
import math
import signal
import struct
import termios
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from command import learned, lines_of, numbers, snapshot, svmlight

import noregret as nr
from noregret import learner as learners
from noregret import model

MAX_SECONDS = 60


def mistakes_of_a_perceptron(X, y):
    """The definition: a score of 0 or of the wrong sign is a mistake, and then w ← w + y·x."""
    w, mistakes = np.zeros(X.shape[1]), 0
    for x, label in zip(X, y, strict=True):
        if label * (w @ x) <= 0:
            mistakes, w = mistakes + 1, w + label * x
    return mistakes, w


# -- what is printed ---------------------------------------------------------------------------------------------


def test_the_table_says_what_the_definition_counts(noregret, rows, examples):
    X, y = examples
    mistakes, w = mistakes_of_a_perceptron(X, y)
    answer = noregret("learn", rows, "--learner", "perceptron")
    table = answer.rows()
    assert (answer.code, answer.err) == (0, "")
    assert table["rounds"] == ["400"]
    assert table["features"] == ["3"]
    assert table["mistakes"] == [str(mistakes), f"{mistakes / 4:.2f} %"]
    assert table["loss (zero-one)"][0] == str(mistakes)
    assert float(table["weights ‖w‖"][0]) == pytest.approx(np.linalg.norm(w), rel=1e-5)
    assert float(table["longest row ‖x‖"][0]) == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-5)
    assert table["baseline: most frequent label"][0] == str(min((y > 0).sum(), (y < 0).sum()))
    assert table["baseline: previous label"][0] == str(1 + (y[1:] != y[:-1]).sum())


def test_json_has_the_keys_of_the_contract(noregret, rows, examples):
    X, _ = examples
    answer = noregret("learn", rows, "--learner", "ogd", "--loss", "logistic", "--radius", 3, "--json")
    found = answer.json
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("\n") == 1
    assert found["rounds"] == 400
    assert found["features"] == 3
    assert 0 < found["mistakes"] < 200
    assert found["loss"] == {"name": "logistic", "total": found["loss"]["total"], "mean": found["loss"]["total"] / 400}
    assert found["max_norm"] == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-12)
    assert 0 < found["weight_norm"] <= 3 * (1 + 1e-12)
    assert found["learner"]["name"] == "ogd"
    assert found["learner"]["radius"] == 3.0
    assert found["regret"]["upper"] > 0
    assert found["certificates"] == []
    assert found["seconds"] > 0
    assert found["this_run"]["rounds"] == 400
    assert found["stopped"] is False
    assert set(found["baselines"]) == {"majority_label", "last_label"}
    assert set(found["metrics"]) == {"error", "window_error", "auc", "confusion", "log_loss"}
    assert sum(found["metrics"]["confusion"].values()) == 400


def test_the_regret_bound_holds_against_every_weight_tried(noregret, rows, examples):
    X, y = examples
    found = noregret("learn", rows, "--learner", "ogd", "--radius", 2, "--json").json
    rng = np.random.default_rng(0)
    for u in rng.normal(size=(200, 3)):
        u *= 2 / np.linalg.norm(u)
        comparator = np.maximum(0, 1 - y * (X @ u)).sum()
        assert found["loss"]["total"] - comparator <= found["regret"]["upper"] + 1e-9


def test_a_perceptron_claims_no_regret(noregret, rows):
    assert noregret("learn", rows, "--learner", "perceptron", "--json").json["regret"] is None
    assert "regret" not in noregret("learn", rows, "--learner", "perceptron").out


def test_regression_prints_its_own_figures(noregret, here):
    (here / "numbers.csv").write_text("label,a\n2,1\n4,2\n6,3\n")
    answer = noregret("learn", "numbers.csv", "--learner", "ogd", "--loss", "absolute")
    table = answer.rows()
    assert answer.code == 0
    assert "mistakes" not in table
    assert {"mean absolute error", "root mean squared error", "baseline: mean of the labels so far"} <= set(table)
    found = noregret("learn", "numbers.csv", "--learner", "ogd", "--loss", "absolute", "--json").json
    assert found["mistakes"] is None
    assert found["metrics"]["mae"] == pytest.approx(found["loss"]["mean"], rel=1e-12)
    assert found["baselines"]["last_label"] == 2 + 2 + 2
    assert found["baselines"]["mean_label"] == 2 + 2 + 3


def test_quiet_prints_nothing(noregret, rows):
    assert noregret("learn", rows, "--quiet").out == ""


def test_no_progress_bar_in_a_pipe(start, rows):
    process = start("learn", rows, "--learner", "perceptron")
    out, err = process.communicate(timeout=MAX_SECONDS)
    assert (process.returncode, err) == (0, b"")
    assert out.startswith(b"perceptron: ")


def test_the_plot_is_a_picture(noregret, rows, here):
    for kind, magic in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        assert noregret("learn", rows, "--plot", f"errors{kind}", "--quiet").code == 0
        assert (here / f"errors{kind}").read_bytes().startswith(magic)


# -- the options are the library's settings ------------------------------------------------------------------------

SETTINGS = [
    ("perceptron", "--tie +1", {"tie": "+1"}),
    ("perceptron", "--tie -1 --bias", {"tie": "-1", "bias": True}),
    ("perceptron", "--unit-norm", {"unit_norm": True}),
    ("perceptron", "--scale max", {"scale": "max"}),
    ("perceptron", "--rate constant:0.25", {"rate": 0.25}),
    ("perceptron", "--rate auto", {}),
    ("ogd", "", {}),
    ("ogd", "--radius 0.5 --loss logistic --bias", {"radius": 0.5, "loss": "logistic", "bias": True}),
    ("ogd", "--loss margin-hinge:0.5", {"loss": "margin-hinge:0.5"}),
    ("ogd", "--loss squared-hinge --unit-norm", {"loss": "squared-hinge", "unit_norm": True}),
    ("ogd", "--loss perceptron", {"loss": "perceptron"}),
    ("ogd", "--rate constant:0.1 --radius inf", {"rate": "constant:0.1", "radius": math.inf}),
    ("ogd", "--rate sqrt:0.5 --domain box --radius 1", {"rate": "sqrt:0.5", "domain": "box", "radius": 1.0}),
    ("ogd", "--l2 0.1 --domain simplex", {"l2": 0.1, "domain": "simplex"}),
    ("ogd", "--l1 0.1 --domain box --rate sqrt:1", {"l1": 0.1, "domain": "box", "rate": "sqrt:1"}),
    ("ogd", "--rate horizon:400", {"rate": "horizon:400"}),
    ("ogd", "--rate horizon:400:4", {"rate": "horizon:400:4"}),
    ("ogd", "--rate doubling", {"rate": "doubling"}),
    ("ogd", "--rate doubling:4", {"rate": "doubling:4"}),
    ("ogd", "--loss squared", {"loss": "squared"}),
    ("ogd", "--loss absolute", {"loss": "absolute"}),
    ("ogd", "--loss huber:0.5", {"loss": "huber:0.5"}),
    ("ogd", "--loss pinball:0.9", {"loss": "pinball:0.9"}),
    ("ogd-strong", "--sigma 0.5", {"sigma": 0.5}),
    ("averaged", "--rate constant:0.25 --bias", {"rate": 0.25, "bias": True}),
    ("pa", "", {}),
    ("pa1", "--aggressiveness 0.3", {"aggressiveness": 0.3}),
    ("pa2", "--loss absolute", {"loss": "absolute"}),
    ("adagrad", "--rate constant:0.3 --radius 2", {"rate": "constant:0.3", "radius": 2.0}),
    ("ftrl", "--l1 0.5 --l2 0.1 --beta 1", {"l1": 0.5, "l2": 0.1, "beta": 1.0}),
    ("coin", "--gradient-bound 50 --wealth 2", {"gradient_bound": 50.0, "wealth": 2.0}),
    ("coin", "--unit-norm --loss hinge", {"unit_norm": True, "loss": "hinge"}),
    ("ogd-strong", "--loss logistic --radius 1", {"loss": "logistic", "radius": 1.0}),
]


@pytest.mark.parametrize(("name", "options", "settings"), SETTINGS, ids=[f"{n} {o}" for n, o, _ in SETTINGS])
def test_options_are_settings(noregret, rows, here, examples, name, options, settings):
    answer = noregret("learn", rows, "--learner", name, *options.split(), "--save", "m.nr", "--json")
    assert (answer.code, answer.err) == (0, "")
    core = learners.LEARNERS[name](**settings)
    run = nr.play(core, nr.read(rows))
    model.save(core, here / "library.nr")
    assert learned(here / "m.nr") == learned(here / "library.nr")
    assert answer.json["loss"]["total"] == run.loss
    assert answer.json["mistakes"] == run.mistakes
    assert answer.json["regret"] == (None if run.regret_upper is None else {"upper": run.regret_upper})


@pytest.mark.parametrize("source", ["rows.svm", "-"])
@pytest.mark.parametrize("options", [{"passes": 3}, {"shuffle": 5}, {"passes": 2, "shuffle": 5}], ids=str)
def test_passes_and_shuffle(noregret, rows, here, examples, source, options):
    given = [part for key, value in options.items() for part in (f"--{key}", value)]
    answer = noregret("learn", source, "--learner", "perceptron", *given, "--json", stdin=(here / rows).read_bytes())
    run = nr.play(learners.Perceptron(), examples, **options)
    assert answer.json["rounds"] == 400 * options.get("passes", 1)
    assert answer.json["mistakes"] == run.mistakes
    assert answer.json["weight_norm"] == pytest.approx(run.learner.weight_norm, rel=1e-12)


def test_a_shuffle_is_a_permutation_that_the_seed_decides(noregret, rows):
    first, again, other = (noregret("learn", rows, "--shuffle", seed, "--json") for seed in (1, 1, 2))
    assert numbers(first) == numbers(again) != numbers(other)
    assert first.json["max_norm"] == other.json["max_norm"]


def test_standard_input_is_a_stream(noregret, rows, here):
    from_file = noregret("learn", rows, "--json")
    for data in ((here / rows).read_bytes(), gzip.compress((here / rows).read_bytes())):
        assert numbers(noregret("learn", "-", "--json", stdin=data)) == numbers(from_file)


def test_string_labels_and_which_one_is_positive(noregret, mail):
    plain = noregret("learn", mail, "--json", "--save", "a.nr").json
    turned = noregret("learn", mail, "--positive", "ham", "--json", "--save", "b.nr").json
    assert plain["mistakes"] == turned["mistakes"]
    assert plain["metrics"]["confusion"]["true_positive"] == turned["metrics"]["confusion"]["true_negative"]
    assert model.load("a.nr")[0].labels.classes == ("ham", "spam")
    assert model.load("b.nr")[0].labels.classes == ("spam", "ham")
    assert np.array_equal(model.load("a.nr")[0].weights, -model.load("b.nr")[0].weights)


def test_the_label_column_has_any_name(noregret, here):
    (here / "clicks.csv").write_text("price,clicked\n1,yes\n-1,no\n2,yes\n")
    assert noregret("learn", "clicks.csv", "--label", "clicked", "--json").json["features"] == 1


def test_class_weights_multiply_the_loss(noregret, mail, here):
    options = ("learn", mail, "--learner", "ogd", "--scale", "max", "--hash-bits", 6, "--json")
    found = noregret(*options, "--class-weight", "spam=2,ham=0.5").json
    frame = nr.read(here / mail, hash_bits=6)
    run = nr.play(learners.OnlineGradientDescent(scale="max"), frame, class_weight={"spam": 2.0, "ham": 0.5})
    assert found["loss"]["total"] == run.loss
    assert found["rounds"] == 6
    assert found["loss"]["total"] != noregret(*options).json["loss"]["total"]


def test_weight_zero_is_no_round(noregret, mail):
    found = noregret("learn", mail, "--class-weight", "spam=0", "--predictions", "p.csv", "--json").json
    assert found["rounds"] == 3
    assert [row["label"] for row in lines_of("p.csv")] == ["ham"] * 3


def test_missing_values_follow_the_rule(noregret, here):
    (here / "holes.csv").write_text("label,a,b\n1,2,3\n-1,,1\n1,4,nan\n-1,-1,-1\n")
    refused = noregret("learn", "holes.csv")
    assert (refused.code, refused.err) == (
        2,
        "noregret: holes.csv:3: feature 'a' is missing (NaN): use --missing mean, zero or skip\n",
    )
    assert noregret("learn", "holes.csv", "--missing", "error").err == refused.err
    assert noregret("learn", "holes.csv", "--missing", "zero", "--json").json["rounds"] == 4
    assert noregret("learn", "holes.csv", "--missing", "skip", "--json").json["rounds"] == 2
    assert noregret("learn", "holes.csv", "--missing", "mean", "--json").json["rounds"] == 4


def test_text_and_categories_are_hashed(noregret, mail):
    options = ("--text", "subject", "--categorical", "country,length", "--hash-bits", 12)
    found = noregret("learn", mail, "--learner", "perceptron", *options, "--json", "--save", "m.nr").json
    assert found["features"] == 2**12
    core, _ = model.load("m.nr")
    assert core.features.text == ("subject",)
    assert set(core.features.categorical) == {"country", "length"}
    assert found["max_norm2"] == 3 + 2 + 1  # "Minutes of the meeting" is four words: 4 + 2 cells


# -- predictions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--learner", "ogd", "--loss", "logistic", "--passes", 2)], ids=str)
def test_predictions_are_the_scores_before_the_label(noregret, rows, examples, options):
    noregret("learn", rows, "--learner", "perceptron", *options, "--predictions", "p.csv", "--quiet")
    scores, passes = [], 2 if options else 1
    core = learners.OnlineGradientDescent(loss="logistic") if options else learners.Perceptron()
    nr.play(core, nr.read(rows), passes=passes, watch=lambda block, y, found: scores.extend(found.tolist()))
    found = lines_of("p.csv")
    assert list(found[0]) == ["row", "label", "score", *(["probability"] if options else []), "prediction"]
    assert [float(row["score"]) for row in found] == scores
    assert [int(row["row"]) for row in found] == [*range(1, 401)] * passes
    assert [int(row["label"]) for row in found] == examples[1].tolist() * passes
    assert [row["prediction"] for row in found] == [{1: "1", 0: "", -1: "-1"}[np.sign(score)] for score in scores]


def test_predictions_carry_the_labels_as_written(noregret, mail):
    noregret("learn", mail, "--predictions", "p.csv", "--quiet")
    found = lines_of("p.csv")
    assert [row["label"] for row in found] == ["spam", "ham"] * 3
    assert {row["prediction"] for row in found} == {"", "spam", "ham"}  # "" of the first, whose score is 0
    assert [row["row"] for row in found] == ["2", "3", "4", "5", "6", "7"]


# -- stopping and going on -----------------------------------------------------------------------------------------

LEARNERS = [
    ("perceptron", "--bias", "--scale", "max"),
    ("ogd", "--loss", "logistic", "--radius", "2"),
    ("ogd", "--rate", "doubling", "--unit-norm"),
    ("ogd-strong", "--loss", "hinge", "--sigma", "0.2"),
    ("ogd", "--loss", "squared", "--rate", "sqrt:0.01"),
]


@pytest.mark.parametrize("cut", [1, 137, 399])
@pytest.mark.parametrize("options", LEARNERS, ids=" ".join)
def test_resumed_is_unsplit_bit_for_bit(noregret, rows, here, examples, options, cut):
    X, y = examples
    (here / "first.svm").write_text(svmlight(X[:cut], y[:cut]))
    (here / "second.svm").write_text(svmlight(X[cut:], y[cut:]))
    whole = noregret("learn", rows, "--learner", *options, "--save", "whole.nr", "--json")
    noregret("learn", "first.svm", "--learner", *options, "--save", "part.nr", "--quiet")
    parts = noregret("learn", "second.svm", "--resume", "part.nr", "--save", "part.nr", "--json")
    assert parts.code == 0
    assert learned(here / "part.nr") == learned(here / "whole.nr")
    assert numbers(parts) == numbers(whole)
    assert parts.json["this_run"]["rounds"] == 400 - cut


def test_the_same_options_again_are_no_conflict(noregret, mail):
    options = "--learner ogd --loss margin-hinge:2 --radius 4 --domain ball --rate auto --tie +1 --bias --unit-norm"
    more = "--scale max --label label --positive spam --text subject --categorical country --hash-bits 8"
    given = [*options.split(), *more.split(), "--missing", "zero", "--class-weight", "spam=2"]
    assert noregret("learn", mail, *given, "--save", "m.nr", "--quiet").code == 0
    again = noregret("learn", mail, *given, "--resume", "m.nr", "--again", "--quiet")
    assert (again.code, again.err) == (0, "")


@pytest.mark.parametrize(
    "default", ["--missing error", "--hash-bits 18", "--label label", "--learner perceptron", "--rate auto"]
)
def test_a_default_said_aloud_is_no_conflict(noregret, mail, default):
    noregret("learn", mail, "--learner", "perceptron", "--save", "m.nr", "--quiet")
    again = noregret("learn", mail, "--resume", "m.nr", "--again", *default.split(), "--quiet")
    assert (again.code, again.err) == (0, "")


@pytest.mark.parametrize(
    ("option", "stored"),
    [
        (("--learner", "ogd"), "perceptron"),
        (("--tie", "+1"), "mistake"),
        (("--bias",), ""),
        (("--rate", "constant:2"), "1"),
        (("--scale", "max"), ""),
        (("--unit-norm",), ""),
        (("--label", "country"), ""),
        (("--positive", "ham"), ""),
        (("--text", "country"), "subject"),
        (("--hash-bits", 9), "8"),
        (("--missing", "skip"), ""),
        (("--class-weight", "ham=3"), ""),
    ],
    ids=str,
)
def test_a_conflicting_option_is_refused(noregret, mail, here, option, stored):
    noregret(
        "learn", mail, "--learner", "perceptron", "--text", "subject", "--hash-bits", 8, "--save", "m.nr", "--quiet"
    )
    before = snapshot(here)
    answer = noregret("learn", mail, "--resume", "m.nr", *option, "--save", "m.nr")
    assert answer.code == 2
    assert answer.err.startswith(f"noregret: {option[0]} ")
    assert "conflicts with the model" in answer.err
    assert stored in answer.err
    assert snapshot(here) == before


def test_skip_seen_goes_on_in_the_same_file(noregret, rows, here, examples):
    X, y = examples
    (here / "grown.svm").write_text(svmlight(X[:150], y[:150]))
    noregret("learn", "grown.svm", "--learner", "perceptron", "--save", "m.nr", "--quiet")
    (here / "grown.svm").write_text(svmlight(X[:250], y[:250]))
    noregret("learn", "grown.svm", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr", "--quiet")
    (here / "grown.svm").write_text(svmlight(X, y))
    last = noregret("learn", "grown.svm", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr", "--json")
    whole = noregret("learn", rows, "--learner", "perceptron", "--save", "whole.nr", "--json")
    assert last.json["this_run"]["rounds"] == 150
    assert numbers(last) == numbers(whole)
    assert learned(here / "m.nr") == learned(here / "whole.nr")
    nothing_new = noregret("learn", "grown.svm", "--resume", "m.nr", "--skip", "seen", "--json")
    assert nothing_new.json["this_run"]["rounds"] == 0
    assert numbers(nothing_new) == numbers(whole)


def test_skip_seen_after_a_second_file_skips_that_file_only(noregret, rows, here, examples):
    X, y = examples
    (here / "second.svm").write_text(svmlight(X[:100], y[:100]))
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    noregret("learn", "second.svm", "--resume", "m.nr", "--save", "m.nr", "--quiet")
    (here / "second.svm").write_text(svmlight(X[:120], y[:120]))
    answer = noregret("learn", "second.svm", "--resume", "m.nr", "--skip", "seen", "--json")
    assert answer.json["this_run"]["rounds"] == 20
    assert answer.json["rounds"] == 520


def test_skip_seen_refuses_another_file(noregret, rows, here, examples):
    X, y = examples
    noregret("learn", rows, "--save", "m.nr", "--quiet")
    (here / "other.svm").write_text(svmlight(X + 1, y))
    (here / "short.svm").write_text(svmlight(X[:50], y[:50]))
    before = snapshot(here)
    other = noregret("learn", "other.svm", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr")
    short = noregret("learn", "short.svm", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr")
    assert (other.code, other.err) == (
        2,
        "noregret: other.svm:400: the rows up to here are not those that the model has seen\n",
    )
    assert (short.code, short.err) == (2, "noregret: short.svm: holds only 50 rows, the model has seen 400\n")
    assert snapshot(here) == before


def line(number):
    """A row of an endless stream; a third of the labels are negative."""
    return b"%d 1:%d 2:%d 3:1\n" % (1 if number % 3 else -1, number % 7, -(number % 11))


def fed(process, rows, number=signal.SIGINT):
    """Write that many rows to the process, or as many as it takes, and send the signal when a part is through."""
    try:
        for first in range(0, rows, 500):
            process.stdin.write(b"".join(map(line, range(first, first + 500))))
            if first == 600_000:  # far more than is read ahead
                process.send_signal(number)
        process.stdin.close()
    except BrokenPipeError:
        pass


def finished(process):
    """Standard error and the exit code, without touching standard input."""
    try:
        out, err = (part.read().decode() for part in (process.stdout, process.stderr))
        return process.wait(MAX_SECONDS), out, err
    finally:
        process.kill()
        for pipe in (process.stdout, process.stderr):
            pipe.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_a_model_to_go_on_from(noregret, start, here, number):
    process = start("learn", "-", "--learner", "ogd", "--save", "m.nr", "--predictions", "p.csv", "--quiet")
    feeder = threading.Thread(target=fed, args=(process, 2_000_000, number))
    feeder.start()
    code, _, err = finished(process)
    feeder.join(MAX_SECONDS)
    with suppress(BrokenPipeError):
        process.stdin.close()
    stopped = model.load("m.nr")[0].rounds
    assert code == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert err == f"noregret: stopped after {stopped:,} rounds; go on with --resume m.nr --skip seen\n"
    assert 4096 <= stopped < 1_000_000
    assert len((here / "p.csv").read_bytes().splitlines()) == stopped + 1

    total = stopped + 5000
    (here / "all.svm").write_bytes(b"".join(map(line, range(total))))
    rest = noregret("learn", "all.svm", "--resume", "m.nr", "--skip", "seen", "--save", "m.nr", "--json")
    whole = noregret("learn", "all.svm", "--learner", "ogd", "--save", "whole.nr", "--json")
    assert rest.json["this_run"]["rounds"] == 5000
    assert numbers(rest) == numbers(whole)
    assert learned(here / "m.nr") == learned(here / "whole.nr")


def waiting(pipe):
    """How many bytes of a pipe are not read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


def test_ctrl_c_while_the_stream_is_silent(start, here):
    process = start("learn", "-", "--save", "m.nr", "--quiet")
    process.stdin.write(b"".join(map(line, range(30_000))))
    process.stdin.flush()
    limit = time.monotonic() + MAX_SECONDS
    while waiting(process.stdin) and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(1.5)  # the rows read last are played, and the next read waits
    process.send_signal(signal.SIGINT)
    try:
        process.wait(10)
    finally:
        process.kill()
        process.wait(10)
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
    assert process.returncode == 130
    assert model.load("m.nr")[0].rounds >= 4096


def test_the_reader_of_the_output_may_go(start, rows):
    with start("learn", rows, "--json") as process:
        process.stdout.close()
        err = process.stderr.read()
        code = process.wait(MAX_SECONDS)
    assert (code, err) == (0, b"")


@pytest.mark.parametrize(
    ("passes", "shuffle", "said"), [(1, None, ""), (3, None, " --passes 3"), (3, 0, " --passes 3 --shuffle 0")]
)
def test_a_stopped_run_names_every_option_to_go_on_with(passes, shuffle, said):
    from noregret.cli.learning import options_again

    assert options_again(passes, shuffle) == said


def test_the_table_says_that_later_passes_see_known_rows(noregret, here):
    (here / "r.svm").write_bytes(b"".join(map(line, range(1, 50))))
    assert "passes" not in noregret("learn", "r.svm").out
    assert "in 3 passes (only the first sees new rows)" in noregret("learn", "r.svm", "--passes", "3").out


def test_a_closed_terminal_leaves_nothing_behind(start, here):
    (here / "r.svm").write_bytes(b"".join(map(line, range(1, 200_000))))
    process = start("learn", "r.svm", "--passes", "5000", "--predictions", "p.csv", "--quiet")
    until = time.monotonic() + MAX_SECONDS
    while not list(here.glob(".noregret-*")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    process.stdin.close()
    assert finished(process)[0] == 129
    assert sorted(path.name for path in here.iterdir()) == ["r.svm"]
