"""A task's prompt as a conversation: its instruction, its examples, the text.

Knows nothing of chat templates.
"""

from __future__ import annotations

from copydesk.types import Messages, Task


def turns(task: Task, text: str) -> Messages:
    """What an engine is shown to answer `task` of `text`."""
    shown = [{"role": "system", "content": task.instruction}]
    for example in task.examples:
        shown += [{"role": "user", "content": example.text}, {"role": "assistant", "content": example.answer}]
    return [*shown, {"role": "user", "content": text}]


def correction(answer: str, wrong: str) -> Messages:
    """What is said after an answer with a value that does not stand in the text."""
    ask = f"“{wrong}” does not stand in the text. Answer again; copy it exactly as the text has it, or leave it empty."
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": ask}]
