"""Chat templates render as Transformers renders them, in a sandbox, and fail with a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from copydesk.errors import ModelError
from copydesk.models.template import ChatTemplate


def render(template: str, **variables: object) -> str:
    return ChatTemplate(Path("model"), {"chat_template": template}).render(**variables)


def test_blocks_leave_no_white_space() -> None:
    assert render("  {% if x %}\n{{ x }}\n  {% endif %}\nend", x="y") == "y\nend"


def test_tojson_writes_characters_as_they_are() -> None:
    assert render("{{ x | tojson }}", x={"市": "<a> & 'b'"}) == '{"市": "<a> & \'b\'"}'


def test_loops_can_be_left() -> None:
    assert render("{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}") == "1"


@pytest.mark.parametrize(
    "template",
    [
        "{{ raise_exception('roles must alternate') }}",
        "{{ x.append(1) }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ x.missing.deeper }}",
        "{% if %}",
        "{{ 'a' + 1 }}",
    ],
)
def test_a_failing_or_hostile_template_is_a_model_error(template: str) -> None:
    with pytest.raises(ModelError, match="chat template failed") as caught:
        render(template, x=[])
    assert caught.value.code == "model_invalid"


def test_a_file_of_its_own_comes_first(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text("file 市", encoding="utf-8")
    assert ChatTemplate(tmp_path, {"chat_template": "config"}).render() == "file 市"


def test_the_default_one_of_several_is_taken(tmp_path: Path) -> None:
    several = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]
    assert ChatTemplate(tmp_path, {"chat_template": several}).render() == "plain"


@pytest.mark.parametrize("config", [{}, {"chat_template": None}, {"chat_template": [{"name": "rag", "template": ""}]}])
def test_a_folder_without_template_is_named(tmp_path: Path, config: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="no chat template"):
        ChatTemplate(tmp_path, config)
