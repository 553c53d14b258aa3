"""Parts of OpenAI's answers that several routes have: usage, token probabilities, events of a stream.

Knows no requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from copydesk.types import Json, Reply, TokenLogprob, Usage

DONE = b"data: [DONE]\n\n"
_LEAST = -9999.0
"""What OpenAI writes for a probability of nothing, which JSON has no number for."""


def event(payload: Any) -> bytes:
    """A server-sent event."""
    return b"data: " + orjson.dumps(payload) + b"\n\n"


def usage(replies: Iterable[Usage]) -> Json:
    """The tokens of several replies together."""
    listed = list(replies)
    prompt = sum(each.prompt_tokens for each in listed)
    completion = sum(each.completion_tokens for each in listed)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": sum(each.cached_tokens for each in listed)},
    }


def about(reply: Reply) -> Json:
    """copydesk's own account of a reply, beside what OpenAI's has."""
    told: Json = {
        "verified": reply.verified,
        "draft": reply.draft,
        "accepted": reply.accepted,
        "passes": reply.passes,
        "engine": reply.engine,
        "ms": reply.ms,
    }
    if reply.truncated:
        told["truncated"] = True
    return told


def chat_logprobs(tokens: Sequence[TokenLogprob]) -> Json:
    """As chat completions have them."""
    return {
        "content": [
            {
                **_token(token.text, token.logprob),
                "top_logprobs": [_token(text, logprob) for text, logprob in token.top],
            }
            for token in tokens
        ],
        "refusal": None,
    }


def completion_logprobs(tokens: Sequence[TokenLogprob], offset: int) -> Json:
    """As completions have them; `offset` is where the first token begins in the text, in characters."""
    texts = [token.text.decode("utf-8", "replace") for token in tokens]
    offsets = []
    for text in texts:
        offsets.append(offset)
        offset += len(text)
    return {
        "tokens": texts,
        "token_logprobs": [_finite(token.logprob) for token in tokens],
        "top_logprobs": [
            {text.decode("utf-8", "replace"): _finite(logprob) for text, logprob in token.top} for token in tokens
        ],
        "text_offset": offsets,
    }


def _token(text: bytes, logprob: float) -> Json:
    return {"token": text.decode("utf-8", "replace"), "logprob": _finite(logprob), "bytes": list(text)}


def _finite(logprob: float) -> float:
    return logprob if math.isfinite(logprob) else _LEAST
