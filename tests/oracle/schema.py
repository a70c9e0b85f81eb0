"""JSON Schema as far as the schema of receipts uses it: the path of the first place that does not fit, or None."""

from __future__ import annotations

import re
from typing import Any

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
USED = {"$ref", "anyOf", "oneOf", "allOf", "const", "enum", "type", "pattern", "minimum", "minItems", "maxItems"}
USED |= {"items", "properties", "required", "additionalProperties", "$schema", "$defs", "title", "description"}


def misfit(said: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> str | None:
    """Where `said` does not fit the schema."""
    if not set(schema) <= USED:
        raise NotImplementedError(f"{at}: {set(schema) - USED}")
    if "$ref" in schema:
        return misfit(said, root["$defs"][schema["$ref"].rpartition("/")[2]], root, at)
    for key, enough in (("anyOf", lambda n: n >= 1), ("oneOf", lambda n: n == 1)):
        if key in schema:
            found = [misfit(said, one, root, at) for one in schema[key]]
            if not enough(found.count(None)):
                return max((one for one in found if one is not None), key=len, default=at)
    for one in schema.get("allOf", []):
        if wrong := misfit(said, one, root, at):
            return wrong
    if "const" in schema and (said != schema["const"] or type(said) is not type(schema["const"])):
        return at
    if "enum" in schema and said not in schema["enum"]:
        return at
    if "type" in schema and not _is(said, schema["type"]):
        return at
    if isinstance(said, str) and "pattern" in schema and not re.search(schema["pattern"], said):
        return at
    if "minimum" in schema and type(said) in (int, float) and said < schema["minimum"]:
        return at
    if isinstance(said, list):
        return _list(said, schema, root, at)
    return _object(said, schema, root, at) if isinstance(said, dict) else None


def _is(said: Any, kind: str) -> bool:
    if kind in ("number", "integer"):
        return type(said) is int or (type(said) is float and (kind == "number" or said.is_integer()))
    return type(said) is KINDS[kind]


def _list(said: list[Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> str | None:
    if not schema.get("minItems", 0) <= len(said) <= schema.get("maxItems", len(said)):
        return at
    parts = (misfit(one, schema.get("items", {}), root, f"{at}[{place}]") for place, one in enumerate(said))
    return next((one for one in parts if one is not None), None)


def _object(said: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> str | None:
    for key in schema.get("required", []):
        if key not in said:
            return f"{at}.{key}"
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for key, one in said.items():
        if key not in known and others is False:
            return f"{at}.{key}"
        wrong = misfit(one, known.get(key, others or {}), root, f"{at}.{key}")
        if wrong is not None:
            return wrong
    return None
