"""What most checks of the page do."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect


def send(page: Page, text: str | None = None) -> None:
    """Type a text and send it."""
    if text is not None:
        page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def answered(page: Page) -> None:
    """Wait for the answer."""
    expect(page.locator("#status")).to_contain_text("Answered")


def marks(page: Page) -> list[tuple[str, str]]:
    """The marked parts of the text, each with the names of its fields."""
    found: list[Any] = page.locator("#marked mark").evaluate_all("nodes => nodes.map(n => [n.title, n.textContent])")
    return [(title, text) for title, text in found]


def rows(page: Page) -> list[list[str]]:
    """The cells of the table of values."""
    found: list[list[str]] = page.locator("#values tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return found
