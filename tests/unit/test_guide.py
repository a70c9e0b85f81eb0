"""The guide as it is built: nothing is missing, every link leads somewhere, no page asks the network for anything."""

import inspect
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree

import pytest
import typer

import noregret
from noregret.cli.arguments import sentence, settings_by_name
from noregret.cli.main import COMMANDS, program

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}  # what a browser fetches


class Page(HTMLParser):
    """The anchors of a page, where its links go, what it loads, and its words."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.words = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if "id" in known:
            self.anchors.add(known["id"])
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        if tag in LOADED and known.get(LOADED[tag]):
            self.loaded.append(known[LOADED[tag]])

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """Every page of the guide, built anew with warnings as errors."""
    folder = tmp_path_factory.mktemp("guide")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-b", "html"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    built = subprocess.run([*command, DOCS, folder], capture_output=True, text=True, env=environment, check=False)
    assert built.returncode == 0, built.stderr
    return {path: Page(path.read_text()) for path in folder.rglob("*.html")}, folder


def test_every_page_is_built_and_stands_in_the_table_of_contents(guide):
    pages, folder = guide
    contents = {urldefrag(link)[0] for link in pages[folder / "index.html"].links}
    for page in DOCS.rglob("*.md"):
        place = page.relative_to(DOCS).with_suffix(".html")
        assert folder / place in pages
        assert place.name == "index.html" or str(place) in contents, place


def test_every_link_of_the_built_pages_leads_somewhere(guide):
    pages, folder = guide
    seen = 0
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            target, anchor = urldefrag(unquote(link))
            if ":" in target.split("/")[0] or target.startswith("//"):
                continue
            there = (path.parent / target.partition("?")[0]).resolve() if target else path
            assert there.exists(), f"{path.relative_to(folder)}: {link}"
            if anchor and there in pages:
                assert anchor in pages[there].anchors, f"{path.relative_to(folder)}: {link}"
            seen += 1
    assert seen > 1000


def test_formulas_are_set(guide):
    _, folder = guide
    page = (folder / "theory" / "gradient.html").read_text()
    assert "‖w<sub>t+1</sub> − u‖²" in page and "w_{t+1}" not in page
    assert "2<sup>k/2</sup>" in page
    assert "e<sup>−η·c<sub>i</sub></sup>" in (folder / "theory" / "experts.html").read_text()
    assert "this_run" in (folder / "how-to" / "resume.html").read_text()  # code is left alone


def test_no_page_asks_the_network_for_anything(guide):
    pages, folder = guide
    for path, page in pages.items():
        for link in page.loaded:
            assert not link.startswith(("http:", "https:", "//")), f"{path.relative_to(folder)} loads {link}"
    for style in folder.rglob("*.css"):
        assert "url(http" not in style.read_text() and "@import" not in style.read_text(), style


def test_every_command_and_option_is_in_the_reference(guide):
    pages, folder = guide
    page = pages[folder / "reference" / "commands.html"]
    top = typer.main.get_command(program(*COMMANDS))
    for name, command in {"": top, **top.commands}.items():
        assert "-".join(["noregret", name]).rstrip("-") in page.anchors, name
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else []:
                assert option in page.text, f"{name} {option}"
            help = " ".join((getattr(parameter, "help", None) or "").split())
            assert help in page.text, f"{name}: {help}"


def test_every_public_name_is_in_the_reference_with_its_docstring(guide):
    pages, folder = guide
    page = pages[folder / "reference" / "names.html"]
    for name in noregret.__all__:
        value = getattr(noregret, name)
        assert f"noregret.{name}" in page.anchors | set(page.text.replace(":", " ").split()), name
        if callable(value):
            first = inspect.getdoc(value).split("\n\n")[0].split(">>>")[0]
            words = " ".join(first.replace("`", "").split())
            assert words in page.text, f"{name}: {words}"


def test_every_setting_of_an_estimator_is_explained(guide):
    pages, folder = guide
    page, written = pages[folder / "reference" / "names.html"], (DOCS / "reference" / "names.md").read_text()
    declared = settings_by_name()
    for setting, owners in declared.items():
        assert f"{setting} {' '.join(sentence(owners).split())}" in page.text, setting
    for name in noregret.__all__:
        value = getattr(noregret, name)
        if inspect.isclass(value) and hasattr(value, "fit"):
            for setting in inspect.signature(value).parameters:
                assert setting in declared or f"`{setting}`" in written, f"{name}({setting})"


def shown(svg):
    """The words of a picture, and how many shapes it has of each kind."""
    root = ElementTree.parse(svg).getroot()
    texts = sorted("".join(one.itertext()).strip() for one in root.iter("{http://www.w3.org/2000/svg}text"))
    return texts, sum(1 for _ in root.iter("{http://www.w3.org/2000/svg}path"))


def test_the_pictures_are_those_that_the_script_draws(tmp_path):
    script = DOCS / "extensions" / "pictures.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, script, tmp_path], check=True, env=environment)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert len(drawn) > 10
    for name in drawn:
        assert shown(tmp_path / name) == shown(DOCS / "theory" / "pictures" / name), (
            f"{name}: python {script} draws it anew"
        )
        assert (DOCS / "theory" / "pictures" / name).stat().st_size < 60_000
        assert any(f"](pictures/{name})" in page.read_text() for page in DOCS.rglob("*.md")), f"{name} is not shown"
