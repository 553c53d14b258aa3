"""The drafter that learns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from copydesk.drafting.tagger.draft import TaggerDrafter, forget

from ..cases import check_law, task_of, written

TASK = task_of({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
ANSWERS = [(f"met {name} in {place}", written({"name": name})) for name in ("Ann", "Bob", "Cid") for place in "ABCDEF"]


@pytest.fixture
def drafter() -> Iterator[TaggerDrafter]:
    made = TaggerDrafter()
    yield made
    made.close()


def teach(drafter: TaggerDrafter) -> None:
    for text, answer in ANSWERS:
        drafter.learn(TASK, text, answer)
    drafter.settle()


def test_there_are_no_drafts_before_something_is_learned(drafter: TaggerDrafter) -> None:
    assert drafter.draft(TASK, "met Dan in Q", "") is None
    teach(drafter)
    found = drafter.draft(TASK, "met Dan in Q", "")
    assert found is not None
    assert (found.text, found.source) == ('{"name": "Dan"}', "tagger")


def test_the_law(drafter: TaggerDrafter) -> None:
    teach(drafter)
    for so_far in ("", "{", '{"name": "', '{"name": "in', '{"name": "x"}', "?"):
        check_law(drafter.draft, TASK, "met Dan in Q", so_far)


def test_what_is_learned_later_counts_for_texts_seen_before(drafter: TaggerDrafter) -> None:
    teach(drafter)
    drafter.draft(TASK, "met Dan in Q", "")
    for place in "abcdefghijklmnopqrstuvw":
        drafter.learn(TASK, f"met Dan in {place}", written({"name": place}))
    drafter.settle()
    found = drafter.draft(TASK, "met Dan in Q", "")
    assert found is not None
    assert found.text == '{"name": "Q"}'


def test_what_is_kept_is_forgotten(tmp_path: Path) -> None:
    first = TaggerDrafter(tmp_path)
    teach(first)
    first.close()
    kept = TaggerDrafter(tmp_path)
    assert kept.draft(TASK, "met Dan in Q", "") is not None
    kept.close()
    assert forget(tmp_path) == 1
    forgetful = TaggerDrafter(tmp_path)
    assert forgetful.draft(TASK, "met Dan in Q", "") is None
    forgetful.close()
