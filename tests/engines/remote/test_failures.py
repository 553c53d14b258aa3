"""What servers' refusals are told as."""

from __future__ import annotations

import json

import pytest

from copydesk.engines.remote.failures import refusal, words
from copydesk.errors import (
    AnswerError,
    CopydeskError,
    EngineError,
    LengthError,
    ModelError,
    SchemaError,
    TextError,
)

WHERE = "http://host/v1/chat/completions"


@pytest.mark.parametrize(
    ("status", "body", "error", "code", "says"),
    [
        (401, '{"error": {"message": "bad key"}}', EngineError, "unauthorized", "COPYDESK_API_KEY"),
        (403, "", EngineError, "unauthorized", "refuses the key"),
        (307, "", EngineError, "engine_unavailable", "points elsewhere"),
        (404, '{"error": "model `x` not found"}', ModelError, "model_not_found", "no such model"),
        (404, '{"detail": "Not Found"}', EngineError, "engine_unavailable", "is not there"),
        (500, "<html><body>Oops</body></html>", EngineError, "engine_unavailable", "web page"),
        (413, "", TextError, "too_long", "does not fit"),
        (
            400,
            '{"error": {"message": "This model\'s maximum context length is 4096 tokens."}}',
            TextError,
            "too_long",
            "4096",
        ),
        (
            400,
            '{"error": {"type": "exceed_context_size_error", "message": "request (9 tokens) exceeds the available '
            'context size"}}',
            TextError,
            "too_long",
            "exceeds",
        ),
        (400, '{"error": {"message": "Grammar error: look-around"}}', SchemaError, "unsupported_schema", "look-around"),
        (400, '{"error": {"message": "temperature is odd"}}', EngineError, "refused", "temperature is odd"),
        (429, "", EngineError, "busy", "no more requests"),
        (500, "boom", EngineError, "engine_failed", "boom"),
        (503, "Loading model", EngineError, "engine_failed", "Loading model"),
    ],
)
def test_each_refusal_says_what_to_do(status: int, body: str, error: type[CopydeskError], code: str, says: str) -> None:
    found = refusal(WHERE, status, body)
    assert type(found) is error
    assert found.code == code
    assert says in str(found)
    assert "\n" not in str(found)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("length", LengthError),
        ("empty_text", TextError),
        ("invalid_labels", SchemaError),
        ("not_grounded", AnswerError),
    ],
)
def test_another_copydesks_errors_are_ours(code: str, error: type[CopydeskError]) -> None:
    body = json.dumps({"error": {"message": "As it says.", "type": "invalid_request_error", "code": code}})
    found = refusal(WHERE, 400, body)
    assert (type(found), found.code, str(found)) == (error, code, "As it says.")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error": {"message": "a\\nb"}}', "a b"),
        ('{"error": "a"}', "a"),
        ('{"detail": [{"msg": "a"}]}', '[{"msg": "a"}]'),
        ("plain", "plain"),
        ("", "nothing more"),
        ("x" * 1000, "x" * 299 + "…"),
    ],
)
def test_a_servers_own_words_fit_on_a_line(body: str, said: str) -> None:
    assert words(body) == said
