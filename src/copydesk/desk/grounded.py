"""A grammar whose grounded strings can only be filled from the text that the answer is about.

A token is legal if the grammar allows it and no grounded string holds anything else than runs of the text after it.
Such a string may end after any of its characters, so that an answer can always close where the schema lets it be empty.
Knows nothing of models.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Self

import numpy as np

from copydesk.desk import places
from copydesk.desk.closing import Closing
from copydesk.desk.grammar import Grammar, JsonState
from copydesk.desk.places import Place
from copydesk.desk.runs import Runs, folded
from copydesk.desk.sites import Site, site
from copydesk.errors import AnswerError
from copydesk.types import Grounding, Task

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_NOTHING = Runs("")


class Vocabulary:
    """Tokens as the bytes that they stand for, and by the character that they begin with."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._texts: dict[int, bytes] = dict.fromkeys(tokenizer.control_ids, b"")

    def text(self, token: int) -> bytes:
        """A token's bytes; a control token has none."""
        text = self._texts.get(token)
        if text is None:
            text = self._texts[token] = self._tokenizer.token_bytes(token)
        return text

    def beginning(self, characters: Iterable[str]) -> np.ndarray:
        """Ascending ids of the tokens that begin with one of some folded characters, or with no whole character."""
        found = [self._by_character[character] for character in characters if character in self._by_character]
        return np.sort(np.concatenate([self._by_character[""], *found]))

    @cached_property
    def _by_character(self) -> dict[str, np.ndarray]:
        """Under "": tokens that begin with an escape, a quote or a part of a character."""
        ids: defaultdict[str, list[int]] = defaultdict(list, {"": []})
        for id in range(self._tokenizer.vocab_size):
            first = self.text(id)[:4].decode(errors="replace")[:1]
            ids["" if first in '"\\\ufffd' else folded(first)].append(id)
        return {character: np.array(tokens, dtype=np.int64) for character, tokens in ids.items()}


class GroundedGrammar:
    """A grammar together with one text."""

    def __init__(self, grammar: Grammar, root: Site, text: str, vocabulary: Vocabulary) -> None:
        self._grammar = grammar
        self._root = root
        self._runs = Runs(text)
        self._vocabulary = vocabulary

    def start(self) -> GroundedState:
        """The empty answer."""
        return GroundedState(self._grammar.start(), self._runs, self._vocabulary, [places.start(self._root)])


class GroundedState:
    """A legal beginning of a grounded answer. Satisfies `State`."""

    def __init__(self, state: JsonState, runs: Runs, vocabulary: Vocabulary, passed: list[Place]) -> None:
        """`passed` are the places before each token, and the one after the last."""
        self._state = state
        self._runs = runs
        self._vocabulary = vocabulary
        self._passed = passed

    @property
    def finished(self) -> bool:
        """Whether nothing may follow."""
        return self._state.finished

    def forced(self) -> tuple[int, ...]:
        """Accept the tokens of the text that the schema forces here, and return them.

        Errors: `AnswerError` (`not_in_text`) where it forces what the text does not hold.
        """
        tokens = self._state.forced()
        for token in tokens:
            place = self._after(token)
            if place is None:
                raise _nothing_fits()
            self._passed.append(place)
        return tokens

    def allows(self, token: int) -> bool:
        """Whether a token is legal here."""
        return self._state.allows(token) and self._after(token) is not None

    def accept(self, token: int) -> bool:
        """Append a token if it is legal; returns whether it was."""
        if not self._state.accept(token):
            return False
        place = self._after(token)
        if place is None:
            self._state.rewind(1)
            return False
        self._passed.append(place)
        return True

    def rewind(self, count: int) -> None:
        """Take back the last `count` tokens."""
        self._state.rewind(count)
        if count:
            del self._passed[-count:]

    def best(self, scores: np.ndarray) -> int:
        """The legal token of the highest score, ties by lowest id.

        Errors: `AnswerError` (`not_in_text`) where nothing is legal; `SchemaError` where the grammar gives up.
        """
        place = self._passed[-1]
        if place.is_grounded and not place.pending:
            candidates = self._vocabulary.beginning(places.following(place, self._runs))
        else:
            token = self._state.best(scores)
            if self._after(token) is not None:
                return token
            candidates = np.flatnonzero(self._state.legal(len(scores)))
        for token in candidates[np.argsort(-scores[candidates], kind="stable")].tolist():
            if self.allows(token):
                return int(token)
        raise _nothing_fits()

    def copy(self) -> Self:
        """An independent state at the same place."""
        return type(self)(self._state.copy(), self._runs, self._vocabulary, self._passed.copy())

    def _after(self, token: int) -> Place | None:
        return places.after(self._passed[-1], self._vocabulary.text(token), self._runs)


class Grounder:
    """Grounds the grammars of one tokenizer in texts."""

    def __init__(self, tokenizer: Tokenizer, closing: Closing) -> None:
        self._vocabulary = Vocabulary(tokenizer)
        self._closing = closing

    def ground(
        self, task: Task, text: str, grammar: Grammar, shortest: tuple[int, ...]
    ) -> tuple[Grammar | GroundedGrammar, tuple[int, ...]]:
        """The grammar of a task's answers to a text, and the shortest of them; as they are if nothing is grounded.

        Errors: `AnswerError` (`not_in_text`) for a text that cannot fill what must be filled; `SchemaError`.
        """
        if task.schema is None:
            return grammar, shortest
        schema = json.dumps(task.schema.json)
        if not task.grounded and '"grounded"' not in schema:
            return grammar, shortest
        root = _site(schema, tuple(task.grounded.items()))
        grounded = GroundedGrammar(grammar, root, text, self._vocabulary)
        if not self._is_empty(root, shortest):
            shortest = self._closing.shortest(grounded.start())
        return grounded, shortest

    def _is_empty(self, root: Site, answer: tuple[int, ...]) -> bool:
        """Whether all grounded strings of an answer are empty, as they may be whatever the text."""
        text = b"".join(map(self._vocabulary.text, answer))
        return places.after(places.start(root), text, _NOTHING) is not None


@lru_cache(maxsize=64)
def _site(schema: str, grounded: tuple[tuple[str, Grounding], ...]) -> Site:
    return site(json.loads(schema), dict(grounded))


def _nothing_fits() -> AnswerError:
    return AnswerError(
        "The schema asks for a value from the text, and the text holds none that fits; allow an empty string there, "
        "or make the field optional.",
        code="not_in_text",
    )
