"""How the server's tests run."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of tests marked `anyio`."""
    return "asyncio"
