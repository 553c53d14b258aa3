"""`copydesk classify`: print the label that fits each text."""

from __future__ import annotations

import argparse
from typing import Any

from copydesk.commands import options
from copydesk.commands.answering import print_answers
from copydesk.commands.arguments import classification_task
from copydesk.types import Answer


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(commands, "classify", run, "print the label that fits each text")
    options.add_texts(command)
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--task", choices=["agnews"], help="a built-in task (default: agnews)")
    options.add_labels(kind)
    options.add_answering(command)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    task = classification_task(arguments)

    def shown(answer: Answer[Any]) -> Any:
        return answer.to_dict() if arguments.details else {"label": answer.value, "confidence": answer.confidence}

    return print_answers(arguments, lambda model, texts, options: model.classify_many(texts, task, **options), shown)
