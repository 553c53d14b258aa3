"""Forced text in the tokenizer's own tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.desk.canonical import Canonical
from copydesk.desk.grammar import Grammar
from copydesk.desk.schema.bounds import Bounds
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS, address
from law_cases import cases


def pieces(tokenizer: Tokenizer, tokens: Sequence[int]) -> list[str]:
    return [tokenizer.decode([token]) for token in tokens]


def test_what_could_reach_past_the_end_does_not_stand(tokenizer: Tokenizer, canonical: Canonical) -> None:
    tokens, standing = canonical.split([], b'{"province": "')
    assert tokenizer.decode(tokens) == '{"province": "'
    assert tokenizer.decode(tokens[:standing]) == '{"province":'


def test_a_word_that_may_go_on_does_not_stand(canonical: Canonical) -> None:
    assert canonical.split([], b"ne")[1] == 0
    assert canonical.split([], "湖".encode())[1] == 0


def test_the_token_before_decides_how_text_is_split(tokenizer: Tokenizer, canonical: Canonical) -> None:
    whole = tokenizer.encode('"x", "city": "')
    for length in range(1, len(whole)):
        rest = tokenizer.decode(whole[length:]).encode()
        assert canonical.split(whole[:length], rest)[0] == tuple(whole[length:])


def test_a_token_boundary_that_the_tokenizer_would_not_set_is_respected(
    tokenizer: Tokenizer, canonical: Canonical
) -> None:
    quote = tokenizer.id_of('"')
    assert quote is not None
    assert len(tokenizer.encode('",')) == 1
    tokens, _ = canonical.split([quote], b', "city": "')
    assert tokenizer.decode(tokens) == ', "city": "'


def test_characters_begun_or_finished_by_forced_bytes(tokenizer: Tokenizer, canonical: Canonical) -> None:
    character = "漢".encode()
    before = [canonical.byte_tokens[character[0]]]
    tokens, standing = canonical.split(before, character[1:] + b": ")
    assert canonical.text([*before, *tokens]).decode() == "漢: "
    assert standing >= 2
    assert canonical.text(canonical.split([], b": " + character[:2])[0]) == b": "


def test_control_tokens_stand_for_no_text(tokenizer: Tokenizer, canonical: Canonical) -> None:
    assert canonical.text([*tokenizer.encode("a"), *tokenizer.eos_token_ids]) == b"a"


@pytest.mark.parametrize("fields", [None, ["phone"], ["name", "city"]])
@settings(max_examples=cases(60), deadline=None)
@given(data=st.data())
def test_an_answer_is_tokenised_as_it_would_be_as_a_whole(
    tokenizer: Tokenizer, canonical: Canonical, fields: list[str] | None, data: st.DataObject
) -> None:
    """The built-in model is trained on whole answers; what is forced must be what it has seen."""
    schema = (address(fields) if fields else ADDRESS).schema
    assert schema is not None
    words = st.sampled_from(
        ["天津市", "", "河西区", "21号", "022-1", "(B座)", "慕容·修", "a b", "“x”", "#3", "'s", ",", '"']
    )
    values = st.lists(words, max_size=3).map("".join)
    record = {name: data.draw(values) for name in schema.json["properties"]}
    tokens = tokenizer.encode(json.dumps(record, ensure_ascii=False))
    grammar = Grammar(schema.json, Bounds(128, 64), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical)
    state = grammar.start()
    written: list[int] = [*state.forced()]
    while not state.finished:
        assert tokens[: len(written)] == written
        assert state.accept(tokens[len(written)])
        written = [*tokens[: len(written) + 1], *state.forced()]
    assert written == tokens
