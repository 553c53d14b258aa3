"""How good a network is on files of gold lines: whole records right, fields right, labels right; the wrong lines kept.

Decodes greedily without a grammar, in float32. Knows nothing of training.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from copydesk.errors import UsageError
from copydesk.tasks.builtin import AGNEWS_LABELS, address, agnews
from copydesk.training.decoding import Decoder
from copydesk.training.network import Qwen3, Rotary, Shape
from copydesk.training.packing import Encoder

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_ANSWER_TOKENS = 200
Json = dict[str, Any]


@dataclass(frozen=True)
class Figures:
    """What one file came to. `wrong` are gold lines with what was answered instead."""

    n: int
    shares: Mapping[str, float]
    """`exact`, `fields`, `valid`; or `accuracy`, `f1_macro`."""
    seconds: float
    wrong: Sequence[Json] = field(repr=False, default=())

    def line(self) -> str:
        shares = " ".join(f"{name} {share:.4f}" for name, share in self.shares.items())
        return f"{shares} (n {self.n}, {self.seconds:.1f} s)"


class Evaluator:
    """A network of its own in float32, filled with the weights that are to be measured."""

    def __init__(self, shape: Shape, tokenizer: Tokenizer, device: torch.device, longest: int) -> None:
        self._network = Qwen3(shape).to(device).eval().requires_grad_(False)
        self._decoder = Decoder(self._network, Rotary(shape, device))
        self._tokenizer = tokenizer
        self._encoder = Encoder(tokenizer, longest)

    def load(self, weights: Mapping[str, Tensor]) -> None:
        self._network.load_tensors(weights)

    def measure(self, path: Path, at_most: int | None = None) -> Figures:
        """The figures of one file. Errors: `UsageError` for a file that holds no gold lines."""
        started = time.monotonic()
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()][:at_most]
        if not lines or not {"text"} < set(lines[0]):
            raise UsageError(
                f"{path} holds no gold lines; each is an object with text and expected, or text and label."
            )
        shares, wrong = self._labels(lines) if "label" in lines[0] else self._records(lines)
        return Figures(len(lines), shares, time.monotonic() - started, wrong)

    def _prompts(self, task: Any, lines: Sequence[Json]) -> list[list[int]]:
        prompt = self._encoder.prompt(task)
        texts = self._tokenizer.encode_batch([line["text"] for line in lines])
        return [[*prompt.prefix, *text, *prompt.suffix] for text in texts]

    def _records(self, lines: Sequence[Json]) -> tuple[dict[str, float], list[Json]]:
        prompts = self._prompts(address(tuple(lines[0]["expected"])), lines)
        answers = self._decoder.greedy(prompts, end=self._tokenizer.eos_token_ids[0], at_most=_ANSWER_TOKENS)
        wrong, valid, right, total = [], 0, 0, 0
        for line, answer in zip(lines, answers, strict=True):
            said = self._tokenizer.decode(answer)
            value = _object(said)
            valid += value is not None
            labelled = [name for name in line["expected"] if name not in line.get("unlabelled", ())]
            differing = [name for name in labelled if (value or {}).get(name) != line["expected"][name]]
            total += len(labelled)
            right += len(labelled) - len(differing)
            if differing:
                wrong.append({**line, "answered": value if value is not None else said, "differing": differing})
        count = len(lines)
        return {"exact": 1 - len(wrong) / count, "fields": right / max(1, total), "valid": valid / count}, wrong

    def _labels(self, lines: Sequence[Json]) -> tuple[dict[str, float], list[Json]]:
        tokens = [self._encoder.label(label) for label in AGNEWS_LABELS]
        scores = self._decoder.next_scores(self._prompts(agnews(), lines), tokens)
        gold = [
            line["label"] if isinstance(line["label"], int) else AGNEWS_LABELS.index(line["label"]) for line in lines
        ]
        found = [row.index(max(row)) for row in scores]
        wrong = [
            {**line, "answered": AGNEWS_LABELS[guess], "log_probabilities": [round(score, 4) for score in row]}
            for line, guess, row, right in zip(lines, found, scores, gold, strict=True)
            if guess != right
        ]
        return {"accuracy": 1 - len(wrong) / len(lines), "f1_macro": macro_f1(gold, found, len(AGNEWS_LABELS))}, wrong


def macro_f1(gold: Sequence[int], found: Sequence[int], classes: int) -> float:
    """The mean over classes of the harmonic mean of precision and recall."""
    scores = []
    for label in range(classes):
        both = sum(g == f == label for g, f in zip(gold, found, strict=True))
        either = sum(g == label for g in gold) + sum(f == label for f in found)
        scores.append(2 * both / either if either else 0.0)
    return sum(scores) / classes


def _object(text: str) -> Json | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
