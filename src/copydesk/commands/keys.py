"""`copydesk keys`: make API keys for `copydesk serve`, list and revoke them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from copydesk import output
from copydesk.commands import options
from copydesk.commands.exits import DONE
from copydesk.errors import CopydeskError

if TYPE_CHECKING:
    from copydesk.serving.keys import KeyFile


def add(commands: options.Commands) -> None:
    """Register the command."""
    does = "make API keys for the server, list and revoke them"
    command = commands.add_parser("keys", help=does, description=f"{does[0].upper()}{does[1:]}.", allow_abbrev=False)
    actions = command.add_subparsers(required=True, metavar="WHAT")

    making = _action(actions, "add", _add, "make a key and print it, this once")
    making.add_argument("--name", default="", metavar="NAME", help="whose it is, for lists and logs")
    making.add_argument("--models", default="", metavar="A,B,...", help="the models it may use (default: all)")
    for option, counted in (
        ("--requests-per-minute", "requests in any minute"),
        ("--requests-per-day", "requests in any day"),
        ("--tokens-per-minute", "tokens of prompts and answers in any minute"),
    ):
        making.add_argument(option, type=options.count, metavar="N", help=f"most {counted} (default: the server's)")

    _action(actions, "list", _list, "print what is known of each key: never the key")
    revoking = _action(actions, "revoke", _revoke, "delete a key; servers refuse it within seconds")
    revoking.add_argument("id", metavar="ID", help="the key's id, as `keys list` prints it")


def _action(actions: options.Commands, name: str, run: options.Run, does: str) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.", allow_abbrev=False)
    action.set_defaults(command=run)
    action.add_argument("--file", type=Path, metavar="FILE", help="the key file (default: COPYDESK_HOME/keys.json)")
    return action


def _add(arguments: argparse.Namespace) -> int:
    from copydesk.serving.keys import fresh_key

    secret, key = fresh_key(
        name=arguments.name,
        models=tuple(name for name in map(str.strip, arguments.models.split(",")) if name),
        requests_per_minute=arguments.requests_per_minute,
        requests_per_day=arguments.requests_per_day,
        tokens_per_minute=arguments.tokens_per_minute,
    )
    file = _file(arguments)
    file.add(key)
    try:
        output.put({"key": secret} | key.to_dict())
    except (CopydeskError, BrokenPipeError):  # nobody has seen it, and nobody will
        file.revoke(key.id)
        raise
    output.say("Keep the key: only its hash is stored, and it is not shown again.")
    return DONE


def _list(arguments: argparse.Namespace) -> int:
    for key in _file(arguments).read():
        output.put(key.to_dict())
    return DONE


def _revoke(arguments: argparse.Namespace) -> int:
    output.put({"revoked": _file(arguments).revoke(arguments.id).to_dict()})
    return DONE


def _file(arguments: argparse.Namespace) -> KeyFile:
    from copydesk.serving.keys import KeyFile, usual_file

    return KeyFile(arguments.file or usual_file())
