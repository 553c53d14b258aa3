"""A line for each text: what `extract` and `classify` have in common.

Knows nothing of schemas or labels.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copydesk import output
from copydesk.commands import arguments as given
from copydesk.commands.exits import DONE, ROWS_FAILED
from copydesk.types import Answer, Failure

if TYPE_CHECKING:
    from copydesk.model import Model
    from copydesk.options import Options
    from copydesk.page import Page


def print_answers(
    arguments: argparse.Namespace,
    many: Callable[[Model, Iterable[str | Failure], Options], Iterator[Answer[Any] | Failure]],
    shown: Callable[[Answer[Any]], Any],
) -> int:
    """Print a line for each text; those that fail say why on standard error too."""
    texts = given.texts(arguments)
    options: Options = {
        "temperature": arguments.temperature,
        "seed": arguments.seed,
        "max_tokens": arguments.max_tokens,
        "truncate": arguments.truncate,
    }
    if arguments.html:
        given.check_apart(arguments.html, arguments.file)
    failures = 0
    with _page(arguments.html) as page, given.load_model(arguments) as model, output.Progress() as progress:
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
