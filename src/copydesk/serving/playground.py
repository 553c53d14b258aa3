"""The page to paste text on: its files, and the headers that keep everything else out of it.

Knows no models and no keys: what the page shows it asks of the same routes as any other client.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Nothing inline, nothing from elsewhere, and no way to turn text into markup."""
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # kept, but asked after each time: a new version of the server has a new page
}
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_INDEX = "index.html"
PREFIX = "/page/"
"""Under it lie the files that the page loads; they, like the page itself at `/`, are for everybody."""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    type: str
    tag: str


def page_routes() -> list[Route]:
    """The routes of the page, `/`, and of the files that it loads. The files are read once, here."""
    found = _read()
    routes = [Route("/", _answer(found.pop(_INDEX)), methods=["GET"], name="page", include_in_schema=False)]
    for name, file in found.items():
        route = Route(PREFIX + name, _answer(file), methods=["GET"], name=f"page/{name}", include_in_schema=False)
        routes.append(route)
    return routes


def _read() -> dict[str, _File]:
    found = {}
    for path in (files("copydesk.serving") / "page").iterdir():
        kind = _TYPES.get(path.name.rpartition(".")[2])
        if kind is not None:
            content = path.read_bytes()
            found[path.name] = _File(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


def _answer(file: _File) -> Callable[[Request], Awaitable[Response]]:
    headers = _HEADERS | {"ETag": file.tag}

    async def answer(request: Request) -> Response:
        known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
        if file.tag in known or "*" in known:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.type, headers=headers)

    return answer
