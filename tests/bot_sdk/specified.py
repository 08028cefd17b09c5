"""Answers as `openapi/service.yaml` describes them, for prepared arenas, and its operations."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import yaml

METHODS = ("get", "post", "put", "patch", "delete")
FULL, NULLS, LEAST = "full", "nulls", "least"
"""Whether an example has every field with something in it, null where it may, or only the fields that it must have."""


@functools.cache
def document() -> dict[str, Any]:
    text = (Path(__file__).parents[2] / "openapi" / "service.yaml").read_text("utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@functools.cache
def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Give method, path and description of each operation by its name."""
    return {
        item[method]["operationId"]: (method.upper(), path, item[method])
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item
    }


def example(schema: str, form: str = FULL, /, **changes: Any) -> Any:
    """Make an answer of the schema of that name, with other values for some of its fields."""
    return _made({"$ref": f"#/components/schemas/{schema}"}, form) | changes


def listed(schema: str, *changes: dict[str, Any], cursor: str | None = None) -> dict[str, Any]:
    """Make a page of a list, an item of that schema for each of the changes."""
    return {"items": [example(schema, **each) for each in changes], "next_cursor": cursor}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        *_, kind, name = schema["$ref"].split("/")
        schema = document()["components"][kind][name]
    return schema


def parameters(operation: dict[str, Any], where: str) -> set[str]:
    """Give the names of what an operation reads of the query or the headers."""
    found = map(resolved, operation.get("parameters", ()))
    return {each["name"] for each in found if each["in"] == where}


def is_at(path: str, template: str) -> bool:
    return re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path) is not None


def _made(schema: dict[str, Any], form: str) -> Any:
    schema = resolved(schema)
    kinds = schema.get("type", "object")
    may_be_null = "null" in kinds if isinstance(kinds, list) else {"type": "null"} in schema.get("anyOf", ())
    if form == NULLS and may_be_null:
        return None
    if "anyOf" in schema:
        return _made(schema["anyOf"][0], form)
    if "enum" in schema:
        return schema["enum"][0]
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object" and "properties" in schema:
        asked = schema.get("required", ()) if form == LEAST else schema["properties"]
        return {name: _made(schema["properties"][name], form) for name in asked}
    if kind == "object":
        inner = schema.get("additionalProperties")
        return {"some": _made(inner, form) if inner else "x"}
    if kind == "array":
        return [_made(schema["items"], form)]
    return {"string": "x", "integer": 3, "number": 2.5, "boolean": True}[kind]
