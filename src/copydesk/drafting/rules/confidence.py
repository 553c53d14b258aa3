"""How sure the rules are of a value: shares of right ones, on lines of the address generator and on other people's.

Measured in classes of what was found and how; where fewer than nine in ten were right, the class says 0: cannot tell.
Knows nothing of texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from copydesk.drafting.rules.layout import Layout
from copydesk.drafting.rules.names import Name
from copydesk.drafting.rules.numbers import Number, Sort
from copydesk.drafting.rules.wordings import Kind
from copydesk.types import Span


def of_division(layout: Layout, level: int, value: str, written: bool) -> float:
    """`level` is 0 to 2 from the province down; `written`: the full name stands in the text."""
    chain = layout.chain
    if chain is None:
        return 0.93
    if not value:
        return (0.99, 0.91, 0.955)[level]
    if level < 2:
        return 0.995
    if chain.zone is not None:
        return 0.97
    return 0.995 if written else 0.97


def of_phone(layout: Layout, phone: Number | None) -> float:
    if phone is None:
        return 0.99
    if layout.labels.get(phone.start) is Kind.PHONE or phone.sort in (Sort.MOBILE, Sort.MASKED, Sort.ELEVEN):
        return 0.99
    return 0.97


def of_name(layout: Layout, name: Name | None) -> float:
    if name is None:
        return 0.0 if layout.has_phone else 0.98
    if name.how == "label":
        return 0.99 if name.score >= 0 else 0.97 if name.score > -60 else 0.9
    if name.how == "piece":
        return 0.99 if name.score >= 80 else 0.97 if name.score >= 40 else 0.0
    if name.how == "tail":
        return 0.98 if name.score < 0 else 0.9
    return 0.9


def of_location(layout: Layout, spans: Sequence[Span], name: Name | None) -> float:
    if not spans:
        return 0.95
    chain = layout.chain
    if chain is None:
        return 0.0
    if not chain.places[0].city:
        return 0.9
    if name is None:
        inner = any(layout.pieces(span.start, span.end)[1:] for span in spans)
        return 0.0 if inner else 0.96
    return 0.97 if name.how == "tail" else 0.985
