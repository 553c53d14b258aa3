"""What every request on its way has."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future, wait
from dataclasses import replace
from typing import Any

import pytest

from copydesk.desk.calibration import UNCALIBRATED, WHOLE, Calibration, Line
from copydesk.desk.drafting import Drafting
from copydesk.desk.pending import Pending
from copydesk.desk.prompt import Prompt
from copydesk.desk.request import Request
from copydesk.desk.scheduler import Effort
from copydesk.drafting.controller import Controller
from copydesk.errors import LengthError
from copydesk.tasks.builtin import AGNEWS
from copydesk.types import Answer, Usage

from .fake_drafters import CHEAP, FakeDrafters, going_on


def pending(**settled: Any) -> Pending:
    given: dict[str, Any] = {
        "request": Request(AGNEWS, "Stocks fall. And more"),
        "text": "Stocks fall.",
        "text_tokens": [7, 8],
        "prompt": Prompt((1, 2, 3), (4, 5)),
        "calibration": UNCALIBRATED,
        "drafting": None,
        "future": Future(),
        "engine_name": "fake",
        "model_name": "fake-model",
        "started": time.perf_counter(),
    }
    return Pending(**given | settled)


def answer(ms: float) -> Answer[str]:
    return Answer("World", {}, 0.5, True, None, None, 1, "fake-model", "fake", Usage(1, 0, 1), ms)


def test_the_prompt_is_read_from_where_the_engine_holds_it() -> None:
    one = pending()
    assert one.prefix == (1, 2, 3)
    assert one.unread(0) == [1, 2, 3, 7, 8, 4, 5]
    assert one.unread(3) == [7, 8, 4, 5]
    assert one.usage(Effort(passes=2, cached_tokens=3), 4) == Usage(7, 3, 4)


def test_a_text_is_truncated_if_not_all_of_it_is_read() -> None:
    assert pending().truncated
    assert not pending(text="Stocks fall. And more").truncated


def test_confidences_are_calibrated_for_the_task_as_it_was_trained() -> None:
    calibration = Calibration({"agnews": {WHOLE: Line(1.0, 2.0)}})
    assert pending(calibration=calibration).confidence(WHOLE, 0.5) > 0.8
    other = Request(replace(AGNEWS, prompt="guide"), "Stocks fall.")
    assert pending(calibration=calibration, request=other).confidence(WHOLE, 0.5) == 0.5


def test_time_passes() -> None:
    one = pending(started=time.perf_counter() - 0.5)
    assert 500 <= one.elapsed() < 60_000


def test_an_answer_is_handed_over_and_drafters_may_take_a_share_of_its_time() -> None:
    drafting = Drafting(FakeDrafters(going_on("")), Controller(CHEAP))
    told: list[float] = []
    drafting.answered = told.append  # type: ignore[method-assign]
    one = pending(drafting=drafting)
    one.hand_over(answer(1500.0))
    assert one.future.result(0).value == "World"
    assert told == [1.5]
    drafting.close()


@pytest.mark.parametrize("cancelled", [False, True])
def test_who_waits_is_told_that_it_failed(cancelled: bool) -> None:
    one = pending()
    if cancelled:
        one.future.cancel()
    assert one.is_cancelled() is cancelled
    one.fail(LengthError("too long"))
    assert wait([one.future], timeout=1).done == {one.future}
    with pytest.raises(CancelledError if cancelled else LengthError):
        one.future.result(0)
