"""A measured process: what is done in it is what the model's own calls do, whatever the drafts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from copydesk.bench.work import Done, Mode, Work, do, done
from copydesk.errors import CopydeskError

TEXTS = ("天津市河西区珠江道21号 接收人慕容修远", "MOBILE：22323185576")


@pytest.fixture(scope="module")
def undrafted(tiny_model: Path) -> Done:
    return do(Work(TEXTS, "undrafted", str(tiny_model)))


@pytest.mark.parametrize("mode", ["drafted", "hostile"])
def test_values_are_the_same_with_any_drafts(mode: Mode, tiny_model: Path, undrafted: Done) -> None:
    assert do(Work(TEXTS, mode, str(tiny_model), in_flight=2)).values == undrafted.values


def test_what_is_measured(tiny_model: Path, undrafted: Done) -> None:
    assert len(undrafted.ms) == len(undrafted.passes) == len(TEXTS)
    assert undrafted.seconds * 1e3 > sum(undrafted.ms) * 0.9
    assert undrafted.grammar_ms == 0.0
    timed = do(Work(TEXTS, "undrafted", str(tiny_model), time_grammar=True))
    assert 0.0 < timed.compiling_ms < timed.grammar_ms < timed.seconds * 1e3
    warm = do(Work(TEXTS, "undrafted", str(tiny_model), warm_up=TEXTS, time_grammar=True))
    assert 0.0 == warm.compiling_ms < warm.grammar_ms


def test_in_a_process_of_its_own_with_a_home_of_its_own(tiny_model: Path, undrafted: Done) -> None:
    before = sorted(Path(os.environ["COPYDESK_HOME"]).rglob("*"))
    assert done(Work(TEXTS, "drafted", str(tiny_model))).values == undrafted.values
    assert sorted(Path(os.environ["COPYDESK_HOME"]).rglob("*")) == before


def test_a_process_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(CopydeskError, match="config"):
        done(Work(TEXTS, "drafted", str(tmp_path)))
    with pytest.raises(CopydeskError, match="not answered"):
        do(Work(("",), "drafted"))
