"""`noregret`: the commands, and the one place where an error becomes a line on stderr and an exit code.

Exit 0: fine. 1: a claim failed. 2: bad usage or bad input, said in one line. 130: stopped by Ctrl-C, 143: by SIGTERM.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer

from noregret._version import __version__
from noregret.cli.signals import interrupted, listen, stop_code
from noregret.cli.terminal import escaped_output
from noregret.errors import CacheWarning, NoregretError, SettingError, command_has, on_command_line
from noregret.memory import shortage


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"noregret {__version__}")
        raise typer.Exit


def _front(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Online learning that shows its receipts: predict, suffer, update, one pass at compiled speed.

    Example: noregret learn spam.svm.gz --learner ogd --loss logistic --save spam.nr
    """
    if context.invoked_subcommand is None:
        raise SettingError("a command is missing: learn, certify, verify, … (see noregret --help)")


# Every command is a function of its own name in a module of its own name.
COMMANDS = {
    "learn": "Learn from a stream in one pass.",
    "certify": "Regret of a model's run, with proof.",
    "verify": "Recompute every number of a receipt.",
    "keygen": "A pair of keys to sign receipts with.",
    "sign": "Sign a receipt.",
    "compare": "Several learners on the same rounds.",
    "audit": "Regret of predictions that any model logged.",
    "merge": "Ledgers of parts as one.",
    "theorems": "List the theorems, or explain one.",
    "separate": "A separating hyperplane, or proof of none.",
    "blend": "Blend several forecasters into one.",
    "dim": "VC and Littlestone dimension of a class.",
    "game": "A learner, or you, against the adversary.",
    "mean": "The mean of rows as they come, with its regret.",
    "serve": "Predictions and labels over HTTP, with a live page.",
    "predict": "Score new rows with a saved model.",
    "inspect": "What is in a model file.",
    "cache": "Keep a stream's parsed rows.",
    "report": "Receipts and models as one page to read and print.",
    "demo": "The default and two learners on real data, with a receipt and a report.",
    "tour": "A guided tour in the terminal, four stops.",
    "bench": "Speed beside every installed peer.",
}


LATE = [["learn"], ["predict"]]  # rows may be waiting for them before they can look


def program(*names: str) -> typer.Typer:
    """The program with these commands; the modules of the others are not imported."""
    made = typer.Typer(
        name="noregret",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    made.callback(invoke_without_command=True)(_front)
    for name in names:
        command: Callable[..., None] = getattr(import_module(f"noregret.cli.{name}"), name)
        made.command(short_help=COMMANDS[name])(command)
    return made


# What a wrong option or argument raises, under whatever name this version of typer keeps it.
UsageError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main() -> None:
    """Run the command and leave with its exit code."""
    listen(late=sys.argv[1:2] in LATE)
    with escaped_output(), on_command_line():
        code = _run()
    sys.exit(code)


def _run() -> int:
    code: Any
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CacheWarning)
            warnings.showwarning = _note
            code = _command(sys.argv[1:2])(standalone_mode=False, prog_name="noregret")
        sys.stdout.flush()
    except NoregretError as error:
        code = _say(str(error))
    except MemoryError as error:
        code = _say(shortage(error))
    except UsageError as error:
        code = _say(_usage(error))
    except OSError as error:
        full = error.errno == errno.ENOMEM
        code = _say(shortage(MemoryError()) if full else f"cannot write the output: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except typer.Abort:
        code = stop_code()
    except SystemExit:  # the reader of our output has gone (`| head`): nothing is left to say, to nobody
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        code = stop_code()
    except Exception:
        if not interrupted():  # a library that is interrupted may say so in words of its own
            raise
        code = stop_code()
    if interrupted() and code == 130:  # what the parser of the command line makes of any KeyboardInterrupt
        code = stop_code()
    return code if isinstance(code, int) else 0


def _command(words: list[str]) -> Any:
    """The program, with only the command that the first word names: reading what the others take is slow."""
    named = [word for word in words if word in COMMANDS]
    command = typer.main.get_command(program(*(named or COMMANDS)))
    if named:
        inner = getattr(command, "commands", {named[0]: command})[named[0]]
        command_has(parameter.name for parameter in inner.params if parameter.name)
    leave_defaults_unchecked(command)
    return command


def _note(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """A warning of ours is a line like an error's; another is shown as Python shows it."""
    if issubclass(category, CacheWarning):
        _say(str(message))
    else:
        print(warnings.formatwarning(message, category, *place[:2]), end="", file=sys.stderr)


def _say(sentence: str) -> int:
    with suppress(OSError):  # nowhere to say it
        print(f"noregret: {' '.join(sentence.split())}", file=sys.stderr, flush=True)
    return 2


def _usage(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    where = "" if context is None else f"{context.command_path.removeprefix('noregret').strip()}: ".lstrip(": ")
    message = _plain(error.format_message())  # type: ignore[attr-defined]
    hint = "" if context is None else f" (see {context.command_path} --help)"
    return f"{where}{message[:1].lower()}{message[1:].rstrip('.')}{hint}"


def _plain(message: str) -> str:
    """`--radius must be a number, got 'abc'` for what the parser says of it."""
    found = re.fullmatch(r"Invalid value for '(-[-\w]+).*?': (.*) is not a valid (\w+)( range)?\.?", message)
    if found is None:
        return message
    kind = {"integer": "a whole number", "float": "a number"}.get(found[3], f"a {found[3]}")
    return f"{found[1]} must be {kind}, got {found[2]}"


def leave_defaults_unchecked(command: Any) -> None:
    """Let defaults and texts through as they are; under versions of typer that do not do this, nothing changes."""
    context = typer.Context(command, help_option_names=["-h", "--help"])
    for parameter in command.get_params(context):
        if hasattr(parameter, "_runtime_param") and parameter.nargs == 1 and not parameter.multiple:
            parameter._runtime_param = Unchecked()
    for inner in getattr(command, "commands", {}).values():
        leave_defaults_unchecked(inner)


class Unchecked:
    """Stands in for the check of one option's value until words of the command line have to become something else."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        text = param.type_descriptor.annotation in (str, str | None)
        if text or not isinstance(value, str):
            return value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
