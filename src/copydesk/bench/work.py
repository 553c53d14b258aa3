"""Address lines answered in a process of its own: what to do as JSON on its standard input, what came on its output.

A fresh process has a cold tagger and nothing warm; the state it keeps lies in a folder that goes with it. Knows nothing
of what the figures are compared with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from copydesk.errors import CopydeskError
from copydesk.types import Answer, Failure

if TYPE_CHECKING:
    from copydesk.model import Model

_MOST_SECONDS = 3600
"""After which a process is given up: a measurement takes minutes."""
Mode = Literal["drafted", "undrafted", "hostile"]


@dataclass(frozen=True, slots=True)
class Work:
    """Lines for the address task, and how to answer them."""

    texts: tuple[str, ...]
    mode: Mode
    model: str | None = None
    engine: str = "auto"
    in_flight: int = 1
    warm_up: tuple[str, ...] = ()
    """Lines that are answered before the clock starts."""
    seed: int = 0
    """Of hostile drafts."""
    time_grammar: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it. Milliseconds and passes are in the order of the texts."""

    values: tuple[dict[str, Any], ...]
    ms: tuple[float, ...]
    passes: tuple[int, ...]
    seconds: float
    """From the first text to the last answer."""
    grammar_ms: float = 0.0
    """Time within the grammar in all, if it was asked for."""
    compiling_ms: float = 0.0
    """What of that was compiling."""


def done(work: Work) -> Done:
    """Do `work` in a new process. Errors: `CopydeskError` with what the process said when it failed."""
    with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as home:
        try:
            process = subprocess.run(
                [sys.executable, "-m", "copydesk.bench.work"],
                input=json.dumps(asdict(work)),
                capture_output=True,
                encoding="utf-8",
                env=os.environ | {"COPYDESK_HOME": home},
                timeout=_MOST_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise CopydeskError(f"a measured process took more than {_MOST_SECONDS} s") from error
    if process.returncode:
        raise CopydeskError(f"a measured process failed: {process.stderr.strip() or process.returncode}")
    return TypeAdapter(Done).validate_json(process.stdout)


def do(work: Work) -> Done:
    """Do `work` in this process."""
    from copydesk.bench.grammar_time import GrammarTime
    from copydesk.tasks.builtin import ADDRESS

    with _load(work) as model, GrammarTime(work.time_grammar) as grammar:
        list(model.extract_many(work.warm_up, ADDRESS, in_flight=1))
        grammar.reset()
        start = time.perf_counter()
        answers = list(model.extract_many(work.texts, ADDRESS, in_flight=work.in_flight))
        seconds = time.perf_counter() - start
    whole = [answer for answer in answers if isinstance(answer, Answer)]
    if len(whole) < len(answers):
        failed = next(answer for answer in answers if isinstance(answer, Failure))
        raise CopydeskError(f"an address was not answered: {failed.message}")
    return Done(
        values=tuple(answer.value for answer in whole),
        ms=tuple(answer.ms for answer in whole),
        passes=tuple(answer.passes for answer in whole),
        seconds=seconds,
        grammar_ms=grammar.seconds * 1e3,
        compiling_ms=grammar.compiling * 1e3,
    )


def _load(work: Work) -> Model:
    """The model, with drafters as the mode says; those that do harm take the place of all others."""
    from copydesk.loading import load, load_with

    if work.mode != "hostile":
        return load(work.model, engine=work.engine, draft=work.mode == "drafted")
    from copydesk.bench.hostile import HostileDrafters
    from copydesk.desk.drafting import Drafting
    from copydesk.drafting.controller import Controller

    return load_with(Drafting(HostileDrafters(work.seed), Controller()), work.model, work.engine)


def main() -> None:
    """Do what standard input says."""
    json.dump(asdict(do(TypeAdapter(Work).validate_json(sys.stdin.read()))), sys.stdout)


if __name__ == "__main__":
    main()
