"""Answers of servers, whole and in pieces, read."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.engines.remote.replies import Streamed, completion, finish, logprobs, usage
from copydesk.errors import EngineError
from copydesk.types import TokenLogprob, Usage


def test_a_whole_answer() -> None:
    found = completion(
        {
            "choices": [
                {
                    "finish_reason": "length",
                    "message": {"content": "Hi", "reasoning": "Hm."},
                    "logprobs": {"content": [{"token": "Hi", "logprob": -1, "bytes": [72, 105], "top_logprobs": []}]},
                }
            ],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}},
        }
    )
    assert (found.text, found.reasoning, found.finish) == ("Hi", "Hm.", "length")
    assert found.usage == Usage(5, 3, 2)
    assert found.logprobs == (TokenLogprob(b"Hi", -1.0),)


def test_an_answer_of_the_older_kind() -> None:
    scored = {"tokens": ["a", "b"], "token_logprobs": [None, -2], "top_logprobs": [None, {"b": -2, "c": -3}]}
    found = completion({"choices": [{"text": "ab", "finish_reason": "stop", "logprobs": scored}]})
    assert (found.text, found.usage) == ("ab", Usage(0, 0, 0))
    assert found.logprobs == (TokenLogprob(b"a", 0.0), TokenLogprob(b"b", -2.0, ((b"b", -2.0), (b"c", -3.0))))


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choices": []},
        {"choices": ["x"]},
        {"choices": {"0": {}}},
        {"choices": [{"message": {"content": 5}}]},
    ],
)
def test_what_is_no_answer_is_told(answer: dict[str, Any]) -> None:
    with pytest.raises(EngineError, match="does not answer as the OpenAI API does"):
        completion(answer)


def test_an_answer_without_a_text() -> None:
    assert completion({"choices": [{"message": {"content": None}}]}).text == ""


def test_an_answer_that_was_given_up() -> None:
    assert (finish(None), finish("stop"), finish("length")) == ("stop", "stop", "length")
    with pytest.raises(EngineError, match="content_filter"):
        finish("content_filter")


def test_pieces_are_put_together() -> None:
    streamed = Streamed()
    deltas = [
        streamed.add(event)
        for event in (
            {"choices": [{"delta": {"role": "assistant"}}]},
            {"choices": [{"delta": {"reasoning_content": "Hm."}}]},
            {"choices": [{"delta": {"content": "He"}}]},
            {"choices": [{"delta": {"content": "llo"}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 9}},
        )
    ]
    assert [delta and (delta.content, delta.reasoning) for delta in deltas] == [
        None,
        ("", "Hm."),
        ("He", ""),
        ("llo", ""),
        None,
    ]
    found = streamed.completion()
    assert (found.text, found.reasoning, found.usage) == ("Hello", "Hm.", Usage(4, 0, 9))


def test_a_server_that_counts_nothing_is_counted() -> None:
    streamed = Streamed()
    streamed.add({"choices": [{"text": "a"}]})
    streamed.add({"choices": [{"text": "b", "finish_reason": "stop"}]})
    assert streamed.completion().usage == Usage(0, 0, 2)


def test_a_stream_that_ends_in_the_middle() -> None:
    streamed = Streamed()
    streamed.add({"choices": [{"delta": {"content": "He"}}]})
    with pytest.raises(EngineError, match="broke off"):
        streamed.completion()


def test_what_is_not_told_counts_for_nothing() -> None:
    assert logprobs(None) == logprobs({"content": None}) == ()
    assert logprobs({"content": [{"token": "é"}]}) == (TokenLogprob("é".encode(), 0.0),)
    assert usage("x") == usage({"prompt_tokens": "y"}) == Usage(0, 0, 0)
