"""How the passes an answer takes fall as its task's answers are learned from, for schemas that nobody prepared.

    python scripts/learning_curve.py --data DIR [--model NAME | --recite] [--grounded] [--rows 1000] [--only NAME]

DIR holds `tasks/*.jsonl.gz` (SNIPS, restaurant8k, SROIE). The loop is the real one: every text is answered by the
model, every answer is verified and learned from before the next, and nothing is known at first. The built-in model is
not trained for these tasks, so what it answers is poor; how often its answers were drafted right is not. `--recite`
puts a model in its place that answers as the data does. `--grounded` has all strings filled from the text.
How much is drafted depends on what passes cost: as on two quiet cores, for the same figures on any machine, or with
`--measure` as they are here and now. Prints a JSON object for each set and 100 rows: passes and tokens an answer, the
share of open tokens that drafts had right, who drafted, and how many answers were cut off, which are not learned from.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from copydesk.desk.desk import Desk
from copydesk.desk.drafting import Drafting
from copydesk.drafting.controller import Controller, Costs
from copydesk.drafting.drafters import Drafters
from copydesk.drafting.rules.drafter import draft as rules
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.errors import LengthError
from copydesk.home import home
from copydesk.loading import load_with
from copydesk.model import Model
from copydesk.models.resolve import BUILTIN_FOLDER
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt
from copydesk.tasks.task import extraction
from copydesk.types import Answer, Task
from drafting_curve import Row, sets
from host_cost import Reciting

SETS = ("restaurant8k", "snips", "sroie")
STEP = 100
QUIET = Costs.measured({1: 1.85, 2: 2.25, 4: 2.4, 5: 3.1, 8: 4.3, 32: 6.6, 64: 9.3, 128: 17.8}, change=0.85)
"""Milliseconds, of the built-in model on its own engine."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", help="default: the built-in one")
    parser.add_argument("--recite", action="store_true", help="a model that answers as the data does")
    parser.add_argument("--grounded", action="store_true", help="strings are runs of the text")
    parser.add_argument("--rows", type=int, default=1000, help="of each set")
    parser.add_argument("--only", choices=SETS, help="one of the sets")
    parser.add_argument("--measure", action="store_true", help="what passes cost here and now")
    parser.add_argument("--max-tokens", type=int, default=128, help="an untrained model may go on for ever")
    arguments = parser.parse_args()
    for name, task, rows in sets(arguments.data):
        if name in SETS and arguments.only in (None, name) and task.schema is not None:
            random.Random(0).shuffle(rows)
            schema = grounded(task.schema.json) if arguments.grounded else task.schema.json
            curve(name, extraction(schema), rows[: arguments.rows], arguments)
    return 0


def curve(name: str, task: Task, rows: list[Row], arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COPYDESK_HOME"] = folder
        controller = Controller(None if arguments.measure else QUIET)
        tagger = TaggerDrafter(home())
        # A clock that stands: what drafters may take of the answers' time depends on the machine.
        drafting = Drafting(Drafters(controller, rules=rules, tagger=tagger), controller, clock=lambda: 0.0)
        with reciting(task, rows, drafting) if arguments.recite else load_with(drafting, arguments.model) as model:
            for start in range(0, len(rows), STEP):
                answers = []
                for text, _ in rows[start : start + STEP]:
                    try:
                        answers.append(
                            model.extract(text, task, max_tokens=None if arguments.recite else arguments.max_tokens)
                        )
                    except LengthError:
                        continue
                    drafting.settle()
                    tagger.settle()
                print(
                    json.dumps({"set": name, "rows": start + STEP} | figures(answers), ensure_ascii=False), flush=True
                )


def reciting(task: Task, rows: list[Row], drafting: Drafting) -> Model:
    """A model that answers as the data does, with the built-in one's tokens."""
    tokenizer = Tokenizer(BUILTIN_FOLDER)
    engine = Reciting(tokenizer, task, [(text, json.dumps(value, ensure_ascii=False)) for text, value in rows])
    return Model(Desk(engine, tokenizer, partial(render_prompt, tokenizer=tokenizer), drafting))


def grounded(schema: Any) -> Any:
    """A schema with all its strings from the text, but for choices."""
    if isinstance(schema, dict):
        changed = {key: grounded(value) for key, value in schema.items()}
        return changed | {"grounded": True} if schema.get("type") == "string" and "enum" not in schema else changed
    return schema


def figures(answers: list[Answer[Any]]) -> dict[str, object]:
    return {
        "answered": len(answers),
        "passes": round(mean(answer.passes for answer in answers), 2),
        "tokens": round(mean(answer.usage.completion_tokens for answer in answers), 1),
        "accepted": round(mean(answer.accepted or 0.0 for answer in answers), 3),
        "drafts": Counter(answer.draft or "none" for answer in answers),
        "cut_off": sum(any(field.confidence == 0.0 for field in answer.fields.values()) for answer in answers),
        "ms": round(mean(answer.ms for answer in answers), 1),
    }


if __name__ == "__main__":
    sys.exit(main())
