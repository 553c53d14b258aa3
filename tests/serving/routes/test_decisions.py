"""Decisions: questions answered by probabilities."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.types import Answer, Task
from serving.fakes import FakeBackend, Server, answer_of

pytestmark = pytest.mark.anyio


class Deciding(FakeBackend):
    """Gives the last label the most."""

    async def classify(self, text: str, task: Task, options: Any) -> Answer[str]:
        self.calls.append((text, task, options))
        total = len(task.labels) * (len(task.labels) + 1) / 2
        labels = {label: (number + 1) / total for number, label in enumerate(task.labels)}
        return answer_of(task.labels[-1], labels=labels, confidence=0.5)


async def decided(input_: Any, *questions: dict[str, Any]) -> tuple[Deciding, dict[str, Any]]:
    backend = Deciding()
    response = await Server(backend).post("/v1/decisions", {"input": input_, "questions": questions, "model": "fake"})
    assert response.status_code == 200, response.text
    return backend, response.json()


async def test_a_predicate() -> None:
    backend, body = await decided("Help!", {"type": "predicate", "instructions": "Is it urgent?", "name": "urgent"})
    assert body["model"] == "fake"
    assert body["answers"] == [{"type": "predicate", "name": "urgent", "probability": pytest.approx(2 / 3)}]
    assert body["usage"] == {
        "input_tokens": 7,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 12,
    }
    text, task, _ = backend.calls[0]
    assert text == "Help!"
    assert task.labels == ("false", "true")
    assert task.instruction == "Is it urgent?\nAnswer with one of: false; true"


async def test_a_choice_keeps_truth_values_apart_from_texts() -> None:
    choices = [{"value": True}, {"value": "true", "description": "the word"}, {"value": "no"}]
    backend, body = await decided("x", {"type": "choice", "instructions": "Which?", "choices": choices})
    answer = body["answers"][0]
    assert backend.calls[0][1].labels == ("true", '"true"', "no")
    assert '"true" (the word)' in backend.calls[0][1].instruction
    assert answer["choice"] == "no"
    assert [each["value"] for each in answer["probabilities"]] == [True, "true", "no"]
    assert (answer["name"], answer["confidence"]) == (None, 0.5)


async def test_a_score() -> None:
    levels = [{"label": "low"}, {"label": "mid"}, {"label": "high"}]
    _, body = await decided("x", {"type": "score", "instructions": "How angry?", "levels": levels})
    answer = body["answers"][0]
    assert answer["score"] == pytest.approx((0 * 1 + 1 * 2 + 2 * 3) / 6)
    assert answer["probabilities"][2] == {"value": 2, "label": "high", "probability": 0.5}


async def test_several_questions_about_messages() -> None:
    parts = [{"type": "input_text", "text": "b"}, {"type": "input_text", "text": "c"}]
    messages = [{"role": "user", "content": "a"}, {"role": "user", "content": parts}]
    question = {"type": "predicate", "instructions": "Is it?"}
    backend, body = await decided(messages, question, {**question, "name": "again"})
    assert [call[0] for call in backend.calls] == ["a\n\nb\nc"] * 2
    assert [answer["name"] for answer in body["answers"]] == [None, "again"]


async def test_a_question_about_news_is_the_caller_s_own() -> None:
    choices = [{"value": value} for value in ("World", "Sports", "Business", "Sci/Tech")]
    backend, _ = await decided("x", {"type": "choice", "instructions": "Which desk?", "choices": choices})
    task = backend.calls[0][1]
    assert (task.builtin, task.name) == (False, "decision")
    assert task.instruction.startswith("Which desk?")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"questions": []}, "questions"),
        ({"questions": [{"type": "essay", "instructions": "?"}]}, "questions[0]"),
        ({"questions": [{"type": "predicate", "instructions": ""}]}, "questions[0].instructions"),
        ({"questions": [{"type": "choice", "instructions": "?", "choices": []}]}, "questions[0].choices"),
        ({"questions": [{"type": "score", "instructions": "?"}]}, "questions[0].levels"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content"),
        ({"input": []}, "input"),
        ({"input": "x" * 300_000}, "input"),
    ],
)
async def test_what_is_refused(body: dict[str, Any], param: str) -> None:
    asked = {"input": "x", "questions": [{"type": "predicate", "instructions": "?"}]} | body
    response = await Server().post("/v1/decisions", asked)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


async def test_no_two_answers_may_be_the_same() -> None:
    question = {"type": "choice", "instructions": "?", "choices": [{"value": "a"}, {"value": "a"}]}
    response = await Server().post("/v1/decisions", {"input": "x", "questions": [question]})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_labels"
