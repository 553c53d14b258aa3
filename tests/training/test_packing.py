"""Packed blocks hold whole examples, score what must be learned, and stand for all positions when there is no room."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest
from toy import FIELDS

from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import AGNEWS, AGNEWS_LABELS, address
from copydesk.tasks.prompt import render_prompt
from copydesk.training.blocks import BlockSize, views
from copydesk.training.examples import Example
from copydesk.training.packing import Encoder, Segment, Weighting, pack

TASK = address(FIELDS)
ANSWER = json.dumps({"name": "Ann", "phone": "123"})


def encode(tokenizer: Tokenizer, example: Example | str, weighting: Weighting, longest: int = 200) -> list[Segment]:
    return Encoder(tokenizer, longest).encode([example], 1, weighting, random.Random(0))


def test_an_example_is_the_prompt_the_answer_and_the_end(toy_tokenizer: Tokenizer) -> None:
    (segment,) = encode(toy_tokenizer, Example(TASK, "Ann 123", ANSWER, weight=2.0), Weighting(answer=3.0))
    prompt = render_prompt(TASK, toy_tokenizer)
    end = toy_tokenizer.eos_token_ids[0]
    answer = [*toy_tokenizer.encode(ANSWER), end]
    asked = [*prompt.prefix, *toy_tokenizer.encode("Ann 123"), *prompt.suffix]
    assert segment.tokens == asked + answer
    assert segment.targets == answer
    assert segment.places == list(range(len(asked) - 1, len(asked) + len(answer) - 1))
    assert segment.answer_weights == [6.0] * len(answer)
    assert segment.source == 1


def test_each_scored_place_precedes_its_target(toy_tokenizer: Tokenizer) -> None:
    (segment,) = encode(toy_tokenizer, Example(TASK, "Ann 123", ANSWER), Weighting(text=0.5))
    assert [segment.tokens[place + 1] for place in segment.places] == segment.targets
    assert segment.text_weights.count(0.5) == len(toy_tokenizer.encode("Ann 123"))


def test_a_soft_label_stands_once_for_each_label(toy_tokenizer: Tokenizer) -> None:
    example = Example(AGNEWS, "a goal", "Sports", label_probabilities=(0.1, 0.7, 0.2, 0.0))
    (segment,) = encode(toy_tokenizer, example, Weighting(answer=10.0))
    rest = len(toy_tokenizer.encode("Sports"))
    assert segment.places[:4] == [segment.places[0]] * 4
    assert segment.targets[:4] == [toy_tokenizer.encode(label)[0] for label in AGNEWS_LABELS]
    assert segment.answer_weights == pytest.approx([1.0, 7.0, 2.0, 0.0] + [10.0] * rest)


def test_token_dropout_changes_the_text_alone_and_never_its_targets(toy_tokenizer: Tokenizer) -> None:
    text = "goal " * 20
    (kept,) = encode(toy_tokenizer, Example(AGNEWS, text, "Sports"), Weighting(text=1.0), longest=400)
    (dropped,) = encode(
        toy_tokenizer, Example(AGNEWS, text, "Sports"), Weighting(text=1.0, token_dropout=0.3), longest=400
    )
    changed = [place for place, (a, b) in enumerate(zip(kept.tokens, dropped.tokens, strict=True)) if a != b]
    start = len(render_prompt(AGNEWS, toy_tokenizer).prefix)
    assert 10 < len(changed) < 60
    assert start <= min(changed) <= max(changed) < start + len(toy_tokenizer.encode(text))
    assert dropped.targets == kept.targets
    assert not {dropped.tokens[place] for place in changed} & toy_tokenizer.control_ids


def test_plain_text_is_modelled_from_its_first_token_in_pieces(toy_tokenizer: Tokenizer) -> None:
    segments = encode(toy_tokenizer, "abcdefghij", Weighting(answer=0.5), longest=5)
    ids = toy_tokenizer.encode("abcdefghij")
    assert [segment.targets for segment in segments] == [ids[0:4], ids[4:8], ids[8:10]]
    assert all(segment.answer_weights == [0.5] * len(segment.targets) for segment in segments)


def test_an_example_that_is_too_long_is_left_out_and_counted(toy_tokenizer: Tokenizer) -> None:
    encoder = Encoder(toy_tokenizer, 100)
    examples: list[Example | str] = [Example(TASK, "x" * 300, ANSWER), Example(TASK, "x", ANSWER)]
    assert len(encoder.encode(examples, 0, Weighting(), random.Random(0))) == 1
    assert encoder.dropped == 1


def segment(length: int, first: int, answer: float = 1.0, text: float = 0.0) -> Segment:
    tokens = list(range(first, first + length))
    return Segment(tokens, list(range(length - 1)), tokens[1:], [answer] * (length - 1), [text] * (length - 1), 0)


def test_packing_keeps_segments_whole_and_within_rows() -> None:
    size = BlockSize(tokens=256, row=64, longest=40, scored_share=1.0)
    lengths = [37, 20, 5, 40, 13, 8, 30, 22, 11, 9, 33]
    waiting = [segment(length, 1000 * (index + 1)) for index, length in enumerate(lengths)]
    before = {tuple(s.tokens) for s in waiting}
    flat = pack(waiting, size, np.random.default_rng(0))
    block = views(flat, size)
    bounds = block.bounds.tolist()
    assert bounds[0] == 0
    assert bounds == sorted(bounds)
    assert bounds[-1] == size.tokens
    pieces = [block.tokens[a:b].tolist() for a, b in itertools.pairwise(bounds) if b > a]
    packed = {tuple(piece) for piece in pieces if piece[0] >= 1000}
    assert packed | {tuple(s.tokens) for s in waiting} == before
    assert len(packed) == size.examples == 6
    assert all(len(piece) <= size.longest for piece in pieces)
    assert all(a // size.row == (b - 1) // size.row for a, b in itertools.pairwise(bounds) if b > a)
    scored = block.answer_weights > 0
    assert scored.sum() == sum(len(piece) - 1 for piece in packed)
    assert (block.tokens[block.places[scored] + 1] == block.targets[scored]).all()


@pytest.mark.parametrize(("answer", "text"), [(1.0, 0.0), (0.0, 0.25)])
def test_where_there_is_no_room_a_part_stands_for_the_whole(answer: float, text: float) -> None:
    size = BlockSize(tokens=64, row=64, longest=64, scored_share=0.25)
    flat = pack([segment(60, 1, answer, text)], size, np.random.default_rng(0))
    block = views(flat, size)
    assert (block.answer_weights.sum(), block.text_weights.sum()) == pytest.approx((59 * answer, 59 * text), rel=1e-5)
    assert len(set(block.places.tolist())) == size.scored == 16


def test_answers_come_before_texts_where_room_is_short() -> None:
    size = BlockSize(tokens=64, row=64, longest=64, scored_share=0.25)
    mixed = Segment(
        list(range(60)), list(range(59)), list(range(1, 60)), [1.0] * 10 + [0.0] * 49, [0.0] * 10 + [0.5] * 49, 0
    )
    block = views(pack([mixed], size, np.random.default_rng(0)), size)
    assert block.answer_weights.sum() == 10
    assert (block.text_weights > 0).sum() == 6
    assert block.text_weights.sum() == pytest.approx(49 * 0.5)
