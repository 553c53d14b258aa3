"""Options that several commands have, and what kinds of value they take.

Knows parsers only: what parsed arguments stand for is in `arguments.py`. Imports nothing heavy.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeAlias, get_args

from copydesk.engines.options import DTYPES, NAMES
from copydesk.errors import UsageError
from copydesk.types import PromptName

PROMPTS: tuple[PromptName, ...] = get_args(PromptName)
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Group: TypeAlias = "argparse._MutuallyExclusiveGroup"
Run = Callable[[argparse.Namespace], int]


class Once(argparse.Action):
    """Takes a value, and refuses a second rather than forget the first."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        """Errors: `UsageError`."""
        given = namespace.__dict__.setdefault("given_once", {})
        if self.dest in given:
            raise UsageError(f"{option} is given twice, as {given[self.dest]} and as {value}; choose one.")
        given[self.dest] = value
        setattr(namespace, self.dest, value)


def new_command(
    commands: Commands, name: str, run: Run, does: str, *, engine: bool = True, engine_options: bool = True
) -> argparse.ArgumentParser:
    """A command that `run` carries out, with `--model` and, unless it needs none, `--engine` and its options."""
    command = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.", allow_abbrev=False)
    command.set_defaults(command=run, schema=None, labels=None, task=None, html=None, prompt=None, examples=None)
    command.add_argument(
        "--model", action=Once, metavar="NAME", help="a folder or a hub id (default: the built-in copydesk-nano)"
    )
    if engine:
        command.add_argument("--engine", action=Once, default="auto", metavar="NAME", help=f"auto, {', '.join(NAMES)}")
    if engine and engine_options:
        add_engine_options(command)
    return command


def add_engine_options(command: argparse.ArgumentParser) -> None:
    """What some engines take: `--dtype`, `--device`, `--device-map`, `--offload-folder`."""
    command.add_argument("--dtype", metavar="TYPE", help=f"{', '.join(DTYPES)}")
    command.add_argument("--device", metavar="NAME", help="auto, cpu, cuda, cuda:N, or all GPUs: all")
    command.add_argument("--device-map", metavar="MAP", help="auto, layers-on-gpu=N, or JSON: module to device")
    command.add_argument("--offload-folder", metavar="DIR", help="for weights that fit on no device")


def add_texts(command: argparse.ArgumentParser) -> None:
    """`TEXT...` and `-f`."""
    command.add_argument("text", nargs="*", metavar="TEXT", help="a text; several give a line each")
    command.add_argument("-f", dest="file", metavar="FILE", help=".txt or -: a text a line; .jsonl: its key text")


def add_schema(group: Group) -> None:
    """`--schema`."""
    group.add_argument("--schema", metavar="FILE|module:Class", help="a JSON Schema file, or a pydantic class")


def add_labels(group: Group) -> None:
    """`--labels`."""
    group.add_argument("--labels", metavar="A,B,...", help="the labels to choose from")


def add_prompting(command: argparse.ArgumentParser) -> None:
    """`--prompt` and `--examples`."""
    command.add_argument("--prompt", choices=PROMPTS, help="the wording of the instruction (default: short)")
    command.add_argument("--examples", metavar="FILE", help="gold lines that are shown to the model before each text")


def add_abstaining(command: argparse.ArgumentParser) -> None:
    """`--abstain-below`."""
    command.add_argument(
        "--abstain-below",
        type=probability,
        metavar="P",
        help="no label where the confidence is below P",
    )


def add_answering(command: argparse.ArgumentParser) -> None:
    """What is asked of answers: details, drafting, truncation, length and sampling."""
    command.add_argument("--details", action="store_true", help="the whole answer: spans, confidences, passes, usage")
    add_drafting(command)
    command.add_argument("--truncate", action="store_true", help="cut a text that does not fit at a sentence end")
    command.add_argument("--max-tokens", type=count, metavar="N", help="longest answer, in tokens")
    command.add_argument(
        "--temperature", type=temperature, default=0.0, metavar="T", help="above 0 samples (default: 0)"
    )
    add_seed(command)


def add_drafting(command: argparse.ArgumentParser) -> None:
    """`--no-draft` and `--no-learn`."""
    command.add_argument(
        "--no-draft", action="store_true", help="one pass for every open token; the answer is the same"
    )
    command.add_argument(
        "--no-learn", action="store_true", help="learn nothing from the answers that would make later ones faster"
    )


def add_seed(command: argparse.ArgumentParser) -> None:
    """`--seed`."""
    command.add_argument("--seed", type=seed, default=0, metavar="N", help="of sampling (default: 0)")


def whole(written: str) -> int:
    """Any whole number."""
    try:
        return int(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r} is no whole number") from None


def count(written: str) -> int:
    """A whole number from 1 up."""
    if (number := whole(written)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def seed(written: str) -> int:
    """A whole number from 0 up, of 64 bits."""
    if (number := whole(written)) < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    if number >= 2**64:
        raise argparse.ArgumentTypeError("must be below 2 to the power of 64")
    return number


def probability(written: str) -> float:
    """A number from 0 to 1."""
    number = _number(written)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError("must lie between 0 and 1")
    return number


def temperature(written: str) -> float:
    """A number from 0 to 100."""
    number = _number(written)
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError("must lie between 0 and 100")
    return number


def _number(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r} is no number") from None
