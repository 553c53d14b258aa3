"""Answers as one self-contained web page: each text with its values marked where they stand, and how sure they are.

The page runs no scripts and loads nothing. Knows no models; rows are written as they come.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from html import escape
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from copydesk.desk.leaves import leaves
from copydesk.errors import CopydeskError, UsageError
from copydesk.types import Answer, Failure, Field

_HEAD = """<!doctype html>
<html><head><meta charset="utf-8"><title>copydesk</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.6 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff }
article { border-top: 1px solid #ddd; padding: 1rem 0 }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; margin: 0 0 .5rem }
mark, .name { color: #222; border-radius: .2em; padding: .05em .1em }
.name { padding: .05em .4em }
table { border-collapse: collapse }
td { padding: .1rem .8rem .1rem 0; vertical-align: top; overflow-wrap: anywhere }
.value { white-space: pre-wrap; unicode-bidi: plaintext }
.sure { font-variant-numeric: tabular-nums; text-align: right }
.unsure, .error { color: #b00020; font-weight: 600 }
.note, footer { color: #666; font-size: .85em }
</style></head><body>
"""
_FOOT = "</body></html>\n"
_HUES = (45, 200, 120, 285, 15, 165, 240, 330)
_UNSURE = 0.8
"""Confidences below are shown in red."""
_FATES = {"kept": "as drafted", "corrected": "draft corrected"}
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""What HTML cannot hold, or what would show the rest of a line in another order."""


class Page:
    """Writes a page row by row; the file is there, whole, once the context ends without an error."""

    def __init__(self, path: Path) -> None:
        """A device or a pipe is written as it is; a link stays one.

        Errors: `UsageError` for what cannot be written at all, here and later `CopydeskError` when writing fails.
        """
        self._path = path
        self._beside: Path | None = None
        try:
            if path.exists() and not path.is_file():
                self._file = path.open("w", encoding="utf-8", newline="\n")
            else:
                self._place = path.resolve()
                handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=self._place.parent)
                self._beside = Path(name)
                self._file = os.fdopen(handle, "w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}.") from error
        self._write(_HEAD)

    def add(self, text: str, answer: Answer[Any] | Failure) -> None:
        """One more text and what came of it."""
        self._write(row(text, answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._write(_FOOT)
            self._file.close()
            if kind is None and self._beside:
                mask = os.umask(0)
                os.umask(mask)
                self._beside.chmod(0o666 & ~mask)  # it was made for its owner alone
                self._beside.replace(self._place)
        except OSError as failed:
            raise self._unwritable(failed) from failed
        finally:
            if self._beside:
                self._beside.unlink(missing_ok=True)

    def _write(self, part: str) -> None:
        try:
            self._file.write(part)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> CopydeskError:
        return CopydeskError(f"{self._path}: {error.strerror or error}.")


def row(text: str, answer: Answer[Any] | Failure) -> str:
    """The part of a page that shows one text."""
    if isinstance(answer, Failure):
        return _article(_shown(text), f'<p class="error">{_shown(answer.code)}: {_shown(answer.message)}</p>')
    found = answer.to_dict()
    colours = {name: _HUES[number % len(_HUES)] for number, name in enumerate(answer.fields)}
    if answer.labels:
        lines = "".join(_label(name, share, name == answer.value) for name, share in answer.labels.items())
    else:
        values = {leaf.path: leaf.value for leaf in leaves(json.dumps(found["value"]))}
        lines = "".join(_field(name, values.get(name), field, colours[name]) for name, field in answer.fields.items())
    return _article(_marked(text, answer.fields, colours), f"<table>{lines}</table>{_footer(answer)}")


def _article(text: str, below: str) -> str:
    return f'<article><p class="text">{text}</p>{below}</article>\n'


def _field(name: str, value: Any, field: Field, hue: int) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    how = ", ".join(filter(None, ("" if value in ("", None) else field.match, _FATES.get(field.draft or ""))))
    return (
        f'<tr><td><span class="name" style="{_colour([hue])}">{_shown(name)}</span></td>'
        f'<td class="value">{_shown(written)}</td>{_sure(field.confidence)}'
        f'<td class="note">{how}</td></tr>'
    )


def _label(name: str, share: float, chosen: bool) -> str:
    shown = f"<strong>{_shown(name)}</strong>" if chosen else _shown(name)
    return f'<tr><td>{shown}</td><td class="sure">{share:.1%}</td></tr>'


def _sure(confidence: float | None) -> str:
    if confidence is None:
        return '<td class="sure"></td>'
    return f'<td class="sure{" unsure" if confidence < _UNSURE else ""}">{confidence:.1%}</td>'


def _footer(answer: Answer[Any]) -> str:
    notes = [] if answer.confidence is None else [f"confidence {answer.confidence:.1%}"]
    notes.append("verified" if answer.verified else "not verified by a model")
    if answer.draft is not None and answer.accepted is not None:
        notes.append(f"draft by {answer.draft}, {answer.accepted:.0%} stood")
    if answer.passes:
        notes.append(f"{answer.passes} pass{'es' * (answer.passes != 1)}")
    notes += [f"{answer.ms:.1f} ms", answer.model]
    if answer.truncated:
        notes.append("the text was cut")
    return f"<footer>{_shown(' · '.join(notes))}</footer>"


def _marked(text: str, fields: Mapping[str, Field], colours: Mapping[str, int]) -> str:
    """The text with the spans of all fields in their colours; where several share a place it shows them all."""
    return "".join(
        f'<mark style="{_colour([colours[name] for name in names])}" title="{_shown(", ".join(names))}">{part}</mark>'
        if names
        else part
        for part, names in ((_shown(text[start:end]), names) for start, end, names in _parts(len(text), fields))
    )


def _parts(length: int, fields: Mapping[str, Field]) -> Iterator[tuple[int, int, list[str]]]:
    """The text in parts, each with the fields that stand there."""
    spans = [(span, name) for name, field in fields.items() for span in field.spans]
    bounds = sorted({0, length, *(bound for span, _ in spans for bound in (span.start, span.end))})
    for start, end in pairwise(bounds):
        yield start, end, [name for span, name in spans if span.start <= start and end <= span.end]


def _colour(hues: list[int]) -> str:
    """A background of one colour, or of several as stripes one below the other."""
    shades = [f"hsl({hue} 85% 82%)" for hue in hues]
    if len(shades) == 1:
        return f"background:{shades[0]}"
    share = 100 / len(shades)
    stops = (f"{shade} {number * share:.0f}% {(number + 1) * share:.0f}%" for number, shade in enumerate(shades))
    return f"background:linear-gradient({', '.join(stops)})"


def _shown(text: str) -> str:
    """Text as HTML shows it, whatever it holds."""
    return escape(_UNSEEN.sub("\ufffd", text))
