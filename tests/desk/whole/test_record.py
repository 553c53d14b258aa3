"""One extraction: asked, checked, asked once more if need be."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from copydesk.desk.request import Request
from copydesk.desk.whole.record import Means, write_record
from copydesk.desk.whole.shape import Shape
from copydesk.desk.whole.worth import Worth
from copydesk.engines.completions import Completion
from copydesk.errors import AnswerError, LengthError, SchemaError, TextError
from copydesk.tasks.builtin import ADDRESS, address
from copydesk.tasks.prompt import conversation
from copydesk.types import Answer, Example, Json, Usage
from desk.whole.fake_completions import FakeCompletions, Write, in_turn, tokens, written

TASK = address(("name", "phone"))
TEXT = "江雨桐 021-17613435"
RIGHT = '{"name": "江雨桐", "phone": "021-17613435"}'
WRONG = '{"name": "江雨桐", "phone": "110"}'
BROKEN = '{"name": "江雨桐"'


def record(write: Write, request: Request | None = None, **options: int) -> tuple[Answer[Json], FakeCompletions]:
    request = request or Request(TASK, TEXT)
    engine = FakeCompletions(write, **options)
    schema = request.task.schema.json if request.task.schema else {}
    means = Means(engine, Shape(schema, request.task.grounded), conversation, None, Worth())
    return asyncio.run(write_record(means, request, 0.0)), engine


def test_an_answer() -> None:
    answer, engine = record(
        in_turn(written(RIGHT, *tokens('{"name": "', "江雨桐", '", "phone": "', "021-17613435", '"}')))
    )
    assert answer.value == {"name": "江雨桐", "phone": "021-17613435"}
    assert (answer.verified, answer.draft, answer.accepted, answer.passes) == (True, None, None, 0)
    assert (answer.model, answer.engine, answer.usage) == ("fake-model", "fake", Usage(10, 4, 6))
    assert answer.fields["phone"].spans[0].start == 4
    assert answer.confidence == pytest.approx(2.718281828**-0.4)
    (asked,) = engine.asked
    assert asked.messages == conversation(TASK, TEXT)
    assert asked.constraint.schema is not None
    assert asked.top == 0
    assert asked.sampling.temperature == 0.0


def test_the_same_answer_in_another_layout() -> None:
    answer, _ = record(in_turn(written('{ "phone":"021-17613435",\n"name":"江雨桐" }')))
    assert list(answer.value.items()) == [("name", "江雨桐"), ("phone", "021-17613435")]
    assert answer.confidence is None


def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    answer, engine = record(in_turn(written(BROKEN), written(RIGHT)))
    assert answer.value["name"] == "江雨桐"
    first, second = engine.asked
    assert second == replace(first, sampling=replace(first.sampling, seed=1))


@pytest.mark.parametrize(
    ("texts", "code", "says"),
    [
        ((BROKEN, BROKEN), "invalid_answer", "did not keep to the schema"),
        ((BROKEN, WRONG), "not_grounded", "as phone what does not stand in the text: '110'"),
        ((WRONG, BROKEN), "invalid_answer", "did not keep to the schema"),
        ((WRONG, WRONG), "not_grounded", "grounded"),
    ],
)
def test_it_is_asked_for_twice_at_most(texts: tuple[str, str], code: str, says: str) -> None:
    with pytest.raises(AnswerError, match=says) as raised:
        record(in_turn(*map(written, texts)))
    assert raised.value.code == code


def test_the_model_is_told_what_does_not_stand_in_the_text() -> None:
    answer, engine = record(in_turn(written(WRONG), written(RIGHT)))
    assert answer.value["phone"] == "021-17613435"
    *before, said, ask = engine.asked[1].messages
    assert before == list(engine.asked[0].messages)
    assert said == {"role": "assistant", "content": WRONG}
    assert "“110” does not stand in the text" in ask["content"]


def test_an_answer_that_was_cut_off() -> None:
    with pytest.raises(LengthError, match="not complete after 6 tokens"):
        record(in_turn(written(BROKEN, finish="length")))


@pytest.mark.parametrize(
    ("request_", "context", "most"),
    [
        (Request(TASK, TEXT), None, 1024 + 8 * len(TEXT)),
        (Request(TASK, TEXT), 512, 512),
        (Request(TASK, TEXT, max_tokens=7), 512, 7),
    ],
)
def test_the_longest_answer(request_: Request, context: int | None, most: int) -> None:
    _, engine = record(in_turn(written(RIGHT)), request_, context_length=context)  # type: ignore[arg-type]
    assert engine.asked[0].max_tokens == most


def test_a_text_that_does_not_fit() -> None:
    text = f"{TEXT}。" + "多余的话。" * 20
    with pytest.raises(TextError):
        record(lambda asked: TextError("no", code="too_long"), Request(TASK, text))

    def write(asked: object) -> Completion | Exception:
        shown = engine_text(asked)
        return written(RIGHT) if len(shown) < 60 else TextError("no", code="too_long")

    answer, _ = record(write, Request(TASK, text, truncate=True))
    assert answer.truncated


def engine_text(asked: object) -> str:
    return str(asked.messages[-1]["content"])  # type: ignore[attr-defined]


def test_examples_are_turns_that_have_been() -> None:
    task = replace(TASK, examples=(Example("刘一 110", '{"name": "刘一", "phone": "110"}'),))
    _, engine = record(in_turn(written(RIGHT)), Request(task, TEXT))
    assert [message["role"] for message in engine.asked[0].messages] == ["system", "user", "assistant", "user"]


def test_sampling_is_passed_on() -> None:
    _, engine = record(in_turn(written(BROKEN), written(RIGHT)), Request(TASK, TEXT, temperature=0.7, seed=5))
    assert [(asked.sampling.temperature, asked.sampling.seed) for asked in engine.asked] == [(0.7, 5), (0.7, 6)]


def test_errors_of_the_engine_are_passed_on() -> None:
    with pytest.raises(SchemaError, match="too hard"):
        record(in_turn(SchemaError("too hard")), Request(ADDRESS, TEXT))
