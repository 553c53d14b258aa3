"""How answers are timed, whoever gives them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from copydesk.bench.engines.answering import Reply, memory_mb
from copydesk.bench.engines.child import do
from copydesk.bench.engines.questions import Job
from copydesk.bench.engines.ways import WAYS, Way
from copydesk.bench.engines.work import Asked, Work

ONE_BY_ONE, AT_ONCE = (next(way for way in WAYS if way.name == name) for name in ("direct call", "batching"))
SECONDS = 0.01


class Slow:
    """Takes as long for each call, and begins its answers at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer(self, job: Job, text: str) -> Reply:
        self.asked.append(text)
        begun = time.perf_counter()
        time.sleep(SECONDS)
        return Reply(f"{job} {text}", begun)

    def answer_all(self, job: Job, texts: Sequence[str]) -> list[str]:
        return [self.answer(job, " ".join(texts)).text] * len(texts)

    def warm_up(self, job: Job, text: str) -> None:
        self.asked.append(f"warm-up {text}")

    def load_seconds(self) -> float:
        return 10.0

    def server(self) -> None:
        return None

    def close(self) -> None:
        self.asked.append("closed")


def work(way: Way) -> Work:
    return Work(way, "model", {"chat": Asked(("a", "b"), ("c", "d", "e") if way.at_once else (), "w")}, 1)


def test_one_by_one() -> None:
    slow = Slow()
    ran = do(work(ONE_BY_ONE), lambda _: slow)
    assert slow.asked == ["warm-up w", "a", "b", "closed"]
    chat = ran.jobs["chat"]
    assert chat.answers == ("chat a", "chat b")
    assert all(first < SECONDS * 1e3 <= whole for first, whole in zip(chat.first_ms, chat.ms, strict=True))
    assert chat.per_second == pytest.approx(2e3 / sum(chat.ms))
    assert 10.0 <= ran.load_s < 11.0


def test_several_at_once() -> None:
    slow = Slow()
    chat = do(work(AT_ONCE), lambda _: slow).jobs["chat"]
    assert slow.asked == ["warm-up w", "a", "b", "c d e", "closed"]
    assert chat.answers == ("chat a", "chat b", "chat c d e", "chat c d e", "chat c d e")
    assert len(chat.ms) == 2
    assert chat.per_second <= 3 / SECONDS


def test_memory_of_this_process() -> None:
    held = bytearray(50_000_000)
    held[::4096] = b"1" * len(held[::4096])
    peak, now = memory_mb()
    if peak is not None and now is not None:  # told by Linux alone
        assert peak >= now > 50
    assert memory_mb(2**30) == (None, None)
