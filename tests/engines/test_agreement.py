"""The same prompts and extractions through every engine that is here, over the same weights: they agree.

Where two engines part, the reference (Transformers in float32) says how close the two tokens were; closer than what the
engines' arithmetic may err is a near-tie, which is counted and printed. Another engine is one more entry of `ENGINES`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import copydesk
from copydesk.bench.gguf_file import write_gguf
from copydesk.bench.peers import Peer
from copydesk.home import home as state
from copydesk.models.resolve import BUILTIN_FOLDER
from copydesk.models.tokenizer import Tokenizer, read_tokenizer_json
from copydesk.models.unpacked import unpacked
from copydesk.tasks.builtin import ADDRESS
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Json, Reply, TokenLogprob, Usage
from engines.reference import reference_rows

PROMPTS = [
    *(
        "Stocks fell as oil prices rose.",
        "The striker scored twice in the final.",
        "A new chip halves the energy used.",
    ),
    *("The two presidents met in Geneva.", "Classify: rain delayed the third test.", "What is the capital of France?"),
    *(
        "长沙市岳麓区桃花岭路189号",
        "收货人江雨桐，电话13800138000",
        "天津市河西区珠江道21号金泰大厦3层",
        "今天天气怎么样？",
    ),
    *("一加一等于几", "请写一句诗", "List three colours.", "Hello", "Translate: 你好", "Which year was it?", "街道"),
    *("Name a planet.", '{"province": "', "Sport or business? The club was sold for 90 million."),
]
ADDRESSES = [
    "天津市河西区珠江道21号金泰大厦3层 , 接收人慕容修远 , MOBILE：22323185576",
    "长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435",
    "上海市浦东新区世纪大道100号 张三 13800138000",
    "李四，电话：13912345678，地址：广东省深圳市南山区科技园南路15号",
    "江苏省丹阳市开发区金陵西路99号 王小明收 0511-86551234",
    "浙江省杭州市下城区武林广场1号 陈静 15012345678",
    "北京市朝阳区建国路88号SOHO现代城A座 刘洋 18611112222",
    "河南省济源市沁园路中段 赵强 13637891234",
    "广东省东莞市虎门镇太沙路12号 何丽 13798765432",
    "四川省成都市高新区天府大道中段530号 孙悦 028-85123456",
]
TOKENS = 16
"""Longest reply to a prompt."""
MOST_TIES = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """An engine over the built-in model, and how far its scores may lie from exact ones."""

    model: copydesk.Model
    tolerance: float


Opened = AbstractContextManager[copydesk.Model]


def _gguf() -> Path:
    """The folder of the built-in model as GGUF, its weights exactly as they are."""
    folder = state() / "agreement"
    if not (folder / "nano.gguf").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(read_tokenizer_json(BUILTIN_FOLDER), encoding="utf-8")
        for file in (
            "tokenizer_config.json",
            "generation_config.json",
            "config.json",
            "copydesk.json",
            "calibration.json",
        ):
            if (BUILTIN_FOLDER / file).is_file():
                shutil.copyfile(BUILTIN_FOLDER / file, folder / file)
        write_gguf(BUILTIN_FOLDER, folder / "nano.gguf", exact=True)
    return folder


def _builtin(engine: str, **options: str) -> Callable[[], Opened]:
    return lambda: copydesk.load(engine=engine, learn=False, **options)  # type: ignore[arg-type]


@contextmanager
def _server() -> Iterator[copydesk.Model]:
    """llama.cpp's own server, asked for whole answers."""
    with Peer(None, _gguf() / "nano.gguf", 1).start() as server, copydesk.load(engine=server.url) as model:
        yield model


ENGINES: dict[str, tuple[Callable[[], Opened], float, tuple[str, ...]]] = {
    "transformers": (_builtin("transformers"), 1e-3, ("transformers", "accelerate")),
    "cuda's twin": (_builtin("cuda", device="cpu", dtype="float32"), 1e-3, ("torch",)),
    "llamacpp": (lambda: copydesk.load(_gguf(), engine="llamacpp", learn=False), 0.1, ("xllamacpp", "gguf")),
    "a server": (_server, 0.1, ("xllamacpp", "gguf")),
}
"""How each opens the built-in model, its tolerance, and what it needs to be here."""


@pytest.fixture(scope="module")
def first() -> Iterator[Subject]:
    """The engine that the others are compared with: the default one."""
    with copydesk.load(engine="openvino", learn=False) as model:
        yield Subject(model, 1e-3)


@pytest.fixture(scope="module", params=ENGINES)
def other(request: pytest.FixtureRequest) -> Iterator[Subject]:
    opened, tolerance, needs = ENGINES[request.param]
    for package in needs:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    with opened() as model:
        yield Subject(model, tolerance)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(BUILTIN_FOLDER)


def gap(tokens: Sequence[int], one: int, other: int) -> float:
    """How far apart two tokens' log-probabilities are after `tokens`, by the reference."""
    row = reference_rows(unpacked(BUILTIN_FOLDER, state() / "unpacked"), tokens)[-1]
    return abs(float(row[one] - row[other]))


def parting(tokens: Sequence[int], others: Sequence[int]) -> int:
    """Where two answers part."""
    return next((at for at, pair in enumerate(zip(tokens, others, strict=False)) if pair[0] != pair[1]), -1)


def replies(model: copydesk.Model) -> list[Reply]:
    """To all prompts, side by side."""
    options = {"max_tokens": TOKENS, "temperature": 0.0, "repetition_penalty": 1.0, "thinking": "off"}
    streams = [model.chat_stream(prompt, logprobs=True, top_logprobs=5, **options) for prompt in PROMPTS]  # type: ignore[arg-type]
    return [stream.reply for stream in streams]


@pytest.fixture(scope="module")
def expected_replies(first: Subject) -> list[Reply]:
    return replies(first.model)


@pytest.fixture(scope="module")
def expected_answers(first: Subject) -> list[Answer[Json]]:
    return [answer for answer in first.model.extract_many(ADDRESSES) if isinstance(answer, Answer)]


def near_tie(reply: Reply, expected: Reply, tolerance: float) -> bool:
    """Whether two replies part where the token of either was as good to the one engine as the other's."""
    pairs = zip(reply.logprobs, expected.logprobs, strict=False)
    ours, theirs = next((pair for pair in pairs if pair[0].text != pair[1].text), (None, None))
    if ours is None or theirs is None:
        return False
    chances = dict(theirs.top)
    return ours.text in chances and theirs.logprob - chances[ours.text] <= tolerance


def told(text: bytes, logprob: float, *top: tuple[bytes, float]) -> Reply:
    """A reply of two tokens, of which only the second may differ from another's."""
    tokens = (TokenLogprob(b"a", -0.1), TokenLogprob(text, logprob, top))
    usage = Usage(1, 0, 2)
    return Reply("", None, "stop", None, True, None, None, 2, "model", "engine", usage, 1.0, logprobs=tokens)


def test_what_a_near_tie_is() -> None:
    expected = told(b"b", -0.5, (b"b", -0.5), (b"c", -0.59), (b"d", -0.7))
    assert near_tie(told(b"c", -0.5), expected, 0.1)
    assert not near_tie(told(b"d", -0.5), expected, 0.1)
    assert not near_tie(told(b"e", -0.5), expected, 0.1)
    assert not near_tie(expected, expected, 0.1)


def test_how_far_apart_two_tokens_are(tokenizer: Tokenizer) -> None:
    prompt = render_prompt(ADDRESS, tokenizer)
    before = [*prompt.prefix, *tokenizer.encode(ADDRESSES[0]), *prompt.suffix, *tokenizer.encode('{"province": "')]
    right, wrong = (tokenizer.encode(name)[0] for name in ("天津市", "上海市"))
    assert gap(before, right, right) == 0
    assert gap(before, right, wrong) > 3


def test_twenty_prompts(
    first: Subject, other: Subject, expected_replies: list[Reply], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(PROMPTS) == 20
    tolerance, ties = first.tolerance + other.tolerance, 0
    for prompt, reply, expected in zip(PROMPTS, replies(other.model), expected_replies, strict=True):
        if (reply.content, reply.finish) != (expected.content, expected.finish):
            assert near_tie(reply, expected, tolerance), (prompt, reply.content, expected.content)
            ties += 1
            continue
        if reply.logprobs:
            found, wanted = ([one.logprob for one in some.logprobs] for some in (reply, expected))
            np.testing.assert_allclose(found, wanted, atol=tolerance, err_msg=prompt)
    with capsys.disabled():
        print(f" {other.model.engine}: {ties} near-ties in {len(PROMPTS)} prompts ", end="")
    assert ties <= MOST_TIES


def test_ten_extractions(
    first: Subject,
    other: Subject,
    expected_answers: list[Answer[Json]],
    tokenizer: Tokenizer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(ADDRESSES) == len(expected_answers) == 10
    tolerance, ties = first.tolerance + other.tolerance, 0
    for text, answer, expected in zip(ADDRESSES, other.model.extract_many(ADDRESSES), expected_answers, strict=True):
        assert isinstance(answer, Answer), (text, answer)
        if answer.value != expected.value:
            ours, theirs = (tokenizer.encode(json.dumps(one.value, ensure_ascii=False)) for one in (answer, expected))
            at = parting(ours, theirs)
            prompt = render_prompt(ADDRESS, tokenizer)
            before = [*prompt.prefix, *tokenizer.encode(text), *prompt.suffix, *ours[:at]]
            assert gap(before, ours[at], theirs[at]) <= tolerance, (text, answer.value, expected.value)
            ties += 1
            continue
        assert answer.fields.keys() == expected.fields.keys()
        for path, field in answer.fields.items():
            wanted = expected.fields[path]
            assert (field.spans, field.match) == (wanted.spans, wanted.match), (text, path)
            if field.confidence is not None:
                assert field.confidence == pytest.approx(wanted.confidence, abs=max(2e-3, tolerance)), (text, path)
    with capsys.disabled():
        print(f" {other.model.engine}: {ties} near-ties in {len(ADDRESSES)} extractions ", end="")
    assert ties <= MOST_TIES
