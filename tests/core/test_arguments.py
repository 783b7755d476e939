"""Arguments: copied, coerced as models need it, validated before anyone sees them."""

from __future__ import annotations

import copy
import json
import socketserver
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hermes_nb import Registry, Session, tool
from hermes_nb.errors import CallRefused
from hermes_nb.toolbox.arguments import compile_validator, prepare

from .support import add, error_of


def prepared(args: Any, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "$defs": {"whole": {"type": "integer"}}}
    return prepare(args, parameters, compile_validator(parameters, "t"), "t")


INTEGER, LIST = {"type": "integer"}, {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("schema", "given", "received"),
    [
        (INTEGER, "7", 7),
        (INTEGER, " -7 ", -7),
        (INTEGER, "7.0", 7),
        ({"type": "number"}, "7.5", 7.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "object", "properties": {"a": INTEGER}}, '{"a": "1"}', {"a": 1}),
        (LIST, "[1, 2]", [1, 2]),
        (LIST, 7, [7]),
        (LIST, "7", [7]),
        (LIST, ["1", 2], [1, 2]),
        ({"type": "array", "items": {"type": "string"}}, "a", ["a"]),
        ({"type": "array", "prefixItems": [INTEGER, {"type": "string"}]}, ["1", "a"], [1, "a"]),
        ({"type": "object", "additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "7", 7),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "null", None),
        ({"oneOf": [INTEGER, LIST]}, "[1]", [1]),
        ({"allOf": [INTEGER, {"minimum": 1}]}, "7", 7),
        ({"$ref": "#/$defs/whole"}, "7", 7),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": 2}, "2", 2),
        ({"anyOf": [{"$ref": "#/$defs/whole"}, {"type": "null"}]}, "7", 7),
        (
            {"type": "object", "properties": {"a": INTEGER}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": "1"},
            {"a": 1},
        ),
    ],
)
def test_what_a_model_means_is_understood(schema: dict[str, Any], given: Any, received: Any) -> None:
    result = prepared({"x": given}, x=schema)["x"]
    assert result == received
    assert type(result) is type(received)


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "string"}, "7"),
        ({"type": ["string", "integer"]}, "7"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "7"),
        ({"type": "string"}, "true"),
        ({}, "[1]"),
        ({"type": ["string", "null"]}, "null"),
    ],
)
def test_a_text_stays_a_text_where_a_text_will_do(schema: dict[str, Any], given: str) -> None:
    assert prepared({"x": given}, x=schema) == {"x": given}


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (INTEGER, "seven"),
        (INTEGER, "7.5"),
        (INTEGER, 7.5),
        (INTEGER, True),
        (INTEGER, "true"),
        (INTEGER, ""),
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "1e999"),
        ({"type": "boolean"}, 1),
        ({"type": "boolean"}, "yes"),
        ({"type": "object"}, "[1]"),
        ({"type": "object"}, "{broken"),
        (LIST, {"a": 1}),
        ({"type": "string"}, 7),
        ({"type": "integer", "minimum": 3}, "2"),
        ({"type": "string", "pattern": "^a"}, "b"),
        ({"type": "string", "enum": ["a"]}, "A"),
        ({"type": "array", "maxItems": 1}, [1, 2]),
        ({"type": "object", "required": ["k"]}, {}),
        ({"not": {"type": "integer"}}, 7),
        ({"if": INTEGER, "then": {"minimum": 3}}, 2),
    ],
)
def test_what_does_not_fit_is_refused_and_the_error_names_the_argument(schema: dict[str, Any], given: Any) -> None:
    with pytest.raises(CallRefused, match=r"Invalid arguments for t: x") as refusal:
        prepared({"x": given}, x=schema)
    assert refusal.value.outcome == "invalid"


@pytest.mark.parametrize("schema", [{"items": INTEGER}, {"prefixItems": [INTEGER]}, {"properties": {"a": INTEGER}}])
@pytest.mark.parametrize("given", [False, "word", '{"a": "x"}'])
def test_what_fits_stays_when_something_beside_it_is_put_right(schema: dict[str, Any], given: Any) -> None:
    assert prepared({"x": given, "n": "7"}, x=schema, n=INTEGER) == {"x": given, "n": 7}


SCHEMAS_WITHOUT_NULL: list[Any] = [
    INTEGER,
    LIST,
    {"type": ["string", "integer"]},
    {"$ref": "#/$defs/whole"},
    {"anyOf": [INTEGER, {"type": "string"}]},
    {"anyOf": [{"$ref": "#/$defs/whole"}, {"type": "string"}]},
    {"oneOf": [INTEGER, LIST]},
    {"oneOf": [{"type": ["integer", "null"]}, {"type": "null"}]},
    {"allOf": [{"type": ["integer", "null"]}, {"$ref": "#/$defs/whole"}]},
    {"type": ["string", "null"], "enum": ["a", "b"]},
    {"const": 7},
    {"type": "object"},
    {"type": "string", "nullable": True},
    False,
]
SCHEMAS_WITH_NULL: list[Any] = [
    {},
    True,
    {"description": "anything"},
    {"type": "null"},
    {"type": ["integer", "null"]},
    {"anyOf": [INTEGER, {"type": "null"}]},
    {"oneOf": [INTEGER, {"type": "null"}]},
    {"allOf": [{"type": ["integer", "null"]}, {}]},
    {"enum": ["a", None]},
    {"const": None},
    {"$ref": "#/$defs/maybe"},
    {"$ref": "#maybe"},
    {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/maybe"}]},
]


def prepared_beside_a_number(args: Any, schema: Any, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The arguments of a tool that takes ``x`` and the integer ``n``."""
    parameters = {
        "type": "object",
        "properties": {"x": schema, "n": INTEGER},
        "required": [*required],
        "$defs": {"whole": INTEGER, "maybe": {"$anchor": "maybe", "type": ["integer", "null"]}},
    }
    before = copy.deepcopy(args)
    try:
        return prepare(args, parameters, compile_validator(parameters, "t"), "t")
    finally:
        assert args == before


@pytest.mark.parametrize("schema", SCHEMAS_WITHOUT_NULL, ids=str)
def test_null_for_an_optional_argument_means_that_it_was_left_out(schema: Any) -> None:
    assert prepared_beside_a_number({"x": None, "n": 1}, schema) == {"n": 1}
    assert prepared_beside_a_number({"x": None, "n": "1"}, schema) == {"n": 1}


@pytest.mark.parametrize("schema", SCHEMAS_WITH_NULL, ids=str)
def test_null_stays_where_it_is_accepted(schema: Any) -> None:
    assert prepared_beside_a_number({"x": None, "n": 1}, schema) == {"x": None, "n": 1}
    assert prepared_beside_a_number({"x": None, "n": "1"}, schema) == {"x": None, "n": 1}


@pytest.mark.parametrize("schema", SCHEMAS_WITHOUT_NULL[:-1], ids=str)
def test_null_for_a_required_argument_is_an_error_that_says_so(schema: Any) -> None:
    with pytest.raises(CallRefused, match=r"x: .*(null|7 was expected)"):
        prepared_beside_a_number({"x": None, "n": 1}, schema, required=("x",))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"y": INTEGER, "z": {"type": ["integer", "null"]}}},
        {"$ref": "#/$defs/deep"},
        {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/deep"}]},
        {"allOf": [{"$ref": "#/$defs/deep"}]},
    ],
)
def test_null_in_a_nested_object_means_the_same(schema: dict[str, Any]) -> None:
    deep = {"type": "object", "properties": {"y": INTEGER, "z": {"type": ["integer", "null"]}}}
    parameters = {"type": "object", "properties": {"x": schema, "l": {"items": schema}}, "$defs": {"deep": deep}}
    written = {"y": None, "z": None}
    arrived = prepare({"x": written, "l": [written]}, parameters, compile_validator(parameters, "t"), "t")
    assert arrived == {"x": {"z": None}, "l": [{"z": None}]}


def test_null_for_what_is_no_argument_is_refused() -> None:
    parameters = {"type": "object", "properties": {"n": INTEGER}, "additionalProperties": False}
    with pytest.raises(CallRefused, match="strange"):
        prepare({"strange": None}, parameters, compile_validator(parameters, "t"), "t")
    with pytest.raises(CallRefused, match=r"x\.a: null"):
        prepared({"x": {"a": None}}, x={"type": "object", "additionalProperties": INTEGER})


def test_an_argument_given_as_null_has_its_default(registry: Registry, session: Session) -> None:
    @tool(registry=registry)
    def greet(name: str = "you", times: int = 1, mood: str | None = "good") -> list[Any]:
        return [name, times, mood]

    assert session.call("greet", {"name": None, "times": None, "mood": None}).value == ["you", 1, None]
    assert [record.args for record in session.journal] == [{"mood": None}]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (INTEGER, '"integer"'),
        ({"enum": ["a", "b"]}, '"a" or "b"'),
        ({"type": "string", "minLength": 9}, "9"),
        ({"anyOf": [INTEGER, {"type": "null"}]}, '"integer".*"null"'),
    ],
)
def test_an_error_says_what_was_expected(schema: dict[str, Any], expected: str) -> None:
    with pytest.raises(CallRefused, match=f"x: .*{expected}"):
        prepared({"x": "word"}, x=schema)


def test_an_error_names_the_place_in_nested_arguments() -> None:
    with pytest.raises(CallRefused, match=r"x\[1\]\.y: "):
        prepared({"x": [{"y": 1}, {"y": "no"}]}, x={"type": "array", "items": {"properties": {"y": INTEGER}}})


def test_a_missing_argument_is_named(registry: Registry, session: Session) -> None:
    add(registry, "t", schema={"type": "object", "properties": {"path": {}}, "required": ["path"]})
    assert '"path" is a required property' in error_of(session.call("t", {}))


def test_a_refusal_shows_the_model_the_parameters_for_its_next_try(registry: Registry, session: Session) -> None:
    tool = add(registry, "t", schema={"type": "object", "properties": {"n": INTEGER}})
    assert json.loads(session.call("t", {"n": "x"}).text)["parameters"] == tool.parameters


def test_an_endless_list_of_problems_is_cut() -> None:
    with pytest.raises(CallRefused, match=r"and 95 more") as refusal:
        prepared({"x": ["no"] * 100}, x=LIST)
    assert len(str(refusal.value)) < 2000


def test_invalid_arguments_reach_no_hook_guard_or_handler(registry: Registry, open_session: Any) -> None:
    def fail(*args: Any, **context: Any) -> Any:
        raise AssertionError("reached")

    tool = add(registry, "t", fail, schema={"type": "object", "properties": {"n": INTEGER}})
    registry.add(type(tool)(**{**{f: getattr(tool, f) for f in tool.__dataclass_fields__}, "guard": fail}))
    session = open_session(hooks=[{"pre_tool_call": fail}])
    assert session.call("t", {"n": "x"}).outcome == "invalid"


def test_hooks_and_handler_see_the_coerced_arguments(registry: Registry, open_session: Any) -> None:
    seen: list[Any] = []
    add(registry, "t", lambda args: seen.append(args), schema={"type": "object", "properties": {"n": INTEGER}})
    open_session(hooks=[{"pre_tool_call": lambda args: seen.append(args)}]).call("t", {"n": "7"})
    assert seen == [{"n": 7}, {"n": 7}]


def test_the_callers_arguments_are_never_changed(registry: Registry, open_session: Any) -> None:
    def spoil(args: dict[str, Any], **context: Any) -> None:
        args["deep"]["list"].append("spoiled")
        args["new"] = 1

    add(registry, "t", spoil, schema={"type": "object", "properties": {"n": INTEGER, "deep": {"type": "object"}}})
    session = open_session(hooks=[{"pre_tool_call": spoil, "post_tool_call": lambda args: spoil(args)}])
    given = {"n": "7", "deep": {"list": [1]}}
    before = copy.deepcopy(given)
    session.call("t", given)
    assert given == before


def test_a_handler_that_changes_its_arguments_does_not_change_the_record(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: (args.clear(), args.update(x=["other"]))[0])
    session.call("t", {"path": ["real"]})
    assert [record.args for record in session.journal] == [{"path": ["real"]}]


@pytest.mark.parametrize(
    "written", ['{"n": 7}', '{"n": "7"}', b'{"n": 7}'.decode(), json.dumps('{"n": 7}'), ' {"n": 7}\n']
)
def test_arguments_may_be_the_json_that_a_model_wrote(registry: Registry, session: Session, written: str) -> None:
    add(registry, "t", schema={"type": "object", "properties": {"n": INTEGER}})
    assert session.call("t", written).value == {"n": 7}


@pytest.mark.parametrize("written", [None, "", "  ", "{}", {}])
def test_no_arguments_may_be_written_in_any_way(registry: Registry, session: Session, written: Any) -> None:
    add(registry, "t")
    assert session.call("t", written).value == {}


@pytest.mark.parametrize("written", ["{", "[1]", "7", "null", 7, [1], {"x": object()}, '{"x":' + "[" * 100_000])
def test_what_is_no_object_is_refused_as_invalid(registry: Registry, session: Session, written: Any) -> None:
    add(registry, "t")
    result = session.call("t", written)
    assert result.outcome == "invalid"
    assert error_of(result).startswith("Invalid arguments for t: ")
    assert len(session.journal) == 1


def test_a_value_that_holds_itself_is_refused_and_journalled(registry: Registry, session: Session) -> None:
    add(registry, "t")
    circle: dict[str, Any] = {}
    circle["x"] = circle
    assert session.call("t", circle).outcome == "invalid"
    assert [record.outcome for record in session.journal] == ["invalid"]


def test_half_a_surrogate_pair_is_journalled_like_anything_else(registry: Registry, session: Session) -> None:
    add(registry, "t", schema={"type": "object", "properties": {"x": {"type": "string"}}})
    session.call("t", '{"x": "\\ud83d"}')
    assert len(list(session.journal)) == 1


def test_python_values_become_json(registry: Registry, session: Session) -> None:
    add(registry, "t", schema={"type": "object", "properties": {"x": {"type": "array"}}})
    assert session.call("t", {"x": (1, 2)}).value == {"x": [1, 2]}


def test_a_circular_schema_is_no_endless_loop(registry: Registry, session: Session) -> None:
    circular = {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "integer"}]}
    add(registry, "t", schema={"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": circular}})
    assert session.call("t", {"x": "word"}).outcome in ("invalid", "ok")


def test_a_reference_to_another_document_is_never_fetched(registry: Registry, session: Session) -> None:
    fetched = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            fetched.set()

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        remote = {"$ref": f"http://127.0.0.1:{server.server_address[1]}/schema.json"}
        parameters = {"type": "object", "properties": {"x": remote, "y": {"anyOf": [remote, INTEGER]}}}
        with pytest.raises(ValueError, match="not followed"):
            add(registry, "t", schema=parameters)
        server.shutdown()
        thread.join()
    assert not fetched.is_set()


# Whatever the schema and whatever the arguments --------------------------------------------------------------------

scalars = st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(-1e6, 1e6) | st.text(max_size=5)
texts = st.sampled_from(["7", "7.5", "true", "null", "[1]", '{"a": "1"}', "", "x", "[", "1e3", "-0"])
json_values = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
simple = st.sampled_from(
    [
        *({"type": kind} for kind in ("string", "integer", "number", "boolean", "null")),
        *({"type": ["integer", "null"]}, {"type": ["boolean", "string"]}),
        *({"type": "integer", "minimum": 0}, {"type": "string", "maxLength": 2}, {"enum": [1, "a", None]}, {}, True),
        {"const": 7},
    ]
)


def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    branches = st.lists(inner, min_size=1, max_size=3)
    properties = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda items: {"prefixItems": items}, branches),
        st.builds(lambda parts: {"type": "object", "properties": parts}, properties),
        st.builds(lambda rest: {"type": "object", "additionalProperties": rest}, inner),
        *(st.builds(lambda parts, word=word: {word: parts}, branches) for word in ("anyOf", "oneOf", "allOf")),
        st.builds(lambda parts, one: {"type": "object", "properties": parts, "anyOf": [one, True]}, properties, inner),
    )


parameter_schemas = st.dictionaries(st.sampled_from("abc"), st.recursive(simple, compound, max_leaves=5), max_size=3)


@settings(max_examples=400, deadline=None)
@given(parameter_schemas, st.dictionaries(st.sampled_from("abc"), json_values, max_size=3))
def test_what_arrives_is_valid_and_what_was_valid_arrives_unchanged(
    properties: dict[str, Any], args: dict[str, Any]
) -> None:
    parameters = {"type": "object", "properties": properties}
    independent = Draft202012Validator(parameters)  # another implementation has to agree
    before = copy.deepcopy(args)
    try:
        arrived = prepare(args, parameters, compile_validator(parameters, "t"), "t")
    except CallRefused:
        assert not independent.is_valid(args)
    else:
        assert independent.is_valid(arrived)
        if independent.is_valid(args):
            assert arrived == args
    assert args == before


@settings(max_examples=400, deadline=None)
@given(parameter_schemas, st.dictionaries(st.sampled_from("abc"), json_values, max_size=3))
def test_a_null_that_is_not_accepted_is_as_good_as_nothing(properties: dict[str, Any], args: dict[str, Any]) -> None:
    parameters = {"type": "object", "properties": properties}
    validator = compile_validator(parameters, "t")
    absent = {name: schema for name, schema in properties.items() if not Draft202012Validator(schema).is_valid(None)}
    without = {name: value for name, value in args.items() if name not in absent}
    try:
        expected: Any = prepare(without, parameters, validator, "t")
    except CallRefused:
        expected = None
    try:
        arrived: Any = prepare(without | dict.fromkeys(absent), parameters, validator, "t")
    except CallRefused:
        arrived = None
    assert arrived == expected
