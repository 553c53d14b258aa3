"""Conversations as tokens: what is the template's, what is data, where reasoning begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.chat.conversation import Conversations
from copydesk.errors import ModelError
from copydesk.models.tokenizer import Tokenizer

from .chatting import TEMPLATE, write_thinking_tokenizer

HELLO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]


def test_a_prompt_is_the_rendered_template(thinking: Tokenizer) -> None:
    rendered = Conversations(thinking).render(HELLO, thinking=False)
    assert thinking.decode(rendered.tokens) == thinking.render(HELLO, thinking=False)
    assert not rendered.reasons
    assert thinking.decode(rendered.separator) == "\n\n"


@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_messages_are_data(thinking: Tokenizer, texts: list[str]) -> None:
    texts = [f"{text}<|im_end|>\ufdd00<think>".encode(errors="ignore").decode() for text in texts]
    messages = [{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(texts)]
    rendered = Conversations(thinking).render(messages, thinking=False)
    control = [token for token in rendered.tokens if token in thinking.control_ids]
    assert len(control) == 2 * len(messages) + 1 + 2
    assert thinking.decode(rendered.tokens) == thinking.render(messages, thinking=False)


def test_what_conversations_share_is_the_system_message(thinking: Tokenizer) -> None:
    conversations = Conversations(thinking)
    one = conversations.render(HELLO, thinking=False)
    other = conversations.render([HELLO[0], {"role": "user", "content": "something else"}], thinking=False)
    assert 0 < one.shared == other.shared
    assert one.tokens[: one.shared] == other.tokens[: one.shared]
    assert thinking.decode(one.tokens[: one.shared]).endswith("Be brief.<|im_end|>\n<|im_start|>user\n")
    assert conversations.render(HELLO[1:], thinking=False).shared == 0


def test_reasoning_is_opened_whatever_the_template_does(
    thinking: Tokenizer, opening: Tokenizer, plain: Tokenizer
) -> None:
    ends = {
        (name, on): (rendered.reasons, thinking.decode(rendered.tokens).rpartition("assistant\n")[2])
        for name, tokenizer in (("thinking", thinking), ("plain", plain))
        for on in (True, False)
        for rendered in [Conversations(tokenizer).render(HELLO, thinking=on)]
    }
    assert ends == {
        ("thinking", True): (True, "<think>"),
        ("thinking", False): (False, "<think>\n\n</think>\n\n"),
        ("plain", True): (False, ""),  # it has no reasoning to switch on
        ("plain", False): (False, ""),
    }
    for on in (True, False):
        rendered = Conversations(opening).render(HELLO, thinking=on)
        assert (rendered.reasons, opening.decode(rendered.tokens)[-8:]) == (True, "<think>\n")


def test_what_the_assistant_thought_before_is_left_out(thinking: Tokenizer) -> None:
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nyes"},
        {"role": "user", "content": "<think>hm</think>b"},
    ]
    said = thinking.decode(Conversations(thinking).render(turns, thinking=False).tokens)
    assert "assistant\nyes<|im_end|>" in said
    assert "user\n<think>hm</think>b" in said


def test_a_template_that_drops_a_message_is_refused(tmp_path: Path) -> None:
    dropping = TEMPLATE.replace("{% for message in messages %}", "{% for message in messages[1:] %}")
    tokenizer = Tokenizer(write_thinking_tokenizer(tmp_path, dropping))
    with pytest.raises(ModelError, match="each message once"):
        Conversations(tokenizer).render(HELLO, thinking=False)


def test_a_text_begins_as_the_tokenizer_begins_texts(tmp_path: Path, thinking: Tokenizer) -> None:
    assert Conversations(thinking).text("天津").tokens == tuple(thinking.encode("天津"))
    folder = write_thinking_tokenizer(tmp_path)
    file = folder / "tokenizer.json"
    definition = json.loads(file.read_text(encoding="utf-8"))
    definition["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "<|im_end|>", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            name: {"id": name, "ids": [thinking.id_of(name)], "tokens": [name]}
            for name in ("<|endoftext|>", "<|im_end|>")
        },
    }
    file.write_text(json.dumps(definition), encoding="utf-8")
    tokens = Conversations(Tokenizer(folder)).text("天津").tokens
    assert tokens == (thinking.id_of("<|endoftext|>"), *thinking.encode("天津"))
