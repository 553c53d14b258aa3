"""What chats and completions have in common: lengths, stops, choices, seeds.

Knows the wire's fields and the sizes that are taken.
"""

from __future__ import annotations

import secrets
from dataclasses import replace

from copydesk.serving.backend import Choosing
from copydesk.serving.conversation import text_of
from copydesk.serving.errors import ApiError
from copydesk.serving.settings import Limits
from copydesk.serving.wire.base import Sampled
from copydesk.serving.wire.chat import Prediction, Stop

_MOST_STOPS = 4
_LONGEST_STOP = 256
_SEEDS = 2**63


def choosing(body: Sampled) -> Choosing:
    """How tokens are chosen. A request without a seed gets one of its own, as callers of the OpenAI API expect."""
    seed = secrets.randbits(63) if body.seed is None else body.seed % _SEEDS
    return Choosing(
        temperature=body.temperature,
        top_p=body.top_p,
        top_k=None if body.top_k is None else max(body.top_k, 0),
        min_p=body.min_p,
        repetition_penalty=body.repetition_penalty,
        presence_penalty=body.presence_penalty,
        frequency_penalty=body.frequency_penalty,
        seed=seed,
    )


def numbered(choosing: Choosing, number: int) -> Choosing:
    """The same for one of several choices, which have seeds of their own."""
    return choosing if number == 0 else replace(choosing, seed=((choosing.seed or 0) + number) % _SEEDS)


def stops(stop: Stop | None, *, constrained: bool) -> tuple[str, ...]:
    """Errors: `ApiError` 400 for too many, too long or empty ones, and for any beside a constraint."""
    listed = (stop,) if isinstance(stop, str) else tuple(stop or ())
    if len(listed) > _MOST_STOPS:
        raise ApiError(400, f"stop: at most {_MOST_STOPS} sequences are taken, not {len(listed)}.", param="stop")
    if not all(0 < len(each) <= _LONGEST_STOP for each in listed):
        raise ApiError(400, f"stop: a sequence has 1 to {_LONGEST_STOP} characters.", param="stop")
    if listed and constrained:
        raise ApiError(400, "stop: a constraint says itself where the reply ends; leave stop out.", param="stop")
    return listed


def length(asked: int | None, limits: Limits, param: str) -> int | None:
    """Errors: `ApiError` 400 for a longer reply than is given."""
    if asked is not None and asked > limits.max_answer_tokens:
        raise ApiError(400, f"{param} is at most {limits.max_answer_tokens}, not {asked}.", param=param)
    return asked


def choices(n: int | None, limits: Limits) -> int:
    """Errors: `ApiError` 400 for too many."""
    if n is not None and n > limits.max_choices:
        raise ApiError(400, f"n is at most {limits.max_choices}, not {n}.", param="n")
    return n or 1


def predicted(prediction: Prediction | None, limits: Limits) -> str | None:
    """The caller's own draft. Errors: `ApiError` 400 for one that is too long or no text."""
    return None if prediction is None else text_of(prediction.content, "prediction.content", limits)
