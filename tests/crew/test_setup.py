"""A worker's desk drafts with what was learned, and learns nothing itself."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import copydesk.crew.setup
from copydesk.crew.setup import Setup
from copydesk.desk.calibration import Calibration, Line
from copydesk.desk.request import Request
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.hosts import ThreadHost
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS

from .conftest import fake


def test_a_desk_like_the_one_that_sent_it(tiny_model: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    engine = fake(tokenizer)
    lines = {"address": {"*": Line(0.0, 0.0)}}
    setup = Setup(tiny_model, Facts.of(engine), Calibration(lines), taggers=tmp_path)
    setup = pickle.loads(pickle.dumps(setup))
    host = ThreadHost(engine, 1)
    desk = setup.desk(setup.client(host.connections[0]))
    answers = [desk.submit(Request(ADDRESS, "天津市河西区 21号")).result() for _ in range(20)]
    assert {answer.confidence for answer in answers} == {0.5}  # calibrated
    assert answers[0].draft == "rules"
    assert (answers[0].engine, answers[0].model) == ("fake", "fake-model")
    desk.close()
    host.close()
    assert engine.open_sequences == 0
    assert list(tmp_path.iterdir()) == []  # an answer that is learned from is kept there


@pytest.mark.parametrize(("draft", "learned"), [(True, True), (True, False), (False, True)])
def test_who_drafts(
    tiny_model: Path,
    tokenizer: Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    draft: bool,
    learned: bool,
) -> None:
    made: list[Path] = []

    def tagger(home: Path) -> TaggerDrafter:
        made.append(home)
        return TaggerDrafter(home)

    monkeypatch.setattr(copydesk.crew.setup, "TaggerDrafter", tagger)
    engine = fake(tokenizer)
    setup = Setup(tiny_model, Facts.of(engine), draft=draft, taggers=tmp_path if learned else None)
    host = ThreadHost(engine, 1)
    desk = setup.desk(setup.client(host.connections[0]))
    answer = desk.submit(Request(ADDRESS, "天津市河西区 21号")).result()
    assert answer.draft == ("rules" if draft else None)
    assert made == ([tmp_path] if draft and learned else [])
    desk.close()
    host.close()
