"""What a server's refusals mean to a caller: from a status and a body to an error that says what to do.

Knows nothing of connections.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from copydesk.errors import AnswerError, CopydeskError, EngineError, LengthError, ModelError, SchemaError, TextError

_TOO_LONG = re.compile(
    r"context (?:length|size|window)|maximum (?:context|input|sequence)|too (?:long|many tokens)|exceed_context"
    r"|max_model_len|input (?:is )?longer|reduce the length",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"schema|grammar|guided|structured|response_format|regex|json_object|xgrammar|outlines"
    r"|llguidance|unimplemented key",
    re.IGNORECASE,
)
_CALLERS: Mapping[str, type[CopydeskError]] = {
    **dict.fromkeys(("empty_text", "invalid_text", "too_long"), TextError),
    **dict.fromkeys(("invalid_schema", "unsupported_schema", "invalid_labels"), SchemaError),
    **dict.fromkeys(("invalid_answer", "not_grounded"), AnswerError),
    "length": LengthError,
}
"""Errors by the codes that copydesk has for them, which no other server has."""
_LONGEST = 300
"""Characters of a server's own words that are passed on."""


def refusal(where: str, status: int, body: str, content_type: str = "") -> CopydeskError:
    """The error for an answer of `where` (a whole address) with a status other than 200."""
    said = words(body)
    own = _copydesks(body)
    if own is not None:
        return own
    if status in (401, 403):
        return EngineError(
            f"{where} refuses the key ({status}: {said}); give the right one as api_key or in COPYDESK_API_KEY.",
            code="unauthorized",
        )
    if 300 <= status < 400:
        return EngineError(f"{where} points elsewhere ({status}); give the address that it points to.")
    if is_page(body, content_type):
        return page(where)
    if status == 404:
        if "model" in said.lower():
            return ModelError(f"{where} has no such model: {said}")
        return EngineError(f"{where} is not there ({status}: {said}); give the address of an OpenAI-compatible server.")
    if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(said)):
        return TextError(f"The text does not fit the model behind {where}: {said}", code="too_long")
    if status in (400, 422) and _CONSTRAINT.search(said):
        return SchemaError(f"{where} cannot hold to this schema: {said}. Simplify it.")
    if status == 429:
        return EngineError(
            f"{where} takes no more requests ({status}: {said}); ask less at once, or later.", code="busy"
        )
    return EngineError(f"{where} answered {status}: {said}", code="refused" if status < 500 else "engine_failed")


def _copydesks(body: str) -> CopydeskError | None:
    """The error of another copydesk, which is the caller's; None for anything else."""
    try:
        error = json.loads(body)["error"]
        return _CALLERS[error["code"]](str(error["message"]), code=error["code"])
    except (ValueError, KeyError, TypeError):
        return None


def page(where: str) -> EngineError:
    """The error for a server that answers with a web page."""
    return EngineError(
        f"{where} answers with a web page, not as an OpenAI-compatible server; give that server's address, such as "
        "http://host:8000/v1."
    )


def is_page(body: str, content_type: str) -> bool:
    """Whether an answer is HTML."""
    return "text/html" in content_type or body.lstrip()[:9].lower().startswith(("<!doctype", "<html"))


def words(body: str) -> str:
    """What a server says in the body of a refusal, on one line."""
    try:
        said = json.loads(body)
    except ValueError:
        said = body
    for key in ("error", "message", "detail"):
        if isinstance(said, dict) and said.get(key):
            said = said[key]
    line = " ".join((said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)).split())
    return (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…") or "nothing more"
