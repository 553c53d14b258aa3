"""JSON strings as answers write them: no escape for what can be printed, the short escape where there is one.

Knows nothing of schemas or texts.
"""

from __future__ import annotations

import json
import re

_BEGUN = re.compile(r'"((?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+)')


def quoted(content: str) -> str:
    """The JSON string of a text."""
    return json.dumps(content, ensure_ascii=False)


def content(text: str) -> str | None:
    """The text of a whole JSON string; None if it is none."""
    if not text.startswith('"'):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def begun_content(begun: str) -> str | None:
    """The text of a string that is only begun, `` if not even that; None within an escape, or if it is none."""
    if not begun:
        return ""
    match = _BEGUN.fullmatch(begun)
    return content(f'"{match[1]}"') if match else None


def continued(begun: str, rest: str) -> str:
    """The string that goes on from `begun` with `rest`, and ends there."""
    return (begun or '"') + quoted(rest)[1:]
