"""What is asked, and which answers are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from copydesk.bench.engines.questions import Job, Question, is_right, questions
from copydesk.errors import UsageError

RECORD = {"city": "天津市", "name": "慕容修远"}
JSON = '{"city": "天津市", "name": "慕容修远", "phone": "1"}'


@pytest.mark.parametrize(
    ("job", "answer", "right"),
    [
        ("address", JSON, RECORD),
        ("address", f"<think>\n{{}}\n</think>\n\nHere it is:\n```json\n{JSON}\n```<|im_end|>", RECORD),
        ("news", "Sci/Tech<|im_end|><|im_end|>", "Sci/Tech"),
        ("news", "It is Business, not World.", "Business"),
        ("chat", "It is paris!", ("Paris", "Lutetia")),
    ],
)
def test_right_whatever_is_around(job: Job, answer: str, right: Any) -> None:
    assert is_right(job, answer, right)


@pytest.mark.parametrize(
    ("job", "answer", "right"),
    [
        ("address", '{"city": "天津市", "name": ""}', RECORD),
        ("address", JSON[:-1], RECORD),
        ("address", "天津市", RECORD),
        ("address", "[1]", RECORD),
        ("news", "It is World, not Business.", "Business"),
        ("news", "Politics", "World"),
        ("chat", "Parisian life", ("Paris",)),
    ],
)
def test_wrong(job: Job, answer: str, right: Any) -> None:
    assert not is_right(job, answer, right)


@pytest.mark.parametrize("job", ["address", "news", "chat"])
def test_the_seed_chooses(job: Job, data: Path) -> None:
    chosen = questions(job, data, 5, 1)
    assert len({question.text for question in chosen}) == 5
    assert chosen == questions(job, data, 5, 1) != questions(job, data, 5, 2)


def test_only_labelled_fields_count(data: Path) -> None:
    assert {tuple(question.right) for question in questions("address", data, 16, 0)} == {("city",)}
    labels = {question.text: question.right for question in questions("news", data, 16, 0)}
    assert (labels["news 0"], labels["news 3"]) == ("World", "Sci/Tech")


def test_too_few_or_none(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="16"):
        questions("address", data, 17, 0)
    (data / "agnews_train.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(UsageError, match="agnews_train"):
        questions("news", data, 1, 0)


def test_chats_have_answers() -> None:
    assert all(isinstance(question, Question) and question.right for question in questions("chat", Path(), 11, 0))
