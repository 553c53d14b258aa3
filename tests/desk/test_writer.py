"""One answer in the making, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from copydesk.desk.canonical import Canonical
from copydesk.desk.choosing import Choosing
from copydesk.desk.closing import Closing
from copydesk.desk.drafts import Drafts
from copydesk.desk.grammar import Grammar
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.writer import Writer, Written
from copydesk.engines.protocol import Read
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.task import extraction
from fake_engine import FakeEngine, hashed, reciting

from .fake_drafters import drafting, going_on

PROMPT = (7, 8, 9)
FIELDS = ("city", "name", "phone")
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string", "maxLength": 40} for name in FIELDS},
    "required": list(FIELDS),
}
TASK = extraction(SCHEMA)
RIGHT = '{"city": "天津市", "name": "慕容修远", "phone": "22323185576"}'


class Trial:
    """A model that recites `RIGHT`, and a record of what it was made to read."""

    def __init__(self, tokenizer: Tokenizer, canonical: Canonical, answer: str = RIGHT) -> None:
        self.tokenizer = tokenizer
        self.canonical = canonical
        self.target = [*tokenizer.encode(answer), tokenizer.eos_token_ids[0]]
        self.reads: list[Read] = []
        size = tokenizer.vocab_size
        self.engine = FakeEngine(size, reciting(size, self._next, otherwise=hashed(size)))

    def _next(self, tokens: Sequence[int]) -> int | None:
        written = list(tokens[len(PROMPT) :])
        return self.target[len(written)] if written == self.target[: len(written)] else None

    def write(self, draft: str | None = None, *, schema: Any = SCHEMA, room: int = 500) -> Written:
        grammar = Grammar(
            schema, Bounds(64, 32), self.tokenizer.grammar_tokenizer(self.tokenizer.vocab_size), self.canonical
        )
        closing = Closing(self.canonical, self.tokenizer.eos_token_ids[0], self.tokenizer.vocab_size)
        shortest = closing.of(grammar.start(), (), 1000)
        assert shortest is not None
        sequence = self.engine.open()
        writing = Writer(
            grammar.start(),
            PROMPT,
            room,
            shortest,
            engine=self.engine,
            sequence=sequence,
            canonical=self.canonical,
            closing=closing,
            choosing=Choosing(),
            drafts=None if draft is None else Drafts(drafting(going_on(draft)), TASK, "", self.tokenizer),
        ).run()
        read = next(writing)
        while True:
            self.reads.append(read)
            try:
                read = writing.send(self.engine.run([read])[0])
            except StopIteration as stop:
                return cast("Written", stop.value)

    def text(self, written: Written) -> str:
        return self.canonical.text(written.tokens).decode()


@pytest.fixture
def trial(tokenizer: Tokenizer, canonical: Canonical) -> Trial:
    return Trial(tokenizer, canonical)


def test_without_a_draft_each_open_token_takes_a_pass_and_forced_text_rides_along(trial: Trial) -> None:
    written = trial.write()
    assert trial.text(written) == RIGHT
    assert written.tokens == trial.target[:-1]
    assert len(trial.reads) == len(written.probabilities)
    assert len(written.probabilities) < len(written.tokens)
    assert trial.reads[0].tokens == (*PROMPT, *trial.tokenizer.encode('{"city":'))
    assert all(len(read.wanted) == 1 for read in trial.reads)
    assert written.kept == 0


def test_the_right_draft_takes_one_pass(trial: Trial) -> None:
    plain = trial.write()
    trial.reads.clear()
    drafted = trial.write(RIGHT)
    assert drafted.tokens == plain.tokens
    assert drafted.probabilities == pytest.approx(plain.probabilities)
    assert len(trial.reads) == 1
    assert drafted.kept == len(drafted.probabilities)


def test_what_stands_after_the_last_open_token_is_not_read(trial: Trial) -> None:
    trial.write(RIGHT)
    (read,) = trial.reads
    assert read.wanted[-1].position == len(read.tokens) - 1


def test_a_wrong_value_is_corrected_and_the_rest_of_the_draft_stands(trial: Trial) -> None:
    written = trial.write(RIGHT.replace("慕容", "诸葛"))
    assert trial.text(written) == RIGHT
    passes_for_a_name = len(trial.tokenizer.encode('慕容修远",'))
    assert len(trial.reads) <= passes_for_a_name + 2
    assert written.kept > len(written.probabilities) / 2


def test_an_illegal_draft_is_cut_where_it_becomes_illegal(trial: Trial) -> None:
    written = trial.write('{"city": "天津市", "name": 5}')
    assert trial.text(written) == RIGHT
    opening = [wanted.position - len(PROMPT) + 1 for wanted in trial.reads[0].wanted]
    assert opening[-1] == len(trial.tokenizer.encode('{"city": "天津市", "name":')) + 1
    assert len(trial.reads[0].tokens) == len(PROMPT) + opening[-1]


def test_a_draft_of_something_else_costs_no_pass(trial: Trial) -> None:
    plain = trial.write()
    count = len(trial.reads)
    trial.reads.clear()
    assert trial.write("nonsense").tokens == plain.tokens
    assert len(trial.reads) == count


def test_the_sequence_is_cut_back_to_what_stands(trial: Trial) -> None:
    trial.write(RIGHT.replace("天津", "北京"))
    first, second = trial.reads[:2]
    stood = len(trial.tokenizer.encode('{"city": "'))
    assert len(first.tokens) > len(PROMPT) + stood
    assert second.tokens[0] == trial.target[stood]


def test_where_the_models_choice_is_illegal_the_best_legal_token_goes_in(
    tokenizer: Tokenizer, canonical: Canonical
) -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    trial = Trial(tokenizer, canonical, '{"age": "x')
    written = trial.write(schema=schema)
    assert trial.text(written).startswith('{"age": ')
    assert len(trial.target) > 3
    opening = written.tokens.index(
        next(token for token in written.tokens if tokenizer.decode([token]).strip().isdigit())
    )
    assert written.probabilities[opening] < 0.01


def test_an_answer_without_end_is_ended_in_time(tokenizer: Tokenizer, canonical: Canonical) -> None:
    schema = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
    trial = Trial(tokenizer, canonical, '[["a"], ["a"], ["a"], ["a", "b", "c", "d", "e", "f", "g", "h"], [')
    for room in range(3, 40):
        written = trial.write(schema=schema, room=room)
        assert len(written.tokens) <= room
        assert trial.text(written).endswith("]")


def test_tokens_that_only_end_an_answer_were_not_the_models(tokenizer: Tokenizer, canonical: Canonical) -> None:
    trial = Trial(tokenizer, canonical, '["' + "a" * 60)
    written = trial.write(schema={"type": "array", "items": {"type": "string"}}, room=20)
    assert 0.0 in written.probabilities.values()
    drafted = trial.write('["' + "a" * 60, schema={"type": "array", "items": {"type": "string"}}, room=20)
    assert (drafted.tokens, drafted.probabilities) == (written.tokens, written.probabilities)


def test_a_draft_is_verified_in_one_pass_however_little_room_there_is(trial: Trial) -> None:
    length = len(trial.write().tokens)
    tight = [room for room in range(length, length + 60) if trial.text(trial.write(room=room)) == RIGHT]
    assert min(tight) < length + 25
    for room in tight:
        trial.reads.clear()
        assert trial.text(trial.write(RIGHT, room=room)) == RIGHT
        assert len(trial.reads) == 1


@pytest.mark.parametrize("draft", [RIGHT, RIGHT.replace("慕容", "欧阳"), '{"city": "' + "津" * 30])
def test_a_draft_changes_nothing_where_room_runs_out(draft: str, trial: Trial) -> None:
    for room in range(len(trial.write().tokens) + 3, 8, -1):
        try:
            plain = trial.write(room=room)
        except AssertionError:  # not even the shortest answer fits
            break
        drafted = trial.write(draft, room=room)
        assert drafted.tokens == plain.tokens
        assert drafted.probabilities == pytest.approx(plain.probabilities)
