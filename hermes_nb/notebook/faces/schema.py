"""A tool's definition, for reading: what it does, what it takes, how to call it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hermes_nb.common.jsonable import written
from hermes_nb.common.text import readable
from hermes_nb.notebook.faces import markup, values
from hermes_nb.notebook.faces.face import Shown
from hermes_nb.notebook.faces.markup import RED, Html, chip, code, dim
from hermes_nb.notebook.faces.results import state_chip, tool_name
from hermes_nb.notebook.faces.table import aligned, clipped
from hermes_nb.search.budget import about

_DEEPEST = 4
_LIMITS = {
    "minimum": "≥ {}", "maximum": "≤ {}", "exclusiveMinimum": "> {}", "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters", "maxLength": "at most {} characters", "pattern": "matches {}",
    "minItems": "at least {} items", "maxItems": "at most {} items", "format": "{}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool, as a person reads it."""

    name: str
    kind: str
    required: bool
    description: str
    depth: int = 0


class Description(Shown, dict[str, Any]):
    """A tool's definition in OpenAI's format, with faces that explain it."""

    def __init__(
        self, definition: Mapping[str, Any], *, toolset: str, emoji: str, state: str, tokens: int, lacks: str = ""
    ) -> None:
        super().__init__(definition)
        self.lacks = lacks if lacks != state else ""  # where that is why it can't be used, it is said already
        self.toolset = toolset
        self.emoji = emoji
        self.state = state
        self.tokens = tokens

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self["function"]["name"])

    @property
    def text(self) -> str:
        """What the tool does, in its own words."""
        return str(self["function"]["description"])

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        schema: dict[str, Any] = self["function"]["parameters"]
        return schema

    @property
    def parameters(self) -> list[Parameter]:
        """Its arguments, those of nested objects after the object."""
        return list(_parameters(self.schema, self.schema))

    @property
    def example(self) -> str:
        """A line that calls it."""
        needed = [entry for entry in self.parameters if entry.required and not entry.depth]
        pairs = " ".join(f"{entry.name}=…" for entry in needed)
        return f"%hermes call {self.name} {pairs}".rstrip()

    def __repr__(self) -> str:
        head = f"{self.name} ({self.toolset}, {self.state}, {about()}{self.tokens:,} tokens)"
        rows = [
            (
                f"  {'  ' * entry.depth}{clipped(entry.name, 40)}",
                clipped(entry.kind, 50),
                "required" if entry.required else "",
                clipped(entry.description),
            )
            for entry in self.parameters
        ]
        body = [aligned(rows)] if rows else ["  takes no arguments"]
        lacks = [self.lacks] if self.lacks else []
        return "\n".join([head, *lacks, readable(self.text).strip(), *body, self.example])

    def _html(self) -> Html:
        head = [
            markup.join([f"{self.emoji} " if self.emoji else None, tool_name(self.name)]),
            chip(self.toolset),
            state_chip(self.state),
            dim(f"{about()}{self.tokens:,} tokens"),
            dim(self.lacks) if self.lacks else None,
        ]
        rows = [
            (
                markup.tag(
                    "span",
                    code(entry.name),
                    markup.tag("span", " *", style=f"color:{RED}", title="required") if entry.required else None,
                    style=f"padding-left:{entry.depth * 1.2:.1f}em;white-space:nowrap",
                ),
                dim(code(entry.kind)),
                entry.description,
            )
            for entry in self.parameters
        ]
        return markup.card(
            head,
            markup.tag("div", self.text, style="white-space:pre-wrap;margin:.2em 0 .4em"),
            markup.grid(("argument", "type", ""), rows) if rows else dim("takes no arguments"),
            markup.tag("div", code(self.example), style="margin:.4em 0 .2em"),
            markup.fold(dim("JSON schema"), values.json_block(self.schema)),
        )


def _parameters(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Iterator[Parameter]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth > _DEEPEST:
        return
    needed = schema.get("required")
    required = set(needed) if isinstance(needed, list) else set()
    for name in sorted(properties, key=lambda name: name not in required):
        inner = followed(properties[name], root)
        yield Parameter(name, kind_of(inner, root), name in required, str(inner.get("description") or ""), depth)
        items = followed(inner.get("items"), root)
        yield from _parameters(inner if "properties" in inner else items, root, depth + 1)


def followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with its reference followed, and with what was written beside the reference."""
    for _ in range(8):  # a chain of references may be a circle
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **beside} if isinstance(target, Mapping) else beside
    return {}


def kind_of(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> str:
    """The type in words: ``integer ≥ 1``, ``"a" | "b"``, ``array of string``, with its default."""
    choices = schema.get("enum")
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        kind = " | ".join(written(choice) for choice in choices[:12])
        kind += " | …" if len(choices) > 12 else ""
    elif "const" in schema:
        kind = written(schema["const"])
    elif isinstance(branches, list) and depth < _DEEPEST:
        kind = " | ".join(dict.fromkeys(kind_of(followed(branch, root), root, depth + 1) for branch in branches))
    else:
        kind = _plain_kind(schema, root, depth)
    limits = [words.format(schema[key]) for key, words in _LIMITS.items() if key in schema]
    if "default" in schema:
        limits.append(f"= {written(schema['default'])}")
    return " ".join([kind, *limits])


def _plain_kind(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "any")
    if isinstance(kind, list):
        return " | ".join(map(str, kind))
    if kind == "array" and isinstance(schema.get("items"), Mapping) and depth < _DEEPEST:
        return f"array of {kind_of(followed(schema['items'], root), root, depth + 1)}"
    return str(kind)
