"""Options that were not given cost nothing: the library that checks option values loads when there is one to check.

Newer versions of typer check values with pydantic, which takes longer to load than all of noregret; a command such as
`noregret learn FILE` has nothing to be checked by it.
"""

from __future__ import annotations

from typing import Any

import typer


def check_only_what_is_given(command: Any) -> None:
    """Let defaults and texts through as they are; under versions of typer that do not do this, nothing changes."""
    context = typer.Context(command, help_option_names=["-h", "--help"])
    for parameter in command.get_params(context):
        if hasattr(parameter, "_runtime_param") and parameter.nargs == 1 and not parameter.multiple:
            parameter._runtime_param = Unchecked()
    for inner in getattr(command, "commands", {}).values():
        check_only_what_is_given(inner)


class Unchecked:
    """Stands in for the check of one option's value until words of the command line have to become something else."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        text = param.type_descriptor.annotation in (str, str | None)
        if text or not isinstance(value, str):
            return value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
