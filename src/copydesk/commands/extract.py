"""`copydesk extract`: print the record that each text holds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from copydesk.commands import options
from copydesk.commands.answering import print_answers
from copydesk.commands.arguments import extraction_task
from copydesk.types import Answer


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(commands, "extract", run, "print the record that each text holds")
    options.add_texts(command)
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--task", choices=["address"], help="a built-in task (default: address)")
    options.add_schema(kind)
    options.add_prompting(command)
    command.add_argument("--html", type=Path, metavar="OUT", help="write a page that shows where each value stands")
    options.add_answering(command)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    task = extraction_task(arguments)

    def shown(answer: Answer[Any]) -> Any:
        details = answer.to_dict()
        return details if arguments.details else details["value"]

    return print_answers(arguments, lambda model, texts, options: model.extract_many(texts, task, **options), shown)
