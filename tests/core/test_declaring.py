"""@tool: name, description and schema from the function itself."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from typing import Annotated, Any, Literal, Optional, TypedDict

import pydantic
import pytest

import hermes_nb as hermes
from hermes_nb import Context, RegistrationError, Registry, Session

from .support import error_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Address(pydantic.BaseModel):
    street: str
    number: int = 1


class Person(pydantic.BaseModel):
    name: str
    home: Address


class Options(TypedDict, total=False):
    depth: int


def properties_of(registry: Registry, name: str) -> dict[str, Any]:
    tool = registry.get(name)
    assert tool is not None
    found: dict[str, Any] = tool.parameters["properties"]
    return found


def test_name_and_description_come_from_the_function(registry: Registry) -> None:
    @hermes.tool(toolset="math", registry=registry, emoji="➕")
    def add(a: int, b: int = 0) -> int:
        """Add two numbers.

        They may be negative.
        """
        return a + b

    tool = registry.get("add")
    assert tool is not None
    assert (tool.toolset, tool.emoji) == ("math", "➕")
    assert tool.description == "Add two numbers.\n\nThey may be negative."


def test_the_function_stays_an_ordinary_function(registry: Registry) -> None:
    @hermes.tool(registry=registry)
    def add(a: int, b: int = 0) -> int:
        return a + b

    assert add(1, b=2) == 3


def test_the_decorator_works_without_parentheses() -> None:
    def bare_declared_tool() -> str:
        return "hi"

    try:
        assert hermes.tool(bare_declared_tool) is bare_declared_tool
        assert hermes.registry.get("bare_declared_tool") is not None
    finally:
        hermes.registry.deregister("bare_declared_tool")


def test_name_and_description_can_be_given(registry: Registry) -> None:
    hermes.tool(registry=registry, name="other", description="Other words")(lambda: None)
    tool = registry.get("other")
    assert tool is not None
    assert tool.description == "Other words"


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
    ],
)
def test_a_type_hint_becomes_its_schema(registry: Registry, hint: Any, schema: dict[str, Any]) -> None:
    def declared(value: Any) -> None: ...

    declared.__annotations__["value"] = hint
    hermes.tool(registry=registry)(declared)
    assert properties_of(registry, "declared")["value"] == schema


def test_parameters_without_a_default_are_required_and_defaults_are_shown(registry: Registry) -> None:
    @hermes.tool(registry=registry)
    def declared(a: int, b: int = 3, c: Colour = Colour.RED, d: list[str] = []) -> None: ...  # noqa: B006

    tool = registry.get("declared")
    assert tool is not None
    assert tool.parameters["required"] == ["a"]
    defaults = {name: part.get("default") for name, part in tool.parameters["properties"].items()}
    assert defaults == {"a": None, "b": 3, "c": "red", "d": []}


def test_without_a_hint_the_default_tells_the_type(registry: Registry) -> None:
    @hermes.tool(registry=registry)
    def declared(a, b=3, c="x", d=None):  # type: ignore[no-untyped-def]
        ...

    types = {name: part.get("type") for name, part in properties_of(registry, "declared").items()}
    assert types == {"a": None, "b": "integer", "c": "string", "d": None}


def test_a_default_of_none_means_that_null_will_do(registry: Registry, session: Session) -> None:
    @hermes.tool(registry=registry)
    def declared(text: str = None) -> str:  # type: ignore[assignment]  # noqa: RUF013
        return repr(text)

    assert session.call("declared", {"text": None}).value == "None"


def test_a_default_that_no_model_could_understand_is_not_shown(registry: Registry) -> None:
    marker = object()

    @hermes.tool(registry=registry)
    def declared(value: Any = marker) -> None: ...

    assert "default" not in properties_of(registry, "declared")["value"]


def test_values_arrive_as_their_hints_promise(registry: Registry, session: Session) -> None:
    arrived: dict[str, Any] = {}

    @hermes.tool(registry=registry)
    def declared(
        colour: Colour, at: Point, who: Person, options: Options, points: list[Point], pair: tuple[int, str]
    ) -> None:
        arrived.update(colour=colour, at=at, who=who, options=options, points=points, pair=pair)

    session.call(
        "declared",
        {
            "colour": "blue",
            "at": {"x": 1},
            "who": {"name": "Ada", "home": {"street": "Main"}},
            "options": {"depth": 2},
            "points": [{"x": 1, "y": 2}],
            "pair": [7, "x"],
        },
    ).raise_for_error()
    assert arrived == {
        "colour": Colour.BLUE,
        "at": Point(1, 0),
        "who": Person(name="Ada", home=Address(street="Main")),
        "options": {"depth": 2},
        "points": [Point(1, 2)],
        "pair": (7, "x"),
    }


@pytest.mark.parametrize("value", [{"name": "Ada"}, {"name": "Ada", "home": {"street": 3}}, "Ada"])
def test_a_value_that_does_not_fit_a_model_never_reaches_the_function(
    registry: Registry, session: Session, value: object
) -> None:
    @hermes.tool(registry=registry)
    def declared(who: Person) -> None:
        raise AssertionError("reached")

    assert session.call("declared", {"who": value}).outcome == "invalid"


def test_a_whole_float_arrives_as_an_integer_where_one_is_declared(registry: Registry, session: Session) -> None:
    @hermes.tool(registry=registry)
    def declared(a: int, more: list[int]) -> str:
        return repr((a, more))

    assert session.call("declared", {"a": 7.0, "more": [1.0]}).value == "(7, [1])"


def test_two_types_of_one_name_are_not_confused(registry: Registry) -> None:
    def make(kind: type) -> type:
        return dataclasses.make_dataclass("Item", [("value", kind)])

    def declared(a: Any, b: Any) -> None: ...

    declared.__annotations__.update(a=make(int), b=make(str))
    with pytest.raises(RegistrationError, match="Item"):
        hermes.tool(registry=registry)(declared)


@pytest.mark.parametrize(
    "docstring",
    [
        "Do it.\n\nArgs:\n    a: How much.\n    b (int): How\n        often.\n",
        "Do it.\n\nParameters\n----------\na : int\n    How much.\nb : int\n    How\n    often.\n",
        "Do it.\n\n:param a: How much.\n:param b: How\n    often.\n",
    ],
    ids=["google", "numpy", "rest"],
)
def test_parameter_texts_come_from_the_docstring(registry: Registry, docstring: str) -> None:
    def declared(a: int, b: int) -> None: ...

    declared.__doc__ = docstring
    hermes.tool(registry=registry)(declared)
    tool = registry.get("declared")
    assert tool is not None
    assert tool.description == "Do it."
    texts = {name: part["description"] for name, part in tool.parameters["properties"].items()}
    assert texts == {"a": "How much.", "b": "How often."}


@pytest.mark.parametrize("extra", ["How much.", pydantic.Field(description="How much."), ["unhashable"]])
def test_a_text_in_annotated_describes_its_parameter(registry: Registry, extra: Any) -> None:
    def declared(a: int) -> None: ...

    declared.__annotations__["a"] = Annotated[int, extra, "How much."]
    hermes.tool(registry=registry)(declared)
    assert properties_of(registry, "declared")["a"] == {"type": "integer", "description": "How much."}


def test_the_context_is_injected_and_not_shown(registry: Registry, session: Session) -> None:
    @hermes.tool(registry=registry)
    def declared(a: int, context: Context) -> str:
        assert isinstance(context, Context)
        return f"{a} {context.session is session} {context.task_id == session.task_id}"

    assert set(properties_of(registry, "declared")) == {"a"}
    assert session.call("declared", {"a": 1}).value == "1 True True"
    assert session.call("declared", {"a": 1, "context": {}}).outcome == "invalid"


def test_arguments_that_the_function_does_not_have_are_refused_by_name(registry: Registry, session: Session) -> None:
    hermes.tool(registry=registry, name="declared")(lambda a=1: a)
    assert "'b'" in error_of(session.call("declared", {"b": 1}))


def test_a_function_with_keywords_takes_any_argument(registry: Registry, session: Session) -> None:
    hermes.tool(registry=registry, name="declared")(lambda **rest: rest)
    assert session.call("declared", {"b": 1}).value == {"b": 1}


@pytest.mark.parametrize("function", [lambda a, /: a, lambda *a: a], ids=["position only", "variable"])
def test_a_parameter_that_models_can_not_give_is_rejected_by_name(registry: Registry, function: Any) -> None:
    with pytest.raises(RegistrationError, match="'a'"):
        hermes.tool(registry=registry, name="declared")(function)


def test_a_type_without_json_form_is_rejected_with_the_parameter(registry: Registry) -> None:
    def declared(a: object) -> None: ...

    declared.__annotations__["a"] = type("Odd", (), {})
    with pytest.raises(RegistrationError, match=r"'a'.*no JSON form"):
        hermes.tool(registry=registry)(declared)


def test_a_hint_that_can_not_be_resolved_is_rejected_by_name(registry: Registry) -> None:
    def declared(a: int) -> None: ...

    declared.__annotations__["a"] = "Missing"
    with pytest.raises(RegistrationError, match="Missing"):
        hermes.tool(registry=registry)(declared)


async def test_an_async_function_is_seen_as_one(registry: Registry, session: Session) -> None:
    @hermes.tool(registry=registry)
    async def declared(a: int) -> int:
        return a + 1

    assert inspect.iscoroutinefunction(declared)
    assert (await session.acall("declared", {"a": 1})).value == 2


def test_a_handler_gets_only_the_context_keywords_it_takes(registry: Registry, session: Session) -> None:
    everything: dict[str, Any] = {}
    registry.register("all", "test", {}, lambda args, **context: everything.update(context))
    registry.register("some", "test", {}, lambda args, task_id, session: f"{task_id} {session.id}")
    registry.register("none", "test", {}, lambda args: "none")
    session.call("all", user_task="find it", tool_call_id="t1")
    assert everything["user_task"] == "find it"
    assert everything["tool_call_id"] == "t1"
    assert everything["session"] is session
    assert session.call("some").value == f"{session.task_id} {session.id}"
    assert session.call("none").value == "none"


def test_choices_stay_in_the_order_they_were_written(registry: Registry) -> None:
    @hermes.tool(toolset="t", registry=registry)
    def pick(size: Literal["small", "medium", "large"], level: Annotated[Literal["low", "high"], "How much."]) -> None:
        """Pick one."""

    declared = registry.get("pick")
    assert declared is not None
    assert declared.parameters["properties"]["size"]["enum"] == ["small", "medium", "large"]
    assert declared.parameters["properties"]["level"] == {"enum": ["low", "high"], "description": "How much."}
