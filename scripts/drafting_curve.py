"""How drafts get better with every answer, without any model: gold rows are taken in order as if verified.

    python scripts/drafting_curve.py --data DIR [--rows 1000] [--only NAME]

DIR holds `address/*.jsonl` (`text`, `expected`) and `tasks/*.jsonl.gz` (SNIPS, restaurant8k, SROIE, CLUENER). For each
set, drafter and 100 rows it prints the share of answers drafted wholly right, the share of the characters that stand
before the first wrong one, and how many drafts an answer takes when each wrong one is corrected by a token and drafted
again from there; that is about the passes that a model would need. Before it has learned, the tagger leaves drafts to
lookup. Then microseconds a draft, and seconds of learning.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from copydesk.drafting import lookup
from copydesk.drafting.drafters import Drafter
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.tasks.builtin import ADDRESS
from copydesk.types import Json, Schema, Task

STRING: Json = {"type": "string"}
TOKEN = re.compile(r' ?[A-Za-z]{1,6}|[0-9]|"(?:, "|\}|\])?|.', re.DOTALL)
"""What a correction adds, about as a tokenizer splits."""
MOST_DRAFTS = 200
Row = tuple[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1000, help="rows of each set")
    parser.add_argument("--only", default="", help="sets whose name holds this")
    arguments = parser.parse_args()
    for name, task, rows in sets(arguments.data):
        if arguments.only in name:
            random.Random(0).shuffle(rows)
            curve(name, task, rows[: arguments.rows])
    return 0


def sets(data: Path) -> Iterator[tuple[str, Task, list[Row]]]:
    """Each set with the obvious schema for it."""
    files = ("aliyun_sample", "messy_dev", "waybill_dev", "jionlp_tests", "rule_labelled")
    lines = [row for file in files for row in read(data / "address" / f"{file}.jsonl")]
    fields = list(ADDRESS.schema.json["properties"]) if ADDRESS.schema else []
    yield "address", ADDRESS, [(row["text"], whole(row["expected"], fields)) for row in lines]
    rows = read(data / "tasks" / "restaurant8k_train.jsonl.gz")
    fields = ["people", "time", "date", "first_name", "last_name"]
    yield "restaurant8k", task(strings(fields)), [(row["text"], whole(row["slots"], fields)) for row in rows]
    optional = record(dict.fromkeys(fields, STRING), required=())
    present = [{field: row["slots"][field] for field in fields if field in row["slots"]} for row in rows]
    yield (
        "restaurant8k, optional",
        task(optional),
        [(row["text"], found) for row, found in zip(rows, present, strict=True)],
    )
    rows = read(data / "tasks" / "snips_slots_train.jsonl.gz")
    intents, slots = names(rows, "intent"), names((slot for row in rows for slot in row["slots"]), "slot")
    slot = record({"slot": {"type": "string", "enum": slots}, "value": STRING})
    schema = record({"intent": {"type": "string", "enum": intents}, "slots": {"type": "array", "items": slot}})
    yield "snips", task(schema), [(row["text"], {"intent": row["intent"], "slots": row["slots"]}) for row in rows]
    rows = read(data / "tasks" / "sroie_receipts.jsonl.gz")
    fields = ["company", "date", "address", "total"]
    yield "sroie", task(strings(fields)), [(row["text"], whole(row["fields"], fields)) for row in rows]
    rows = read(data / "tasks" / "cluener_train.jsonl.gz")
    types = names((entity for row in rows for entity in row["entities"]), "type")
    schema = record({kind: {"type": "array", "items": STRING} for kind in types})
    yield "cluener", task(schema), [(row["text"], by_type(row["entities"], types)) for row in rows]


def read(file: Path) -> list[Json]:
    text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def whole(found: Json, fields: list[str]) -> Json:
    return {field: found.get(field, "") for field in fields}


def present(found: Json, fields: list[str]) -> Json:
    return {field: found[field] for field in fields if field in found}


def by_type(entities: list[Json], types: list[str]) -> Json:
    return {kind: [entity["text"] for entity in entities if entity["type"] == kind] for kind in types}


def names(rows: Any, key: str) -> list[str]:
    return sorted({row[key] for row in rows})


def record(properties: Json, required: Any = None) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties if required is None else required)}


def strings(fields: list[str]) -> Json:
    return record(dict.fromkeys(fields, STRING))


def task(schema: Json) -> Task:
    return Task("curve", "Extract.", Schema(schema))


def curve(name: str, task: Task, rows: list[Row]) -> None:
    print(f"{name}: {len(rows)} rows, {statistics.mean(len(text) for text, _ in rows):.0f} characters a text")
    tagger = TaggerDrafter()
    drafters: dict[str, Drafter] = {
        "lookup": lookup.draft,
        "tagger": lambda task, text, so_far: tagger.draft(task, text, so_far) or lookup.draft(task, text, so_far),
    }
    learning = 0.0
    for start in range(0, len(rows), 100):
        part = rows[start : start + 100]
        right: dict[str, list[tuple[bool, float, int]]] = {drafter: [] for drafter in drafters}
        spent: dict[str, list[float]] = {drafter: [] for drafter in drafters}
        for text, expected in part:
            answer = json.dumps(expected, ensure_ascii=False)
            for drafter, draft in drafters.items():
                right[drafter].append(drafts(draft, task, text, answer, spent[drafter]))
            began = time.perf_counter()
            tagger.learn(task, text, answer)
            tagger.settle()
            learning += time.perf_counter() - began
        for drafter, found in right.items():
            exact, stood, count = (statistics.mean(column) for column in zip(*found, strict=True))
            micros = statistics.median(spent[drafter]) * 1e6
            print(
                f"  {start + len(part):5d} {drafter}: whole {exact:5.1%}, characters {stood:5.1%}, "
                f"drafts {count:5.2f}, first draft {micros:4.0f} us"
            )
    print(f"  learning took {learning:.1f} s in all, half of it pauses")
    tagger.close()


def drafts(draft: Drafter, task: Task, text: str, answer: str, spent: list[float]) -> tuple[bool, float, int]:
    """Whether the first draft is right, how much of it stands, and how many it takes."""
    so_far, first = "", 0
    for count in range(1, MOST_DRAFTS):
        began = time.perf_counter()
        drafted = draft(task, text, so_far)
        if count == 1:
            spent.append(time.perf_counter() - began)
        stood = common(drafted.text if drafted else so_far, answer)
        first = stood if count == 1 else first
        if stood < len(answer):
            token = TOKEN.match(answer, stood)
            stood = token.end() if token else len(answer)
        so_far = answer[:stood]
        if stood == len(answer):
            break
    return first == len(answer), first / len(answer), count


def common(left: str, right: str) -> int:
    shorter = min(len(left), len(right))
    return next((place for place in range(shorter) if left[place] != right[place]), shorter)


if __name__ == "__main__":
    sys.exit(main())
