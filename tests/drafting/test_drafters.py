"""All drafters behind one call."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from copydesk.drafting.controller import Controller, Costs
from copydesk.drafting.drafters import Drafters
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.types import Draft, Task

from .cases import task_of

TASK = task_of({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
TEXTS = [
    (f"met {name} in {city}", json.dumps({"name": name})) for name in ("Ann", "Bob", "Cid") for city in ("Rome", "Oslo")
]


def wrong(task: Task, text: str, so_far: str) -> Draft | None:
    """Rules that always say the same."""
    return Draft('{"name": "Zoe"}', "rules") if not so_far else None


@pytest.fixture
def tagger() -> Iterator[TaggerDrafter]:
    made = TaggerDrafter()
    yield made
    made.close()


def source(drafters: Drafters, so_far: str = "", expected: object = None) -> str:
    draft = drafters.draft(TASK, TEXTS[0][0], so_far, expected)
    return "" if draft is None else draft.source


def test_rules_go_first_until_something_better_is_learned(tagger: TaggerDrafter) -> None:
    drafters = Drafters(Controller(Costs.measured({1: 1})), rules=wrong, tagger=tagger)
    assert (source(drafters), source(drafters, '{"name": "A')) == ("rules", "lookup")
    for text, answer in TEXTS * 4:
        drafters.verified(TASK, text, answer)
        tagger.settle()
    assert (source(drafters), source(drafters, '{"name": "A')) == ("tagger", "tagger")


def test_the_callers_prediction_goes_before_all_others_if_it_is_one() -> None:
    drafters = Drafters(Controller(Costs.measured({1: 1})), rules=wrong)
    assert source(drafters, expected={"name": "Ann"}) == "prediction"
    assert source(drafters, expected="garbage") == "rules"


def test_without_a_tagger_nothing_is_learned() -> None:
    drafters = Drafters(Controller(Costs.measured({1: 1})))
    for text, answer in TEXTS * 4:
        drafters.verified(TASK, text, answer)
    assert source(drafters) == "lookup"
    drafters.close()


def test_there_is_no_draft_where_nobody_has_any() -> None:
    drafters = Drafters(Controller(Costs.measured({1: 1})))
    assert drafters.draft(TASK, "text", "nonsense") is None
