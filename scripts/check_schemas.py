"""Checks the desk against real schemas: which are refused and why, which answers finish, which validate.

    python scripts/check_schemas.py --data DIR [--engine fake|random|built-in|FOLDER] [--only TEXT]

DIR holds `*.jsonl` files whose lines have an `id`, a `schema`, and lists `valid` and `invalid` of instances
(MaskBench's form). `fake` answers by scores from a hash, `random` by a small model of random weights on the CPU engine,
`built-in` by the built-in model, FOLDER by any other. Exits with 1 if a schema is refused without a named reason, fewer
than 95 % of the others finish, or a finished answer or an accepted instance does not validate.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema

from copydesk.desk.canonical import Canonical
from copydesk.desk.desk import Desk
from copydesk.desk.grammar import Grammar, JsonState
from copydesk.desk.request import Request
from copydesk.desk.schema.bounds import Bounds
from copydesk.engines.protocol import Engine
from copydesk.errors import CopydeskError, LengthError, SchemaError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt
from copydesk.tasks.task import extraction

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
NAMED = {"unsupported_schema", "invalid_schema"}
STATE_CALLS = ("forced", "allows", "accept", "rewind", "best", "copy")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of *.jsonl files")
    parser.add_argument("--engine", default="fake", help="fake, random, built-in, or a model folder")
    parser.add_argument("--only", default="", help="schemas whose id holds this")
    parser.add_argument("--max-tokens", type=int, help="longest answer")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    problems: list[str] = []
    grammar_ms: list[float] = []
    with ExitStack() as stack:
        engine, tokenizer = load(arguments.engine, stack)
        desk = Desk(engine, tokenizer, partial(render_prompt, tokenizer=tokenizer))
        stack.callback(desk.close)
        spent = timed(JsonState)
        for row in rows(arguments.data):
            if arguments.only in row["id"]:
                before = spent()
                counts.update(check(row, desk, tokenizer, arguments.max_tokens, problems))
                grammar_ms.append((spent() - before) * 1e3)
    report(counts, grammar_ms, problems)
    finished = counts["finished"] / max(1, counts["schemas"] - counts["refused"])
    return 1 if problems or finished < 0.95 else 0


def check(
    row: dict[str, Any], desk: Desk, tokenizer: Tokenizer, max_tokens: int | None, problems: list[str]
) -> Iterator[str]:
    """What happened with one schema, as words to count; adds to `problems` what must not happen."""
    yield "schemas"
    text = " ".join(json.dumps(instance, ensure_ascii=False) for instance in row["valid"])[:1500] or row["id"]
    try:
        grammar = Grammar(
            row["schema"], Bounds.of(text), tokenizer.grammar_tokenizer(tokenizer.vocab_size), Canonical(tokenizer)
        )
    except SchemaError as error:
        yield "refused"
        print(f"refused   {row['id']}: {error}")
        if error.code not in NAMED:
            problems.append(f"{row['id']}: refused without a named reason: {error}")
        return
    validator = jsonschema.validators.validator_for(row["schema"])(row["schema"])
    for kind in ("valid", "invalid"):
        for instance in row[kind]:
            taken = accepts(grammar, tokenizer.encode(json.dumps(instance, ensure_ascii=False)), tokenizer)
            yield f"{kind} instances {'accepted' if taken else 'rejected'}"
            if taken and not validator.is_valid(instance):
                problems.append(f"{row['id']}: the grammar accepts what does not validate: {instance}")
    try:
        future = desk.submit(Request(extraction(row["schema"]), text, max_tokens=max_tokens, truncate=True))
        answer = future.result()
    except CopydeskError as error:
        yield "unfinished"
        print(f"failed    {row['id']}: {error.code}: {error}")
        if not isinstance(error, LengthError):
            problems.append(f"{row['id']}: {error.code}: {error}")
        return
    yield "finished"
    try:
        validator.validate(answer.value)
        yield "validated"
    except jsonschema.ValidationError as error:
        problems.append(f"{row['id']}: the answer does not validate: {error.message}: {answer.value}")


def accepts(grammar: Grammar, tokens: list[int], tokenizer: Tokenizer) -> bool:
    state = grammar.start()
    return all(map(state.accept, tokens)) and (state.finished or state.allows(tokenizer.eos_token_ids[0]))


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def load(name: str, stack: ExitStack) -> tuple[Engine, Tokenizer]:
    if name in ("fake", "random"):
        from tiny_model import write_tiny_model

        folder = write_tiny_model(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        config = folder / "config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), "max_position_embeddings": 8192}))
    else:
        from copydesk.models.resolve import resolve

        folder = resolve(None if name == "built-in" else name)
    tokenizer = Tokenizer(folder)
    if name == "fake":
        from fake_engine import FakeEngine, hashed

        return FakeEngine(tokenizer.vocab_size, hashed(tokenizer.vocab_size), context_length=8192), tokenizer
    from copydesk.engines.choose import load_engine

    engine = load_engine("auto", folder)
    stack.callback(engine.close)
    return engine, tokenizer


def timed(kind: type) -> Callable[[], float]:
    """From now on the seconds spent in a grammar's states are added up; the result tells the sum."""
    total = [0.0]

    def measured(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return call(*arguments)
            finally:
                total[0] += time.perf_counter() - start

        return wrapper

    for name in STATE_CALLS:
        setattr(kind, name, measured(getattr(kind, name)))
    return lambda: total[0]


def report(counts: Counter[str], grammar_ms: list[float], problems: list[str]) -> None:
    for problem in problems:
        print(f"PROBLEM   {problem}")
    print(json.dumps(dict(counts)))
    if grammar_ms:
        print(f"grammar work, ms a schema: mean {statistics.mean(grammar_ms):.2f}, most {max(grammar_ms):.2f}")


if __name__ == "__main__":
    sys.exit(main())
