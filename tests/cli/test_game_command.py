"""`noregret game`."""

import pytest


@pytest.mark.parametrize("tie", ["0", "1"])
def test_soa_and_halving_err_as_often_as_the_dimension_says(noregret, tie):
    for learner in ("soa", "halving"):
        answer = noregret("game", "thresholds:7", "--learner", learner, "--tie", tie)
        assert answer.code == 0
        assert "3 mistakes in 3 rounds, Littlestone dimension 3" in answer.out


def test_the_rounds_are_shown_with_node_dimensions_and_version_space(noregret):
    lines = noregret("game", "thresholds:3").out.splitlines()
    assert lines[0] == "soa against the adversary"
    assert [line.split() for line in lines[2:4]] == [
        ["1", "1", "1", "1", "1", "1", "0", "2"],
        ["2", "2", "0", "0", "0", "1", "0", "1"],
    ]
    assert lines[4] == "2 mistakes in 2 rounds, Littlestone dimension 2; h0 agrees with every label"


def test_json(noregret):
    answer = noregret("game", "thresholds:3", "--learner", "consistent", "--json").json
    assert answer["littlestone"] == answer["mistakes"] == len(answer["rounds"]) == 2
    assert answer["rounds"][0] == {
        "round": 1,
        "node": 1,
        "point": 1,
        "littlestone": [1, 1],
        "prediction": 0,
        "label": 1,
        "mistake": True,
        "version_space": 2,
    }
    assert {one["theorem"] for one in answer["certificates"]} == {"consistent-size", "littlestone-lower"}


def test_rounds_cut_the_game_short_or_let_it_go_on(noregret):
    assert len(noregret("game", "cube:4", "--rounds", "2", "--json").json["rounds"]) == 2
    short = noregret("game", "thresholds:6", "--learner", "consistent", "--json").json
    long = noregret("game", "thresholds:6", "--learner", "consistent", "--rounds", "9", "--json").json
    assert short["mistakes"] == short["littlestone"] == 2
    assert long["mistakes"] >= 2 and long["rounds"][-1]["version_space"] == 1
    assert noregret("game", "cube:3", "--quiet").out == ""


def test_seconds_end_the_search_and_the_deepest_tree_found_is_played(noregret):
    answer = noregret("game", "halfspaces:5", "--learner", "halving", "--seconds", "1e-9")
    assert answer.code == 0
    assert "stopped by --seconds: the game used the deepest tree found so far" in answer.out
    assert " – " in answer.out
    ends = noregret("game", "halfspaces:5", "--learner", "halving", "--seconds", "1e-9", "--json").json
    assert ends["littlestone_bounds"]["lower"] < ends["littlestone_bounds"]["upper"]
    assert ends["mistakes"] == ends["littlestone_bounds"]["lower"]
    refused = noregret("game", "halfspaces:5", "--seconds", "1e-9")
    assert refused.code == 2 and "soa needs the exact Littlestone dimension" in refused.err
    assert noregret("game", "cube:2", "--seconds", "0").code == 2


def test_a_bound_that_is_attained_says_so(noregret):
    lines = noregret("game", "thresholds:7", "--learner", "halving").out.splitlines()
    assert lines[-2].split() == ["halving-log", "3", "3", "holds,", "attained"]


def test_a_game_without_a_round(noregret):
    out = noregret("game", "singletons:1").out
    assert out == "0 mistakes in 0 rounds, Littlestone dimension 0; h0 agrees with every label\n"


def test_you_play_at_the_terminal(noregret):
    answer = noregret("game", "thresholds:3", "--learner", "you", stdin=b"1\nperhaps\n\n 0 \n")
    assert answer.code == 0
    assert answer.out.startswith(
        "4 hypotheses, Littlestone dimension 2: answer 0 or 1\n"
        "4 hypotheses left; point 1? it is 0\n"
        "2 hypotheses left; point 0? please enter 0 or 1: please enter 0 or 1: it is 1\n"
    )
    assert "2 mistakes in 2 rounds" in answer.out
    silent = noregret("game", "thresholds:3", "--learner", "you", "--json", stdin=b"1\n0\n").json
    assert [one["prediction"] for one in silent["rounds"]] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["cube:2", "--learner", "me"],
            "noregret: --learner must be soa, halving, consistent, expert or you, got 'me'",
        ),
        (["cube:2", "--tie", "2"], "noregret: --tie must be 0 or 1, got 2"),
        (
            ["cube:2", "--learner", "consistent", "--tie", "0"],
            "noregret: --tie does not apply to consistent: it has no ties",
        ),
        (["cube:2", "--learner", "you"], "noregret: game over: standard input ended before an answer"),
        (["cube:2", "--turns", "1"], "noregret: --turns goes with --learner expert"),
        (["cube:2", "--learner", "expert", "--turns", "1,b"], "noregret: --turns must be rounds, counted from 1: 2,5"),
        (["cube:2", "--learner", "expert", "--turns", "0"], "noregret: --turns must be different rounds, counted from"),
        (["cube:2", "--learner", "expert", "--turns", "1,2,3"], "noregret: --turns must be at most as many as the"),
        (["cube:2", "--adversary", "me"], "noregret: --adversary must be tree or coins, got 'me'"),
        (["cube:2", "--games", "3"], "noregret: --games goes with --adversary coins"),
        (["cube:2", "--seed", "3"], "noregret: --seed goes with --adversary coins"),
        (
            ["cube:2", "--adversary", "coins", "--learner", "soa"],
            "noregret: --learner soa needs labels that some hypothesis gives, and coins give others: use agnostic or",
        ),
        (["cube:2", "--adversary", "coins", "--rounds", "1"], "noregret: --rounds must be at least the depth of the"),
        (["cube:2", "--adversary", "coins", "--tie", "3"], "noregret: --tie must be 0 or 1, got 3"),
        (["singletons:1", "--adversary", "coins"], "noregret: fair coins need a class of Littlestone dimension 1 or"),
        (["cube:2", "--learner", "agnostic"], "noregret: --learner must be soa, halving, consistent, expert or you"),
        (["exercise:9"], "noregret: the exercises are exercise:1, exercise:2, exercise:3; got exercise:9"),
        (["exercise:2", "--rounds", "3"], "noregret: --rounds does not go with exercise:2: its game is given"),
        (["exercise:3", "--learner", "expert"], "noregret: exercise:3 searches every version space of a learner"),
        (["cube:2", "--rounds", "0"], "invalid value for '--rounds'"),
        (["subsets:3,2"], "noregret: subsets:3,2: the class is empty, so no label can be given"),
        (["gone"], "noregret: gone: there is no such file or family"),
    ],
)
def test_what_is_wrong_gets_one_line(noregret, arguments, sentence):
    answer = noregret("game", *arguments)
    assert answer.code == 2 and sentence in answer.err and answer.err.count("\n") == 1


def test_an_expert_plays_alone_and_the_adversary_beats_it(noregret):
    answer = noregret("game", "thresholds:7", "--learner", "expert", "--turns", "2,3", "--json").json
    assert answer["learner"] == "expert" and answer["mistakes"] == answer["littlestone"] == 3
    assert [one["prediction"] for one in answer["rounds"]] == [1, 0, 0]
    assert [one["theorem"] for one in answer["certificates"]] == ["littlestone-lower"]


def test_200_games_against_fair_coins(noregret):
    answer = noregret("game", "thresholds:7", "--adversary", "coins", "--rounds", "96")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == "agnostic against fair coins: 200 games of 96 rounds, seed 0"
    assert lines[-1].startswith("littlestone-regret") and lines[-1].endswith("holds")
    assert "upper bound of agnostic-littlestone" in answer.out
    found = noregret("game", "thresholds:7", "--adversary", "coins", "--rounds", "96", "--json").json
    told = found["regret"]
    assert found["blocks"] == [32, 32, 32] and (found["games"], found["seed"]) == (200, 0)
    assert told["lower"] <= found["expected"] <= told["upper"] and told["least"] <= told["mean"] <= told["most"]
    assert found["bound"] == 6.0 <= found["expected"] <= found["promise"]
    assert found["certificates"][0]["verdict"] == "holds"


def test_an_expert_against_fair_coins_has_no_promise_but_the_same_expectation(noregret):
    words = ("game", "cube:2", "--adversary", "coins", "--rounds", "9", "--games", "4", "--json")
    one = noregret(*words, "--learner", "expert", "--seed", "7").json
    other = noregret(*words, "--learner", "agnostic", "--seed", "7").json
    assert one["promise"] is None and one["blocks"] == [5, 4] and one["games"] == 4 and one["seed"] == 7
    assert one["expected"] == other["expected"] and one["regret"]["mean"] != other["regret"]["mean"]


def test_coins_need_the_exact_dimension_and_draw_a_histogram(noregret, tmp_path):
    refused = noregret("game", "halfspaces:5", "--adversary", "coins", "--seconds", "1e-9")
    assert refused.code == 2 and "agnostic needs the exact Littlestone dimension" in refused.err
    drawn = tmp_path / "coins.svg"
    done = noregret("game", "cube:2", "--adversary", "coins", "--games", "5", "--quiet", "--plot", drawn)
    assert done.code == 0 and done.out == "" and "expected of any learner" in drawn.read_text()
    wrong = noregret("game", "cube:2", "--adversary", "coins", "--plot", drawn, "--picture", "tree")
    assert wrong.code == 2 and "--picture must be one of regret, got 'tree'" in wrong.err


@pytest.mark.parametrize(
    ("name", "mistakes", "learner"),
    [("exercise:1", 7, "consistent"), ("exercise:2", 4, "halving"), ("exercise:3", 1, "halving")],
)
def test_the_exercises_by_name(noregret, name, mistakes, learner):
    answer = noregret("game", name)
    assert answer.code == 0
    assert (
        answer.out.startswith(f"exercise {name[-1]}: ")
        and f"claimed and played: {mistakes} and {mistakes}" in answer.out
    )
    found = noregret("game", name, "--json").json
    assert (found["mistakes"], found["claimed"], found["learner"]) == (mistakes, mistakes, learner)


def test_another_learner_and_another_size_of_an_exercise(noregret, tmp_path):
    answer = noregret("game", "exercise:1,20", "--learner", "halving", "--json").json
    assert answer["points"] == 20 and answer["mistakes"] == 1 and answer["claimed"] is None
    other = noregret("game", "exercise:3,6", "--learner", "consistent", "--json").json
    assert other["mistakes"] == 5
    you = noregret("game", "exercise:1,3", "--learner", "you", stdin=b"0\n1\n1\n")
    assert you.code == 0 and "1 mistake in 3 rounds" in you.out
    drawn = tmp_path / "tree.svg"
    assert noregret("game", "exercise:2,3", "--picture", "tree", "--plot", drawn, "--quiet").code == 0
    assert "Shattered mistake tree of depth 3" in drawn.read_text()


# -- linear losses -----------------------------------------------------------------------------------------------------


def test_every_learner_loses_to_the_adversary_of_linear_losses(noregret):
    answer = noregret("game", "linear:400", "--json").json
    assert answer["rounds"] == 400 and answer["features"] == 3 and answer["learner"] == "ogd"
    assert answer["regret"]["lower"] <= 20.0 + 1e-9 and answer["regret"]["upper"] >= 20.0 - 1e-9
    assert answer["every_learner_at_least"] == pytest.approx(20.0)
    assert answer["gradient_descent_at_most"] == pytest.approx(20.0 * 8.0**0.5)
    (one,) = answer["certificates"]
    assert (one["theorem"], one["verdict"]) == ("linear-lower", "holds")
    scaled = noregret("game", "linear:100,4", "--learner", "pa1", "--radius", "3", "--length", "0.5", "--json").json
    assert scaled["every_learner_at_least"] == pytest.approx(15.0)
    assert (scaled["features"], scaled["radius"], scaled["length"], scaled["learner"]) == (4, 3.0, 0.5, "pa1")


def test_the_table_and_the_picture_of_a_linear_game(noregret, tmp_path):
    pytest.importorskip("matplotlib")
    answer = noregret("game", "linear:9", "--plot", tmp_path / "g.svg")
    assert answer.code == 0
    assert answer.rows()["every learner has at least U·G·√T"] == ["2.99999"]
    assert answer.rows()["  to".strip()] == ["3.00001"]
    assert answer.out.splitlines()[-1] == "linear-lower: holds"
    assert "gradient descent has at most U·G·√(8t)" in (tmp_path / "g.svg").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("linear:", "a linear game is linear:T or linear:T,d, T rounds in d dimensions, got linear:"),
        ("linear:9,3,1", "a linear game is linear:T or linear:T,d"),
        ("linear:-4", "a linear game is linear:T or linear:T,d"),
        ("linear:0", "linear game: rounds must be a whole number of at least 1, got 0"),
        ("linear:9,2", "linear game: features must be a whole number of at least 3, got 2"),
        ("linear:9 --length 0", "linear game: length must lie between 1e-100 and 1e100, got 0.0"),
        ("linear:9 --radius -1", "radius must be positive"),
        (
            "linear:9 --learner perceptron --radius -1",
            "linear game: radius must lie between 1e-100 and 1e100, got -1.0",
        ),
        ("linear:9 --learner vaw", "linear game: vaw does not predict two classes by weights that it has"),
        ("linear:9 --learner you", "learner must be one of the "),
        ("linear:9 --learner ogd:speed=3", "ogd has "),
        ("linear:9 --seconds 3", "--seconds is for games of a class, not linear losses"),
        ("linear:9 --rounds 3", "--rounds is for games of a class, not linear losses"),
        ("linear:9 --tie 0", "--tie is for games of a class, not linear losses"),
        ("linear:9 --plot p.svg --picture tree", "--picture must be one of regret, got 'tree'"),
        ("thresholds:3 --radius 2", "--radius is for games of linear losses, not a class"),
        ("thresholds:3 --length 2", "--length is for games of linear losses, not a class"),
    ],
)
def test_what_a_linear_game_refuses(noregret, words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = noregret("game", *words.split())
    assert answer.code == 2 and sentence in answer.err and len(answer.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())
