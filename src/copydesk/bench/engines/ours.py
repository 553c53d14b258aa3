"""copydesk in this process, with drafts. Knows its public calls only."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from copydesk.bench.engines.answering import Reply
from copydesk.bench.engines.asking import MOST_TOKENS
from copydesk.bench.engines.questions import Job
from copydesk.errors import CopydeskError
from copydesk.loading import load
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.types import Answer, Failure


class Ours:
    """`Answering` by a loaded model. An extraction and a label come whole: their first token is the answer."""

    def __init__(self, model: str, engine: str) -> None:
        self._model = load(model, engine=engine)

    def answer(self, job: Job, text: str) -> Reply:
        if job == "chat":
            return self._chat(text)
        answer = self._model.classify(text, AGNEWS) if job == "news" else self._model.extract(text, ADDRESS)
        return Reply(_whole(answer), time.perf_counter())

    def answer_all(self, job: Job, texts: Sequence[str]) -> list[str]:
        if job == "chat":
            with ThreadPoolExecutor(len(texts)) as pool:
                return [reply.text for reply in pool.map(self._chat, texts)]
        if job == "news":
            return [_whole(answer) for answer in self._model.classify_many(texts, AGNEWS, in_flight=len(texts))]
        return [_whole(answer) for answer in self._model.extract_many(texts, ADDRESS, in_flight=len(texts))]

    def warm_up(self, job: Job, text: str) -> None:
        self.answer(job, text)

    def load_seconds(self) -> float:
        return 0.0

    def server(self) -> int | None:
        return None

    def close(self) -> None:
        self._model.close()

    def _chat(self, text: str) -> Reply:
        first_at = 0.0
        with self._model.chat_stream(
            text, thinking="off", temperature=0.0, repetition_penalty=1.0, max_tokens=MOST_TOKENS["chat"]
        ) as stream:
            for _ in stream:
                first_at = first_at or time.perf_counter()
            return Reply(stream.reply.content, first_at)


def _whole(answer: Answer[Any] | Failure) -> str:
    if isinstance(answer, Failure):
        raise CopydeskError(f"a question was not answered: {answer.message}")
    return answer.value if isinstance(answer.value, str) else json.dumps(answer.value, ensure_ascii=False)
