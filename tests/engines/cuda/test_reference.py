"""The kernels' twins beside the formulas they stand for."""

from __future__ import annotations

import torch
from torch.testing import assert_close

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda import reference
from copydesk.engines.cuda.shapes import Heads

HEADS = Heads(4, 2, 8)


def ints(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def test_norm_divides_by_the_root_of_the_mean_square() -> None:
    states, gains = torch.tensor([[3.0, 4.0]]), torch.tensor([1.0, 2.0])
    assert_close(reference.norm(states, gains, 0.0, torch.float32), torch.tensor([[3.0, 8.0]]) / 12.5**0.5)


def test_add_norm_changes_the_stream_and_gathering_does_not() -> None:
    torch.manual_seed(0)
    residual, update, gains = torch.randn(4, 6), torch.randn(4, 6), torch.randn(6)
    before = residual.clone()
    chosen = reference.gather_add_norm(residual, update, ints(2, 0), gains, 1e-6)
    assert_close(residual, before)
    normed = reference.add_norm(residual, update, gains, 1e-6)
    assert_close(residual, before + update)
    assert_close(chosen, normed[[2, 0]])


def test_attention_is_causal_softmax_over_the_sequences_own_blocks() -> None:
    torch.manual_seed(0)
    keys, values = (torch.randn(6, HEADS.kv, BLOCK_SIZE, HEADS.size) for _ in range(2))
    tables = ints(0, 0, 5, 2).reshape(2, 2)
    query = torch.randn(3, HEADS.query, HEADS.size)
    position = 37
    result = reference.attend(query, keys, values, ints(0), ints(3), ints(position), ints(1), tables, HEADS, 16)
    own_keys, own_values = (torch.cat([cache[5], cache[2]], dim=1) for cache in (keys, values))
    for token in range(3):
        for head in range(HEADS.query):
            end = position + token + 1
            scores = own_keys[head // 2, :end] @ query[token, head] / HEADS.size**0.5
            expected = scores.softmax(0) @ own_values[head // 2, :end]
            assert_close(result.view(3, HEADS.query, HEADS.size)[token, head], expected)


def test_keys_and_values_go_where_their_position_lies() -> None:
    torch.manual_seed(0)
    qkv = torch.randn(2, (HEADS.query + 2 * HEADS.kv) * HEADS.size)
    keys, values = (torch.zeros(4, HEADS.kv, BLOCK_SIZE, HEADS.size) for _ in range(2))
    still = torch.ones(100, HEADS.size // 2), torch.zeros(100, HEADS.size // 2)  # rotates by nothing
    tables = ints(0, 0, 3, 1).reshape(2, 2)
    query = reference.rotate_and_store(
        qkv, ints(5, BLOCK_SIZE + 7), ints(1, 1), tables, *still, None, None, 0.0, keys, values, HEADS
    )
    parts = qkv.view(2, -1, HEADS.size)
    assert_close(query, parts[:, : HEADS.query])
    assert_close(keys[3, :, 5], parts[0, HEADS.query : HEADS.query + HEADS.kv])
    assert_close(values[1, :, 7], parts[1, HEADS.query + HEADS.kv :])
    assert int((keys != 0).any(-1).sum()) == 2 * HEADS.kv


def test_score_takes_the_lowest_id_of_a_tie() -> None:
    weight = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    found = reference.score(torch.tensor([[2.0, 0.0], [0.0, 3.0]]), weight)
    assert found[0].view(torch.int32).tolist() == [1, 0]
    logits = torch.tensor([[0.0, 2.0, 2.0], [3.0, 0.0, 0.0]])
    assert_close(found[2], logits.logsumexp(1))
    assert_close(found[1], logits.max(1).values - logits.logsumexp(1))
    assert_close(
        reference.listed(torch.tensor([[2.0, 0.0], [0.0, 3.0]]), weight, found[2], ints(1, 0), ints(2, 0)),
        torch.tensor([0.0, 0.0]) - found[2].flip(0),
    )


def test_gate_is_silu_times_up() -> None:
    assert_close(
        reference.gate(torch.tensor([[1.0, -2.0, 3.0, 0.5]])),
        torch.tensor([[3 / (1 + 2.718281828**-1), -1 / (1 + 2.718281828**2)]]),
    )


def test_whole_blocks_are_copied_in_all_layers() -> None:
    keys, values = torch.randn(2, 5, 1, BLOCK_SIZE, 4), torch.randn(2, 5, 1, BLOCK_SIZE, 4)
    before = keys.clone()
    reference.copy_blocks(keys, values, ints(1, 0), ints(3, 0))
    assert_close(keys[:, 3], before[:, 1])
    assert_close(keys[:, [0, 1, 2, 4]], before[:, [0, 1, 2, 4]])


def test_advancing_notes_the_token_and_moves_on() -> None:
    tokens, positions, step = ints(1, 2), ints(10, 20), ints(1)
    chain, chances = torch.zeros(3, 2, dtype=torch.int32), torch.zeros(3, 2)
    reference.advance(tokens, positions, ints(8, 9), torch.tensor([-0.5, -1.0]), step, chain, chances)
    assert (tokens.tolist(), positions.tolist(), step.tolist()) == ([8, 9], [11, 21], [2])
    assert chain.tolist() == [[0, 0], [8, 9], [0, 0]]
    assert_close(chances[1], torch.tensor([-0.5, -1.0]))
