"""The way in: who asks (keys), whether they may (models, quotas), and whether there is room (a queue for each model).

Satisfies `Gate`. Counts nothing itself, and keeps no key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from copydesk.serving.admission import Place, Queue, QueueSettings, QueueTally, SaturatedError
from copydesk.serving.errors import ApiError
from copydesk.serving.gate import Caller
from copydesk.serving.keys import Key, Keyring
from copydesk.serving.quotas import QuotaError, Quotas, UncountedError
from copydesk.types import Usage

_UNCOUNTED_RETRY = 2.0


class Entrance:
    """Belongs to one event loop."""

    def __init__(
        self,
        keyring: Keyring,
        quotas: Quotas,
        queue: QueueSettings,
        tally: Callable[[str], QueueTally | None] = lambda _: None,
    ) -> None:
        """`tally` gives what a model's queue tells its news to."""
        self._tally = tally
        self._keyring = keyring
        self._quotas = quotas
        self._queue = queue
        self._counting: set[asyncio.Task[None]] = set()
        self.queues: dict[str, Queue] = {}
        """By model, those that were asked for."""

    def identify(self, authorization: str | None) -> Caller:
        """Who the header `Authorization` names, called by its key's id. Errors: `ApiError` 401."""
        scheme, _, secret = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise _unauthorized("Give your API key in the header Authorization: Bearer sk-...", None)
        key = self._keyring.find(secret.strip())
        if key is None:
            raise _unauthorized("The API key is not one of this server's, or was revoked.", "invalid_api_key")
        return Caller(key.id, frozenset(key.models) or None)

    async def admit(self, caller: Caller, model: str, tokens: int) -> Visit:
        """A place for a request of an estimated number of tokens, waited for if need be; cancelling gives it up.

        Errors: `ApiError` 401 (revoked meanwhile), 403 (model not allowed), 429 (over a quota), 503 (saturated).
        """
        key = self._keyring.by_id(caller.name)
        if key is None:
            raise _unauthorized("The API key was revoked.", "invalid_api_key")
        if not caller.may_use(model):
            raise ApiError(403, f"The API key may not use the model {model}.", code="model_not_found", param="model")
        try:
            headers = await self._quotas.take(key, tokens)
        except QuotaError as error:
            raise ApiError(
                429, str(error), code="rate_limit_exceeded", retry_after=error.retry_after, headers=error.headers
            ) from error
        except UncountedError as error:
            raise ApiError(
                503,
                "Requests cannot be counted just now.",
                code="quotas_unavailable",
                retry_after=_UNCOUNTED_RETRY,
            ) from error
        if model not in self.queues:
            self.queues[model] = Queue(self._queue, self._tally(model))
        queue = self.queues[model]
        try:
            place = await queue.enter(tokens)
        except SaturatedError as error:
            raise ApiError(503, str(error), code="saturated", retry_after=error.retry_after, headers=headers) from error
        return Visit(self, key, queue, place, headers)

    def count_later(self, key: Key, tokens: int) -> None:
        """Add tokens to what a key has used, if it has a quota of them, without anybody waiting for it."""
        if not self._quotas.counts_tokens(key):
            return
        task = asyncio.get_running_loop().create_task(self._quotas.add(key, tokens))
        self._counting.add(task)
        task.add_done_callback(self._counting.discard)

    async def close(self) -> None:
        """Count what is still to be counted, and let go of connections."""
        await asyncio.gather(*self._counting, return_exceptions=True)
        await self._quotas.close()


class Visit:
    """A request's place; satisfies `Admission`."""

    def __init__(self, entrance: Entrance, key: Key, queue: Queue, place: Place, headers: Mapping[str, str]) -> None:
        self.headers = headers
        """What is left of the key's quotas, as OpenAI says it; empty if it has none."""
        self._entrance = entrance
        self._key = key
        self._queue = queue
        self._place = place
        self._used = 0

    def used(self, usage: Usage) -> None:
        """Tokens that were really used; may be called several times, which add up."""
        self._used += usage.prompt_tokens + usage.completion_tokens

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._queue.leave(self._place)
        if self._used > self._place.tokens:
            self._entrance.count_later(self._key, self._used - self._place.tokens)


def _unauthorized(message: str, code: str | None) -> ApiError:
    return ApiError(401, message, code=code, headers={"WWW-Authenticate": "Bearer"})
