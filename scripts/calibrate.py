"""Fits how sure a model's answers are to how often they are right, and writes that into the model's folder.

    python scripts/calibrate.py --data dev.jsonl other.jsonl [--model FOLDER] [--task address] [--dry-run]

`--data` are gold lines as `copydesk eval` takes them, on which the model was not trained. Prints, for each field and
for the whole answer, the line found and the expected calibration error before and after, the latter by
cross-validation: no line is judged on what it was fitted to.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from copydesk.bench.calibration_error import calibration_error
from copydesk.bench.gold import Gold, read_gold
from copydesk.desk.calibration import WHOLE, Line
from copydesk.engines.choose import load_engine
from copydesk.model import Model
from copydesk.models.config import read_json
from copydesk.models.resolve import resolve
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.training.calibration import fit
from copydesk.types import Answer, Task

FOLDS = 5
TASKS = {task.name: task for task in (ADDRESS, AGNEWS)}

Said = dict[str, list[tuple[float, bool]]]
"""By field: what the model gave each value, and whether it was right."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE", help="gold lines")
    parser.add_argument("--model", metavar="FOLDER", help="a model's folder (default: the built-in one)")
    parser.add_argument("--task", choices=sorted(TASKS), default="address", help="(default: address)")
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    arguments = parser.parse_args()
    folder = resolve(arguments.model)
    task = TASKS[arguments.task]
    gold = [row for name in arguments.data for row in read_gold(name, task)]
    said = ask(folder, task, gold)
    lines = {}
    for name, answers in said.items():
        lines[name] = line = fit(*zip(*answers, strict=True))
        before, after = error(answers), error(cross_validated(answers))
        print(
            json.dumps(
                {"field": name, "n": len(answers), "wrong": sum(not right for _, right in answers)}
                | {"slope": line.slope, "offset": line.offset, "before": before, "after": after}
            )
        )
    every = [answer for name in said if name != WHOLE for answer in said[name]]
    if every:
        validated = [answer for name in said if name != WHOLE for answer in cross_validated(said[name])]
        print(json.dumps({"all fields": len(every), "before": error(every), "after": error(validated)}))
    if not arguments.dry_run:
        write(folder / "copydesk.json", task.name, lines)


def ask(folder: Path, task: Task, gold: Sequence[Gold]) -> Said:
    """Answer the gold lines, confidences as the model says them."""
    said: Said = {}
    with Model(load_engine("auto", folder), Tokenizer(folder)) as model:
        texts = [row.text for row in gold]
        answers = model.classify_many(texts, task) if task.labels else model.extract_many(texts, task)
        for row, answer in zip(gold, answers, strict=True):
            if isinstance(answer, Answer):
                value = answer.value if isinstance(answer.value, dict) else {}
                hits = {name: value.get(name) == wanted for name, wanted in row.expected.items()}
                for name, hit in hits.items():
                    said.setdefault(name, []).append((answer.fields[name].confidence, hit))
                # A record is right if all of it is: one of which a part is not labelled tells nothing.
                if row.label is not None or len(hits) == len(answer.fields):
                    right = answer.value == row.label if row.label is not None else all(hits.values())
                    said.setdefault(WHOLE, []).append((answer.confidence, right))
    return said


def cross_validated(answers: list[tuple[float, bool]]) -> list[tuple[float, bool]]:
    """The same answers with the confidences that lines give them which were fitted to others."""
    validated = []
    for fold in range(FOLDS):
        others = [answer for index, answer in enumerate(answers) if index % FOLDS != fold]
        line: Line = fit(*zip(*others, strict=True))
        validated += [(line.of(given), right) for given, right in answers[fold::FOLDS]]
    return validated


def error(answers: Sequence[tuple[float, bool]]) -> float:
    return round(calibration_error(*zip(*answers, strict=True)) or 0.0, 5)


def write(path: Path, task: str, lines: dict[str, Line]) -> None:
    """Put a task's lines into a model's own description, at once or not at all."""
    own = read_json(path)
    own["calibration"] = own.get("calibration", {}) | {
        task: {name: [line.slope, line.offset] for name, line in lines.items()}
    }
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(own, indent=2) + "\n", encoding="utf-8")
    os.replace(beside, path)


if __name__ == "__main__":
    main()
