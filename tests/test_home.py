"""Where state is kept, and what happens where it cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from copydesk.home import home, state_folder, why_not_writable


def test_home_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYDESK_HOME", str(tmp_path / "chosen"))
    assert home() == tmp_path / "chosen"


@pytest.mark.parametrize("value", [None, ""])
def test_home_is_otherwise_in_the_users_cache(
    value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("COPYDESK_HOME")
    if value is not None:
        monkeypatch.setenv("COPYDESK_HOME", value)
    assert home().is_relative_to(tmp_path)
    assert home().name == "copydesk"


def test_a_state_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYDESK_HOME", str(tmp_path / "new"))
    folder = state_folder("graphs")
    assert folder == tmp_path / "new" / "graphs"
    assert folder.is_dir()


def test_a_folder_that_cannot_be_made_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("COPYDESK_HOME", str(tmp_path / "file"))
    assert state_folder("graphs") is None
    assert state_folder("graphs") is None
    assert [record.getMessage().count("COPYDESK_HOME") for record in caplog.records] == [1]
    assert "Not a directory" in caplog.text


def test_a_folder_without_permission_is_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_not_writable(tmp_path) is None
    # The superuser may write anywhere, so what the system would say to others is put in its mouth.
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    assert why_not_writable(tmp_path) == "Permission denied"
