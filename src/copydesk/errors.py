"""The errors a caller can act on. Each says in its message what to do; `code` is stable and ends up in JSON.

Knows nothing of where they are raised.
"""

from __future__ import annotations


class CopydeskError(Exception):
    """Base of all errors raised on purpose. `code` is a short stable name such as `length`."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class UsageError(CopydeskError):
    """The call itself is wrong: an unknown option, a negative length (exit code 2)."""

    code = "usage"


class TextError(CopydeskError):
    """A text that cannot be read as asked: `empty_text`, `invalid_text`, `too_long`."""

    code = "invalid_text"


class SchemaError(CopydeskError):
    """A schema or label set that cannot be honoured: `invalid_schema`, `unsupported_schema`, `invalid_labels`."""

    code = "unsupported_schema"


class LengthError(CopydeskError):
    """The parts that the schema requires do not fit in the tokens that are left."""

    code = "length"


class AnswerError(CopydeskError):
    """An answer that satisfies the JSON Schema but not a rule that only the caller's class knows: `invalid_answer`."""

    code = "invalid_answer"


class ModelError(CopydeskError):
    """A model that cannot be found or loaded: `model_not_found`, `model_invalid`, `model_unsupported`."""

    code = "model_not_found"


class EngineError(CopydeskError):
    """An engine that is missing, unfit for the model, or failing.

    `engine_unavailable`, `engine_failed`, `missing_extra`.
    """

    code = "engine_unavailable"
