"""A task's prompt: what is said to a model, and that as tokens, with the folder's chat template around it.

Knows nothing of engines. Training and answering both use this module, so what is read is what was trained on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copydesk.desk.prompt import Prompt
from copydesk.models.conversation import conversation_parts
from copydesk.types import Task

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_ROLES = ("user", "assistant")


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
    Errors: `ModelError` as `conversation_parts`.
    """
    messages = conversation(task, "")
    before, after = conversation_parts(messages, tokenizer)
    prefix: list[int] = []
    for head, message in zip(before, messages, strict=True):
        prefix += (*head, *tokenizer.encode(message["content"]))
    return Prompt(prefix=tuple(prefix), suffix=tuple(after))
