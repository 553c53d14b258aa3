"""The engine protocol over Transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from copydesk.engines.protocol import Engine
from copydesk.errors import EngineError


def load(folder: Path, **options: Any) -> Engine:
    """The engine over the model in `folder`."""
    raise EngineError("the transformers engine is not there yet; choose openvino")
