"""What drafting brings: passes, latency, throughput, the worst case, against no drafts and against llama.cpp.

Every measurement is a process of its own; those that are compared take turns. Knows the processes by what they report.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

from copydesk import output
from copydesk.bench import address_lines, machine, wide_model
from copydesk.bench.conditions import conditions
from copydesk.bench.llamacpp import LlamaCpp
from copydesk.bench.report import Row, markdown, write
from copydesk.bench.spread import Spread, ratios
from copydesk.bench.work import Done, Work, done
from copydesk.engines.cores import available_cores
from copydesk.models.config import ModelConfig
from copydesk.types import Json

Measured = TypeVar("Measured")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many lines each measurement takes, and how often."""

    repeats: int = 3
    passes: int | None = None
    """Development lines; None for all."""
    latency: int = 20
    throughput: int = 2000
    worst: int = 200
    warm_up: int = 4


QUICK = Sizes(repeats=1, passes=24, latency=4, throughput=100, worst=24, warm_up=2)
IN_FLIGHT = 64
PAGE = Path("docs/benchmarks.md")
"""Where the table goes by default, if there is such a folder."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is compared, on what."""

    data: Path
    """Holds `address/*.jsonl` and, if `wide` is not given, `qwen3/`."""
    model: str | None = None
    engine: str = "auto"
    wide: Path | None = None
    """The model inside Qwen3-0.6B's shape; made if it is not given."""
    gguf: Path | None = None
    """The same as GGUF; made if it is not given, or not there yet."""
    llama_server: Path | None = None
    """The peer's fastest build; without it only its wheel is measured."""
    sizes: Sizes = Sizes()
    seed: int = 0

    def run(self, out: Path | None = None) -> Json:
        """Measure everything; the figures as JSON, and as a table in `out`. Errors: `CopydeskError`."""
        begun = time.monotonic()
        found = machine.examine()
        bandwidth = float(found["memory_read_gb_s"])
        with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as made:
            peers = self._peers(Path(made))
            rows = [*self._passes(), *self._latency(peers, bandwidth), *self._throughput(), self._worst()]
            report: Json = {
                "rows": [row.to_dict() for row in rows],
                "peers": peers.description(),
                "sizes": asdict(self.sizes),
                "seed": self.seed,
                "seconds": round(time.monotonic() - begun),
                **found,
            }
        if out is not None:
            write(out, "drafts", markdown(rows, conditions(report)))
        return report

    def _peers(self, made: Path) -> LlamaCpp:
        wide = self.wide or wide_model.folder(self.data, made, self.model, seed=self.seed)
        gguf = wide_model.gguf(wide, self.gguf or made / "wide-q8_0.gguf")
        return LlamaCpp(wide, gguf, self.llama_server, available_cores())

    def _passes(self) -> list[Row]:
        """Passes an answer, and the time that the grammar takes of it."""
        work = Work(address_lines.development(self.data)[: self.sizes.passes], "drafted", self.model, self.engine)
        ways = {
            "drafted": lambda: done(replace(work, time_grammar=True)),
            "undrafted": lambda: done(replace(work, mode="undrafted")),
        }
        runs = self._in_turns("passes", ways)
        drafted, undrafted = ([statistics.mean(run.passes) for run in runs[way]] for way in ways)
        different = _different(runs["drafted"], runs["undrafted"])
        return [
            Row(
                "passes",
                f"mean passes an address, {len(work.texts)} development lines, built-in model, cold tagger",
                2.0,
                "passes",
                Spread.of(drafted),
                "no draft",
                Spread.of(undrafted),
                most=True,
                more={"different_answers": different, "times_fewer": ratios(undrafted, drafted).to_dict()},
            ),
            Row(
                "grammar",
                "all grammar work an address (matcher, validation, masks, compiling), mean",
                0.5,
                "ms",
                Spread.of([run.grammar_ms / len(work.texts) for run in runs["drafted"]]),
                "",
                most=True,
                more={
                    "of_it_compiling": statistics.median(run.compiling_ms / len(work.texts) for run in runs["drafted"])
                },
            ),
        ]

    def _latency(self, peers: LlamaCpp, bandwidth: float) -> list[Row]:
        """P50 of one address at a time in the large shape."""
        texts = list(address_lines.development(self.data))
        random.Random(self.seed).shuffle(texts)
        warm_up = address_lines.warm_up(self.data, self.sizes.warm_up)
        chosen = tuple(texts[: self.sizes.latency])
        work = Work(chosen, "drafted", str(peers.folder), self.engine, warm_up=warm_up)
        output.say("latency: whether the peers' own speculation helps them")
        peers.choose(warm_up)
        ways: dict[str, Callable[[], Done]] = {
            "drafted": lambda: done(work),
            "no draft": lambda: done(replace(work, mode="undrafted")),
        }
        for name in peers.names:
            ways[name] = lambda name=name: peers.answer(name, chosen, warm_up)  # type: ignore[misc]
        runs = self._in_turns("latency", ways)
        step_ms = step_bytes(ModelConfig.read(peers.folder)) / bandwidth / 1e6
        shares = {way: statistics.median(_share(run, step_ms) for run in runs[way]) for way in ways}
        p50 = {way: [statistics.median(run.ms) for run in runs[way]] for way in ways}
        wanted = {"no draft": 5.0, peers.WHEEL: 10.0, peers.BUILD: 5.0}
        return [
            Row(
                f"latency against {way}",
                f"P50 of an address, Qwen3-0.6B's shape, 8-bit, {len(chosen)} lines, against {way}",
                wanted[way],
                "ms",
                Spread.of(p50["drafted"]),
                way,
                Spread.of(p50[way]),
                ratios(p50[way], p50["drafted"]),
                of_limit=shares["drafted"],
                peer_of_limit=shares[way],
                more={
                    "passes": statistics.mean(runs["drafted"][0].passes),
                    "peer_passes": statistics.mean(runs[way][0].passes),
                    "different_answers": _different(runs["drafted"], runs[way]),
                    "ms_a_pass_by_memory": step_ms,
                },
            )
            for way in ways
            if way != "drafted"
        ]

    def _throughput(self) -> list[Row]:
        """Addresses a second: many at once, one at a time, many at once without drafts."""
        texts = address_lines.many(self.data, self.sizes.throughput, self.seed)
        warm_up = address_lines.warm_up(self.data, self.sizes.warm_up)
        work = Work(texts, "drafted", self.model, self.engine, IN_FLIGHT, warm_up)
        ways: dict[str, Callable[[], Done]] = {
            "batched": lambda: done(work),
            "drafted, one at a time": lambda: done(replace(work, in_flight=1)),
            "no draft, batched": lambda: done(replace(work, mode="undrafted")),
        }
        runs = self._in_turns("throughput", ways)
        rates = {way: [len(texts) / run.seconds for run in runs[way]] for way in ways}
        wanted = {"drafted, one at a time": 1.2, "no draft, batched": 5.0}
        return [
            Row(
                f"throughput against {way}",
                f"records/s for {len(texts):,} addresses, built-in model, {available_cores()} cores, against {way}",
                least,
                "records/s",
                Spread.of(rates["batched"]),
                way,
                Spread.of(rates[way]),
                ratios(rates["batched"], rates[way]),
                more={"different_answers": _different(runs["batched"], runs[way])},
            )
            for way, least in wanted.items()
        ]

    def _worst(self) -> Row:
        """Random legal drafts of full length, against none."""
        texts = address_lines.many(self.data, self.sizes.worst, self.seed)
        work = Work(texts, "hostile", self.model, self.engine, seed=self.seed)
        ways = {"hostile": lambda: done(work), "no draft": lambda: done(replace(work, mode="undrafted"))}
        runs = self._in_turns("worst case", ways)
        seconds = {way: [run.seconds for run in runs[way]] for way in ways}
        return Row(
            "worst case",
            f"worst case: {len(texts)} answers, random legal drafts of full length, new process",
            1.1,
            "s",
            Spread.of(seconds["hostile"]),
            "no draft",
            Spread.of(seconds["no draft"]),
            ratios(seconds["hostile"], seconds["no draft"]),
            most=True,
            more={"different_answers": _different(runs["hostile"], runs["no draft"])},
        )

    def _in_turns(self, what: str, ways: dict[str, Callable[[], Measured]]) -> dict[str, list[Measured]]:
        """Each way as often as there are repeats; every repeat begins with another way."""
        names = list(ways)
        found: dict[str, list[Measured]] = {name: [] for name in names}
        for repeat in range(self.sizes.repeats):
            shift = repeat % len(names)
            for name in names[shift:] + names[:shift]:
                begun = time.monotonic()
                found[name].append(ways[name]())
                seconds = time.monotonic() - begun
                output.say(f"{what}, repeat {repeat + 1} of {self.sizes.repeats}: {name}, {seconds:.0f} s")
        return found


def step_bytes(config: ModelConfig) -> int:
    """Bytes of 8-bit weights that every pass reads: all matrices, of the embedding only a row or so."""
    attention = (2 * config.num_attention_heads + 2 * config.num_key_value_heads) * config.head_dim
    layer = config.hidden_size * (attention + 3 * config.intermediate_size)
    return config.num_hidden_layers * layer + config.vocab_size * config.hidden_size


def _different(ours: Sequence[Done], theirs: Sequence[Done]) -> int:
    """How many answers of the first repeat differ."""
    return sum(mine != other for mine, other in zip(ours[0].values, theirs[0].values, strict=True))


def _share(run: Done, step_ms: float) -> float:
    return statistics.mean(run.passes) * step_ms / statistics.mean(run.ms)
