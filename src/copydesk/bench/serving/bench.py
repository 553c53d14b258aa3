"""The comparison under load as a whole: servers started in turns, each asked by 1, 10 and 64 clients.

Knows the servers by their answers. What is measured is on the page at once, so that nothing is lost with a later row.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from copydesk import output
from copydesk.bench import machine, wide_model
from copydesk.bench.report import write
from copydesk.bench.serving import jobs
from copydesk.bench.serving.clients import Load, drive
from copydesk.bench.serving.jobs import Job, Kind
from copydesk.bench.serving.modes import Choice, Mode, choose
from copydesk.bench.serving.seen import Agreement, Seen, agreement, seen
from copydesk.bench.serving.servers import LlamaCpp, Running, ours
from copydesk.bench.serving.table import Place, conditions, rows, table
from copydesk.engines.cores import available_cores
from copydesk.models.resolve import BUILTIN, resolve
from copydesk.types import Json

PAGE = Path("docs/serving.md")
"""Where the table goes by default, if there is such a file."""
JOBS: tuple[Job, ...] = ("address", "news")
KINDS: tuple[Kind, ...] = ("copydesk", "llama.cpp")
_TEXTS = 12_000
"""Of a job, at most: so many that a server seldom reads one twice."""
_PACKAGES = ("uvicorn", "httpx")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    repeats: int = 3
    clients: tuple[int, ...] = (1, 10, 64)
    seconds: float = 5.0
    """A row and repeat."""
    warm_up: float = 1.0
    slots: tuple[int, ...] = (16, 4)
    """Of the peer, that are tried."""
    choosing: float = 2.0
    """Seconds for each number of clients and mode that is tried."""


QUICK = Sizes(repeats=1, clients=(1, 4, 64), seconds=1.0, warm_up=0.2, slots=(16,), choosing=0.5)


@dataclass(frozen=True, slots=True)
class Bench:
    """What is compared, on what."""

    data: Path
    """Holds `address/*.jsonl` and the news."""
    model: str | None = None
    """Of Qwen3's kind; by default the built-in one."""
    engine: str = "auto"
    gguf: Path | None = None
    """The same as GGUF; made if it is not given, or not there yet."""
    llama_server: Path | None = None
    """A build of llama.cpp in place of its wheel."""
    sizes: Sizes = Sizes()
    seed: int = 0

    def run(self, out: Path | None = None) -> Json:
        """Measure everything; the figures as JSON, and as a table in `out`. Errors: `CopydeskError`."""
        begun = time.monotonic()
        found = machine.examine()
        found["versions"] |= machine.versions(_PACKAGES)
        texts = [
            {job: jobs.texts(job, self.data, _TEXTS, self.seed + repeat) for job in JOBS}
            for repeat in range(self.sizes.repeats)
        ]
        with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as made:
            gguf = wide_model.gguf(resolve(self.model), self.gguf or Path(made) / "q8_0.gguf")
            peer = LlamaCpp(gguf, self.llama_server)
            about: Json = {"version": peer.version}
            rates = partial(self._rates, peer, texts[0]["address"])
            choice = choose(available_cores(), self.sizes.slots, self.sizes.clients, rates)
            measured: dict[Place, list[Seen]] = {
                (job, clients, kind): [] for job in JOBS for clients in self.sizes.clients for kind in KINDS
            }
            report: Json = {}
            for repeat, own in enumerate(texts):
                for place, figures in self._repeat(repeat, own, peer, choice):
                    measured[place].append(figures)
                    report = {
                        "rows": [row.to_dict() for row in rows(measured)],
                        "agreement": {job: asdict(self._agreement(job, measured)) for job in JOBS},
                        "model": self.model or BUILTIN,
                        "peer": about | choice.to_dict(),
                        "sizes": asdict(self.sizes),
                        "seed": self.seed,
                        "seconds": round(time.monotonic() - begun),
                        **found,
                    }
                    if out is not None:
                        write(out, "load", table(rows(measured), conditions(report)))
        return report

    def _rates(self, peer: LlamaCpp, texts: Sequence[str], mode: Mode, clients: Sequence[int]) -> dict[int, float]:
        """Addresses a second in a mode of the peer's, by clients."""
        remaining = itertools.cycle(texts)
        with peer.start(mode, max(clients)) as server:
            found = {
                number: self._seen(server, "address", remaining, number, self.sizes.choosing).per_second
                for number in clients
            }
        output.say(f"llama.cpp, {mode}: {', '.join(f'{rate:.3g}' for rate in found.values())} addresses/s")
        return found

    def _repeat(
        self, repeat: int, texts: dict[Job, tuple[str, ...]], peer: LlamaCpp, choice: Choice
    ) -> Iterator[tuple[Place, Seen]]:
        """Both servers, every second time the peer's first. Both read the texts in the same order."""
        for kind in KINDS if repeat % 2 == 0 else KINDS[::-1]:
            groups = choice.groups() if kind == "llama.cpp" else {None: list(self.sizes.clients)}
            remaining = {job: itertools.cycle(texts[job]) for job in JOBS}
            for mode, clients in groups.items():
                with self._start(peer, mode) as server:
                    for job, number in itertools.product(JOBS, clients):
                        figures = self._seen(server, job, remaining[job], number, self.sizes.seconds)
                        output.say(
                            f"repeat {repeat + 1} of {self.sizes.repeats}, {job}, {number} clients, {kind}: "
                            f"{figures.per_second:.3g} requests/s, {figures.errors} errors"
                        )
                        yield (job, number, kind), figures

    def _start(self, peer: LlamaCpp, mode: Mode | None) -> AbstractContextManager[Running]:
        """The peer's server in a mode, ours without."""
        if mode is not None:
            return peer.start(mode, max(self.sizes.clients))
        named = ["--model", self.model] if self.model else []
        return ours([*named, "--engine", self.engine])

    def _seen(self, server: Running, job: Job, texts: Iterator[str], clients: int, seconds: float) -> Seen:
        load = Load(clients, seconds, self.sizes.warm_up)
        body = partial(jobs.body, job, server.kind)
        window = drive(server.url, server.headers, texts, body, load, server.processor_seconds)
        return seen(job, window, available_cores())

    def _agreement(self, job: Job, measured: Mapping[Place, Sequence[Seen]]) -> Agreement:
        """Of all repeats, whose texts are compared each with its own."""
        total = Agreement()
        for repeat in range(self.sizes.repeats):
            sides = [
                [each for clients in self.sizes.clients for each in measured[job, clients, kind][repeat : repeat + 1]]
                for kind in KINDS
            ]
            total += agreement(*sides)
        return total
