"""The address rules: a whole answer from a text, without a model.

    >>> dict(draft("湖南长沙岳麓区桃花岭路189号江雨桐13800138000", ("city", "name")).values)
    {'city': '长沙市', 'name': '江雨桐'}

Knows the six fields of the address task; how the parts look is known elsewhere in this folder.
"""

from __future__ import annotations

from collections.abc import Sequence

from copydesk.drafting.rules import confidence, location, names, phones
from copydesk.drafting.rules.answer import RuleAnswer
from copydesk.drafting.rules.folding import fold, half_width
from copydesk.drafting.rules.layout import lay_out
from copydesk.drafting.rules.regions import Region, region
from copydesk.types import Field, Span

_DIVISIONS = ("province", "city", "district")
_PHONE_SIGNS = {ord("－"): "-"}

_Value = tuple[str, Field]


def draft(text: str, fields: Sequence[str]) -> RuleAnswer:
    """Values for `fields`, some of `province`, `city`, `district`, `specific_location`, `name`, `phone`.

    Any text is answered; a field of another name gets `""` with confidence 0. Takes time in proportion to the text.
    """
    found = {field: value for field, value in _values(text).items() if field in fields}
    nothing = ("", Field((), "inferred", 0.0))
    return RuleAnswer(
        {field: found.get(field, nothing)[0] for field in fields},
        {field: found.get(field, nothing)[1] for field in fields},
    )


def _values(text: str) -> dict[str, _Value]:
    """All six."""
    plain = fold(text)
    layout = lay_out(plain)
    divisions = region(layout.chain, plain) if layout.chain is not None else None
    first = location.first_gap(layout)
    name = names.find(layout, first)
    name_spans = (Span(name.start, name.end),) if name is not None else ()
    phone = phones.find(layout)
    phone_spans = (Span(phone.start, phone.end),) if phone is not None else ()
    place = location.find(layout, first, name, divisions)
    values = {}
    for level, field in enumerate(_DIVISIONS):
        value, spans = _division(plain, level, divisions)
        values[field] = _value(text, value, spans, confidence.of_division(layout, level, value, bool(spans)))
    values["specific_location"] = _value(
        text, half_width(_written(text, place)), place, confidence.of_location(layout, place, name)
    )
    values["name"] = _value(text, half_width(_written(text, name_spans)), name_spans, confidence.of_name(layout, name))
    number = "".join(half_width(_written(text, phone_spans)).split()).translate(_PHONE_SIGNS)
    values["phone"] = _value(text, number, phone_spans, confidence.of_phone(layout, phone))
    return values


def _division(plain: str, level: int, found: Region | None) -> tuple[str, tuple[Span, ...]]:
    """A division's full name, and where it stands if it is written out."""
    if found is None:
        return "", ()
    value = (found.province, found.city, found.district)[level]
    span = found.spans[level]
    return value, ((span,) if value and span and plain[span.start : span.end] == fold(value) else ())


def _written(text: str, spans: tuple[Span, ...]) -> str:
    return "".join(text[span.start : span.end] for span in spans)


def _value(text: str, value: str, spans: tuple[Span, ...], sureness: float) -> _Value:
    if not spans:
        return value, Field((), "inferred", sureness)
    return value, Field(spans, "exact" if _written(text, spans) == value else "normalized", sureness)
