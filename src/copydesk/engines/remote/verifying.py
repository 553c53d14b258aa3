"""A draft verified at a server of vLLM's kind: one request in which it is part of the prompt, whose tokens are told.

Knows the forms of vLLM's API; nothing of connections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from copydesk.engines.completions import Asked, Verified
from copydesk.engines.remote.dialect import Dialect
from copydesk.engines.remote.replies import finish, usage
from copydesk.types import Json, TokenLogprob, Usage

_TORN = "\ufffd"
"""Stands for a token that is part of a character."""


def tokenize_path(path: str) -> str:
    """Where a server whose API stands at `path` tells a prompt's tokens: beside it."""
    return f"{path.removesuffix('/v1')}/tokenize"


def tokenize_body(asked: Asked, dialect: Dialect, model: str) -> Json:
    """The request for the tokens of the prompt without a draft."""
    messages = [dict(message) for message in asked.messages]
    return {"model": model, "messages": messages, "add_generation_prompt": True} | dialect.switch(asked.thinking)


def verify_body(asked: Asked, draft: str, dialect: Dialect, model: str) -> Json:
    """The request in which the draft is the beginning of the answer."""
    return {
        "model": model,
        "messages": [*map(dict, asked.messages), {"role": "assistant", "content": draft}],
        "add_generation_prompt": False,
        "continue_final_message": True,
        "max_tokens": 1,
        "temperature": 0,
        "prompt_logprobs": 1,
    } | dialect.switch(asked.thinking)


def verified(draft: str, prompt: Any, answer: Json) -> Verified:
    """What became of the draft, by the prompt's tokens and the answer to `verify_body`.

    Nothing stands where the server renders the draft behind another prompt, or tells tokens that do not make it up.
    """
    told, counted = answer.get("prompt_logprobs"), usage(answer.get("usage"))
    if not isinstance(told, list) or not _begins(prompt, told):
        return Verified("", counted)
    count = len(prompt)
    places = [_own(place) for place in told[count:]]
    if "".join(text for text, _, _ in places) != draft:
        return Verified("", counted)
    standing = next((index for index, (_, _, best) in enumerate(places) if best is not None), len(places))
    scored = tuple(TokenLogprob(text.encode(), logprob) for text, logprob, _ in places[:standing])
    used = Usage(count, counted.cached_tokens, len(places))
    if standing == len(places):
        choice = answer["choices"][0]
        ended = finish(choice.get("finish_reason")) == "stop"
        own = choice["message"].get("content") or ""
        return Verified(draft, used, "" if ended else own, ended, scored)
    kept, own = "".join(text for text, _, _ in places[:standing]), places[standing][2] or ""
    torn = _TORN in kept or _TORN in own
    return Verified("" if torn else kept, used, "" if torn else own, logprobs=scored)


def _begins(prompt: Any, told: Sequence[Any]) -> bool:
    """Whether the told tokens begin with those of the prompt; of the first nothing is told."""
    if not isinstance(prompt, list) or len(told) <= len(prompt):
        return False
    return all(
        isinstance(place, Mapping) and str(token) in place for token, place in zip(prompt[1:], told[1:], strict=False)
    )


def _own(place: Mapping[str, Mapping[str, Any]]) -> tuple[str, float, str | None]:
    """Text and log-probability of a prompt's token, and the more probable one if there is one."""
    best, *others = sorted(place.values(), key=lambda token: -float(token["logprob"]))
    if not others or others[0]["logprob"] == best["logprob"]:
        return str(best["decoded_token"]), float(best["logprob"]), None
    return str(others[0]["decoded_token"]), float(others[0]["logprob"]), str(best["decoded_token"])
