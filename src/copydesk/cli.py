"""The `copydesk` command: what each subcommand takes, and which call it makes.

Standard output is pure data. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 some rows failed, 130 interrupted. Each
command imports what it needs when it runs, so that `--help` and a mistyped option answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copydesk import __version__, output
from copydesk.errors import CopydeskError, SchemaError, UsageError
from copydesk.types import Answer, Failure, Task

if TYPE_CHECKING:
    from copydesk.model import Model, Options
    from copydesk.page import Page

DONE, FAILED, WRONG_USAGE, ROWS_FAILED, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return its exit code."""
    try:
        output.prepare()
        arguments = _parser().parse_args(argv)
        command: Callable[[argparse.Namespace], int] = arguments.command
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


def _extract(arguments: argparse.Namespace) -> int:
    task = _extraction(arguments)

    def shown(answer: Answer[Any]) -> Any:
        details = answer.to_dict()
        return details if arguments.details else details["value"]

    return _answer(arguments, lambda model, texts, options: model.extract_many(texts, task, **options), shown)


def _classify(arguments: argparse.Namespace) -> int:
    task = _classification(arguments)

    def shown(answer: Answer[Any]) -> Any:
        return answer.to_dict() if arguments.details else {"label": answer.value, "confidence": answer.confidence}

    return _answer(arguments, lambda model, texts, options: model.classify_many(texts, task, **options), shown)


def _answer(
    arguments: argparse.Namespace,
    many: Callable[[Model, Iterable[str | Failure], Options], Iterator[Answer[Any] | Failure]],
    shown: Callable[[Answer[Any]], Any],
) -> int:
    """Print a line for each text; those that fail say why on standard error too."""
    texts = _texts(arguments)
    options: Options = {
        "temperature": arguments.temperature,
        "seed": arguments.seed,
        "max_tokens": arguments.max_tokens,
        "truncate": arguments.truncate,
    }
    failures = 0
    with _page(arguments.html) as page, _load(arguments) as model, output.Progress() as progress:
        read: deque[str | Failure] = deque()
        if page:
            texts = _kept(texts, read)
        for number, answer in enumerate(many(model, texts, options), 1):
            if page:
                text = read.popleft()
                page.add(text if isinstance(text, str) else "", answer)
            if isinstance(answer, Failure):
                failures += 1
                where = f"{arguments.file}:{number}" if arguments.file else f"text {number}"
                output.say(f"{where}: {answer.message}")
                output.put(answer.to_dict())
            else:
                output.put(shown(answer))
            progress.step()
    return ROWS_FAILED if failures else DONE


def _page(path: Path | None) -> AbstractContextManager[Page | None]:
    """The page to write, if one is wanted."""
    if path is None:
        return nullcontext()
    from copydesk.page import Page

    return Page(path)


def _kept(texts: Iterable[str | Failure], read: deque[str | Failure]) -> Iterator[str | Failure]:
    """The texts, those read kept until they have been shown."""
    for text in texts:
        read.append(text)
        yield text


def _eval(arguments: argparse.Namespace) -> int:
    from copydesk.bench.evaluate import evaluate
    from copydesk.bench.gold import read_gold

    task = _classification(arguments) if arguments.labels or arguments.task == "agnews" else _extraction(arguments)
    gold = read_gold(arguments.gold, task)
    if arguments.errors:
        _check_writable(arguments.errors)  # now rather than after all the rows
    with _load(arguments) as model:
        report = evaluate(model, task, gold, seed=arguments.seed, in_flight=arguments.parallel)
    output.put(report.figures)
    if arguments.errors:
        _write_lines(arguments.errors, report.errors)
    return DONE


def _doctor(arguments: argparse.Namespace) -> int:
    if arguments.forget:
        return _forget()
    from copydesk.doctor import examine

    report = examine(arguments.model, arguments.engine)
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


def _bench_drafts(arguments: argparse.Namespace) -> int:
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


def _export(arguments: argparse.Namespace) -> int:
    from copydesk.models.resolve import resolve
    from copydesk.training.export import export_hugging_face

    export_hugging_face(resolve(arguments.model), arguments.folder)
    output.put({"format": arguments.format, "folder": str(arguments.folder)})
    return DONE


def _texts(arguments: argparse.Namespace) -> Iterable[str | Failure]:
    if bool(arguments.text) == bool(arguments.file):
        raise UsageError("Give texts, or a file of them with -f FILE (-f - reads standard input), and not both.")
    if arguments.text:
        texts: list[str] = arguments.text
        return texts
    from copydesk import inputs
    from copydesk.stream import ReadAhead

    return ReadAhead(inputs.texts(arguments.file))


def _extraction(arguments: argparse.Namespace) -> Task:
    from copydesk.tasks.builtin import ADDRESS
    from copydesk.tasks.task import extraction

    if arguments.schema is None:
        return ADDRESS
    from copydesk import inputs

    return extraction(inputs.schema(arguments.schema))


def _classification(arguments: argparse.Namespace) -> Task:
    from copydesk.tasks.builtin import AGNEWS
    from copydesk.tasks.task import classification

    if arguments.labels is None:
        return AGNEWS
    return classification([label.strip() for label in arguments.labels.split(",")])


def _load(arguments: argparse.Namespace) -> Model:
    from copydesk.model import load

    return load(arguments.model, engine=arguments.engine, draft=not arguments.no_draft, learn=not arguments.no_learn)


def _check_writable(path: Path) -> None:
    try:
        path.open("a").close()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error


def _write_lines(path: Path, rows: Iterable[Any]) -> None:
    import json

    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        raise CopydeskError(f"{path}: {error.strerror or error}.") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copydesk", description="Text in, typed answers out, by a small language model.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"copydesk {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    extract = _command(commands, "extract", _extract, "print the record that each text holds")
    _add_texts(extract)
    kind = extract.add_mutually_exclusive_group()
    kind.add_argument("--task", choices=["address"], help="a built-in task (default: address)")
    _add_schema(kind)
    extract.add_argument("--html", type=Path, metavar="OUT", help="write a page that shows where each value stands")
    _add_answering(extract)

    classify = _command(commands, "classify", _classify, "print the label that fits each text")
    _add_texts(classify)
    kind = classify.add_mutually_exclusive_group()
    kind.add_argument("--task", choices=["agnews"], help="a built-in task (default: agnews)")
    _add_labels(kind)
    _add_answering(classify)

    evaluation = _command(commands, "eval", _eval, "print how right the answers to gold lines are")
    evaluation.add_argument("gold", metavar="FILE", help="gold lines: {text, expected, unlabelled} or {text, label}")
    kind = evaluation.add_mutually_exclusive_group(required=True)
    kind.add_argument("--task", choices=["address", "agnews"], help="a built-in task")
    _add_schema(kind)
    _add_labels(kind)
    evaluation.add_argument("--errors", type=Path, metavar="OUT", help="write the rows that went wrong to this .jsonl")
    evaluation.add_argument(
        "--parallel", type=_count, default=1, metavar="N", help="rows in flight (default: 1, an idle desk's latency)"
    )
    _add_drafting(evaluation)
    _add_seed(evaluation)

    doctor = _command(
        commands, "doctor", _doctor, "print the hardware, engines, models and folders, and what would be chosen"
    )
    doctor.add_argument("--forget", action="store_true", help="instead delete all that was learned from answers")

    bench = commands.add_parser("bench", help="measure beside other engines", allow_abbrev=False)
    _add_drafts_bench(bench.add_subparsers(required=True, metavar="WHAT"))

    export = _command(commands, "export", _export, "write the model in another format")
    export.add_argument("--format", choices=["hf"], required=True, help="hf: a Hugging Face folder with bf16 weights")
    export.add_argument("folder", type=Path, metavar="DIR", help="the folder to write")
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    does: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.", allow_abbrev=False)
    command.set_defaults(command=run, schema=None, labels=None, task=None, html=None)
    command.add_argument("--model", metavar="NAME", help="a folder or a hub id (default: the built-in copydesk-nano)")
    if name != "export":
        command.add_argument("--engine", default="auto", metavar="NAME", help="auto, openvino or llamacpp")
    return command


def _add_drafts_bench(benches: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    bench = _command(benches, "drafts", _bench_drafts, "print what drafts bring, beside none and beside llama.cpp")
    bench.add_argument("--data", type=Path, required=True, metavar="DIR", help="holds address/*.jsonl and qwen3/")
    bench.add_argument("--wide", type=Path, metavar="DIR", help="the model in Qwen3-0.6B's shape (default: made)")
    bench.add_argument("--gguf", type=Path, metavar="FILE", help="the same as GGUF (made if it is not there)")
    bench.add_argument("--llama-server", type=Path, metavar="PATH", help="llama.cpp's fastest build, beside its wheel")
    bench.add_argument("--out", type=Path, metavar="FILE", help="page for the table (default: docs/benchmarks.md)")
    bench.add_argument("--quick", action="store_true", help="once and with few lines, to rehearse; no default page")
    _add_seed(bench)


def _add_texts(command: argparse.ArgumentParser) -> None:
    command.add_argument("text", nargs="*", metavar="TEXT", help="a text; several give a line each")
    command.add_argument("-f", dest="file", metavar="FILE", help=".txt or -: a text a line; .jsonl: its key text")


def _add_schema(group: argparse._MutuallyExclusiveGroup) -> None:
    group.add_argument("--schema", metavar="FILE|module:Class", help="a JSON Schema file, or a pydantic class")


def _add_labels(group: argparse._MutuallyExclusiveGroup) -> None:
    group.add_argument("--labels", metavar="A,B,...", help="the labels to choose from")


def _add_answering(command: argparse.ArgumentParser) -> None:
    command.add_argument("--details", action="store_true", help="the whole answer: spans, confidences, passes, usage")
    _add_drafting(command)
    command.add_argument("--truncate", action="store_true", help="cut a text that does not fit at a sentence end")
    command.add_argument("--max-tokens", type=_count, metavar="N", help="longest answer, in tokens")
    command.add_argument(
        "--temperature", type=_temperature, default=0.0, metavar="T", help="above 0 samples (default: 0)"
    )
    _add_seed(command)


def _add_drafting(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--no-draft", action="store_true", help="one pass for every open token; the answer is the same"
    )
    command.add_argument(
        "--no-learn", action="store_true", help="learn nothing from the answers that would make later ones faster"
    )


def _add_seed(command: argparse.ArgumentParser) -> None:
    command.add_argument("--seed", type=_seed, default=0, metavar="N", help="of sampling (default: 0)")


def _whole(written: str) -> int:
    try:
        return int(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r} is no whole number") from None


def _count(written: str) -> int:
    if (count := _whole(written)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return count


def _seed(written: str) -> int:
    if (seed := _whole(written)) < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return seed


def _temperature(written: str) -> float:
    try:
        temperature = float(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r} is no number") from None
    if not 0 <= temperature <= 100:
        raise argparse.ArgumentTypeError("must lie between 0 and 100")
    return temperature


if __name__ == "__main__":
    sys.exit(main())
