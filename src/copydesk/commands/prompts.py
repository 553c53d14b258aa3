"""`copydesk prompts`: print what a model is told of a task, by each named prompt, and what that costs in tokens."""

from __future__ import annotations

import argparse

from copydesk import output
from copydesk.commands import arguments as given
from copydesk.commands import options
from copydesk.commands.exits import DONE
from copydesk.errors import UsageError
from copydesk.types import Task


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(
        commands, "prompts", run, "print what a model is told of a task, and its tokens", engine=False
    )
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--task", choices=["address", "agnews"], help="a built-in task (default: both)")
    options.add_schema(kind)
    options.add_labels(kind)
    options.add_prompting(command)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    from copydesk.models.resolve import resolve
    from copydesk.models.tokenizer import Tokenizer
    from copydesk.tasks.prompt import render_prompt
    from copydesk.tasks.task import prompted

    tasks = _tasks(arguments)
    path = resolve(arguments.model)
    tokenizer = Tokenizer(path if path.is_dir() else path.parent)
    names = [name for name in options.PROMPTS if arguments.prompt in (None, name)]
    for task in tasks:
        for name in names:
            asked = prompted(task, name)
            tokens = render_prompt(asked, tokenizer).length
            output.put({"task": task.name, "prompt": name, "tokens": tokens, "instruction": asked.instruction})
    return DONE


def _tasks(arguments: argparse.Namespace) -> list[Task]:
    if arguments.task is None and arguments.schema is None and arguments.labels is None:
        if arguments.examples is not None:
            raise UsageError("--examples are those of one task: add --task, --schema or --labels.")
        return [given.extraction_task(arguments), given.classification_task(arguments)]
    if arguments.labels is not None or arguments.task == "agnews":
        return [given.classification_task(arguments)]
    return [given.extraction_task(arguments)]
