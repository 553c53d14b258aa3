import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from copydesk.training.news import teach as room
from copydesk.training.news.fine_tune import FineTuning
from copydesk.training.news.llama import Llama, LlamaShape
from copydesk.training.news.minilm import Encoder
from copydesk.training.news.rows import NewsRow
from copydesk.training.news.smollm2 import END_OF_DOCUMENT
from copydesk.training.news.split import Split
from copydesk.training.news.taught import read_taught

TOPICS = ("minister", "striker", "merger", "satellite")
WORDS = [END_OF_DOCUMENT, *TOPICS, "reported", "late", "yesterday", "officials", "people", "another", "statement"]


def tokenizer() -> Tokenizer:
    result = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="people"))
    result.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return result


def rows(count: int, start: int) -> tuple[NewsRow, ...]:
    result = []
    for number in range(start, start + count):
        others = [WORDS[5 + number // 7**place % 7] for place in range(5)]
        text = " ".join([TOPICS[number % 4], *others, "statement", TOPICS[number % 4]])
        result.append(NewsRow(text, number % 4, "title+description"))
    return tuple(result)


@pytest.fixture
def teachers(monkeypatch: pytest.MonkeyPatch) -> room.Teachers:
    torch.manual_seed(0)
    shape = LlamaShape(
        32, 48, layers=1, attention_heads=2, key_value_heads=1, vocabulary=len(WORDS), rope_theta=1e4, epsilon=1e-6
    )
    monkeypatch.setattr(room, "read_smollm2", lambda path: (Llama(shape), tokenizer()))
    monkeypatch.setattr(room, "read_minilm", lambda path, _: (Encoder(len(WORDS), 32, 48, 1, 32), tokenizer()))
    return room.Teachers(Path("smollm2.gguf"), Path("minilm.safetensors"), torch.device("cpu"))


def plan(budget: float) -> room.Plan:
    tuning = FineTuning(8, 1.0, 16, 0.01, dtype=torch.float32)
    return room.Plan(budget, 3, writer=tuning, causal=tuning, encoder=tuning, written_rows=30, write_batch=64)


def test_all_real_rows_are_judged_unseen_and_new_rows_written(teachers: room.Teachers, tmp_path: Path) -> None:
    train = rows(240, 0)
    parts = Split(train, rows(40, 1000), rows(40, 2000), tuple(range(240)))
    report = room.teach(parts, teachers, plan(600), tmp_path, room.Clock())
    assert json.loads((tmp_path / "report.json").read_text())["dev_f1"] == report["dev_f1"] > 0.9
    taught = read_taught(tmp_path)
    assert [row.part for row in taught[:280]] == ["train"] * 240 + ["dev"] * 40
    assert all(row.probabilities is not None for row in taught)
    written = taught[280:]
    assert len(written) == report["written_rows"] >= 30
    assert not {row.text for row in written} & {row.text for row in train}
    assert all(row.label is None for row in written)


def test_no_time_for_writing_still_leaves_the_judged_rows(teachers: room.Teachers, tmp_path: Path) -> None:
    parts = Split(rows(48, 0), rows(8, 1000), rows(8, 2000), tuple(range(48)))
    report = room.teach(parts, teachers, plan(0.05), tmp_path, room.Clock())
    assert report["written_rows"] == 0
    assert len(read_taught(tmp_path)) == 56


def test_folds_keep_a_story_together() -> None:
    stories = [number // 2 for number in range(300)]
    folds = room.folds_of(stories, 3)
    assert all(folds[number] == folds[number + 1] for number in range(0, 300, 2))
    assert min((folds == fold).sum() for fold in range(3)) > 60
