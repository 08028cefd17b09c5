"""What the API says of itself: its operations, who may call each, and bodies that each takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from service.api.specification import specification

DOCUMENT = specification()
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """An operation; `kinds` are the schemes of tokens that it takes, `""` for none at all."""

    path: str
    method: str
    name: str
    kinds: frozenset[str]
    raw: dict[str, Any]

    @property
    def is_public(self) -> bool:
        return "" in self.kinds

    @property
    def parameters(self) -> list[str]:
        """Names in the path."""
        return [each["name"] for each in DOCUMENT["paths"][self.path].get("parameters", ()) if each["in"] == "path"]

    @property
    def query(self) -> list[str]:
        """Names of arguments."""
        return [each["name"] for each in self._own_parameters() if each["in"] == "query"]

    @property
    def headers(self) -> list[str]:
        """Names of headers that it reads."""
        return [each["name"] for each in self._own_parameters() if each["in"] == "header"]

    def _own_parameters(self) -> list[dict[str, Any]]:
        return [resolved(each) for each in self.raw.get("parameters", ())]

    @property
    def body(self) -> dict[str, Any] | None:
        """Schema of the body."""
        content = self.raw.get("requestBody", {}).get("content", {})
        return content["application/json"]["schema"] if content else None

    def filled(self, things: dict[str, str]) -> str:
        """Give the path with the names of things in it, and for the rest the examples of the specification."""
        examples = {
            each["name"]: str(each["schema"]["example"])
            for each in DOCUMENT["paths"][self.path].get("parameters", ())
            if each["in"] == "path"
        }
        return self.path.format(**examples | things)


def operations() -> Iterator[Operation]:
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                raw = item[method]
                security = raw.get("security", DOCUMENT["security"])
                kinds = frozenset(kind for each in security for kind in (each or {"": []}))
                yield Operation(path, method.upper(), raw["operationId"], kinds, raw)


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Follow references."""
    while "$ref" in schema:
        found = DOCUMENT
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    return schema


def smallest(schema: dict[str, Any]) -> Any:
    """Make the smallest value that a schema takes, as far as schemas of ours go."""
    schema = resolved(schema)
    if "example" in schema or "enum" in schema:
        return schema.get("example", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        return smallest(schema["anyOf"][0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: smallest(schema["properties"][name]) for name in schema.get("required", ())}
    if kind == "array":
        return [smallest(schema["items"]) for _ in range(schema.get("minItems", 0))]
    if kind == "string":
        return "x" * max(1, schema.get("minLength", 1))
    return {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1.0), "boolean": False}[kind]


Path = tuple[str | int, ...]


def fields(schema: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Give all fields that a schema knows, inner ones too, by their paths, with their schemas."""
    schema = resolved(schema)
    for choice in schema.get("anyOf", ()):
        yield from fields(choice, path)
    for name, inner in schema.get("properties", {}).items():
        yield (*path, name), resolved(inner)
        yield from fields(inner, (*path, name))
    if "items" in schema:
        yield (*path, 0), resolved(schema["items"])
        yield from fields(schema["items"], (*path, 0))


def objects(schema: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, set[str]]]:
    """Give all objects in a body of that schema by their paths, with the names that they know."""
    schema = resolved(schema)
    for choice in schema.get("anyOf", ()):
        yield from objects(choice, path)
    if "properties" in schema:
        yield path, set(schema["properties"])
    for name, inner in schema.get("properties", {}).items():
        yield from objects(inner, (*path, name))
    if "items" in schema:
        yield from objects(schema["items"], (*path, 0))
