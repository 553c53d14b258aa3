"""Whether drafts change answers: every drafter on address lines, against the same model without drafts.

    python scripts/draft_equality.py --data DIR [--model NAME] [--drafters rules,...] [--temperatures 0,...] [--lines N]

DIR holds `address/*.jsonl`; the lines are those of `aliyun_sample`, `messy_dev` and `waybill_dev`. Drafters are asked
alone: `rules`, `lookup`, `tagger` (taught the gold answers of `waybill_train`, which are none of the lines), `right`,
`wrong` and `hostile`, which are a caller's predictions: the answer itself, another line's, and random legal ones of
full length, anew after every correction. A pass is said to cost the same whatever it reads, so that all of every draft
is read. Prints a JSON object for each temperature and drafter: how many answers differ in a token, and of each how far
apart the model holds the two tokens where they first part (with their noise, where it samples); less than its tolerance
is a near-tie. Exit code 1 if any other differs, or a confidence does by 1e-3.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from copydesk.bench.gold import read_gold
from copydesk.bench.hostile import HostileDrafters
from copydesk.desk import job
from copydesk.desk.choosing import noise
from copydesk.desk.desk import Desk
from copydesk.desk.drafting import AnyDrafters, Drafting
from copydesk.desk.request import Request
from copydesk.desk.writer import Written
from copydesk.drafting import lookup, prediction
from copydesk.drafting.controller import Controller, Costs
from copydesk.drafting.drafters import Drafter
from copydesk.drafting.rules.drafter import draft as rules
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.engines.choose import load_engine
from copydesk.engines.protocol import Engine, Read, Wanted
from copydesk.models.resolve import resolve
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Draft, Task

LINES = ("aliyun_sample", "messy_dev", "waybill_dev")
LESSONS = "waybill_train"
DRAFTERS = ("rules", "tagger", "lookup", "right", "wrong", "hostile")
FREE = Costs.measured({1: 1.0, 4096: 1.0})
SEED = 5
IN_FLIGHT = 8


class Alone:
    """One drafter. Satisfies `AnyDrafters`."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter

    def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
        if expected is not None:
            return prediction.draft(task, text, so_far, expected)
        return self._drafter(task, text, so_far)

    def verified(self, task: Task, text: str, answer: str) -> None:
        """Learns nothing."""

    def close(self) -> None:
        """Has nothing to stop."""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer and its tokens."""

    answer: Answer[Any]
    tokens: list[int]


class Desks:
    """Answers lines with drafters of one's choice, on one engine after another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tokenizer = Tokenizer(folder)

    def answers(self, requests: Sequence[Request], drafters: AnyDrafters | None) -> list[Found]:
        """The answers to `requests`, a few at a time."""
        drafting = None if drafters is None else Drafting(drafters, Controller(FREE), learn=False)
        engine = load_engine("auto", self._folder)
        with _tokens() as tokens:
            desk = Desk(engine, self._tokenizer, partial(render_prompt, tokenizer=self._tokenizer), drafting)
            futures: list[Future[Answer[Any]]] = []
            for number, request in enumerate(requests):
                if number >= IN_FLIGHT:
                    futures[number - IN_FLIGHT].result()
                futures.append(desk.submit(request))
            found = [Found(future.result(), tokens[future]) for future in futures]
            desk.close()
        return found

    def margin(self, engine: Engine, request: Request, one: Found, other: Found) -> dict[str, Any]:
        """Where two answers first part, and how far apart `engine` holds the two tokens there."""
        pairs = zip(one.tokens, other.tokens, strict=False)
        parted = next(index for index, pair in enumerate(pairs) if pair[0] != pair[1])
        prompt = render_prompt(ADDRESS, self._tokenizer)
        tokens = (*prompt.prefix, *self._tokenizer.encode(request.text), *prompt.suffix, *one.tokens[:parted])
        sequence = engine.open()
        engine.run([Read(sequence, tokens, (Wanted(len(tokens) - 1),))])
        row = engine.row(sequence, -1).astype(float)
        engine.release(sequence)
        if request.temperature:
            row += request.temperature * noise(request.seed, parted, np.arange(len(row)))
        scores = [float(row[found.tokens[parted]]) for found in (one, other)]
        return {"text": request.text, "token": parted, "scores": scores, "apart": abs(scores[0] - scores[1])}


@contextmanager
def _tokens() -> Iterator[dict[Future[Any], list[int]]]:
    """The tokens of all answers from now on, by their futures."""
    noted: dict[Future[Any], list[int]] = {}
    finish = job.AnswerJob._answer

    def note(self: job.AnswerJob, written: Written, effort: Any) -> Answer[Any]:
        noted[self.future] = list(written.tokens)
        return finish(self, written, effort)

    job.AnswerJob._answer = note  # type: ignore[method-assign]
    try:
        yield noted
    finally:
        job.AnswerJob._answer = finish  # type: ignore[method-assign]


def taught(data: Path) -> TaggerDrafter:
    """A tagger that has learned other lines."""
    tagger = TaggerDrafter()
    for gold in read_gold(str(data / "address" / f"{LESSONS}.jsonl"), ADDRESS):
        answer = {field: (gold.expected or {}).get(field, "") for field in ADDRESS_FIELDS}
        tagger.learn(ADDRESS, gold.text, json.dumps(answer, ensure_ascii=False))
    tagger.settle()
    return tagger


def drafters_of(name: str, data: Path, plain: Sequence[Found]) -> tuple[AnyDrafters, list[Any]]:
    """The drafters of a way, and what each line is predicted to be answered."""
    nothing: list[Any] = [None] * len(plain)
    values = [found.answer.value for found in plain]
    others = values[1:] + values[:1]
    ways: dict[str, Callable[[], tuple[AnyDrafters, list[Any]]]] = {
        "rules": lambda: (Alone(rules), nothing),
        "lookup": lambda: (Alone(lookup.draft), nothing),
        "tagger": lambda: (Alone(taught(data).draft), nothing),
        "right": lambda: (Alone(lookup.draft), values),
        "wrong": lambda: (Alone(lookup.draft), others),
        "hostile": lambda: (HostileDrafters(SEED), nothing),
    }
    return ways[name]()


def compared(
    desks: Desks, engine: Engine, requests: Sequence[Request], plain: Sequence[Found], drafted: Sequence[Found]
) -> dict[str, Any]:
    """What a drafter has changed."""
    three = list(zip(requests, plain, drafted, strict=True))
    different = [
        desks.margin(engine, request, one, other) for request, one, other in three if one.tokens != other.tokens
    ]
    apart = max((_confidence(one, other) for _, one, other in three if one.tokens == other.tokens), default=0.0)
    return {
        "lines": len(requests),
        "different": sum(one["apart"] >= engine.tolerance for one in different),
        "near_ties": sum(one["apart"] < engine.tolerance for one in different),
        "confidences_apart": apart,
        "passes": round(mean(found.answer.passes for found in drafted), 2),
        "accepted": round(mean(found.answer.accepted or 0.0 for found in drafted), 3),
        "drafted": sum(found.answer.draft is not None for found in drafted),
        "where": different,
    }


def _confidence(one: Found, other: Found) -> float:
    fields = ((one.answer.fields[name], other.answer.fields[name]) for name in one.answer.fields)
    return max(abs(mine.confidence - theirs.confidence) for mine, theirs in fields)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model")
    parser.add_argument("--drafters", default=",".join(DRAFTERS))
    parser.add_argument("--temperatures", default="0,0.7")
    parser.add_argument("--lines", type=int, help="of each file; default all")
    arguments = parser.parse_args()
    folder = resolve(arguments.model)
    files = [read_gold(str(arguments.data / "address" / f"{name}.jsonl"), ADDRESS) for name in LINES]
    texts = [gold.text for lines in files for gold in lines[: arguments.lines]]
    desks, engine, wrong = Desks(folder), load_engine("auto", folder), False
    for temperature in map(float, arguments.temperatures.split(",")):
        requests = [Request(ADDRESS, text, temperature=temperature, seed=SEED) for text in texts]
        started = time.monotonic()
        plain = desks.answers(requests, None)
        report: dict[str, Any] = {"temperature": temperature, "drafter": "none", "lines": len(plain)}
        report["passes"] = round(mean(found.answer.passes for found in plain), 2)
        print(json.dumps(report | {"seconds": round(time.monotonic() - started)}), flush=True)
        for name in arguments.drafters.split(","):
            started = time.monotonic()
            drafters, predictions = drafters_of(name, arguments.data, plain)
            asked = [replace(request, prediction=one) for request, one in zip(requests, predictions, strict=True)]
            found = compared(desks, engine, requests, plain, desks.answers(asked, drafters))
            wrong |= found["different"] > 0 or found["confidences_apart"] >= 1e-3
            report = {"temperature": temperature, "drafter": name} | found
            print(json.dumps(report | {"seconds": round(time.monotonic() - started)}, ensure_ascii=False), flush=True)
    engine.close()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
