"""Errors as a client of the OpenAI API expects them, and which status each of copydesk's own errors has.

Knows no routes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType

from copydesk.errors import (
    AnswerError,
    CopydeskError,
    EngineError,
    LengthError,
    ModelError,
    SchemaError,
    TextError,
    UsageError,
)
from copydesk.types import Json

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


_log = logging.getLogger("copydesk.serving")


class ApiError(Exception):
    """A request that is answered with an error. `retry_after` is in seconds and becomes the header of that name."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str | None = None,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.kind = kind or _KINDS.get(status) or ("server_error" if status >= 500 else "invalid_request_error")
        self.retry_after = retry_after
        self.headers = dict(headers or {})

    def to_dict(self) -> Json:
        """The body, in OpenAI's shape."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}


def api_error(error: Exception, *, param: str | None = None) -> ApiError:
    """The answer to an exception that ended a request. What is nobody's mistake says nothing of its cause."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, UsageError | TextError | SchemaError | LengthError | AnswerError):
        return ApiError(400, str(error), code=error.code, param=param or _param(error))
    if isinstance(error, ModelError):
        return ApiError(404, str(error), code=error.code, param="model")
    if isinstance(error, EngineError):
        return ApiError(503, str(error), code=error.code, retry_after=1.0)
    if isinstance(error, CopydeskError):
        return ApiError(500, str(error), code=error.code)
    # Without its message, which may hold parts of what the caller sent.
    _log.error("A request failed: %s at %s", type(error).__name__, _where(error.__traceback__))
    return ApiError(500, "The server failed to answer; its log says where.", code="internal_error")


def _where(trace: TracebackType | None) -> str:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "an unknown place"


def _param(error: CopydeskError) -> str | None:
    if isinstance(error, LengthError):
        return "max_tokens"
    return None
