"""Quotas: what fits is counted, what does not is told when to come back, and a Redis that fails is put up with."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from fakeredis import TcpFakeServer
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.errors import EngineError, UsageError
from copydesk.serving import quotas
from copydesk.serving.keys import Key, fresh_key
from copydesk.serving.quotas import QuotaError, Quotas, QuotaSettings, UncountedError


def key(**limits: int) -> Key:
    return fresh_key(**limits)[1]


async def taken(counts: Quotas, of: Key, tokens: int = 1, times: int = 1) -> int:
    """How many of so many requests were let in."""
    let_in = 0
    for _ in range(times):
        try:
            await counts.take(of, tokens)
            let_in += 1
        except QuotaError:
            pass
    return let_in


async def refused(counts: Quotas, of: Key, tokens: int) -> float:
    """How long the request is told to wait; 0 if it is let in."""
    try:
        await counts.take(of, tokens)
    except QuotaError as error:
        return error.retry_after
    return 0


@pytest.fixture(scope="module")
def redis() -> Iterator[str]:
    server = TcpFakeServer(("127.0.0.1", 0), server_type="redis")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"redis://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture(params=["memory", "redis"])
def storage(request: pytest.FixtureRequest) -> str:
    return "memory://" if request.param == "memory" else str(request.getfixturevalue("redis"))


@pytest.mark.anyio
async def test_each_limit_holds_by_itself(storage: str) -> None:
    counts = Quotas(QuotaSettings(storage))
    assert await taken(counts, key(requests_per_minute=3), times=5) == 3
    assert await taken(counts, key(requests_per_day=2), times=5) == 2
    assert await taken(counts, key(tokens_per_minute=100), tokens=40, times=5) == 2
    assert await taken(counts, key(), tokens=10**9, times=50) == 50
    await counts.close()


@pytest.mark.anyio
async def test_what_a_key_has_not_the_server_says(storage: str) -> None:
    counts = Quotas(QuotaSettings(storage, requests_per_minute=2))
    assert await taken(counts, key(), times=5) == 2
    assert await taken(counts, key(requests_per_minute=4), times=5) == 4
    await counts.close()


@pytest.mark.anyio
async def test_what_is_refused_counts_nowhere(storage: str) -> None:
    counts = Quotas(QuotaSettings(storage))
    of = key(requests_per_minute=3, tokens_per_minute=100)
    assert await taken(counts, of, tokens=90) == 1
    assert await taken(counts, of, tokens=50, times=20) == 0
    assert await taken(counts, of, tokens=5, times=2) == 2  # the refused ones took none of the three requests
    await counts.close()


@pytest.mark.anyio
async def test_tokens_used_beyond_the_estimate_count(storage: str) -> None:
    counts = Quotas(QuotaSettings(storage))
    of = key(tokens_per_minute=100)
    await counts.take(of, 10)
    await counts.add(of, 85)
    assert await taken(counts, of, tokens=10) == 0
    assert await taken(counts, of, tokens=5) == 1
    await counts.add(of, 1000)
    assert await taken(counts, of, tokens=1) == 0
    await counts.close()


@pytest.mark.anyio
async def test_headers_and_wait_say_what_is_left(storage: str) -> None:
    counts = Quotas(QuotaSettings(storage))
    of = key(requests_per_minute=2, requests_per_day=100, tokens_per_minute=60)
    headers = await counts.take(of, 15)
    assert headers["x-ratelimit-limit-requests"] == "2"
    assert headers["x-ratelimit-remaining-requests"] == "1"
    assert headers["x-ratelimit-remaining-tokens"] == "45"
    assert headers["x-ratelimit-reset-tokens"] == "15s"
    await counts.take(of, 15)
    with pytest.raises(QuotaError, match="2 requests a minute") as caught:
        await counts.take(of, 15)
    assert 1 <= caught.value.retry_after <= 120
    assert caught.value.headers["x-ratelimit-remaining-requests"] == "0"
    assert caught.value.headers["x-ratelimit-remaining-tokens"] == "30"
    await counts.close()


@pytest.mark.anyio
async def test_a_request_over_the_whole_quota_is_told_to_be_smaller(storage: str) -> None:
    counts = Quotas(QuotaSettings(storage))
    with pytest.raises(QuotaError, match="Send less"):
        await counts.take(key(tokens_per_minute=10), 11)
    await counts.close()


@pytest.mark.anyio
async def test_of_many_at_once_no_more_than_fit_are_let_in(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "_TIMEOUT", 10.0)  # the stand-in for Redis is slow
    counts = Quotas(QuotaSettings(storage))
    of = key(requests_per_minute=7)
    assert sum(await asyncio.gather(*(taken(counts, of) for _ in range(40)))) == 7
    await counts.close()


@pytest.mark.anyio
async def test_processes_share_what_redis_counts(redis: str) -> None:
    one, other = Quotas(QuotaSettings(redis)), Quotas(QuotaSettings(redis))
    of = key(requests_per_minute=5)
    assert await taken(one, of, times=3) + await taken(other, of, times=9) == 5
    await one.close()
    await other.close()


_steps = st.lists(st.tuples(st.floats(0, 90), st.integers(1, 40)), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None)
@given(steps=_steps, amount=st.integers(1, 60))
def test_whoever_comes_back_when_told_is_let_in(steps: list[tuple[float, int]], amount: int) -> None:
    now = [1_700_000_000.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("limits.aio.storage.memory.time", SimpleNamespace(time=lambda: now[0]))
        patch.setattr("limits.aio.strategies.time", SimpleNamespace(time=lambda: now[0]))

        async def play() -> None:
            counts = Quotas(QuotaSettings(tokens_per_minute=amount))
            of = key()
            windows: dict[int, int] = {}
            for pause, tokens in steps:
                now[0] += pause
                if tokens > amount:
                    continue
                if wait := await refused(counts, of, tokens):
                    assert wait <= 120
                    now[0] += wait + 1e-3
                    assert await refused(counts, of, tokens) == 0
                window = int(now[0] // 60)
                windows[window] = windows.get(window, 0) + tokens
            assert max(windows.values(), default=0) <= amount

        asyncio.run(play())


@pytest.mark.anyio
async def test_a_redis_that_fails_is_replaced_by_counting_here(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Quotas(QuotaSettings("redis://127.0.0.1:1"))
    of = key(requests_per_minute=2)
    assert await taken(counts, of, times=4) == 2
    assert not counts.storage_up
    assert caplog.text.count("Redis does not answer") == 1
    monkeypatch.setattr(Quotas, "_answers", lambda *_: pytest.fail("asked again at once"))
    assert await taken(counts, of) == 0
    await counts.close()


@pytest.mark.anyio
async def test_a_redis_that_fails_lets_nobody_in_if_so_told() -> None:
    counts = Quotas(QuotaSettings("redis://127.0.0.1:1", storage_failure="refuse"))
    with pytest.raises(UncountedError):
        await counts.take(key(requests_per_minute=2), 1)
    await counts.add(key(tokens_per_minute=2), 1)  # what is over is not worth an error
    assert await taken(counts, key()) == 1
    await counts.close()


@pytest.mark.anyio
async def test_a_redis_that_comes_back_is_used_again(
    redis: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(quotas, "_ASK_AGAIN", 0.0)
    counts = Quotas(QuotaSettings(redis))
    of = key(requests_per_minute=3)
    assert await taken(counts, of) == 1
    working = quotas._take

    async def broken(*arguments: object) -> object:
        if arguments[0] is counts._shared:
            raise ConnectionError("gone")
        return await working(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as failing:
        failing.setattr(quotas, "_take", broken)
        assert await taken(counts, of, times=5) == 3
        assert not counts.storage_up
    assert await taken(counts, of, times=5) == 2
    assert counts.storage_up
    assert "in Redis again" in caplog.text
    await counts.close()


@pytest.mark.anyio
async def test_a_redis_that_hangs_costs_no_more_than_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "_TIMEOUT", 0.05)
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    counts = Quotas(QuotaSettings(f"redis://127.0.0.1:{port}"))
    start = time.monotonic()
    assert await taken(counts, key(requests_per_minute=2), times=3) == 2
    assert time.monotonic() - start < 2
    silent.close()


@pytest.mark.parametrize("uri", ["redis", "memcached://x", "http://x", ""])
def test_a_storage_that_is_none_is_refused(uri: str) -> None:
    with pytest.raises(UsageError, match=r"quotas\.storage"):
        Quotas(QuotaSettings(uri))


def test_without_redis_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "redis.asyncio", None)
    with pytest.raises(EngineError, match=r"copydesk\[redis\]") as caught:
        Quotas(QuotaSettings("redis://localhost"))
    assert caught.value.code == "missing_extra"


@pytest.mark.parametrize(
    ("seconds", "written"), [(0.0, "0ms"), (0.0165, "17ms"), (1.0, "1s"), (60.5, "1m1s"), (3600, "1h0m0s")]
)
def test_durations_are_written_as_openai_does(seconds: float, written: str) -> None:
    assert quotas._duration(seconds) == written
