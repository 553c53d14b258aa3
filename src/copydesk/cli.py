"""The `copydesk` command: its subcommands put together, and what becomes of their errors.

Standard output is pure data. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 some rows failed, 130 interrupted. Each
command imports what it needs when it runs, so that `--help` and a mistyped option answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from copydesk import __version__, output
from copydesk.commands import bench, chat, classify, doctor, evaluate, export, extract, keys, prompts, serve
from copydesk.commands.exits import DONE, FAILED, INTERRUPTED, WRONG_USAGE
from copydesk.commands.options import Run
from copydesk.errors import CopydeskError, SchemaError, UsageError

_COMMANDS = (extract, classify, chat, serve, keys, evaluate, prompts, doctor, bench, export)
"""In the order in which `--help` lists them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return its exit code."""
    try:
        output.prepare()
        arguments = _parser().parse_args(argv)
        command: Run = arguments.command
        return command(arguments)
    except SystemExit as exit:  # argparse has said what it had to say
        return exit.code if isinstance(exit.code, int) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough
        return DONE
    except (UsageError, SchemaError) as error:
        output.say(str(error))
        return WRONG_USAGE
    except CopydeskError as error:
        output.say(str(error))
        return FAILED
    except Exception as error:
        if os.environ.get("COPYDESK_TRACEBACK"):
            raise
        output.say(f"{type(error).__name__}: {error} (COPYDESK_TRACEBACK=1 shows where)")
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copydesk", description="Text in, typed answers out, by a small language model.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"copydesk {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
