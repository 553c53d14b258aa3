"""The probabilities that a model gives to labels: what is read for them, and what follows from its scores.

Where the labels' first tokens all differ, a label is told by that token, and its probability is the token's: one row
of the prompt's own pass says all. Other labels are scored whole, as branches that go on from the prompt, every
beginning that several of them share scored once. Knows nothing of engines, texts or tasks.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from copydesk.desk.scheduler import Branch
from copydesk.engines.protocol import Read, Scores, Wanted
from copydesk.errors import SchemaError

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

Tokens = tuple[int, ...]

_COLDEST = 1e-6
"""Temperatures below it choose the most probable label."""


class LabelScores:
    """How the labels of one set are scored."""

    def __init__(self, labels: Sequence[str], tokenizer: Tokenizer) -> None:
        """Errors: `SchemaError` (`invalid_labels`) for labels that the tokenizer cannot tell apart."""
        self.labels = tuple(labels)
        written = [tuple(tokenizer.encode(label)) for label in labels]
        self.sizes = tuple(map(len, written))
        """Tokens of each label."""
        closed = _closed(written, tokenizer.eos_token_ids[0])
        common = _common(closed)
        rests = [tokens[len(common) :] for tokens in closed]
        if len({rest[0] for rest in rests}) == len(rests):
            rests = [rest[:1] for rest in rests]
        root, paths = _tree(rests)
        self._common = common
        self._listed = (*((token,) for token in common), root.place(len(common)))
        self.branches = _branches(rests, paths, len(common) + len(root.next))
        """What is to be read after `read`; nothing where one row says all."""
        shared = tuple(range(len(common)))
        self._places = [
            (*shared, *(node.places[token] for node, token in zip(path, rest, strict=True)))
            for path, rest in zip(paths, rests, strict=True)
        ]
        """Of each label, where the scores of its tokens stand among all."""

    def read(self, sequence: int, prompt: Sequence[int]) -> Read:
        """The pass over what is left of the prompt, and what all labels begin with."""
        last = len(prompt) - 1
        wanted = tuple(Wanted(last + place, listed) for place, listed in enumerate(self._listed))
        return Read(sequence, (*prompt, *self._common), wanted)

    def logprobs(self, scores: Sequence[Scores]) -> list[float]:
        """Each label's log-probability by the scores of `read` and then of `branches`."""
        found = [logprob for one in scores for logprob in one.listed]
        return [sum(map(found.__getitem__, places)) for places in self._places]


def shares(logprobs: Sequence[float]) -> list[float]:
    """Probabilities among the labels, which add up to 1."""
    highest = max(logprobs)
    weights = [math.exp(logprob - highest) for logprob in logprobs]
    total = sum(weights)
    return [weight / total for weight in weights]


def mass(logprobs: Sequence[float]) -> float:
    """The probability of all labels together, among everything that could be written."""
    return min(1.0, sum(map(math.exp, logprobs)))


def choose(logprobs: Sequence[float], temperature: float, seed: int) -> int:
    """The index of the most probable label, of equal ones the first; above temperature 0, of a sample by `seed`."""
    numbers = range(len(logprobs))
    if temperature < _COLDEST:
        return max(numbers, key=logprobs.__getitem__)
    weights = shares([logprob / temperature for logprob in logprobs])
    return random.Random(seed).choices(numbers, weights)[0]


@dataclass(slots=True)
class _Node:
    """A beginning that some labels share."""

    next: dict[int, _Node] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    """Of the tokens that come next, where their scores stand among all; empty until it is settled who reads it."""

    def place(self, start: int) -> Tokens:
        """Have the next tokens' scores stand from `start` on; returns these tokens."""
        self.places = {token: start + number for number, token in enumerate(self.next)}
        return tuple(self.next)


def _closed(labels: Sequence[Tokens], end: int) -> list[Tokens]:
    """The labels' tokens, with an end token where another label goes on from one."""
    if not all(labels) or len(set(labels)) < len(labels):
        raise SchemaError("A label is empty or stands twice; list each once.", code="invalid_labels")
    goes_on = {tokens for tokens, after in pairwise(sorted(labels)) if after[: len(tokens)] == tokens}
    return [(*tokens, end) if tokens in goes_on else tokens for tokens in labels]


def _common(labels: Sequence[Tokens]) -> Tokens:
    """What all labels begin with; of a single one, all but its last token."""
    first, last = min(labels), max(labels)
    most = min(len(first), len(last)) - (len(labels) == 1)
    return first[: next((place for place in range(most) if first[place] != last[place]), most)]


def _tree(sequences: Sequence[Tokens]) -> tuple[_Node, list[list[_Node]]]:
    """The tree of sequences, none of which goes on from another, and for each its node before every token."""
    root = _Node()
    paths = []
    for tokens in sequences:
        node, path = root, []
        for token in tokens:
            path.append(node)
            node = node.next.setdefault(token, _Node())
        paths.append(path)
    return root, paths


def _branches(sequences: Sequence[Tokens], paths: Sequence[list[_Node]], start: int) -> tuple[Branch, ...]:
    """What is to be read to score all nodes but the root, each in one branch; their scores stand from `start` on."""
    branches = []
    for tokens, path in zip(sequences, paths, strict=True):
        if path[-1].places or any(node.next for node in path[-1].next.values()):
            continue  # read already, or on the way to a longer one
        wanted = []
        for position, node in enumerate(path[1:]):
            if not node.places:
                wanted.append(Wanted(position, node.place(start)))
                start += len(node.next)
        branches.append(Branch(tokens[: len(path) - 1], tuple(wanted)))
    return tuple(branches)
