"""From what a server answers to a completion: texts, reasoning, tokens' probabilities, usage.

Knows the forms of the OpenAI API; nothing of connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from copydesk.engines.completions import Completion
from copydesk.errors import EngineError
from copydesk.types import Delta, Finish, Json, TokenLogprob, Usage


def completion(answer: Json, top: int | None = None) -> Completion:
    """A whole answer, with at most `top` probable tokens in each place. Errors: `EngineError` for one that is none."""
    choice = _choice(answer)
    if choice is None:
        raise _strange("no choices")
    message = choice.get("message")
    text = _text(message, "content") if isinstance(message, Mapping) else _text(choice, "text")
    reasoning = _reasoning(message) if isinstance(message, Mapping) else ""
    return Completion(
        text=text,
        finish=finish(choice.get("finish_reason")),
        usage=usage(answer.get("usage")),
        reasoning=reasoning or None,
        logprobs=logprobs(choice.get("logprobs"), top),
    )


class Streamed:
    """Gathers the pieces of a streamed answer."""

    def __init__(self, top: int | None = None) -> None:
        """`top`: as in `completion`."""
        self._top = top
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._finish: Finish | None = None
        self._usage = Usage(0, 0, 0)
        self._pieces = 0

    def add(self, event: Json) -> Delta | None:
        """What a piece adds; None if it holds no text."""
        if event.get("usage"):
            self._usage = usage(event["usage"])
        choice = _choice(event)
        if choice is None:
            return None
        if choice.get("finish_reason") is not None:
            self._finish = finish(choice["finish_reason"])
        part = choice.get("delta")
        content = _text(part, "content") if isinstance(part, Mapping) else _text(choice, "text")
        reasoning = _reasoning(part) if isinstance(part, Mapping) else ""
        scored = logprobs(choice.get("logprobs"), self._top)
        if not (content or reasoning or scored):
            return None
        self._pieces += 1
        self._text.append(content)
        self._reasoning.append(reasoning)
        self._logprobs += scored
        return Delta(content, reasoning, scored)

    def completion(self) -> Completion:
        """The whole, after the last piece. Errors: `EngineError` for a stream that ended in the middle."""
        if self._finish is None:
            raise EngineError("The server's answer broke off in the middle; ask again.", code="engine_failed")
        # A server that counts nothing sends about a token a piece.
        used = self._usage if self._usage.completion_tokens else Usage(0, 0, self._pieces)
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        return Completion(text, self._finish, used, reasoning or None, tuple(self._logprobs))


def finish(reason: Any) -> Finish:
    """Why an answer ended. Errors: `EngineError` for what is neither its end nor its longest length."""
    if reason in ("stop", "eos_token", None):
        return "stop"
    if reason == "length":
        return "length"
    raise EngineError(f"The server gave the answer up: {reason}.", code="engine_failed")


def usage(counted: Any) -> Usage:
    """The tokens that a server counted; zeros where it did not."""
    if not isinstance(counted, Mapping):
        return Usage(0, 0, 0)
    details = counted.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(_count(counted.get("prompt_tokens")), _count(cached), _count(counted.get("completion_tokens")))


def logprobs(scored: Any, top: int | None = None) -> tuple[TokenLogprob, ...]:
    """The tokens' probabilities, as chats and as older completions give them, at most `top` more in each place."""
    if not isinstance(scored, Mapping):
        return ()
    content = scored.get("content")
    if isinstance(content, list):
        return tuple(_token(token, top) for token in content if isinstance(token, Mapping))
    texts, own, tops = (scored.get(name) or [] for name in ("tokens", "token_logprobs", "top_logprobs"))
    return tuple(
        TokenLogprob(_bytes(text), float(logprob or 0.0), _older(others, top))
        for text, logprob, others in zip(texts, own, tops or [None] * len(texts), strict=False)
    )


def _token(token: Mapping[str, Any], top: int | None) -> TokenLogprob:
    others = token.get("top_logprobs") or ()
    return TokenLogprob(*_scored(token), tuple(map(_scored, others[:top])))


def _older(others: Mapping[str, float] | None, top: int | None) -> tuple[tuple[bytes, float], ...]:
    return tuple((_bytes(text), float(score)) for text, score in (others or {}).items())[:top]


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _scored(token: Mapping[str, Any]) -> tuple[bytes, float]:
    found = token.get("bytes")
    text = bytes(found) if isinstance(found, list) else _bytes(str(token.get("token", "")))
    return text, float(token.get("logprob") or 0.0)


def _choice(answer: Json) -> Json | None:
    choices = answer.get("choices")
    if not isinstance(choices, list):
        raise _strange("no choices")
    if not choices:
        return None
    if not isinstance(choices[0], dict):
        raise _strange("a choice that is no object")
    choice: Json = choices[0]
    return choice


def _text(part: Mapping[str, Any], key: str) -> str:
    text = part.get(key)
    if text is not None and not isinstance(text, str):
        raise _strange(f"a {key} that is no text")
    return text or ""


def _reasoning(part: Mapping[str, Any]) -> str:
    """Under either of the two names that servers give it."""
    return _text(part, "reasoning_content") or _text(part, "reasoning")


def _count(tokens: Any) -> int:
    return tokens if isinstance(tokens, int) else 0


def _strange(what: str) -> EngineError:
    return EngineError(f"The server does not answer as the OpenAI API does: {what}.", code="engine_failed")
