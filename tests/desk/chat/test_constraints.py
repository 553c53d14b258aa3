"""Constraints made ready: what they hold to, what is refused, what is compiled again."""

from __future__ import annotations

import pytest

from copydesk.desk.canonical import Canonical
from copydesk.desk.chat.constraints import Compiled, Constraints, _with_plain_digits
from copydesk.desk.closing import Closing
from copydesk.errors import LengthError, SchemaError
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Constraint, Schema

NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.fixture
def constraints(thinking: Tokenizer) -> Constraints:
    canonical = Canonical(thinking)
    closing = Closing(canonical, thinking.eos_token_ids[0], thinking.vocab_size)
    return Constraints(thinking, thinking.vocab_size, canonical, closing)


def compiled(constraints: Constraints, constraint: Constraint, text: str = "hello", room: int = 20) -> Compiled:
    found = constraints.compiled(constraint, text, room)
    assert found is not None
    return found


def holds(found: Compiled, tokenizer: Tokenizer, text: str) -> bool:
    """Whether a text is a whole answer."""
    state = found.grammar.start()
    return all(state.accept(token) for token in tokenizer.encode(text)) and (
        state.finished or state.allows(tokenizer.eos_token_ids[0])
    )


def test_each_kind_holds_to_what_it_says(constraints: Constraints, thinking: Tokenizer) -> None:
    assert constraints.compiled(Constraint(), "hello", 20) is None
    schema = compiled(constraints, Constraint(schema=Schema(NAMED)))
    assert holds(schema, thinking, '{"name": "a"}')
    assert not holds(schema, thinking, "{}")
    assert 0 < schema.shortest <= 12
    anything = compiled(constraints, Constraint(json_object=True))
    assert holds(anything, thinking, '{"a": [{"b": {"c": [[null]]}}]}')
    assert not holds(anything, thinking, "[]")
    pattern = compiled(constraints, Constraint(regex=r"\d{2}|猫+"))
    assert [holds(pattern, thinking, text) for text in ("12", "猫猫", "1", "٤٤")] == [True, True, False, False]
    choice = compiled(constraints, Constraint(choice=("a.b", "a", "猫(x)")))
    assert [holds(choice, thinking, text) for text in ("a.b", "a", "猫(x)", "axb", "猫x")] == [
        *[True] * 3,
        False,
        False,
    ]


def test_strings_may_be_as_long_as_the_reply(constraints: Constraints, thinking: Tokenizer) -> None:
    long = compiled(constraints, Constraint(schema=Schema(NAMED)), room=500)
    assert holds(long, thinking, '{"name": "' + "a" * 3000 + '"}')
    short = compiled(constraints, Constraint(schema=Schema(NAMED)), room=10)
    assert not holds(short, thinking, '{"name": "' + "a" * 3000 + '"}')


def test_a_constraint_is_compiled_once(constraints: Constraints) -> None:
    for constraint in (Constraint(schema=Schema(NAMED)), Constraint(regex="a+"), Constraint(json_object=True)):
        assert compiled(constraints, constraint) is compiled(constraints, constraint, "hullo", 21)
    assert compiled(constraints, Constraint(regex="a+")) is not compiled(constraints, Constraint(choice=("a+",)))


@pytest.mark.parametrize(
    "constraint",
    [
        Constraint(regex="(a"),
        Constraint(regex="(?=a)b"),
        Constraint(regex="((((a{100}){100}){100}){100})"),
        Constraint(regex="(?x)a"),
        Constraint(schema=Schema({"type": "string", "not": {"pattern": "a"}})),
        Constraint(schema=Schema({"type": "object", "properties": {"a": {"type": "string", "grounded": True}}})),
        Constraint(schema=Schema({"enum": [object()]})),
    ],
)
def test_what_cannot_be_kept_is_refused(constraints: Constraints, constraint: Constraint) -> None:
    with pytest.raises(SchemaError):
        constraints.compiled(constraint, "hello", 20)


def test_what_is_endless_is_refused(constraints: Constraints) -> None:
    endless = {"type": "array", "items": {"type": "integer"}, "minItems": 9000}
    with pytest.raises(LengthError):
        constraints.compiled(Constraint(schema=Schema(endless)), "hello", 20)


def test_a_property_may_be_called_grounded(constraints: Constraints) -> None:
    schema = {"type": "object", "properties": {"grounded": {"type": "boolean"}}, "required": ["grounded"]}
    assert compiled(constraints, Constraint(schema=Schema(schema)))


def test_digits_are_those_of_json_schema() -> None:
    assert _with_plain_digits(r"a\d[\d\]x]\\d[^\d-]") == r"a[0-9][0-9\]x]\\d[^0-9-]"
