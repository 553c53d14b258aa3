"""What parsed arguments stand for: texts, a task, a loaded model, a file to write.

Knows the names that `options.py` gives them. Imports what is heavy only when it is asked for.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copydesk.errors import CopydeskError, UsageError
from copydesk.types import Failure, Task

if TYPE_CHECKING:
    from copydesk.engines.options import EngineOptions
    from copydesk.model import Model


def texts(arguments: argparse.Namespace) -> Iterable[str | Failure]:
    """Those given, or a file's. Errors: `UsageError` for neither or both."""
    if bool(arguments.text) == bool(arguments.file):
        raise UsageError("Give texts, or a file of them with -f FILE (-f - reads standard input), and not both.")
    if arguments.text:
        given: list[str] = arguments.text
        return given
    from copydesk import inputs
    from copydesk.stream import ReadAhead

    return ReadAhead(inputs.texts(arguments.file))


def extraction_task(arguments: argparse.Namespace) -> Task:
    """The task of `--schema`, without one the built-in address task, as `--prompt` and `--examples` have it asked."""
    from copydesk.tasks.builtin import ADDRESS
    from copydesk.tasks.task import extraction

    if arguments.schema is None:
        return _prompted(ADDRESS, arguments)
    from copydesk import inputs

    return _prompted(extraction(inputs.schema(arguments.schema)), arguments)


def classification_task(arguments: argparse.Namespace) -> Task:
    """The task of `--labels`, without them the built-in news task, as `--prompt` and `--examples` have it asked."""
    from copydesk.tasks.builtin import AGNEWS
    from copydesk.tasks.task import classification

    if arguments.labels is None:
        return _prompted(AGNEWS, arguments)
    return _prompted(classification([label.strip() for label in arguments.labels.split(",")]), arguments)


def _prompted(task: Task, arguments: argparse.Namespace) -> Task:
    """Errors: `UsageError` that names the line of the first example that is no answer of the task."""
    from copydesk.tasks.task import prompted

    name = arguments.examples
    if name is None:
        return prompted(task, arguments.prompt)
    from copydesk.bench.gold import read_gold

    examples = [(gold.text, gold.expected if gold.label is None else gold.label) for gold in read_gold(name, task)]
    return prompted(task, arguments.prompt, examples, f"{name}: line {{}}".format)


def load_model(arguments: argparse.Namespace) -> Model:
    """The model of `--model` and `--engine`, drafting as `--no-draft` and `--no-learn` say."""
    from copydesk.loading import load

    return load(
        arguments.model,
        engine=arguments.engine,
        draft=not arguments.no_draft,
        learn=not arguments.no_learn,
        **engine_options(arguments),
    )


def engine_options(arguments: argparse.Namespace) -> EngineOptions:
    """What `add_engine_options` asked for."""
    return {
        "dtype": arguments.dtype,
        "device": arguments.device,
        "device_map": arguments.device_map,
        "offload_folder": arguments.offload_folder,
    }


def check_apart(path: Path, source: str | None) -> None:
    """Errors: `UsageError` for an output that is the file which is read."""
    try:
        same = source is not None and path.samefile(source)
    except OSError:  # one of them is not there
        return
    if same:
        raise UsageError(f"{path} is what is read; give another file to write to.")


def check_writable(path: Path) -> None:
    """Errors: `UsageError` for a file that cannot be written."""
    try:
        path.open("a").close()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write rows to a file, a line of JSON each. Errors: `CopydeskError`."""
    import json

    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        raise CopydeskError(f"{path}: {error.strerror or error}.") from error
