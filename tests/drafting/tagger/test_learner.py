"""Learning in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from copydesk.drafting.tagger import learner as module
from copydesk.drafting.tagger.learner import Learner
from copydesk.drafting.tagger.store import Store

from ..cases import task_of, written

TASK = task_of({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
ANSWERS = [(f"met {name} in {place}", written({"name": name})) for name in ("Ann", "Bob", "Cid") for place in "ABCDEF"]


@pytest.fixture
def learner() -> Iterator[Learner]:
    made = Learner()
    yield made
    made.close()


def hand_in(learner: Learner, answers: list[tuple[str, str]]) -> None:
    for text, answer in answers:
        learner.learn(TASK, text, answer)
    learner.settle()


def test_it_learns_at_growing_intervals(learner: Learner) -> None:
    seen = []
    for text, answer in ANSWERS * 3:
        hand_in(learner, [(text, answer)])
        tagger = learner.tagger(TASK)
        seen.append(tagger.seen if tagger else 0)
    times = sorted(set(seen))
    assert times[0] == 0
    assert seen[10] == 0 < seen[11] == 12
    assert all(one * 1.4 < other < one * 1.6 for one, other in pairwise(times[1:]))


def test_handing_in_does_not_wait(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(module, "fit", lambda *_, **__: go_on.wait(10) and None)
    started = time.perf_counter()
    for text, answer in ANSWERS * 300:
        learner.learn(TASK, text, answer)
    assert time.perf_counter() - started < 5
    go_on.set()


def test_what_goes_wrong_stays_inside(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as broken:
        broken.setattr(module, "fit", fail)
        hand_in(learner, ANSWERS[:12])
    assert learner.tagger(TASK) is None
    hand_in(learner, ANSWERS)
    assert learner.tagger(TASK) is not None


def test_answers_of_another_form_are_not_learned_from(learner: Learner) -> None:
    hand_in(learner, [("text", "no answer"), ("text", '{"name": "a'), ("\ud800", '{"name": "\ud800"}')] * 10)
    assert learner.tagger(TASK) is None or learner.tagger(TASK).values == ()  # type: ignore[union-attr]


def test_the_next_process_begins_with_what_was_learned(tmp_path: Path) -> None:
    first = Learner(Store(tmp_path))
    hand_in(first, ANSWERS)
    first.close()
    then = Learner(Store(tmp_path))
    loaded = then.tagger(TASK)
    assert loaded is not None
    assert loaded.seen == 18
    hand_in(then, ANSWERS[:12])
    then.close()
    again = Store(tmp_path).load(TASK)
    assert again is not None
    assert again.seen == 30


def test_without_a_store_nothing_is_kept(tmp_path: Path, learner: Learner) -> None:
    hand_in(learner, ANSWERS)
    assert list(tmp_path.iterdir()) == []
    assert Learner().tagger(TASK) is None


def test_closing_ends_the_learning_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner()
    begun = threading.Event()

    def endless(*_: object, pause: object, **__: object) -> None:
        begun.set()
        while callable(pause):
            pause()

    monkeypatch.setattr(module, "fit", endless)
    for text, answer in ANSWERS * 5:
        learner.learn(TASK, text, answer)
    assert begun.wait(5)
    learner.close()
    learner.learn(TASK, *ANSWERS[0])
    learner.settle()
    learner.close()
    assert "copydesk-learner" not in {thread.name for thread in threading.enumerate()}


def test_only_the_last_tasks_are_remembered(learner: Learner) -> None:
    hand_in(learner, ANSWERS)
    for number in range(40):
        learner.tagger(task_of({"type": "object", "properties": {f"{number}": {"type": "string"}}}))
    assert learner.tagger(TASK) is None
