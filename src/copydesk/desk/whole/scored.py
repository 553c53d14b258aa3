"""What the probabilities of an answer's tokens say: of its fields, of the whole, of labels.

The engine's own, as it tells them: some tell them before a constraint leaves out what is illegal, some after. Knows
nothing of engines.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from copydesk.desk.answer import fields
from copydesk.desk.leaves import leaves
from copydesk.types import Field, TokenLogprob

NOTHING = -math.inf
_MATTERS = 1e-3
"""Probability of a token that may begin several labels, from which on one token does not tell them apart."""


def scored_fields(text: str, tokens: Sequence[TokenLogprob], source: str) -> tuple[dict[str, Field], float | None]:
    """The fields of a JSON answer, and the confidence of the whole: the product over the tokens of its values.

    What the schema writes around them counts for nothing. Confidences are None where the tokens are not told.
    """
    aligned = _aligned(text, tokens)
    if aligned is None:
        found = fields(text, [text.encode()], {}, source, _unknown, {})
        return {path: Field(field.spans, field.match, None) for path, field in found.items()}, None
    pieces, probabilities = aligned
    ends = list(accumulate(map(len, pieces)))
    opened = {
        index: probabilities[index]
        for first, last in _insides(text)
        for index in range(bisect_right(ends, first), bisect_left(ends, last) + 1)
    }
    return fields(text, pieces, opened, source, _as_told, {}), math.prod(opened.values())


def label_logprobs(labels: Sequence[str], tokens: Sequence[TokenLogprob]) -> list[float] | None:
    """Each label's log-probability by the tokens that are probable in the first place; that of one that no probable
    token begins is minus infinity. None where those tokens do not tell the labels apart."""
    if not tokens or not tokens[0].top:
        return None
    shares = dict.fromkeys(labels, 0.0)
    unclear = 0.0
    for text, logprob in tokens[0].top:
        begun = text.lstrip()
        meant = [label for label in labels if begun and label.encode().startswith(begun)]
        if len(meant) == 1:
            shares[meant[0]] += math.exp(logprob)
        elif meant:
            unclear += math.exp(logprob)
    if not any(shares.values()) or unclear > max(_MATTERS * max(shares.values()), 0.0):
        return None
    return [math.log(share) if share else NOTHING for share in shares.values()]


def text_probability(text: str, tokens: Sequence[TokenLogprob]) -> float | None:
    """The product of the probabilities of a text's tokens; None where they are not told."""
    aligned = _aligned(text, tokens)
    return None if aligned is None else math.prod(aligned[1])


def _aligned(text: str, tokens: Sequence[TokenLogprob]) -> tuple[list[bytes], list[float]] | None:
    """The tokens that make up the text, and their probabilities; what stands around it, such as an end, left out."""
    written, begin = text.encode(), 0
    place = b"".join(token.text for token in tokens).find(written) if written else -1
    if place < 0:
        return None
    pieces, probabilities = [], []
    for token in tokens:
        first, last = max(begin, place), min(begin + len(token.text), place + len(written))
        if first < last:
            pieces.append(token.text[first - begin : last - begin])
            probabilities.append(min(1.0, math.exp(token.logprob)))
        begin += len(token.text)
    return pieces, probabilities


def _insides(text: str) -> list[tuple[int, int]]:
    """Where the values of an answer stand in its bytes; a string's first quote is not its own choice."""
    offsets = [0, *accumulate(len(character.encode()) for character in text)]
    return [(offsets[leaf.start + (text[leaf.start] == '"')], offsets[leaf.end]) for leaf in leaves(text)]


def _unknown(path: str, probability: float) -> float:
    return 0.0


def _as_told(path: str, probability: float) -> float:
    return probability
