"""Makes the student's news material: tunes the teachers on the training rows, has new rows written, judges them all.

`python -m copydesk.training.news.teach --data DIR --smollm2 FILE --minilm FILE --out DIR`. Every stage keeps to its
share of `--budget-seconds`, and what is ready is on disk, so a run that is cut off is of use. Knows no student.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from copydesk.errors import ModelError
from copydesk.training.news.classifier import Classifier, Labelled, log_probabilities, train_classifier
from copydesk.training.news.combine import Combination, fit_combination, macro_f1
from copydesk.training.news.fine_tune import FineTuning
from copydesk.training.news.minilm import read_minilm
from copydesk.training.news.novelty import Novelty
from copydesk.training.news.rows import LABELS, NewsRow, read_rows
from copydesk.training.news.sequences import Sequences, tokenise
from copydesk.training.news.smollm2 import END_OF_DOCUMENT, read_smollm2
from copydesk.training.news.split import SEED, Split, split
from copydesk.training.news.taught import REAL_FILE, TaughtRow, write_taught
from copydesk.training.news.writer import train_writer, write

logger = logging.getLogger(__name__)

CLASSIFIED_TOKENS = 192
"""Longest text that a teacher reads, in its own tokens; fewer than 1 row in 1,000 is longer."""
WRITTEN_TOKENS = 128
PIECE_ROWS = 80_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of a run. Seconds are shares of the budget."""

    budget: float
    folds: int = 3
    writer: FineTuning = field(default_factory=lambda: FineTuning(2, 0.16, 128, 2e-4))
    causal: FineTuning = field(default_factory=lambda: FineTuning(2, 0.12, 128, 1.5e-4))
    encoder: FineTuning = field(default_factory=lambda: FineTuning(4, 0.035, 128, 2e-4))
    written_rows: int = 400_000
    write_batch: int = 8192
    most_chunks: int = 1000
    reserve: float = 0.06
    """Share of the budget kept for closing files."""

    def timed(self, tuning: FineTuning, seed: int = 0) -> FineTuning:
        return replace(tuning, seconds=tuning.seconds * self.budget, seed=seed)


class Clock:
    """The run's wall clock; logs and records what each stage took."""

    def __init__(self) -> None:
        self.started = self.last = time.perf_counter()
        self.stages: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages[stage] = round(now - self.last, 1)
        logger.info("%s: %.1f s (%.1f s in all)", stage, now - self.last, now - self.started)
        self.last = now

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.started


@dataclass(frozen=True, slots=True)
class Texts:
    """The same texts in every teacher's tokens."""

    tokens: tuple[Sequences, ...]


class Teachers:
    """Pre-trained networks with their tokenizers, and the classifiers tuned from them, one a kind and fold."""

    def __init__(self, smollm2: Path, minilm: Path | None, device: torch.device) -> None:
        self.device = device
        self.causal, self.causal_tokenizer = read_smollm2(smollm2)
        end = self.causal_tokenizer.token_to_id(END_OF_DOCUMENT)
        if end is None:
            raise ModelError(f"{smollm2} has no token {END_OF_DOCUMENT}: give a SmolLM2 file", code="model_unsupported")
        self.end: int = end
        self.encoder, self.encoder_tokenizer = (None, None)
        if minilm is not None:
            self.encoder, self.encoder_tokenizer = read_minilm(minilm, minilm.with_name("minilm_tokenizer.json"))
        self.classifiers: list[list[Classifier]] = [[] for _ in self.names]

    @property
    def names(self) -> tuple[str, ...]:
        return ("smollm2",) if self.encoder is None else ("smollm2", "minilm")

    def texts(self, texts: Sequence[str]) -> Texts:
        """Tokenises texts for every teacher."""
        tokens = [tokenise(self.causal_tokenizer, texts, limit=CLASSIFIED_TOKENS, wrap=self.end)]
        if self.encoder_tokenizer is not None:
            tokens.append(tokenise(self.encoder_tokenizer, texts, limit=CLASSIFIED_TOKENS))
        return Texts(tuple(tokens))

    def train_fold(self, texts: Texts, labels: np.ndarray, indices: np.ndarray, plan: Plan, fold: int) -> None:
        """Tunes one classifier of each kind on the rows `indices`."""
        networks = [(self.causal, plan.causal)] + ([] if self.encoder is None else [(self.encoder, plan.encoder)])
        for kind, (network, tuning) in enumerate(networks):
            examples = Labelled(texts.tokens[kind], labels).take(indices)
            tuned = train_classifier(network, examples, plan.timed(tuning, fold), len(LABELS), self.device)
            self.classifiers[kind].append(tuned)

    def judge(self, texts: Texts, indices: np.ndarray | None = None, fold: int | None = None) -> np.ndarray:
        """Log-probabilities `[kinds, rows, labels]`: of one fold's classifiers, or the mean of all folds'."""
        verdicts = []
        for kind, models in enumerate(self.classifiers):
            sequences = texts.tokens[kind] if indices is None else texts.tokens[kind].take(indices)
            asked = models if fold is None else [models[fold]]
            verdicts.append(log_probabilities(asked, sequences, self.device).mean(0))
        return np.stack(verdicts)


def teach(parts: Split, teachers: Teachers, plan: Plan, out: Path, clock: Clock) -> dict[str, Any]:
    """Runs all stages, writes the pieces and `report.json` to `out`, returns the report."""
    pieces = ThreadPoolExecutor(2)
    pending: list[Future[None]] = []
    train, dev = teachers.texts([row.text for row in parts.train]), teachers.texts([row.text for row in parts.dev])
    labels = np.array([row.label for row in parts.train])
    clock.lap("tokens")

    joined = np.array([index for index, row in enumerate(parts.train) if row.kind.startswith("title+description")])
    writer = train_writer(teachers.causal, train.tokens[0].take(joined), plan.timed(plan.writer), teachers.device)
    teachers.causal = writer
    clock.lap("writer")

    folds = folds_of(parts.train_stories, plan.folds)
    unseen = np.full((len(teachers.names), len(labels), len(LABELS)), np.nan, np.float32)
    report: dict[str, Any] = {"teachers": teachers.names, "train_rows": len(labels), "stages": clock.stages}
    for fold in range(plan.folds):
        teachers.train_fold(train, labels, np.flatnonzero(folds != fold), plan, fold)
        clock.lap(f"fold {fold}")
        rest = np.flatnonzero(folds == fold)
        unseen[:, rest] = teachers.judge(train, rest, fold)
        known = np.flatnonzero(~np.isnan(unseen[0, :, 0]))
        whole = known[[parts.train[index].whole for index in known]]
        combination = fit_combination(unseen[:, whole], labels[whole])
        verdicts = teachers.judge(dev)
        report |= _figures(teachers.names, combination, verdicts, parts.dev, unseen[:, known], labels[known])
        logger.info("after fold %d: %s", fold, json.dumps({k: v for k, v in report.items() if k != "stages"}))
        rows = _real_rows(parts, combination.probabilities(unseen), combination.probabilities(verdicts))
        _finish(pending)
        pending.append(pieces.submit(write_taught, rows, out / REAL_FILE))
        (out / "report.json").write_text(json.dumps(report, indent=1))
        clock.lap(f"verdicts {fold}")

    report["written_rows"] = _write_rows(parts, teachers, combination, plan, out, clock, pieces)
    _finish(pending)
    clock.lap("written")
    (out / "report.json").write_text(json.dumps(report, indent=1))
    return report


def folds_of(stories: Sequence[int], count: int) -> np.ndarray:
    """A fold for each row, drawn for each story, so that rows of one story share it."""
    numbers = np.asarray(stories, np.int64)
    drawn: np.ndarray = np.random.default_rng(SEED).integers(0, count, numbers.max() + 1)[numbers]
    return drawn


def _write_rows(
    parts: Split,
    teachers: Teachers,
    combination: Combination,
    plan: Plan,
    out: Path,
    clock: Clock,
    pieces: ThreadPoolExecutor,
) -> int:
    """Has new rows written and judged until there are enough or the time is up; returns their number."""
    novelty = Novelty(parts.train, (*parts.dev, *parts.held_out))
    pending: list[Future[None]] = []
    rows: list[TaughtRow] = []
    count = chunk = 0
    longest = 0.0
    closing = plan.budget * (1 - plan.reserve)
    while count < plan.written_rows and chunk < plan.most_chunks and clock.elapsed + longest < closing:
        started = time.perf_counter()
        torch.manual_seed(SEED + chunk)
        tokens = write(
            teachers.causal,
            batch=plan.write_batch,
            end=teachers.end,
            limit=WRITTEN_TOKENS,
            temperature=1.0,
            top_p=0.95,
        )
        sampled = time.perf_counter()
        decoded = teachers.causal_tokenizer.decode_batch([array.tolist() for array in tokens])
        texts = [text for text in (text.rstrip() for text in decoded) if novelty.admit(text)]
        if texts:
            probabilities = combination.probabilities(teachers.judge(teachers.texts(texts)))
            rows += [
                TaughtRow(text, "written", None, tuple(row.tolist()))
                for text, row in zip(texts, probabilities, strict=True)
            ]
        count += len(texts)
        now = time.perf_counter()
        longest = max(longest, now - started)
        logger.info(
            "chunk %d: %d ended, %d kept, %.2f s writing, %.2f s judging, %d rows so far (%.1f s in all)",
            *(chunk, len(tokens), len(texts), sampled - started, now - sampled, count, clock.elapsed),
        )
        chunk += 1
        if len(rows) >= PIECE_ROWS:
            pending.append(pieces.submit(write_taught, rows, out / f"written_{len(pending):02d}.jsonl.xz"))
            rows = []
    if rows:
        pending.append(pieces.submit(write_taught, rows, out / f"written_{len(pending):02d}.jsonl.xz"))
    _finish(pending)
    return count


def _figures(
    names: Sequence[str],
    combination: Combination,
    dev: np.ndarray,
    rows: Sequence[NewsRow],
    unseen: np.ndarray,
    unseen_labels: np.ndarray,
) -> dict[str, Any]:
    """Macro F1 of each teacher and of all together: on development rows, and cross-fitted on training rows."""
    labels = np.array([row.label for row in rows])
    together = combination.probabilities(dev)
    figures: dict[str, Any] = {"powers": combination.powers}
    for kind, name in enumerate(names):
        figures[f"dev_f1_{name}"] = round(macro_f1(dev[kind].argmax(1), labels, len(LABELS)), 4)
        figures[f"unseen_f1_{name}"] = round(macro_f1(unseen[kind].argmax(1), unseen_labels, len(LABELS)), 4)
    figures["dev_f1"] = round(macro_f1(together.argmax(1), labels, len(LABELS)), 4)
    figures["dev_accuracy"] = round(float((together.argmax(1) == labels).mean()), 4)
    figures["dev_log_loss"] = round(float(-np.log(together[np.arange(len(labels)), labels] + 1e-9).mean()), 4)
    return figures


def _real_rows(parts: Split, train: np.ndarray, dev: np.ndarray) -> list[TaughtRow]:
    """The real rows with the teachers' probabilities; None where no teacher has judged a row unseen."""
    rows = []
    for part, news, probabilities in (("train", parts.train, train), ("dev", parts.dev, dev)):
        for row, values in zip(news, probabilities.tolist(), strict=True):
            rows.append(TaughtRow(row.text, part, row.label, None if np.isnan(values[0]) else tuple(values)))
    return rows


def _finish(pending: list[Future[None]]) -> None:
    for future in pending:
        future.result()
    pending.clear()


def tiny(parts: Split, plan: Plan) -> tuple[Split, Plan]:
    """A rehearsal's rows and sizes: every stage runs on a few dozen rows; the writing batch stays as planned."""
    small = Split(parts.train[:48], parts.dev[:12], parts.held_out, parts.train_stories[:48])
    return small, replace(
        plan,
        folds=2,
        writer=replace(plan.writer, epochs=3, batch_rows=4, seconds=0.5, learning_rate=5e-4),
        causal=replace(plan.causal, epochs=1, batch_rows=8),
        encoder=replace(plan.encoder, epochs=1, batch_rows=8),
        written_rows=16,
        most_chunks=2,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the teachers over a data folder."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the news files")
    parser.add_argument("--smollm2", type=Path, required=True, help="SmolLM2-135M's GGUF file")
    parser.add_argument("--minilm", type=Path, help="MiniLM's safetensors file, minilm_tokenizer.json beside it")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget-seconds", type=float, default=360.0)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--written-rows", type=int, default=400_000)
    parser.add_argument("--write-batch", type=int, default=8192)
    parser.add_argument(
        "--tiny", action="store_true", help="rehearse on a few dozen rows (on a CPU with --write-batch 16)"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    options.out.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    torch.manual_seed(SEED)
    # cuDNN's attention plans every new length anew, and sampling meets a new one at each step.
    torch.backends.cuda.enable_cudnn_sdp(False)
    plan = Plan(
        options.budget_seconds,
        folds=options.folds,
        written_rows=options.written_rows,
        write_batch=options.write_batch,
    )
    parts = split(read_rows(options.data))
    if options.tiny:
        parts, plan = tiny(parts, plan)
    clock.lap("rows")
    teachers = Teachers(options.smollm2, options.minilm, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    clock.lap("load")
    logger.info("done: %s", json.dumps(teach(parts, teachers, plan, options.out, clock)))


if __name__ == "__main__":
    main()
