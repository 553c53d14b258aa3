"""Where state is kept, and what happens where it cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from copydesk.errors import UsageError
from copydesk.home import home, why_not_writable


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


def test_the_home_of_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYDESK_HOME", "~no-such-user/x")
    with pytest.raises(UsageError, match="COPYDESK_HOME is ~no-such-user/x, but nobody"):
        home()


@pytest.mark.parametrize("folder", ["", "a/b"])
def test_a_folder_that_is_there_or_can_be_made_is_writable_and_not_made(tmp_path: Path, folder: str) -> None:
    assert why_not_writable(tmp_path / folder) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["file", "file/home"])
def test_a_file_in_the_way_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    assert why_not_writable(tmp_path / folder) == f"{tmp_path / 'file'} is a file"


def test_a_missing_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The superuser may write anywhere, so what the system would say to others is put in its mouth.
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    assert why_not_writable(tmp_path / "home") == f"no permission to write to {tmp_path}"
