"""On the way out."""

from __future__ import annotations

from copydesk.serving.drain import Drain


def test_it_begins_once() -> None:
    drain = Drain()
    assert not drain.draining
    drain.begin()
    drain.begin()
    assert drain.draining
