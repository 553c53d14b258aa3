"""A task's prompt: what is said to a model, and that as tokens, with the folder's chat template around it.

Knows nothing of engines. Training and answering both use this module, so what is read is what was trained on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copydesk.desk.prompt import Prompt
from copydesk.errors import ModelError
from copydesk.types import Task

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_ROLES = ("user", "assistant")
_MARK = "\ufdd0"
"""A Unicode noncharacter, which no template, instruction or text holds."""


def conversation(task: Task, text: str) -> list[dict[str, str]]:
    """What is said to a model: the instruction, the task's examples as turns that have been, and the text."""
    turns = [(example.text, example.answer) for example in task.examples]
    return [
        {"role": "system", "content": task.instruction},
        *({"role": role, "content": said} for turn in turns for role, said in zip(_ROLES, turn, strict=True)),
        {"role": "user", "content": text},
    ]


def render_prompt(task: Task, tokenizer: Tokenizer) -> Prompt:
    """The tokens before and after the text of any request of `task`, thinking off.

    Only the template's own text may hold control tokens: instruction, examples and text are data.
    Errors: `ModelError` for a chat template that drops a message or rewrites it.
    """
    messages = conversation(task, "")
    marked = [
        {"role": message["role"], "content": f"{_MARK}{number}{_MARK}"} for number, message in enumerate(messages)
    ]
    rest = tokenizer.render(marked, thinking=False)
    prefix: list[int] = []
    for message, mark in zip(messages, marked, strict=True):
        before, found, rest = rest.partition(mark["content"])
        if not found or _MARK in before:
            raise _unsupported(task)
        prefix += (*tokenizer.encode_control(before), *tokenizer.encode(message["content"]))
    if _MARK in rest:
        raise _unsupported(task)
    return Prompt(prefix=tuple(prefix), suffix=tuple(tokenizer.encode_control(rest)))


def _unsupported(task: Task) -> ModelError:
    said = "the system message, the examples as turns" if task.examples else "the system message"
    return ModelError(
        f"The model's chat template must hold {said} and then the user message once each; use a model whose template "
        "does.",
        code="model_unsupported",
    )
