"""The way in: which error for which reason, and that whoever leaves frees the place and pays for what was used."""

from __future__ import annotations

import asyncio

import pytest

from copydesk.serving.admission import QueueSettings
from copydesk.serving.entrance import Entrance
from copydesk.serving.errors import ApiError
from copydesk.serving.keys import Keyring, fresh_key
from copydesk.serving.quotas import Quotas, QuotaSettings
from copydesk.types import Usage


def entrance(*keys: object, queue: QueueSettings | None = None, **quotas: object) -> Entrance:
    return Entrance(Keyring(keys), Quotas(QuotaSettings(**quotas)), queue or QueueSettings())  # type: ignore[arg-type]


def test_a_key_is_recognised_and_no_error_repeats_what_was_given() -> None:
    secret, key = fresh_key(name="shop", models=("a",))
    door = entrance(key)
    caller = door.identify(f"Bearer {secret}")
    assert (caller.name, caller.models) == (key.id, frozenset({"a"}))
    assert door.identify(f"bearer  {secret} ").name == key.id
    for header in (None, "", "Bearer", "Bearer ", f"Basic {secret}", secret, f"Bearer {secret}x", "Bearer sk-wrong"):
        with pytest.raises(ApiError) as caught:
            door.identify(header)
        assert caught.value.status == 401
        assert caught.value.headers["WWW-Authenticate"] == "Bearer"
        assert secret not in caught.value.message
    assert caught.value.code == "invalid_api_key"


@pytest.mark.anyio
async def test_a_model_that_is_not_allowed_is_forbidden() -> None:
    secret, key = fresh_key(models=("a",))
    door = entrance(key)
    caller = door.identify(f"Bearer {secret}")
    async with await door.admit(caller, "a", 1):
        pass
    with pytest.raises(ApiError, match="may not use the model b") as caught:
        await door.admit(caller, "b", 1)
    assert (caught.value.status, caught.value.code) == (403, "model_not_found")


@pytest.mark.anyio
async def test_over_quota_says_when_to_come_back_and_takes_no_place() -> None:
    secret, key = fresh_key(requests_per_minute=1)
    door = entrance(key)
    caller = door.identify(f"Bearer {secret}")
    async with await door.admit(caller, "a", 1) as visit:
        assert visit.headers["x-ratelimit-remaining-requests"] == "0"
    with pytest.raises(ApiError, match="1 requests a minute") as caught:
        await door.admit(caller, "a", 1)
    assert caught.value.status == 429
    assert caught.value.retry_after is not None
    assert caught.value.headers["x-ratelimit-limit-requests"] == "1"
    assert door.queues["a"].running == 0


@pytest.mark.anyio
async def test_saturated_is_503_for_that_model_alone() -> None:
    secret, key = fresh_key()
    door = entrance(key, queue=QueueSettings(running=1, waiting=0))
    caller = door.identify(f"Bearer {secret}")
    async with await door.admit(caller, "a", 1):
        with pytest.raises(ApiError, match="queue is full") as caught:
            await door.admit(caller, "a", 1)
        async with await door.admit(caller, "b", 1):
            pass
    assert (caught.value.status, caught.value.code) == (503, "saturated")
    assert caught.value.retry_after is not None
    async with await door.admit(caller, "a", 1):
        pass


@pytest.mark.anyio
async def test_a_place_is_freed_whatever_happens() -> None:
    secret, key = fresh_key()
    door = entrance(key)
    caller = door.identify(f"Bearer {secret}")

    async def fails() -> None:
        async with await door.admit(caller, "a", 1):
            assert door.queues["a"].running == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fails()
    assert door.queues["a"].running == 0


@pytest.mark.anyio
async def test_nothing_is_counted_later_where_tokens_have_no_quota() -> None:
    secret, key = fresh_key(requests_per_minute=5)
    door = entrance(key)
    tasks = asyncio.all_tasks()
    async with await door.admit(door.identify(f"Bearer {secret}"), "a", 10) as visit:
        visit.used(Usage(20, 0, 20))
    assert asyncio.all_tasks() == tasks


@pytest.mark.anyio
async def test_what_was_used_beyond_the_estimate_is_paid_for() -> None:
    secret, key = fresh_key(tokens_per_minute=100)
    door = entrance(key)
    caller = door.identify(f"Bearer {secret}")
    async with await door.admit(caller, "a", 10) as visit:
        visit.used(Usage(20, 0, 20))
        visit.used(Usage(20, 0, 30))
    for _ in range(5):
        await asyncio.sleep(0)
    async with await door.admit(caller, "a", 10) as visit:
        visit.used(Usage(1, 0, 1))  # less than the estimate
    with pytest.raises(ApiError, match="tokens a minute"):
        await door.admit(caller, "a", 1)
    await door.close()


@pytest.mark.anyio
async def test_a_key_revoked_while_its_body_was_read_is_refused() -> None:
    secret, key = fresh_key()
    door = entrance(key)
    caller = door.identify(f"Bearer {secret}")
    with pytest.raises(ApiError, match="revoked") as caught:
        await entrance().admit(caller, "a", 1)
    assert caught.value.status == 401


@pytest.mark.anyio
async def test_without_its_counts_a_server_told_to_refuses() -> None:
    secret, key = fresh_key(requests_per_minute=1)
    door = entrance(key, storage="redis://127.0.0.1:1", storage_failure="refuse")
    with pytest.raises(ApiError, match="cannot be counted") as caught:
        await door.admit(door.identify(f"Bearer {secret}"), "a", 1)
    assert (caught.value.status, caught.value.code) == (503, "quotas_unavailable")
    assert caught.value.retry_after == 2
