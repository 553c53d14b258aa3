"""Jobs for replies: what is settled before a token is written, and what is refused."""

from __future__ import annotations

import pytest

from copydesk.desk.chat_request import ChatRequest
from copydesk.drafting.controller import Controller
from copydesk.errors import TextError
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Sampling
from fake_engine import hashed

from .chatting import CHEAP, Bench


def asked(text: str = "hello", **options: object) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": text}], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (asked(" "), "empty_text"),
        (asked("a\0"), "invalid_text"),
        (asked("\ud800"), "invalid_text"),
        (asked("天津" * 500), "too_long"),
        (ChatRequest(prompt=""), "empty_text"),
        (ChatRequest(prompt="天津" * 500), "too_long"),
    ],
)
def test_what_cannot_be_read_is_refused(thinking: Tokenizer, request_: ChatRequest, code: str) -> None:
    with pytest.raises(TextError) as caught:
        Bench(thinking, hashed(thinking.vocab_size), context_length=400).job(request_)
    assert caught.value.code == code


def test_a_blank_prompt_may_be_continued(thinking: Tokenizer) -> None:
    job, _ = Bench(thinking, hashed(thinking.vocab_size)).job(ChatRequest(prompt="\n", max_tokens=3))
    assert job.prompt == tuple(thinking.encode("\n"))


def test_room_is_what_the_context_leaves(thinking: Tokenizer) -> None:
    bench = Bench(thinking, hashed(thinking.vocab_size), context_length=400)
    job, _ = bench.job(asked(max_tokens=5000))
    assert job.room == 400 - len(job.prompt)
    long, _ = bench.job(asked("天津市 " * 400, max_tokens=5000, truncate=True))
    assert long.truncated
    assert long.room >= 100


def test_replies_are_drafted_where_the_desk_drafts_and_the_caller_lets_it(thinking: Tokenizer) -> None:
    plain = Bench(thinking, hashed(thinking.vocab_size))
    assert plain.job(asked())[0].drafts is None
    bench = Bench(thinking, hashed(thinking.vocab_size), controller=Controller(CHEAP))
    assert bench.job(asked(draft=False))[0].drafts is None
    for sampling in (Sampling(), Sampling(temperature=0.7)):
        assert bench.job(asked(sampling=sampling))[0].drafts is not None


def test_a_guess_is_drafted_and_its_share_told(thinking: Tokenizer) -> None:
    bench = Bench(thinking, hashed(thinking.vocab_size), controller=Controller(CHEAP))
    (plain, _) = bench.one(asked(max_tokens=30, draft=False))
    (guessed, _) = bench.one(asked(max_tokens=30, prediction="天津市 something else"))
    assert guessed.content == plain.content  # type: ignore[union-attr]
    assert (plain.draft, plain.accepted) == (None, None)  # type: ignore[union-attr]
    assert guessed.draft == "prediction"  # type: ignore[union-attr]
    assert 0.0 <= guessed.accepted <= 1.0  # type: ignore[union-attr, operator]
