from __future__ import annotations

import itertools
import json
import random
import unicodedata

from copydesk.training.addresses.lines import FIELDS, draw_line, examples
from copydesk.training.addresses.material import Material


def plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace(" ", "")


def test_same_seed_same_lines(material: Material) -> None:
    first = list(itertools.islice(examples(random.Random(3), material), 200))
    second = list(itertools.islice(examples(random.Random(3), material), 200))
    assert first == second


def test_name_and_phone_are_runs_of_the_text(material: Material) -> None:
    rng = random.Random(11)
    for _ in range(5000):
        text, expected = draw_line(material, rng)
        assert tuple(expected) == FIELDS
        for field in ("name", "phone"):
            assert plain(expected[field]) in plain(text), (text, expected)


def test_every_kind_of_trouble_is_drawn(material: Material) -> None:
    rng = random.Random(2)
    lines = [draw_line(material, rng) for _ in range(6000)]
    texts = [text for text, _ in lines]
    assert any("\n" in text for text in texts)
    assert any("·" in expected["name"] for _, expected in lines)
    assert any("*" in expected["phone"] for _, expected in lines)
    assert any("转" in expected["phone"] for _, expected in lines)
    assert any(not any(expected.values()) for _, expected in lines)
    assert any("邮编" in text for text in texts)
    assert any("長" in text for text in texts)
    assert any(unicodedata.normalize("NFKC", text) != text and "１" in text for text in texts)


def test_answers_hold_the_wanted_fields_in_their_order(material: Material) -> None:
    seen = set()
    for example in itertools.islice(examples(random.Random(4), material), 800):
        answer = json.loads(example.answer)
        assert example.task.schema is not None
        assert list(answer) == list(example.task.schema.json["properties"])
        seen.add(tuple(answer))
    assert FIELDS in seen
    assert len(seen) > 20
