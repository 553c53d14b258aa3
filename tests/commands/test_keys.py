"""The command's words and lines; what keys are is tested with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copydesk.cli import main
from copydesk.errors import CopydeskError
from copydesk.serving.keys import KeyFile, Keyring


def test_a_key_is_shown_once_listed_without_itself_and_revoked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "keys.json"
    at = ["--file", str(file)]
    limits = ["--requests-per-minute", "5", "--requests-per-day", "50", "--tokens-per-minute", "700"]
    assert main(["keys", "add", "--name", "shop", "--models", "a, b", *limits, *at]) == 0
    shown = capsys.readouterr()
    made = json.loads(shown.out)
    assert "not shown again" in shown.err
    found = Keyring(file=KeyFile(file)).find(made["key"])
    assert found is not None
    assert (found.name, found.models, found.id) == ("shop", ("a", "b"), made["id"])
    assert (found.requests_per_minute, found.requests_per_day, found.tokens_per_minute) == (5, 50, 700)

    assert main(["keys", "list", *at]) == 0
    listed = capsys.readouterr().out
    assert made["key"] not in listed
    assert json.loads(listed) == {name: value for name, value in made.items() if name != "key"}

    assert main(["keys", "revoke", made["id"], *at]) == 0
    assert json.loads(capsys.readouterr().out)["revoked"]["id"] == made["id"]
    assert Keyring(file=KeyFile(file)).find(made["key"]) is None
    assert main(["keys", "revoke", made["id"], *at]) == 2
    assert "no key" in capsys.readouterr().err


def test_without_a_file_the_state_folder_is_used(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "add"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [key.id for key in KeyFile(home / "keys.json").read()] == [made["id"]]
    assert main(["keys", "revoke", made["id"]]) == 0


def test_a_key_that_could_not_be_shown_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise CopydeskError("standard output: No space left on device.")

    monkeypatch.setattr("copydesk.output.put", full)
    file = tmp_path / "keys.json"
    assert main(["keys", "add", "--file", str(file)]) == 1
    assert len(KeyFile(file).read()) == 0


@pytest.mark.parametrize("arguments", [[], ["add", "--requests-per-minute", "0"], ["revoke"], ["add", "--rate", "3"]])
def test_wrong_words_are_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", *arguments]) == 2
    assert "usage" in capsys.readouterr().err
