"""How much time the grammar takes of answers: its matcher, the validation of drafts, masks and compiling.

Times the calls of the grammar's own classes while it is in force; one call within another counts once. Knows no models.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from copydesk.desk.grammar import Grammar, JsonState

_CALLS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (Grammar, ("__init__", "start")),
    (JsonState, ("forced", "allows", "accept", "rewind", "best", "copy")),
)


class GrammarTime:
    """A context in which its figures grow by what the grammar takes, on all threads together."""

    def __init__(self, active: bool = True) -> None:
        """If it is not `active`, nothing is timed."""
        self.seconds = 0.0
        """All of it."""
        self.compiling = 0.0
        """What of it went into compiling, which similar texts share."""
        self._active = active
        self._originals: list[tuple[type, str, Any]] = []
        self._inside = threading.local()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        for owner, names in _CALLS if self._active else ():
            for name in names:
                original = owner.__dict__[name]
                self._originals.append((owner, name, original))
                setattr(owner, name, self._timed(original, compiling=name == "__init__"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for owner, name, original in self._originals:
            setattr(owner, name, original)
        self._originals.clear()

    def reset(self) -> None:
        """Begin anew."""
        self.seconds = self.compiling = 0.0

    def _timed(self, call: Callable[..., Any], *, compiling: bool) -> Callable[..., Any]:
        @functools.wraps(call)
        def timed(*arguments: Any, **options: Any) -> Any:
            if getattr(self._inside, "grammar", False):
                return call(*arguments, **options)
            self._inside.grammar = True
            start = time.perf_counter()
            try:
                return call(*arguments, **options)
            finally:
                spent = time.perf_counter() - start
                self._inside.grammar = False
                with self._lock:
                    self.seconds += spent
                    self.compiling += spent if compiling else 0.0

        return timed
