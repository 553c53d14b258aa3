"""Keys, languages, keyboards, small screens and what outlives a reload."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.asking import answered, send
from browser.stub import KEY, Stub, extracted

FINE = extracted({"specific_location": {"value": "a" * 60, "span": [0, 60], "draft": "corrected"}})


def stored(page: Page, store: str) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(f"Object.fromEntries(Object.entries({store}))")
    return found


def test_a_key_in_the_link_is_taken_and_leaves_the_address_bar(page: Page, stub: Stub) -> None:
    expect(page.locator("#key")).to_have_value(KEY)
    expect(page.locator("#key")).to_have_attribute("type", "password")
    assert page.url == stub.url
    expect(page.locator("#key-note")).to_have_text("Accepted.")
    assert stored(page, "sessionStorage")["copydesk.key"] == KEY
    assert KEY not in str(stored(page, "localStorage"))
    assert page.context.cookies() == []
    page.get_by_label("Show").check()
    expect(page.locator("#key")).to_have_attribute("type", "text")
    page.evaluate("location.hash = 'key=sk-another'")
    expect(page.locator("#key")).to_have_value("sk-another")
    expect(page.locator("#key-note")).to_have_text("The key is missing or wrong.")
    assert page.url == stub.url


def test_models_are_listed_and_the_one_chosen_is_asked(page: Page, stub: Stub) -> None:
    expect(page.get_by_label("Model").locator("option")).to_have_text(
        ["default: copydesk-nano", "copydesk-nano", "other"]
    )
    page.get_by_label("Model").select_option("other")
    stub.answers(FINE)
    send(page, "a" * 60)
    answered(page)
    assert stub.asked[0]["model"] == "other"


def test_what_was_typed_outlives_a_reload_but_not_the_tab(page: Page, stub: Stub) -> None:
    page.get_by_label("Text", exact=True).fill("kept 𠮷")
    page.get_by_label("Name of field city").fill("town")
    page.get_by_label("Model").select_option("other")
    page.get_by_role("tab", name="Classify").click()
    page.get_by_label("Labels, one a line").fill("a\nb")
    page.reload()
    expect(page.get_by_role("tab", name="Classify")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("Labels, one a line")).to_have_value("a\nb")
    expect(page.get_by_label("Model")).to_have_value("other")
    page.get_by_role("tab", name="Extract").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value("kept 𠮷")
    expect(page.get_by_label("Name of field town")).to_be_visible()
    expect(page.locator("#key")).to_have_value(KEY)
    other = page.context.new_page()
    other.goto(stub.url)
    expect(other.locator("#key")).to_have_value("")
    assert "kept" not in other.get_by_label("Text", exact=True).input_value()


@pytest.mark.context(locale="zh-CN")
def test_it_speaks_the_browsers_language_until_told_otherwise(page: Page, stub: Stub) -> None:
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    stub.answers(FINE)
    page.locator("#text").fill("a" * 60)
    page.get_by_role("button", name="发送").click()
    expect(page.locator("#values")).to_contain_text("已更正")
    page.get_by_label("语言").select_option("en")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("#values")).to_contain_text("corrected")
    expect(page.locator("#status")).to_contain_text("Answered in")
    page.reload()
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_chinese_leaves_nothing_in_english(page: Page, stub: Stub) -> None:
    stub.answers(FINE)
    send(page, "a" * 60)
    answered(page)
    page.get_by_label("Language").select_option("zh")
    said = page.locator("[data-say]").evaluate_all("nodes => nodes.map(node => node.textContent)")
    english = {"English", "JSON Schema"}
    assert [text for text in said if text and text.isascii() and text not in english] == []


def test_everything_works_by_keyboard(page: Page, stub: Stub) -> None:
    stub.answers(FINE)
    page.locator("#text").focus()
    page.keyboard.press("Control+Enter")
    answered(page)
    page.get_by_role("tab", name="Extract").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Classify")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Classify")).to_be_visible()
    expect(page.get_by_role("tabpanel", name="Extract")).to_be_hidden()
    for key in ("Home", "End", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_role("tab", name="Extract")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#text")).to_be_focused()
    outline = page.locator("#text").evaluate("node => getComputedStyle(node).outlineStyle")
    assert outline == "solid"


def test_every_control_has_a_name(page: Page, stub: Stub) -> None:
    stub.answers(FINE)
    send(page, "a" * 60)
    answered(page)
    page.locator("#schema-json summary").click()
    controls = page.locator("input, select, textarea, button, summary").all()
    assert len(controls) > 30
    for control in controls:
        if control.is_visible():
            name = control.evaluate(
                "node => node.getAttribute('aria-label') || [...(node.labels ?? [])].map(l => l.textContent).join('') "
                "|| node.textContent"
            )
            assert name.strip(), control.evaluate("node => node.outerHTML")


def test_a_sample_can_be_undone(page: Page) -> None:
    page.get_by_label("Text", exact=True).fill("mine")
    page.get_by_role("button", name="messy").click()
    expect(page.get_by_label("Text", exact=True)).not_to_have_value("mine")
    page.keyboard.press("Control+Z")
    expect(page.get_by_label("Text", exact=True)).to_have_value("mine")


@pytest.mark.context(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
def test_a_phone_scrolls_in_one_direction_and_brings_the_answer_into_sight(page: Page, stub: Stub) -> None:
    answer: dict[str, Any] = extracted(
        {"x" * 300: {"value": "y" * 300, "span": [0, 60]}, "b": {"value": "", "span": None}}, model="m" * 100
    )
    stub.answers(answer)
    send(page, "a" * 400)
    answered(page)
    for view in ("#raw", "#curl", "#schema-json"):
        page.locator(f"{view} summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#text").focus()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#result-title")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(page: Page, stub: Stub, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    fields = {f"f{number}": {"value": "a", "span": [number, number + 1]} for number in range(8)}
    stub.answers(extracted(fields, verified=False))
    send(page, "abcdefgh")
    answered(page)
    contrasts = page.evaluate(_CONTRASTS)
    assert len(contrasts) > 60
    poor = {text: contrast for text, contrast in contrasts if contrast < 4.5}
    assert poor == {}


_CONTRASTS = """() => {
  const numbers = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = numbers(getComputedStyle(node).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim()).join("");
    if (!own || !node.checkVisibility() || node.closest("option, .unseen")) continue;
    const [one, other] = [light(numbers(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
    found.push([own, (one + 0.05) / (other + 0.05)]);
  }
  return found;
}"""
