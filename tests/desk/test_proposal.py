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


def test_other_tokens_of_the_same_text_do_not_lose_the_place(proposal: Proposal, tokenizer: Tokenizer) -> None:
    for byte in '{"city": "天'.encode():
        proposal.follow(bytes([byte]))
    assert rest(proposal, tokenizer) == '津市", "name": "慕容"}'


def test_within_a_character_nothing_is_proposed(proposal: Proposal) -> None:
    proposal.follow(b'{"city": "' + "天".encode()[:1])
    assert proposal.next() is None


def test_a_place_is_lost_where_the_answer_departs(proposal: Proposal) -> None:
    proposal.follow(b'{"city": "')
    proposal.follow("上".encode())
    assert proposal.next() is None


def test_a_place_that_is_lost_stays_lost(proposal: Proposal) -> None:
    proposal.follow(b'{"city": "')
    assert not proposal.lost
    proposal.follow("上".encode())
    proposal.follow(TEXT.encode())
    assert proposal.lost


def test_a_draft_may_begin_in_the_middle(tokenizer: Tokenizer) -> None:
    begun = '{"city": "天津'.encode()
    assert rest(Proposal(TEXT, tokenizer, place=len(begun)), tokenizer) == '市", "name": "慕容"}'


def test_it_tells_how_much_is_left(proposal: Proposal, tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode(TEXT)
    assert (proposal.left(100), proposal.used_up) == (len(tokens) + 1, False)
    proposal.follow(tokenizer.token_bytes(tokens[0]))
    assert proposal.left(100) == len(tokens)
    proposal.follow(TEXT.encode()[len(tokenizer.token_bytes(tokens[0])) :])
    assert (proposal.left(100), proposal.used_up) == (1, True)
    proposal.follow(b"x")
    assert (proposal.left(100), proposal.used_up) == (0, False)


def test_no_more_is_made_into_tokens_than_is_looked_for(tokenizer: Tokenizer) -> None:
    split: list[int] = []

    def encode(text: str) -> list[int]:
        split.append(len(text))
        return tokenizer.encode(text)

    proposal = Proposal(TEXT * 50, Mock(wraps=tokenizer, encode=encode, eos_token_ids=tokenizer.eos_token_ids))
    assert proposal.left(3) == 3
    assert split[0] < 100
    assert rest(proposal, tokenizer) == TEXT * 50


def test_a_very_long_draft_is_followed_to_its_end(tokenizer: Tokenizer) -> None:
    text = "天津" * 3000
    assert rest(Proposal(text, tokenizer), tokenizer) == text


def test_a_copy_goes_its_own_way(proposal: Proposal, tokenizer: Tokenizer) -> None:
    copy = proposal.at(proposal.place)
    copy.follow(b"x")
    assert copy.next() is None
    assert rest(proposal, tokenizer) == TEXT


def test_an_empty_draft_proposes_the_end(tokenizer: Tokenizer) -> None:
    assert Proposal("", tokenizer).next() == tokenizer.eos_token_ids[0]


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
