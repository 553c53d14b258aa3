"""`copydesk eval`: figures out, and whether every row was answered as the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copydesk.cli import main
from copydesk.commands.exits import DONE, ROWS_FAILED

RIGHT = {"text": "长沙市岳麓区桃花岭路189号 江雨桐 021-17613435", "expected": {"city": "长沙市", "name": "江雨桐"}}
TOO_LONG = {"text": "长" * 20_000, "expected": {"city": ""}}


@pytest.mark.parametrize(("rows", "code"), [([RIGHT], DONE), ([RIGHT, TOO_LONG], ROWS_FAILED)])
def test_rows_that_fail_count_as_wrong_and_are_told_by_the_exit_code(
    rows: list[dict[str, object]], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, errors = tmp_path / "gold.jsonl", tmp_path / "errors.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["eval", str(gold), "--task", "address", "--no-learn", "--errors", str(errors)]) == code
    figures = json.loads(capsys.readouterr().out)
    assert (figures["n"], figures["exact"]) == (len(rows), 1 / len(rows))
    assert len(errors.read_text().splitlines()) == len(rows) - 1
