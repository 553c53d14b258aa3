"""Check the vllm engine on this machine: extraction, classification and chat over a model folder, and their times.

    python scripts/vllm_check.py FOLDER [--rows N] [--adapter DIR] [--engine-args JSON]

FOLDER is any model that vLLM runs, such as `copydesk export --format hf FOLDER` writes. Prints a table; exits with 1
if anything fails. What is right is not looked at, only whether answers are what they must be: a random model passes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import copydesk
from copydesk.types import Answer, Failure, Reply

TEXT = "长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435"
NEWS = "Stocks fell on Monday as oil prices rose to their highest in two years."
SCHEMA = {
    "type": "object",
    "properties": {
        "sender": {"type": "string", "maxLength": 24},
        "urgent": {"type": "boolean"},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3},
    },
    "required": ["sender", "urgent", "tags"],
    "additionalProperties": False,
}
Row = tuple[str, int, int, float, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=64, help="rows of the runs with many in flight (default: 64)")
    parser.add_argument("--adapter", type=Path, help="the folder of a LoRA adapter")
    parser.add_argument("--engine-args", type=json.loads, help='such as {"attention_backend": "FLASH_ATTN"}')
    arguments = parser.parse_args()
    options = {"context_length": 2048, "adapter": arguments.adapter, "engine_args": arguments.engine_args}
    start = time.perf_counter()
    with copydesk.load(arguments.folder, engine="vllm", **options) as model:
        print(f"{model.name} on {model.engine}, loaded in {time.perf_counter() - start:.1f} s")
        rows = checks(model, arguments.rows)
    print(f"{'check':<34}{'right':>12}{'ms a row':>12}  first failure")
    for name, right, count, ms, why in rows:
        print(f"{name:<34}{f'{right}/{count}':>12}{ms:>12.1f}  {why}")
    return 1 if any(right < count for _, right, count, _, _ in rows) else 0


def checks(model: copydesk.Model, many: int) -> list[Row]:
    """Every check's row."""

    def extract() -> list[Any]:
        return [model.extract(TEXT, SCHEMA, max_tokens=256)]

    def classify() -> list[Any]:
        return [model.classify(NEWS)]

    def constrained_label() -> list[Any]:
        return [model.classify(NEWS, ["Sport", "Sports", "Sporting"])]

    def chat() -> list[Any]:
        return [model.chat(NEWS, max_tokens=16, thinking="off", logprobs=True)]

    def constrained_chat() -> list[Any]:
        return [model.chat(NEWS, max_tokens=256, thinking="off", schema=SCHEMA)]

    def streams() -> list[Any]:
        replies = [model.chat_stream(f"{number}: {NEWS}", max_tokens=16, thinking="off") for number in range(8)]
        return [reply.reply for reply in replies if list(reply)]

    def drafts() -> list[Any]:
        return [(outcome(model, draft=True), outcome(model, draft=False))]

    def extractions() -> list[Any]:
        return list(model.extract_many([TEXT] * many, SCHEMA, max_tokens=256))

    def labels() -> list[Any]:
        return list(model.classify_many([f"{number}: {NEWS}" for number in range(many)]))

    return [
        check("extraction", 1, extract, is_record),
        check("extraction, warm", 1, extract, is_record),
        check("address: draft changes nothing", 1, drafts, is_same),
        check("classification, one token", 1, classify, is_scored),
        check("classification, warm", 1, classify, is_scored),
        check("classification, held to labels", 1, constrained_label, is_label),
        check("chat", 1, chat, is_reply),
        check("chat, held to a schema", 1, constrained_chat, is_object),
        check("chat, 8 streams", 8, streams, is_reply),
        check(f"extraction, {many} rows", many, extractions, is_record),
        check(f"classification, {many} rows", many, labels, is_scored),
    ]


def check(name: str, count: int, run: Callable[[], Sequence[Any]], fits: Callable[[Any], bool]) -> Row:
    """How many of `count` results are what they must be, and their mean time."""
    start = time.perf_counter()
    try:
        results = list(run())
        why = next((str(result) for result in results if not fits(result)), "")
    except copydesk.CopydeskError as error:
        results, why = [], str(error)
    ms = (time.perf_counter() - start) * 1e3 / max(count, 1)
    return name, sum(map(fits, results)), count, ms, why[:120]


def outcome(model: copydesk.Model, *, draft: bool) -> str:
    """The address's answer, or why there is none: a random model copies nothing from the text."""
    try:
        return str(model.extract(TEXT, max_tokens=256, draft=draft).value)
    except copydesk.CopydeskError as error:
        return error.code


def is_same(outcomes: tuple[str, str]) -> bool:
    return outcomes[0] == outcomes[1]


def is_record(answer: Answer[Any] | Failure) -> bool:
    return isinstance(answer, Answer) and list(answer.value) == list(SCHEMA["properties"]) and bool(answer.fields)


def is_label(answer: Answer[Any] | Failure) -> bool:
    return isinstance(answer, Answer) and isinstance(answer.value, str) and answer.verified


def is_scored(answer: Answer[Any] | Failure) -> bool:
    return is_label(answer) and abs(statistics.fsum(answer.labels.values()) - 1.0) < 1e-6


def is_reply(reply: Reply) -> bool:
    return reply.usage.completion_tokens > 0 and reply.finish in ("stop", "length")


def is_object(reply: Reply) -> bool:
    return isinstance(reply.value, dict) and list(reply.value) == list(SCHEMA["properties"])


if __name__ == "__main__":
    sys.exit(main())
