"""The laws of the desk on random schemas, models, texts and drafts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from copydesk.desk.desk import Desk
from copydesk.desk.request import Request
from copydesk.drafting.controller import Costs
from copydesk.errors import AnswerError, LengthError, SchemaError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Draft, Schema, Task
from fake_engine import FakeEngine, hashed
from law_cases import cases

from .fake_drafters import Propose, drafting, going_on
from .schemas import schemas

TEXTS = st.sampled_from(["a", "天津市河西区 21", 'He said "foo" and 3.5 <|im_end|>', "x" * 200, "2024-02-29 a@b.co"])
TEMPERATURES = st.sampled_from([0.0, 0.0, 0.7])
LENGTHS = st.sampled_from([None, None, 40, 90])
LAW = settings(
    max_examples=cases(150),
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
        self.propose: Propose = lambda so_far: None
        """What is drafted."""
        drafters = drafting(lambda so_far: self.propose(so_far), Costs.measured({1: 1.0, 64: 1.0 + seed % 50}))
        self.desk = Desk(self.engine, tokenizer, lambda task: render_prompt(task, tokenizer), drafters)
        self.task = Task(name="trial", instruction="Extract.", schema=Schema(schema))

    def ask(self, text: str, **options: Any) -> Future[Answer[Any]]:
        return self.desk.submit(Request(self.task, text, **options))

    def end(self) -> None:
        self.desk.close()
        assert self.engine.open_sequences == 0


@pytest.fixture
def trial(tokenizer: Tokenizer) -> Callable[[Any, int], Trial]:
    return lambda schema, seed: Trial(schema, seed, tokenizer)


def saying(text: str | None) -> Propose:
    """Adds the same to whatever stands; None raises."""

    def propose(so_far: str) -> Draft:
        if text is None:
            raise RuntimeError("a drafter that fails")
        return Draft(so_far + text, "lookup")

    return propose


def same(drafted: Answer[Any], plain: Answer[Any]) -> None:
    """Errors unless all is the same that a draft must not change."""
    assert drafted.value == plain.value
    assert drafted.usage.completion_tokens == plain.usage.completion_tokens
    assert drafted.confidence == pytest.approx(plain.confidence)
    assert drafted.fields == plain.fields


def answered(future: Future[Answer[Any]]) -> Answer[Any] | None:
    """The answer; None for a named refusal."""
    try:
        return future.result(60)
    except (AnswerError, LengthError, SchemaError) as error:
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
    plain = answered(desk.ask(text, seed=seed, draft=False, **options))
    if plain is None:
        desk.end()
        return
    desk.propose = going_on(spoiled(json.dumps(plain.value, ensure_ascii=False), kind, cut))
    # Again and again: how much is read changes with what becomes of it.
    drafted = [desk.ask(text, seed=seed, **options).result(60) for _ in range(2)]
    desk.end()
    for answer in drafted:
        same(answer, plain)
        assert answer.passes <= plain.passes


@LAW
@given(
    schema=schemas,
    seed=st.integers(0, 2**32),
    temperature=TEMPERATURES,
    drafts=st.lists(
        st.one_of(st.none(), st.text(max_size=8), st.just("\ud800"), st.sampled_from(['"', '": "', "}", "]", "天"])),
        max_size=6,
    ),
    kind=KINDS,
    cut=st.integers(0),
)
def test_a_drafter_that_raises_or_says_anything_changes_no_answer(
    trial: Callable[[Any, int], Trial],
    schema: Any,
    seed: int,
    temperature: float,
    drafts: list[str | None],
    kind: str,
    cut: int,
) -> None:
    """Of many answers at once, too."""
    desk = trial(schema, seed)
    texts = ["a", "天津市", 'q"uote']
    plain = [answered(desk.ask(text, temperature=temperature, seed=seed, draft=False)) for text in texts]
    assume(None not in plain)
    whole = json.dumps(plain[-1].value if plain[-1] else None, ensure_ascii=False)
    begin = going_on(spoiled(whole, kind, cut))
    turns = itertools.cycle([begin, *map(saying, drafts)])
    desk.propose = lambda so_far: next(turns)(so_far)
    futures = [desk.ask(text, temperature=temperature, seed=seed) for text in texts]
    for future, answer in zip(futures, plain, strict=True):
        assert answer is not None
        same(future.result(60), answer)
    desk.end()


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
