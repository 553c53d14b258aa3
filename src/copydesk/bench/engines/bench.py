"""The comparison of engines as a whole: every way of answering in a process of its own, in turns, and a table of them.

Knows the processes by what they report.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from copydesk import output
from copydesk.bench import machine
from copydesk.bench.engines import subjects
from copydesk.bench.engines.questions import Job, Question, is_right, questions, texts
from copydesk.bench.engines.subjects import Subject
from copydesk.bench.engines.table import Row, table
from copydesk.bench.engines.ways import WAYS, Way, environment
from copydesk.bench.engines.work import Asked, Cannot, Ran, Work, run
from copydesk.bench.report import write
from copydesk.bench.spread import Spread
from copydesk.errors import CopydeskError
from copydesk.types import Json

PAGE = Path("docs/benchmarks.md")
"""Where the table goes by default, if there is such a folder."""
_PACKAGES = ("torch", "transformers", "langchain-openai", "openai")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many questions each measurement takes, and how often."""

    repeats: int = 3
    slow_repeats: int = 1
    one_by_one: int = 2
    """Of each job, timed one by one."""
    slow: int = 1
    """The same for slow ways, the first four."""
    at_once: int = 8
    guide_tokens: int = 256
    """Longest answer of the ways that do not fit it to the job."""


QUICK = Sizes(repeats=1, one_by_one=1, at_once=2, guide_tokens=16)


@dataclass(frozen=True, slots=True)
class Bench:
    """What is compared, on what."""

    data: Path
    """Holds `address/*.jsonl`, for SmolLM2 `agnews_train.jsonl.gz`, and, if `wide` is not given, `qwen3/`."""
    wide: Path | None = None
    """The built-in model inside Qwen3-0.6B's shape; made if it is not given."""
    gguf: Path | None = None
    """The same as GGUF; made if it is not given, or not there yet."""
    smollm2: Path | None = None
    """SmolLM2-135M-Instruct's GGUF file; without it its rows say how to get it."""
    sizes: Sizes = Sizes()
    seed: int = 0

    def run(self, out: Path | None = None) -> Json:
        """Measure all of it; the figures as JSON, and as a table in `out` after each model. Errors: `CopydeskError`."""
        begun = time.monotonic()
        found = machine.examine()
        with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as made:
            # What is quickly found to be wrong comes first.
            small = subjects.smollm2(self.smollm2, Path(made))
            asked = {job: self._questions(job) for job in ("address", *(small.jobs if small.folder else ()))}
            large = subjects.widened(self.data, Path(made), self.wide, self.gguf, seed=self.seed)
            report: Json = {"rows": [], "sizes": asdict(self.sizes), "seed": self.seed, **found}
            report["versions"] |= machine.versions(_PACKAGES)
            rows: list[Row] = []
            for model in (large, small):
                rows += self._rows(model, asked)
                report |= {"rows": [row.to_dict() for row in rows], "seconds": round(time.monotonic() - begun)}
                if out is not None:
                    write(out, "engines", table(rows, report))
        return report

    def _questions(self, job: Job) -> list[Question]:
        """One to warm up, then those one by one, then those at once."""
        return questions(job, self.data, 1 + self.sizes.one_by_one + self.sizes.at_once, self.seed)

    def _rows(self, model: Subject, asked: Mapping[Job, Sequence[Question]]) -> Iterator[Row]:
        """Of all jobs of a model, job after job."""
        runs = self._runs(model, {job: self._asked(asked[job]) for job in model.jobs if job in asked})
        for job in model.jobs:
            for way in WAYS:
                yield self._row(model, job, way, runs[way.name], asked.get(job, []))

    def _asked(self, own: Sequence[Question]) -> Asked:
        warm_up, *others = texts(own)
        one_by_one, at_once = others[: self.sizes.one_by_one], others[self.sizes.one_by_one :]
        return Asked(tuple(one_by_one), tuple(at_once), warm_up)

    def _runs(self, model: Subject, jobs: dict[Job, Asked]) -> dict[str, list[Ran | Cannot]]:
        """Each way as often as it is measured; every repeat begins with another."""
        runs: dict[str, list[Ran | Cannot]] = {way.name: [] for way in WAYS}
        for repeat in range(self.sizes.repeats):
            shift = repeat % len(WAYS)
            for way in WAYS[shift:] + WAYS[:shift]:
                if way.slow and repeat >= self.sizes.slow_repeats:
                    continue
                if any(isinstance(before, Cannot) for before in runs[way.name]):
                    continue
                begun = time.monotonic()
                runs[way.name].append(self._run(model, way, jobs))
                seconds = time.monotonic() - begun
                output.say(f"{model.name}, repeat {repeat + 1} of {self.sizes.repeats}: {way.name}, {seconds:.0f} s")
        return runs

    def _run(self, model: Subject, way: Way, jobs: dict[Job, Asked]) -> Ran | Cannot:
        try:
            form = model.model(way)
        except CopydeskError as error:
            return Cannot(str(error))
        fewer = self.sizes.slow if way.slow else self.sizes.one_by_one
        own = {
            job: Asked(asked.one_by_one[:fewer], asked.at_once if way.at_once else (), asked.warm_up)
            for job, asked in jobs.items()
        }
        return run(Work(way, form, own, self.sizes.guide_tokens, self.seed), environment(way))

    def _row(self, model: Subject, job: Job, way: Way, runs: Sequence[Ran | Cannot], asked: Sequence[Question]) -> Row:
        for each in runs:
            if isinstance(each, Cannot):
                return Row(model.name, job, way.name, way.what, why_not=each.why)
        ran = [each for each in runs if isinstance(each, Ran)]
        answered = [each.jobs[job] for each in ran]
        # Those one by one, fewer for slow ways, then those at once.
        one_by_one = len(answered[0].ms)
        posed = [*asked[1 : 1 + one_by_one], *asked[1 + self.sizes.one_by_one :]]
        right = [
            is_right(job, answer, question.right) for answer, question in zip(answered[0].answers, posed, strict=False)
        ]
        return Row(
            model.name,
            job,
            way.name,
            way.what,
            load_s=Spread.of([each.load_s for each in ran]),
            first_ms=Spread.of([statistics.median(each.first_ms) for each in answered]),
            p50_ms=Spread.of([statistics.median(each.ms) for each in answered]),
            per_second=Spread.of([each.per_second for each in answered]),
            peak_mb=_spread([each.peak_mb for each in ran]),
            held_mb=_spread([each.held_mb for each in ran]),
            right=sum(right),
            answers=len(right),
        )


def _spread(repeats: Sequence[float | None]) -> Spread | None:
    """None where any of them could not be told."""
    told = [each for each in repeats if each is not None]
    return Spread.of(told) if told and len(told) == len(repeats) else None
