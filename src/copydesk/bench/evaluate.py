"""How right a model's answers are: gold lines through the model, and what came out as shares.

A row that failed counts as wrong and not valid. Knows the model only by its calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from copydesk.bench.calibration_error import calibration_error
from copydesk.bench.gold import Gold
from copydesk.types import Answer, Failure, Json, Task

if TYPE_CHECKING:
    from copydesk.model import Model
    from copydesk.options import RequestOptions

Outcome = tuple[Gold, Answer[Any] | Failure]


@dataclass(frozen=True, slots=True)
class Report:
    """What `eval` prints, and the rows that went wrong."""

    figures: Json
    """Shares between 0 and 1, latencies in milliseconds, and what they were measured with."""
    errors: tuple[Json, ...]
    """The text, what was expected and what came, for each wrong row."""
    failed: int = 0
    """Rows that have no answer; they count as wrong."""


def evaluate(
    model: Model,
    task: Task,
    gold: Sequence[Gold],
    *,
    seed: int = 0,
    in_flight: int = 1,
    abstain_below: float | None = None,
) -> Report:
    """Answer every gold line and compare.

    With one row in flight (the default) `p50_ms` and `p95_ms` are an idle desk's; with more, a busy one's. With
    `abstain_below`, a row without a label is not right, and the rows with one have an accuracy of their own. Errors: as
    `Model.extract_many`.
    """
    options: RequestOptions = {"seed": seed}
    if abstain_below is not None:
        options["abstain_below"] = abstain_below
    outcomes = list(zip(gold, _answers(model, task, gold, in_flight, options), strict=True))
    shares = _labels(outcomes) if task.labels else _records(outcomes, task)
    if abstain_below is not None:
        shares |= _abstentions(outcomes)
    answers = [answer for _, answer in outcomes if isinstance(answer, Answer)]
    latencies = sorted(answer.ms for answer in answers)
    figures: Json = {name: round(share, 6) for name, share in shares.items()}
    error = calibration_error(*_confidences(outcomes))
    figures["calibration_error"] = None if error is None else round(error, 6)
    figures |= {
        "n": len(outcomes),
        "p50_ms": _percentile(latencies, 0.50),
        "p95_ms": _percentile(latencies, 0.95),
        "passes_mean": round(sum(answer.passes for answer in answers) / len(answers), 3) if answers else None,
        "model": model.name,
        "engine": model.engine,
        "seed": seed,
    }
    wrong = tuple(_error(gold, answer) for gold, answer in outcomes if not _right(gold, answer))
    return Report(figures, wrong, len(outcomes) - len(answers))


def _answers(
    model: Model, task: Task, gold: Sequence[Gold], in_flight: int, options: RequestOptions
) -> Iterator[Answer[Any] | Failure]:
    texts = (row.text for row in gold)
    if task.labels:
        return model.classify_many(texts, task, in_flight=in_flight, **options)
    return model.extract_many(texts, task, in_flight=in_flight, **options)


def _records(outcomes: Sequence[Outcome], task: Task) -> dict[str, float]:
    validator = Draft202012Validator(task.schema.json if task.schema else {})
    return {
        "exact": _share([_right(gold, answer) for gold, answer in outcomes]),
        "fields": _share([hit for gold, answer in outcomes for hit in _hits(gold, answer)]),
        "valid": _share([isinstance(answer, Answer) and validator.is_valid(_value(answer)) for _, answer in outcomes]),
    }


def _labels(outcomes: Sequence[Outcome]) -> dict[str, float]:
    given = [_value(answer) for _, answer in outcomes]
    right = [gold.label for gold, _ in outcomes]
    scores = []
    for label in sorted({*right, *given} - {None}, key=str):
        hits = sum(answer == label == wanted for answer, wanted in zip(given, right, strict=True))
        scores.append(2 * hits / (given.count(label) + right.count(label)))
    return {
        "accuracy": _share([_right(gold, answer) for gold, answer in outcomes]),
        "f1_macro": sum(scores) / len(scores),
        "valid": _share([isinstance(answer, Answer) for _, answer in outcomes]),
    }


def _abstentions(outcomes: Sequence[Outcome]) -> dict[str, float]:
    labelled = [_right(*outcome) for outcome in outcomes if not _abstained(outcome[1])]
    return {"abstained": 1.0 - len(labelled) / len(outcomes), "accuracy_labelled": _share(labelled)}


def _abstained(answer: Answer[Any] | Failure) -> bool:
    return isinstance(answer, Answer) and answer.abstained


def _right(gold: Gold, answer: Answer[Any] | Failure) -> bool:
    if gold.label is not None:
        return bool(_value(answer) == gold.label)
    return isinstance(answer, Answer) and all(_hits(gold, answer))


def _confidences(outcomes: Sequence[Outcome]) -> tuple[list[float], list[bool]]:
    """How sure the model was of each labelled field, or label, and whether it was right."""
    confidences: list[float] = []
    right: list[bool] = []
    for gold, answer in outcomes:
        if not isinstance(answer, Answer):
            continue
        if gold.label is not None and not answer.abstained and answer.confidence is not None:
            confidences.append(answer.confidence)
            right.append(_right(gold, answer))
        for name, hit in zip(gold.expected, _hits(gold, answer), strict=True):
            confidence = answer.fields[name].confidence if name in answer.fields else None
            if confidence is not None:
                confidences.append(confidence)
                right.append(hit)
    return confidences, right


def _hits(gold: Gold, answer: Answer[Any] | Failure) -> list[bool]:
    """For each labelled field, whether the answer has it right."""
    value = _value(answer)
    record = value if isinstance(value, dict) else {}
    return [field in record and record[field] == wanted for field, wanted in gold.expected.items()]


def _value(answer: Answer[Any] | Failure) -> Any:
    """The answer's value as plain JSON; None of a row that failed."""
    return answer.to_dict()["value"] if isinstance(answer, Answer) else None


def _error(gold: Gold, answer: Answer[Any] | Failure) -> Json:
    expected = gold.expected if gold.label is None else gold.label
    came = answer.to_dict() if isinstance(answer, Failure) else {"answer": _value(answer)}
    return {"text": gold.text, "expected": expected} | came


def _share(rows: Sequence[bool]) -> float:
    return sum(rows) / len(rows) if rows else 1.0


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """Nearest rank."""
    return round(ordered[ceil(share * len(ordered)) - 1], 3) if ordered else None
