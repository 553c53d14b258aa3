"""Errors as HTTP has them."""

from __future__ import annotations

import pytest

from copydesk.errors import (
    AnswerError,
    CopydeskError,
    EngineError,
    LengthError,
    ModelError,
    SchemaError,
    TextError,
    UsageError,
)
from copydesk.serving.errors import ApiError, api_error


@pytest.mark.parametrize(
    ("error", "status", "code", "kind"),
    [
        (UsageError("m"), 400, "usage", "invalid_request_error"),
        (TextError("m", code="too_long"), 400, "too_long", "invalid_request_error"),
        (SchemaError("m"), 400, "unsupported_schema", "invalid_request_error"),
        (LengthError("m"), 400, "length", "invalid_request_error"),
        (AnswerError("m"), 400, "invalid_answer", "invalid_request_error"),
        (ModelError("m"), 404, "model_not_found", "not_found_error"),
        (EngineError("m"), 503, "engine_unavailable", "overloaded_error"),
        (CopydeskError("m"), 500, "error", "server_error"),
    ],
)
def test_ours(error: CopydeskError, status: int, code: str, kind: str) -> None:
    told = api_error(error)
    assert (told.status, told.code, told.kind, told.message) == (status, code, kind, "m")
    assert (told.retry_after is not None) == (status == 503)
    assert told.to_dict() == {"error": {"message": "m", "type": kind, "param": told.param, "code": code}}


def test_the_field_is_said_where_it_is_known() -> None:
    assert api_error(SchemaError("m"), param="schema").param == "schema"
    assert api_error(LengthError("m")).param == "max_tokens"


def test_what_is_an_answer_already_stays_one() -> None:
    told = ApiError(429, "m", retry_after=2, headers={"A": "b"})
    assert api_error(told) is told
    assert told.kind == "rate_limit_error"


def test_a_fault_is_logged_by_its_place_alone(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("a caller's words")

    with pytest.raises(ValueError, match="words") as caught:
        fail()
    told = api_error(caught.value)
    assert (told.status, told.code) == (500, "internal_error")
    assert "ValueError at" in caplog.text
    assert "test_errors.py" in caplog.text
    assert "words" not in caplog.text + told.message
    api_error(ValueError("never raised"))
    assert "an unknown place" in caplog.text
