"""Turns of a chat."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.serving.conversation import turns
from copydesk.serving.errors import ApiError
from copydesk.serving.settings import Limits
from copydesk.serving.wire.chat import Message

LIMITS = Limits(max_text_characters=10, max_messages=3)


def turned(*messages: dict[str, Any]) -> list[tuple[str, str]]:
    read = turns([Message.model_validate(message) for message in messages], LIMITS)
    return [(turn["role"], turn["content"]) for turn in read]


def test_roles_that_the_model_does_not_know() -> None:
    assert turned({"role": "developer", "content": "a"}, {"role": "tool", "content": "b"}) == [
        ("system", "a"),
        ("user", "b"),
    ]
    assert turned({"role": "function", "content": "c"}) == [("user", "c")]


def test_what_the_assistant_called_is_what_it_said() -> None:
    calls = [
        {"function": {"name": "f", "arguments": "{1}"}},
        {"type": "custom"},
        {"function": {"name": "g", "arguments": "{2}"}},
    ]
    assert turned({"role": "assistant", "content": "Hm", "tool_calls": calls}) == [("assistant", "Hm\n{1}\n{2}")]
    assert turned({"role": "assistant"}) == [("assistant", "")]


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"role": "user"}, "messages[1].content"),
        ({"role": "user", "content": "x" * 11}, "messages[1].content"),
        ({"role": "user", "content": [{"type": "text", "text": "x" * 6}] * 2}, "messages[1].content"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[1].content[0]"),
        ({"role": "user", "content": [{"type": "text", "text": ""}, {"type": "file"}]}, "messages[1].content[1]"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "x" * 11}}]},
            "messages[1].tool_calls",
        ),
    ],
)
def test_what_is_refused(message: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        turned({"role": "user", "content": "a"}, message)
    assert caught.value.param == param


def test_too_many() -> None:
    with pytest.raises(ApiError):
        turned(*[{"role": "user", "content": "a"}] * 4)
