"""Every theorem has its section in the theory pages: statement, proof, and tests that there are and that know it."""

import re
import sys
from pathlib import Path

import pytest

from noregret.proof.theorems import THEOREMS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

import theory  # noqa: E402


def sections():
    """The text below each heading that is a theorem's name, and the page that it stands on."""
    found = {}
    for page in PAGES:
        parts = re.split(r"^## (.+)\n", page.read_text(), flags=re.MULTILINE)
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            if name in THEOREMS:
                assert name not in found, f"{name} has two sections"
                found[name] = (text, page)
    return found


SECTIONS = sections()


def test_every_theorem_has_a_section():
    assert set(SECTIONS) == set(THEOREMS)


@pytest.mark.parametrize("name", THEOREMS)
def test_the_head_of_a_section_is_what_the_registry_says(name):
    text, _ = SECTIONS[name]
    assert text.startswith(theory.head(THEOREMS[name])), "python docs/extensions/theory.py writes the heads anew"


@pytest.mark.parametrize("name", THEOREMS)
def test_a_section_has_a_statement_a_proof_and_what_checks_it(name):
    text, _ = SECTIONS[name]
    order = [text.index(word) for word in ("**Statement.**", "**Proof.** ", "**Checked by** ")]
    assert order == sorted(order)
    assert ("**Erratum.**" in text) == (THEOREMS[name].erratum is not None)


@pytest.mark.parametrize("name", THEOREMS)
def test_what_checks_a_theorem_is_there_and_knows_its_name(name):
    text, page = SECTIONS[name]
    links = re.findall(r"\[`(\w+)`\]\((\S+)\)", text.split("**Checked by** ")[1])
    assert links
    files = []
    for function, target in links:
        file = (page.parent / target).resolve()
        assert ROOT / "tests" in file.parents
        files.append(file.read_text())
        assert re.search(rf"^def {function}\(", files[-1], re.MULTILINE), f"{target} has no {function}"
    assert any(known(name, file) for file in files), f"no test of {name} names it"


def known(name: str, text: str) -> bool:
    """Whether a test names a theorem, as text or as the function that it is."""
    return f'"{name}"' in text or re.search(rf"\b{name.replace('-', '_')}\b", text) is not None


def test_heads_that_are_right_are_left_as_they_are():
    for page in PAGES:
        assert theory.renewed(page.read_text()) == page.read_text()


def test_a_head_that_is_wrong_is_written_anew():
    page = next(page for page in PAGES if page.stem == "strong")
    wrong = page.read_text().replace("Σ‖g_t‖²/(2σt)", "0")
    assert wrong != page.read_text()
    assert "> Σ‖g_t‖²/(2σt)\n" in theory.renewed(wrong)
