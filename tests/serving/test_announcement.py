"""What a server prints when it starts."""

from __future__ import annotations

import ast
import json
import shlex

import pytest

from copydesk.serving.announcement import address, announcement

URL = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("fe80::1", "http://[fe80::1]:80"),
    ],
)
def test_addresses(host: str, url: str) -> None:
    assert address(host, 80) == url


@pytest.mark.parametrize("key", ["sk-abc", None])
def test_the_curl_is_one_command_and_the_python_a_program(key: str | None) -> None:
    text = announcement(URL, "nano", key)
    command = text.partition("# curl\n")[2].partition("\n\n")[0]
    words = shlex.split(command)
    assert words[:2] == ["curl", f"{URL}/v1/extract"]
    assert f"Authorization: Bearer {key or '$COPYDESK_KEY'}" in words
    assert "长沙市" in json.loads(words[-1])["text"]
    assert '"Authorization' in command  # in double quotes a variable is put in
    program = text.partition("# Python\n")[2]
    ast.parse(program)
    assert "pip install openai" in program
    assert f'base_url="{URL}/v1"' in program
    assert ("os.environ" in program) == (key is None)


def test_a_key_of_one_s_own_is_not_made_up() -> None:
    assert "sk-" not in announcement(URL, "nano", None)
    assert announcement(URL, "nano", "sk-abc").count("sk-abc") >= 3
