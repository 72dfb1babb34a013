"""Every string and every list of a schema ends."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from abstrag.llm.client import MAX_ITEMS, MAX_LENGTH, bounded


def test_strings_and_lists_get_limits_that_shrink_inwards() -> None:
    made = bounded(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "rows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string"},
                            "tags": {"type": "array", "items": {"type": "string"}},
                        },
                    },
                },
            },
        }
    )
    name, rows = made["properties"]["name"], made["properties"]["rows"]
    inner = rows["items"]["properties"]
    assert name["maxLength"] == MAX_LENGTH[0]
    assert rows["maxItems"] == MAX_ITEMS[0]
    assert inner["text"]["maxLength"] == MAX_LENGTH[1]
    assert inner["tags"]["maxItems"] == MAX_ITEMS[1]
    assert inner["tags"]["items"]["maxLength"] == MAX_LENGTH[2]


def test_limits_that_are_there_stay_and_closed_sets_need_none() -> None:
    schema = {
        "type": "array",
        "maxItems": 3,
        "items": {
            "anyOf": [
                {"type": "string", "maxLength": 7},
                {"type": "string", "enum": ["a"]},
                {"type": ["string", "null"]},
            ]
        },
    }
    made = bounded(schema)
    limits = [one.get("maxLength") for one in made["items"]["anyOf"]]
    assert made["maxItems"] == 3
    assert limits == [7, None, MAX_LENGTH[1]]


def test_a_list_that_must_be_long_may_be() -> None:
    assert bounded({"type": "array", "minItems": 99})["maxItems"] == 99


def test_definitions_are_bounded_too_and_the_original_is_left_alone() -> None:
    schema = {"$defs": {"name": {"type": "string"}}, "$ref": "#/$defs/name"}
    assert "maxLength" in bounded(schema)["$defs"]["name"]
    assert schema == {"$defs": {"name": {"type": "string"}}, "$ref": "#/$defs/name"}


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}, {}]),
    lambda inner: st.one_of(
        st.builds(lambda one: {"type": "array", "items": one}, inner),
        st.builds(lambda one: {"type": "object", "properties": {"a": one}}, inner),
        st.builds(lambda one: {"anyOf": [one, {"type": "null"}]}, inner),
    ),
    max_leaves=8,
)


def unbounded(schema: Any) -> list[Any]:
    """Collect the parts of a schema in which a model could go on for ever."""
    if isinstance(schema, list):
        return [found for one in schema for found in unbounded(one)]
    if not isinstance(schema, dict):
        return []
    kinds = schema.get("type", [])
    open_ended = ("string" in kinds and "maxLength" not in schema) or (
        "array" in kinds and "maxItems" not in schema
    )
    return ([schema] if open_ended else []) + unbounded(list(schema.values()))


@given(SCHEMAS)
def test_nothing_is_left_without_an_end(schema: dict[str, Any]) -> None:
    made = bounded(schema)
    assert unbounded(made) == []
    assert bounded(made) == made
    Draft202012Validator.check_schema(made)
