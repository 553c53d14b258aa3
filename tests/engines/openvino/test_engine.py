"""What the OpenVINO engine decides at load, and how it divides its work; the laws it keeps are in test_laws."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from copydesk.engines.openvino import OpenVinoEngine, engine, load
from copydesk.engines.protocol import Read
from copydesk.errors import EngineError, UsageError
from engines.conftest import refuse
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append, read_all, rows_of

TOKENS = tuple((29 * index + 11) % 320 for index in range(90))
OTHERS = tuple((31 * index + 7) % 320 for index in range(90))


@pytest.fixture
def loaded(folder: Path) -> Iterator[OpenVinoEngine]:
    opened = load(folder)
    yield opened
    opened.close()


def test_reads_longer_than_one_call_takes(loaded: OpenVinoEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = all_rows(loaded, TOKENS)
    monkeypatch.setattr(engine, "_TOKENS_AT_ONCE", 32)
    one, two = loaded.open(), loaded.open()
    loaded.run([read_all(one, OTHERS[:45]), read_all(two, TOKENS)])
    np.testing.assert_allclose(rows_of(loaded, two, len(TOKENS)), expected, atol=1e-4)
    loaded.release(one)
    loaded.release(two)


def test_a_full_cache_names_itself_and_changes_nothing(folder: Path) -> None:
    bytes_of_a_block = 2 * 2 * (2 * 32 * 32) * 4
    small = load(folder, cache_bytes=16 * bytes_of_a_block)
    assert small.context_length == 15 * 32
    one, two = small.open(), small.open()
    append(small, one, TOKENS)
    with pytest.raises(EngineError, match="cache is full") as caught:
        small.run([read_all(two, OTHERS), Read(small.fork(one), (1,) * 320)])
    assert caught.value.code == "cache_full"
    assert (small.length(one), small.length(two)) == (len(TOKENS), 0)
    append(small, two, OTHERS)


def test_a_full_cache_in_a_later_part_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_TOKENS_AT_ONCE", 64)
    small = load(folder, cache_bytes=16 * 2 * 2 * (2 * 32 * 32) * 4)
    one, two = small.open(), small.open()
    append(small, one, TOKENS[:3])
    with pytest.raises(EngineError, match="cache is full"):
        small.run([read_all(one, TOKENS), Read(two, (1,) * 400)])
    assert (small.length(one), small.length(two)) == (3, 0)


def test_a_cache_too_small_for_anything(folder: Path) -> None:
    with pytest.raises(UsageError, match="cache_bytes must be at least 524288"):
        load(folder, cache_bytes=1000)


def test_the_fallback_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(folder).notes == ()
    monkeypatch.setattr(engine, "check", refuse)
    [note] = load(folder).notes
    assert "without paged attention" in note
    assert "it was told to fail" in note


def test_what_is_reported(loaded: OpenVinoEngine) -> None:
    assert (loaded.name, loaded.model, loaded.vocab_size) == ("openvino", "random", 320)
    assert (loaded.context_length, loaded.tolerance) == (512, 1e-3)


def test_settings_by_request(folder: Path, tmp_path: Path) -> None:
    assert load(folder, context_length=100).context_length == 100
    assert load(folder, context_length=10_000).context_length == 512
    assert load(folder, exact=False).tolerance == 0.1
    plain = write_folder(tmp_path, Shape(), "bf16")
    assert load(plain).tolerance == 1e-3
    assert load(plain, bits=4).tolerance == 1e-3
    assert load(plain, bits=4, exact=False).tolerance == 0.1
    half = load(plain, exact=False)
    assert half.tolerance in (0.05, 1e-3)
    assert half.notes == ()


def test_large_models_are_compressed_and_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path, Shape(), "bf16")
    monkeypatch.setattr(engine, "_LARGE", 1000)
    assert load(folder).tolerance == 0.1
    assert load(folder, exact=True).tolerance == 1e-3
