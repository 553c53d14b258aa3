"""Bringing a constrained reply to an end in time: from when on it is looked after, and how it is completed.

The reply is checked for a way out at a few places, and at every token once room gets scarce, so that what was handed
out need not be taken back. Depends on the reply alone, never on drafts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from copydesk.desk.state import State
from copydesk.errors import LengthError

_NEAR_THE_END = 32
"""Tokens, beside twice the way out, from which on every token is checked to leave room for an end."""


class AnyClosing(Protocol):
    """What finds ways out."""

    def of(self, state: State, written: Sequence[int], most: int) -> tuple[int, ...] | None:
        """The tokens that complete an answer of which `written` stands; None if they would be more than `most`."""


class Ending:
    """Looks after one reply of at most `room` tokens."""

    def __init__(self, closing: AnyClosing, room: int, shortest: int) -> None:
        """`shortest` is the length of the shortest content."""
        self._closing = closing
        self._room = room
        self._shortest = shortest
        self.begun = False
        """Whether the constraint has begun."""
        self.checked = 0
        """A length of the reply from which it can be completed."""
        self.next_check = 0
        """The length from which on it is to be checked again."""

    def begin(self, length: int) -> None:
        """The constraint begins after so many tokens of the reply."""
        self.begun = True
        self._passed(length, self._shortest)

    def check(self, state: State, tokens: Sequence[int], within: int) -> bool:
        """Whether the reply can still be completed: `tokens`, of which the last `within` stand in `state`."""
        way_out = self.way_out(state, tokens, within)
        if way_out is None:
            self.next_check = len(tokens) + 1
            return False
        self._passed(len(tokens), len(way_out))
        return True

    def way_out(self, state: State, tokens: Sequence[int], within: int) -> tuple[int, ...] | None:
        """What completes the reply; None if there is no room for that."""
        left = self._room - len(tokens)
        if state.finished and left >= 0:
            return ()
        return self._closing.of(state, tokens[len(tokens) - within :], left)

    def error(self) -> LengthError:
        """Why the reply cannot be completed."""
        return LengthError(
            f"The reply does not come to an end that satisfies its constraint within {self._room} tokens; allow more "
            "(max_tokens), or require less."
        )

    def _passed(self, length: int, way_out: int) -> None:
        careful = self._room - 2 * way_out - _NEAR_THE_END
        self.checked = length
        self.next_check = length + max(1, (careful - length) // 2)
