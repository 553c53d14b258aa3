"""What becomes of a request's future."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future, wait
from typing import Any

import pytest

from copydesk.desk.calibration import UNCALIBRATED
from copydesk.desk.canonical import Canonical
from copydesk.desk.choice import Choice
from copydesk.desk.closing import Closing
from copydesk.desk.job import AnswerJob
from copydesk.desk.prompt import Prompt
from copydesk.desk.request import Request
from copydesk.desk.scheduler import Effort
from copydesk.desk.writer import Written
from copydesk.errors import LengthError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import AGNEWS
from copydesk.types import Answer


@pytest.fixture
def job(tokenizer: Tokenizer, canonical: Canonical) -> AnswerJob:
    return AnswerJob(
        request=Request(AGNEWS, "Stocks fall. And more"),
        text="Stocks fall.",
        text_tokens=tokenizer.encode("Stocks fall."),
        prompt=Prompt((1, 2, 3), (4, 5)),
        grammar=Choice(AGNEWS.labels, tokenizer),
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
    tokens = tokenizer.encode("Sports")
    return Written(tokens=tokens, probabilities={0: 0.5}, listed={})


def test_a_finished_job_hands_over_its_answer(job: AnswerJob, written: Written, tokenizer: Tokenizer) -> None:
    job.finish(written, Effort(passes=1, cached_tokens=3))
    answer: Answer[Any] = job.future.result(0)
    assert answer.value == "Sports"
    assert answer.confidence == 0.5
    assert answer.truncated
    assert answer.usage.prompt_tokens == 3 + len(tokenizer.encode("Stocks fall.")) + 2
    assert (answer.usage.cached_tokens, answer.passes) == (3, 1)


def test_a_failed_job_hands_over_the_reason(job: AnswerJob) -> None:
    job.fail(LengthError("too long"))
    with pytest.raises(LengthError):
        job.future.result(0)


def test_an_answer_that_cannot_be_made_is_a_failure_too(job: AnswerJob) -> None:
    with pytest.raises(KeyError) as caught:
        job.finish(Written(tokens=[-1]), Effort(1, 0))
    job.fail(caught.value)
    assert isinstance(job.future.exception(0), KeyError)


@pytest.mark.parametrize("ends", ["finish", "fail"])
def test_who_waits_for_a_cancelled_job_is_told(job: AnswerJob, written: Written, ends: str) -> None:
    assert job.future.cancel()
    assert job.is_cancelled()
    if ends == "finish":
        job.finish(written, Effort(1, 0))
    else:
        job.fail(CancelledError())
    assert wait([job.future], timeout=1).done == {job.future}
