"""Taggers kept on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from copydesk.drafting.tagger import store as module
from copydesk.drafting.tagger.perceptron import Weights
from copydesk.drafting.tagger.store import Store, key
from copydesk.drafting.tagger.tagger import Kind, Records, Tagger
from copydesk.types import Schema, Task

TASK = Task("a", "Extract.", Schema({"type": "object", "properties": {"市": {"type": "string"}}}))


@pytest.fixture
def tagger() -> Tagger:
    weights = Weights.zeros(12, 2, 10, 1)
    weights.runs[3, 4] = 1.5
    weights.values[5, 0] = -0.25
    return Tagger(
        weights=weights,
        kinds=(Kind("市"), Kind("found[].text", ('"place"',))),
        values=(("市", '"长沙市"'),),
        edits={"市": "one space"},
        stems={"市": {"长沙": '"长沙市"'}},
        usual={"found[].sort": '"place"'},
        records={"found": Records(".text", (".sort",), False)},
        filled=frozenset({"found"}),
        seen=70,
    )


def file_of(home: Path) -> Path:
    return next((home / "taggers").iterdir())


def test_what_is_saved_is_loaded(tmp_path: Path, tagger: Tagger) -> None:
    assert Store(tmp_path).load(TASK) is None
    assert Store(tmp_path / "new").save(TASK, tagger)
    found = Store(tmp_path / "new").load(TASK)
    assert found is not None
    np.testing.assert_array_equal(found.weights.runs, tagger.weights.runs)
    np.testing.assert_array_equal(found.weights.values, tagger.weights.values)
    for part in ("kinds", "values", "edits", "stems", "usual", "records", "filled", "seen"):
        assert getattr(found, part) == getattr(tagger, part)


def test_tasks_are_told_apart_by_what_is_asked() -> None:
    same = Task("b", "Extract.", Schema({"type": "object", "properties": {"市": {"type": "string"}}}))
    others = [
        Task("a", "Extract it.", TASK.schema),
        Task("a", "Extract.", Schema({"type": "object"})),
        Task("a", "Extract.", labels=("x", "y")),
        Task("a", "Extract.", labels=("y", "x")),
    ]
    assert key(TASK) == key(same)
    assert len({key(task) for task in [TASK, *others]}) == 5


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_is_ignored_and_written_anew(tmp_path: Path, tagger: Tagger, damage: bytes | None) -> None:
    store = Store(tmp_path)
    store.save(TASK, tagger)
    whole = file_of(tmp_path).read_bytes()
    file_of(tmp_path).write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert store.load(TASK) is None
    assert store.save(TASK, tagger)
    assert store.load(TASK) is not None


def test_a_file_with_any_byte_changed_is_loaded_as_it_was_or_not_at_all(tmp_path: Path, tagger: Tagger) -> None:
    store = Store(tmp_path)
    store.save(TASK, tagger)
    whole = file_of(tmp_path).read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 200)):
        file_of(tmp_path).write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        found = store.load(TASK)
        assert found is None or found.kinds == tagger.kinds


def test_another_version_is_ignored(tmp_path: Path, tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).save(TASK, tagger)
    monkeypatch.setattr(module, "_VERSION", [99, 99])
    assert Store(tmp_path).load(TASK) is None


def test_weights_that_do_not_belong_to_what_they_are_of_are_ignored(tmp_path: Path, tagger: Tagger) -> None:
    weights = Weights.zeros(12, 3, 10, 1)
    Store(tmp_path).save(TASK, Tagger(weights, tagger.kinds, tagger.values))
    assert Store(tmp_path).load(TASK) is None


def test_files_are_private_and_nothing_is_left_over(tmp_path: Path, tagger: Tagger) -> None:
    store = Store(tmp_path)
    for _ in range(2):
        store.save(TASK, tagger)
    assert [path.suffix for path in (tmp_path / "taggers").iterdir()] == [".tagger"]
    if os.name == "posix":
        assert file_of(tmp_path).stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_written_is_put_up_with(tmp_path: Path, tagger: Tagger) -> None:
    (tmp_path / "taggers").write_text("a file")
    assert not Store(tmp_path).save(TASK, tagger)
    assert Store(tmp_path).load(TASK) is None


def test_the_oldest_files_go(tmp_path: Path, tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_FILES", 2)
    tasks = [Task(str(number), str(number), labels=("x", "y")) for number in range(3)]
    for age, task in enumerate(tasks):
        Store(tmp_path).save(task, tagger)
        os.utime(tmp_path / "taggers" / f"{key(task)}.tagger", (1e9 + age, 1e9 + age))
    Store(tmp_path).save(TASK, tagger)
    assert [Store(tmp_path).load(task) is not None for task in (*tasks, TASK)] == [False, False, True, True]


def test_forgetting(tmp_path: Path, tagger: Tagger) -> None:
    store = Store(tmp_path)
    assert store.forget() == 0
    store.save(TASK, tagger)
    store.save(Task("b", "Other.", labels=("x", "y")), tagger)
    (tmp_path / "taggers" / "left.part").write_text("")
    assert store.forget() == 3
    assert (store.load(TASK), store.forget()) == (None, 0)
