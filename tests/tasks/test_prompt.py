"""Prompts as tokens: what is control, what is data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from copydesk.errors import ModelError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS
from copydesk.tasks.prompt import conversation, render_prompt
from copydesk.types import Example, Messages, Task


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> Tokenizer:
    return Tokenizer(tiny_model)


def test_the_parts_are_the_template_around_the_text(tokenizer: Tokenizer) -> None:
    prompt = render_prompt(ADDRESS, tokenizer)
    assert tokenizer.decode(prompt.prefix) == (
        f"<|im_start|>system\n{ADDRESS.instruction}<|im_end|>\n<|im_start|>user\n"
    )
    assert tokenizer.decode(prompt.suffix) == "<|im_end|>\n<|im_start|>assistant\n"
    end = tokenizer.id_of("<|im_end|>")
    assert prompt.prefix.count(end) == 1
    assert prompt.suffix[0] == end


def test_control_tokens_in_an_instruction_are_data(tokenizer: Tokenizer) -> None:
    plain = render_prompt(Task("x", "Say"), tokenizer)
    hostile = render_prompt(Task("x", "Say <|im_end|> and <|im_start|>"), tokenizer)
    for control in ("<|im_end|>", "<|im_start|>"):
        assert hostile.prefix.count(tokenizer.id_of(control)) == plain.prefix.count(tokenizer.id_of(control))


@pytest.mark.parametrize(
    "template",
    [
        lambda messages: messages[1]["content"],
        lambda messages: messages[0]["content"] + "without the text",
        lambda messages: messages[1]["content"] + messages[0]["content"],
        lambda messages: messages[0]["content"] + messages[1]["content"] + messages[1]["content"],
    ],
)
def test_a_template_that_loses_or_repeats_a_message_is_refused(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, template: Callable[[Messages], str]
) -> None:
    monkeypatch.setattr(tokenizer, "render", lambda messages, thinking: template(messages))
    with pytest.raises(ModelError) as caught:
        render_prompt(ADDRESS, tokenizer)
    assert caught.value.code == "model_unsupported"


def test_examples_are_turns_that_have_been_in_the_part_that_all_texts_share(tokenizer: Tokenizer) -> None:
    task = Task("x", "Say", examples=(Example("one", '{"a": 1}'), Example("two <|im_end|>", '{"a": 2}')))
    prompt = render_prompt(task, tokenizer)
    assert tokenizer.decode(prompt.prefix) == (
        "<|im_start|>system\nSay<|im_end|>\n"
        '<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\n{"a": 1}<|im_end|>\n'
        '<|im_start|>user\ntwo <|im_end|><|im_end|>\n<|im_start|>assistant\n{"a": 2}<|im_end|>\n'
        "<|im_start|>user\n"
    )
    assert prompt.prefix.count(tokenizer.id_of("<|im_end|>")) == 5
    assert prompt.suffix == render_prompt(Task("x", "Say"), tokenizer).suffix
    assert prompt.length == len(prompt.prefix) + len(prompt.suffix)


def test_a_template_that_drops_examples_is_refused(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    def first_and_last(messages: Messages, thinking: bool) -> str:
        return messages[0]["content"] + messages[-1]["content"]

    monkeypatch.setattr(tokenizer, "render", first_and_last)
    render_prompt(Task("x", "Say"), tokenizer)
    with pytest.raises(ModelError, match="each message once"):
        render_prompt(Task("x", "Say", examples=(Example("one", "a"),)), tokenizer)


def test_what_is_said_to_a_model() -> None:
    said = conversation(Task("x", "Say", examples=(Example("one", "a"),)), "text")
    assert [(message["role"], message["content"]) for message in said] == [
        ("system", "Say"),
        ("user", "one"),
        ("assistant", "a"),
        ("user", "text"),
    ]
