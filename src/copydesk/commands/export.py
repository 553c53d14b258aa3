"""`copydesk export`: write the model in another format."""

from __future__ import annotations

import argparse
from pathlib import Path

from copydesk import output
from copydesk.commands import options
from copydesk.commands.exits import DONE


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(commands, "export", run, "write the model in another format", engine=False)
    command.add_argument("--format", choices=["hf"], required=True, help="hf: a Hugging Face folder with bf16 weights")
    command.add_argument("folder", type=Path, metavar="DIR", help="the folder to write")


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    from copydesk.models.resolve import resolve
    from copydesk.training.export import export_hugging_face

    export_hugging_face(resolve(arguments.model), arguments.folder)
    output.put({"format": arguments.format, "folder": str(arguments.folder)})
    return DONE
