"""Transformers behind the OpenAI API, as a process: `FOLDER STEPS`, with the guides' steps as a JSON list.

Chat completions, streamed or whole, one at a time; it says on standard output where it is. A signal ends it. Knows no
more of the API than ChatOpenAI asks for.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from transformers import TextIteratorStreamer

from copydesk.bench.engines.guides import Guides

_LONGEST = 256
"""Tokens of an answer, if a request does not say."""


class Chats:
    """The one route."""

    def __init__(self, guides: Guides) -> None:
        self._guides = guides
        self._one = threading.Lock()

    async def answer(self, request: Request) -> Response:
        """`POST /v1/chat/completions`."""
        body = await request.json()
        if body.get("stream"):
            return StreamingResponse(self._events(body), media_type="text/event-stream")
        said = await run_in_threadpool(lambda: "".join(self._texts(body)))
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return JSONResponse(_head(body, "chat.completion") | {"choices": [choice]})

    def _events(self, body: dict[str, Any]) -> Iterator[str]:
        head = _head(body, "chat.completion.chunk")
        for text in self._texts(body):
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
            yield f"data: {json.dumps(head | {'choices': [choice]})}\n\n"
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        yield f"data: {json.dumps(head | {'choices': [end]})}\n\ndata: [DONE]\n\n"

    def _texts(self, body: dict[str, Any]) -> Iterator[str]:
        """The answer as it is written."""
        longest = body.get("max_completion_tokens") or body.get("max_tokens") or _LONGEST
        with self._one, ThreadPoolExecutor(1) as pool:
            streamer = TextIteratorStreamer(self._guides.tokenizer(), skip_prompt=True, skip_special_tokens=True)
            writing = pool.submit(self._write, body["messages"], longest, streamer)
            yield from (text for text in streamer if text)
            writing.result()

    def _write(self, messages: list[dict[str, str]], longest: int, streamer: Any) -> None:
        try:
            self._guides.generate([messages], longest, streamer=streamer)
        except BaseException:
            streamer.end()  # or whoever reads waits for ever
            raise


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-0", "object": kind, "created": int(time.time()), "model": body.get("model", "")}


def main(arguments: list[str]) -> None:
    folder, steps = arguments
    guides = Guides(folder, json.loads(steps), _LONGEST, seed=0)
    app = Starlette(routes=[Route("/v1/chat/completions", Chats(guides).answer, methods=["POST"])])
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        print(f"Transformers serves {folder} at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1:])
