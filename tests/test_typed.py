"""Values as instances of the caller's classes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from pydantic import BaseModel, ConfigDict, field_validator

from copydesk.errors import AnswerError
from copydesk.typed import typed_answer, typed_reply
from copydesk.types import Answer, Reply, Schema, Task, Usage

REPLY = Reply("", None, "stop", {"day": "2024-02-03"}, True, None, None, 1, "m", "e", Usage(1, 0, 1), 1.0)


class Day(BaseModel):
    model_config = ConfigDict(strict=True)
    day: date


class Refusing(BaseModel):
    day: str

    @field_validator("day")
    @classmethod
    def never(cls, value: str) -> str:
        raise ValueError("no day is good enough")


def test_a_class_makes_instances_also_a_strict_one() -> None:
    assert typed_reply(REPLY, Schema({}, Day)).value == Day(day=date(2024, 2, 3))
    answer = Answer({"day": "2024-02-03"}, {}, 1.0, True, None, None, 1, "m", "e", Usage(1, 0, 1), 1.0)
    assert typed_answer(answer, Task("t", "i", Schema({}, Day))).value.day.month == 2


def test_without_a_class_nothing_changes() -> None:
    assert typed_reply(REPLY, None) is REPLY
    assert typed_reply(REPLY, Schema({})) is REPLY


def test_what_a_class_refuses_is_told_with_the_field() -> None:
    with pytest.raises(AnswerError, match=r"Refusing refuses .*day: Value error, no day is good enough"):
        typed_reply(REPLY, Schema({}, Refusing))
    with pytest.raises(AnswerError, match="day"):
        typed_reply(replace(REPLY, value={}), Schema({}, Day))
