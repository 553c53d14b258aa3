"""`copydesk chat`: a conversation, streamed."""

from __future__ import annotations

import argparse
from typing import get_args

from copydesk.commands import arguments as given
from copydesk.commands import options
from copydesk.types import Thinking

_PRESETS = ("fast", "balanced")


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(commands, "chat", run, "have a conversation; /help lists what can be said beside it")
    command.set_defaults(no_learn=True)
    command.add_argument("--system", metavar="TEXT", help="what the model is told before the conversation")
    command.add_argument(
        "--thinking", choices=get_args(Thinking), default="auto", help="reason before answering (default: auto)"
    )
    command.add_argument(
        "--preset", choices=_PRESETS, default="fast", help="fast: the likeliest words; balanced: sampled, and longer"
    )
    command.add_argument("--max-tokens", type=options.count, metavar="N", help="longest reply, in tokens")
    command.add_argument("--temperature", type=options.temperature, metavar="T", help="above 0 samples")
    options.add_seed(command)
    command.add_argument("--no-draft", action="store_true", help="one pass for every token; the replies are the same")


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    from copydesk.commands.talking import Talk

    with given.load_model(arguments) as model:
        talk = Talk(
            model,
            system=arguments.system,
            thinking=arguments.thinking,
            options={
                "preset": arguments.preset,
                "max_tokens": arguments.max_tokens,
                "temperature": arguments.temperature,
                "seed": arguments.seed,
            },
        )
        return talk.run()
