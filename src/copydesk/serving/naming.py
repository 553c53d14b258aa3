"""Which model a request asks for, by its body or its query.

Knows no routes and no back ends, only their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs

from copydesk.serving.errors import ApiError


def asked_model(body: str | None, query: bytes, names: Sequence[str]) -> str:
    """The name asked for; the first of `names` where a request gives none. Errors: `ApiError` 400, 404."""
    queried = parse_qs(query.decode("latin-1")).get("model", [None])[-1] if b"model=" in query else None
    if body is not None and queried is not None and body != queried:
        raise ApiError(400, "The body and the query name different models.", param="model")
    name = body if body is not None else queried
    if name is None:
        return names[0]
    if name not in names:
        raise unknown_model(name)
    return name


def unknown_model(name: str) -> ApiError:
    """What a name that is none is answered with."""
    return ApiError(
        404,
        f"The model {name[:100]!r} does not exist; GET /v1/models lists those there are.",
        code="model_not_found",
        param="model",
    )
