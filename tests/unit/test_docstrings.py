"""The examples in docstrings are run, and every method that the reference shows says what it does."""

import doctest
import importlib
import inspect
import sys
from pathlib import Path

import pytest

import noregret

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

import reference  # noqa: E402

FILES = sorted(path for path in (ROOT / "src" / "noregret").rglob("*.py") if ">>> " in path.read_text())


def module_of(path):
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", [module_of(path) for path in FILES])
def test_examples_print_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted and not found.failed


def shown():
    """The classes of the reference: the public ones, and those behind them."""
    public = [getattr(noregret, name) for name in noregret.__all__]
    yield from (one for one in public if inspect.isclass(one))
    for path in reference.shared():
        module, _, name = path.rpartition(".")
        yield getattr(importlib.import_module(module), name)


def test_every_method_and_figure_of_a_public_class_says_what_it_is():
    silent = []
    for one in shown():
        for name, value in vars(one).items():
            plain = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if not name.startswith("_") and inspect.isfunction(getattr(plain, "func", plain)):
                silent += [] if inspect.getdoc(plain) else [f"{one.__name__}.{name}"]
    assert not silent
