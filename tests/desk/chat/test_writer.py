"""How replies are written: what is read, what goes in, how they end."""

from __future__ import annotations

import json

import numpy as np
import pytest

from copydesk.desk.chat_request import ChatRequest
from copydesk.errors import LengthError
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Constraint, Reply, Sampling, Schema
from fake_engine import Logits, hashed, reciting

from .chatting import Bench, leaning

SCHEMA = Constraint(
    schema=Schema(
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "kind": {"enum": ["World", "Sports"]}},
            "required": ["name", "kind"],
        }
    )
)


def asked(text: str = "hello?", **options: object) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": text}], **options)  # type: ignore[arg-type]


def saying(tokenizer: Tokenizer, request: ChatRequest, text: str) -> Logits:
    """A model that replies to `request` with a text, marks and control tokens in it counted."""
    bench = Bench(tokenizer, hashed(tokenizer.vocab_size))
    prompt = list(bench.job(request)[0].prompt)
    reply = tokenizer.encode_control(text)

    def following(tokens: list[int]) -> int | None:
        written = list(tokens)[len(prompt) :]
        right = list(tokens)[: len(prompt)] == prompt and written == reply[: len(written)]
        return reply[len(written)] if right and len(written) < len(reply) else None

    return reciting(tokenizer.vocab_size, following, otherwise=hashed(tokenizer.vocab_size))  # type: ignore[arg-type]


def replied(tokenizer: Tokenizer, request: ChatRequest, text: str) -> Reply:
    (reply, _) = Bench(tokenizer, saying(tokenizer, request, text)).one(request)
    assert isinstance(reply, Reply), reply
    return reply


def test_a_reply_ends_at_any_of_the_models_end_tokens(thinking: Tokenizer) -> None:
    reply = replied(thinking, asked(max_tokens=100), "Hello 天津!<|im_end|>")
    assert (reply.content, reply.reasoning, reply.finish) == ("Hello 天津!", None, "stop")
    assert reply.usage.completion_tokens == len(thinking.encode("Hello 天津!"))
    assert (reply.verified, reply.draft, reply.accepted, reply.value) == (True, None, None, None)


def test_a_reply_that_is_long_enough_ends_so(thinking: Tokenizer) -> None:
    reply = replied(thinking, asked(max_tokens=3), "abcdefgh")
    assert (reply.finish, reply.usage.completion_tokens) == ("length", 3)
    full = Bench(thinking, leaning(thinking, {}), context_length=60)
    (reply_, _) = full.one(asked(max_tokens=500, stop=("never said",)))
    assert isinstance(reply_, Reply)
    assert reply_.usage.prompt_tokens + reply_.usage.completion_tokens <= 60


def test_a_stop_text_is_not_returned(thinking: Tokenizer) -> None:
    reply = replied(thinking, asked(max_tokens=100, stop=("lo w", "xyz")), "Hello world<|im_end|>")
    assert (reply.content, reply.finish) == ("Hel", "stop")


@pytest.mark.parametrize("fixture", ["thinking", "opening", "plain"])
def test_reasoning_is_split_off(fixture: str, request: pytest.FixtureRequest) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(fixture)
    begins = "<think>" if fixture == "plain" else ""
    reply = replied(
        tokenizer, asked(max_tokens=100, thinking=True), f"{begins}\nhm, 2\n</think>\n\nThe reply.<|im_end|>"
    )
    assert (reply.content, reply.reasoning) == ("The reply.", "hm, 2")


def test_reasoning_that_was_not_asked_for_is_split_off_too(plain: Tokenizer) -> None:
    reply = replied(plain, asked(max_tokens=100), "<think>hm</think>yes<|im_end|>")
    assert (reply.content, reply.reasoning) == ("yes", "hm")


def test_reasoning_leaves_room_for_what_follows(thinking: Tokenizer) -> None:
    bench = Bench(thinking, leaning(thinking, {"</think>": -9.0, "<|im_end|>": -9.0}))
    (reply, _) = bench.one(asked(max_tokens=40, thinking=True))
    assert isinstance(reply, Reply)
    assert reply.reasoning
    assert reply.content
    assert reply.usage.completion_tokens == 40
    (held, _) = bench.one(asked(max_tokens=40, thinking=True, constraint=SCHEMA))
    assert isinstance(held, Reply)
    assert set(held.value) == {"name", "kind"}


def test_a_constraint_holds_after_reasoning(thinking: Tokenizer) -> None:
    reply = replied(thinking, asked(max_tokens=200, thinking=True, constraint=SCHEMA), "{hm}</think>")
    assert reply.reasoning == "{hm}"
    assert json.loads(reply.content) == reply.value


def test_what_the_schema_forces_takes_no_passes(thinking: Tokenizer) -> None:
    reply = replied(thinking, asked(max_tokens=200, constraint=SCHEMA), '{"name": "a", "kind": "Sports"}<|im_end|>')
    assert reply.value == {"name": "a", "kind": "Sports"}
    assert reply.passes < reply.usage.completion_tokens


def test_a_constraint_that_cannot_be_met_in_time_is_refused_by_name(thinking: Tokenizer) -> None:
    bench = Bench(thinking, leaning(thinking, {}))
    with pytest.raises(LengthError, match="at least"):
        bench.job(asked(max_tokens=4, constraint=SCHEMA))
    small = Bench(thinking, leaning(thinking, {}), context_length=10)
    with pytest.raises(LengthError, match="no room for a conversation"):
        small.job(asked(max_tokens=400, constraint=SCHEMA))


def test_a_reply_that_runs_away_is_brought_to_an_end(thinking: Tokenizer) -> None:
    closing = [bool(set(thinking.token_bytes(id)) & set(b'".}')) for id in range(thinking.vocab_size)]
    random = leaning(thinking, {})
    bench = Bench(thinking, lambda tokens: random(tokens) - 20.0 * np.array(closing))
    for constraint in (SCHEMA, Constraint(json_object=True), Constraint(regex="[a-z ]*[.]")):
        (reply, deltas) = bench.one(asked(max_tokens=120, constraint=constraint, logprobs=True))
        assert isinstance(reply, Reply)
        assert reply.finish == "length"
        assert reply.usage.completion_tokens <= 120
        assert "".join(delta.content for delta in deltas) == reply.content
        assert b"".join(one.text for one in reply.logprobs).decode() == reply.content


def test_every_token_of_the_content_has_its_logprob(thinking: Tokenizer) -> None:
    request = asked(max_tokens=200, constraint=SCHEMA, logprobs=True, top_logprobs=2)
    reply = replied(thinking, request, '{"name": "a1", "kind": "Sports"}<|im_end|>')
    assert b"".join(one.text for one in reply.logprobs).decode() == reply.content
    assert all(len(one.top) == 2 and one.top[0][1] >= one.logprob - 1e-6 for one in reply.logprobs)
    free = replied(thinking, asked(max_tokens=50, logprobs=True), "Hello 天津<|im_end|>")
    assert b"".join(one.text for one in free.logprobs).decode() == free.content
    assert all(one.top == () and one.logprob > -0.2 for one in free.logprobs)


def test_an_engine_may_go_on_by_itself_after_the_first_token(thinking: Tokenizer) -> None:
    request = asked(max_tokens=100)
    text = "Hello world, here and there!"
    bench = Bench(thinking, saying(thinking, request, f"{text}<|im_end|>"), decodes=15)
    (reply, deltas) = bench.one(request)
    assert isinstance(reply, Reply)
    assert reply.content == text
    assert len(deltas[0].content) < 10
    assert len(bench.engine.calls) < reply.passes
    for other in (
        asked(max_tokens=30, sampling=Sampling(temperature=0.5)),
        asked(max_tokens=30, sampling=Sampling(repetition_penalty=1.1)),
        asked(max_tokens=30, logprobs=True),
        asked(max_tokens=30, constraint=SCHEMA),
    ):
        calls = len(bench.engine.calls)
        (reply, _) = bench.one(other)
        assert isinstance(reply, Reply)
        assert len(bench.engine.calls) - calls == reply.passes


def test_good_drafts_save_passes(thinking: Tokenizer) -> None:
    request = asked(max_tokens=100)
    text = "Hello world, here and there!"
    right = [*thinking.encode(text), thinking.eos_token_ids[0]]
    bench = Bench(thinking, saying(thinking, request, f"{text}<|im_end|>"))
    (reply, _) = bench.one(request, lambda standing: right[len(standing) :])
    assert isinstance(reply, Reply)
    assert (reply.content, reply.passes, reply.accepted) == (text, 1, 1.0)
