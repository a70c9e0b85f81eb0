"""The reference: pages whose marks are replaced by what the program says of itself.

`<!-- commands -->` becomes every command with its arguments and options as `--help` knows them, `<!-- names -->` every
name of `noregret.__all__` with its docstring, `<!-- settings -->` every setting that a learner declares. So none can be
forgotten.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any


def escaped(text: str) -> str:
    """Words as they are: nothing in them is Markdown."""
    return re.sub(r"([\\*_<>\[\]`|])", r"\\\1", " ".join(text.split()))


def typed(parameter: Any) -> str:
    """An option or argument as it is typed, with the name of its value."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    value = "" if parameter.is_flag else f" {parameter.metavar or parameter.opts[-1].lstrip('-').upper()}"
    return ", ".join(f"`{name}{value}`" for name in [*parameter.opts, *parameter.secondary_opts])


def told(parameter: Any) -> str:
    """What `--help` says of it, and its default where it has one that the words do not give."""
    text = escaped(getattr(parameter, "help", None) or "")
    if parameter.required:
        return f"{text} Required."
    given = isinstance(parameter.default, str | int | float) and not getattr(parameter, "is_flag", False)
    if given and "default" not in text:
        text += f" Default: {escaped(str(parameter.default))}."
    return text


def described(help: str) -> Iterator[str]:
    """The paragraphs of a command's help; its examples become a block."""
    for paragraph in inspect.cleandoc(help).split("\n\n"):
        one = " ".join(paragraph.split())
        if one in ("Examples:", "Example:"):
            yield one
        elif one.removeprefix("Example: ").startswith("noregret "):
            yield f"```text\n{one.removeprefix('Example: ')}\n```"
        else:
            yield escaped(one)


def command_section(name: str, command: Any) -> Iterator[str]:
    """One command: its heading, its words, its arguments and options."""
    yield f"## noregret {name}".rstrip()
    yield from described(command.help or "")
    for parameter in command.params:
        yield f"{typed(parameter)}\n: {told(parameter)}"


def commands() -> str:
    """Every command of the program."""
    import typer

    from noregret.cli.main import COMMANDS, program

    top = typer.main.get_command(program(*COMMANDS))
    parts = [*command_section("", top)]
    for name, command in sorted(top.commands.items()):
        parts += command_section(name, command)
    return "\n\n".join(parts)


def kinds() -> dict[str, list[str]]:
    """The public names by what they are, each once."""
    import noregret

    found: dict[str, list[str]] = {"Functions": [], "Estimators": [], "Classes": [], "Errors": [], "Values": []}
    for name in sorted(noregret.__all__, key=str.lower):
        found[kind(getattr(noregret, name))].append(name)
    return found


def kind(value: Any) -> str:
    if not inspect.isclass(value):
        return "Functions" if callable(value) else "Values"
    if issubclass(value, Exception):
        return "Errors"
    return "Estimators" if hasattr(value, "fit") else "Classes"


def name_section(name: str, kind: str) -> str:
    """One public name: its heading and what autodoc makes of it."""
    if kind == "Values":
        return f"### {escaped(name)}\n\n{VALUES.get(name, f'`noregret.{name}`')}"
    directive = "autofunction" if kind == "Functions" else "autoclass"
    lines = [f".. {directive}:: noregret.{name}"]
    if kind not in ("Functions", "Errors"):
        lines += ["   :members:", "   :exclude-members: __init__, __new__"]
    body = "\n".join(lines)
    return f"### {name}\n\n```{{eval-rst}}\n{body}\n```"


def shared() -> list[str]:
    """The classes behind the public ones that have something to say, each once."""
    import noregret

    public = [getattr(noregret, name) for name in noregret.__all__]
    behind = {base: None for one in public if inspect.isclass(one) for base in one.__mro__ if base not in public}
    own = [base for base in behind if base.__module__.startswith("noregret.")]
    return sorted(f"{base.__module__}.{base.__qualname__}" for base in own if speaks(base))


def speaks(base: type) -> bool:
    """Whether a class has methods or figures of its own for the user."""
    public = [one for name, one in vars(base).items() if not name.startswith("_")]
    return any(callable(one) or isinstance(one, property) for one in public)


def shared_section(path: str) -> str:
    return f"### {path.rpartition('.')[2]}\n\n```{{eval-rst}}\n.. autoclass:: {path}()\n   :members:\n```"


VALUES = {
    "LOSSES": "`noregret.LOSSES`: every built-in loss by name; [losses](../learners.md#losses) has their formulas.",
    "__version__": "`noregret.__version__`: the version of the package, as text.",
}


def names() -> str:
    """Every public name."""
    parts = []
    for kind, listed in kinds().items():
        parts += [f"## {kind}", *(name_section(name, kind) for name in listed)]
    parts += ["## What these share", *(shared_section(path) for path in shared())]
    return "\n\n".join(parts)


def settings() -> str:
    """Every setting that a learner declares, as a table."""
    from noregret.cli.arguments import sentence, settings_by_name

    lines = ["| setting | meaning | option |", "|---|---|---|"]
    for name, owners in settings_by_name().items():
        lines.append(f"| `{name}` | {escaped(sentence(owners))} | `--{name.replace('_', '-')}` |")
    return "\n".join(lines)


MARKS: dict[str, Callable[[], str]] = {
    "<!-- commands -->": commands,
    "<!-- names -->": names,
    "<!-- settings -->": settings,
}


def fill(app: Any, page: str, source: list[str]) -> None:
    for mark, made in MARKS.items():
        if mark in source[0]:
            source[0] = source[0].replace(mark, made())


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
