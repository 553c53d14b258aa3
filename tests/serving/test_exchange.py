"""The account of a request."""

from __future__ import annotations

from copydesk.serving.errors import ApiError
from copydesk.serving.exchange import Exchange
from copydesk.serving.gate import Caller
from copydesk.types import Usage
from serving.fakes import FakeReplies, answer_of


def test_answers_add_up() -> None:
    exchange = Exchange("id", "POST", "/v1/extract", "1.2.3.4")
    exchange.caller = Caller("ann")
    exchange.answered(answer_of({}, accepted=1.0))
    exchange.answered(answer_of({}, accepted=0.5, draft="tagger"))
    exchange.answered(FakeReplies([]).reply)
    finished = exchange.finished()
    assert (finished.answers, finished.passes, finished.accepted) == (3, 8, 0.75)
    assert finished.usage == Usage(21, 9, 15)
    assert (finished.source, finished.verified, finished.caller, finished.outcome) == ("tagger", True, "ann", "ok")


def test_one_unverified_answer_makes_all_unverified() -> None:
    exchange = Exchange("id", "POST", "/", None)
    exchange.answered(answer_of({}, verified=False))
    exchange.answered(answer_of({}))
    assert exchange.finished().verified is False


def test_nothing_answered() -> None:
    exchange = Exchange("id", "GET", "/", None)
    exchange.failed(ApiError(413, "m"))
    finished = exchange.finished()
    assert (finished.outcome, finished.usage, finished.accepted, finished.first_token_seconds) == (
        "413",
        None,
        None,
        None,
    )


def test_the_first_text_counts() -> None:
    exchange = Exchange("id", "GET", "/", None)
    exchange.wrote()
    first = exchange.finished().first_token_seconds
    exchange.wrote()
    assert exchange.finished().first_token_seconds == first
