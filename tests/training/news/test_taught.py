from pathlib import Path

import pytest

from copydesk.training.news.taught import REAL_FILE, TaughtRow, examples, read_taught, write_taught
from copydesk.types import Task

LABELS = ("World", "Sports", "Business", "Sci/Tech")
REAL = TaughtRow("Ölpreis steigt", "train", 2, (0.2, 0.0, 0.6, 0.2))
UNJUDGED = TaughtRow("b", "dev", 1, None)
WRITTEN = TaughtRow("c", "written", None, (0.1, 0.7, 0.1, 0.1))


def test_pieces_come_back_real_rows_first(tmp_path: Path) -> None:
    write_taught([WRITTEN], tmp_path / "written_00.jsonl.xz")
    write_taught([REAL, UNJUDGED], tmp_path / REAL_FILE)
    assert read_taught(tmp_path) == [REAL, UNJUDGED, WRITTEN]
    assert not list(tmp_path.glob("*.part"))


def test_the_true_label_gets_its_share() -> None:
    assert REAL.target(0.5) == pytest.approx((0.1, 0.0, 0.8, 0.1))
    assert REAL.target(0.0) == pytest.approx(REAL.probabilities)
    assert UNJUDGED.target() == (0.0, 1.0, 0.0, 0.0)
    assert WRITTEN.target(0.5) == pytest.approx(WRITTEN.probabilities)


def test_examples_answer_with_the_likeliest_label() -> None:
    task = Task("agnews", "Classify", labels=LABELS)
    made = list(examples([REAL, UNJUDGED, WRITTEN], task, written_weight=0.5))
    assert [example.answer for example in made] == ["Business", "Sports", "Sports"]
    assert [example.weight for example in made] == [1.0, 1.0, 0.5]
    assert made[1].label_probabilities == (0.0, 1.0, 0.0, 0.0)
