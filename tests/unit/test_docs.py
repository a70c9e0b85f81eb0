"""The guide is run: every Python block, every command, and what they print stands in the guide as it was printed.

Blocks of one page run in order, in one empty folder, with one namespace. A `text` block right behind a `python` block
is what that block prints; the lines below a `$ noregret …` line are what that command prints, where a line `...`
stands for any lines. `python tests/unit/test_docs.py` writes the guide's outputs anew.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import tempfile
import types
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest
import typer

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from command import call  # noqa: E402

from noregret.cli.main import COMMANDS, program  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = [page for page in PAGES if page.name not in ("CONTRIBUTING.md", "CHANGELOG.md")]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = "$ noregret "


def title(page: Path) -> str:
    """A page as it is called in the tests' names."""
    return str(page.relative_to(ROOT))


def stripped(text: str) -> list[str]:
    """Lines without the blanks at their ends, and without empty ones around them."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Whether printed lines are the shown ones, a shown `...` standing for any."""
    pattern = "".join(".*" if line == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed), re.DOTALL) is not None


def played_commands(block: str) -> str:
    """A console block with what its commands print now."""
    parts = re.split(rf"^(?={re.escape(COMMAND)})", block, flags=re.MULTILINE)
    said = [parts[0]]
    for part in parts[1:]:
        line, _, rest = part.partition("\n")
        shown = stripped(rest)
        words = shlex.split(line.removeprefix(COMMAND))
        given = b""
        if "<" in words:
            given = Path(words.pop()).read_bytes()
            words.remove("<")
        answer = call(*words, stdin=given)
        wrong = any(text.startswith("noregret: ") for text in shown)
        assert answer.code == (2 if wrong else 0), f"{line}: exit {answer.code}: {answer.err}"
        printed = stripped(answer.out + answer.err)
        if "..." in shown:
            assert agrees(shown, printed), f"{line}: printed\n" + "\n".join(printed)
            printed = shown
        gap = "\n" if rest.endswith("\n\n") else ""
        said.append("\n".join([line, *printed]) + "\n" + gap)
    return "".join(said)


def played(page: Path) -> str:
    """The page with every block run in a new folder and every output as it is now."""
    text, done, printed, end = page.read_text(), [], None, 0
    guide = types.ModuleType("guide")
    sys.modules["guide"] = guide  # a function of the guide is looked up in its module by name
    for found in BLOCK.finditer(text):
        kind, block = found.groups()
        between = text[end : found.start()]
        if kind == "python":
            out = io.StringIO()
            with redirect_stdout(out):
                exec(compile("\n" * text[: found.start(2)].count("\n") + block, str(page), "exec"), vars(guide))
            printed = "\n".join(stripped(out.getvalue()))
        elif kind == "text" and printed is not None and not between.strip():
            block, printed = f"{printed}\n", None
        else:
            assert not printed, f"{page.name}: a block prints {printed!r}, which the page does not show"
            if kind in ("console", "sh"):
                block = played_commands(block)
        done += [between, f"```{kind}\n{block}```"]
        end = found.end()
    assert not printed, f"{page.name}: the last block prints {printed!r}, which the page does not show"
    return "".join(done) + text[end:]


@pytest.mark.parametrize("page", RUN, ids=map(title, RUN))
def test_every_block_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert played(page).splitlines() == page.read_text().splitlines()


def commands():
    """Every command with its options and arguments, as the program knows them."""
    top = typer.main.get_command(program(*COMMANDS))
    return {"": top.params, **{name: command.params for name, command in top.commands.items()}}


def sections(page):
    """The text below each second-level heading."""
    parts = re.split(r"^## (.+)\n", page.read_text(), flags=re.MULTILINE)
    return {heading.strip("`"): text for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("name", commands())
def test_every_command_and_every_option_is_in_the_guide(name):
    found = sections(ROOT / "docs" / "command-line.md")
    text = found[f"noregret {name}".strip()]
    for parameter in commands()[name]:
        for option in parameter.opts if parameter.param_type_name == "option" else []:
            assert f"`{option}" in text, f"{name} {option} is not in docs/command-line.md"
            if name and option.startswith("--"):
                examples = [line for line in text.splitlines() if line.startswith("$ ") and f"{option} " in f"{line} "]
                assert examples, f"{name} {option} has no example in docs/command-line.md"


def test_the_guide_names_no_option_that_there_is_not():
    parameters = [one for some in commands().values() for one in some]
    known = {"--help", "-h"} | {option for one in parameters for option in (*one.opts, *one.secondary_opts)}
    text = (ROOT / "docs" / "command-line.md").read_text()
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)) <= known


def anchors(page):
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", re.sub(BLOCK, "", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=map(title, PAGES))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(BLOCK, "", page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name}: {target}"
        assert ROOT in there.parents
        if anchor:
            assert anchor in anchors(there), f"{page.name}: {target}"


def test_every_page_is_reached_from_the_index():
    index = (ROOT / "docs" / "index.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        place = page.relative_to(ROOT / "docs")
        assert page.name == "index.md" or f"]({place})" in index, place
        assert page.name == "index.md" or f"\n{place.with_suffix('')}\n" in index, f"{place} is in no table of contents"


def test_every_public_name_is_in_the_guide():
    import noregret

    text = (ROOT / "docs" / "python.md").read_text()
    for name in noregret.__all__:
        assert f"nr.{name}" in text, name


def test_every_key_of_a_model_file_is_in_the_guide():
    from noregret.model import Header
    from noregret.stream import Features, Labels

    text = (ROOT / "docs" / "model-file.md").read_text()
    for key in (*Header.__struct_fields__, *Features().to_dict(), *Labels().to_dict()):
        assert f"`{key}`" in text, key


def test_every_key_of_json_is_in_the_guide():
    from noregret import learner, play

    figures = play(learner.OnlineGradientDescent(loss="logistic"), ([[1.0], [2.0]], [1, -1])).to_dict()
    text = (ROOT / "docs" / "figures.md").read_text()
    for key in (*figures, *figures["loss"], *figures["metrics"], *figures["baselines"], *figures["gradient"]):
        assert f"`{key}`" in text, key


def main() -> None:
    for page in RUN:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            new = played(page)
        if new != page.read_text():
            page.write_text(new)
            print(f"{page.relative_to(ROOT)}: outputs written anew", file=sys.stderr)


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "120")
    main()
