"""copydesk's own two calls, `/extract` and `/classify`, as another copydesk serves them.

Knows their forms; nothing of connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from copydesk.errors import EngineError
from copydesk.types import Answer, Field, Json, Span, Task, Usage


def native_path(task: Task) -> str:
    """Where the call stands, below the API's own path."""
    return "extract" if task.schema is not None else "classify"


def native_body(task: Task, text: str, options: Mapping[str, Any], model: str) -> Json:
    """The request for a whole answer; options that are None are left out."""
    given = {name: value for name, value in options.items() if value is not None}
    asked = {"schema": task.schema.json} if task.schema is not None else {"labels": list(task.labels)}
    return {"model": model, "text": text, "prompt": task.prompt, "details": True, **asked, **given}


def native_answer(found: Json, engine: str) -> Answer[Any]:
    """The answer. Errors: `EngineError` for what is none."""
    try:
        used = found["usage"]
        return Answer(
            value=found["value"],
            fields={path: _field(field) for path, field in found.get("fields", {}).items()},
            confidence=found["confidence"],
            verified=bool(found["verified"]),
            draft=found["draft"],
            accepted=found["accepted"],
            passes=int(found["passes"]),
            model=str(found["model"]),
            engine=engine,
            usage=Usage(used["prompt_tokens"], used["cached_tokens"], used["completion_tokens"]),
            ms=float(found["ms"]),
            truncated=bool(found.get("truncated")),
            labels=dict(found.get("labels", {})),
            label_mass=found.get("label_mass"),
            abstained=bool(found.get("abstained")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EngineError(
            f"{engine} does not answer as this copydesk does ({type(error).__name__}: {error}); use one version.",
            code="engine_failed",
        ) from error


def _field(found: Json) -> Field:
    span = found["span"]
    spans = [] if span is None else span if span and isinstance(span[0], list) else [span]
    return Field(tuple(Span(*one) for one in spans), found["match"], found["confidence"], found.get("draft"))
