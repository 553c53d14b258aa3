"""How the page shows answers."""

from __future__ import annotations

import json
import subprocess

from playwright.sync_api import Page, expect

from browser.asking import answered, marks, rows, send
from browser.stub import KEY, Stub, classified, extracted

RARE = "📦𠮷祥苑2幢 𠀾小龙 👨‍👩‍👧 13800000000"


def test_values_stand_where_they_are_in_code_points(page: Page, stub: Stub) -> None:
    place, name, phone = (RARE.index(value) for value in ("𠮷祥苑2幢", "𠀾小龙", "13800000000"))
    stub.answers(
        extracted(
            {
                "place": {"value": "𠮷祥苑2幢", "span": [place, place + 5], "draft": "kept"},
                "name": {"value": "𠀾小龙", "span": [name, name + 3], "draft": "corrected"},
                "phone": {"value": "13800000000", "span": [phone, phone + 11]},
            }
        )
    )
    send(page, RARE)
    answered(page)
    assert stub.asked[0]["text"] == RARE
    assert marks(page) == [("place", "𠮷祥苑2幢"), ("name", "𠀾小龙"), ("phone", "13800000000")]
    expect(page.locator("#marked")).to_have_text(RARE)
    expect(page.locator("mark").nth(0)).to_have_class("kept")
    expect(page.locator("mark").nth(1)).to_have_class("corrected")
    expect(page.locator("mark").nth(2)).to_have_class("")


def test_several_runs_and_places_that_fields_share(page: Page, stub: Stub) -> None:
    stub.answers(
        extracted(
            {
                "province": {"value": "天津市", "span": [0, 3]},
                "city": {"value": "津市河区", "span": [[1, 4], [5, 6]]},
                "none": {"value": "", "span": None, "match": "inferred"},
            }
        )
    )
    send(page, "天津市河西区")
    answered(page)
    assert marks(page) == [("province", "天"), ("province, city", "津市"), ("city", "河"), ("city", "区")]
    background = page.locator("mark").nth(1).evaluate("node => getComputedStyle(node).backgroundImage")
    assert background.startswith("linear-gradient")


def test_values_are_listed_with_how_they_came_about(page: Page, stub: Stub) -> None:
    stub.answers(
        extracted(
            {
                "city": {"value": "长沙市", "span": None, "match": "inferred", "confidence": 0.5, "draft": "corrected"},
                "count": {"value": 3, "span": [0, 1], "match": "normalized", "draft": "kept"},
                "items": {"value": ["a", "b"], "span": None},
            }
        )
        | {
            "fields": {
                "city": {"span": None, "match": "inferred", "confidence": 0.5, "draft": "corrected"},
                "count": {"span": [0, 1], "match": "normalized", "confidence": 0.99, "draft": "kept"},
                "items[0]": {"span": [1, 2], "match": "exact", "confidence": 1.0},
                "items[1]": {"span": None, "match": "inferred", "confidence": 1e-9},
            }
        }
    )
    send(page, "3a")
    answered(page)
    assert rows(page) == [
        ["city", "长沙市", "inferred", "corrected", "50.0 %"],
        ["count", "3", "normalized", "as drafted", "99.0 %"],
        ["items[0]", "a", "exact", "by the model", "100.0 %"],
        ["items[1]", "b", "inferred", "by the model", "1.0e-7 %"],
    ]
    widths = page.locator(".bar > span").evaluate_all("bars => bars.map(bar => bar.style.width)")
    assert widths[:2] == ["50%", "99%"]
    unsure = page.locator(".unsure .number").all_inner_texts()
    assert unsure == ["50.0 %", "1.0e-7 %"]
    facts = page.locator("#facts").inner_text()
    for fact in ("rules", "93.8 %", "101 read (62 cached), 65 written", "38.1 ms", "copydesk-nano · openvino"):
        assert fact in facts
    expect(page.locator(".badge")).to_have_text("Verified by the model")


def test_a_row_pointed_at_shows_where_its_value_stands(page: Page, stub: Stub) -> None:
    stub.answers(extracted({"a": {"value": "x", "span": [0, 1]}, "b": {"value": "y", "span": [1, 2]}}))
    send(page, "xy")
    answered(page)
    page.locator("#values tbody tr").nth(1).focus()
    expect(page.locator("mark.lit")).to_have_text("y")
    page.locator("mark").first.hover()
    expect(page.locator("tr.lit th")).to_have_text("a")


def test_an_answer_that_no_model_verified_says_so(page: Page, stub: Stub) -> None:
    stub.answers(extracted({"city": {"value": "a", "span": [0, 1]}}, verified=False, truncated=True, accepted=None))
    send(page, "abc")
    answered(page)
    expect(page.locator(".badge")).to_have_text("Not verified by a model")
    expect(page.locator(".verdict")).to_contain_text("this is the draft itself")
    expect(page.locator(".verdict")).to_contain_text("The text was cut")


def test_labels_have_bars(page: Page, stub: Stub) -> None:
    page.get_by_role("tab", name="Classify").click()
    page.get_by_label("Labels, one a line").fill("yes\nno, <never>\n")
    stub.answers(classified({"yes": 0.25, "no, <never>": 0.75}, label_mass=0.4))
    send(page, "Well?")
    answered(page)
    assert stub.asked == [{"text": "Well?", "labels": ["yes", "no, <never>"], "details": True}]
    assert rows(page) == [["yes", "25.0 %"], ["no, <never>", "75.0 %"]]
    expect(page.locator(".chosen-label")).to_have_text("no, <never>")
    expect(page.locator("#facts")).to_contain_text("mass of the labels40.0 %")
    expect(page.locator("#facts")).to_contain_text("nothing drafted")


def test_what_an_engine_does_not_tell_is_not_made_up(page: Page, stub: Stub) -> None:
    stub.answers(
        extracted({"a": {"value": "x", "span": [0, 1], "confidence": None}}, confidence=None, passes=0, accepted=None)
    )
    send(page, "x")
    answered(page)
    assert rows(page) == [["a", "x", "exact", "by the model", "not told"]]
    assert "passes" not in page.locator("#facts").inner_text()
    page.get_by_role("tab", name="Classify").click()
    stub.answers(extracted({}, value="Sports", confidence=None))
    send(page)
    answered(page)
    expect(page.locator(".chosen-label")).to_have_text("Sports")
    assert rows(page) == []


def test_an_answer_without_a_label_says_so(page: Page, stub: Stub) -> None:
    page.get_by_role("tab", name="Classify").click()
    stub.answers(classified({"World": 0.4, "Sports": 0.6}, value=None, abstained=True, label_mass=None))
    send(page)
    answered(page)
    expect(page.locator("#answer")).to_contain_text("No label: the model is not sure enough of any.")
    assert rows(page) == [["World", "40.0 %"], ["Sports", "60.0 %"]]


def test_whatever_a_text_or_a_name_holds_it_is_text(page: Page, stub: Stub) -> None:
    attack = '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">'
    schema = {"type": "object", "properties": {attack: {"type": "string"}, "__proto__": {"type": "string"}}}
    page.locator("#schema-json summary").click()
    page.get_by_label("As JSON Schema").fill(json.dumps(schema))
    fields = {attack: {"value": attack, "span": [0, len(attack)]}, "__proto__": {"value": "x", "span": None}}
    stub.answers(extracted(fields, model=attack, draft=attack), x_request_id=attack)
    send(page, attack)
    answered(page)
    assert marks(page) == [(attack, attack)]
    assert [row[:2] for row in rows(page)] == [[attack, attack], ["__proto__", "x"]]
    stub.answers({"error": {"message": attack}}, 400, x_request_id=attack)
    send(page)
    expect(page.locator("#error")).to_contain_text(attack)
    assert page.locator("script, img").count() == 1  # the page's own script
    assert page.title() == "copydesk"


def test_the_raw_answer_and_the_command_can_be_copied(page: Page, stub: Stub) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = extracted({"city": {"value": "𠮷", "span": [0, 1]}})
    stub.answers(answer)
    send(page, '𠮷\'s "text"\n$HOME `id`')
    answered(page)

    def copied(view: str) -> str:
        page.locator(f"#{view} summary").click()
        page.locator(f"#{view}").get_by_role("button", name="Copy").click()
        expect(page.locator(f"#{view}")).to_contain_text("Copied.")
        return str(page.evaluate("navigator.clipboard.readText()"))

    assert json.loads(copied("raw")) == answer
    command = copied("curl")
    assert KEY not in page.locator("#curl").inner_text()
    printed = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == answer
    assert stub.bodies[0] == stub.bodies[1]


def test_copying_works_without_a_secure_context(page: Page, stub: Stub) -> None:
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    stub.answers(extracted({"city": {"value": "a", "span": None}}))
    send(page, "a")
    answered(page)
    page.locator("#raw summary").click()
    page.locator("#raw").get_by_role("button", name="Copy").click()
    expect(page.locator("#raw")).to_contain_text("Copied.")
    page.get_by_label("Text", exact=True).fill("")
    page.keyboard.press("Control+V")
    assert json.loads(page.get_by_label("Text", exact=True).input_value())["value"] == {"city": "a"}
