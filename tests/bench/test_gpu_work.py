"""What both sides are given: the same prompts, and figures of what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from copydesk.bench.gpu_work import DECODED, Ours, Theirs
from copydesk.bench.vllm import Run
from copydesk.loading import load
from copydesk.models.resolve import BUILTIN_FOLDER
from copydesk.models.shared import shared_tokenizer
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.types import Json

ADDRESSES = ["长沙市岳麓区桃花岭路189号 江雨桐 021-17613435", "武汉市洪山区青年路5号 电话13900000000 王静"]
NEWS = ["Stocks close higher as oil prices ease", "The home team won on Sunday"]


class Peer:
    """Notes what it is asked, and answers it with what it is told."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = list(texts)
        self.prompts: list[Any] = []
        self.settings: Json = {}

    def run(self, prompts: Sequence[Any], in_flight: int, **settings: Any) -> Run:
        self.prompts, self.settings = list(prompts), settings | {"in_flight": in_flight}
        count = len(prompts)
        tokens = settings["max_tokens"]
        return Run([0.001 * tokens] * count, 0.5, self.texts or ["{}"] * count, [tokens] * count)


@pytest.fixture(scope="module")
def ours() -> Iterator[Ours]:
    with load(learn=False) as model:
        yield Ours(model)


def test_an_address_is_asked_with_our_own_tokens_and_the_schema() -> None:
    peer, theirs = Peer(), Theirs(BUILTIN_FOLDER)
    theirs.run(peer, ADDRESS, ADDRESSES, 2)  # type: ignore[arg-type]
    tokenizer = shared_tokenizer(BUILTIN_FOLDER)
    for text, prompt in zip(ADDRESSES, peer.prompts, strict=True):
        written = tokenizer.decode(prompt)
        assert ADDRESS.instruction in written
        assert text in written
    assert ADDRESS.schema is not None
    assert peer.settings["schema"] == ADDRESS.schema.json
    assert peer.settings["in_flight"] == 2


def test_news_are_asked_from_text_for_one_token() -> None:
    peer, theirs = Peer(), Theirs(BUILTIN_FOLDER)
    assert theirs.rate(peer, AGNEWS, NEWS) == 4  # type: ignore[arg-type]
    assert all(isinstance(prompt, str) and AGNEWS.instruction in prompt for prompt in peer.prompts)
    assert peer.settings["max_tokens"] == 1


def test_decoding_leaves_the_prompt_out() -> None:
    peer, theirs = Peer(), Theirs(BUILTIN_FOLDER)
    assert theirs.decoding(peer, ADDRESSES) == pytest.approx(1.0)  # type: ignore[arg-type]


def test_our_figures_are_of_real_answers(ours: Ours) -> None:
    assert ours.latency(ADDRESS, ADDRESSES, 1) > 0
    assert [answer.value["city"] for answer in ours.answers] == ["长沙市", "武汉市"]
    assert ours.passes >= 1
    assert 50 < ours.tokens < 200
    peer = Peer(['{"a": 1}', "no JSON"])
    assert Theirs(BUILTIN_FOLDER).different(peer, ADDRESSES, ours.answers) == 2  # type: ignore[arg-type]
    assert ours.rate(AGNEWS, NEWS) > 0
    assert [answer.value for answer in ours.answers] == ["Business", "Sports"]


def test_our_decoding_is_neither_drafted_nor_constrained(ours: Ours) -> None:
    assert ours.decoding(ADDRESSES[:1]) > 0
    assert DECODED > 1
