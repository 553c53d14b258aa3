"""A real Chromium for the checks of the page. They are run by `scripts/browser_check`, not by a plain `pytest`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browser.stub import KEY, Stub, serving

if TYPE_CHECKING:  # a plain pytest reads this file too, and may have no playwright
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 10_000
"""Milliseconds that a check waits for something to show."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "context(**options): how the browser of a check is set up")


def chromium() -> str:
    """The program's path."""
    found = os.environ.get("COPYDESK_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.exit(
            "No Chromium: install one (apt-get install chromium) or name it in COPYDESK_CHROMIUM.", returncode=1
        )
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One running Chromium for all checks."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Its sandbox cannot be set up by root in a container; the checks open nothing but pages of this machine.
        running = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server that answers as a check tells it."""
    with serving() as running:
        yield running


@pytest.fixture
def page(browser: Browser, stub: Stub, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page, opened by the link with the key. A mark `context` sets the browser's language, size and the like.

    Whatever the page writes to its console as an error fails the check, but for refusals that the check asked for.
    """
    options = {"locale": "en-GB", "viewport": {"width": 1200, "height": 900}}
    for mark in request.node.iter_markers("context"):
        options |= mark.kwargs
    context = browser.new_context(**options)  # type: ignore[arg-type]
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.goto(f"{stub.url}#key={KEY}")
    yield opened
    context.close()
    assert [each for each in complaints if "Failed to load resource" not in each] == []
