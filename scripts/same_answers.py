"""Whether two engines give the same answers to the same texts: those of one are recorded, and compared elsewhere.

    python scripts/same_answers.py record FILE --out ANSWERS [--engine openvino] [--model DIR]
    python scripts/same_answers.py compare ANSWERS [--engine cuda] [--model DIR]

FILE holds a text a line (or JSON lines with `text`), answered as addresses. `compare` prints one JSON object: how many
answers differ, and of each how far apart the engine holds the two tokens where they first part. Less than its
tolerance is a near-tie; exit code 1 if any other differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from copydesk.desk import job
from copydesk.desk.writer import Written
from copydesk.engines.choose import load_engine
from copydesk.engines.protocol import Engine, Read, Wanted
from copydesk.inputs import texts
from copydesk.loading import load
from copydesk.models.resolve import resolve
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer


def answers(lines: list[str], model: str | None, engine: str) -> list[dict[str, Any]]:
    """Of each text: the answer's value, and its tokens."""
    written: dict[str, list[int]] = {}
    finish = job.AnswerJob._answer

    def noted(self: job.AnswerJob, found: Written, effort: Any) -> Answer[Any]:
        written[self.request.text] = list(found.tokens)
        return finish(self, found, effort)

    job.AnswerJob._answer = noted  # type: ignore[method-assign]
    with load(model, engine=engine, learn=False, workers=0) as loaded:
        values = [loaded.extract(text).value for text in lines]
    return [{"text": text, "value": value, "tokens": written[text]} for text, value in zip(lines, values, strict=True)]


def margin(engine: Engine, tokenizer: Tokenizer, text: str, one: list[int], other: list[int]) -> float:
    """How far apart `engine` holds the tokens at which two answers first part."""
    parted = next(index for index, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    prompt = render_prompt(ADDRESS, tokenizer)
    tokens = (*prompt.prefix, *tokenizer.encode(text), *prompt.suffix, *one[:parted])
    sequence = engine.open()
    engine.run([Read(sequence, tokens, (Wanted(len(tokens) - 1),))])
    row = engine.row(sequence, -1)
    engine.release(sequence)
    return float(abs(row[one[parted]] - row[other[parted]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("does", choices=["record", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    if arguments.does == "record":
        lines = [text for text in texts(str(arguments.file)) if isinstance(text, str)]
        found = answers(list(dict.fromkeys(lines)), arguments.model, arguments.engine)
        arguments.out.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found))
        return
    recorded = [json.loads(line) for line in arguments.file.read_text().splitlines()]
    found = answers([one["text"] for one in recorded], arguments.model, arguments.engine)
    path = resolve(arguments.model)
    engine, tokenizer = load_engine(arguments.engine, path), Tokenizer(path)
    different = [
        {
            "text": mine["text"],
            "here": mine["value"],
            "recorded": theirs["value"],
            "margin": margin(engine, tokenizer, mine["text"], mine["tokens"], theirs["tokens"]),
        }
        for mine, theirs in zip(found, recorded, strict=True)
        if mine["value"] != theirs["value"]
    ]
    wrong = [one for one in different if one["margin"] >= engine.tolerance]
    report = {
        "texts": len(recorded),
        "engine": engine.name,
        "tolerance": engine.tolerance,
        "near_ties": len(different) - len(wrong),
        "different": len(wrong),
        "where": different,
    }
    print(json.dumps(report, ensure_ascii=False))
    engine.close()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
