"""Answers held to a JSON schema or to a regular expression by llguidance.

JSON has one layout: one line, `", "` and `": "`, the short escapes. Knows nothing of models or of how a token is
chosen.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Self

import numpy as np
from llguidance import LLMatcher

from copydesk.desk.canonical import Canonical
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.prepare import prepare
from copydesk.errors import EngineError, SchemaError
from copydesk.types import Json

if TYPE_CHECKING:
    from llguidance import LLTokenizer
    from llguidance._lib import JsonCompileOptions

_LAYOUT: JsonCompileOptions = {
    "item_separator": ", ",
    "key_separator": ": ",
    "whitespace_flexible": False,
    # Without `u`: with it, `\u000a` would be legal where `\n` is meant.
    "json_allowed_escapes": 'nrbtf\\"',
}
_PATTERN_ERROR = "invalid regex "


OLDEST = (1, 9)
"""Version of llguidance before which numbers and recursion have faults."""


def check_installed() -> None:
    """Errors: `EngineError` for an llguidance that is too old, which vLLM asks for where it is installed too."""
    installed = version("llguidance")
    if tuple(map(int, installed.split(".")[:2])) < OLDEST:
        raise EngineError(
            f"llguidance {installed} is too old for answers written here: pip install 'llguidance>=1.9'. Where vLLM "
            "needs the older one, use the vllm engine, or keep the two in environments of their own."
        )


class Grammar:
    """All answers that satisfy a schema, and their bounds. Compiled once; `start` is cheap."""

    def __init__(self, schema: Json, bounds: Bounds, tokenizer: LLTokenizer, canonical: Canonical) -> None:
        """Errors: `SchemaError` as `prepare`, also for a schema that is too large."""
        self._compile(
            LLMatcher.grammar_from_json_schema(prepare(schema, bounds), overrides=_LAYOUT), tokenizer, canonical
        )

    @classmethod
    def of_any_object(cls, tokenizer: LLTokenizer, canonical: Canonical) -> Self:
        """Any JSON object, its strings and nesting without bounds."""
        return cls._of(LLMatcher.grammar_from_json_schema({"type": "object"}, overrides=_LAYOUT), tokenizer, canonical)

    @classmethod
    def of_pattern(cls, pattern: str, tokenizer: LLTokenizer, canonical: Canonical) -> Self:
        """All texts that a regular expression matches from end to end. Errors: `SchemaError` for one that is none."""
        return cls._of(LLMatcher.grammar_from_regex(pattern), tokenizer, canonical)

    @classmethod
    def _of(cls, grammar: str, tokenizer: LLTokenizer, canonical: Canonical) -> Self:
        made = cls.__new__(cls)
        made._compile(grammar, tokenizer, canonical)
        return made

    def _compile(self, grammar: str, tokenizer: LLTokenizer, canonical: Canonical) -> None:
        self._matcher = LLMatcher(tokenizer, grammar, log_level=0)
        self._canonical = canonical
        if self._matcher.is_error():
            raise _refusal(self._matcher)

    def start(self) -> JsonState:
        """The empty answer."""
        return JsonState(self._matcher.deep_copy(), self._canonical, [])


class JsonState:
    """A legal beginning of a JSON answer, or of one that a pattern matches. Satisfies `State`."""

    def __init__(self, matcher: LLMatcher, canonical: Canonical, tokens: list[int]) -> None:
        self._matcher = matcher
        self._canonical = canonical
        self._tokens = tokens

    @property
    def finished(self) -> bool:
        """Whether nothing may follow. Errors: `SchemaError` where the grammar gave up, which is no end."""
        if not self._matcher.is_stopped():
            return False
        if self._matcher.is_error():
            raise _refusal(self._matcher)
        return True

    def forced(self) -> tuple[int, ...]:
        """Accept the tokens of the text that the schema forces here, and return them."""
        text = self._matcher.compute_ff_bytes()
        if not text:
            return ()
        tokens, standing = self._canonical.split(self._tokens, text)
        accepted = self._matcher.try_consume_tokens(list(tokens))
        if not self._matcher.is_stopped() and accepted > standing:
            self._matcher.rollback(accepted - standing)
            accepted = standing
        self._tokens += tokens[:accepted]
        return tokens[:accepted]

    def allows(self, token: int) -> bool:
        """Whether a token is legal here."""
        return self._matcher.validate_tokens([token]) == 1

    def accept(self, token: int) -> bool:
        """Append a token if it is legal; returns whether it was."""
        if self._matcher.try_consume_tokens([token]) != 1:
            return False
        self._tokens.append(token)
        return True

    def rewind(self, count: int) -> None:
        """Take back the last `count` tokens."""
        if count:
            self._matcher.rollback(count)
            del self._tokens[-count:]

    def best(self, scores: np.ndarray) -> int:
        """The legal token of the highest score, ties by lowest id; within forced text, the one that begins it.

        Errors: `SchemaError` where the grammar gives up.
        """
        legal = np.flatnonzero(self.legal(len(scores)))
        return int(legal[scores[legal].argmax()])

    def legal(self, size: int) -> np.ndarray:
        """Which of the first `size` tokens are legal here, as booleans. Errors: as `best`."""
        mask = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        legal = np.unpackbits(mask, count=size, bitorder="little").astype(bool)
        if not legal.any():
            raise _refusal(self._matcher)
        return legal

    def copy(self) -> Self:
        """An independent state at the same place."""
        return type(self)(self._matcher.deep_copy(), self._canonical, self._tokens.copy())


def _refusal(matcher: LLMatcher) -> SchemaError:
    reason = (matcher.get_error().splitlines() or ["it leads into a dead end"])[0]
    if _PATTERN_ERROR in reason:
        pattern = reason.partition(_PATTERN_ERROR)[2]
        detail = matcher.get_error().partition("\nerror: ")[2].partition("\n")[0]
        return SchemaError(
            f"The regular expression {pattern.removesuffix(' (in regex): regex parse error:')} is not "
            f"supported: {detail or reason}.",
            code="invalid_schema",
        )
    if reason.startswith("Unsatisfiable"):
        return SchemaError(f"Nothing satisfies the schema. {reason}.", code="invalid_schema")
    return SchemaError(f"The schema as a whole is not supported: {reason}. Simplify it.")
