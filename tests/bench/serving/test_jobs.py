"""What is asked of whom, and which answers are any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from copydesk.bench.serving.jobs import Job, Kind, Said, body, said, texts
from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS, AGNEWS, AGNEWS_LABELS


def _asked(job: Job, kind: Kind) -> dict[str, Any]:
    asked: dict[str, Any] = json.loads(body(job, kind, "天津市"))
    return asked


def _answer(content: str, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": 7}} | more).encode()


def test_both_are_asked_the_same() -> None:
    user = {"role": "user", "content": "天津市"}
    for job, task in (("address", ADDRESS), ("news", AGNEWS)):
        ours, theirs = _asked(job, "copydesk"), _asked(job, "llama.cpp")  # type: ignore[arg-type]
        assert ours["messages"] == [user]
        assert theirs["messages"] == [{"role": "system", "content": task.instruction}, user]
        assert ours["temperature"] == theirs["temperature"] == 0
    assert _asked("address", "copydesk")["response_format"] == _asked("address", "llama.cpp")["response_format"]
    assert _asked("news", "copydesk")["structured_outputs"] == {"choice": list(AGNEWS_LABELS)}
    assert _asked("news", "llama.cpp")["max_tokens"] == 1


@pytest.mark.parametrize(
    ("job", "content", "value"),
    [
        ("news", "Sci/Tech", "Sci/Tech"),
        ("news", "Sci", "Sci/Tech"),
        ("address", '{"city":"天津市", "a": 1}', '{"a": 1, "city": "天津市"}'),
    ],
)
def test_what_was_said(job: Job, content: str, value: str) -> None:
    assert said(job, _answer(content)) == Said(value, 7)
    assert said(job, _answer(content, copydesk={"verified": True})) == Said(value, 7)
    assert said(job, _answer(content, copydesk={"verified": False})) is None


@pytest.mark.parametrize(
    ("job", "answer"),
    [
        ("news", _answer("")),
        ("news", _answer("Politics")),
        ("address", _answer('{"city": "天')),
        ("address", _answer("[1]")),
        ("address", b"no json"),
        ("address", b'{"choices": []}'),
        ("address", b"[]"),
        ("news", b'{"choices": [{"message": {"content": null}}]}'),
    ],
)
def test_what_is_no_answer(job: Job, answer: bytes) -> None:
    assert said(job, answer) is None


@pytest.mark.parametrize("job", ["address", "news"])
def test_the_seed_chooses_texts(job: Job, data: Path) -> None:
    chosen = texts(job, data, 100, 1)
    assert sorted(chosen) == sorted(f"{job} {row}" for row in range(12))
    assert chosen == texts(job, data, 100, 1) != texts(job, data, 100, 2)
    assert len(texts(job, data, 5, 1)) == 5


@pytest.mark.parametrize("job", ["address", "news"])
def test_a_folder_without_texts(job: Job, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give the folder that holds"):
        texts(job, tmp_path, 5, 1)
