"""The laws of replies, on random models, conversations and drafts."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copydesk.desk.chat_request import ChatRequest
from copydesk.errors import LengthError, UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Constraint, Reply, Sampling, Schema
from law_cases import cases

from .chatting import Bench, leaning, said

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["World", "Sports"]},
        "sizes": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    },
    "required": ["name", "kind", "sizes"],
}
FONDNESS = {"<|im_end|>": 3.0, "</think>": 4.0, "<think>": 3.0, "\n": 3.0, '"': 3.0, "天": 3.0}

greedy = Sampling()
samplings = st.one_of(
    st.just(greedy),
    st.builds(
        Sampling,
        temperature=st.sampled_from([0.0, 0.0, 0.7, 1.3]),
        top_p=st.sampled_from([1.0, 0.9, 0.3]),
        top_k=st.sampled_from([0, 1, 20]),
        min_p=st.sampled_from([0.0, 0.1]),
        repetition_penalty=st.sampled_from([1.0, 1.05, 1.5, 0.8]),
        presence_penalty=st.sampled_from([0.0, 0.5, -0.5]),
        frequency_penalty=st.sampled_from([0.0, 0.3]),
        seed=st.integers(0, 2**64 - 1),
    ),
)
constraints = st.sampled_from(
    [
        Constraint(),
        Constraint(),
        Constraint(),
        Constraint(schema=Schema(SCHEMA)),
        Constraint(json_object=True),
        Constraint(regex=r"[a-z]{2,}-(\d\d|猫)"),
        Constraint(choice=("World", "World Sports", "天津", "no")),
    ]
)
texts = st.text(alphabet='ab 天津市\n.<think>{}"12', max_size=12)
conversations = st.builds(
    lambda system, turns, last: [
        *([{"role": "system", "content": system}] if system else []),
        *({"role": ("user", "assistant")[number % 2], "content": turn} for number, turn in enumerate(turns)),
        {"role": "user", "content": f"{last}?"},
    ],
    texts,
    st.lists(texts, max_size=2),
    texts,
)


@st.composite
def requests(draw: st.DrawFn) -> ChatRequest:
    constraint = draw(constraints)
    logprobs = draw(st.booleans())
    return ChatRequest(
        messages=draw(conversations),
        thinking=draw(st.booleans()),
        sampling=draw(samplings),
        constraint=constraint,
        max_tokens=draw(st.sampled_from([1, 5, 40, 70])),
        stop=draw(st.sampled_from([(), ("天津", "\n\n"), ('"a',)])) if constraint == Constraint() else (),
        logprobs=logprobs,
        top_logprobs=draw(st.sampled_from([0, 3])) if logprobs else 0,
    )


class Guessing:
    """Drafts of a reply that is known: right, wrong here and there, or made up."""

    def __init__(self, seed: int, right: list[int], size: int) -> None:
        self._seed = seed
        self._right = right
        self._size = size

    def __call__(self, standing: list[int]) -> list[int]:
        chance = random.Random(f"{self._seed} {len(standing)}")
        if chance.random() < 0.2:
            return []
        follows = self._right[len(standing) :] if chance.random() < 0.8 else []
        made_up = [chance.randrange(self._size) for _ in range(chance.randrange(6))]
        return [token if chance.random() < 0.9 else chance.randrange(self._size) for token in follows] + made_up


def tokens_of(bench: Bench, request: ChatRequest) -> list[int]:
    """A reply's tokens."""
    job, _ = bench.job(request)
    bench.scheduler.add(job)
    while not bench.scheduler.idle:
        bench.scheduler.step()
    return job.progress.tokens


@pytest.fixture(scope="session", params=["thinking", "opening", "plain"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    found: Tokenizer = request.getfixturevalue(request.param)
    return found


@settings(max_examples=cases(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(request_=requests(), model=st.integers(0, 1000), seed=st.integers(0, 1000))
def test_a_draft_changes_nothing(tokenizer: Tokenizer, request_: ChatRequest, model: int, seed: int) -> None:
    bench = Bench(tokenizer, leaning(tokenizer, FONDNESS, model))
    if not is_possible(bench, request_):
        return
    right = tokens_of(bench, request_)
    plain, deltas = bench.one(request_)
    drafted, _ = bench.one(request_, Guessing(seed, right, tokenizer.vocab_size))
    assert said(drafted) == said(plain)
    check(plain, request_)
    if isinstance(plain, Reply):
        assert "".join(delta.content for delta in deltas) == plain.content
        assert "".join(delta.reasoning for delta in deltas) == (plain.reasoning or "")
        assert tuple(one for delta in deltas for one in delta.logprobs) == plain.logprobs
    bench.scheduler.close(UsageError("done"))
    assert bench.engine.open_sequences == 0


def check(reply: Reply | Exception, request: ChatRequest) -> None:
    """A reply is what it must be, or there is a named reason why there is none."""
    if isinstance(reply, Exception):
        assert isinstance(reply, LengthError), repr(reply)
        assert request.constraint != Constraint()
        return
    assert 0 <= reply.usage.completion_tokens <= request.max_tokens
    if request.constraint == Constraint():
        assert not any(stop in reply.content for stop in request.stop)
    if request.constraint.schema:
        jsonschema.validate(json.loads(reply.content), SCHEMA)
        assert _layout(json.dumps(reply.value, ensure_ascii=False)) == _layout(reply.content)
    if request.constraint.json_object:
        assert isinstance(reply.value, dict)
    if request.constraint.choice:
        assert reply.content in request.constraint.choice
    if request.constraint.regex:
        import re

        assert re.fullmatch(request.constraint.regex, reply.content)


def _layout(text: str) -> str:
    """Python has no integer -0, which is one of JSON's."""
    return text.replace("-0", "0")


@settings(max_examples=cases(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(asked=st.lists(requests(), min_size=2, max_size=6), model=st.integers(0, 1000), seed=st.integers(0, 1000))
def test_many_at_once_are_as_they_are_one_by_one(
    tokenizer: Tokenizer, asked: list[ChatRequest], model: int, seed: int
) -> None:
    logits = leaning(tokenizer, FONDNESS, model)
    chance = Guessing(seed, [], tokenizer.vocab_size)
    bench = Bench(tokenizer, logits, most_live=3, tokens_per_call=50, decodes=4)
    possible = [one for one in asked if is_possible(bench, one)]
    together = bench.all(possible, chance)
    alone = [Bench(tokenizer, logits).one(one) for one in possible]
    assert [said(reply) for reply, _ in together] == [said(reply) for reply, _ in alone]


def is_possible(bench: Bench, request: ChatRequest) -> bool:
    try:
        bench.job(request)
    except LengthError:
        return False
    return True


@settings(max_examples=cases(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    messages=conversations,
    thinking=st.booleans(),
    model=st.integers(0, 1000),
    stop=st.sampled_from([(), ("天", "\n\n")]),
    most=st.sampled_from([1, 2, 17, 60]),
    decodes=st.integers(1, 20),
)
def test_an_engine_that_goes_on_by_itself_changes_nothing(
    tokenizer: Tokenizer, messages: Any, thinking: bool, model: int, stop: tuple[str, ...], most: int, decodes: int
) -> None:
    request = ChatRequest(messages=messages, thinking=thinking, stop=stop, max_tokens=most)
    logits = leaning(tokenizer, FONDNESS, model)
    steps, ahead = Bench(tokenizer, logits), Bench(tokenizer, logits, decodes=decodes)
    assert said(ahead.one(request)[0]) == said(steps.one(request)[0])
    assert len(ahead.engine.calls) <= len(steps.engine.calls)
