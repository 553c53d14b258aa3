"""The two read-mes say the same, their links lead somewhere, and their example is what the built-in model answers."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from copydesk import cli

ROOT = Path(__file__).parents[1]
ENGLISH, CHINESE = (ROOT / name for name in ("README.md", "README.zh.md"))
DOCUMENTS = [ENGLISH, CHINESE, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path: Path) -> list[str]:
    """The code blocks, comments left out: those are translated."""
    found = re.findall(r"^```\w+\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(r" *# .*", "", block) for block in found]


def test_both_languages_show_the_same_code() -> None:
    assert blocks(ENGLISH) == blocks(CHINESE)


@pytest.mark.parametrize("path", [ENGLISH, CHINESE])
def test_installing_and_testing_stand_on_the_first_screen(path: Path) -> None:
    first_screen = "\n".join(path.read_text(encoding="utf-8").splitlines()[:24])
    assert "pip install . && copydesk extract" in first_screen
    assert "scripts/test" in first_screen


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8"))
    here = [link for link in links if not link.startswith("https://")]
    assert [link for link in here if not (path.parent / link).exists()] == []


def test_the_example_is_what_the_built_in_model_answers(capsys: pytest.CaptureFixture[str]) -> None:
    command, answer = blocks(ENGLISH)[:2]
    arguments = shlex.split(command.partition("&& copydesk ")[2])
    assert cli.main(arguments) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out), err) == (json.loads(answer), "")
    assert out == answer
