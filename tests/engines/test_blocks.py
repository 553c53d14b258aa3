"""Blocks are shared, copied before they are written, and given back; checked against contents that a dict holds."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from copydesk.engines.blocks import BLOCK_SIZE, BlockTable
from copydesk.errors import EngineError
from law_cases import cases

BLOCKS = 12


class Histories(RuleBasedStateMachine):
    """Any history of calls keeps every sequence's tokens where its blocks say they are."""

    def __init__(self) -> None:
        super().__init__()
        self.table = BlockTable(BLOCKS, reserved=1)
        self.memory = [[-1] * BLOCK_SIZE for _ in range(BLOCKS)]
        self.tokens: dict[int, list[int]] = {}
        self.written = 0

    @rule()
    def open(self) -> None:
        self.tokens[self.table.open()] = []

    @precondition(lambda self: self.tokens)
    @rule(data=st.data(), counts=st.lists(st.integers(0, 3 * BLOCK_SIZE), min_size=1, max_size=3))
    def extend(self, data: st.DataObject, counts: list[int]) -> None:
        chosen = data.draw(st.permutations(list(self.tokens)))[: len(counts)]
        additions = list(zip(chosen, counts, strict=False))
        free = self.table.free_blocks
        try:
            copies = self.table.extend(additions)
        except EngineError:
            assert self.table.free_blocks == free
            return
        for shared, own in copies:
            self.memory[own] = list(self.memory[shared])
        for sequence, count in additions:
            for _ in range(count):
                self.written += 1
                position = len(self.tokens[sequence])
                block = self.table.blocks(sequence)[position // BLOCK_SIZE]
                self.memory[block][position % BLOCK_SIZE] = self.written
                self.tokens[sequence].append(self.written)

    @precondition(lambda self: self.tokens)
    @rule(data=st.data(), counts=st.lists(st.integers(0, 3 * BLOCK_SIZE), min_size=1, max_size=3))
    def extend_in_vain(self, data: st.DataObject, counts: list[int]) -> None:
        """Room is made, but neither copies nor tokens are written."""
        chosen = data.draw(st.permutations(list(self.tokens)))[: len(counts)]
        try:
            copies = self.table.extend(list(zip(chosen, counts, strict=False)))
        except EngineError:
            return
        for sequence in chosen:
            self.table.cut(sequence, len(self.tokens[sequence]))
        self.table.share_again(chosen, copies)

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        origin = data.draw(st.sampled_from(list(self.tokens)))
        self.tokens[self.table.fork(origin)] = list(self.tokens[origin])

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def cut(self, data: st.DataObject) -> None:
        sequence = data.draw(st.sampled_from(list(self.tokens)))
        length = data.draw(st.integers(0, len(self.tokens[sequence])))
        self.table.cut(sequence, length)
        del self.tokens[sequence][length:]

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        sequence = data.draw(st.sampled_from(list(self.tokens)))
        self.table.release(sequence)
        del self.tokens[sequence]

    @invariant()
    def every_token_is_where_its_blocks_say(self) -> None:
        for sequence, tokens in self.tokens.items():
            blocks = self.table.blocks(sequence)
            found = [self.memory[block][place] for block in blocks for place in range(BLOCK_SIZE)]
            assert found[: len(tokens)] == tokens
            assert self.table.length(sequence) == len(tokens)

    @invariant()
    def no_block_is_lost_or_handed_out_twice(self) -> None:
        used = {block for sequence in self.tokens for block in self.table.blocks(sequence)}
        assert 0 not in used
        assert len(used) + self.table.free_blocks == BLOCKS - 1


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=cases(60), stateful_step_count=25, deadline=None)


def test_low_blocks_come_first() -> None:
    table = BlockTable(8, reserved=2)
    table.extend([(table.open(), 2 * BLOCK_SIZE)])
    assert table.blocks(0) == [2, 3]


def test_a_full_block_is_shared_for_good() -> None:
    table = BlockTable(8)
    origin = table.open()
    table.extend([(origin, BLOCK_SIZE)])
    fork = table.fork(origin)
    assert table.extend([(fork, 1), (origin, 1)]) == []
    assert table.blocks(fork)[0] == table.blocks(origin)[0]


def test_the_last_user_of_a_block_need_not_copy() -> None:
    table = BlockTable(8)
    origin = table.open()
    table.extend([(origin, 5)])
    fork = table.fork(origin)
    table.release(origin)
    assert table.extend([(fork, 1)]) == []


def test_too_many_tokens_are_refused_as_a_whole() -> None:
    table = BlockTable(4)
    one, two = table.open(), table.open()
    with pytest.raises(EngineError, match="160 more tokens") as caught:
        table.extend([(one, BLOCK_SIZE), (two, 4 * BLOCK_SIZE)])
    assert caught.value.code == "cache_full"
    assert (table.length(one), table.free_blocks) == (0, 4)


def test_a_released_handle_is_unknown() -> None:
    table = BlockTable(8)
    sequence = table.open()
    table.release(sequence)
    with pytest.raises(KeyError):
        table.length(sequence)
