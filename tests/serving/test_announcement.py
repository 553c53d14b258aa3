"""What a server prints when it starts."""

from __future__ import annotations

import shlex

from copydesk.serving.announcement import address, announcement

URL = "http://127.0.0.1:8000"


def test_a_server_is_reached_at_its_address_from_the_same_machine() -> None:
    assert address("127.0.0.1", 8000) == URL
    assert address("0.0.0.0", 1) == "http://127.0.0.1:1"
    assert address("::", 1) == "http://[::1]:1"


def test_the_link_to_the_page_holds_the_key_where_no_server_sees_it() -> None:
    assert f"A page to try it: {URL}/#key=sk-1\n" in announcement(URL, "nano", "sk-1")
    assert f"A page to try it: {URL}/\n" in announcement(URL, "nano", None)


def test_what_it_shows_can_be_pasted() -> None:
    for key in ("sk-1", None):
        shown = announcement(URL, "nano", key)
        command = shown.split("# curl\n")[1].split("\n\n")[0]
        assert shlex.split(command)[:2] == ["curl", f"{URL}/v1/extract"]
        compile(shown.split("# Python\n")[1], "announcement", "exec")
