"""The drafts of one answer."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from copydesk.desk.drafting import Drafting
from copydesk.desk.drafts import Drafts
from copydesk.drafting.controller import Controller, Costs
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS
from copydesk.types import Draft

from .fake_drafters import CHEAP, FakeDrafters, going_on

ANSWER = '{"city": "天津市", "name": "慕容"}'


@pytest.fixture
def drafters() -> FakeDrafters:
    return FakeDrafters(going_on(ANSWER))


@pytest.fixture
def drafts(drafters: FakeDrafters, tokenizer: Tokenizer) -> Drafts:
    return Drafts(Drafting(drafters, Controller(CHEAP)), ADDRESS, "text", tokenizer, expected="guess")


def test_the_first_draft_is_asked_for_at_once_and_used_as_long_as_it_fits(
    drafts: Drafts, drafters: FakeDrafters
) -> None:
    assert (drafters.asked, drafters.expected) == ([""], ["guess"])
    proposal = drafts.propose(b'{"city":')
    assert proposal is not None
    assert proposal.source == "rules"
    assert drafters.asked == [""]
    assert drafts.propose('{"city": "上'.encode()) is None
    assert drafters.asked == ["", '{"city": "上']


def test_within_a_character_it_is_waited_for_the_rest(drafts: Drafts, drafters: FakeDrafters) -> None:
    assert drafts.propose('{"city": "天'.encode()[:-1]) is None
    assert drafters.asked == [""]
    assert drafts.propose('{"city": "天'.encode()) is not None


def test_who_drafted_is_told_once_something_was_read(drafts: Drafts) -> None:
    proposal = drafts.propose(b"")
    assert drafts.source is None
    assert 0 < drafts.length(proposal, 10) <= (proposal.left(100) if proposal else 0)
    drafts.judge(3, 3, 3)
    assert drafts.source == "rules"


def test_without_a_proposal_nothing_is_read(drafts: Drafts) -> None:
    assert drafts.length(None, 10) == 0
    drafts.judge(0, 0, 0)
    assert drafts.source is None


def test_where_drafts_are_in_vain_they_are_asked_for_less_and_less_often(tokenizer: Tokenizer) -> None:
    drafters = FakeDrafters(lambda so_far: Draft(so_far + "x", "lookup"))
    drafts = Drafts(Drafting(drafters, Controller(CHEAP)), ADDRESS, "text", tokenizer)
    for length in range(46):
        drafts.length(drafts.propose(b"a" * length), 1)
        drafts.judge(1, 0, 1)
    assert 5 < len(drafters.asked) < 15


def test_how_much_is_read_goes_by_what_became_of_it(tokenizer: Tokenizer) -> None:
    controller = Controller(Costs.measured({1: 1.0, 64: 10.0}))
    lengths = []
    for _ in range(60):
        drafts = Drafts(Drafting(FakeDrafters(going_on(ANSWER)), controller), ADDRESS, "text", tokenizer)
        lengths.append(drafts.length(drafts.propose(b""), 1))
        drafts.judge(lengths[-1], 0, lengths[-1])
    assert lengths[0] > 10
    assert lengths[-1] <= 4


def test_it_is_known_how_large_the_pass_before_was(tokenizer: Tokenizer) -> None:
    controller = Mock(wraps=Controller(CHEAP))
    drafts = Drafts(Drafting(FakeDrafters(going_on(ANSWER)), controller), ADDRESS, "text", tokenizer)
    rides = []
    for read, beside in ((40, 9), (3, 0), (1, 2)):
        drafts.length(drafts.propose(b""), read)
        drafts.judge(1, 1, beside)
        rides.append(controller.length.call_args.args[-1])
    drafts.length(None, 1)
    drafts.judge(0, 0, 0)
    drafts.length(drafts.propose(b""), 5)
    rides.append(controller.length.call_args.args[-1])
    assert [(ride.read, ride.before) for ride in rides] == [(40, 0), (3, 49), (1, 3), (5, 1)]
