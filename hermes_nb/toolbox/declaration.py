"""What a tool is: what the model is told of it, what runs when it is called, and what makes it unusable."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hermes_nb.context import accepted_keywords
from hermes_nb.errors import CallRefused, RegistrationError
from hermes_nb.toolbox.arguments import compile_validator, prepare
from hermes_nb.toolbox.toolsets import AGENT_TOOLS, CORE_TOOLS, EVERYTHING, MCP_PREFIX, SPEAK_OF_OTHERS

if TYPE_CHECKING:
    import jsonschema_rs

    from hermes_nb.approval.assessment import Assessment
    from hermes_nb.approval.view import ApprovalView
    from hermes_nb.calls.place import Place
    from hermes_nb.context import Context
    from hermes_nb.toolbox.availability import Check

logger = logging.getLogger(__name__)

Handler = Callable[..., Any]
Guard = Callable[[Mapping[str, Any], "Context"], "Assessment"]
#: From a call's arguments and its context to where it works.
Where = Callable[[Mapping[str, Any], "Context"], "Place"]
#: From a call's arguments to what a person is shown of it.
ApprovalViewer = Callable[[Mapping[str, Any]], "ApprovalView"]
#: True: safe beside any call. A function: the resources a call touches; calls that share one run in order.
Parallel = bool | Callable[[Mapping[str, Any]], Iterable[str]]
Source = Literal["core", "mcp", "plugin"]

BRIDGE_NAMES = frozenset({"tool_search", "tool_describe", "tool_call"})
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
#: Stands for what a tool's name and toolset say, where its declaration doesn't say it.
_DERIVED: Any = None


@dataclass(frozen=True, eq=False)
class Tool:
    """One tool: what the model is told of it, and what runs when it is called.

    The last five attributes decide how it is treated. What a declaration leaves out is derived once, when the tool is
    made, from its name and toolset.

    Attributes:
        name: Unique in its registry.
        toolset: The toolset that it belongs to.
        description: What it does.
        parameters: The JSON schema of its arguments.
        handler: ``handler(args: dict, **context)``.
        check_fn: Returns whether it can work now.
        requires_env: Environment variables that it needs.
        is_async: Whether the handler is a coroutine function.
        emoji: Shown beside its name.
        max_result_size_chars: A longer result is clipped, and kept whole in a file.
        dynamic_schema_overrides: Returns the parts of the schema that are known only when it is shown.
        guard: Looks at the arguments of a call and says what is dangerous about them.
        parallel: Whether calls may run beside others, or a function that names the resources a call touches.
        where: Says where a call works, where its arguments decide that: a folder they name, the backend of a job. It is
            what a person is told, and what the journal keeps.
        keeps_deadline: Whether the handler ends by itself at ``context.deadline``, with what it has until then.
        source: Where it comes from: core, mcp (a server) or plugin (anything else).
        origin: The server or toolset as people say it: ``github`` for the toolset ``mcp-github``.
        deferrable: Whether tool search may stand for it; otherwise a model always sees it as it is.
        handled_by_session: Whether it needs an agent's own state, so that a session may take it over.
        mentions_tools: Tools that its descriptions may name; those that a session lacks are taken out of them.
    """

    name: str
    toolset: str
    description: str
    parameters: Mapping[str, Any]
    handler: Handler
    check_fn: Check | None = None
    requires_env: tuple[str, ...] = ()
    is_async: bool = False
    emoji: str = ""
    max_result_size_chars: float | None = None
    dynamic_schema_overrides: Callable[[], Mapping[str, Any]] | None = None
    guard: Guard | None = None
    parallel: Parallel = False
    approval_view: ApprovalViewer | None = None
    where: Where | None = None
    keeps_deadline: bool = False
    source: Source = _DERIVED
    origin: str = _DERIVED
    deferrable: bool = _DERIVED
    handled_by_session: bool = _DERIVED
    mentions_tools: frozenset[str] = _DERIVED

    def __post_init__(self) -> None:
        for field, value in _derived(str(self.name), str(self.toolset)).items():
            if getattr(self, field) is _DERIVED:
                object.__setattr__(self, field, value)

    @cached_property
    def accepted(self) -> frozenset[str] | None:
        """The context keywords that the handler takes (None: any)."""
        return accepted_keywords(self.handler)

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        """The compiled schema of the arguments."""
        return compile_validator(self.parameters, self.name)

    @cached_property
    def definition_json(self) -> bytes:
        """The definition in OpenAI's format, encoded."""
        return msgspec.json.encode(definition(self.name, self.description, self.parameters))

    def same_as(self, other: Tool) -> bool:
        """Whether both are declared alike: shown in the same words, run by equal handlers, treated the same."""
        if self.definition_json != other.definition_json:  # not by ==, which takes true for 1
            return False
        others = self.__dataclass_fields__.keys() - {"name", "description", "parameters"}
        return all(bool(getattr(self, field) == getattr(other, field)) for field in others)

    def prepare(self, written: Any) -> dict[str, Any]:
        """The arguments that a call with what was written would run with, by the schema that is shown at this moment.

        Raises:
            CallRefused: They don't fit it; the message names each argument and what was expected.
        """
        current = self if self.dynamic_schema_overrides is None else self.overridden()
        try:
            return prepare(written, current.parameters, current.validator, self.name)
        except CallRefused as refusal:
            refusal.details = {"parameters": current.parameters}  # so that the model's next try can succeed
            raise

    def overridden(self) -> Tool:
        """The tool as its ``dynamic_schema_overrides`` describe it at this moment."""
        if self.dynamic_schema_overrides is None:
            return self
        try:
            overrides = dict(self.dynamic_schema_overrides())
            description = str(overrides.get("description", self.description))
            overridden = self.described(description, overrides.get("parameters", self.parameters))
            _ = overridden.definition_json  # what can't be shown must not keep the other tools from being shown
        except Exception:
            logger.exception("%s: dynamic_schema_overrides failed; its registered schema is shown", self.name)
            return self
        return overridden

    def described(self, description: str, parameters: Mapping[str, Any]) -> Tool:
        """The same tool, described in other words."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Tool(**{**values, "description": description, "parameters": parameters})


def _derived(name: str, toolset: str) -> dict[str, Any]:
    """What a name and a toolset say of a tool: the only place where they decide how it is treated."""
    is_core = name in CORE_TOOLS
    return {
        "source": "mcp" if toolset.startswith(MCP_PREFIX) else "core" if is_core else "plugin",
        "origin": toolset.removeprefix(MCP_PREFIX),
        "deferrable": not is_core,
        "handled_by_session": name in AGENT_TOOLS,
        "mentions_tools": CORE_TOOLS if name in SPEAK_OF_OTHERS else frozenset(),
    }


def given(**fields: bool | None) -> dict[str, Any]:
    """The fields that somebody gave; a tool derives the others itself."""
    return {name: value for name, value in fields.items() if value is not None}


def definition(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A tool definition in OpenAI's format."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": dict(parameters)},
    }


def read_schema(schema: Mapping[str, Any], name: str) -> tuple[str, Mapping[str, Any]]:
    """Description and parameters from a function schema, one wrapped as OpenAI sends it, or a bare JSON schema."""
    if not isinstance(schema, Mapping):
        raise RegistrationError(f"{name}: the schema must be a mapping, not {type(schema).__name__}")
    inner = schema.get("function") if schema.get("type") == "function" else schema
    if not isinstance(inner, Mapping):
        raise RegistrationError(f"{name}: the schema of type 'function' lacks its 'function' part")
    bare = "parameters" not in inner and ("properties" in inner or inner.get("type") == "object")
    parameters = inner if bare else inner.get("parameters") or {"type": "object", "properties": {}}
    if not isinstance(parameters, Mapping) or parameters.get("type", "object") != "object":
        raise RegistrationError(f"{name}: 'parameters' must be a JSON schema of type 'object'")
    try:
        copied = msgspec.json.decode(msgspec.json.encode(parameters))
    except (TypeError, ValueError) as error:
        raise RegistrationError(f"{name}: the schema is not JSON: {error}") from error
    return str(inner.get("description") or ""), {"type": "object", **copied}


def check_tool(tool: Tool) -> None:
    """Raise RegistrationError for a tool that could never be shown or called."""
    if not _NAME.fullmatch(str(tool.name)):
        raise RegistrationError(
            f"{tool.name!r} can't be a tool's name: model APIs accept 1 to 64 letters, digits, '_' and '-'"
        )
    if tool.name in BRIDGE_NAMES:
        raise RegistrationError(f"{tool.name!r} is reserved for tool search; choose another name")
    if not tool.toolset or tool.toolset in EVERYTHING:
        raise RegistrationError(f"{tool.name}: {tool.toolset!r} can't be a toolset's name")
    if not callable(tool.handler):
        raise RegistrationError(f"{tool.name}: the handler must be callable, not {type(tool.handler).__name__}")
    limit = tool.max_result_size_chars
    if limit is not None and (isinstance(limit, bool) or math.isnan(limit) or limit < 1):
        raise RegistrationError(f"{tool.name}: max_result_size_chars must be at least 1, or None")
    _ = tool.validator  # a wrong schema should fail where it is written, not at the first call
