"""The OpenAPI document, made from the types that requests and answers are checked by."""

from __future__ import annotations

from typing import Any

import msgspec

from noregret._version import __version__
from noregret.service.wire import (
    Head,
    Label,
    Listing,
    Outcome,
    Prediction,
    Problem,
    Question,
    RoundState,
    Windows,
)

TYPES = (Question, Prediction, Label, Outcome, RoundState, Windows, Head, Listing, Problem)
PROBLEMS = {
    "400": "not JSON, or parts that contradict each other",
    "401": "no key, or a wrong one",
    "403": "another host or another site",
    "404": "no such model, or an unknown prediction",
    "409": "the id has another row, or the round another label",
    "413": "too large",
    "415": "packed",
    "422": "a row or a label that cannot be used",
    "429": "too much waits for the disk",
    "503": "the disk cannot be written, or the service stops",
}


def document() -> dict[str, Any]:
    """The document as plain data."""
    _, components = msgspec.json.schema_components(TYPES, ref_template="#/components/schemas/{name}")
    model = {"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}
    id = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    at = "/v1/models/{model}"
    return {
        "openapi": "3.1.0",
        "info": {"title": "noregret", "version": __version__},
        "paths": {
            "/v1/models": {"get": _operation("The models that are served", Listing)},
            f"{at}/predict": {"post": _asked("Predict a row, or rows", Question, Prediction, [model])},
            f"{at}/label": {"post": _asked("Labels, answered when they are on the disk", Label, Outcome, [model])},
            f"{at}/rounds/{{id}}": {"get": _operation("A round by its id", RoundState, [model, id])},
            f"{at}/windows": {"get": _operation("Figures over time, and now", Windows, [model])},
            f"{at}/receipt": {"get": _operation("The state of the log, and the chain of receipts", Head, [model])},
            f"{at}/model": {"get": _binary("The model file", "application/octet-stream", [model])},
            f"{at}/live": {"get": _binary("Server-sent events: the figures of now", "text/event-stream", [model])},
            "/metrics": {"get": _binary("Figures for Prometheus", "text/plain")},
            "/healthz": {"get": _plain("Whether the process answers", "healthy")},
            "/readyz": {"get": _plain("Whether events are taken", "ready")},
        },
        "components": {"schemas": components, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"key": []}],
    }


def _reference(kind: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _content(kind: type, *, many: bool) -> dict[str, Any]:
    """An object or, where there may be many, an array of them or one on each line."""
    one: dict[str, Any] = _reference(kind)
    if not many:
        return {"application/json": {"schema": one}}
    array = {"anyOf": [one, {"type": "array", "items": one}]}
    return {"application/json": {"schema": array}, "application/x-ndjson": {"schema": one}}


def _answers(content: dict[str, Any]) -> dict[str, Any]:
    problem = {"application/json": {"schema": _reference(Problem)}}
    refused = {status: {"description": about, "content": problem} for status, about in PROBLEMS.items()}
    return {"200": {"description": "the answer", "content": content}, **refused}


def _operation(about: str, answer: type, parameters: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"summary": about, "parameters": parameters or [], "responses": _answers(_content(answer, many=False))}


def _asked(about: str, asked: type, answer: type, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    body = {"required": True, "content": _content(asked, many=True)}
    found = _answers(_content(answer, many=True))
    return {"summary": about, "parameters": parameters, "requestBody": body, "responses": found}


def _binary(about: str, kind: str, parameters: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    content = {kind: {"schema": {"type": "string"}}}
    return {"summary": about, "parameters": parameters or [], "responses": _answers(content)}


def _plain(about: str, name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: {"type": "boolean"}}}
    return {"summary": about, "responses": _answers({"application/json": {"schema": schema}})}
