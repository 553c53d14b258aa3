"""The network computes what Transformers' Qwen3ForCausalLM computes."""

from __future__ import annotations

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from copydesk.training.attention import packed, positions_of_each
from copydesk.training.network import Qwen3, Rotary, Shape

SHAPE = Shape(vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=4,
              num_key_value_heads=2, head_dim=16, max_position_embeddings=64)  # fmt: skip


def reference(network: Qwen3) -> Qwen3ForCausalLM:
    model = Qwen3ForCausalLM(Qwen3Config(**SHAPE.to_config(eos_token_id=0)))
    missing, unexpected = model.load_state_dict(network.state_dict(), strict=False)
    assert (missing, unexpected) == (["lm_head.weight"], [])
    return model.eval()


def scrambled() -> Qwen3:
    network = Qwen3(SHAPE)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return network


def test_packed_logits_are_those_of_transformers_for_each_sequence() -> None:
    network = scrambled()
    model = reference(network)
    lengths = [5, 9, 2, 16]
    tokens = torch.randint(97, (32,), generator=torch.Generator().manual_seed(5))
    bounds = torch.tensor([0, 5, 14, 16, 32, 32], dtype=torch.int32)
    attention = packed("masked", tokens=32, row=16, longest=16)
    cos, sin = Rotary(SHAPE, "cpu").at(positions_of_each(bounds, 32))
    with torch.no_grad():
        hidden = network(tokens, cos, sin, attention.attend, [attention.context(bounds)] * 3)
        ours = network.logits(hidden).split(lengths)
        for one, sequence in zip(ours, tokens.split(lengths), strict=True):
            theirs = model(sequence[None]).logits[0]
            torch.testing.assert_close(one, theirs, atol=2e-5, rtol=2e-5)


def test_gradients_are_those_of_transformers() -> None:
    network = scrambled()
    model = reference(network)
    tokens = torch.randint(97, (16,), generator=torch.Generator().manual_seed(6))
    bounds = torch.tensor([0, 16], dtype=torch.int32)
    attention = packed("masked", tokens=16, row=16, longest=16)
    cos, sin = Rotary(SHAPE, "cpu").at(positions_of_each(bounds, 16))
    network.logits(network(tokens, cos, sin, attention.attend, [attention.context(bounds)] * 3)).logsumexp(
        -1
    ).sum().backward()
    model(tokens[None]).logits.logsumexp(-1).sum().backward()
    theirs = dict(model.named_parameters())
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(parameter.grad, theirs[name].grad, atol=1e-4, rtol=1e-3)


def test_initial_weights_depend_on_the_seed_alone() -> None:
    one, same, other = Qwen3(SHAPE), Qwen3(SHAPE), Qwen3(SHAPE)
    one.initialise(1), same.initialise(1), other.initialise(2)
    assert torch.equal(one.embedding, same.embedding)
    assert not torch.equal(one.embedding, other.embedding)
