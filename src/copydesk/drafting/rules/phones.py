"""Which of a text's numbers is the recipient's phone. Knows their forms and labels only."""

from __future__ import annotations

from copydesk.drafting.rules.layout import Layout
from copydesk.drafting.rules.numbers import PHONES, Number, Sort
from copydesk.drafting.rules.wordings import Kind


def find(layout: Layout) -> Number | None:
    """The first number that is a phone by its form or its label, else the least unlikely one, or None."""
    best: Number | None = None
    least = 0
    for number in layout.numbers:
        score = _likelihood(layout, number)
        if score > least:
            best, least = number, score
    return best


def _likelihood(layout: Layout, number: Number) -> int:
    if number.sort not in PHONES:
        return 0
    label = layout.labels.get(number.start)
    if label is Kind.SPARE:
        return 1
    if label is Kind.PHONE or number.sort < Sort.ODD:
        return 4
    if number.sort is Sort.ODD:
        return 3
    return 2 if number.start in layout.edges or number.end == len(layout.plain) else 0
