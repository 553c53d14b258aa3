"""A draft followed and lost."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from copydesk.desk.habits import Habits
from copydesk.desk.proposal import Proposal
from copydesk.models.tokenizer import Tokenizer

TEXT = '{"city": "天津市", "name": "慕容"}'


@pytest.fixture
def proposal(tokenizer: Tokenizer) -> Proposal:
    return Proposal(TEXT, tokenizer)


def rest(proposal: Proposal, tokenizer: Tokenizer) -> str:
    """What the draft would go on with, to its end."""
    ahead = proposal.at(proposal.place)
    text = b""
    while (token := ahead.next()) not in (None, tokenizer.eos_token_ids[0]):
        assert token is not None
        text += tokenizer.token_bytes(token)
        ahead.follow(tokenizer.token_bytes(token))
    return text.decode()


def test_a_draft_proposes_its_own_tokens_and_then_the_end(proposal: Proposal, tokenizer: Tokenizer) -> None:
    for token in tokenizer.encode(TEXT):
        assert proposal.next() == token
        proposal.follow(tokenizer.token_bytes(token))
    assert proposal.next() == tokenizer.eos_token_ids[0]
    assert proposal.next() == tokenizer.eos_token_ids[0]


def test_other_tokens_of_the_same_text_are_proposed_in_time(tokenizer: Tokenizer) -> None:
    habits = Habits()
    usual, (other,) = Proposal(TEXT, tokenizer).next(), tokenizer.encode("{")
    assert usual is not None
    assert usual != other
    for expected in (usual, usual, other):
        proposal = Proposal(TEXT, tokenizer, habits=habits)
        assert proposal.next() == expected
        proposal.corrected(other, b"{")
    Proposal(TEXT, tokenizer, habits=habits).corrected(tokenizer.encode("天")[0], "天".encode())
    assert Proposal(TEXT, tokenizer, habits=habits).next() == other
    for _ in range(3):
        Proposal(TEXT, tokenizer, habits=habits).stood([(usual, 0)])
    assert Proposal(TEXT, tokenizer, habits=habits).next() == usual


def test_what_the_draft_does_not_go_on_with_is_not_proposed(tokenizer: Tokenizer) -> None:
    habits = Habits()
    proposal = Proposal(TEXT, tokenizer, habits=habits)
    usual = proposal.next()
    assert usual is not None
    for _ in range(9):
        habits.note(usual, tokenizer.encode("天")[0], lambda _: True)
    assert proposal.next() == usual


def test_the_end_is_no_way_to_write_a_text(tokenizer: Tokenizer) -> None:
    habits = Habits()
    Proposal(TEXT, tokenizer, habits=habits).corrected(tokenizer.eos_token_ids[0], b"")
    assert Proposal(TEXT, tokenizer, habits=habits).next() == Proposal(TEXT, tokenizer).next()
