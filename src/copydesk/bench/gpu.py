"""Our CUDA engine beside vLLM on one GPU: the same model, the same prompts, in turns.

Ours runs in this process (and its worker processes), vLLM in its own. Knows neither's workings.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from copydesk.bench import machine
from copydesk.bench.gpu_limits import Cost, Limits
from copydesk.bench.gpu_table import table
from copydesk.bench.gpu_time import Spent, spent
from copydesk.bench.report import Row, write
from copydesk.bench.spread import Spread, ratios
from copydesk.bench.vllm import NGRAM, PLAIN, Run, Vllm
from copydesk.errors import UsageError
from copydesk.models.config import ModelConfig
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Failure, Json, Task

PAGE = Path("docs/benchmarks.md")
_DECODED = 49
"""Tokens of plain decoding, the first of them the prompt's: no address has fewer."""
_SECONDS_TO_START = 120.0
_MOST_TOKENS = 160
"""Of an address: twice what any of them has."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many texts each measurement takes, and how often."""

    repeats: int = 3
    one_at_a_time: int = 40
    in_flight: tuple[int, ...] = (10, 64)
    per_in_flight: int = 16
    """Texts for each that is in flight."""
    addresses: int = 4096
    news: int = 16384
    peer_addresses: int = 512
    peer_news: int = 4096
    """The peer's rates do not change with more, but take long."""
    warm_up: int = 512


QUICK = Sizes(1, 8, (10, 64), 4, 512, 2048, 64, 512, 128)


@dataclass(frozen=True, slots=True)
class Bench:
    """What is compared, on what."""

    model: Path
    """In Qwen3-0.6B's shape."""
    addresses: list[str]
    news: list[str]
    vllm_path: str | None
    """Where Python finds vLLM; None measures ours alone."""
    vllm_options: Json
    workers: int | None = None
    engine: str = "cuda"
    sizes: Sizes = Sizes()

    def run(self, out: Path | None = None) -> Json:
        """Measure everything; the figures as JSON, and as a table in `out`. Errors: `CopydeskError`."""
        for name, texts, needed in (
            ("addresses", self.addresses, self.sizes.addresses + self.sizes.warm_up),
            ("news", self.news, self.sizes.news + self.sizes.warm_up),
        ):
            if len(texts) < needed:
                raise UsageError(f"{needed:,} {name} are needed, and there are {len(texts):,}; give a longer file.")
        begun = time.monotonic()
        with ExitStack() as stack:
            peers = (
                []
                if self.vllm_path is None
                else [Vllm(name, self.model, self.vllm_path, self.vllm_options) for name in (PLAIN, NGRAM)]
            )
            for peer in peers:
                stack.callback(peer.close)
            start = _first_answer(self.model, self.engine, self.addresses[0])
            for peer in peers:
                peer.wait()
            limits = Limits.measured()
            ours = stack.enter_context(_Ours(self.model, self.engine, self.workers))
            rows = _Rows(self, ours, peers, limits).all()
            rows.append(
                Row("start", "from process start to the first answer, warm cache", 15.0, "s", start,
                    ", ".join(f"{peer.name} {peer.load_seconds:.0f} s to load" for peer in peers), most=True)
            )  # fmt: skip
            report: Json = {
                "rows": [row.to_dict() for row in rows],
                "gpu": _gpu(),
                "limits": asdict(limits),
                "peers": {peer.name: peer.version for peer in peers},
                "workers": ours.workers,
                "sizes": asdict(self.sizes),
                "seconds": round(time.monotonic() - begun),
                **machine.examine(),
            }
        if out is not None:
            write(out, "gpu", table(report))
        return report


class _Ours:
    """Our model, with its workers started and everything warm."""

    def __init__(self, folder: Path, engine: str, workers: int | None) -> None:
        from copydesk.crew.making import usual_workers
        from copydesk.loading import load

        self.model = load(folder, engine=engine, learn=False, workers=workers)
        crew = self.model._crew
        started = crew is not None and crew.wait(_SECONDS_TO_START)
        self.workers = (usual_workers() if workers is None else workers) if started else 0

    def __enter__(self) -> _Ours:
        return self

    def __exit__(self, *_: object) -> None:
        self.model.close()


@dataclass(frozen=True, slots=True)
class _Rows:
    """Makes the rows of the table, one measurement after the other."""

    bench: Bench
    ours: _Ours
    peers: Sequence[Vllm]
    limits: Limits

    def all(self) -> list[Row]:
        sizes = self.bench.sizes
        self._warm_up()
        rows = [self._address(1, sizes.one_at_a_time, 25.0)]
        for in_flight, wanted in zip(sizes.in_flight, (15.0, 8.0), strict=True):
            rows.append(self._address(in_flight, in_flight * sizes.per_in_flight, wanted))
        rows.append(self._addresses_at_once())
        rows.append(self._news_one_at_a_time())
        rows.append(self._news_at_once())
        rows.append(self._decoding())
        return rows

    def _warm_up(self) -> None:
        sizes, model = self.bench.sizes, self.ours.model
        for in_flight in (1, *sizes.in_flight):
            some = slice(-sizes.warm_up, 4 * in_flight + 12 - sizes.warm_up)
            list(model.extract_many(self.bench.addresses[some], in_flight=in_flight))
            list(model.classify_many(self.bench.news[some], in_flight=in_flight))
        list(model.extract_many(self.bench.addresses[-sizes.warm_up :] * 4))
        list(model.classify_many(self.bench.news[-sizes.warm_up :] * 4))
        for peer in self.peers:
            addresses, news = self.bench.addresses[-sizes.warm_up :][:64], self.bench.news[-sizes.warm_up :][:64]
            for in_flight in (1, *sizes.in_flight):
                self._peer_extract(peer, addresses[: in_flight + 4], in_flight)
                self._peer_classify(peer, news[: in_flight + 4], in_flight)

    def _address(self, in_flight: int, count: int, wanted: float) -> Row:
        texts = self.bench.addresses[:count]
        ways: dict[str, Callable[[], Any]] = {
            "ours": lambda: _answers(self.ours.model.extract_many(texts, in_flight=in_flight)),
        }
        for peer in self.peers:
            ways[peer.name] = partial(self._peer_extract, peer, texts, in_flight)
        runs = self._in_turns(f"address, {in_flight} in flight", ways)
        p50 = {"ours": [statistics.median(answer.ms for answer in run) for run in runs["ours"]]} | {
            peer.name: [1e3 * statistics.median(run.each) for run in runs[peer.name]] for peer in self.peers
        }
        limit = self._limit_ms(runs["ours"][0], in_flight)
        where = (
            spent(lambda: list(self.ours.model.extract_many(texts, in_flight=in_flight)), len(texts))
            if in_flight == 1
            else None
        )
        what = "one at a time" if in_flight == 1 else f"{in_flight} in flight"
        return self._row(
            f"address {in_flight}", f"address with schema, {what}, P50", wanted, "ms", p50, limit, where, lower=True,
            more={"passes": statistics.mean(answer.passes for answer in runs["ours"][0]),
                  "different_answers": _different(runs["ours"][0], runs)},
        )  # fmt: skip

    def _addresses_at_once(self) -> Row:
        sizes = self.bench.sizes
        texts = self.bench.addresses[: sizes.addresses]
        ways: dict[str, Callable[[], Any]] = {
            "ours": lambda: _timed(lambda: _answers(self.ours.model.extract_many(texts))),
        }
        for peer in self.peers:
            ways[peer.name] = partial(self._peer_extract, peer, texts[: sizes.peer_addresses], 10**6)
        runs = self._in_turns(f"{len(texts):,} addresses at once", ways)
        rates = {"ours": [len(texts) / seconds for seconds, _ in runs["ours"]]} | {
            peer.name: [sizes.peer_addresses / run.all for run in runs[peer.name]] for peer in self.peers
        }
        limit = self._limit_rate(runs["ours"][0][1])
        where = spent(lambda: list(self.ours.model.extract_many(texts)), len(texts))
        return self._row(
            "addresses at once", f"{len(texts):,} addresses at once", 15.0, "records/s", rates, limit, where,
            lower=False, more={"peer_records": sizes.peer_addresses},
        )  # fmt: skip

    def _news_one_at_a_time(self) -> Row:
        texts = self.bench.news[: self.bench.sizes.one_at_a_time]
        ways: dict[str, Callable[[], Any]] = {
            "ours": lambda: _answers(self.ours.model.classify_many(texts, in_flight=1)),
        }
        for peer in self.peers:
            ways[peer.name] = partial(self._peer_classify, peer, texts, 1)
        runs = self._in_turns("news, one at a time", ways)
        p50 = {"ours": [statistics.median(answer.ms for answer in run) for run in runs["ours"]]} | {
            peer.name: [1e3 * statistics.median(run.each) for run in runs[peer.name]] for peer in self.peers
        }
        limit = self._limit_ms(runs["ours"][0], 1)
        where = spent(lambda: list(self.ours.model.classify_many(texts, in_flight=1)), len(texts))
        return self._row("news 1", "news, one at a time, P50", 3.0, "ms", p50, limit, where, lower=True, most=True)

    def _news_at_once(self) -> Row:
        sizes = self.bench.sizes
        texts = self.bench.news[: sizes.news]
        ways: dict[str, Callable[[], Any]] = {
            "ours": lambda: _timed(lambda: _answers(self.ours.model.classify_many(texts))),
        }
        for peer in self.peers:
            ways[peer.name] = partial(self._peer_classify, peer, texts[: sizes.peer_news], 10**6)
        runs = self._in_turns(f"{len(texts):,} news at once", ways)
        rates = {"ours": [len(texts) / seconds for seconds, _ in runs["ours"]]} | {
            peer.name: [sizes.peer_news / run.all for run in runs[peer.name]] for peer in self.peers
        }
        limit = self._limit_rate(runs["ours"][0][1])
        where = spent(lambda: list(self.ours.model.classify_many(texts)), len(texts))
        return self._row(
            "news at once", f"{len(texts):,} news at once, from text", 5000.0, "records/s", rates, limit, where,
            lower=False, most=False, absolute=True, more={"peer_records": sizes.peer_news},
        )  # fmt: skip

    def _decoding(self) -> Row:
        """Plain decoding: an address's JSON, neither constrained nor drafted. The first token is the prompt's."""
        texts = self.bench.addresses[:8]

        def ours() -> list[float]:
            return [_decoded(self.ours.model, text) for text in texts]

        ways: dict[str, Callable[[], Any]] = {"ours": ours}
        prompts = self._prompts(ADDRESS, texts)
        for peer in self.peers:

            def theirs(peer: Vllm = peer) -> list[float]:
                long, short = (peer.run(prompts, 1, max_tokens=most) for most in (_DECODED, 1))
                return [
                    1e3 * (all - first) / (count - 1)
                    for all, first, count in zip(long.each, short.each, long.tokens, strict=True)
                ]

            ways[peer.name] = theirs
        runs = self._in_turns("decoding", ways)
        each = {name: [statistics.median(run) for run in found] for name, found in runs.items()}
        limit = 1e3 * self.limits.seconds(Cost.of(self._config, 1, 1))
        return self._row(
            "decoding", "plain decoding, one at a time, a token", 0.6, "ms", each, limit, None, lower=True, most=True
        )

    def _row(
        self, name: str, what: str, wanted: float, unit: str, figures: dict[str, list[float]], limit: float,
        where: Spent | None, *, lower: bool, most: bool = False, absolute: bool = False, more: Json | None = None,
    ) -> Row:  # fmt: skip
        """Ours beside the peer's best mode. `limit` in the figures' unit is what the GPU could do at most."""
        mine = figures["ours"]
        others = {key: value for key, value in figures.items() if key != "ours"}
        best = (min if lower else max)(others, key=lambda key: statistics.median(others[key])) if others else None
        theirs = others[best] if best else None
        ratio = None if theirs is None else ratios(theirs, mine) if lower else ratios(mine, theirs)

        def share(values: list[float]) -> float:
            median = statistics.median(values)
            return limit / median if lower else median / limit

        extra: Json = {"limit": limit, "peers": {key: Spread.of(value).to_dict() for key, value in others.items()}}
        extra |= {} if where is None else {"where": asdict(where)}
        extra |= {"times": ratio.to_dict() if ratio else None} | (more or {})
        judged = None if most or absolute else ratio
        return Row(
            name, what, wanted, unit, Spread.of(mine), best or "", Spread.of(theirs) if theirs else None, judged,
            most=most, of_limit=share(mine), peer_of_limit=share(theirs) if theirs else None, more=extra,
        )  # fmt: skip

    def _in_turns(self, what: str, ways: dict[str, Callable[[], Any]]) -> dict[str, list[Any]]:
        names = list(ways)
        found: dict[str, list[Any]] = {name: [] for name in names}
        for repeat in range(self.bench.sizes.repeats):
            shift = repeat % len(names)
            for name in names[shift:] + names[:shift]:
                begun = time.monotonic()
                found[name].append(ways[name]())
                _tell(f"{what}, repeat {repeat + 1}: {name}, {time.monotonic() - begun:.1f} s")
        return found

    def _peer_extract(self, peer: Vllm, texts: Sequence[str], in_flight: int) -> Run:
        schema = ADDRESS.schema.json if ADDRESS.schema else None
        return peer.run(self._prompts(ADDRESS, texts), in_flight, max_tokens=_MOST_TOKENS, schema=schema)

    def _peer_classify(self, peer: Vllm, texts: Sequence[str], in_flight: int) -> Run:
        """From text, as ours: the prompt is handed over as such. The first token settles the label."""
        tokenizer = self._tokenizer
        before, after = (tokenizer.decode(part) for part in _around(AGNEWS, tokenizer))
        allowed = [tokenizer.encode(label)[0] for label in AGNEWS.labels]
        prompts = [before + text + after for text in texts]
        return peer.run(prompts, in_flight, max_tokens=1, allowed=allowed)

    def _prompts(self, task: Task, texts: Sequence[str]) -> list[list[int]]:
        before, after = _around(task, self._tokenizer)
        return [[*before, *self._tokenizer.encode(text), *after] for text in texts]

    @property
    def _tokenizer(self) -> Tokenizer:
        from copydesk.models.shared import shared_tokenizer

        return shared_tokenizer(self.bench.model)

    @property
    def _config(self) -> ModelConfig:
        return ModelConfig.read(self.bench.model)

    def _cost(self, answers: Sequence[Answer[Any]]) -> tuple[float, float, float]:
        """Mean tokens read, positions scored and passes of an answer."""
        tokens = statistics.mean(
            answer.usage.prompt_tokens - answer.usage.cached_tokens + answer.usage.completion_tokens
            for answer in answers
        )
        labels = bool(answers[0].labels)
        scored = 1.0 if labels else 0.6 * statistics.mean(answer.usage.completion_tokens for answer in answers)
        return tokens, scored, statistics.mean(answer.passes for answer in answers)

    def _limit_ms(self, answers: Sequence[Answer[Any]], in_flight: int) -> float:
        """The least that an answer can take when so many share each forward."""
        tokens, scored, passes = self._cost(answers)
        return 1e3 * self.limits.seconds(Cost.of(self._config, in_flight * tokens, in_flight * scored, passes))

    def _limit_rate(self, answers: Sequence[Answer[Any]]) -> float:
        """The most answers a second that matrix products allow."""
        tokens, scored, _ = self._cost(answers)
        return self.limits.flops / Cost.of(self._config, tokens, scored, 0).flops


def _around(task: Task, tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    prompt = render_prompt(task, tokenizer=tokenizer)
    return list(prompt.prefix), list(prompt.suffix)


def _answers(rows: Any) -> list[Answer[Any]]:
    answers = list(rows)
    for row in answers:
        if isinstance(row, Failure):
            raise UsageError(f"A text could not be answered: {row.message}")
    return answers


def _timed(run: Callable[[], list[Answer[Any]]]) -> tuple[float, list[Answer[Any]]]:
    begun = time.perf_counter()
    answers = run()
    return time.perf_counter() - begun, answers


def _decoded(model: Any, text: str) -> float:
    """Milliseconds a token after the first."""
    messages = [{"role": "system", "content": ADDRESS.instruction}, {"role": "user", "content": text}]
    options: Json = {"thinking": "off", "draft": False, "temperature": 0.0, "repetition_penalty": 1.0}
    first, whole = (model.chat(messages, max_tokens=most, **options) for most in (1, _DECODED))
    return float((whole.ms - first.ms) / max(1, whole.usage.completion_tokens - 1))


def _different(answers: Sequence[Answer[Any]], runs: dict[str, list[Any]]) -> Json:
    """How many of the first repeat's answers each peer has otherwise."""
    return {
        name: sum(_parsed(text) != answer.value for answer, text in zip(answers, found[0].texts, strict=True))
        for name, found in runs.items()
        if name != "ours"
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _first_answer(model: Path, engine: str, text: str) -> Spread:
    """Seconds of the whole command, the second time."""
    command = [
        sys.executable,
        "-m",
        "copydesk",
        "extract",
        "--engine",
        engine,
        "--model",
        str(model),
        "--no-learn",
        text,
    ]
    seconds = []
    with tempfile.TemporaryDirectory() as home:
        for _ in range(3):
            begun = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, env=os.environ | {"COPYDESK_HOME": home})
            seconds.append(time.perf_counter() - begun)
    return Spread.of(seconds[1:])


def _gpu() -> Json:
    import torch
    import triton

    return {
        "name": torch.cuda.get_device_name(),
        "versions": {"torch": torch.__version__, "triton": triton.__version__},
    }


def _tell(message: str) -> None:
    print(f"copydesk: {message}", file=sys.stderr, flush=True)
