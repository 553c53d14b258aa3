"""The flat array of an engine call: what stands where, and that what is left over does no harm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda.layout import Part, Size, sections


def part_of(reads: list[tuple[int, int]]) -> Part:
    """Reads of `(tokens before, tokens read)`, whose blocks are numbered from 1."""
    starts, lengths = (np.array(column, np.int32) for column in zip(*reads, strict=True))
    blocks, used = [], 1
    for start, length in reads:
        count = -(-(start + length) // BLOCK_SIZE)
        blocks.append(list(range(used, used + count)))
        used += count
    total = int(lengths.sum())
    return Part(
        np.arange(100, 100 + total, dtype=np.int32), starts, lengths, np.arange(0, total, 3, dtype=np.int32), blocks
    )


def test_there_is_room_for_the_copies_of_sequences_that_other_parts_read() -> None:
    part = replace(part_of([(0, 40)]), copies=[(1, 9), (2, 8), (3, 7)])
    size = part.size(16)
    views = sections(np.full(size.flat, -7, np.int32), size)
    part.fill(views, size)
    assert list(zip(views["origins"].tolist(), views["targets"].tolist(), strict=True)) == part.copies
    assert not views["tables"][2:].any()


READS = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 70)), min_size=1, max_size=6)


@given(reads=READS, tile=st.sampled_from([16, 64]), room=st.integers(0, 9))
def test_every_token_has_its_position_and_its_sequences_blocks(
    reads: list[tuple[int, int]], tile: int, room: int
) -> None:
    part = part_of(reads)
    least = part.size(tile)
    size = Size(
        least.tokens + room,
        least.tiles + room,
        least.sequences + room,
        least.width + room,
        least.wanted + room,
        4,
        tile,
    )
    flat = np.full(size.flat, -7, np.int32)
    views = sections(flat, size)
    part.fill(views, size)
    expected = [start + index for start, length in reads for index in range(length)]
    assert views["positions"].tolist() == expected + [0] * room
    assert views["tokens"].tolist() == [*range(100, 100 + len(expected)), *[0] * room]
    owners = [row for row, (_, length) in enumerate(reads, 1) for _ in range(length)]
    assert views["rows"].tolist() == owners + [0] * room
    for row, blocks in enumerate(part.blocks, 1):
        assert views["tables"][row].tolist() == blocks + [0] * (size.width - len(blocks))
    assert not views["tables"][0].any()
    assert not views["tables"][len(reads) + 1 :].any()
    assert views["wanted"][: least.wanted].tolist() == part.wanted.tolist()


@given(reads=READS, tile=st.sampled_from([16, 64]))
def test_tiles_cover_each_sequence_once(reads: list[tuple[int, int]], tile: int) -> None:
    part = part_of(reads)
    size = part.size(tile)
    views = sections(np.zeros(size.flat, np.int32), size)
    part.fill(views, size)
    covered = []
    for start, count, position, row in zip(
        *(views[f"tile_{name}"].tolist() for name in ("starts", "counts", "positions", "rows")), strict=True
    ):
        assert 1 <= count <= tile
        covered += [(start + index, position + index, row) for index in range(count)]
    assert covered == [
        (place, position, row)
        for place, (position, row) in enumerate(
            zip(views["positions"].tolist(), views["rows"].tolist(), strict=True),
        )
    ]


def test_copies_and_listed_tokens_have_their_places() -> None:
    part = part_of([(3, 5), (0, 2)])
    part = Part(
        part.tokens,
        part.starts,
        part.lengths,
        part.wanted,
        part.blocks,
        np.array([0, 0, 1], np.int32),
        np.array([7, 8, 9], np.int32),
        [(4, 1)],
    )
    size = part.size(16)
    views = sections(np.full(size.flat, -7, np.int32), size)
    part.fill(views, size)
    assert views["listed_rows"].tolist() == [0, 0, 1]
    assert views["listed_tokens"].tolist() == [7, 8, 9]
    assert (views["origins"].tolist(), views["targets"].tolist()) == ([4, 0], [1, 0])


@pytest.mark.parametrize("tokens", [1, 2, 3, 5, 16, 33])
def test_every_part_begins_where_kernels_load_from(tokens: int) -> None:
    size = Size(tokens, tokens, tokens, 3, tokens, 5, 16)
    flat = np.zeros(size.flat, np.int32)
    for view in sections(flat, size).values():
        assert (view.__array_interface__["data"][0] - flat.__array_interface__["data"][0]) % 16 == 0
