"""Batched greedy decoding says what Transformers' generate says."""

from __future__ import annotations

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from copydesk.training.decoding import Decoder
from copydesk.training.network import Qwen3, Rotary, Shape

SHAPE = Shape(61, 48, 80, 2, 4, 2, 16, max_position_embeddings=64)
END = 7


def networks() -> tuple[Qwen3, Qwen3ForCausalLM]:
    network = Qwen3(SHAPE).eval()
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
    model = Qwen3ForCausalLM(Qwen3Config(**SHAPE.to_config(eos_token_id=END))).eval()
    model.load_state_dict(network.state_dict(), strict=False)
    return network, model


def prompts() -> list[list[int]]:
    generator = torch.Generator().manual_seed(8)
    return [torch.randint(8, 61, (length,), generator=generator).tolist() for length in (4, 11, 2, 7, 7, 20)]


def test_greedy_answers_are_those_of_one_prompt_at_a_time() -> None:
    network, model = networks()
    answers = Decoder(network, Rotary(SHAPE, "cpu"), batch=4).greedy(prompts(), end=END, at_most=20)
    assert len({len(answer) for answer in answers}) > 1
    for prompt, answer in zip(prompts(), answers, strict=True):
        whole = model.generate(torch.tensor([prompt]), max_new_tokens=20, do_sample=False, pad_token_id=0)[0]
        theirs = whole[len(prompt) :].tolist()
        assert answer == (theirs[: theirs.index(END)] if END in theirs else theirs)


def test_answers_that_run_away_end_with_the_context() -> None:
    network, _ = networks()
    decoder = Decoder(network, Rotary(SHAPE, "cpu"), batch=4)
    answers = decoder.greedy(prompts(), end=-1, at_most=100)
    assert [len(answer) for answer in answers] == [SHAPE.max_position_embeddings - len(prompt) for prompt in prompts()]
    assert [answer[:20] for answer in answers] == decoder.greedy(prompts(), end=-1, at_most=20)


def test_scores_of_listed_tokens_are_log_probabilities_of_the_next() -> None:
    network, model = networks()
    scores = Decoder(network, Rotary(SHAPE, "cpu"), batch=3).next_scores(prompts(), [5, 50, 9])
    with torch.no_grad():
        for prompt, row in zip(prompts(), scores, strict=True):
            theirs = model(torch.tensor([prompt])).logits[0, -1].log_softmax(-1)[[5, 50, 9]]
            torch.testing.assert_close(torch.tensor(row), theirs, atol=1e-4, rtol=1e-4)
