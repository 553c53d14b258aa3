"""What becomes of a request's future."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future, wait
from typing import Any

import pytest

from copydesk.desk.calibration import UNCALIBRATED
from copydesk.desk.canonical import Canonical
from copydesk.desk.closing import Closing
from copydesk.desk.grammar import Grammar
from copydesk.desk.job import AnswerJob
from copydesk.desk.prompt import Prompt
from copydesk.desk.request import Request
from copydesk.desk.scheduler import Effort
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.writer import Written
from copydesk.errors import LengthError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.task import extraction
from copydesk.types import Answer

TEXT = "Stocks fall."
TASK = extraction({"enum": ["up", "down"]})


@pytest.fixture
def job(tokenizer: Tokenizer, canonical: Canonical) -> AnswerJob:
    bounds = Bounds.of(TEXT)
    return AnswerJob(
        request=Request(TASK, TEXT + " And more"),
        text=TEXT,
        text_tokens=tokenizer.encode(TEXT),
        prompt=Prompt((1, 2, 3), (4, 5)),
        grammar=Grammar(TASK.schema.json, bounds, tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical),
        shortest=(),
        room=10,
        canonical=canonical,
        closing=Closing(canonical, tokenizer.eos_token_ids[0], tokenizer.vocab_size),
        calibration=UNCALIBRATED,
        drafting=None,
        drafts=None,
        future=Future(),
        engine_name="fake",
        model_name="fake-model",
        started=time.perf_counter(),
    )


@pytest.fixture
def written(tokenizer: Tokenizer) -> Written:
    tokens = tokenizer.encode('"down"')
    return Written(tokens=tokens, probabilities={1: 0.5})


def test_a_finished_job_hands_over_its_answer(job: AnswerJob, written: Written, tokenizer: Tokenizer) -> None:
    job.finish(written, Effort(passes=1, cached_tokens=3))
    answer: Answer[Any] = job.future.result(0)
    assert answer.value == "down"
    assert answer.confidence == 0.5
    assert answer.truncated
    assert answer.usage.prompt_tokens == 3 + len(tokenizer.encode(TEXT)) + 2
    assert (answer.usage.cached_tokens, answer.passes) == (3, 1)


def test_a_failed_job_hands_over_the_reason(job: AnswerJob) -> None:
    job.fail(LengthError("too long"))
    with pytest.raises(LengthError):
        job.future.result(0)


def test_an_answer_that_cannot_be_made_is_a_failure_too(job: AnswerJob) -> None:
    with pytest.raises(ValueError, match="Expecting value") as caught:
        job.finish(Written(), Effort(1, 0))
    job.fail(caught.value)
    assert job.future.exception(0) is caught.value


@pytest.mark.parametrize("ends", ["finish", "fail"])
def test_who_waits_for_a_cancelled_job_is_told(job: AnswerJob, written: Written, ends: str) -> None:
    assert job.future.cancel()
    assert job.is_cancelled()
    if ends == "finish":
        job.finish(written, Effort(1, 0))
    else:
        job.fail(CancelledError())
    assert wait([job.future], timeout=1).done == {job.future}
