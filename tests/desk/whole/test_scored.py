"""What the probabilities of tokens say of fields and labels."""

from __future__ import annotations

import math

import pytest

from copydesk.desk.whole.scored import NOTHING, label_logprobs, scored_fields, text_probability
from copydesk.types import Span, TokenLogprob

TEXT = '{"city": "长沙市", "n": 12}'


def scored(*tokens: tuple[str | bytes, float]) -> list[TokenLogprob]:
    return [
        TokenLogprob(text if isinstance(text, bytes) else text.encode(), math.log(probability))
        for text, probability in tokens
    ]


def test_a_field_is_as_sure_as_its_tokens() -> None:
    tokens = scored(
        ('{"city', 0.5),
        ('": "', 0.5),
        ("长沙", 0.8),
        ("市", 0.9),
        ('", "', 0.95),
        ('n": ', 0.5),
        ("12", 0.7),
        ("}", 0.6),
    )
    fields, confidence = scored_fields(TEXT, tokens, "在长沙市")
    assert fields["city"].spans == (Span(1, 4),)
    assert fields["city"].confidence == pytest.approx(0.8 * 0.9 * 0.95)  # the end of a string is its own choice
    assert fields["n"].confidence == pytest.approx(0.7 * 0.6)  # and so is that of a number
    assert fields["n"].match == "inferred"
    assert confidence == pytest.approx(0.8 * 0.9 * 0.95 * 0.7 * 0.6)


def test_tokens_that_are_parts_of_characters() -> None:
    city = "长沙市".encode()
    tokens = scored(
        ('{"city": "', 0.5), (city[:2], 0.9), (city[2:], 0.8), ('", "n": ', 1.0), ("12}", 0.5), ("<end>", 0.1)
    )
    fields, confidence = scored_fields(TEXT, tokens, "")
    assert fields["city"].confidence == pytest.approx(0.72)
    assert confidence == pytest.approx(0.36)


@pytest.mark.parametrize("tokens", [[], scored(('{"city": "长', 0.5)), scored((TEXT.replace("长", "\ufffd"), 0.5))])
def test_tokens_that_do_not_make_up_the_text_say_nothing(tokens: list[TokenLogprob]) -> None:
    fields, confidence = scored_fields(TEXT, tokens, "长沙市")
    assert confidence is None
    assert [field.confidence for field in fields.values()] == [None, None]
    assert fields["city"].match == "exact"


def test_another_layout() -> None:
    text = '{\n "city" : "a",\n "list": [ ]\n}'
    fields, confidence = scored_fields(text, scored(*((character, 0.9) for character in text)), "a")
    assert fields["city"].confidence == pytest.approx(0.9**2)
    assert fields["list"].confidence == pytest.approx(0.9**3)
    assert confidence == pytest.approx(0.9**5)


def first(*top: tuple[str, float]) -> list[TokenLogprob]:
    return [TokenLogprob(b"x", -1.0, tuple((text.encode(), math.log(probability)) for text, probability in top))]


def test_labels_by_their_first_tokens() -> None:
    found = label_logprobs(["World", "Sports", "体育"], first((" Wor", 0.5), ("W", 0.1), ("体", 0.2), ("The", 0.1)))
    assert found == [pytest.approx(math.log(0.6)), NOTHING, pytest.approx(math.log(0.2))]


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        [TokenLogprob(b"World", -0.1)],
        first(("The", 0.9), ("\n", 0.05)),
        first(("Sp", 0.9), ("World", 0.1)),
        first(("Sport", 0.5), ("World", 0.4)),
    ],
)
def test_tokens_that_do_not_tell_the_labels_apart(tokens: list[TokenLogprob]) -> None:
    assert label_logprobs(["World", "Sports", "Sport"], tokens) is None


def test_an_improbable_token_that_begins_several_labels_is_no_matter() -> None:
    assert label_logprobs(["World", "Sports", "Sport"], first(("World", 0.9), ("S", 1e-6))) is not None


def test_a_text() -> None:
    assert text_probability("ab", scored(("a", 0.5), ("b", 0.4), ("<end>", 0.1))) == pytest.approx(0.2)
    assert text_probability("ab", []) is None
    assert text_probability("", scored(("a", 0.5))) is None
