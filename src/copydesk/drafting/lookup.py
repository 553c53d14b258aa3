"""The drafter that has learned nothing: continues what is begun from where it stands in the text, and guesses the rest.

A value that is begun goes on as the text does; the next one is sought after the last. Numbers, choices and empty values
are cheap guesses. Knows nothing of the task but the shape of its answers.
"""

from __future__ import annotations

import re

from copydesk.drafting.boundaries import likely_end, next_start
from copydesk.drafting.layout import Guess, write
from copydesk.drafting.readings import Place, Readings
from copydesk.drafting.shape import Leaf, shape_of
from copydesk.drafting.strings import begun_content, content, continued, quoted
from copydesk.types import Draft, Span, Task

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SUFFIXES = (16, 8, 4)
"""Lengths of the end of a value by which it is found where it does not stand as a whole."""
_FORMATS = {
    "email": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "uri": re.compile(r"https?://[^\s\"<>，。]+"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?"),
    "time": re.compile(r"\d\d:\d\d(?::\d\d)?"),
}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+")
_AND = re.compile(r"\s*(?:[,，、;；&/]|and\b|和|及|与|or\b)")


class Lookup:
    """Satisfies `Guesses`; for one answer."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._readings = Readings(text)
        self.place = 0
        """Where in the text the last value ended."""
        self._empty = 0
        """How many more of the strings that stand are empty than are not."""
        self._arrays: dict[str, int] = {}
        """By array, where the last value had ended when another item was asked for."""

    def value(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        """A value that goes on from `begun` as the text does, or one that the text may hold next."""
        guess = self._value(path, leaf, begun)
        if guess is not None:
            self.passed(guess.spans)
        return guess

    def given(self, path: str, text: str) -> None:
        """Go on after a value's place in the text."""
        written = content(text)
        if written is not None:
            self._empty += 1 if written == "" else -1
        place = self._readings.find(text if written is None else written, self.place)
        if place is not None:
            self.place = place.span.end

    def passed(self, spans: tuple[Span, ...]) -> None:
        """Go on after the place of a value that was guessed."""
        if spans:
            self.place = spans[-1].end

    def present(self, path: str) -> bool:
        """Optional parts are there, for most models write them."""
        return True

    def more(self, path: str, index: int) -> bool:
        """The first array has an item, others none; further items stand after a comma or an `and`."""
        before, self._arrays[path] = self._arrays.get(path), self.place
        if index == 0:
            return len(self._arrays) == 1 and bool(self._text.strip())
        return before != self.place and _AND.match(self._text, self.place) is not None

    def _value(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        if leaf.choices:
            return self._choice(leaf.choices, begun)
        if begun.startswith('"') or (not begun and "string" in leaf.kinds):
            return self._string(path, leaf, begun)
        if begun[:1].isdigit() or begun[:1] == "-" or (not begun and leaf.kinds & {"number", "integer"}):
            return self._number(path, leaf, begun)
        words = ("true", "false") if _labelled(self._text, path) else ("false", "true")
        options = (*words, "null") if "boolean" in leaf.kinds else ("null",)
        return next((Guess(option) for option in options if option.startswith(begun)), None)

    def _string(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        written = begun_content(begun)
        if written is None:
            return None
        if written:
            return self._continued(begun, written)
        span = self._labelled_span(path) or self._formatted_span(leaf)
        if span is None and self._empty <= 0:
            span = self._span_from(next_start(self._text, self.place))
        if span is None:
            return Guess("null") if not begun and "null" in leaf.kinds else Guess('""')
        return Guess(quoted(self._text[span.start : span.end]), (span,))

    def _continued(self, begun: str, written: str) -> Guess:
        place = self._find(written)
        if place is None:
            return Guess(begun + '"')
        reading = place.reading
        end = likely_end(reading.text, place.start, place.end - place.start)
        rest = reading.text[place.end : end].rstrip()
        return Guess(continued(begun, rest), (reading.span(place.start, place.end + len(rest)),))

    def _find(self, written: str) -> Place | None:
        """Where a value stands that is begun, or else its end."""
        for length in (len(written), *(length for length in _SUFFIXES if length < len(written))):
            place = self._readings.find(written[-length:], self.place)
            if place is not None:
                return place
        return None

    def _labelled_span(self, path: str) -> Span | None:
        """What stands after a label that is the key's name."""
        label = _labelled(self._text, path)
        return self._span_from(next_start(self._text, label.end())) if label else None

    def _formatted_span(self, leaf: Leaf) -> Span | None:
        found = _FORMATS[leaf.format].search(self._text) if leaf.format in _FORMATS else None
        return Span(*found.span()) if found else None

    def _span_from(self, start: int) -> Span | None:
        end = likely_end(self._text, start, 0)
        end -= len(self._text[start:end]) - len(self._text[start:end].rstrip())
        return Span(start, end) if end > start else None

    def _number(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        label = _labelled(self._text, path)
        for start in (label.end(), 0) if label and not begun else (self.place, 0):
            for found in _NUMBER.finditer(self._text, start):
                number = _as_number(found.group(), whole="number" not in leaf.kinds)
                if number.startswith(begun.removeprefix("-")):
                    return Guess("-" * begun.startswith("-") + number, (Span(*found.span()),))
        if not begun:
            return Guess("null" if "null" in leaf.kinds else "0")
        return Guess(begun) if begun[-1].isdigit() else None

    def _choice(self, choices: tuple[str, ...], begun: str) -> Guess | None:
        """The first choice that the text names, else the first that is possible."""
        fitting = [choice for choice in choices if choice.startswith(begun)]
        text = self._text.casefold()
        named = (choice for choice in fitting if (content(choice) or choice.strip('"')).casefold() in text)
        chosen = next(named, "null" if "null" in fitting else next(iter(fitting), None))
        return None if chosen is None else Guess(chosen)


def draft(task: Task, text: str, so_far: str) -> Draft | None:
    """The whole answer as far as it can be guessed, beginning with `so_far`; None if nothing can be added to that."""
    written = write(shape_of(task), so_far, Lookup(text))
    return None if written is None else Draft(written.text, "lookup", written.spans)


def _labelled(text: str, path: str) -> re.Match[str] | None:
    """A label in the text that names the last key of a path, with what separates it from its value."""
    words = _WORDS.findall(path.rsplit(".", 1)[-1])
    if not words:
        return None
    name = r"[\s_-]*".join(words)
    return re.search(rf"(?<!\w){name}\s*[:：=]\s*", text, re.IGNORECASE)


def _as_number(figures: str, *, whole: bool) -> str:
    """Figures of a text as a JSON number: no commas, no leading zeros; an integer where a `whole` one is wanted."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", figures).replace(",", ".")
    before, _, after = plain.partition(".")
    before = before.lstrip("0") or "0"
    return before if whole or not after.isdigit() else f"{before}.{after}"
