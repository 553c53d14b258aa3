"""Figures of gold files, from a network whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from copydesk.errors import UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import AGNEWS_LABELS
from copydesk.training.evaluation import Evaluator, macro_f1
from copydesk.training.network import Shape


@pytest.fixture
def evaluator(toy_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Evaluator:
    """Its decoder answers from a list instead of from the network."""
    shape = Shape(toy_tokenizer.vocab_size, 16, 16, 1, 1, 1, 16, max_position_embeddings=64)
    return Evaluator(shape, toy_tokenizer, torch.device("cpu"), 256)


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_record_is_right_when_every_labelled_field_is(
    evaluator: Evaluator, toy_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        '{"name": "Ann", "phone": "1"}',
        '{"name": "Bob", "phone": "9"}',
        '{"name": "Bob", "phone": "9"}',
        '{"name"',
    ]
    answers = [toy_tokenizer.encode(text) for text in said]
    monkeypatch.setattr(evaluator._decoder, "greedy", lambda prompts, **options: answers[: len(prompts)])
    expected = [("Ann", "1", []), ("Bob", "2", []), ("Bob", "2", ["phone"]), ("Cid", "3", [])]
    lines = [
        {"text": name, "expected": {"name": name, "phone": phone}, "unlabelled": left_out}
        for name, phone, left_out in expected
    ]
    figures = evaluator.measure(write(tmp_path / "gold.jsonl", lines))
    assert figures.shares == pytest.approx({"exact": 0.5, "fields": 4 / 7, "valid": 0.75})
    assert [line["differing"] for line in figures.wrong] == [["phone"], ["name", "phone"]]
    assert evaluator.measure(tmp_path / "gold.jsonl", at_most=1).n == 1


def test_labels_are_chosen_by_their_first_token(
    evaluator: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [[-1.0, -2.0, -3.0, -4.0], [-2.0, -1.0, -3.0, -4.0], [-2.0, -1.0, -3.0, -4.0]]
    monkeypatch.setattr(evaluator._decoder, "next_scores", lambda prompts, listed: rows)
    lines = [{"text": "a", "label": "World"}, {"text": "b", "label": 1}, {"text": "c", "label": "Business"}]
    figures = evaluator.measure(write(tmp_path / "gold.jsonl", lines))  # type: ignore[arg-type]
    assert figures.shares["accuracy"] == pytest.approx(2 / 3)
    assert [(line["text"], line["answered"]) for line in figures.wrong] == [("c", "Sports")]


def test_macro_f1_is_the_mean_over_classes() -> None:
    assert macro_f1([0, 0, 1, 2], [0, 1, 1, 2], 3) == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert macro_f1([0], [0], len(AGNEWS_LABELS)) == pytest.approx(0.25)


def test_a_file_without_gold_lines_is_refused(evaluator: Evaluator, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no gold lines"):
        evaluator.measure(write(tmp_path / "gold.jsonl", [{"x": 1}]))
