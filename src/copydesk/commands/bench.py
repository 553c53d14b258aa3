"""`copydesk bench WHAT`: measure beside other engines."""

from __future__ import annotations

import argparse
from pathlib import Path

from copydesk import output
from copydesk.commands import options
from copydesk.commands.exits import DONE


def add(commands: options.Commands) -> None:
    """Register the command and the benches below it."""
    bench = commands.add_parser("bench", help="measure beside other engines", allow_abbrev=False)
    _add_drafts(bench.add_subparsers(required=True, metavar="WHAT"))


def _add_drafts(benches: options.Commands) -> None:
    does = "print what drafts bring, beside none and beside llama.cpp"
    bench = options.new_command(benches, "drafts", _run_drafts, does, engine_options=False)
    bench.add_argument("--data", type=Path, required=True, metavar="DIR", help="holds address/*.jsonl and qwen3/")
    bench.add_argument("--wide", type=Path, metavar="DIR", help="the model in Qwen3-0.6B's shape (default: made)")
    bench.add_argument("--gguf", type=Path, metavar="FILE", help="the same as GGUF (made if it is not there)")
    bench.add_argument("--llama-server", type=Path, metavar="PATH", help="llama.cpp's fastest build, beside its wheel")
    bench.add_argument("--out", type=Path, metavar="FILE", help="page for the table (default: docs/benchmarks.md)")
    bench.add_argument("--quick", action="store_true", help="once and with few lines, to rehearse; no default page")
    options.add_seed(bench)


def _run_drafts(arguments: argparse.Namespace) -> int:
    from copydesk.bench.drafts import PAGE, QUICK, Bench, Sizes

    bench = Bench(
        data=arguments.data,
        model=arguments.model,
        engine=arguments.engine,
        wide=arguments.wide,
        gguf=arguments.gguf,
        llama_server=arguments.llama_server,
        sizes=QUICK if arguments.quick else Sizes(),
        seed=arguments.seed,
    )
    usual = PAGE if PAGE.parent.is_dir() and not arguments.quick else None
    output.put(bench.run(arguments.out or usual))
    return DONE
