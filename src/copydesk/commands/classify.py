"""`copydesk classify`: print the label that fits each text."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from copydesk.commands import options
from copydesk.commands.answering import print_answers
from copydesk.commands.arguments import classification_task
from copydesk.types import Answer, Failure

if TYPE_CHECKING:
    from copydesk.model import Model
    from copydesk.options import Options


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(commands, "classify", run, "print the label that fits each text")
    options.add_texts(command)
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--task", choices=["agnews"], help="a built-in task (default: agnews)")
    options.add_labels(kind)
    options.add_prompting(command)
    options.add_abstaining(command)
    options.add_answering(command)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    task = classification_task(arguments)

    def shown(answer: Answer[Any]) -> Any:
        if arguments.details:
            return answer.to_dict()
        label = {"label": answer.value, "confidence": answer.confidence}
        return label | {"abstained": True} if answer.abstained else label

    def many(model: Model, texts: Iterable[str | Failure], options: Options) -> Iterator[Answer[Any] | Failure]:
        options["abstain_below"] = arguments.abstain_below
        return model.classify_many(texts, task, **options)

    return print_answers(arguments, many, shown)
