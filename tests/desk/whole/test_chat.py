"""One reply: streamed, or checked first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.reply_stream import ReplySender, ReplyStream
from copydesk.desk.whole.chat import write_reply
from copydesk.engines.completions import FREE
from copydesk.errors import AnswerError, EngineError, LengthError, SchemaError, TextError
from copydesk.types import Constraint, Delta, Reply, Sampling, Schema, TokenLogprob, Usage
from desk.whole.fake_completions import FakeCompletions, Write, in_turn, tokens, written

MESSAGES = ({"role": "user", "content": "Hello"},)
PERSON = Schema({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}})


def chat(write: Write, context_length: int | None = None, **options: Any) -> tuple[list[Delta], Reply, FakeCompletions]:
    engine, sender = FakeCompletions(write, context_length=context_length), ReplySender()
    request = ChatRequest(**({} if "prompt" in options else {"messages": MESSAGES}) | options)
    asyncio.run(write_reply(engine, request, sender))
    stream = ReplyStream(sender)
    return list(stream), stream.reply, engine


def test_a_reply_streams() -> None:
    deltas, reply, engine = chat(in_turn(written("Hi!")), max_tokens=9, stop=("x",))
    assert deltas == [Delta("H"), Delta("i"), Delta("!")]
    assert (reply.content, reply.reasoning, reply.finish, reply.value) == ("Hi!", None, "stop", None)
    assert (reply.verified, reply.draft, reply.passes, reply.usage) == (True, None, 0, Usage(10, 4, 6))
    (asked,) = engine.asked
    assert (asked.constraint, asked.max_tokens, asked.stop, asked.top) == (FREE, 9, ("x",), None)


def test_a_reply_that_is_cut_off_is_one() -> None:
    assert chat(in_turn(written("Hi", finish="length")))[1].finish == "length"


def test_reasoning_is_kept_apart() -> None:
    deltas, reply, _ = chat(in_turn(written("<think>\nHm.\n</think>\n\nHi")), thinking=True)
    assert "".join(delta.content for delta in deltas) == reply.content == "Hi"
    assert "".join(delta.reasoning for delta in deltas).strip() == reply.reasoning == "Hm."


def test_reasoning_that_was_not_asked_for_is_left_out() -> None:
    deltas, reply, _ = chat(in_turn(written("<think>\n\n</think>\n\nHi")))
    assert deltas == [Delta("H"), Delta("i")]
    assert (reply.content, reply.reasoning) == ("Hi", None)


def test_probabilities_where_they_are_asked_for() -> None:
    _, reply, engine = chat(in_turn(written("Hi", *tokens("Hi"))), logprobs=True, top_logprobs=3)
    assert reply.logprobs == (TokenLogprob(b"Hi", -0.1),)
    assert engine.asked[0].top == 3


def test_a_text_is_gone_on_with() -> None:
    _, reply, engine = chat(in_turn(written(" upon")), prompt="Once")
    assert (reply.content, engine.asked[0].prompt, engine.asked[0].messages) == (" upon", "Once", ())


@pytest.mark.parametrize(
    ("constraint", "text", "content", "value"),
    [
        (Constraint(schema=PERSON), '{"age":3,"name":"市"}', '{"name": "市", "age": 3}', {"name": "市", "age": 3}),
        (Constraint(json_object=True), ' {"b":1}', '{"b": 1}', {"b": 1}),
        (Constraint(regex="a+"), "aaa", "aaa", None),
        (Constraint(choice=("a", "b")), "b", "b", None),
    ],
)
def test_a_reply_that_is_held_to_a_form_comes_when_it_is_checked(
    constraint: Constraint, text: str, content: str, value: Any
) -> None:
    deltas, reply, _ = chat(in_turn(written("broken!"), written(text)), constraint=constraint)
    assert deltas == [Delta(content)]
    assert (reply.content, reply.value) == (content, value)


@pytest.mark.parametrize(
    ("constraint", "text", "says"),
    [
        (Constraint(schema=PERSON), '{"name": 5}', "at \\$.name"),
        (Constraint(json_object=True), "[1]", "no object"),
        (Constraint(json_object=True), "{", "no JSON"),
        (Constraint(regex="a+"), "b", "does not match"),
        (Constraint(choice=("a", "b")), "c", "none of the texts"),
    ],
)
def test_a_reply_that_does_not_keep_to_it_is_refused(constraint: Constraint, text: str, says: str) -> None:
    with pytest.raises(AnswerError, match=says):
        chat(lambda asked: written(text), constraint=constraint)


def test_reasoning_before_a_form() -> None:
    text = '<think>Hm.</think>{"name": "a"}'
    deltas, reply, _ = chat(in_turn(written(text)), constraint=Constraint(schema=PERSON), thinking=True)
    assert deltas == [Delta('{"name": "a"}', "Hm.")]
    assert reply.reasoning == "Hm."
    _, reply, _ = chat(in_turn(written("a", reasoning="Hm.")), constraint=Constraint(regex="a"), thinking=True)
    assert reply.reasoning == "Hm."


def test_never_half_an_object() -> None:
    with pytest.raises(LengthError):
        chat(in_turn(written('{"name"', finish="length")), constraint=Constraint(schema=PERSON))


def test_constraints_that_make_no_sense() -> None:
    with pytest.raises(SchemaError):
        chat(in_turn(), constraint=Constraint(schema=Schema({"type": "what"})))
    with pytest.raises(SchemaError, match="cannot be checked"):
        chat(in_turn(written("a")), constraint=Constraint(regex="(a"))


def test_turns_that_do_not_fit() -> None:
    messages = (
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    )

    def write(asked: Any) -> Any:
        return written("Hi") if len(asked.messages) == 1 else TextError("no", code="too_long")

    _, reply, _ = chat(write, messages=messages, truncate=True)
    assert reply.truncated
    with pytest.raises(TextError):
        chat(write, messages=messages)


def test_options_are_passed_on() -> None:
    sampling = Sampling(temperature=0.5, top_p=0.9, seed=3)
    _, _, engine = chat(in_turn(written("Hi")), 64, sampling=sampling, thinking=True, max_tokens=100)
    (asked,) = engine.asked
    assert (asked.sampling, asked.thinking, asked.max_tokens) == (sampling, True, 64)


def test_an_engine_that_ends_without_a_whole() -> None:
    class Ends(FakeCompletions):
        async def stream(self, asked: Any) -> Any:
            yield Delta("H")

    with pytest.raises(EngineError, match="in the middle"):
        asyncio.run(write_reply(Ends(in_turn()), ChatRequest(MESSAGES), ReplySender()))
