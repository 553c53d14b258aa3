"""What an answer costs on the host: microseconds of one core a record, the model's passes left out, by part.

    python scripts/host_cost.py [--data DIR] [--model DIR] [--addresses N] [--news N] [--parts] [--workers N,N,...]

The engine recites answers that are known beforehand; its own time is measured and taken off. `--data` names a folder
with `address/*.jsonl` and `agnews_train.jsonl.gz`; without it lines are made up from the lists that the rules know.
`--model` is a folder whose tokenizer is used, by default the built-in model's. `--parts` profiles as well: the share of
each part of the program in its own time, which profiling itself distorts a little.

`--workers` measures what so many worker processes answer in a second instead, on an engine that agrees with every
draft and takes `--token-us` microseconds of sleep a token, as a GPU might.
"""

from __future__ import annotations

import argparse
import cProfile
import gzip
import json
import math
import os
import pstats
import random
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from copydesk.bench.gold import read_gold
from copydesk.crew.making import make_crew
from copydesk.crew.setup import Setup
from copydesk.crew.worker import call
from copydesk.desk.calibration import UNCALIBRATED
from copydesk.desk.desk import Desk
from copydesk.desk.drafting import Drafting
from copydesk.desk.request import Request
from copydesk.drafting.controller import Controller, Costs
from copydesk.drafting.drafters import Drafters
from copydesk.drafting.rules.drafter import draft as rules
from copydesk.drafting.rules.gazetteer import gazetteer
from copydesk.engines.cores import available_cores, available_processors
from copydesk.engines.packed import PackedReads, PackedScores
from copydesk.engines.protocol import Read, Scores
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.turns import Turns
from copydesk.models.resolve import BUILTIN_FOLDER
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS, AGNEWS, AGNEWS_LABELS
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Task

_FLAT = Costs((1, 4096), (1.0, 1.0))
"""On a GPU a token more or less in a pass costs nothing that matters."""
_REPEATS = 3
"""The best of them counts: others may be at work on the machine."""
_PARTS = (
    ("tokenizer", ("models/tokenizer", "desk/source", "desk/proposal")),
    ("drafting", ("drafting/", "desk/draft")),
    ("grammar", ("desk/grammar", "desk/canonical", "desk/state", "desk/choice", "desk/schema", "closing")),
    ("grounding", ("desk/grounded", "desk/places", "desk/runs", "desk/sites")),
    ("writing", ("desk/writer", "desk/choosing", "desk/scheduler", "desk/prefixes", "engines/")),
    ("answer", ("desk/answer", "desk/spans", "desk/leaves", "desk/calibration", "desk/job")),
    ("asking", ("desk/desk", "desk/request", "stream", "model")),
)
"""Parts of the program by the files that belong to them."""
_WAITING = re.compile(r"threading|queue|concurrent|lock")
"""Where a thread waits for another, which costs nothing."""


class Reciting:
    """An `Engine` that gives known answers, and knows how long it took over that."""

    name, model = "reciting", "none"
    context_length = 32768
    tolerance = 0.0

    def __init__(self, tokenizer: Tokenizer, task: Task, answers: Iterable[tuple[str, str]]) -> None:
        """`answers` are texts, each with the answer to it as it is written."""
        self.vocab_size = tokenizer.vocab_size
        self.seconds = 0.0
        self.passes = 0
        self._tokenizer = tokenizer
        self._prompt = render_prompt(task, tokenizer)
        self._answers = {tuple(tokenizer.encode(text)): answer.encode() for text, answer in answers}
        self._sequences: dict[int, list[int]] = {}
        self._next: dict[bytes, int] = {}

    def open(self) -> int:
        self._sequences[len(self._sequences)] = []
        return len(self._sequences) - 1

    def fork(self, sequence: int) -> int:
        self._sequences[len(self._sequences)] = list(self._sequences[sequence])
        return len(self._sequences) - 1

    def length(self, sequence: int) -> int:
        return len(self._sequences[sequence])

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        started = time.thread_time()
        self.passes += len(reads)
        scores = [self._read(read) for read in reads]
        self.seconds += time.thread_time() - started
        return scores

    def row(self, sequence: int, position: int) -> np.ndarray:
        return np.full(self.vocab_size, -12.0, np.float32)

    def cut(self, sequence: int, length: int) -> None:
        del self._sequences[sequence][length:]

    def release(self, sequence: int) -> None:
        self._sequences[sequence] = []

    def close(self) -> None:
        self._sequences.clear()

    def _read(self, read: Read) -> list[Scores]:
        tokens = self._sequences[read.sequence]
        before = len(tokens)
        tokens += read.tokens
        prefix, suffix = self._prompt.prefix, self._prompt.suffix
        if not read.wanted:
            return []
        end = tokens.index(suffix[0], len(prefix))
        written = self._answers[tuple(tokens[len(prefix) : end])]
        place, found = end + len(suffix), []
        offset = 0
        for wanted in read.wanted:
            while place <= before + wanted.position:
                offset += len(self._tokenizer.token_bytes(tokens[place]))
                place += 1
            token = self._after(written[offset:])
            found.append(Scores(token, -0.01, tuple(-0.01 if one == token else -6.0 for one in wanted.listed)))
        return found

    def _after(self, rest: bytes) -> int:
        """The token that begins what is left of an answer."""
        token = self._next.get(rest)
        if token is None:
            ids = self._tokenizer.encode(rest.decode(errors="ignore"))
            token = self._next[rest] = ids[0] if ids else self._tokenizer.eos_token_ids[0]
        return token


class Agreeing:
    """An `Engine` that chooses what was drafted, or else the end of an address, after a while."""

    name, model = "agreeing", "none"
    context_length = 32768
    tolerance = 0.0

    def __init__(self, tokenizer: Tokenizer, seconds_a_token: float) -> None:
        self.vocab_size = tokenizer.vocab_size
        self.calls = self.tokens = 0
        self.seconds = 0.0
        """Spent in passes."""
        self._end = tokenizer.encode('"}')[0]
        self._seconds_a_token = seconds_a_token
        self._handles = 0

    def open(self) -> int:
        self._handles += 1
        return self._handles

    def fork(self, sequence: int) -> int:
        return self.open()

    def length(self, sequence: int) -> int:
        return 0

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        packed = PackedReads.pack(reads)
        return self.run_packed(packed).unpack(packed)

    def run_packed(self, reads: PackedReads) -> PackedScores:
        started = time.perf_counter()
        self.calls += 1
        self.tokens += len(reads.tokens)
        ends = np.cumsum(reads.lengths)
        places = np.repeat(ends - reads.lengths, reads.wanted_counts) + reads.positions + 1
        drafted = reads.tokens[np.minimum(places, len(reads.tokens) - 1)]
        argmax = np.where(places == np.repeat(ends, reads.wanted_counts), self._end, drafted).astype(np.int32)
        floats, ints = np.zeros(0, np.float32), np.zeros(0, np.int32)
        logprobs, listed = np.full(len(argmax), -0.01, np.float32), np.full(len(reads.listed), -1.0, np.float32)
        time.sleep(len(reads.tokens) * self._seconds_a_token)
        self.seconds += time.perf_counter() - started
        return PackedScores(argmax, logprobs, listed, ints, floats, np.zeros_like(reads.lengths), ints, floats)

    def row(self, sequence: int, position: int) -> np.ndarray:
        return np.full(self.vocab_size, -12.0, np.float32)

    def cut(self, sequence: int, length: int) -> None:
        pass

    def release(self, sequence: int) -> None:
        pass

    def close(self) -> None:
        pass


def measure_crew(folder: Path, work: list[tuple[Task, list[str]]], workers: int, seconds_a_token: float) -> None:
    """Print what so many workers do in a second."""
    engine = Agreeing(Tokenizer(folder), seconds_a_token)
    crew = make_crew(Turns(engine), Setup(folder, Facts.of(engine), costs=_FLAT), workers)
    started = time.perf_counter()
    crew.wait()
    ready = time.perf_counter() - started
    for task, texts in work:
        asked = call(task, {})
        list(crew.answers(texts[: 64 * workers], asked))
        engine.calls, engine.tokens, engine.seconds = 0, 0, 0.0
        own, theirs, started = time.process_time(), children_time(), time.perf_counter()
        answers = list(crew.answers(texts, asked))
        seconds = time.perf_counter() - started
        figures = {
            "task": task.name,
            "workers": workers,
            "ready_s": round(ready, 2),
            "records": len(texts),
            "records_a_second": round(len(texts) / seconds),
            "us_a_record_here": round((time.process_time() - own) / len(texts) * 1e6),
            "us_a_record_in_workers": round((children_time() - theirs) / len(texts) * 1e6),
            "engine_busy": round(engine.seconds / seconds, 3),
            "tokens_a_call": round(engine.tokens / engine.calls),
            "tokens_a_record": round(engine.tokens / len(texts), 1),
            "failed": sum(not isinstance(answer, Answer) for answer in answers),
        }
        print(json.dumps(figures), flush=True)
    crew.close()


def children_time() -> float:
    """Seconds of processors that the running children of this process have taken (Linux)."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Profiled(Desk):
    """A desk whose thread is profiled."""

    profile: cProfile.Profile | None = None

    def _work(self) -> None:
        if self.profile is None:
            return super()._work()
        self.profile.enable()
        try:
            super()._work()
        finally:
            self.profile.disable()


def measure(task: Task, rows: list[tuple[str, str]], folder: Path, *, parts: bool) -> None:
    """Print what the answers to `rows` cost on the host."""
    tokenizer = Tokenizer(folder)
    profiles = [cProfile.Profile(), cProfile.Profile()] if parts else []
    engine = Reciting(tokenizer, task, rows)
    controller = Controller(_FLAT)
    drafting = Drafting(Drafters(controller, rules=rules), controller, learn=False)
    Profiled.profile = profiles[0] if parts else None
    desk = Profiled(engine, tokenizer, lambda task: render_prompt(task, tokenizer), drafting, UNCALIBRATED)
    texts = [text for text, _ in rows]
    answer_all(desk, task, texts[:64])
    for profile in profiles:
        profile.clear()
    seconds = math.inf
    for _ in range(_REPEATS):
        engine.seconds, engine.passes = 0.0, 0
        started = time.process_time()
        if parts:
            profiles[1].enable()
        answers = answer_all(desk, task, texts)
        if parts:
            profiles[1].disable()
        seconds = min(seconds, time.process_time() - started - engine.seconds)
    desk.close()
    right = sum(said(answer.value) == written for answer, (_, written) in zip(answers, rows, strict=True))
    accepted = [answer.accepted for answer in answers if answer.accepted is not None]
    figures: dict[str, Any] = {
        "task": task.name,
        "records": len(rows),
        "us_a_record": round(seconds / len(rows) * 1e6),
        "recited": right / len(rows),
        "passes_a_record": round(engine.passes / len(rows), 2),
        "accepted": round(sum(accepted) / len(accepted), 3) if accepted else None,
    }
    if parts:
        figures["us_by_part"] = by_part(profiles, seconds / len(rows) * 1e6)
    print(json.dumps(figures), flush=True)


def answer_all(desk: Desk, task: Task, texts: list[str], in_flight: int = 64) -> list[Any]:
    """The answers to `texts`, so many at a time."""
    futures: list[Any] = []
    for index, text in enumerate(texts):
        if index >= in_flight:
            futures[index - in_flight].result()
        futures.append(desk.submit(Request(task, text)))
    return [future.result() for future in futures]


def said(value: Any) -> str:
    """An answer as it was written."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def by_part(profiles: list[cProfile.Profile], total: float) -> dict[str, int]:
    """`total` divided among the parts of the program by their shares of the profiled time."""
    stats = pstats.Stats(*profiles).stats  # type: ignore[attr-defined]
    spent = dict.fromkeys([name for name, _ in _PARTS] + ["other"], 0.0)
    for (file, _, function), (_, _, own, _, callers) in stats.items():
        if "host_cost" in file or _WAITING.search(f"{file} {function}"):
            continue
        if file == "~":  # built in: belongs to whoever called it
            for (caller, _, name), (_, _, part, _) in callers.items():
                if "host_cost" not in caller and not _WAITING.search(caller):
                    spent[_part(f"{caller} {name} {function}")] += part
        else:
            spent[_part(file)] += own
    whole = sum(spent.values())
    return {name: round(total * own / whole) for name, own in spent.items()}


def _part(where: str) -> str:
    return next((name for name, files in _PARTS if any(file in where for file in files)), "other")


def addresses(data: Path | None, count: int, rng: random.Random) -> list[tuple[str, str]]:
    """Address lines with their answers."""
    rows = []
    if data is not None:
        for file in sorted((data / "address").glob("*.jsonl")):
            rows += [(gold.text, gold.expected) for gold in read_gold(str(file), ADDRESS)]
        rng.shuffle(rows)
    else:
        forms = gazetteer().forms.values()
        places = [place for form in forms if form.full for place in form.places if place.level == 2]
        for place in rng.choices(places, k=count):
            road = f"{rng.choice('人民中山解放建设')}{rng.choice(('路', '街', '大道'))}{rng.randrange(1, 900)}号"
            estate = rng.choice(("阳光花园", "绿地中央广场", "工业园"))
            spot = f"{road}{estate}{rng.randrange(1, 30)}栋{rng.randrange(101, 2999)}室"
            name = rng.choice("王李张刘陈杨赵黄周吴") + "".join(rng.sample("伟芳娜敏静丽强磊军洋艳勇杰娟涛", 2))
            phone = f"1{rng.choice('3578')}{rng.randrange(10**9):09}"
            parts = [f"{place.province}{place.city}{place.district}{spot}", name, phone]
            rng.shuffle(parts)
            values = (place.province, place.city, place.district, spot, name, phone)
            rows.append((rng.choice(("", " ", ",")).join(parts), dict(zip(ADDRESS_FIELDS, values, strict=True))))
    return [(text, said({name: expected.get(name, "") for name in ADDRESS_FIELDS})) for text, expected in rows[:count]]


def news(data: Path | None, count: int, rng: random.Random) -> list[tuple[str, str]]:
    """News with their labels."""
    if data is not None:
        with gzip.open(data / "agnews_train.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(next(file)) for _ in range(count)]
        return [(row["text"], AGNEWS_LABELS[row["label"]]) for row in rows]
    words = ["oil", "prices", "team", "said", "on", "Tuesday", "company", "game", "software", "minister", "the", "U.S."]
    return [(" ".join(rng.choices(words, k=40)), rng.choice(AGNEWS_LABELS)) for _ in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--model", type=Path, default=BUILTIN_FOLDER)
    parser.add_argument("--addresses", type=int, default=500)
    parser.add_argument("--news", type=int, default=1000)
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--workers", type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--token-us", type=float, default=1.2)
    options = parser.parse_args()
    rng = random.Random(0)
    work = [(ADDRESS, addresses(options.data, options.addresses, rng)), (AGNEWS, news(options.data, options.news, rng))]
    work = [(task, rows) for task, rows in work if rows]
    print(json.dumps({"cores": available_cores(), "processors": available_processors()}), flush=True)
    if options.workers is None:
        for task, rows in work:
            measure(task, rows, options.model, parts=options.parts)
    for workers in options.workers or ():
        texts = [(task, [text for text, _ in rows]) for task, rows in work]
        measure_crew(options.model, texts, workers, options.token_us * 1e-6)


if __name__ == "__main__":
    main()
