"""A reply's constraint as a grammar, compiled once, with what can complete a reply that is held to it.

Knows nothing of models.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copydesk.desk.canonical import Canonical
from copydesk.desk.chat.ending import AnyClosing
from copydesk.desk.chat.pattern_closing import PatternClosing
from copydesk.desk.closing import Closing
from copydesk.desk.grammar import Grammar
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.expressions import LONGEST_RUN, longest_run
from copydesk.errors import SchemaError
from copydesk.types import Constraint, Schema

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_REMEMBERED = 64
"""Compiled grammars that are kept."""
_CHARACTERS_PER_TOKEN = 8
"""Strings without a bound may be as long as the whole reply, which has at most about so many characters a token."""
_SPECIAL = frozenset(r"\.+*?()|[]{}^$#&-~/")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A constraint made ready."""

    grammar: Grammar
    shortest: int
    """Tokens of the shortest content, or 0 where none was found."""
    closing: AnyClosing


class Constraints:
    """Compiles for one engine. Safe to share between threads."""

    def __init__(self, tokenizer: Tokenizer, vocab_size: int, canonical: Canonical, closing: Closing) -> None:
        """`vocab_size` is the engine's."""
        self._tokenizer = tokenizer
        self._vocab_size = vocab_size
        self._canonical = canonical
        self._closing = closing
        self._patterns = PatternClosing(canonical, tokenizer.eos_token_ids[0])
        self._kept: OrderedDict[Any, Compiled] = OrderedDict()
        self._lock = threading.Lock()

    def compiled(self, constraint: Constraint, text: str, room: int) -> Compiled | None:
        """What a reply of at most `room` tokens to `text` is held to; None if it is free.

        Errors: `SchemaError` for what cannot be kept, `LengthError` for what is endless.
        """
        if constraint == Constraint():
            return None
        bounds = Bounds.of("x" * max(len(text), _CHARACTERS_PER_TOKEN * room))
        schema = _written(constraint.schema)
        key = (schema, bounds if schema else None, constraint.json_object, constraint.regex, constraint.choice)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._compile(constraint, bounds)
                if len(self._kept) > _REMEMBERED:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _compile(self, constraint: Constraint, bounds: Bounds) -> Compiled:
        tokenizer = self._tokenizer.grammar_tokenizer(self._vocab_size)
        if constraint.schema is not None:
            try:
                grammar = Grammar(constraint.schema.json, bounds, tokenizer, self._canonical)
                return Compiled(grammar, len(self._closing.shortest(grammar.start())), self._closing)
            except RecursionError as error:
                raise SchemaError("The schema is nested too deeply; flatten it.") from error
        if constraint.json_object:
            grammar = Grammar.of_any_object(tokenizer, self._canonical)
            return Compiled(grammar, len(self._closing.shortest(grammar.start())), self._closing)
        if constraint.regex is not None:
            _check_run(constraint.regex)
            pattern = _with_plain_digits(constraint.regex)
        else:
            pattern = "|".join(map(_literally, constraint.choice))
        grammar = Grammar.of_pattern(pattern, tokenizer, self._canonical)
        return Compiled(grammar, len(self._patterns.shortest(grammar.start())), self._patterns)


def _written(schema: Schema | None) -> str | None:
    """A schema as text. Errors: `SchemaError` for what is no JSON, or declares fields as grounded."""
    if schema is None:
        return None
    try:
        written = json.dumps(schema.json)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"The schema is no JSON: {error}.", code="invalid_schema") from error
    if _is_grounded(schema.json):
        raise SchemaError(
            "A grounded field is a run of a text, and a conversation is none; use extract for that schema."
        )
    return written


def _is_grounded(node: Any) -> bool:
    """Whether a schema asks anywhere that a value be copied from the text."""
    if isinstance(node, dict):
        asked = node.get("grounded")
        return (isinstance(asked, bool | str) and bool(asked)) or any(map(_is_grounded, node.values()))
    return isinstance(node, list) and any(map(_is_grounded, node))


def _check_run(pattern: str) -> None:
    """Errors: `SchemaError` for an expression that asks for more at once than any reply holds."""
    try:
        run = longest_run(pattern)
    except ValueError as error:
        raise SchemaError(f"The regular expression cannot be held to: {error}.") from None
    if run > LONGEST_RUN:
        raise SchemaError(f"The regular expression asks for {run:,} characters; {LONGEST_RUN:,} are most.")


def _with_plain_digits(pattern: str) -> str:
    """A regular expression whose `\\d` is 0 to 9, as JSON Schema has it, rather than all digits of Unicode."""
    in_class = False
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    for place, part in enumerate(parts):
        if part == "\\d":
            parts[place] = "0-9" if in_class else "[0-9]"
        in_class = part == "[" or (in_class and part != "]")
    return "".join(parts)


def _literally(text: str) -> str:
    """A regular expression that matches nothing but the text."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in text)
