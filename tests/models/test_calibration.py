"""The calibration in a model's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from copydesk.errors import ModelError
from copydesk.models.calibration import read_calibration


def test_a_slope_and_an_offset_for_each_field(tmp_path: Path) -> None:
    (tmp_path / "copydesk.json").write_text('{"calibration": {"address": {"city": [0.5, 2]}, "agnews": {}}}')
    assert read_calibration(tmp_path) == {"address": {"city": (0.5, 2.0)}, "agnews": {}}


def test_a_folder_without_one_has_none(tmp_path: Path) -> None:
    assert read_calibration(tmp_path) == {}
    (tmp_path / "copydesk.json").write_text('{"name": "x"}')
    assert read_calibration(tmp_path) == {}


@pytest.mark.parametrize(
    "written", ["[]", '{"a": [1, 2]}', '{"a": {"b": [1]}}', '{"a": {"b": [1, true]}}', '{"a": {"b": [NaN, 1]}}']
)
def test_anything_else_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "copydesk.json").write_text(f'{{"calibration": {written}}}')
    with pytest.raises(ModelError, match="slope"):
        read_calibration(tmp_path)
