"""`copydesk eval`: print how right the answers to gold lines are."""

from __future__ import annotations

import argparse
from pathlib import Path

from copydesk import output
from copydesk.commands import arguments as given
from copydesk.commands import options
from copydesk.commands.exits import DONE, ROWS_FAILED


def add(commands: options.Commands) -> None:
    """Register the command."""
    command = options.new_command(commands, "eval", run, "print how right the answers to gold lines are")
    command.add_argument("gold", metavar="FILE", help="gold lines: {text, expected, unlabelled} or {text, label}")
    kind = command.add_mutually_exclusive_group(required=True)
    kind.add_argument("--task", choices=["address", "agnews"], help="a built-in task")
    options.add_schema(kind)
    options.add_labels(kind)
    options.add_prompting(command)
    options.add_abstaining(command)
    command.add_argument("--errors", type=Path, metavar="OUT", help="write the rows that went wrong to this .jsonl")
    command.add_argument(
        "--parallel",
        type=options.count,
        default=1,
        metavar="N",
        help="rows in flight (default: 1, an idle desk's latency)",
    )
    options.add_drafting(command)
    options.add_seed(command)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; returns the exit code."""
    from copydesk.bench.evaluate import evaluate
    from copydesk.bench.gold import read_gold

    by_labels = arguments.labels or arguments.task == "agnews"
    task = given.classification_task(arguments) if by_labels else given.extraction_task(arguments)
    gold = read_gold(arguments.gold, task)
    if arguments.errors:
        given.check_apart(arguments.errors, arguments.gold)
        given.check_writable(arguments.errors)  # now rather than after all the rows
    with given.load_model(arguments) as model:
        report = evaluate(
            model,
            task,
            gold,
            seed=arguments.seed,
            in_flight=arguments.parallel,
            abstain_below=arguments.abstain_below,
        )
    output.put(report.figures)
    if arguments.errors:
        given.write_lines(arguments.errors, report.errors)
    return ROWS_FAILED if report.failed else DONE
