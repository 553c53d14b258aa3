"""`copydesk serve`: the HTTP server."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from copydesk.commands import options
from copydesk.commands.arguments import engine_options
from copydesk.commands.exits import DONE, INTERRUPTED
from copydesk.errors import UsageError

if TYPE_CHECKING:
    from copydesk.serving.config import Config


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

    told = serve(_config(arguments))
    return INTERRUPTED if told == signal.SIGINT else DONE


def _config(arguments: argparse.Namespace) -> Config:
    from copydesk.serving.config import Config, NameSettings, VersionSettings, read_config

    options_given = {key: value for key, value in engine_options(arguments).items() if value is not None}
    if arguments.config is not None:
        if arguments.model or arguments.engine != "auto" or arguments.no_draft or arguments.no_learn or options_given:
            raise UsageError("--config says which models there are and how they are loaded; leave out what else does.")
        config = read_config(arguments.config)
    else:
        name = Path(arguments.model).name if arguments.model and Path(arguments.model).exists() else arguments.model
        version = VersionSettings(
            model=arguments.model,
            engine=arguments.engine,
            draft=not arguments.no_draft,
            learn=not arguments.no_learn,
            options=options_given,
        )
        config = Config(names=(NameSettings(name or "copydesk-nano", versions=(version,)),))
    given = {"host": arguments.host, "port": arguments.port}
    return replace(
        config, settings=replace(config.settings, **{key: value for key, value in given.items() if value is not None})
    )


def _port(written: str) -> int:
    if not 0 <= (port := options.whole(written)) <= 65535:
        raise argparse.ArgumentTypeError("must lie between 0 and 65535")
    return port
