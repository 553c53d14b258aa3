"""A model at a server of the OpenAI API, asked for whole completions.

Knows nothing of tasks.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from copydesk.engines.completions import Asked, Completion, Verified
from copydesk.engines.loop import Loop
from copydesk.engines.remote.address import read_address
from copydesk.engines.remote.client import Client
from copydesk.engines.remote.dialect import label_of
from copydesk.engines.remote.native import native_answer, native_body, native_path
from copydesk.engines.remote.patience import Patience
from copydesk.engines.remote.probe import Served, probe
from copydesk.engines.remote.replies import Streamed, completion
from copydesk.engines.remote.verifying import tokenize_body, tokenize_path, verified, verify_body
from copydesk.types import Answer, Delta, Json, Task

KEY = "COPYDESK_API_KEY"
"""The environment variable that holds the key where none is given."""
CONCURRENCY = 16
"""Requests that are sent at once; others wait for their turn here."""
TIMEOUT = 300.0
ATTEMPTS = 6


def load(
    url: str,
    loop: Loop,
    *,
    model: str | None = None,
    api_key: str | None = None,
    concurrency: int = CONCURRENCY,
    timeout: float = TIMEOUT,
    attempts: int = ATTEMPTS,
) -> Server:
    """Ask the server at `url` what it is and can do; `model` is its name there, which may be left out if it has one.

    Everything runs in `loop`. `api_key` is by default that in the environment's `COPYDESK_API_KEY`. `timeout` is the
    seconds for one answer; all `attempts` at it together may take twice as long.
    Errors: `UsageError` for what is no address, `EngineError` when nobody answers there or what answers is no such
    server, `ModelError` for a model that it has not.
    """
    address = read_address(url)

    async def opened() -> Server:
        client = Client(
            address.origin,
            api_key=api_key or os.environ.get(KEY),
            concurrency=concurrency,
            patience=Patience(request=timeout, total=2.0 * timeout, attempts=attempts),
            proxies=not address.local,
        )
        try:
            served = await probe(client, address.origin, address.paths, model)
            kind = CopydeskServer if served.dialect.kind == "copydesk" else Server
            return kind(client, served, address.origin)
        except BaseException:
            await client.close()
            raise

    return loop.start(opened()).result()


class Server:
    """Satisfies `Completions`."""

    def __init__(self, client: Client, served: Served, origin: str) -> None:
        self._client = client
        self._served = served
        self.name = f"{origin}{served.path}"
        self.model = served.model
        self.context_length = served.context_length
        self.most_top = served.dialect.most_top
        self.notes = served.dialect.notes()
        self.verifies = served.dialect.verifies

    @property
    def served(self) -> Served:
        """What was found out about it."""
        return self._served

    async def complete(self, asked: Asked) -> Completion:
        """As `Completions`."""
        found = completion(await self._client.post(self._path(asked), self._body(asked)), asked.top)
        return self._unwrapped(asked, found)

    async def stream(self, asked: Asked) -> AsyncGenerator[Delta | Completion, None]:
        """As `Completions`. A label that the server writes as JSON comes at once, at the end."""
        body = self._body(asked) | {"stream": True, "stream_options": {"include_usage": True}}
        streamed = Streamed(asked.top)
        whole = self._served.dialect.labels_as_json(asked.constraint)
        async with aclosing(self._client.events(self._path(asked), body)) as events:
            async for event in events:
                delta = streamed.add(event)
                if delta is not None and not whole:
                    yield delta
        found = self._unwrapped(asked, streamed.completion())
        if whole:
            yield Delta(found.text)
        yield found

    async def verify(self, asked: Asked, draft: str) -> Verified:
        """As `Completions`, where the server was found to tell what that takes."""
        dialect, model = self._served.dialect, self._served.model
        prompt, answer = await asyncio.gather(
            self._client.post(tokenize_path(self._served.path), tokenize_body(asked, dialect, model)),
            self._client.post(self._path(asked), verify_body(asked, draft, dialect, model)),
        )
        return verified(draft, prompt.get("tokens"), answer)

    async def close(self) -> None:
        """As `Completions`."""
        await self._client.close()

    def _path(self, asked: Asked) -> str:
        return f"{self._served.path}/{'chat/completions' if asked.prompt is None else 'completions'}"

    def _body(self, asked: Asked) -> Json:
        return self._served.dialect.body(asked, self._served.model)

    def _unwrapped(self, asked: Asked, found: Completion) -> Completion:
        """A label out of the JSON that it was asked for in; its tokens are others then."""
        if found.finish == "stop" and self._served.dialect.labels_as_json(asked.constraint):
            return replace(found, text=label_of(found.text), logprobs=())
        return found


class CopydeskServer(Server):
    """Another copydesk, which answers tasks itself: with drafts, grounded while it writes. Satisfies `Answering`."""

    async def answer(self, task: Task, text: str, options: Mapping[str, Any]) -> Answer[Any]:
        """As `Answering`."""
        body = native_body(task, text, options, self.model)
        return native_answer(await self._client.post(f"{self._served.path}/{native_path(task)}", body), self.name)
