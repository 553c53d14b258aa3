"""Scores worked out by PyTorch are those that the other engines' arithmetic gives."""

from __future__ import annotations

import pytest
import torch

from copydesk.engines.protocol import Wanted
from copydesk.engines.scoring import normalizers_of, score_rows
from copydesk.engines.transformers import scores
from copydesk.engines.transformers.scores import score
from copydesk.errors import EngineError

WANTED = [Wanted(0, (3, 1)), Wanted(1, (), 4), Wanted(2), Wanted(5, (0,), 1), Wanted(6, (), 500)]


@pytest.mark.parametrize("at_once", [1, 2, 256])
def test_as_elsewhere(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_ROWS_AT_ONCE", at_once)
    logits = torch.randn(5, 40, generator=torch.Generator().manual_seed(3)).round(decimals=1)  # with ties
    expected = score_rows(logits.numpy(), normalizers_of(logits.numpy()), WANTED)
    for one, other in zip(score(logits, WANTED), expected, strict=True):
        assert (one.argmax, one.logprob) == (other.argmax, pytest.approx(other.logprob, abs=1e-5))
        assert one.listed == pytest.approx(other.listed, abs=1e-5)
        assert [token for token, _ in one.top] == [token for token, _ in other.top]
        assert [chance for _, chance in one.top] == pytest.approx([chance for _, chance in other.top], abs=1e-5)


def test_ties_go_to_the_lowest_id() -> None:
    [found] = score(torch.tensor([[0.0, 2.0, 2.0, 1.0, 2.0]], dtype=torch.bfloat16), [Wanted(0, (), 2)])
    assert found.argmax == 1
    assert [token for token, _ in found.top] == [1, 2]


def test_nothing_to_score() -> None:
    assert score(torch.empty(0, 40), []) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_an_error(value: float) -> None:
    with pytest.raises(EngineError, match="not numbers"):
        score(torch.full((1, 4), value), [Wanted(0)])
