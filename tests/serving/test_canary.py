"""Canaries: when an answer is proof, and when it differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from copydesk.errors import EngineError
from copydesk.serving.canary import Proof, ask, differs
from serving.fake_model import LOST, SURE, FakeModel


def proof(label: str, labels: dict[str, float] | None = None) -> Proof:
    return Proof(label, labels or {}, 0.1, 0.0)


@pytest.mark.anyio
async def test_an_answer_is_proof() -> None:
    answered = await ask(FakeModel())
    assert (answered.label, answered.labels) == ("Business", SURE)
    assert 0 <= answered.seconds < 1


@pytest.mark.anyio
async def test_an_error_is_none_and_nonsense_is_an_error() -> None:
    with pytest.raises(EngineError, match="dead"):
        await ask(FakeModel("dead"))


def test_rounding_is_no_difference_another_opinion_is() -> None:
    nearly = {label: share + 0.05 for label, share in SURE.items()}
    assert not differs(proof("Business", nearly), proof("Business", SURE))
    assert differs(proof("World", LOST), proof("Business", SURE))
    assert not differs(proof("Business"), proof("Business", SURE))
    heavy, light = replace(proof("Business", SURE), mass=0.95), replace(proof("Business", SURE), mass=0.4)
    assert differs(light, heavy)
    assert not differs(replace(heavy, mass=0.9), heavy)
    assert not differs(proof("Business", SURE), heavy)
    assert differs(proof("World"), proof("Business"))
