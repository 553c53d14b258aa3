"""A label set as a grammar: each label in the tokens its tokenizer writes it with, in a tree by common beginnings.

Knows nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer


@dataclass(slots=True)
class _Node:
    """A beginning that some labels share."""

    labels: list[str] = field(default_factory=list)
    children: dict[int, _Node] = field(default_factory=dict)


class Choice:
    """One of several labels. An end token is part of a label only where another label goes on from it."""

    def __init__(self, labels: Sequence[str], tokenizer: Tokenizer) -> None:
        self.labels = tuple(labels)
        self._root = _Node()
        end = tokenizer.eos_token_ids[0]
        self._written = written = {label: tuple(tokenizer.encode(label)) for label in labels}
        for label, tokens in written.items():
            goes_on = any(len(other) > len(tokens) and other[: len(tokens)] == tokens for other in written.values())
            node = self._root
            node.labels.append(label)
            for token in (*tokens, end) if goes_on else tokens:
                node = node.children.setdefault(token, _Node())
                node.labels.append(label)

    @property
    def longest(self) -> int:
        """Tokens of the longest label."""
        return max(map(len, self._written.values())) + 1

    def start(self) -> ChoiceState:
        """No token yet."""
        return ChoiceState([self._root])

    def label(self, tokens: Sequence[int]) -> str:
        """The label that tokens, complete, stand for."""
        node = self._root
        for token in tokens:
            node = node.children[token]
        return node.labels[0]

    def probabilities(self, scores: Mapping[tuple[int, ...], Mapping[int, float]]) -> dict[str, float]:
        """Each label's probability among the labels, in their order.

        `scores` are the log-probabilities of the next tokens after the beginnings that were scored; where labels go on
        in common past those, they share what their beginning has.
        """
        shares: dict[str, float] = {}

        parts: list[tuple[_Node, tuple[int, ...], float]] = [(self._root, (), 1.0)]
        while parts:
            node, path, share = parts.pop()
            while len(node.children) == 1:
                ((token, node),) = node.children.items()
                path = (*path, token)
            found = scores.get(path) if node.children else None
            if found is None:
                shares.update(dict.fromkeys(node.labels, share / len(node.labels)))
                continue
            highest = max(found[token] for token in node.children)
            weights = {token: math.exp(found[token] - highest) for token in node.children}
            total = sum(weights.values())
            for token, child in node.children.items():
                parts.append((child, (*path, token), share * weights[token] / total))
        return {label: shares[label] for label in self.labels}


class ChoiceState:
    """The beginning of a label. Satisfies `State`."""

    def __init__(self, path: list[_Node]) -> None:
        self._path = path

    @property
    def _here(self) -> _Node:
        return self._path[-1]

    @property
    def finished(self) -> bool:
        """Whether one label is complete."""
        return not self._here.children

    @property
    def listed(self) -> tuple[int, ...]:
        """The tokens that may come next."""
        return tuple(self._here.children)

    def forced(self) -> tuple[int, ...]:
        """Accept the tokens up to where labels part again, and return them."""
        tokens = []
        while len(self._here.children) == 1:
            (token,) = self._here.children
            self.accept(token)
            tokens.append(token)
        return tuple(tokens)

    def allows(self, token: int) -> bool:
        """Whether some label goes on with this token."""
        return token in self._here.children

    def accept(self, token: int) -> bool:
        """Append a token if it is legal; returns whether it was."""
        child = self._here.children.get(token)
        if child is None:
            return False
        self._path.append(child)
        return True

    def rewind(self, count: int) -> None:
        """Take back the last `count` tokens."""
        del self._path[len(self._path) - count :]

    def best(self, scores: np.ndarray) -> int:
        """The legal token of the highest score, ties by lowest id."""
        return min(self._here.children, key=lambda token: (-scores[token], token))

    def copy(self) -> Self:
        """An independent state at the same place."""
        return type(self)(self._path.copy())
