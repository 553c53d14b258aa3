"""How much each key may ask for: requests a minute, requests a day, tokens a minute, counted over sliding windows.

Counts live in this process, or in a Redis that several share. When Redis does not answer, each process counts by itself
or, if told so, lets nobody in. Knows no HTTP and no queue.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar, cast

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError

from copydesk.errors import EngineError, UsageError
from copydesk.serving.keys import Key

MEMORY = "memory://"
Kind = Literal["requests", "tokens"]
Result = TypeVar("Result")
_TIMEOUT = 0.5
"""Seconds that Redis gets for each step."""
_CONNECTIONS = 16
_ASK_AGAIN = 2.0
"""Seconds after a failure during which Redis is left alone."""
_SOONEST = 1.0
_log = logging.getLogger("copydesk.serving")


@dataclass(frozen=True, slots=True)
class QuotaSettings:
    """Where counts are kept, and what keys without limits of their own may ask for (None: anything)."""

    storage: str = MEMORY
    """`memory://`, or `redis://[:password@]host:port[/db]` (also `rediss://`, `redis+unix://`)."""
    storage_failure: Literal["local", "refuse"] = "local"
    """When Redis fails: count in each process by itself, or answer 503."""
    per_worker: bool = False
    """Whether it is fine that several workers count in memory, each by itself."""
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None


class QuotaError(Exception):
    """A key has asked for too much. `retry_after` in seconds; `headers` as OpenAI has them."""

    def __init__(self, message: str, retry_after: float, headers: Mapping[str, str]) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.headers = headers


class UncountedError(Exception):
    """The counts cannot be read, and nobody is let in uncounted."""


class _Storage(Protocol):
    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]: ...


@dataclass(frozen=True, slots=True)
class _Limit:
    kind: Kind
    item: RateLimitItem
    cost: int
    words: str

    @property
    def amount(self) -> int:
        return self.item.amount

    @property
    def seconds(self) -> int:
        return self.item.get_expiry()


@dataclass(frozen=True, slots=True)
class _Window:
    """What was counted in the window before and in the running one, and how long the latter still runs, in seconds."""

    before: int
    now: int
    left: float

    def counted(self, seconds: int) -> float:
        return self.before * self.left / seconds + self.now


class Quotas:
    """Counts what keys ask for. Belongs to one event loop."""

    def __init__(self, settings: QuotaSettings, tell_up: Callable[[bool], None] = lambda _: None) -> None:
        """`tell_up` is told whether the shared storage answers, when that changes.

        Errors: `UsageError` for a storage that is none, `EngineError` (`missing_extra`) without Redis's client."""
        self._settings = settings
        self._local = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared = None if settings.storage == MEMORY else SlidingWindowCounterRateLimiter(_redis(settings.storage))
        self._down_until = 0.0
        self._tell_up = tell_up
        self.storage_up = True
        """Whether the shared storage answered when it was last asked."""

    async def take(self, key: Key, tokens: int) -> Mapping[str, str]:
        """Count a request of so many tokens; returns what is left as headers.

        Errors: `QuotaError`, which counts nothing; `UncountedError`.
        """
        limits = self._limits(key, tokens)
        if not limits:
            return {}
        return await self._on_storage(lambda limiter: _take(limiter, key.id, limits))

    def counts_tokens(self, key: Key) -> bool:
        """Whether a key has a quota of tokens."""
        return bool(key.tokens_per_minute or self._settings.tokens_per_minute)

    async def add(self, key: Key, tokens: int) -> None:
        """Count tokens that were used beyond those taken; what the window does not hold is let go."""
        limit = next((limit for limit in self._limits(key, 0) if limit.kind == "tokens"), None)
        if limit is not None and tokens > 0:
            with suppress(UncountedError):
                await self._on_storage(lambda limiter: _fill(limiter, key.id, limit, tokens))

    async def close(self) -> None:
        """Let go of connections."""
        if self._shared is not None:
            await cast(Any, self._shared.storage).bridge.storage.aclose()

    async def _on_storage(self, work: Callable[[SlidingWindowCounterRateLimiter], Awaitable[Result]]) -> Result:
        if self._shared is None:
            return await work(self._local)
        if time.monotonic() >= self._down_until:
            try:
                async with asyncio.timeout(2 * _TIMEOUT):
                    result = await work(self._shared)
                self._answers(True)
                return result
            except QuotaError:
                self._answers(True)
                raise
            except (StorageError, OSError, TimeoutError) as error:
                self._answers(False, error)
        if self._settings.storage_failure == "refuse":
            raise UncountedError
        return await work(self._local)

    def _answers(self, up: bool, error: Exception | None = None) -> None:
        if not up:
            self._down_until = time.monotonic() + _ASK_AGAIN
        if up != self.storage_up:
            self.storage_up = up
            self._tell_up(up)
            if up:
                _log.warning("Quotas are counted in Redis again.")
            else:
                instead = (
                    "requests are refused" if self._settings.storage_failure == "refuse" else "each process counts"
                )
                _log.error("Redis does not answer (%r): %s until it does.", error, instead)

    def _limits(self, key: Key, tokens: int) -> Sequence[_Limit]:
        settings = self._settings
        minute = key.requests_per_minute or settings.requests_per_minute
        day = key.requests_per_day or settings.requests_per_day
        most_tokens = key.tokens_per_minute or settings.tokens_per_minute
        found = []
        if minute:
            found.append(_Limit("requests", _item(RateLimitItemPerMinute, minute, "requests"), 1, "requests a minute"))
        if day:
            found.append(_Limit("requests", _item(RateLimitItemPerDay, day, "requests"), 1, "requests a day"))
        if most_tokens:
            item = _item(RateLimitItemPerMinute, most_tokens, "tokens")
            found.append(_Limit("tokens", item, max(1, tokens), "tokens a minute"))
        return found


@lru_cache(maxsize=1024)
def _item(kind: type[RateLimitItem], amount: int, namespace: str) -> RateLimitItem:
    return kind(amount, namespace=namespace)


async def _take(limiter: SlidingWindowCounterRateLimiter, key: str, limits: Sequence[_Limit]) -> Mapping[str, str]:
    """Look at all windows before counting in any, so that what is refused costs nothing."""
    windows = await asyncio.gather(*(_window(limiter, key, limit) for limit in limits))
    _refuse_if_over(limits, windows, 0.0)
    counted = await asyncio.gather(*(limiter.hit(limit.item, key, cost=limit.cost) for limit in limits))
    if not all(counted):  # others came between
        _refuse_if_over(limits, await asyncio.gather(*(_window(limiter, key, limit) for limit in limits)), _SOONEST)
    return _headers(limits, windows, taken=True)


async def _fill(limiter: SlidingWindowCounterRateLimiter, key: str, limit: _Limit, tokens: int) -> None:
    window = await _window(limiter, key, limit)
    fits = limit.amount - math.floor(window.counted(limit.seconds))
    if fits > 0:
        await limiter.hit(limit.item, key, cost=min(tokens, fits))


async def _window(limiter: SlidingWindowCounterRateLimiter, key: str, limit: _Limit) -> _Window:
    storage = cast(_Storage, limiter.storage)
    before, fading, now, kept = await storage.get_sliding_window(limit.item.key_for(key), limit.seconds)
    return _Window(before, now, fading if before else kept - limit.seconds)


def _refuse_if_over(limits: Sequence[_Limit], windows: Sequence[_Window], least: float) -> None:
    """Errors: `QuotaError` if one has to wait, or if `least`, the shortest wait in seconds, is above 0."""
    waits = [_wait(limit, window) for limit, window in zip(limits, windows, strict=True)]
    longest = max(waits)
    if longest <= 0 and not least:
        return
    limit = limits[waits.index(longest)]
    wait = max(longest, _SOONEST)
    headers = _headers(limits, windows, taken=False)
    if limit.cost > limit.amount:
        message = (
            f"The request asks for about {limit.cost:,} tokens at once, and the key may use {limit.amount:,} a minute."
        )
        raise QuotaError(f"{message} Send less.", wait, headers)
    raise QuotaError(
        f"The key may use {limit.amount:,} {limit.words}; that is used up. Try again in {math.ceil(wait)} s.",
        wait,
        headers,
    )


def _wait(limit: _Limit, window: _Window) -> float:
    """Seconds until the cost fits, if nothing else comes; 0 if it fits now."""
    seconds, room = limit.seconds, limit.amount - limit.cost + 1  # counts round down: they must stay below this
    if room <= 0:
        return float(seconds)
    if window.counted(seconds) < room:
        return 0.0
    if window.now < room:
        return window.left - seconds * (room - window.now) / window.before
    return window.left + seconds * (1 - room / window.now)


def _headers(limits: Sequence[_Limit], windows: Sequence[_Window], *, taken: bool) -> dict[str, str]:
    """OpenAI's names; of two limits on requests the one with less left."""
    found: dict[Kind, tuple[int, int, float]] = {}
    for limit, window in zip(limits, windows, strict=True):
        counted = math.floor(window.counted(limit.seconds)) + (limit.cost if taken else 0)
        left = max(0, limit.amount - counted)
        reset = limit.seconds * min(1.0, counted / limit.amount)
        if limit.kind not in found or left < found[limit.kind][1]:
            found[limit.kind] = (limit.amount, left, reset)
    headers = {}
    for kind, (amount, left, reset) in found.items():
        headers[f"x-ratelimit-limit-{kind}"] = str(amount)
        headers[f"x-ratelimit-remaining-{kind}"] = str(left)
        headers[f"x-ratelimit-reset-{kind}"] = _duration(reset)
    return headers


def _duration(seconds: float) -> str:
    """As OpenAI writes it: `17ms`, `6.2s`, `2m30s`, `1h0m0s`."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    whole = math.ceil(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s" if minutes else f"{rest}s"


def check_storage(uri: str) -> None:
    """Errors: `UsageError` for a storage that counts cannot be kept in."""
    if uri != MEMORY and not uri.startswith(("redis://", "rediss://", "redis+unix://")):
        raise UsageError(f"quotas.storage is memory:// or redis://host:port, not {uri!r}.")


def _redis(uri: str) -> RedisStorage:
    check_storage(uri)
    try:
        import redis.asyncio
    except ImportError as error:
        raise EngineError(
            f"Counting in {uri.partition('://')[0]} needs its client: pip install 'copydesk[redis]'",
            code="missing_extra",
        ) from error
    pool: Any = redis.asyncio.BlockingConnectionPool.from_url(
        uri.replace("redis+unix://", "unix://"),
        max_connections=_CONNECTIONS,
        timeout=_TIMEOUT,
        socket_timeout=_TIMEOUT,
        socket_connect_timeout=_TIMEOUT,
    )
    return RedisStorage(
        f"async+{uri}", wrap_exceptions=True, implementation="redispy", key_prefix="copydesk", connection_pool=pool
    )
