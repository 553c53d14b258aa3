"""The schema editor: two views of one schema."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Locator, Page, expect

from browser.asking import answered, send
from browser.stub import Stub, extracted
from copydesk.tasks.builtin import ADDRESS


def schema(page: Page) -> Any:
    return json.loads(page.locator("#schema").input_value())


def field_row(page: Page, number: int) -> Locator:
    return page.locator("#fields tbody tr").nth(number)


def test_it_starts_as_the_address_task_and_sends_it(page: Page, stub: Stub) -> None:
    assert ADDRESS.schema is not None
    assert schema(page) == ADDRESS.schema.json
    stub.answers(extracted({"city": {"value": "", "span": None}}))
    send(page, "a")
    answered(page)
    assert stub.asked == [{"text": "a", "schema": ADDRESS.schema.json, "details": True}]


def test_the_table_writes_the_json(page: Page) -> None:
    page.get_by_role("button", name="Add a field").click()
    page.keyboard.type("total")  # the new field's name is selected
    page.get_by_label("Type of field total").select_option("number")
    page.get_by_label("Description of field total").fill("with tax")
    page.get_by_label("total is required").uncheck()
    page.get_by_label("Name of field city").fill("town")
    page.get_by_role("button", name="Remove phone").click()
    expect(page.get_by_role("button", name="Remove total")).to_be_focused()
    made = schema(page)
    assert list(made["properties"]) == ["province", "town", "district", "specific_location", "name", "total"]
    assert made["properties"]["total"] == {"type": "number", "description": "with tax"}
    assert made["required"] == ["province", "town", "district", "specific_location", "name"]


def test_a_name_that_cannot_be_is_refused_and_kept_in_sight(page: Page) -> None:
    field = page.get_by_label("Name of field city")
    field.fill("phone")
    expect(page.locator("#fields-note")).to_have_text("There is a field of this name.")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert "city" in schema(page)["properties"]
    field.fill("phone_2")
    expect(page.locator("#fields-note")).to_have_text("")
    assert "phone_2" in schema(page)["properties"]


def test_the_json_writes_the_table(page: Page) -> None:
    page.locator("#schema-json summary").click()
    area = page.get_by_label("As JSON Schema")
    area.fill('{"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "o": {}}}')
    expect(page.locator("#fields tbody tr")).to_have_count(2)
    expect(page.get_by_label("Type of field tags")).to_have_value("strings")
    expect(page.get_by_label("Type of field o")).to_have_value("other")
    expect(page.locator("#schema-note")).to_have_text("Valid.")
    expect(page.locator("#schema-untrained")).to_contain_text("was trained for addresses")
    page.get_by_label("Model").select_option("other")
    expect(page.locator("#schema-untrained")).to_have_text("")


def test_what_is_no_json_is_not_sent(page: Page, stub: Stub) -> None:
    page.locator("#schema-json summary").click()
    area = page.get_by_label("As JSON Schema")
    area.fill('{"type": "object",\n "properties" {}}')
    expect(page.locator("#schema-note")).to_contain_text("Not JSON")
    expect(page.locator("#schema-note")).to_contain_text("line 2 column 15")
    expect(area).to_have_attribute("aria-invalid", "true")
    page.locator("#schema-json summary").click()
    send(page, "a")
    expect(page.locator("#error")).to_contain_text("Mend the schema first.")
    assert stub.asked == []
    page.get_by_role("button", name="Back to address").click()
    expect(page.locator("#fields tbody tr")).to_have_count(6)
    assert ADDRESS.schema is not None
    assert schema(page) == ADDRESS.schema.json


def test_the_json_is_sent_as_it_was_typed(page: Page, stub: Stub) -> None:
    page.locator("#schema-json summary").click()
    typed = '{"type":"object","properties":{"b":{"type":"string"},"2":{"type":"string"}}}'
    page.get_by_label("As JSON Schema").fill(typed)
    stub.answers(extracted({"b": {"value": "", "span": None}}))
    send(page, "a")
    answered(page)
    assert typed in stub.bodies[0]
