"""Options in groups: a command takes a few objects, and the command line shows all that they hold side by side.

A group is a class whose annotated fields are options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


class Group:
    """Options that belong together, each an annotated field with its default."""

    @classmethod
    def options(cls) -> dict[str, tuple[Any, Any]]:
        """The annotation and the default of each option."""
        return {name: (kind, getattr(cls, name)) for name, kind in get_type_hints(cls, include_extras=True).items()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Any:
        """The group with what was given."""
        made = cls()
        vars(made).update(given)
        return made


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command for the command line: the options of its groups as its own."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type[Group], list[str]]] = {}
    flat: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and issubclass(kind, Group):
            options = kind.options()
            groups[name] = (kind, list(options))
            flat += [_parameter(each, annotation, default) for each, (annotation, default) in options.items()]
        else:
            flat.append(_parameter(name, kind, parameter.default))

    def flattened(**given: Any) -> None:
        made = {name: kind.of({each: given.pop(each) for each in own}) for name, (kind, own) in groups.items()}
        command(**given, **made)

    flattened.__name__, flattened.__doc__ = command.__name__, command.__doc__
    flattened.__annotations__ = {one.name: one.annotation for one in flat}
    flattened.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    return flattened


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
