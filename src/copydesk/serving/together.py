"""Many calls for one request, a few at a time: those of other callers come between.

Knows nothing of what is called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_AT_ONCE = 16


async def together(call: Callable[[Item], Awaitable[Result]], items: Iterable[Item]) -> list[Result]:
    """What `call` gives for each item, in their order. One that fails, and being cancelled, cancels the others."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(item: Item) -> Result:
        async with places:
            return await call(item)

    calling = [asyncio.ensure_future(one(item)) for item in items]
    try:
        return await asyncio.gather(*calling)
    finally:
        for task in calling:
            task.cancel()
