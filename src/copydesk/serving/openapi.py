"""The OpenAPI document: the request bodies as they are checked, and what comes back.

Knows the routes' forms, nothing that runs.
"""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from copydesk import __version__
from copydesk.serving.wire.base import Wire
from copydesk.serving.wire.chat import ChatBody
from copydesk.serving.wire.completion import CompletionBody
from copydesk.serving.wire.decision import DecisionBody
from copydesk.serving.wire.native import ClassifyBody, ExtractBody
from copydesk.types import Json

_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_WHOLE = {"type": "integer"}
_ERROR: Json = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "message": _TEXT,
                "type": _TEXT,
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
            "required": ["message", "type", "param", "code"],
        }
    },
    "required": ["error"],
}
_FAILURE: Json = {
    "type": "object",
    "properties": {
        "error": {"type": "object", "properties": {"code": _TEXT, "message": _TEXT}, "required": ["code", "message"]}
    },
    "required": ["error"],
    "description": "A text that could not be answered, in its place among the answers.",
}
_ANSWER: Json = {
    "type": "object",
    "properties": {
        "value": {},
        "fields": {"type": "object"},
        "labels": {"type": "object", "additionalProperties": _NUMBER},
        "confidence": _NUMBER,
        "verified": {"type": "boolean"},
        "draft": {"type": ["string", "null"]},
        "accepted": {"type": ["number", "null"]},
        "passes": _WHOLE,
        "model": _TEXT,
        "engine": _TEXT,
        "usage": {"type": "object"},
        "ms": _NUMBER,
    },
    "required": ["value", "confidence", "verified", "draft", "accepted", "passes", "model", "engine", "usage", "ms"],
}


def document() -> Json:
    """The document, OpenAPI 3.1."""
    bodies: list[type[Wire]] = [ChatBody, CompletionBody, ExtractBody, ClassifyBody, DecisionBody]
    _, schemas = models_json_schema(
        [(body, "validation") for body in bodies], ref_template="#/components/schemas/{model}"
    )
    native = {"description": "The answer (Answer), or just its value; for several texts a list, with each Failure."}
    return {
        "openapi": "3.1.0",
        "info": {"title": "copydesk", "version": __version__, "description": "Text in, typed answers out."},
        "security": [{"key": []}],
        "paths": {
            "/v1/chat/completions": {
                "post": _post(ChatBody, "Reply to a conversation", _completion("chat.completion"), stream=True)
            },
            "/v1/completions": {
                "post": _post(CompletionBody, "Continue a text", _completion("text_completion"), stream=True)
            },
            "/v1/extract": {"post": _post(ExtractBody, "Extract a record from each text", native)},
            "/v1/classify": {"post": _post(ClassifyBody, "Choose a label for each text", native)},
            "/v1/decisions": {"post": _post(DecisionBody, "Answer questions by probabilities", _decision())},
            "/v1/models": {"get": _get("List the models", _models())},
            "/v1/models/{model}": {
                "get": {
                    **_get("One model", _model()),
                    "parameters": [{"name": "model", "in": "path", "required": True, "schema": _TEXT}],
                }
            },
        },
        "components": {
            "schemas": {**schemas["$defs"], "Error": _ERROR, "Answer": _ANSWER, "Failure": _FAILURE},
            "responses": {
                "Error": {
                    "description": "What is wrong; every status from 400 up.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                }
            },
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _post(body: type[Wire], summary: str, answer: Json, *, stream: bool = False) -> Json:
    content: Json = {"application/json": {"schema": answer}}
    if stream:
        content["text/event-stream"] = {}
    model = {"name": "model", "in": "query", "schema": _TEXT, "description": "Instead of the body's."}
    return {
        "summary": summary,
        "operationId": body.__name__.removesuffix("Body").lower(),
        "parameters": [model],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{body.__name__}"}}},
        },
        "responses": _responses(content),
    }


def _get(summary: str, answer: Json) -> Json:
    return {"summary": summary, "responses": _responses({"application/json": {"schema": answer}})}


def _responses(content: Json) -> Json:
    return {
        "200": {"description": "The answer.", "content": content},
        "4XX": {"$ref": "#/components/responses/Error"},
        "5XX": {"$ref": "#/components/responses/Error"},
    }


def _completion(kind: str) -> Json:
    return _object(
        id=_TEXT,
        object={"const": kind},
        created=_WHOLE,
        model=_TEXT,
        choices={"type": "array"},
        usage={"type": "object"},
    )


def _decision() -> Json:
    return _object(model=_TEXT, answers={"type": "array"}, usage={"type": "object"})


def _models() -> Json:
    return _object(object={"const": "list"}, data={"type": "array", "items": _model()})


def _model() -> Json:
    return _object(id=_TEXT, object={"const": "model"}, created=_WHOLE, owned_by=_TEXT)


def _object(**properties: Any) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}
