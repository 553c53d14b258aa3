"""`copydesk serve`: the HTTP server."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from copydesk.commands import options
from copydesk.commands.arguments import engine_options
from copydesk.commands.exits import DONE, INTERRUPTED
from copydesk.errors import UsageError

if TYPE_CHECKING:
    from copydesk.serving.settings import Settings


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(commands, "serve", run, "answer over HTTP, compatible with the OpenAI API")
    command.add_argument("--host", metavar="ADDRESS", help="where to listen (default: 127.0.0.1, this machine only)")
    command.add_argument("--port", type=_port, metavar="N", help="default: 8000; 0 takes a free one")
    command.add_argument("--config", type=Path, metavar="FILE", help="a copydesk.toml: models, keys, limits")
    options.add_drafting(command)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code: 0 when it was told to stop, 130 when it was interrupted."""
    import signal

    from copydesk.serving.serve import serve

    told = serve(_settings(arguments))
    return INTERRUPTED if told == signal.SIGINT else DONE


def _settings(arguments: argparse.Namespace) -> Settings:
    from copydesk.serving.settings import ModelSettings, Settings

    if arguments.config is not None:
        raise UsageError("--config is not read yet.")
    name = Path(arguments.model).name if arguments.model and Path(arguments.model).exists() else arguments.model
    model = ModelSettings(
        name=name or "copydesk-nano",
        model=arguments.model,
        engine=arguments.engine,
        draft=not arguments.no_draft,
        learn=not arguments.no_learn,
        options=engine_options(arguments),
    )
    given = {"host": arguments.host, "port": arguments.port}
    return Settings(models=(model,), **{name: value for name, value in given.items() if value is not None})


def _port(written: str) -> int:
    if not 0 <= (port := options.whole(written)) <= 65535:
        raise argparse.ArgumentTypeError("must lie between 0 and 65535")
    return port
