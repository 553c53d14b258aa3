"""A draft followed, lost and found again."""

from __future__ import annotations

import pytest

from copydesk.desk.proposal import Proposal
from copydesk.models.tokenizer import Tokenizer

TEXT = '{"city": "天津市", "name": "慕容"}'


@pytest.fixture
def proposal(tokenizer: Tokenizer) -> Proposal:
    return Proposal(TEXT, tokenizer)


def rest(proposal: Proposal, tokenizer: Tokenizer) -> str:
    """What the draft would go on with, to its end."""
    ahead = proposal.copy()
    text = b""
    while (token := ahead.next()) not in (None, tokenizer.eos_token_ids[0]):
        assert token is not None
        text += tokenizer.token_bytes(token)
        ahead.follow(tokenizer.token_bytes(token), forced=False)
    return text.decode()


def test_a_draft_proposes_its_own_tokens_and_then_the_end(proposal: Proposal, tokenizer: Tokenizer) -> None:
    for token in tokenizer.encode(TEXT):
        assert proposal.next() == token
        proposal.follow(tokenizer.token_bytes(token), forced=False)
    assert proposal.next() == tokenizer.eos_token_ids[0]
    assert proposal.next() == tokenizer.eos_token_ids[0]


def test_other_tokens_of_the_same_text_do_not_lose_the_place(proposal: Proposal, tokenizer: Tokenizer) -> None:
    for byte in '{"city": "天'.encode():
        proposal.follow(bytes([byte]), forced=False)
    assert rest(proposal, tokenizer) == '津市", "name": "慕容"}'


def test_within_a_character_nothing_is_proposed(proposal: Proposal) -> None:
    proposal.follow(b'{"city": "' + "天".encode()[:1], forced=False)
    assert proposal.next() is None


def test_a_place_is_lost_where_the_answer_departs(proposal: Proposal) -> None:
    proposal.follow(b'{"city": "', forced=True)
    proposal.follow("上".encode(), forced=False)
    assert proposal.next() is None


def test_forced_text_finds_the_place_again(proposal: Proposal, tokenizer: Tokenizer) -> None:
    proposal.follow(b'{"city": "', forced=True)
    proposal.follow('上海市"'.encode(), forced=False)
    proposal.follow(b', "name":', forced=True)
    assert rest(proposal, tokenizer) == ' "慕容"}'


@pytest.mark.parametrize("written", [b', "age":', b'{"city":', b", "])
def test_forced_text_that_is_not_ahead_in_the_draft_or_too_short_finds_nothing(
    proposal: Proposal, written: bytes
) -> None:
    proposal.follow(b'{"city": "', forced=True)
    proposal.follow(b"x", forced=False)
    proposal.follow(written, forced=True)
    assert proposal.next() is None


def test_a_copy_goes_its_own_way(proposal: Proposal, tokenizer: Tokenizer) -> None:
    copy = proposal.copy()
    copy.follow(b"x", forced=False)
    assert copy.next() is None
    assert rest(proposal, tokenizer) == TEXT


def test_an_empty_draft_proposes_the_end(tokenizer: Tokenizer) -> None:
    assert Proposal("", tokenizer).next() == tokenizer.eos_token_ids[0]
