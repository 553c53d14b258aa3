"""Requests for replies that make no sense."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.chat_request import ChatRequest
from copydesk.errors import CopydeskError, SchemaError, TextError, UsageError
from copydesk.types import Constraint, Sampling, Schema

HELLO = [{"role": "user", "content": "hello"}]


def test_the_least_that_is_asked() -> None:
    request = ChatRequest(messages=HELLO)
    assert request.sampling == Sampling()
    assert request.constraint == Constraint()
    assert ChatRequest(prompt="").messages == ()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"messages": []}, UsageError, "at least one"),
        ({"messages": "hello"}, UsageError, "list"),
        ({"messages": HELLO[0]}, UsageError, "list"),
        ({"messages": [{"role": "boss", "content": "x"}]}, UsageError, "message 0|Message 0"),
        ({"messages": [{"role": "user", "content": None}]}, TextError, "message 0"),
        ({"messages": [*HELLO, {"role": "assistant", "content": "hi"}]}, UsageError, "last message"),
        ({"prompt": "x"}, UsageError, "no messages"),
        ({"messages": (), "prompt": "x", "thinking": True}, UsageError, "no thinking"),
        ({"max_tokens": 0}, UsageError, "max_tokens"),
        ({"max_tokens": True}, UsageError, "max_tokens"),
        ({"stop": ["a"]}, UsageError, "stop"),
        ({"stop": ("",)}, UsageError, "stop"),
        ({"stop": ("a",) * 17}, UsageError, "at most 16"),
        ({"top_logprobs": 3}, UsageError, "logprobs=True"),
        ({"logprobs": True, "top_logprobs": 21}, UsageError, "top_logprobs"),
        ({"thinking": "on"}, UsageError, "thinking"),
        ({"prediction": {}}, UsageError, "prediction"),
        ({"sampling": Sampling(temperature=-1.0)}, UsageError, "temperature"),
        ({"sampling": Sampling(temperature=float("nan"))}, UsageError, "temperature"),
        ({"sampling": Sampling(top_p=1.1)}, UsageError, "top_p"),
        ({"sampling": Sampling(top_k=-1)}, UsageError, "top_k"),
        ({"sampling": Sampling(top_k=1.5)}, UsageError, "top_k"),  # type: ignore[arg-type]
        ({"sampling": Sampling(min_p=-0.1)}, UsageError, "min_p"),
        ({"sampling": Sampling(repetition_penalty=0.0)}, UsageError, "repetition_penalty"),
        ({"sampling": Sampling(presence_penalty=float("inf"))}, UsageError, "presence_penalty"),
        ({"sampling": Sampling(seed=2**64)}, UsageError, "64"),
        ({"sampling": Sampling(seed=-1)}, UsageError, "seed"),
        ({"constraint": Constraint(regex="a", choice=("b",))}, UsageError, "one constraint"),
        ({"constraint": Constraint(schema=Schema({}), json_object=True)}, UsageError, "one constraint"),
        ({"constraint": Constraint(choice=("a", ""))}, SchemaError, "none empty"),
        ({"constraint": Constraint(choice=("a", "a"))}, SchemaError, "twice"),
        ({"constraint": Constraint(json_object=True), "stop": ("a",)}, UsageError, "stop"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: type[CopydeskError], words: str) -> None:
    with pytest.raises(error, match=words):
        ChatRequest(**({"messages": HELLO} | options))
