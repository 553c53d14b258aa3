"""Facts are what an engine says of itself."""

from __future__ import annotations

import pickle

from copydesk.engines.sharing.facts import Facts
from fake_engine import FakeEngine, hashed


def test_facts_of_an_engine() -> None:
    facts = Facts.of(FakeEngine(50, hashed(50), context_length=77))
    assert facts == Facts("fake", "fake-model", 50, 77, 1e-3)
    assert pickle.loads(pickle.dumps(facts)) == facts
