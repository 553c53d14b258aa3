"""Numbers, strings and listed values, as the grammar then takes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.desk.canonical import Canonical
from copydesk.desk.grammar import Grammar
from copydesk.desk.schema import scalars
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.prepare import prepare
from copydesk.errors import SchemaError
from copydesk.models.tokenizer import Tokenizer
from law_cases import cases

Accepts = Callable[[Any, str], bool]


@pytest.fixture(scope="module")
def accepts(tokenizer: Tokenizer, canonical: Canonical) -> Accepts:
    """Whether a text is an answer of a schema."""

    def taken(schema: Any, text: str) -> bool:
        grammar = Grammar(schema, Bounds(20, 10), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical)
        state = grammar.start()
        whole = all(map(state.accept, tokenizer.encode(text)))
        return whole and (state.finished or state.allows(tokenizer.eos_token_ids[0]))

    return taken


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "integer"}, ["0", "-7", "999999999999999999"], ["1.0", "1e3", "01", "+1", "1" * 20]),
        ({"type": "integer", "exclusiveMinimum": -1, "maximum": 10.5}, ["0", "10"], ["-1", "11"]),
        ({"type": "integer", "multipleOf": 3, "minimum": -5}, ["-3", "0", "9"], ["-6", "4"]),
        ({"type": "integer", "minimum": 2**53 + 1, "maximum": 2**60}, [str(2**54)], [str(2**53), str(2**60 + 1)]),
        ({"type": "integer", "format": "int8"}, ["-128", "127"], ["128"]),
        ({"type": "number"}, ["0", "-0.5", "3.14", "12"], ["1e5", ".5", "5.", "0.1234567891", "1" * 17]),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, ["0.000000001", "0.999999999"], ["0", "1"]),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 0.25}, ["0.25", "0.1"], ["0", "0.0", "-0"]),
        ({"type": "number", "minimum": -0.5, "exclusiveMaximum": 0}, ["-0.5", "-0.1"], ["0", "-0"]),
        ({"type": "number", "multipleOf": 2}, ["4", "-2"], ["3", "4.5"]),
        ({"enum": [0.1, -2.5, 1e3, "é", None, True]}, ["0.1", "-2.5", "1000", '"é"', "null", "true"], ["1", "false"]),
        ({"const": {"b": [1, {}], "a": "/"}}, ['{"b": [1, {}], "a": "/"}'], ['{"a": "/", "b": [1, {}]}']),
        ({"type": "string"}, ['""', '"\\n"', '"\\""', '"/"', '"漢 😀"'], ['"\\u000a"', '"\\u0041"', '"\\/"', '"\n"']),
        ({"type": "string", "minLength": 1, "maxLength": 2}, ['"漢"', '"😀b"', '"\\n\\n"'], ['""', '"abc"']),
        ({"type": "string"}, ['"' + "a" * 20 + '"'], ['"' + "a" * 21 + '"']),
        ({"type": "string", "pattern": "b+$"}, ['"ab"', '"bb"'], ['"ba"', '"' + "a" * 20 + 'b"']),
        ({"type": "string", "pattern": "^a", "format": "ipv4"}, [], ['"a"', '"1.2.3.4"']),
        ({"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}, ['"ab"', '"axb"'], ['"a"', '"b"']),
        ({"type": "number", "minimum": 0, "maximum": 1.555}, ["1.5", "1.55", "0.9", "0"], ["1.6", "1.556"]),
        ({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, ["0.9", "0.99", "0.9999"], ["1", "1.0"]),
        ({"type": "number", "minimum": -0.75, "maximum": 9}, ["-0.7", "-0.75", "-0.1"], ["-0.8", "-0.76"]),
        ({"type": "string", "format": "date", "pattern": "^2024"}, ['"2024-02-29"'], ['"2023-02-28"', '"2024-02-30"']),
    ],
)
def test_what_is_an_answer(accepts: Accepts, schema: Any, right: list[str], wrong: list[str]) -> None:
    if not right:
        with pytest.raises(SchemaError) as caught:
            accepts(schema, "")
        assert caught.value.code == "invalid_schema"
        return
    assert [text for text in right if not accepts(schema, text)] == []
    assert [text for text in wrong if accepts(schema, text)] == []


@settings(max_examples=cases(60), deadline=None)
@given(low=st.integers(-200, 200), size=st.integers(0, 200), value=st.integers(-450, 450), over=st.booleans())
def test_a_range_holds_to_the_number(accepts: Accepts, low: int, size: int, value: int, over: bool) -> None:
    schema = {"type": "integer", "exclusiveMinimum" if over else "minimum": low, "maximum": low + size + 1}
    assert accepts(schema, str(value)) == (low + over <= value <= low + size + 1)


@settings(max_examples=cases(150), deadline=None)
@given(
    low=st.decimals(-20, 20, places=2),
    size=st.decimals(0, 30, places=2),
    offset=st.decimals(-1, 1, places=3),
    at_low=st.booleans(),
    over=st.booleans(),
    under=st.booleans(),
)
def test_a_range_of_fractions_lets_nothing_through(
    accepts: Accepts, low: Decimal, size: Decimal, offset: Decimal, at_low: bool, over: bool, under: bool
) -> None:
    high = low + size + 1
    schema = {
        "type": "number",
        "exclusiveMinimum" if over else "minimum": float(low),
        "exclusiveMaximum" if under else "maximum": float(high),
    }
    value = (low if at_low else high) + offset
    inside = (low < value if over else low <= value) and (value < high if under else value <= high)
    assert accepts(schema, f"{value.normalize():f}") == inside


@settings(max_examples=cases(60), deadline=None)
@given(value=st.text(st.characters(exclude_categories=("Cs",)), max_size=12))
def test_a_listed_text_is_written_as_json_writes_it_or_refused(accepts: Accepts, value: str) -> None:
    written = json.dumps(value, ensure_ascii=False)
    try:
        assert accepts({"const": value}, written)
    except SchemaError as error:
        assert "control character" in str(error)  # noqa: PT017
        assert "\\u00" in written or "\x7f" in value


@pytest.mark.parametrize("value", [2**60, 1e-9, 1e300, [1, {"x": "\x7f"}], {"\x02": 1}])
def test_what_cannot_be_written_exactly_is_refused(accepts: Accepts, value: Any) -> None:
    with pytest.raises(SchemaError, match="enum"):
        accepts({"const": value}, "")


@pytest.mark.parametrize(
    ("pattern", "key", "matches"),
    [
        ("^x-", "x-1", True),
        ("^x-", "ax-1", False),
        ("y$", "ay", True),
        ("y$", "ya", False),
        ("a|b$", "cb", True),
        ("^a|b$", "a", True),
        ("mid", "a mid b", True),
    ],
)
def test_a_pattern_of_keys_is_bounded(accepts: Accepts, pattern: str, key: str, matches: bool) -> None:
    schema = {"type": "object", "patternProperties": {pattern: {"type": "null"}}}
    assert accepts(schema, json.dumps({key: None})) is matches
    assert scalars.key_pattern(pattern, 5).startswith("^")
    assert not accepts(schema, json.dumps({"x-" + "y" * 200: None}))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "(((a{100}){100}){100}){100}"},
        {"type": "object", "patternProperties": {"(((a{100}){100}){100}){100}": True}},
        {"type": "object", "propertyNames": {"pattern": "(((a{100}){100}){100}){100}"}},
        {"anyOf": [{"type": "null"}, {"type": "string", "pattern": "b|a{5000}"}]},
    ],
)
def test_patterns_that_ask_for_more_than_any_answer_holds_are_refused(schema: Any) -> None:
    with pytest.raises(SchemaError, match="characters"):
        prepare(schema, Bounds(20, 10))


def test_no_pattern_makes_the_comparison_with_listed_values_and_names_long() -> None:
    endless, never = "^(a+)+$", "a" * 60 + "!"
    assert prepare({"enum": [never, "aa"], "type": "string", "pattern": endless}, Bounds(20, 10)) == {"enum": ["aa"]}
    prepare({"type": "object", "properties": {never: True}, "patternProperties": {endless: True}}, Bounds(20, 10))
