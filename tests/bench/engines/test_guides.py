"""Steps that are to change time alone change no answer."""

from __future__ import annotations

import time
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("transformers", reason="copydesk[transformers] is not installed")
from copydesk.bench.engines.guides import Guides
from copydesk.bench.engines.guides_server import Chats
from copydesk.bench.engines.ways import Step

STEPS: tuple[Step, ...] = get_args(Step)
TEXTS = ["天津市河西区珠江道21号", "上海市", "MOBILE：22323185576 , 接收人慕容修远"]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="module")
def single(plain_model: Path) -> list[str]:
    """Answers one by one."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OMP_NUM_THREADS", "1")
        guides = Guides(str(plain_model), STEPS[:4], 8, 0)
        return [guides.answer("news", text).text for text in TEXTS]


@pytest.mark.parametrize("steps", [STEPS[:5], STEPS])
def test_batches_and_kept_prompts_change_no_answer(plain_model: Path, single: list[str], steps: list[Step]) -> None:
    guides = Guides(str(plain_model), steps, 8, 0)
    end = "<|im_end|>"
    answers = guides.answer_all("news", TEXTS)
    assert [answer.partition(end)[0] for answer in answers] == [answer.partition(end)[0] for answer in single]
    assert guides.answer("news", TEXTS[0]).text == single[0]  # what was kept is as it was
    assert len(set(single)) > 1
    assert bool(guides._kept) == ("memory" in steps)


def test_loaded_for_each_call_and_sampled_by_the_seed(plain_model: Path) -> None:
    guides = Guides(str(plain_model), (), 6, 1)
    guides.warm_up("news", TEXTS[0])
    before = time.perf_counter()
    first = guides.answer("news", TEXTS[0])
    assert first.first_at > before
    guides.answer("news", TEXTS[1])
    assert guides.load_seconds() > 0
    assert Guides(str(plain_model), STEPS[:1], 6, 1).answer("news", TEXTS[0]).text == first.text


def test_a_long_text_is_cut(plain_model: Path) -> None:
    guides = Guides(str(plain_model), STEPS[:4], 6, 0)
    assert len(guides._messages("news", "天津市" * 1000)[-1]["content"]) < 3000
    assert guides._messages("news", "天津市")[-1]["content"] == "天津市"


def test_behind_the_api(plain_model: Path) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Route
    from starlette.testclient import TestClient

    guides = Guides(str(plain_model), STEPS, 8, 0)
    direct = guides.answer("news", TEXTS[0]).text.partition("<|im_end|>")[0]
    app = Starlette(routes=[Route("/v1/chat/completions", Chats(guides).answer, methods=["POST"])])
    body = {"model": "m", "messages": guides._messages("news", TEXTS[0]), "max_tokens": 8}
    with TestClient(app) as client:
        whole = client.post("/v1/chat/completions", json=body).json()
        events = client.post("/v1/chat/completions", json=body | {"stream": True}).text
    assert whole["choices"][0]["message"]["content"] == direct
    assert events.startswith("data: {")
    assert events.endswith("data: [DONE]\n\n")
