"""Addresses as callers write them, and what is no address."""

from __future__ import annotations

import pytest

from copydesk.engines.remote.address import read_address
from copydesk.errors import UsageError


@pytest.mark.parametrize(
    ("written", "origin", "paths"),
    [
        ("http://localhost:8000", "http://localhost:8000", ("/v1", "")),
        (" http://localhost:8000/ ", "http://localhost:8000", ("/v1", "")),
        ("https://models.example/v1", "https://models.example", ("/v1",)),
        ("http://[::1]:80/v1/", "http://[::1]:80", ("/v1",)),
        ("https://models.example/api/v3", "https://models.example", ("/api/v3",)),
        ("https://models.example/openai", "https://models.example", ("/openai/v1", "/openai")),
        ("http://h:1/v1/chat/completions", "http://h:1", ("/v1",)),
        ("http://h:1/v1/models", "http://h:1", ("/v1",)),
    ],
)
def test_an_address_says_where_the_api_may_stand(written: str, origin: str, paths: tuple[str, ...]) -> None:
    address = read_address(written)
    assert (address.origin, address.paths) == (origin, paths)


@pytest.mark.parametrize(
    ("written", "local"),
    [("http://localhost", True), ("http://127.0.0.5:1", True), ("http://[::1]", True), ("http://10.0.0.1", False)],
)
def test_this_machine_is_known(written: str, local: bool) -> None:
    assert read_address(written).local is local


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("ftp://host", "ftp:// is not spoken"),
        ("http://", "names no host"),
        ("http://host:99999", "no address"),
        ("http://user:secret@host", "Leave the key out"),
        ("http://host/v1?key=1", "more than a path"),
    ],
)
def test_what_is_no_address_is_told(written: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as raised:
        read_address(written)
    assert "secret" not in str(raised.value)
