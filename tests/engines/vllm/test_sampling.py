"""What is asked, as vLLM's sampling parameters, and its outputs back."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.engines.completions import Asked
from copydesk.engines.vllm import sampling as module
from copydesk.engines.vllm.installed import find
from copydesk.engines.vllm.sampling import (
    finish,
    logprobs,
    sampling_params,
    standing,
    structured_params,
    verifying_params,
)
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Constraint, Sampling, Schema, TokenLogprob
from engines.vllm.fake_vllm import FakeVllm, GuidedDecodingParams, Logprob, RequestOutputKind, StructuredOutputsParams

SCHEMA = {"type": "object"}


def test_all_is_passed_on(vllm: FakeVllm) -> None:
    asked = Asked(sampling=Sampling(0.5, 0.9, 7, 0.1, 1.2, 0.3, 0.4, 5), max_tokens=9, stop=("x",), top=3)
    params = sampling_params(find(), asked, [1, 2], stream=True)
    assert (params.temperature, params.top_p, params.top_k, params.min_p) == (0.5, 0.9, 7, 0.1)
    assert (params.repetition_penalty, params.presence_penalty, params.frequency_penalty) == (1.2, 0.3, 0.4)
    assert (params.seed, params.max_tokens, params.stop, params.stop_token_ids) == (5, 9, ["x"], [1, 2])
    assert (params.logprobs, params.output_kind, params.structured_outputs) == (3, RequestOutputKind.DELTA, None)


def test_by_default(vllm: FakeVllm) -> None:
    params = sampling_params(find(), Asked(), [], stream=False)
    assert (params.temperature, params.stop, params.logprobs) == (0.0, None, None)
    assert params.output_kind is RequestOutputKind.FINAL_ONLY
    assert sampling_params(find(), Asked(sampling=Sampling(top_p=0.0)), [], stream=False).top_p > 0


@pytest.mark.parametrize(
    ("constraint", "given"),
    [
        (Constraint(schema=Schema(SCHEMA)), {"json": SCHEMA}),
        (Constraint(json_object=True), {"json": {"type": "object"}}),
        (Constraint(regex="a+"), {"regex": "a+"}),
        (Constraint(choice=("a", "b")), {"choice": ["a", "b"]}),
    ],
)
def test_constraints(vllm: FakeVllm, constraint: Constraint, given: dict[str, Any]) -> None:
    params = sampling_params(find(), Asked(constraint=constraint), [], stream=False)
    assert params.structured_outputs == StructuredOutputsParams(**given)


def test_a_schema_as_a_grammar_of_our_layout(vllm: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "layout_grammar", lambda schema: f"root ::= {schema}")
    params = structured_params(find(), Constraint(schema=Schema(SCHEMA)))
    assert params == StructuredOutputsParams(grammar=f"root ::= {SCHEMA}")


def test_as_it_was_before(vllm: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    vllm.install(monkeypatch, old=True)
    params = sampling_params(find(), Asked(constraint=Constraint(regex="a")), [], stream=False)
    assert params.guided_decoding == GuidedDecodingParams(regex="a")


def test_reading_a_draft(vllm: FakeVllm) -> None:
    params = verifying_params(find(), [1])
    assert (params.max_tokens, params.prompt_logprobs, params.stop_token_ids) == (1, 1, [1])
    assert params.output_kind is RequestOutputKind.FINAL_ONLY


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ([{5: Logprob(-0.1)}, {6: Logprob(-0.2), 7: Logprob(-0.3)}], 2),
        ([{5: Logprob(-0.1)}, {6: Logprob(-0.2), 7: Logprob(-0.1)}], 1),
        ([{5: Logprob(-0.1), 9: Logprob(-0.1)}, None], 1),
        ([{5: Logprob(-3.0), 9: Logprob(-0.1)}, {6: Logprob(-0.2)}], 0),
    ],
)
def test_how_much_of_a_draft_stands(told: list[Any], count: int) -> None:
    assert standing([5, 6], told) == count


def test_probabilities_back(tokenizer: Tokenizer) -> None:
    (token,) = tokenizer.encode("a")
    other, end = token + 1, tokenizer.eos_token_ids[0]
    told = [{token: Logprob(-2.0), other: Logprob(-1.0)}, {end: Logprob(-0.1)}]
    expected = TokenLogprob(b"a", -2.0, ((tokenizer.token_bytes(other), -1.0),))
    assert logprobs(tokenizer, [token, end], told, 1) == (expected,)
    assert logprobs(tokenizer, [token, end], None, 1) == ()


def test_the_end() -> None:
    assert [finish(reason) for reason in ("stop", "length", None)] == ["stop", "length", "stop"]
