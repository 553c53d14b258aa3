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
from copydesk.types import Answer, Constraint, Delta, Failure, Field, Reply, Span, TokenLogprob, Usage

if TYPE_CHECKING:
    from copydesk.loading import load
    from copydesk.model import Model
    from copydesk.tasks.task import classification, extraction

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AnswerError",
    "Constraint",
    "CopydeskError",
    "Delta",
    "EngineError",
    "Failure",
    "Field",
    "LengthError",
    "Model",
    "ModelError",
    "Reply",
    "SchemaError",
    "Span",
    "TextError",
    "TokenLogprob",
    "Usage",
    "UsageError",
    "__version__",
    "classification",
    "extraction",
    "load",
]


def __getattr__(name: str) -> object:
    if name == "Model":
        from copydesk.model import Model

        return Model
    if name == "load":
        from copydesk.loading import load

        return load
    if name in ("classification", "extraction"):
        from copydesk.tasks import task

        return getattr(task, name)
    raise AttributeError(f"module 'copydesk' has no attribute {name!r}")
