"""The measured process: what to do as JSON on standard input, what came of it on standard output.

Whatever libraries print goes to standard error. Knows how to time answers, not how they are given.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TypeVar

from pydantic import TypeAdapter

from copydesk.bench.engines.answering import Answering, Reply, memory_mb
from copydesk.bench.engines.questions import Job
from copydesk.bench.engines.work import Answered, Asked, Cannot, Ran, Work
from copydesk.errors import CopydeskError

Given = TypeVar("Given")


def do(work: Work, opened: Callable[[Work], Answering]) -> Ran:
    """Do `work` in this process, with what `opened` makes. Errors: those of loading and answering."""
    begun = time.perf_counter()
    with closing(opened(work)) as answering:
        load_s = time.perf_counter() - begun
        jobs = {job: _answered(answering, job, asked, work.way.at_once) for job, asked in work.jobs.items()}
        peak_mb, held_mb = memory_mb(answering.server())
        return Ran(round(load_s + answering.load_seconds(), 3), peak_mb, held_mb, jobs)


def open_way(work: Work) -> Answering:
    """What answers; its libraries are imported here. Errors: `CopydeskError` when they are missing."""
    way = work.way
    if way.runner == "copydesk":
        from copydesk.bench.engines.ours import Ours

        return Ours(work.model, way.engine)
    if way.runner.startswith("transformers"):
        from copydesk.engines.transformers.installed import check_installed

        check_installed()
    if way.runner.endswith("server"):
        from copydesk.bench.engines.served import Served

        return Served(way, work.model)
    from copydesk.bench.engines.guides import Guides

    return Guides(work.model, way.steps, work.guide_tokens, work.seed)


def _answered(answering: Answering, job: Job, asked: Asked, at_once: bool) -> Answered:
    answering.warm_up(job, asked.warm_up)
    timed = [_timed(lambda text=text: answering.answer(job, text)) for text in asked.one_by_one]  # type: ignore[misc]
    replies: Sequence[Reply] = [reply for reply, *_ in timed]
    answers = [reply.text for reply in replies]
    ms = [seconds * 1e3 for _, _, seconds in timed]
    per_second = len(ms) / (sum(ms) / 1e3)
    if at_once:
        more, _, seconds = _timed(lambda: answering.answer_all(job, asked.at_once))
        answers += more
        per_second = len(more) / seconds
    first = [(reply.first_at - begun) * 1e3 for reply, begun, _ in timed]
    return Answered(tuple(answers), tuple(first), tuple(ms), per_second)


def _timed(call: Callable[[], Given]) -> tuple[Given, float, float]:
    """What it gave, when it began, how many seconds it took."""
    begun = time.perf_counter()
    given = call()
    return given, begun, time.perf_counter() - begun


def main() -> None:
    """Do what standard input says."""
    answers = os.dup(1)
    os.dup2(2, 1)
    said: Ran | Cannot
    try:
        said = do(TypeAdapter(Work).validate_json(sys.stdin.read()), open_way)
    except CopydeskError as error:
        said = Cannot(str(error))
    with os.fdopen(answers, "w", encoding="utf-8") as output:
        json.dump(asdict(said), output)


if __name__ == "__main__":
    main()
