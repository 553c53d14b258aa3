"""Examples to packed blocks: prompt, text and answer as tokens, side by side in rows, every prediction weighted.

Uses the very functions that render prompts when answering. Knows no torch, no processes, no sources.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from copydesk.desk.prompt import Prompt
from copydesk.tasks.prompt import render_prompt
from copydesk.training.blocks import Block, BlockSize, views
from copydesk.training.examples import Example
from copydesk.types import Task

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Weighting:
    """How the predictions of one source count."""

    answer: float = 1.0
    """For each answer token, times the example's own weight; for each token of plain text."""
    text: float = 0.0
    """For each token of an example's input text (language modelling beside the task)."""
    token_dropout: float = 0.0
    """Share of the input text's tokens replaced by random ones (not for tasks that copy)."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One example as tokens. `places` index into `tokens`: the token there predicts the target.

    A soft answer lists its position once for each label, with the label's share of the weight.
    """

    tokens: list[int]
    places: list[int]
    targets: list[int]
    answer_weights: list[float]
    text_weights: list[float]
    source: int


class Encoder:
    """Turns examples into segments. Prompts are rendered once for each task."""

    def __init__(self, tokenizer: Tokenizer, longest: int) -> None:
        self.tokenizer, self.longest = tokenizer, longest
        self.dropped = 0
        """Examples that were longer than `longest` tokens."""
        self._end = tokenizer.eos_token_ids[0]
        self._prompts: dict[str, Prompt] = {}
        self._labels: dict[str, int] = {}
        self._words = sorted(set(range(tokenizer.vocab_size)) - tokenizer.control_ids)

    def encode(
        self, examples: Sequence[Example | str], source: int, weighting: Weighting, rng: random.Random
    ) -> list[Segment]:
        """The segments of examples; a bare string is plain text, modelled from start to end, cut where too long."""
        texts = [example if isinstance(example, str) else example.text for example in examples]
        encoded = self.tokenizer.encode_batch(texts)
        answers = iter(
            self.tokenizer.encode_batch([example.answer for example in examples if isinstance(example, Example)])
        )
        segments: list[Segment] = []
        for example, text in zip(examples, encoded, strict=True):
            if isinstance(example, str):
                segments += self._plain(text, source, weighting)
            elif (segment := self._answered(example, text, next(answers), source, weighting, rng)) is not None:
                segments.append(segment)
        return segments

    def prompt(self, task: Task) -> Prompt:
        if task.instruction not in self._prompts:
            self._prompts[task.instruction] = render_prompt(task, self.tokenizer)
        return self._prompts[task.instruction]

    def _answered(
        self,
        example: Example,
        text: list[int],
        answer: list[int],
        source: int,
        weighting: Weighting,
        rng: random.Random,
    ) -> Segment | None:
        prompt = self.prompt(example.task)
        head = [*prompt.prefix, *text, *prompt.suffix]
        answer = [*answer, self._end]
        if len(head) + len(answer) > self.longest:
            self.dropped += 1
            return None
        first, weight = len(head) - 1, weighting.answer * example.weight
        places, targets = list(range(first, first + len(answer))), answer
        weights = [weight] * len(answer)
        if example.label_probabilities is not None:
            labels = [self.label(label) for label in example.task.labels]
            places = [first] * len(labels) + places[1:]
            targets = labels + answer[1:]
            weights = [weight * share for share in example.label_probabilities] + weights[1:]
        text_places: list[int] = []
        if weighting.text:
            start = len(prompt.prefix) - 1
            text_places = list(range(start, start + len(text)))
        if weighting.token_dropout:
            start = len(prompt.prefix)
            for place in range(start, start + len(text)):
                if rng.random() < weighting.token_dropout:
                    head[place] = rng.choice(self._words)
        return Segment(
            tokens=head + answer,
            places=places + text_places,
            targets=targets + text if text_places else targets,
            answer_weights=weights + [0.0] * len(text_places),
            text_weights=[0.0] * len(places) + [weighting.text] * len(text_places),
            source=source,
        )

    def label(self, label: str) -> int:
        """The first token of a label, which decides between the labels."""
        if label not in self._labels:
            self._labels[label] = self.tokenizer.encode(label)[0]
        return self._labels[label]

    def _plain(self, text: list[int], source: int, weighting: Weighting) -> list[Segment]:
        pieces = [text[start : start + self.longest - 1] for start in range(0, len(text), self.longest - 1)]
        return [
            Segment(
                tokens=[self._end, *piece],
                places=list(range(len(piece))),
                targets=piece,
                answer_weights=[weighting.answer] * len(piece),
                text_weights=[0.0] * len(piece),
                source=source,
            )
            for piece in pieces
            if piece
        ]


_OPEN_ROWS = 8


def pack(segments: list[Segment], size: BlockSize, rng: np.random.Generator) -> np.ndarray:
    """Fills one block, first fit over a few open rows, and removes from `segments` what went in (from the end).

    Returns the flat int32 array that `blocks.views` reads. Rows that no segment fits are closed; their rest is padding.
    """
    flat = np.zeros(size.words, dtype=np.int32)
    block = views(flat, size)
    rows = size.tokens // size.row
    used = [0] * rows
    first_open = 0
    placed: list[tuple[int, Segment]] = []
    while segments and len(placed) < size.examples and first_open < rows:
        length = len(segments[-1].tokens)
        for row in range(first_open, min(first_open + _OPEN_ROWS, rows)):
            if used[row] + length <= size.row:
                placed.append((row * size.row + used[row], segments.pop()))
                used[row] += length
                break
        else:
            first_open += 1
    starts = [start for start, _ in placed]
    for row, filled in enumerate(used):
        starts += range(row * size.row + filled, (row + 1) * size.row, size.longest)
    starts.sort()
    block.bounds[: len(starts)] = starts
    block.bounds[len(starts) :] = size.tokens
    for start, segment in placed:
        block.tokens[start : start + len(segment.tokens)] = segment.tokens
    _score(block, placed, size, rng)
    return flat


def _score(block: Block, placed: list[tuple[int, Segment]], size: BlockSize, rng: np.random.Generator) -> None:
    """Writes the scored positions: every answer's, and as many of the texts' as there is room for, drawn at random."""
    if not placed:
        return
    counts = [len(segment.places) for _, segment in placed]
    places = np.concatenate([segment.places for _, segment in placed]) + np.repeat(
        [start for start, _ in placed], counts
    )
    targets = np.concatenate([segment.targets for _, segment in placed])
    answer = np.concatenate([segment.answer_weights for _, segment in placed]).astype(np.float32)
    text = np.concatenate([segment.text_weights for _, segment in placed]).astype(np.float32)
    sources = np.repeat([segment.source for _, segment in placed], counts)
    chosen, answer_scale = _drawn(np.flatnonzero(answer > 0), size.scored, rng)
    others, text_scale = _drawn(np.flatnonzero((text > 0) & (answer <= 0)), size.scored - len(chosen), rng)
    # A drawn part stands for the whole: its weights are scaled up, so the expected loss is that of all positions.
    answer *= answer_scale
    text *= text_scale
    chosen = np.concatenate((chosen, others))
    for target, values in (
        (block.places, places),
        (block.targets, targets),
        (block.answer_weights, answer),
        (block.text_weights, text),
        (block.sources, sources),
    ):
        target[: len(chosen)] = values[chosen]


def _drawn(indices: np.ndarray, room: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    if len(indices) <= room:
        return indices, 1.0
    if room <= 0:
        return indices[:0], 0.0
    return rng.choice(indices, room, replace=False), len(indices) / room
