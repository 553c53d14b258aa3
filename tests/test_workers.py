"""A model with worker processes: the same answers, and nothing left behind however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import copydesk
from copydesk import Answer, Failure, Model
from copydesk.errors import UsageError

LINES = [
    "天津市河西区珠江道21号金泰大厦3层 , 接收人慕容修远 , MOBILE：22323185576",
    "湖南长沙岳麓区桃花岭路189号江雨桐13800138000",
    "卢瑶梅云南省楚雄彝族自治州南华县东街古城路37号18529417028",
    "13429598442易诚瑶黑龙江省七台河市桃山区风采路朝阳广场",
    "收件人：王伟 电话 010-62345678 北京市海淀区中关村南大街5号",
    "江苏省丹阳市云阳街道东方路88号 李静收 139 1234 5678",
    "广州天河区体育西路103号维多利广场A塔 陈先生 13912345678转0912",
    "Oil prices rose on Tuesday.",
]


@pytest.fixture(scope="module")
def alone() -> Iterator[Model]:
    with copydesk.load(learn=False) as model:
        yield model


@pytest.fixture(scope="module")
def manned() -> Iterator[Model]:
    with copydesk.load(learn=False, workers=2) as model:
        assert model._crew is not None
        assert model._crew.wait(60)
        yield model


def same(found: list[Answer[Any] | Failure], expected: list[Answer[Any] | Failure]) -> bool:
    return len(found) == len(expected) and all(map(_same, found, expected))


def _same(found: Answer[Any] | Failure, expected: Answer[Any] | Failure) -> bool:
    if isinstance(found, Failure) or isinstance(expected, Failure):
        return found == expected
    spans = [{name: (field.spans, field.match) for name, field in row.fields.items()} for row in (found, expected)]
    return (found.value, spans[0], found.verified) == (expected.value, spans[1], True) and (
        found.confidence == pytest.approx(expected.confidence, rel=1e-3)
    )


def test_the_same_addresses(alone: Model, manned: Model) -> None:
    texts = [*LINES, "", *LINES[::-1], Failure("bad", "line"), *LINES]
    found = list(manned.extract_many(texts))
    assert same(found, list(alone.extract_many(texts)))
    assert [row.code for row in found if isinstance(row, Failure)] == ["empty_text", "bad"]


def test_the_same_news(alone: Model, manned: Model) -> None:
    found = list(manned.classify_many(LINES * 4))
    assert same(found, list(alone.classify_many(LINES * 4)))
    assert all(isinstance(row, Answer) and set(row.labels) for row in found)


class Recipient(BaseModel):
    city: str
    name: str


def test_values_of_a_class_of_this_module(manned: Model) -> None:
    found = list(manned.extract_many(LINES[:3], Recipient))
    assert [type(row.value) for row in found if isinstance(row, Answer)] == [Recipient] * 3


def test_few_rows_in_flight_stay_here(manned: Model) -> None:
    assert manned._crew is not None
    before = manned._crew._crew._numbers  # type: ignore[union-attr]
    assert len(list(manned.extract_many(LINES[:2], in_flight=1))) == 2
    assert isinstance(manned.extract(LINES[0]).value, dict)
    assert manned._crew._crew._numbers == before  # type: ignore[union-attr]


def test_senseless_numbers_of_workers(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="workers"):
        copydesk.load(tiny_model, workers=-1)


_SCRIPT = """
import sys
sys.path[:] = {path!r}
import copydesk
model = copydesk.load({model!r}, learn=False, workers=2)
assert model._crew.wait(60)
print(*[member.child._process.pid for member in model._crew._crew._members], flush=True)
{rest}
"""
_STREAM = """
import itertools
for number, row in enumerate(model.classify_many(f"text {number}" for number in itertools.count())):
    if number == 40:
        print("going on", flush=True)
"""


def script(model: Path, rest: str) -> subprocess.Popen[str]:
    written = _SCRIPT.format(path=sys.path, model=str(model), rest=textwrap.dedent(rest))
    return subprocess.Popen([sys.executable, "-c", written], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def runs(process: int) -> bool:
    """Whether a process does anything; one that ended may still be listed."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(processes: list[int]) -> bool:
    """Whether all have ended, after a while."""
    until = time.monotonic() + 10
    while any(map(runs, processes)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(runs, processes))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)])
def test_stopped_in_the_middle_it_leaves_nothing(tiny_model: Path, number: int, code: int) -> None:
    process = script(tiny_model, _STREAM)
    assert process.stdout is not None
    workers = list(map(int, process.stdout.readline().split()))
    assert process.stdout.readline() == "going on\n"
    assert all(map(runs, workers))
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == code
    assert gone(workers)
    if number == signal.SIGINT:
        assert errors.strip().endswith("KeyboardInterrupt")
        assert errors.count("Traceback") == 1


def test_never_closed_it_leaves_nothing(tiny_model: Path) -> None:
    out, errors = (process := script(tiny_model, "next(model.classify_many(['a'] * 100))")).communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert gone(list(map(int, out.split())))
