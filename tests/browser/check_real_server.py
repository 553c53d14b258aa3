"""The page, the real server and the built-in model together."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.asking import answered, marks, rows, send
from browser.real_server import real_server

PATIENCE = 60_000


@pytest.fixture(scope="module")
def link() -> Iterator[str]:
    with real_server() as printed:
        yield printed


@pytest.fixture
def page(browser: Browser, link: str) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    opened.goto(link)
    yield opened
    context.close()
    expect.set_options(timeout=5_000)


def test_an_address(page: Page) -> None:
    expect(page.locator("#key-note")).to_have_text("Accepted.")
    send(page, "📦𠮷 长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435")
    answered(page)
    assert [row[:2] for row in rows(page)] == [
        ["province", "湖南省"],
        ["city", "长沙市"],
        ["district", "岳麓区"],
        ["specific_location", "桃花岭路189号润丰园B座1202室"],
        ["name", "江雨桐"],
        ["phone", "021-17613435"],
    ]
    assert ("name", "江雨桐") in marks(page)
    assert ("city", "长沙市") in marks(page)
    expect(page.locator(".badge")).to_have_text("Verified by the model")
    expect(page.locator("#facts")).to_contain_text("copydesk-nano")


def test_every_sample(page: Page) -> None:
    for sample in ("waybill", "messy", "traditional", "emoji and rare characters"):
        page.get_by_role("button", name=sample).click()
        send(page)
        expect(page.locator("#status")).not_to_contain_text("Waiting")
        answered(page)
        assert len(marks(page)) >= 3


def test_news(page: Page) -> None:
    page.get_by_role("tab", name="Classify").click()
    for sample, label in (("business", "Business"), ("sports", "Sports"), ("space", "Sci/Tech")):
        page.get_by_role("button", name=sample).click()
        send(page)
        expect(page.locator(".chosen-label")).to_have_text(label)
    assert [name for name, _ in rows(page)] == ["World", "Sports", "Business", "Sci/Tech"]


def test_a_schema_of_ones_own(page: Page) -> None:
    page.get_by_role("button", name="Another example").click()
    expect(page.locator("#schema-untrained")).to_contain_text("expect mistakes")
    send(page, "Invoice of Smith & Co, 3 May 2024: two chairs, one table. Total 1,250.00")
    answered(page)
    page.locator("#raw summary").click()
    value = json.loads(page.locator("#raw pre").inner_text())["value"]
    assert {"seller", "total"} <= set(value)


def test_refusals_are_the_servers_own(page: Page) -> None:
    page.locator("#schema-json summary").click()
    page.get_by_label("As JSON Schema").fill('{"type": "object", "properties": {"a": {"type": "nonsense"}}}')
    send(page, "a")
    expect(page.locator("#error")).to_contain_text("(400)")
    expect(page.locator("#error")).to_contain_text("nonsense")
    page.locator("#key").fill("sk-wrong")
    send(page)
    expect(page.locator("#error")).to_contain_text("(401)")
