"""From written tokens to fields."""

from __future__ import annotations

import pytest

from copydesk.desk.answer import fields, parsed
from copydesk.types import Span

PIECES = ['{"', "city", '":', ' "', "天", "津", '",', ' "', "n", '":', " ", "1", "2", "}"]
TEXT = "".join(PIECES)


def as_it_is(name: str, probability: float) -> float:
    return probability


def confidences(probabilities: dict[int, float]) -> dict[str, float]:
    found = fields(TEXT, [piece.encode() for piece in PIECES], probabilities, "天津 12", as_it_is, {})
    return {name: field.confidence for name, field in found.items()}


def test_a_confidence_is_the_product_over_the_open_tokens_of_the_value() -> None:
    probabilities = {3: 0.5, 4: 0.8, 6: 0.9, 11: 0.7, 12: 0.6}
    assert confidences(probabilities) == {"city": pytest.approx(0.36), "n": pytest.approx(0.42)}


def test_the_token_that_ends_a_value_counts_and_those_around_it_do_not() -> None:
    assert confidences({6: 0.5}) == {"city": 0.5, "n": 1.0}
    assert confidences({13: 0.5}) == {"city": 1.0, "n": 0.5}
    assert confidences({1: 0.1, 2: 0.1, 7: 0.1, 8: 0.1, 9: 0.1, 10: 0.1}) == {"city": 1.0, "n": 1.0}


def test_fields_say_where_they_come_from() -> None:
    found = fields(TEXT, [piece.encode() for piece in PIECES], {}, "天津 12", as_it_is, {})
    assert found["city"].spans == (Span(0, 2),)
    assert found["n"].match == "exact"
    assert parsed(TEXT) == {"city": "天津", "n": 12}


def test_tokens_may_divide_characters() -> None:
    text = '{"c": "天"}'
    pieces = [bytes([byte]) for byte in text.encode()]
    found = fields(text, pieces, {7: 0.5, 8: 0.5, 9: 0.5}, "天", as_it_is, {})
    assert found["c"].confidence == pytest.approx(0.125)


def test_a_confidence_is_calibrated_by_its_field() -> None:
    pieces = [piece.encode() for piece in PIECES]
    found = fields(TEXT, pieces, {3: 0.5, 11: 0.7}, "", lambda name, probability: len(name) + probability, {})
    assert {name: field.confidence for name, field in found.items()} == {"city": 4.5, "n": 1.7}


def test_fields_say_what_became_of_their_drafts() -> None:
    pieces = [piece.encode() for piece in PIECES]

    def fates(drafted: dict[int, bool]) -> list[str | None]:
        found = fields(TEXT, pieces, {3: 0.5, 4: 0.8, 11: 0.7}, "", as_it_is, drafted)
        return [field.draft for field in found.values()]

    assert fates({}) == [None, None]
    assert fates({3: True, 4: True, 11: False}) == ["kept", "corrected"]
    assert fates({3: True, 11: True}) == [None, "kept"]
