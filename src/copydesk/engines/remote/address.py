"""The address of a server as callers write it, and where its API may stand.

Knows nothing of connections.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from copydesk.errors import UsageError

_VERSIONED = re.compile(r"/v\d+\w*/?\Z")


@dataclass(frozen=True, slots=True)
class Address:
    """A server's address without its path, and the paths under which its API is looked for, the likeliest first."""

    origin: str
    """Such as `http://127.0.0.1:8000`."""
    paths: tuple[str, ...]
    """Such as `/v1`."""
    local: bool
    """Whether it is this machine, which no proxy stands before."""


def is_address(engine: str) -> bool:
    """Whether an engine's name is a server's address."""
    return "://" in engine


def read_address(written: str) -> Address:
    """Errors: `UsageError` for what is no address of a server."""
    try:
        parts = urlsplit(written.strip())
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{written!r} is no address: {error}. Write http://host:port.") from error
    if parts.scheme not in ("http", "https"):
        raise UsageError(
            f"{parts.scheme}:// is not spoken here; an engine's address is http://host:port or https://..."
        )
    if not parts.hostname:
        raise UsageError(f"{written!r} names no host; write http://host:port.")
    if parts.username or parts.password:
        raise UsageError("Leave the key out of the address; give it as api_key or in COPYDESK_API_KEY.")
    if parts.query or parts.fragment:
        raise UsageError(f"{written!r} has more than a path; write http://host:port, or with a path such as /v1.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/completions").removesuffix("/models")
    paths = (path,) if _VERSIONED.search(path) else (f"{path}/v1", path)
    return Address(f"{parts.scheme}://{host}" + (f":{port}" if port else ""), paths, _is_local(parts.hostname))


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
