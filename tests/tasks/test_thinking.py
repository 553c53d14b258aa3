"""Which questions are reasoned about."""

from __future__ import annotations

import pytest

from copydesk.tasks.thinking import LONG, decide, is_worth_thinking
from copydesk.types import Constraint

WORTH = [
    "证明根号2是无理数",
    "为什么天空是蓝色的？",
    "帮我写一段代码，统计词频",
    "计算 12 的阶乘",
    "推导二次方程的求根公式",
    "Prove that there are infinitely many primes.",
    "Why is the sky blue?",
    "Write code that reverses a list",
    "How many r are in strawberry",
    "What is 17 * 23?",
    "Solve for x: 3x + 5 = 20",
    "Explain step by step how DNS works",
]
NOT_WORTH = [
    "你好",
    "介绍一下长沙",
    "翻译成英文：今天天气很好",
    "Hello!",
    "Translate into French: good morning",
    "Who wrote Hamlet?",
    "My phone is 021-17613435, the order 2024-01-03",
    "直接回答，为什么天空是蓝色的？",
    "In one word: why is the sky blue?",
    "The codeword of the whyte programme",
]


@pytest.mark.parametrize("text", WORTH)
def test_steps_are_reasoned_about(text: str) -> None:
    assert is_worth_thinking(text)


@pytest.mark.parametrize("text", NOT_WORTH)
def test_other_messages_are_answered_at_once(text: str) -> None:
    assert not is_worth_thinking(text)


def test_a_long_message_that_asks_is_reasoned_about() -> None:
    assert is_worth_thinking("天" * (LONG // 2) + "。讲了什么？")
    assert not is_worth_thinking("天" * (LONG // 2) + "。")
    assert not is_worth_thinking("天" * (LONG // 4) + "。讲了什么？")


def test_the_last_user_message_decides_unless_the_caller_does() -> None:
    turns = [
        {"role": "user", "content": "why?"},
        {"role": "assistant", "content": "because"},
        {"role": "user", "content": "thanks"},
    ]
    free = Constraint()
    assert not decide("auto", turns, free)
    assert decide("auto", turns[:1], free)
    assert not decide("auto", turns[:1], Constraint(choice=("yes", "no")))
    assert not decide("off", turns[:1], free)
    assert decide("on", turns, free)
    assert decide("on", turns, Constraint(choice=("yes", "no")))
    assert decide("auto", turns, free, policy=lambda text: text == "thanks")
