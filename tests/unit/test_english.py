"""What users read is plain, current English: no phrase of the list below is left in the texts that are checked.

All sources are checked, and all pages. Statements that a theory page takes from the registry of theorems are checked
where they are written, not on the page.
"""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

import theory  # noqa: E402

from noregret.proof.theorems import THEOREMS  # noqa: E402

PHRASES = {
    r"\banew\b": "again, or a verb: restart, rebuild, recompute",
    r"\bafresh\b": "again, or a verb: restart, rebuild, recompute",
    r"\bcommoner\b": "most frequent",
    r"\bcame last\b": "previous",
    r"\b(at most|after|in) so (many|much|long)\b": "the number itself, or: this many",
    r"\bso many (rows|rounds|seconds|mistakes|experts|features)\b": "the number itself, or: this many",
    r"\bso-manieth\b": "every n-th",
    r"\b(is|are|was|be) told\b": "sees, gets, knows",
    r"\bleaves with\b": "exits with",
    r"\bstands? still\b": "does not change, cannot be animated",
    r"\b(is|are) no (file|number|text|folder|model|cache|receipt|learner|plane)s?\b": "is not a …",
    r"\b[Rr]ead (it|them|the table|this) so\b": "How to read this:",
    r"\(says nothing\)": "(too loose to be useful here)",
    r"\bfor ever\b": "forever",
    r"\bby way of\b": "through",
    r"\bunless (given|told otherwise|said otherwise)\b": "the default is …",
    r"\bof one's own\b": "your own",
}


def texts():
    """Every text that is checked, with the name under which a failure reports it."""
    files = sorted((ROOT / "src" / "noregret").rglob("*.py"))
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]
    for file in (*files, *pages):
        yield str(file.relative_to(ROOT)), file


def without_statements(text):
    """A theory page without what the registry of theorems says."""
    for one in THEOREMS.values():
        text = text.replace(theory.head(one), "")
    return text


CHECKED = dict(texts())


@pytest.mark.parametrize("name", CHECKED)
def test_no_phrase_of_the_list_is_used(name):
    file = CHECKED[name]
    text = without_statements(file.read_text()) if file.parent.name == "theory" else file.read_text()
    one_line = re.sub(r"\s+", " ", text)
    found = {
        one_line[max(match.start() - 30, 0) : match.end() + 30]: better
        for phrase, better in PHRASES.items()
        for match in re.finditer(phrase, one_line)
    }
    assert found == {}, f"{name}: say it directly"


def test_the_list_finds_what_it_should():
    samples = "made anew; is told; so many rows; is no file; for ever; unless given; stands still; Read it so; afresh"
    for sample in samples.split("; "):
        assert any(re.search(phrase, sample) for phrase in PHRASES), sample
