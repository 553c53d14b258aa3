"""`copydesk doctor`: print what there is on this machine and what would be chosen; forget what was learned."""

from __future__ import annotations

import argparse
import sys

from copydesk import output
from copydesk.commands import options
from copydesk.commands.arguments import engine_options
from copydesk.commands.exits import DONE, FAILED
from copydesk.errors import CopydeskError


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(
        commands, "doctor", run, "print the hardware, engines, models and folders, and what would be chosen"
    )
    command.add_argument("--load", action="store_true", help="load what would be chosen, and say what that takes")
    command.add_argument("--forget", action="store_true", help="instead delete all that was learned from answers")


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    if arguments.forget:
        return _forget()
    from copydesk.doctor import examine

    report = examine(arguments.model, arguments.engine, load=arguments.load, **engine_options(arguments))
    for folder in report["folders"]:
        if not folder["writable"]:
            output.say(f"{folder['path']} cannot be written: {folder['why']}.")
    output.put(report, indented=sys.stdout.isatty())
    return FAILED if "error" in report["chosen"] else DONE


def _forget() -> int:
    from copydesk.drafting.tagger.draft import forget
    from copydesk.home import home

    try:
        output.put({"forgotten": forget(home())})
    except OSError as error:
        raise CopydeskError(f"{error.filename or home()} cannot be deleted: {error.strerror or error}.") from error
    return DONE
