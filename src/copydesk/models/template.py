"""A model folder's chat template, rendered as Transformers renders it.

Knows nothing of tokens or of what the messages say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from copydesk.errors import ModelError


class ChatTemplate:
    """The template in `chat_template.jinja`, or else in `tokenizer_config.json` (given as `config`)."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        """Errors: `ModelError` `model_invalid` when the folder has none or it is no Jinja template."""
        self._folder = folder
        source = _source(folder, config)
        if source is None:
            raise ModelError(f"{folder} has no chat template; choose an instruction-tuned model", code="model_invalid")
        try:
            self._template = _environment().from_string(source)
        except jinja2.TemplateError as error:
            raise self._failed(error) from error

    def render(self, **variables: Any) -> str:
        """The template with `messages`, `add_generation_prompt`, `enable_thinking` and whatever else it knows.

        Errors: `ModelError` `model_invalid` when the template fails, or refuses the messages.
        """
        try:
            return self._template.render(**variables)
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> ModelError:
        return ModelError(f"{self._folder}: the chat template failed: {error}; use another model", code="model_invalid")


def _source(folder: Path, config: Mapping[str, Any]) -> str | None:
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    source: Any = config.get("chat_template")
    if isinstance(source, list):  # several named ones
        source = next((entry["template"] for entry in source if entry["name"] == "default"), None)
    return source if isinstance(source, str) else None


def _environment() -> jinja2.Environment:
    """Jinja with the settings, filters and functions that templates written for Transformers rely on."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return environment


def _tojson(value: Any, indent: int | None = None) -> str:
    # Jinja's own filter escapes <, > and & for HTML, which models have not seen.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateError(message)
