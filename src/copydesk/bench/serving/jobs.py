"""What each server is asked in each job, as the body of a chat completion, and what it answered.

Jobs: an address to extract, a news text to label. Knows no connections.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from copydesk.bench import address_lines
from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS, AGNEWS, AGNEWS_LABELS
from copydesk.types import Json, Task

Job = Literal["address", "news"]
Kind = Literal["copydesk", "llama.cpp"]
"""Of server."""
TASKS: Mapping[Job, Task] = {"address": ADDRESS, "news": AGNEWS}
NEWS = "agnews_train.jsonl.gz"
_NEWS_ROWS = 20_000
"""Of the news file that are read."""
_LONGEST = 800
"""Characters of a text, so that it fits into a share of the peer's context."""
_MOST_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Said:
    """A right answer's contents."""

    value: str
    """The label, or the record as JSON in one layout."""
    prompt_tokens: int


def texts(job: Job, data: Path, count: int, seed: int) -> tuple[str, ...]:
    """At most so many distinct texts, the same for the same seed. `data` holds `address/*.jsonl` and the news.

    Errors: `UsageError` when it lacks them.
    """
    found = address_lines.distinct(data) if job == "address" else _news(data)
    fitting = [text for text in found if len(text) <= _LONGEST]
    random.Random(seed).shuffle(fitting)
    return tuple(fitting[:count])


def body(job: Job, kind: Kind, text: str) -> bytes:
    """A request for `/v1/chat/completions`.

    Both servers read the same prompt: ours makes it of the schema or the labels, the peer gets it as a system message.
    The peer writes a single token of a label, from which the label is known.
    """
    task = TASKS[job]
    more: Json
    if kind == "copydesk":
        said = [{"role": "user", "content": text}]
        more = {"structured_outputs": {"choice": list(task.labels)}} if task.labels else _format(task)
    else:
        said = [{"role": "system", "content": task.instruction}, {"role": "user", "content": text}]
        more = {
            "cache_prompt": True,
            "chat_template_kwargs": {"enable_thinking": False},
            "samplers": ["temperature"],  # no others have anything to do
        }
        more |= {"max_tokens": 1} if task.labels else {"max_tokens": _MOST_TOKENS} | _format(task)
    return orjson.dumps({"messages": said, "temperature": 0} | more)


def said(job: Job, answer: bytes) -> Said | None:
    """What an answer of either server holds; None if it is none, or no model verified it."""
    try:
        found = json.loads(answer)
        content = found["choices"][0]["message"]["content"]
        verified = found.get("copydesk", {}).get("verified", True)
        value = _label(content) if job == "news" else _record(content)
        return Said(value, found["usage"]["prompt_tokens"]) if value is not None and verified else None
    except (ValueError, KeyError, IndexError, TypeError):
        return None


def _format(task: Task) -> Json:
    schema = task.schema.json if task.schema else {}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": task.name, "schema": schema}}}


def _label(content: str) -> str | None:
    """The one label that begins so."""
    begun = [label for label in AGNEWS_LABELS if content and label.startswith(content)]
    return begun[0] if len(begun) == 1 else None


def _record(content: str) -> str | None:
    record = json.loads(content)
    return json.dumps(record, ensure_ascii=False, sort_keys=True) if isinstance(record, dict) else None


def _news(data: Path) -> list[str]:
    try:
        with gzip.open(data / NEWS, "rt", encoding="utf-8") as file:
            rows = [json.loads(line)["text"] for _, line in zip(range(_NEWS_ROWS), file, strict=False)]
        return list(dict.fromkeys(rows))
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise UsageError(f"{data / NEWS} gives no news ({error}); give the folder that holds it.") from error
