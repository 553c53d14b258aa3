"""Presets as they are documented."""

from __future__ import annotations

from pathlib import Path

from copydesk.desk.chat_request import ChatRequest
from copydesk.tasks.presets import DEFAULT_PRESET, PRESETS


def test_presets_are_sensible_and_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "chat.md").read_text(encoding="utf-8")
    for name, preset in PRESETS.items():
        ChatRequest(prompt="x", sampling=preset.sampling, max_tokens=preset.max_tokens)
        assert f"| `{name}` |" in page
        assert f" {preset.max_tokens} |" in page
    assert DEFAULT_PRESET in PRESETS
