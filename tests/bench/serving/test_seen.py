"""What a window comes to."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.bench.serving.clients import Reply, Window
from copydesk.bench.serving.jobs import Said
from copydesk.bench.serving.seen import Agreement, Seen, agreement, percentile, seen


def _reply(text: str, label: str, ms: float, status: int = 200, prompt_tokens: int = 7) -> Reply:
    answer = {"choices": [{"message": {"content": label}}], "usage": {"prompt_tokens": prompt_tokens}}
    return Reply(text, status, json.dumps(answer).encode(), ms)


def _seen(*replies: Reply) -> Seen:
    return seen("news", Window(replies, 2.0, 1.0, 3.0), 2)


def test_figures() -> None:
    figures = _seen(
        *(_reply(str(number), "World", float(number)) for number in range(100, 0, -1)),
        _reply("refused", "World", 1000.0, status=503),
        _reply("wrong", "Politics", 1000.0),
        Reply("lost", 0, b"", 1000.0),
    )
    assert (figures.p50_ms, figures.p95_ms, figures.p99_ms) == (50.0, 95.0, 99.0)
    assert (figures.per_second, figures.answers, figures.errors) == (50.0, 100, 3)
    assert (figures.client_share, figures.server_share) == (0.25, 0.75)
    assert figures.said["100"] == Said("World", 7)
    assert len(figures.said) == 100


def test_nothing_answered() -> None:
    figures = _seen(Reply("lost", 0, b"", 1.0))
    assert (figures.p50_ms, figures.per_second, figures.errors) == (None, 0.0, 1)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=300), st.integers(1, 100))
def test_a_percentile_is_the_least_that_is_not_exceeded(values: list[float], percent: int) -> None:
    ordered = sorted(values)
    found = percentile(ordered, percent)
    assert found in values
    assert sum(value <= found for value in values) >= len(values) * percent / 100
    assert sum(value < found for value in values) < len(values) * percent / 100


def test_no_percentile_of_nothing() -> None:
    assert percentile([], 50) is None


def test_agreement() -> None:
    ours = [_seen(_reply("a", "World", 1.0)), _seen(_reply("a", "World", 1.0), _reply("b", "Sports", 1.0))]
    theirs = [_seen(_reply("a", "World", 1.0, prompt_tokens=8), _reply("b", "World", 1.0), _reply("c", "World", 1.0))]
    assert agreement(ours, theirs) == Agreement(compared=2, equal=1, equal_prompts=1)
    assert agreement(ours, []) == Agreement()
    assert Agreement(1, 2, 3) + Agreement(1, 1, 1) == Agreement(2, 3, 4)


@pytest.mark.parametrize("status", [200, 503])
def test_only_answers_with_success_count(status: int) -> None:
    assert _seen(_reply("a", "World", 1.0, status)).answers == (status == 200)
