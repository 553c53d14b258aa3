"""Reads and cuts that make no sense are refused before anything runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from copydesk.engines.protocol import Read, Wanted
from copydesk.engines.validation import check_cut, check_reads
from copydesk.errors import EngineError

ENGINE = SimpleNamespace(vocab_size=10, context_length=8, length=lambda sequence: 3)


def test_what_makes_sense_passes() -> None:
    check_reads(ENGINE, [Read(0, (1, 9, 0), (Wanted(0), Wanted(2))), Read(1, ()), Read(2, (0,) * 5)])
    check_cut(ENGINE, 0, 0)
    check_cut(ENGINE, 0, 3)


@pytest.mark.parametrize("wanted", [[3], [-1], [1, 1], [2, 1]])
def test_positions_ascend_within_the_tokens(wanted: list[int]) -> None:
    with pytest.raises(EngineError, match="must ascend"):
        check_reads(ENGINE, [Read(0, (1, 2, 3), tuple(map(Wanted, wanted)))])


@pytest.mark.parametrize("token", [-1, 10])
def test_tokens_lie_in_the_vocabulary(token: int) -> None:
    with pytest.raises(EngineError, match="below 10"):
        check_reads(ENGINE, [Read(0, (1, token, 2))])


def test_a_sequence_is_read_once_a_call() -> None:
    with pytest.raises(EngineError, match="once a call"):
        check_reads(ENGINE, [Read(0, (1,)), Read(0, (2,))])


def test_a_sequence_stays_in_its_context() -> None:
    with pytest.raises(EngineError, match="9 tokens does not fit in the context of 8") as caught:
        check_reads(ENGINE, [Read(0, (1,) * 6)])
    assert caught.value.code == "context_full"


@pytest.mark.parametrize("length", [-1, 4])
def test_a_cut_leaves_what_there_is(length: int) -> None:
    with pytest.raises(EngineError, match=f"3 tokens cannot be cut to {length}"):
        check_cut(ENGINE, 0, length)
