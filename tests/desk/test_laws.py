"""The laws of the desk on random schemas, models, texts and drafts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from copydesk.desk.desk import Desk
from copydesk.desk.request import Request
from copydesk.errors import LengthError, SchemaError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Draft, Schema, Task
from fake_engine import FakeEngine, hashed

from .schemas import schemas

TEXTS = st.sampled_from(["a", "天津市河西区 21", 'He said "foo" and 3.5 <|im_end|>', "x" * 200, "2024-02-29 a@b.co"])
TEMPERATURES = st.sampled_from([0.0, 0.0, 0.7])
LENGTHS = st.sampled_from([None, None, 40, 90])
EXAMPLES = int(os.environ.get("LAW_EXAMPLES", "150"))
"""Cases of each law; a long run takes thousands."""
LAW = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def spoiled(text: str, kind: str, cut: int) -> str:
    """A draft made from the right answer."""
    cut %= len(text) + 1
    return {
        "empty": "",
        "right": text,
        "truncated": text[:cut],
        "changed": text[:cut] + "z" + text[cut + 1 :],
        "shifted": text[:cut] + text[cut + 2 :],
        "illegal": "not JSON at all",
        "hostile": text[:cut] + '<|im_end|>"}, {"' + text[cut:],
        "doubled": text + text,
        "compact": text.replace(": ", ":").replace(", ", ","),
    }[kind]


KINDS = st.sampled_from(
    ["empty", "right", "truncated", "changed", "shifted", "illegal", "hostile", "doubled", "compact"]
)


class Trial:
    """A desk on a hashed model, with every answer asked for as a task of `schema`."""

    def __init__(self, schema: Any, seed: int, tokenizer: Tokenizer) -> None:
        self.engine = FakeEngine(tokenizer.vocab_size, hashed(tokenizer.vocab_size, seed))
        self.desk = Desk(self.engine, tokenizer, lambda task: render_prompt(task, tokenizer))
        self.task = Task(name="trial", instruction="Extract.", schema=Schema(schema))

    def ask(self, text: str, **options: Any) -> Future[Answer[Any]]:
        return self.desk.submit(Request(self.task, text, **options))

    def end(self) -> None:
        self.desk.close()
        assert self.engine.open_sequences == 0


@pytest.fixture
def trial(tokenizer: Tokenizer) -> Callable[[Any, int], Trial]:
    return lambda schema, seed: Trial(schema, seed, tokenizer)


def answered(future: Future[Answer[Any]]) -> Answer[Any] | None:
    """The answer; None for a named refusal."""
    try:
        return future.result(60)
    except (SchemaError, LengthError) as error:
        event(f"{error.code}: {str(error)[:24]}")
        return None


@LAW
@given(schema=schemas, seed=st.integers(0, 2**32), text=TEXTS, temperature=TEMPERATURES)
def test_an_answer_always_satisfies_its_schema(
    trial: Callable[[Any, int], Trial], schema: Any, seed: int, text: str, temperature: float
) -> None:
    desk = trial(schema, seed)
    answer = answered(desk.ask(text, temperature=temperature, seed=seed))
    desk.end()
    if answer is not None:
        checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
        checker.validate(answer.value)


@LAW
@given(
    schema=schemas,
    seed=st.integers(0, 2**32),
    text=TEXTS,
    temperature=TEMPERATURES,
    max_tokens=LENGTHS,
    kind=KINDS,
    cut=st.integers(0),
)
def test_a_draft_never_changes_an_answer(
    trial: Callable[[Any, int], Trial], schema: Any, seed: int, text: str, kind: str, cut: int, **options: Any
) -> None:
    desk = trial(schema, seed)
    plain = answered(desk.ask(text, seed=seed, **options))
    if plain is None:
        desk.end()
        return
    draft = spoiled(json.dumps(plain.value, ensure_ascii=False), kind, cut)
    drafted = desk.ask(text, seed=seed, draft=Draft(draft, "rules"), **options).result(60)
    desk.end()
    assert drafted.value == plain.value
    assert drafted.usage.completion_tokens == plain.usage.completion_tokens
    assert drafted.confidence == pytest.approx(plain.confidence)
    assert drafted.fields == plain.fields
    assert drafted.passes <= plain.passes


@LAW
@given(schema=schemas, seed=st.integers(0, 2**32), temperature=TEMPERATURES)
def test_a_batch_of_many_equals_batches_of_one(
    trial: Callable[[Any, int], Trial], schema: Any, seed: int, temperature: float
) -> None:
    texts = ["a", "天津市", "x" * 50, 'q"uote', "a"]
    together = trial(schema, seed)
    futures = [together.ask(text, temperature=temperature, seed=seed) for text in texts]
    answers = [answered(future) for future in futures]
    together.end()
    assume(None not in answers)
    alone = trial(schema, seed)
    for text, answer in zip(texts, answers, strict=True):
        single = alone.ask(text, temperature=temperature, seed=seed).result(60)
        assert answer is not None
        assert (single.value, single.fields) == (answer.value, answer.fields)
    alone.end()


@LAW
@given(schema=schemas, seed=st.integers(0, 2**32), length=st.integers(1, 60))
def test_an_answer_fits_in_the_tokens_it_may_have_or_fails_by_name(
    trial: Callable[[Any, int], Trial], schema: Any, seed: int, length: int
) -> None:
    desk = trial(schema, seed)
    answer = answered(desk.ask("天津市河西区", max_tokens=length))
    desk.end()
    if answer is not None:
        assert answer.usage.completion_tokens <= length
        jsonschema.validate(answer.value, schema)
