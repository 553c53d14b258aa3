"""A task's prompt as tokens: the folder's chat template around the instruction (system) and the text (user).

Knows nothing of engines. Training and answering both use this module, so what is read is what was trained on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copydesk.desk.prompt import Prompt
from copydesk.errors import ModelError
from copydesk.types import Task

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_INSTRUCTION = "\ufdd0instruction\ufdd0"
_TEXT = "\ufdd0text\ufdd0"
"""Stand-ins of Unicode noncharacters, which no template and no instruction holds."""


def render_prompt(task: Task, tokenizer: Tokenizer) -> Prompt:
    """The tokens before and after the text of any request of `task`, thinking off.

    Only the template's own text may hold control tokens: instruction and text are data.
    Errors: `ModelError` for a chat template that drops the system or user message or rewrites it.
    """
    rendered = tokenizer.render(
        [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": _TEXT}], thinking=False
    )
    head, found_instruction, rest = rendered.partition(_INSTRUCTION)
    middle, found_text, suffix = rest.partition(_TEXT)
    if not found_instruction or not found_text or _TEXT in suffix:
        raise ModelError(
            "The model's chat template must hold the system message and then the user message once each; "
            "use a model whose template does.",
            code="model_unsupported",
        )
    prefix = [
        *tokenizer.encode_control(head),
        *tokenizer.encode(task.instruction),
        *tokenizer.encode_control(middle),
    ]
    return Prompt(prefix=tuple(prefix), suffix=tuple(tokenizer.encode_control(suffix)))
