"""Our CUDA engine beside vLLM on one GPU: the same model, the same prompts, in turns.

Ours runs in this process (and its worker processes), vLLM in its own. The table is written after every row, so that a
run that is cut short loses nothing. Knows neither's workings.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from copydesk.bench import machine
from copydesk.bench.gpu_contest import Contest
from copydesk.bench.gpu_limits import Cost, Limits
from copydesk.bench.gpu_table import table
from copydesk.bench.gpu_time import spent
from copydesk.bench.gpu_work import Ours, Theirs
from copydesk.bench.report import Row, write
from copydesk.bench.spread import Spread
from copydesk.bench.vllm import NGRAM, PLAIN, Vllm
from copydesk.errors import UsageError
from copydesk.models.config import ModelConfig
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.types import Json, Task

_SECONDS_TO_START = 120.0
_OPEN_SHARE = 0.6
"""Of an address's tokens, those that the schema leaves open, which are scored."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many texts each measurement takes, and how often."""

    repeats: int = 3
    one_at_a_time: int = 24
    per_in_flight: int = 16
    """Texts for each that is in flight."""
    peer_per_in_flight: int = 4
    addresses: int = 4096
    news: int = 16384
    peer_addresses: int = 512
    peer_news: int = 4096
    """The peer's rates do not change with more, but take long."""
    decoded: int = 8
    warm_up: int = 512


QUICK = Sizes(1, 8, 4, 1, 512, 2048, 64, 512, 4, 128)


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
        self._check()
        begun = time.monotonic()
        with ExitStack() as stack:
            names = (PLAIN, NGRAM) if self.vllm_path else ()
            peers = [Vllm(name, self.model, self.vllm_path or "", self.vllm_options) for name in names]
            for peer in peers:
                stack.callback(peer.close)
            start = _first_answer(self.model, self.engine, self.addresses[0])
            for peer in peers:
                peer.wait()
            limits = Limits.measured()
            report: Json = {
                "rows": [_start_row(start, peers).to_dict()],
                "gpu": _gpu(),
                "limits": asdict(limits),
                "peers": {peer.name: peer.version for peer in peers},
                "sizes": asdict(self.sizes),
                **machine.examine(),
            }
            ours, report["workers"] = self._ours(stack)
            for row in _Rows(self, ours, peers, limits).all():
                report["rows"].append(row.to_dict())
                report["seconds"] = round(time.monotonic() - begun)
                if out is not None:
                    write(out, "gpu", table(report))
        return report

    def _check(self) -> None:
        for name, texts, needed in (
            ("addresses", self.addresses, self.sizes.addresses + self.sizes.warm_up),
            ("news", self.news, self.sizes.news + self.sizes.warm_up),
        ):
            if len(texts) < needed:
                raise UsageError(f"{needed:,} {name} are needed, and there are {len(texts):,}; give a longer file.")

    def _ours(self, stack: ExitStack) -> tuple[Ours, int]:
        """Our model with its workers started, and how many these are."""
        from copydesk.crew.making import usual_workers
        from copydesk.loading import load

        model = stack.enter_context(load(self.model, engine=self.engine, learn=False, workers=self.workers))
        crew = model._crew
        started = crew is not None and crew.wait(_SECONDS_TO_START)
        return Ours(model), (usual_workers() if self.workers is None else self.workers) if started else 0


@dataclass(frozen=True, slots=True)
class _Rows:
    """Makes the rows of the table, one measurement after the other."""

    bench: Bench
    ours: Ours
    peers: Sequence[Vllm]
    limits: Limits

    def all(self) -> Iterator[Row]:
        """In the order in which they are measured."""
        self._warm_up()
        yield self._latency("address 1", "address with schema, one at a time, P50", ADDRESS, 1, 25.0)
        yield self._latency("news 1", "news, one at a time, P50", AGNEWS, 1, 3.0, against_peer=False)
        yield self._decoding()
        yield self._rate("news at once", "news at once, from text", AGNEWS, 5000.0, against_peer=False)
        yield self._rate("addresses at once", "addresses at once", ADDRESS, 15.0)
        yield self._latency("address 10", "address with schema, 10 in flight, P50", ADDRESS, 10, 15.0)
        yield self._latency("address 64", "address with schema, 64 in flight, P50", ADDRESS, 64, 8.0)

    def _warm_up(self) -> None:
        for task in (ADDRESS, AGNEWS):
            texts = self._texts(task)[-self.bench.sizes.warm_up :]
            for in_flight in (1, 10, 64):
                self.ours.latency(task, texts[: 4 * in_flight + 12], in_flight)
            self.ours.rate(task, texts * 4)
            for peer in self.peers:
                for in_flight in (1, 10, 64):
                    self._theirs.run(peer, task, texts[: in_flight + 4], in_flight)

    def _latency(
        self, name: str, what: str, task: Task, in_flight: int, wanted: float, *, against_peer: bool = True
    ) -> Row:
        sizes = self.bench.sizes
        count = sizes.one_at_a_time if in_flight == 1 else in_flight * sizes.per_in_flight
        texts = self._texts(task)[:count]
        few = texts if in_flight == 1 else texts[: in_flight * sizes.peer_per_in_flight]
        contest = Contest(
            name,
            what,
            "ms",
            wanted,
            lower=True,
            ours=partial(self.ours.latency, task, texts, in_flight),
            peers={peer.name: partial(self._theirs.latency, peer, task, few, in_flight) for peer in self.peers},
            against_peer=against_peer,
        )
        found = contest.run(sizes.repeats)
        limit = 1e3 * self.limits.seconds(self._cost(task, in_flight, self.ours.passes))
        answers = self.ours.answers
        where = spent(partial(self.ours.latency, task, texts, in_flight), len(texts))
        different = (
            {peer.name: self._theirs.different(peer, texts[:64], answers[:64]) for peer in self.peers}
            if task is ADDRESS
            else {}
        )
        return contest.row(found, limit, where, passes=self.ours.passes, different_answers=different)

    def _rate(self, name: str, what: str, task: Task, wanted: float, *, against_peer: bool = True) -> Row:
        sizes = self.bench.sizes
        count, few = (sizes.news, sizes.peer_news) if task is AGNEWS else (sizes.addresses, sizes.peer_addresses)
        texts = self._texts(task)
        contest = Contest(
            name,
            f"{count:,} {what}",
            "records/s",
            wanted,
            lower=False,
            ours=partial(self.ours.rate, task, texts[:count]),
            peers={peer.name: partial(self._theirs.rate, peer, task, texts[:few]) for peer in self.peers},
            against_peer=against_peer,
        )
        found = contest.run(sizes.repeats)
        limit = self.limits.flops / self._cost(task, 1, 0).flops
        where = spent(partial(self.ours.rate, task, texts[:count]), count)
        return contest.row(found, limit, where, peer_records=few, tokens=self.ours.tokens)

    def _decoding(self) -> Row:
        texts = self.bench.addresses[: self.bench.sizes.decoded]
        contest = Contest(
            "decoding",
            "plain decoding, one at a time, a token",
            "ms",
            0.6,
            lower=True,
            ours=partial(self.ours.decoding, texts),
            peers={peer.name: partial(self._theirs.decoding, peer, texts) for peer in self.peers},
            against_peer=False,
        )
        found = contest.run(self.bench.sizes.repeats)
        return contest.row(found, 1e3 * self.limits.seconds(Cost.of(self._config, 1, 1)))

    def _texts(self, task: Task) -> list[str]:
        return self.bench.news if task is AGNEWS else self.bench.addresses

    def _cost(self, task: Task, in_flight: int, passes: float) -> Cost:
        """Of what so many answers together have read and scored."""
        tokens = self.ours.tokens
        written = sum(answer.usage.completion_tokens for answer in self.ours.answers) / len(self.ours.answers)
        scored = 1.0 if task is AGNEWS else _OPEN_SHARE * written
        return Cost.of(self._config, in_flight * tokens, in_flight * scored, passes)

    @property
    def _theirs(self) -> Theirs:
        return Theirs(self.bench.model)

    @property
    def _config(self) -> ModelConfig:
        return ModelConfig.read(self.bench.model)


def _start_row(start: Spread, peers: Sequence[Vllm]) -> Row:
    loads = ", ".join(f"{peer.name} loads in {peer.load_seconds:.0f} s" for peer in peers)
    what = "from process start to the first answer, warm cache"
    return Row("start", what, 15.0, "s", start, loads, most=True)


def _first_answer(model: Path, engine: str, text: str) -> Spread:
    """Seconds of the whole command, but for the first time."""
    options = ["--engine", engine, "--model", str(model), "--no-learn"]
    seconds = []
    with tempfile.TemporaryDirectory() as home:
        for _ in range(3):
            begun = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "copydesk", "extract", *options, text],
                check=True,
                capture_output=True,
                env=os.environ | {"COPYDESK_HOME": home},
            )
            seconds.append(time.perf_counter() - begun)
    return Spread.of(seconds[1:])


def _gpu() -> Json:
    import torch
    import triton

    versions = {"torch": torch.__version__, "triton": triton.__version__}
    return {"name": torch.cuda.get_device_name(), "versions": versions}
