"""Trains a model within a time budget and writes the finished folder: `python -m copydesk.training.train --help`.

Owns the clock, the log and the files; the step itself is the trainer's. The budget counts everything from the start of
the process: compiling, evaluating and the export too.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from copydesk.models.tokenizer import Tokenizer
from copydesk.models.weights import Weights
from copydesk.training import checkpoint, schedule
from copydesk.training.evaluation import Evaluator, Figures
from copydesk.training.feeding import Feeder
from copydesk.training.nano import write_nano
from copydesk.training.network import Shape
from copydesk.training.quantize import rounded_all
from copydesk.training.recipe import Recipe, read_recipe
from copydesk.training.trainer import Trainer

Json = dict[str, Any]
_TASKS = ("address", "agnews")


class Run:
    """One training run: `go` trains until the time is up, `finish` measures and exports."""

    def __init__(
        self,
        recipe: Recipe,
        *,
        tokenizer: Path,
        out: Path,
        seconds: float,
        seed: int,
        device: torch.device,
        started: float,
    ) -> None:
        self.recipe, self.out, self.seconds, self.seed, self.started = recipe, out, seconds, seed, started
        self.tokenizer_folder, self.tokenizer = tokenizer, Tokenizer(tokenizer)
        sizes = {name: value for name, value in asdict(recipe.network).items() if name != "dropout"}
        self.shape = Shape(vocab_size=self.tokenizer.vocab_size, **sizes)
        self.device = device
        out.mkdir(parents=True, exist_ok=True)
        self._log = (out / "log.jsonl").open("a", encoding="utf-8")
        self.trainer = Trainer(recipe, self.shape, seed, device)
        self.evaluator = Evaluator(self.shape, self.tokenizer, device, recipe.block.longest)
        self.base, self.tokens, self.history = 0.0, 0, list[Json]()
        self.replayed_share = 0.0

    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def resume(self, folder: Path) -> None:
        state = checkpoint.load(folder, self.device)
        self.trainer.masters.restore(state["masters"])
        self.base, self.tokens = float(state["progress"]), int(state["tokens"])
        self.say("resume", folder=str(folder), progress=round(self.base, 4), steps=self.trainer.masters.steps)

    def start_from(self, weights: Mapping[str, Tensor]) -> None:
        self.trainer.masters.start_from({name: value.to(self.device) for name, value in weights.items()})

    def go(self, feeder: Feeder) -> None:
        """Trains until what is left of the budget is what the finish needs."""
        recipe, trainer, size = self.recipe, self.trainer, self.recipe.block
        trainer.choose_compilation()
        trainer.masters.refresh(quantised=schedule.quantised(recipe, self.base))
        self.say(
            "start", trainer=trainer.describe(), parameters=sum(w.numel() for w in trainer.masters.weights.values())
        )
        begun = self.elapsed()
        available = max(1.0, self.seconds - recipe.finish_seconds - begun)
        logged, evaluated, saved = begun, begun, begun
        steps_then, fresh_then, replayed_then, last_progress = trainer.masters.steps, 0, 0, 0.0
        while (share := (self.elapsed() - begun) / available) < 1.0:
            progress = self.base + (1.0 - self.base) * share
            norm = trainer.step(
                feeder.next(),
                rate=schedule.rate(recipe.optimiser, progress),
                text=schedule.text_weight(recipe, progress),
                quantised=schedule.quantised(recipe, progress),
            )
            self.tokens += size.tokens
            now = self.elapsed()
            if progress - last_progress > 0.002:
                feeder.progress(progress)
                last_progress = progress
            if now - logged >= recipe.log_every_seconds:
                steps = trainer.masters.steps - steps_then
                fresh, replayed = feeder.fresh - fresh_then, feeder.replayed - replayed_then
                sums = trainer.read_sums()
                rate = steps / (self.elapsed() - logged)
                self.say(
                    "train",
                    step=trainer.masters.steps,
                    progress=round(progress, 4),
                    tokens_per_second=round(rate * size.tokens),
                    peak_share=round(rate * trainer.flops() / recipe.peak_flops, 4),
                    replayed=round(replayed / max(1, fresh + replayed), 3),
                    norm=round(float(norm), 4),
                    rate=round(schedule.rate(recipe.optimiser, progress), 4),
                    **self._losses(sums),
                )
                if trouble := feeder.troubles():
                    self.say("trouble", message=trouble)
                logged, steps_then, fresh_then, replayed_then = (
                    self.elapsed(), trainer.masters.steps, feeder.fresh, feeder.replayed,
                )  # fmt: skip
            if recipe.evaluate_every_seconds and now - evaluated >= recipe.evaluate_every_seconds:
                self.evaluate(quantised=schedule.quantised(recipe, progress), at_most=recipe.evaluate_rows)
                evaluated = self.elapsed()
                logged, steps_then = evaluated, trainer.masters.steps
                fresh_then, replayed_then = feeder.fresh, feeder.replayed
            if recipe.checkpoint_every_seconds and now - saved >= recipe.checkpoint_every_seconds:
                self.save(progress)
                saved = self.elapsed()
        if recipe.checkpoint_every_seconds:
            self.save(1.0)
        self.replayed_share = feeder.replayed / max(1, feeder.fresh + feeder.replayed)

    def save(self, progress: float) -> None:
        state = {"masters": self.trainer.masters.state(), "progress": progress, "tokens": self.tokens}
        checkpoint.save(self.out, state)

    def evaluate(self, *, quantised: bool, at_most: int | None, which: str = "averages") -> dict[str, Figures]:
        """Measures the averaged (or the last) weights on every file; says a line for each and keeps the wrong lines."""
        weights = self.trainer.masters.averages if which == "averages" else self.trainer.masters.weights
        self.evaluator.load(rounded_all(weights) if quantised else weights)
        found: dict[str, Figures] = {}
        for name, file in self.recipe.evaluate.items():
            try:
                found[name] = figures = self.evaluator.measure(Path(file), at_most)
            except Exception as error:  # a broken file must not cost the run
                self.say("trouble", message=f"evaluating {file}: {type(error).__name__}: {error}")
                continue
            shares = {key: round(value, 4) for key, value in figures.shares.items()}
            took = round(figures.seconds, 2)
            self.say("evaluate", file=name, weights=which, quantised=quantised, n=figures.n, took=took, **shares)
            with (self.out / f"errors_{name}.jsonl").open("w", encoding="utf-8") as out:
                out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in figures.wrong)
        return found

    def finish(self, command: list[str]) -> Json:
        """Exports the averaged, quantised weights, then measures exactly them; returns (and writes) the run's facts."""
        averages = self.trainer.masters.averages
        folder = self.out / "nano"
        size = write_nano(folder, averages, self.shape, self.tokenizer_folder, self.tokenizer.eos_token_ids, _TASKS)
        figures = self.evaluate(quantised=True, at_most=None)
        facts: Json = {
            "command": command,
            "seed": self.seed,
            "seconds": round(self.elapsed(), 1),
            "tokens": self.tokens,
            "steps": self.trainer.masters.steps,
            "replayed_share": round(self.replayed_share, 4),
            "bytes": size,
            "parameters": sum(weight.numel() for weight in averages.values()),
            "trainer": self.trainer.describe(),
            "hardware": torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else platform.processor(),
            "versions": {"python": platform.python_version(), "torch": torch.__version__},
            "figures": {name: {"n": entry.n, **entry.shares} for name, entry in figures.items()},
            "recipe": asdict(self.recipe),
        }
        (self.out / "training.json").write_text(json.dumps(facts, ensure_ascii=False, indent=2, default=dict) + "\n")
        self.say("done", bytes=size, tokens=self.tokens, seconds=facts["seconds"], out=str(folder))
        self._log.close()
        return facts

    def say(self, event: str, **values: Any) -> None:
        """A line on stderr for people, the same as JSON in the log."""
        record = {"event": event, "seconds": round(self.elapsed(), 2), **values}
        self._log.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._log.flush()
        written = " ".join(f"{key} {value}" for key, value in values.items())
        print(f"{record['seconds']:8.1f} {event}: {written}", file=sys.stderr, flush=True)

    def _losses(self, sums: list[list[float]]) -> dict[str, float]:
        losses: dict[str, float] = {}
        for source, (answer, answer_weight, text, text_weight) in zip(self.recipe.sources, sums, strict=False):
            if answer_weight:
                losses[source.name] = round(answer / answer_weight, 5)
            if text_weight:
                losses[f"{source.name}_text"] = round(text / text_weight, 4)
        return losses


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Float32 weights by Hugging Face name from a model folder, for `--init`."""
    weights = Weights(folder)
    return {name: torch.from_numpy(weights[name].float32().copy()) for name in weights}


def main(arguments: list[str] | None = None) -> int:
    started = time.monotonic()
    parser = argparse.ArgumentParser(prog="python -m copydesk.training.train", description=__doc__)
    parser.add_argument("--recipe", type=Path, help="JSON file; see copydesk.training.recipe")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="e.g. optimiser.rate=1e-3")
    parser.add_argument("--data", type=Path, help="folder that {data} in the recipe stands for")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder with tokenizer.json(.gz) and its config")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="budget of the whole process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, help="folder with checkpoint.pt: continue that run")
    parser.add_argument("--init", type=Path, help="model folder to start from, with a new optimiser and schedule")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args(arguments)
    recipe = read_recipe(options.recipe, options.set, options.data)
    torch.manual_seed(options.seed)
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    with Feeder(recipe, options.tokenizer, options.seed) as feeder:
        run = Run(
            recipe,
            tokenizer=options.tokenizer,
            out=options.out,
            seconds=options.seconds,
            seed=options.seed,
            device=torch.device(options.device),
            started=started,
        )
        if options.init:
            run.start_from(read_weights(options.init))
        if options.resume:
            run.resume(options.resume)
        run.go(feeder)
    run.finish(sys.argv if arguments is None else arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
