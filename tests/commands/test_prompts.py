"""What models are told, and its tokens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from copydesk import cli
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS
from copydesk.tasks.prompt import render_prompt


@pytest.fixture
def prompts(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command: exit code, rows, standard error."""

    def run(*arguments: str) -> tuple[int, list[Any], str]:
        code = cli.main(["prompts", *arguments, "--model", str(tiny_model)])
        captured = capsys.readouterr()
        return code, [json.loads(line) for line in captured.out.splitlines()], captured.err

    return run


def test_both_built_in_tasks_by_both_prompts(prompts: Any, tiny_model: Path) -> None:
    code, rows, err = prompts()
    assert (code, err) == (0, "")
    assert [(row["task"], row["prompt"]) for row in rows] == [
        ("address", "short"),
        ("address", "guide"),
        ("agnews", "short"),
        ("agnews", "guide"),
    ]
    assert rows[0]["instruction"] == ADDRESS.instruction
    assert rows[0]["tokens"] == render_prompt(ADDRESS, Tokenizer(tiny_model)).length
    assert rows[1]["tokens"] > 3 * rows[0]["tokens"]


def test_one_task_by_one_prompt(prompts: Any, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"title": "Order", "properties": {"buyer": {"type": "string"}}}')
    assert [row["task"] for row in prompts("--labels", "a,b", "--prompt", "short")[1]] == ["classification"]
    (row,) = prompts("--schema", str(schema), "--prompt", "guide")[1]
    assert (row["task"], row["prompt"]) == ("Order", "guide")
    assert '- "buyer": string' in row["instruction"]


def test_examples_count(prompts: Any, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"text": "Stocks fall", "label": "Business"}\n')
    plain, shown = (
        prompts("--task", "agnews", "--prompt", "short", *options)[1][0] for options in ([], ["--examples", str(gold)])
    )
    assert shown["tokens"] > plain["tokens"] + 5
    code, rows, err = prompts("--examples", str(gold))
    assert (code, rows) == (2, [])
    assert "add --task" in err


def test_the_page_on_prompts_says_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "prompts.md"
    said = re.findall(r"^\|[^|]*\| (?:short|guide) \| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert cli.main(["prompts"]) == 0
    printed = [json.loads(line)["tokens"] for line in capsys.readouterr().out.splitlines()]
    assert list(map(int, said[:4])) == printed
