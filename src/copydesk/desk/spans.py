"""Where in their source text the values of an answer stand: as they are, up to width, case, script and spaces, or not.

A value that stands at several places is meant at the one near the values beside it in the answer. Knows nothing of
models or of JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from copydesk.drafting.comparing import compared
from copydesk.drafting.readings import Reading
from copydesk.types import Match, Span

Spans = tuple[Span, ...]
Found = tuple[Spans, Match]

_MOST_PLACES = 64
"""Places of one value that are looked at."""
_MOST_RUNS = 4
_SHORTEST_RUN = 2
"""Characters of each run where a value is put together from several, so that no word is pieced from letters."""
_SHORTENED = 8
"""How much shorter than the longest possible a run is tried, to make the next one fit."""
_SHARED = 8
"""Characters of distance that two fields with the same value rather have than one place; more, and they share it."""
_WITHIN_WORD = 16
_WITHIN_OTHER = 10**6
"""In the same measure, what speaks against a part of a word, and against a part of another field's value."""


def locate(text: str, values: Sequence[Any]) -> list[Found]:
    """For each value of an answer, in its order, the spans where it stands and how it matches there.

    No spans if it stands nowhere, as `""`, `true` and `null` do.
    """
    source = _Source(text)
    candidates = [source.candidates(value) for value in values]
    chosen: list[Span | None] = [None] * len(values)
    for index, candidate in enumerate(candidates):
        if len(candidate.places) == 1:
            chosen[index] = candidate.places[0]
    waiting = {index for index, candidate in enumerate(candidates) if len(candidate.places) > 1}
    while waiting:
        index = min(waiting, key=lambda index: (_to_chosen(index, chosen), index))
        waiting.remove(index)
        chosen[index] = source.nearest(index, candidates[index].places, values, chosen)
    return [
        ((span,) if span else candidate.runs, candidate.match)
        for span, candidate in zip(chosen, candidates, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Where a value stands as a whole, or else the runs that it is put together from."""

    match: Match
    places: Sequence[Span] = ()
    runs: Spans = ()


class _Source:
    def __init__(self, text: str) -> None:
        self._text = text
        self._exact = Reading(text, range(len(text)))

    @cached_property
    def _compared(self) -> Reading:
        return compared(self._text)

    def candidates(self, value: Any) -> _Candidates:
        """The places of a value: those where it stands as it is, else those where it stands otherwise written."""
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            return _Candidates("inferred")
        written = value if isinstance(value, str) else str(value)
        whole = not isinstance(value, str)
        places = _places(self._exact, written, whole)
        if places:
            return _Candidates("exact", places)
        wanted = compared(written).text
        places = _places(self._compared, wanted, whole)
        if places:
            return _Candidates("normalized", places)
        runs = () if whole else tuple(_runs(self._compared, wanted, 0, _MOST_RUNS) or ())
        if not runs:
            return _Candidates("inferred")
        joined = "".join(self._text[span.start : span.end] for span in runs)
        return _Candidates("exact" if joined == written else "normalized", runs=runs)

    def nearest(self, index: int, places: Sequence[Span], values: Sequence[Any], chosen: Sequence[Span | None]) -> Span:
        """The place that suits best what is chosen already; the first of equals."""
        before = next((span for span in reversed(chosen[:index]) if span), None)
        after = next((span for span in chosen[index + 1 :] if span), None)
        taken = [(span, value) for span, value in zip(chosen, values, strict=True) if span]

        def cost(place: Span) -> int:
            distances = [max(0, place.start - before.end, before.start - place.end)] if before else []
            distances += [max(0, after.start - place.end, place.start - after.end)] if after else []
            against = min(distances, default=0) + _WITHIN_WORD * _is_within_word(self._text, place)
            for span, value in taken:
                if place.start < span.end and span.start < place.end:
                    against += _SHARED if value == values[index] else _WITHIN_OTHER
            return against

        return min(places, key=cost)


def _to_chosen(index: int, chosen: Sequence[Span | None]) -> int:
    """How many fields away the nearest one is whose place is chosen."""
    return min((abs(index - other) for other, span in enumerate(chosen) if span), default=0)


def _places(reading: Reading, value: str, whole: bool) -> list[Span]:
    """Where a value stands; a `whole` number is no part of a longer one."""
    places: list[Span] = []
    place = reading.text.find(value) if value else -1
    while place >= 0 and len(places) < _MOST_PLACES:
        if not whole or not _is_within_number(reading.text, place, place + len(value)):
            places.append(reading.span(place, place + len(value)))
        place = reading.text.find(value, place + 1)
    return places


def _runs(reading: Reading, value: str, start: int, most: int) -> list[Span] | None:
    """The few long parts of a text, in order, that make up a value; None if there are none."""
    if not value:
        return []
    if most == 0 or len(value) < _SHORTEST_RUN:
        return None
    for length, place in _beginnings(reading.text, value, start):
        rest = _runs(reading, value[length:], place + length, most - 1)
        if rest is not None:
            return [reading.span(place, place + length), *rest]
    return None


def _beginnings(text: str, value: str, start: int) -> Iterator[tuple[int, int]]:
    """Beginnings of a value that stand after `start`, the longest first: their lengths and first places."""
    low, high = _SHORTEST_RUN - 1, len(value)
    while low < high:  # a beginning stands wherever a longer one does
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text.find(value[:middle], start) >= 0 else (low, middle - 1)
    for length in range(low, max(_SHORTEST_RUN, low - _SHORTENED) - 1, -1):
        yield length, text.find(value[:length], start)


def _is_within_number(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start].isdigit() or text[end : end + 1].isdigit()


def _is_within_word(text: str, place: Span) -> bool:
    """Whether a place begins or ends within a word of letters, or within a number."""
    return any(
        before.isascii()
        and after.isascii()
        and before.isalnum()
        and after.isalnum()
        and before.isdigit() == after.isdigit()
        for before, after in (
            (text[place.start - 1 : place.start], text[place.start : place.start + 1]),
            (text[place.end - 1 : place.end], text[place.end : place.end + 1]),
        )
    )
