"""How the passes an answer takes fall as its task's answers are learned from, for schemas that nobody prepared.

    python scripts/learning_curve.py --data DIR [--model NAME] [--rows 1000] [--only NAME] [--quick] [--measure]

DIR holds `tasks/*.jsonl.gz` (SNIPS, restaurant8k, SROIE). The loop is the real one: every text is answered by the
model, every answer is verified and learned from, and nothing is known at first. The built-in model is not trained for
these tasks, so what it answers is poor; how often its answers were drafted right is not. Prints a JSON object for each
set and 100 rows: passes and tokens an answer, the share of open tokens that drafts had right, and who drafted. How much
is drafted depends on what passes cost: as on two quiet cores, for the same figures on any machine, or as measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import mean

from copydesk.desk.drafting import Drafting
from copydesk.drafting.controller import Controller, Costs
from copydesk.drafting.drafters import Drafters
from copydesk.drafting.rules.drafter import draft as rules
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.home import home
from copydesk.loading import load_with
from copydesk.tasks.task import extraction
from copydesk.types import Answer, Task
from drafting_curve import Row, sets

SETS = ("restaurant8k", "snips", "sroie")
STEP = 100
QUIET = Costs.measured({1: 1.0, 8: 1.7, 32: 3.0, 64: 5.0, 128: 9.6})
"""Of the built-in model."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", help="default: the built-in one")
    parser.add_argument("--rows", type=int, default=1000, help="of each set")
    parser.add_argument("--only", choices=SETS, help="one of the sets")
    parser.add_argument("--quick", action="store_true", help="200 rows of each set")
    parser.add_argument("--measure", action="store_true", help="what passes cost here and now")
    parser.add_argument("--in-flight", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, default=128, help="an untrained model may go on for ever")
    arguments = parser.parse_args()
    for name, task, rows in sets(arguments.data):
        if name in SETS and arguments.only in (None, name) and task.schema is not None:
            random.Random(0).shuffle(rows)
            rows = rows[: 200 if arguments.quick else arguments.rows]
            curve(name, extraction(task.schema.json), rows, arguments)
    return 0


def curve(name: str, task: Task, rows: list[Row], arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COPYDESK_HOME"] = folder
        controller = Controller(None if arguments.measure else QUIET)
        drafting = Drafting(Drafters(controller, rules=rules, tagger=TaggerDrafter(home())), controller)
        with load_with(drafting, arguments.model) as model:
            done = 0
            for part in _parts(rows):
                texts = [text for text, _ in part]
                answers = model.extract_many(
                    texts, task, in_flight=arguments.in_flight, max_tokens=arguments.max_tokens
                )
                whole = [answer for answer in answers if isinstance(answer, Answer)]
                done += len(part)
                print(json.dumps({"set": name, "rows": done} | figures(whole), ensure_ascii=False), flush=True)


def figures(answers: list[Answer]) -> dict[str, object]:
    return {
        "answered": len(answers),
        "passes": round(mean(answer.passes for answer in answers), 2),
        "tokens": round(mean(answer.usage.completion_tokens for answer in answers), 1),
        "accepted": round(mean(answer.accepted or 0.0 for answer in answers), 3),
        "drafts": Counter(answer.draft or "none" for answer in answers),
        "ms": round(mean(answer.ms for answer in answers), 1),
    }


def _parts(rows: list[Row]) -> list[list[Row]]:
    return [rows[start : start + STEP] for start in range(0, len(rows), STEP)]


if __name__ == "__main__":
    sys.exit(main())
