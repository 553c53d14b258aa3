"""Ways out of patterns."""

from __future__ import annotations

import pytest

from copydesk.desk.canonical import Canonical
from copydesk.desk.chat.pattern_closing import PatternClosing
from copydesk.desk.grammar import Grammar
from copydesk.models.tokenizer import Tokenizer


@pytest.mark.parametrize(
    ("pattern", "begun"),
    [
        (r"[a-z]+\.", "ab"),
        ("(a|b)*c", "ab"),
        ("yes|no|yes sir", "y"),
        ("[0-9]{4}-[0-9]{2}", "1"),
        (".*", "天"),
        (r"(<[a-z]+>)+end", "<a"),
    ],
)
def test_an_answer_is_completed(thinking: Tokenizer, pattern: str, begun: str) -> None:
    closing = PatternClosing(Canonical(thinking), thinking.eos_token_ids[0])
    grammar = Grammar.of_pattern(pattern, thinking.grammar_tokenizer(thinking.vocab_size), Canonical(thinking))
    state = grammar.start()
    for token in thinking.encode(begun):
        assert state.accept(token)
    way_out = closing.of(state, (), 100)
    assert way_out is not None
    assert closing.of(state, (), len(way_out) - 1) is None
    assert all(state.accept(token) for token in way_out)
    assert state.finished
    assert closing.shortest(grammar.start())
