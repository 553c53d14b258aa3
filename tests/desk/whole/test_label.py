"""One classification: by its first token, or held to a label."""

from __future__ import annotations

import asyncio
import math

import pytest

from copydesk.desk.request import Request
from copydesk.desk.whole.label import write_label
from copydesk.errors import AnswerError, EngineError
from copydesk.tasks.prompt import conversation
from copydesk.tasks.task import classification
from copydesk.types import Answer, TokenLogprob
from desk.whole.fake_completions import FakeCompletions, Write, in_turn, tokens, written

TASK = classification(["yes", "no", "maybe"])
TOLD = written("yes", TokenLogprob(b"yes", math.log(0.6), ((b"yes", math.log(0.6)), (b"no", math.log(0.2)))))
UNCLEAR = written("The", TokenLogprob(b"The", -0.1, ((b"The", -0.1),)))


def label(
    write: Write, request: Request | None = None, most_top: int = 5
) -> tuple[Answer[str | None], FakeCompletions]:
    engine = FakeCompletions(write, most_top=most_top)
    return asyncio.run(write_label(engine, request or Request(TASK, "Is it?"), conversation, 0.0)), engine


def test_one_token_says_all() -> None:
    answer, engine = label(in_turn(TOLD))
    assert answer.value == "yes"
    assert answer.labels == {"yes": pytest.approx(0.75), "no": pytest.approx(0.25), "maybe": 0.0}
    assert answer.label_mass == pytest.approx(0.8)
    assert answer.confidence == pytest.approx(0.6)
    (asked,) = engine.asked
    assert (asked.max_tokens, asked.top) == (1, 5)


def test_where_it_does_not_the_engine_is_held_to_the_labels() -> None:
    answer, engine = label(in_turn(UNCLEAR, written("no", *tokens("n", "o", "<end>"))))
    assert (answer.value, answer.labels, answer.label_mass) == ("no", {}, None)
    assert answer.confidence == pytest.approx(math.exp(-0.2))
    assert engine.asked[1].constraint.choice == TASK.labels
    assert engine.asked[1].max_tokens is None


def test_an_engine_that_tells_no_probabilities() -> None:
    answer, engine = label(in_turn(written(" maybe\n")), most_top=0)
    assert (answer.value, answer.confidence) == ("maybe", None)
    assert len(engine.asked) == 1


def test_an_engine_that_does_not_keep_to_the_labels() -> None:
    with pytest.raises(AnswerError, match="wrote 'perhaps'"):
        label(in_turn(written("perhaps")), most_top=0)


@pytest.mark.parametrize(("least", "value"), [(0.5, "yes"), (0.7, None)])
def test_abstaining(least: float, value: str | None) -> None:
    answer, _ = label(in_turn(TOLD), Request(TASK, "Is it?", abstain_below=least))
    assert (answer.value, answer.abstained) == (value, value is None)


def test_nothing_says_when_to_abstain() -> None:
    with pytest.raises(EngineError, match="leave abstain_below out"):
        label(in_turn(written("yes")), Request(TASK, "Is it?", abstain_below=0.5), most_top=0)


def test_sampling_among_the_labels() -> None:
    values = {label(in_turn(TOLD), Request(TASK, "Is it?", temperature=2.0, seed=seed))[0].value for seed in range(40)}
    assert values == {"yes", "no"}
    assert len({label(in_turn(TOLD), Request(TASK, "?", temperature=2.0, seed=3))[0].value for _ in range(5)}) == 1
