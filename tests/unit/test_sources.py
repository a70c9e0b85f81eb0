"""The tables of docs/sources.md: every name in them is one that there is, and nothing of the five texts is left out."""

import re
from pathlib import Path

import pytest
import typer

import noregret as nr
from noregret import finite, loss
from noregret.cli.linear_game import sizes_of
from noregret.cli.main import COMMANDS, program
from noregret.errors import SettingError
from noregret.experts.methods import METHODS
from noregret.kernel import KERNELS
from noregret.learner import LEARNERS
from noregret.picture import kinds
from noregret.proof.facts.selection import WAYS
from noregret.proof.theorems import THEOREMS
from noregret.rate import RATES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "sources.md").read_text()
FIVE = ("Cesa-Bianchi's", "Mohri & Rostamizadeh", "Chan's", "Shalev-Shwartz & Ben-David")
HEAD = "| statement | what it says | what runs it | how it stands |"


def tables():
    """The rows of each table, four cells each, by the heading above it."""
    found = {}
    for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert lines[0] == HEAD and set(lines[1]) == set("|-")
        found[part.splitlines()[0]] = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]
        ]
    return found


TABLES = tables()
ROWS = [row for rows in TABLES.values() for row in rows]
NAMES = sorted({name for row in ROWS for name in re.findall(r"`([^`]+)`", row[2])})
PICTURES = {
    *(name for table in (kinds.RUN, kinds.RUNS, kinds.RECEIPT, kinds.BATCH, kinds.BATCHES) for name in table),
    *(name for table in (kinds.GAME, kinds.GAMES, kinds.BLENDED) for name in table),
    "step-sizes",
}
PLAYERS = {"soa", "halving", "consistent", "expert", "agnostic", "you"}  # of a finite class


def known_loss(text):
    loss.parse(text)
    return True


def known_game(text):
    """A class, an exercise or linear losses by their name."""
    if text.startswith("linear:"):
        return bool(sizes_of(text))
    return bool(finite.exercise(text) if text.startswith("exercise") else finite.family(text))


VALUES = {  # what an option may be given, by its name
    "learner": lambda text: text in LEARNERS,
    "loss": known_loss,
    "surrogate": known_loss,
    "rate": lambda text: text.split(":")[0] in {one.split(":")[0] for one in RATES.split(", ")},
    "select": lambda text: text in WAYS,
    "picture": lambda text: text in PICTURES,
    "kernel": lambda text: text in KERNELS,
    "method": lambda text: text in METHODS,
    "adversary": lambda text: text in ("tree", "coins"),
}


def check_command(words):
    """A command line whose command, options and values there are, parsed by the program itself."""
    name, *rest = words
    assert name in COMMANDS, f"there is no command {name}"
    command = typer.main.get_command(program(name))
    command = getattr(command, "commands", {name: command})[name]
    context = command.make_context(name, list(rest))
    for key, value in context.params.items():
        if value is not None and key in VALUES and f"--{key}" in rest:
            players = name == "game" and key == "learner"
            assert value in PLAYERS if players else VALUES[key](str(value)), f"--{key} {value}"
    if name in ("game", "dim"):
        assert known_game(str(context.params["source"]))


def check_name(name):
    """A command, a name in Python, or a theorem."""
    if name.startswith("noregret "):
        check_command(name.split()[1:])
    elif name.startswith(("nr.", "noregret.finite.")):
        thing = nr if name.startswith("nr.") else finite
        for part in name.removeprefix("nr.").removeprefix("noregret.finite.").split("."):
            fields = getattr(thing, "__dataclass_fields__", {})
            assert part in fields or hasattr(thing, part), f"{name}: there is no {part}"
            thing = getattr(thing, part, None)
    else:
        assert name in THEOREMS, f"there is no theorem {name}"


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_one_that_there_is(name):
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "noregret lern STREAM",
        "noregret learn STREAM --lerner perceptron",
        "noregret learn STREAM --learner perceptrons",
        "noregret learn STREAM --loss hinged",
        "noregret learn STREAM --rate fast",
        "noregret learn STREAM --select best",
        "noregret learn STREAM --picture nothing",
        "noregret game thresholds:7 --adversary me",
        "noregret game threshold:7",
        "noregret game exercise:6",
        "noregret game thresholds:7 --learner perceptron",
        "nr.Perceptrons",
        "nr.Run.risk_of_it",
        "noregret.finite.Experts",
        "novikov",
    ],
)
def test_a_name_that_there_is_not_is_noticed(name):
    usage = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    with pytest.raises((AssertionError, SettingError, usage)):
        check_name(name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_every_row_has_something_that_runs_it_and_says_how_it_stands(row):
    assert len(row) == 4 and all(row)
    assert re.findall(r"`([^`]+)`", row[2]), row[0]
    assert re.match(r"(as printed|repaired: |false: )", row[3]), row[3]
    if row[3].startswith("false"):  # with its counterexample in numbers, and its place among the errata
        assert re.match(r"false: .*\d.* \((CB|MR|CH|SS)-\d\)", row[3]), row[3]


def test_every_erratum_is_in_a_table_and_every_code_is_an_erratum():
    errata = set(re.findall(r"\b(?:CB|MR|CH|SS)-\d", (ROOT / "docs" / "theory" / "errata.md").read_text()))
    assert len(errata) >= 29
    assert set(re.findall(r"\b(?:CB|MR|CH|SS)-\d", TEXT)) == errata


def test_every_theorem_of_the_five_texts_is_in_a_table():
    of_them = {name for name, one in THEOREMS.items() if any(text in one.source for text in FIVE)}
    assert len(of_them) > 50
    assert of_them <= set(NAMES), sorted(of_them - set(NAMES))


NUMBERED = {
    "Cesa-Bianchi's notes": [
        "Lemma 1",
        *(f"({number}) in 2023" for number in range(6, 11)),
        *(f"({number}) in 2024" for number in (1, 7, 8, 9)),
    ],
    "Mohri & Rostamizadeh": [
        *("Figure 1", "Figure 2", "Lemma 1", "Definition 1", "Theorem 1"),
        *("Theorem 2 (1)", "Theorem 2 (2)", "Corollary 1 (3)", "Corollary 1 (4)", "Corollary 2 (5)", "Corollary 2 (6)"),
        *("Theorem 3 (7)", "Theorem 3 (8)", "section 3.3", "section 4", "Theorem 4 (9)", "Corollary 3", "Corollary 4"),
        "section 5",
    ],
    "Chan's lecture": [
        *("J_hard", "misclassified set", "batch update", "online update", "step sizes", "inseparable rows"),
        *("convex solvers", "solutions are not unique", "convergence theorem", "its proof"),
    ],
    "Shalev-Shwartz & Ben-David": [
        *("Definition 21.1", "Corollary 21.2", "Theorem 21.3", "Figure 21.1", "Definition 21.4", "Definition 21.5"),
        *("Lemma 21.6", "Lemma 21.7", "Corollary 21.8", "Theorem 21.9", "Theorem 21.10", "Theorem 21.11"),
        *("Corollary 21.12", "Lemma 21.13", "Corollary 21.14", "Theorem 21.15", "Theorem 21.16"),
        *("(21.1)", "(21.2)", "(21.4)", "(21.5)", "(21.6)"),
        *(f"Exercise {number}" for number in range(1, 6)),
    ],
}


def test_every_numbered_statement_figure_and_exercise_has_a_row():
    assert set(TABLES) == set(NUMBERED)
    for heading, numbers in NUMBERED.items():
        named = " / ".join(row[0] for row in TABLES[heading])
        for number in numbers:
            assert number in named, (heading, number)
