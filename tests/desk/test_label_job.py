"""From labels' probabilities to the answer that a caller gets."""

from __future__ import annotations

import math
import time
from concurrent.futures import Future
from typing import Any

import pytest

from copydesk.desk.calibration import UNCALIBRATED, WHOLE, Calibration, Line
from copydesk.desk.label_job import LabelJob
from copydesk.desk.label_scores import LabelScores
from copydesk.desk.prompt import Prompt
from copydesk.desk.request import Request
from copydesk.desk.scheduler import Effort, Scheduler
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import AGNEWS
from copydesk.types import Answer
from fake_engine import FakeEngine, hashed

LOGPROBS = [math.log(share) for share in (0.1, 0.4, 0.05, 0.25)]


def job(tokenizer: Tokenizer, *, calibration: Calibration = UNCALIBRATED, **options: Any) -> LabelJob:
    return LabelJob(
        request=Request(AGNEWS, "Stocks fall. And more", **options),
        text="Stocks fall.",
        text_tokens=tokenizer.encode("Stocks fall."),
        prompt=Prompt((1, 2, 3), (4, 5)),
        scores=LabelScores(AGNEWS.labels, tokenizer),
        calibration=calibration,
        drafting=None,
        future=Future(),
        engine_name="fake",
        model_name="fake-model",
        started=time.perf_counter(),
    )


def finished(job: LabelJob) -> Answer[Any]:
    job.finish(LOGPROBS, Effort(passes=3, cached_tokens=2))
    return job.future.result(0)


def test_the_answer_is_the_most_probable_label(tokenizer: Tokenizer) -> None:
    answer = finished(job(tokenizer))
    assert answer.value == "Sports"
    assert answer.labels == pytest.approx(
        {"World": 0.1 / 0.8, "Sports": 0.4 / 0.8, "Business": 0.05 / 0.8, "Sci/Tech": 0.25 / 0.8}
    )
    assert answer.label_mass == pytest.approx(0.8)
    assert answer.confidence == pytest.approx(0.4)
    assert not answer.abstained
    assert answer.truncated
    assert (answer.passes, answer.usage.cached_tokens) == (3, 2)
    assert answer.usage.completion_tokens == len(tokenizer.encode("Sports"))
    assert answer.to_dict()["label_mass"] == answer.label_mass
    assert "abstained" not in answer.to_dict()


@pytest.mark.parametrize(("least", "abstains"), [(0.0, False), (0.4, False), (0.41, True), (1.0, True)])
def test_it_abstains_where_the_confidence_is_too_low(tokenizer: Tokenizer, least: float, abstains: bool) -> None:
    answer = finished(job(tokenizer, abstain_below=least - 1e-9 if least else least))
    assert answer.abstained is abstains
    assert (answer.value is None) is abstains
    assert answer.to_dict().get("abstained", False) is abstains
    assert max(answer.labels, key=answer.labels.__getitem__) == "Sports"


def test_what_is_compared_is_the_calibrated_confidence(tokenizer: Tokenizer) -> None:
    calibration = Calibration({"agnews": {WHOLE: Line(1.0, 3.0)}})
    answer = finished(job(tokenizer, calibration=calibration, abstain_below=0.5))
    assert answer.confidence == pytest.approx(1 / (1 + 1.5 * math.exp(-3.0)))
    assert answer.value == "Sports"


def test_labels_are_scored_with_their_branches_and_nothing_stays_open(tokenizer: Tokenizer) -> None:
    engine = FakeEngine(tokenizer.vocab_size, hashed(tokenizer.vocab_size))
    scheduler = Scheduler(engine)
    asked = job(tokenizer)
    asked.prompt = Prompt((), (4, 5))
    scheduler.add(asked)
    while not scheduler.idle:
        scheduler.step()
    answer = asked.future.result(0)
    assert engine.calls == [1, len(asked.scores.branches)]
    assert answer.passes == 1 + len(asked.scores.branches)
    assert engine.open_sequences == 0


def test_nobody_is_handed_an_answer_who_no_longer_waits(tokenizer: Tokenizer) -> None:
    asked = job(tokenizer)
    assert asked.future.cancel()
    asked.finish(LOGPROBS, Effort(1, 0))
    assert asked.is_cancelled()
