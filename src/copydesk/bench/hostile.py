"""Drafters that do harm: random answers of full length, legal and wrong, again after every correction.

For measuring what drafting costs where it brings nothing. Knows only the address task.
"""

from __future__ import annotations

import random
import re
import threading
from typing import Any

from copydesk.tasks.builtin import ADDRESS_FIELDS
from copydesk.types import Draft, Task

_LENGTHS = {"province": 3, "city": 3, "district": 3, "specific_location": 20, "name": 3, "phone": 11}
"""Characters of a usual value."""
_HANZI = (0x4E00, 0x9FA5)
_INSIDE = re.compile(r'(?:[^"\\]|\\.)*+')
"""What of a string stands before its closing quote."""


class HostileDrafters:
    """Stands in for all drafters of a process. Safe to share between threads."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._lock = threading.Lock()

    def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
        """A random answer that begins with `so_far`, None within an escape; `expected` is left aside."""
        with self._lock:
            whole = self._continued(so_far)
        return Draft(whole, "rules") if whole.startswith(so_far) else None

    def verified(self, task: Task, text: str, answer: str) -> None:
        """Learns nothing."""

    def close(self) -> None:
        """Has nothing to stop."""

    def _continued(self, so_far: str) -> str:
        written, place = "", 0
        for field in ADDRESS_FIELDS:
            head = f'{", " if written else "{"}"{field}": "'
            if so_far.startswith(head, place):
                inside = _INSIDE.match(so_far, place + len(head))
                place = inside.end() if inside else len(so_far)
                value = so_far[place - len(inside[0]) : place] if inside else ""
                if place == len(so_far):  # the value is still open
                    value += self._value(field)
                place += 1
            else:
                value, place = self._value(field), len(so_far)
            written += f'{head}{value}"'
        return written + "}"

    def _value(self, field: str) -> str:
        if field == "phone":
            return "".join(self._random.choices("0123456789", k=_LENGTHS[field]))
        return "".join(chr(self._random.randint(*_HANZI)) for _ in range(_LENGTHS[field]))
