"""Text in, typed answers out, by a small language model.

Importing this package is cheap: numpy, OpenVINO and pydantic are only read when `load` or `Model` is first touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from copydesk.types import Answer, Failure, Field, Span, Usage

if TYPE_CHECKING:
    from copydesk.model import Model, load

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AnswerError",
    "CopydeskError",
    "EngineError",
    "Failure",
    "Field",
    "LengthError",
    "Model",
    "ModelError",
    "SchemaError",
    "Span",
    "TextError",
    "Usage",
    "UsageError",
    "__version__",
    "load",
]


def __getattr__(name: str) -> object:
    if name in ("Model", "load"):
        from copydesk import model

        return getattr(model, name)
    raise AttributeError(f"module 'copydesk' has no attribute {name!r}")
