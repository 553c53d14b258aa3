"""A request's body, read within limits of size and time, as JSON.

Knows no fields. Everything is refused by name before anything is parsed that could be expensive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

import orjson

from copydesk.serving.errors import ApiError
from copydesk.serving.measures import nested_deeper
from copydesk.serving.settings import Limits

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Headers = Iterable[tuple[bytes, bytes]]
_CLOSE = {"connection": "close"}
"""What is left of the body is not read: the connection lingers, so that the answer is seen."""


class HungUpError(Exception):
    """The client is gone."""


async def read_json(headers: Headers, receive: Receive, limits: Limits) -> Any:
    """The body's value.

    Errors: `ApiError` 400 (no JSON, no UTF-8, nested too deeply), 408, 413, 415; `HungUpError`.
    """
    named = dict(headers)
    _check_type(named)
    body = await read_body(named, receive, limits)
    if nested_deeper(body, limits.max_json_nesting):
        raise ApiError(
            400, f"The body is nested more than {limits.max_json_nesting} levels deep.", code="nested_too_deeply"
        )
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ApiError(400, f"The body is no JSON in UTF-8: {error.msg} ({where}).", code="invalid_json") from None


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limits: Limits) -> bytes:
    """The bytes of the body. Errors: `ApiError` 408, 413; `HungUpError`."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > limits.max_body_bytes:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _all(receive, limits)
    except TimeoutError:
        raise ApiError(
            408, f"The body did not arrive within {limits.body_seconds:g} s.", code="slow_body", headers=_CLOSE
        ) from None


async def _all(receive: Receive, limits: Limits) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HungUpError
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limits.max_body_bytes:
            raise _too_large(limits)
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(limits: Limits) -> ApiError:
    return ApiError(
        413,
        f"The body is larger than the {limits.max_body_bytes:,} bytes that are taken.",
        code="body_too_large",
        headers=_CLOSE,
    )


def _check_type(headers: Mapping[bytes, bytes]) -> None:
    encoding = headers.get(b"content-encoding", b"identity").strip().lower()
    if encoding != b"identity":
        raise ApiError(415, "Bodies are taken without a Content-Encoding.", code="unsupported_encoding", headers=_CLOSE)
    written = headers.get(b"content-type")
    if written is None:
        return
    kind, *parameters = (part.strip().lower() for part in written.split(b";"))
    charset = next((part[8:].strip(b'"') for part in parameters if part.startswith(b"charset=")), b"utf-8")
    is_json = kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json"))
    if not is_json or charset not in (b"utf-8", b"utf8", b"us-ascii"):
        raise ApiError(
            415,
            "The body must be JSON in UTF-8: Content-Type: application/json.",
            code="unsupported_type",
            headers=_CLOSE,
        )
