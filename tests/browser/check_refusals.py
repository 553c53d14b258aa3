"""What the page does when no answer comes. Nothing typed is ever lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.asking import answered, send
from browser.stub import Stub, extracted

FINE = extracted({"city": {"value": "a", "span": [0, 1]}})


@pytest.fixture(autouse=True)
def typed(page: Page) -> None:
    page.get_by_label("Text", exact=True).fill("a text\nof mine")


def still_there(page: Page, stub: Stub) -> None:
    """What was typed stands, and can be sent again."""
    expect(page.get_by_label("Text", exact=True)).to_have_value("a text\nof mine")
    stub.answers(FINE)
    send(page)
    answered(page)
    expect(page.locator("#error")).to_be_empty()


def test_a_wrong_key(page: Page, stub: Stub) -> None:
    right = page.locator("#key").input_value()
    page.locator("#key").fill("sk-wrong-钥匙")
    send(page)
    expect(page.locator("#error")).to_contain_text("The key is missing or wrong. (401)")
    expect(page.locator("#error")).to_contain_text("Incorrect API key provided.")
    expect(page.locator("#key")).to_be_focused()
    expect(page.locator("#key-note")).to_have_text("The key is missing or wrong.")
    page.locator("#key").fill(right)
    still_there(page, stub)


def test_no_key(page: Page, stub: Stub) -> None:
    page.locator("#key").fill("")
    send(page)
    expect(page.locator("#error")).to_contain_text("Enter a key first")
    expect(page.locator("#key")).to_be_focused()
    assert stub.asked == []


def test_no_text(page: Page, stub: Stub) -> None:
    send(page, " \n")
    expect(page.locator("#error")).to_contain_text("Enter a text first.")
    assert stub.asked == []


def test_too_few_labels(page: Page, stub: Stub) -> None:
    page.get_by_role("tab", name="Classify").click()
    page.get_by_label("Labels, one a line").fill("one")
    expect(page.locator("#labels-note")).to_have_text("Give at least two labels.")
    send(page)
    expect(page.locator("#error")).to_contain_text("Give at least two labels.")
    assert stub.asked == []


def test_a_label_that_stands_twice(page: Page, stub: Stub) -> None:
    page.get_by_role("tab", name="Classify").click()
    page.get_by_label("Labels, one a line").fill("one\ntwo\none")
    send(page)
    expect(page.locator("#error")).to_contain_text("“one” stands twice.")
    expect(page.get_by_label("Labels, one a line")).to_be_focused()
    assert stub.asked == []


def test_a_request_that_the_server_refuses(page: Page, stub: Stub) -> None:
    stub.answers({"error": {"message": "The text is 9,000 tokens long."}}, 400, x_request_id="r-1")
    send(page)
    expect(page.locator("#error")).to_contain_text("The server refused the request. (400)")
    expect(page.locator("#error")).to_contain_text("The text is 9,000 tokens long.")
    expect(page.locator("#error")).to_contain_text("Request r-1")
    still_there(page, stub)


@pytest.mark.parametrize(("status", "words"), [(429, "quota is used up"), (503, "The server is busy")])
def test_when_to_try_again(page: Page, stub: Stub, status: int, words: str) -> None:
    stub.answers({"error": {"message": "Later."}}, status, retry_after="2")
    send(page)
    expect(page.locator("#error")).to_contain_text(words)
    expect(page.locator("#error")).to_contain_text("Try again in 2 s.")
    expect(page.locator("#error")).to_contain_text("Try again now.")
    still_there(page, stub)


def test_an_answer_from_something_else(page: Page, stub: Stub) -> None:
    stub.answers("<h1>Welcome</h1>")
    send(page)
    expect(page.locator("#error")).to_contain_text("The server's answer is not one of copydesk's.")
    expect(page.locator("#error")).to_contain_text("<h1>Welcome</h1>")
    still_there(page, stub)


def test_no_server(page: Page, stub: Stub) -> None:
    page.context.set_offline(True)
    send(page)
    expect(page.locator("#error")).to_contain_text("The server cannot be reached.")
    page.context.set_offline(False)
    still_there(page, stub)


@pytest.mark.parametrize("by", ["button", "key"])
def test_a_request_can_be_cancelled(page: Page, stub: Stub, by: str) -> None:
    stub.answers(FINE)
    stub.delay = 20
    send(page)
    expect(page.locator("#status")).to_have_text("Waiting for the answer…")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    if by == "button":
        page.get_by_role("button", name="Cancel").click()
    else:
        page.keyboard.press("Escape")
    expect(page.locator("#status")).to_have_text("Cancelled.")
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
    stub.delay = 0
    still_there(page, stub)
    assert stub.hung_up == 1


def test_an_answer_from_before_stays_and_says_so(page: Page, stub: Stub) -> None:
    stub.answers(FINE)
    send(page)
    answered(page)
    stub.answers({"error": {"message": "No."}}, 500)
    send(page)
    expect(page.locator("#error")).to_contain_text("The server failed. (500)")
    expect(page.get_by_text("This is the answer from before.")).to_be_visible()
    expect(page.locator("mark")).to_have_count(1)
    still_there(page, stub)
    expect(page.get_by_text("This is the answer from before.")).to_be_hidden()
