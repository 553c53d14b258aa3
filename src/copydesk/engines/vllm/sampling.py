"""From what is asked to vLLM's sampling parameters, and from its outputs back.

Knows no engine: it is given the classes and a tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from copydesk.engines.completions import Asked
from copydesk.engines.vllm.layout import layout_grammar
from copydesk.types import Constraint, Finish, TokenLogprob

if TYPE_CHECKING:
    from copydesk.engines.vllm.installed import Vllm
    from copydesk.models.tokenizer import Tokenizer


def sampling_params(vllm: Vllm, asked: Asked, ends: Sequence[int], *, stream: bool) -> Any:
    """The parameters. `ends` are the tokens that end an answer. Errors: `ValueError` of vLLM's own."""
    sampling = asked.sampling
    structured = structured_params(vllm, asked.constraint)
    return vllm.sampling_params(
        temperature=sampling.temperature,
        top_p=sampling.top_p or 1e-6,  # vLLM takes no 0, which keeps the most probable one too
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        repetition_penalty=sampling.repetition_penalty,
        presence_penalty=sampling.presence_penalty,
        frequency_penalty=sampling.frequency_penalty,
        seed=sampling.seed,
        max_tokens=asked.max_tokens,
        stop=list(asked.stop) or None,
        stop_token_ids=list(ends),
        logprobs=asked.top,
        output_kind=vllm.delta if stream else vllm.final_only,
        **({} if structured is None else {vllm.structured_key: structured}),
    )


def verifying_params(vllm: Vllm, ends: Sequence[int]) -> Any:
    """The parameters of reading a prompt, of which each token's rank is wanted, and what the model would go on with."""
    return vllm.sampling_params(
        temperature=0.0, max_tokens=1, prompt_logprobs=1, stop_token_ids=list(ends), output_kind=vllm.final_only
    )


def standing(tokens: Sequence[int], told: Sequence[Any]) -> int:
    """How many of a draft's tokens, from the first, are the most probable ones in their places."""
    for place, (token, one) in enumerate(zip(tokens, told, strict=True)):
        if one is None or any(other.logprob > one[token].logprob for other in one.values()):
            return place
    return len(tokens)


def structured_params(vllm: Vllm, constraint: Constraint) -> Any:
    """The constraint; None if there is none."""
    if constraint.schema is not None:
        grammar = layout_grammar(constraint.schema.json)
        return vllm.structured(json=constraint.schema.json) if grammar is None else vllm.structured(grammar=grammar)
    if constraint.json_object:
        return vllm.structured(json={"type": "object"})
    if constraint.regex is not None:
        return vllm.structured(regex=constraint.regex)
    return vllm.structured(choice=list(constraint.choice)) if constraint.choice else None


def logprobs(tokenizer: Tokenizer, tokens: Sequence[int], told: Any, top: int) -> tuple[TokenLogprob, ...]:
    """The tokens' probabilities, those that are no text left out. `told` is by place a dict by token."""
    found = []
    for token, place in zip(tokens, told or (), strict=False):
        if token not in tokenizer.control_ids:
            best = sorted(place.items(), key=lambda one: (-one[1].logprob, one[0]))[:top]
            others = tuple((tokenizer.token_bytes(other), float(one.logprob)) for other, one in best)
            found.append(TokenLogprob(tokenizer.token_bytes(token), float(place[token].logprob), others))
    return tuple(found)


def finish(reason: str | None) -> Finish:
    """Why an output ended."""
    return "length" if reason == "length" else "stop"
