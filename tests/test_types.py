from __future__ import annotations

from pydantic import BaseModel
from pydantic import Field as PydanticField

from copydesk.types import Answer, Failure, Field, Span, Usage


def answer(value: object, **changes: object) -> Answer[object]:
    fields = {"name": Field((Span(0, 2),), "exact", 0.9)}
    plain: dict[str, object] = {
        "value": value,
        "fields": fields,
        "confidence": 0.9,
        "verified": True,
        "draft": None,
        "accepted": None,
        "passes": 3,
        "model": "m",
        "engine": "e",
        "usage": Usage(10, 4, 6),
        "ms": 1.5,
    }
    return Answer(**(plain | changes))  # type: ignore[arg-type]


def test_an_answer_as_details_print_it() -> None:
    printed = answer({"name": "江雨"}).to_dict()
    assert printed["value"] == {"name": "江雨"}
    assert printed["fields"] == {"name": {"span": [0, 2], "match": "exact", "confidence": 0.9}}
    assert printed["usage"] == {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 6}
    assert "truncated" not in printed
    assert answer({}, truncated=True).to_dict()["truncated"] is True


def test_labels_stand_in_place_of_fields() -> None:
    printed = answer("World", fields={}, labels={"World": 0.8, "Sports": 0.2}).to_dict()
    assert printed["labels"] == {"World": 0.8, "Sports": 0.2}
    assert "fields" not in printed


def test_a_pydantic_value_is_dumped_by_alias() -> None:
    class Thing(BaseModel):
        kind: str = PydanticField(alias="type")

    assert answer(Thing(type="box")).to_dict()["value"] == {"type": "box"}


def test_spans_are_one_several_or_none() -> None:
    assert Field((), "inferred", 0.5).to_dict()["span"] is None
    assert Field((Span(0, 2), Span(4, 5)), "exact", 0.5).to_dict()["span"] == [[0, 2], [4, 5]]


def test_a_field_says_what_became_of_its_draft_if_it_had_one() -> None:
    assert Field((), "inferred", 0.5, "corrected").to_dict()["draft"] == "corrected"
    assert "draft" not in Field((), "inferred", 0.5).to_dict()


def test_a_failure_is_an_error_object() -> None:
    assert Failure("too_long", "Shorten it.").to_dict() == {"error": {"code": "too_long", "message": "Shorten it."}}
