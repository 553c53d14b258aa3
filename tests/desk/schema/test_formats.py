"""Formats: each pattern matches only what its standard allows."""

from __future__ import annotations

import datetime
import ipaddress
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.desk.schema.formats import FORMATS
from law_cases import cases

PARSERS: dict[str, Callable[[str], Any]] = {
    "date": datetime.date.fromisoformat,
    "date-time": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "ipvanyaddress": ipaddress.ip_address,
    "uuid": uuid.UUID,
}


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=cases(60), deadline=None)
@given(data=st.data())
def test_what_matches_can_be_parsed(name: str, data: st.DataObject) -> None:
    PARSERS[name](data.draw(st.from_regex(FORMATS[name], fullmatch=True)))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", ["2024-02-29", "2000-02-29", "1999-12-31"], ["2023-02-29", "1900-02-29", "0000-01-01", "2024-13-01"]),
        ("time", ["23:59:59Z", "00:00:00.5+08:00"], ["24:00:00Z", "12:00:00", "12:00Z"]),
        ("date-time", ["2024-02-29T12:00:00Z"], ["2024-02-29 12:00:00Z", "2023-02-29T12:00:00Z"]),
        ("duration", ["P1Y2M3D", "PT5M", "P2W", "P1DT12H"], ["P", "PT", "P1H", "1D"]),
        ("email", ["a.b+c@x-y.example.org"], ["a@b", "a..b@c.org", "@c.org", "a b@c.org"]),
        ("hostname", ["a", "a-b.c1"], ["-a", "a-", "a..b", "", "xn--X"]),
        ("ipv4", ["255.0.10.9"], ["256.1.1.1", "1.2.3", "01.2.3.4"]),
        ("ipv6", ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "fe80::1:2"], [":", "1:2:3:4:5:6:7", "1::2::3", "12345::"]),
        ("uri", ["https://a.b:8/c%20d?e=f#g", "mailto:a@b.c", "urn:x:y"], ["//a.b", "https:// a", "a/b", "http://%zz"]),
        ("uri-reference", ["/a/b?c", "https://a.b"], ["a b", "%", "//a@b@c"]),
        ("iri", ["https://a.b/漢字"], ["漢字"]),
        ("json-pointer", ["", "/a~1b/0"], ["a", "/~2"]),
        ("byte", ["", "YQ==", "YWI=", "YWJj"], ["YQ=", "a", "YQ==YQ=="]),
        ("base64url", ["_-8="], ["/+8="]),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000"]),
    ],
)
def test_what_matches_and_what_does_not(name: str, right: list[str], wrong: list[str]) -> None:
    assert [text for text in right if not re.fullmatch(FORMATS[name], text)] == []
    assert [text for text in wrong if re.fullmatch(FORMATS[name], text)] == []
