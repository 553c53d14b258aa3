"""What a server is told before it starts: where it listens, which models it serves, and how much it takes.

Knows nothing of files: `config` fills these from a `copydesk.toml`, `copydesk serve` from its arguments. Sizes are in
bytes or code points as their names say, times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request, and one connection, may ask for. What is over is refused by name, never cut."""

    max_body_bytes: int = 2 << 20
    """413 above it; counted while the body is read, whatever it says of its length."""
    max_json_nesting: int = 64
    """Objects and arrays within one another in a request's JSON."""
    max_text_characters: int = 200_000
    """Of one text, prompt or message."""
    max_texts: int = 256
    """In one request for many."""
    max_messages: int = 256
    max_labels: int = 256
    """In a classification, or choices of a constraint."""
    max_schema_bytes: int = 64 << 10
    """Of a JSON Schema, written as JSON."""
    max_schema_depth: int = 32
    """Levels of objects and arrays in a JSON Schema's own text."""
    max_regex_characters: int = 1000
    max_choices: int = 8
    """`n` of a chat or completion."""
    max_answer_tokens: int = 4096
    """What `max_tokens` may ask for; also the longest reply of a chat that does not say."""
    max_header_bytes: int = 32 << 10
    """Of a request's line and headers together: 431 above it."""
    max_connections: int = 4096
    """Open at once; one more is answered 503 and closed."""
    header_seconds: float = 10.0
    """From a connection's first byte of a request to the end of its headers: 408."""
    body_seconds: float = 30.0
    """From the end of the headers to the end of the body: 408."""
    idle_seconds: float = 75.0
    """A kept-alive connection without a request is closed."""
    request_seconds: float = 120.0
    """From the end of the body to the end of the answer: the answer's work is then given up, with 504."""
    write_seconds: float = 30.0
    """How long a client may take nothing of an answer before it counts as gone."""
    linger_seconds: float = 0.0
    """What a server that is told to stop goes on taking requests for, while its readiness already says no."""
    drain_seconds: float = 30.0
    """What answers in progress get to finish when the server is told to stop."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A whole server."""

    host: str = "127.0.0.1"
    port: int = 8000
    """0 takes a free one."""
    limits: Limits = field(default_factory=Limits)
    page: bool = True
    """Whether the page to paste text on is served at `/`."""
