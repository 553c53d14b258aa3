"""What the page sends, and what it makes of refusals."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serving.page.scripts import run

IMPORTS = "import { body, curl, keyIn, readLabels, refusal, retryAfter } from './request.js';"


def made(expression: str, given: Any = None) -> Any:
    return run(f"{IMPORTS}\nreturn {expression};", given)


def test_a_schema_is_sent_in_the_order_in_which_it_was_typed() -> None:
    schema = '{"type": "object",\n  "properties": {"b": {}, "2": {}, "1": {"default": 1e400}}}'
    sent = made("body('extract', { text: 'a\\n𠮷', model: '', schema: given })", schema)
    assert sent == (
        '{"text": "a\\n𠮷", "schema": {"type": "object", "properties": {"b": {}, "2": {}, "1": {"default": 1e400}}}, '
        '"details": true}'
    )


def test_labels_and_model_are_sent() -> None:
    sent = made("body('classify', { text: 'a', model: 'm', labels: ['x', 'y'] })")
    assert json.loads(sent) == {"text": "a", "model": "m", "labels": ["x", "y"], "details": True}


@settings(max_examples=5, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=5, max_size=20))
def test_a_shell_reads_the_command_as_it_was_meant(texts: list[str]) -> None:
    commands = made("given.map((text) => curl('http://x/', \"sk-'1\", text))", texts)
    for text, command in zip(texts, commands, strict=True):
        assert command.startswith("curl ")
        printed = subprocess.run(
            ["bash", "-c", "printf '%s\\0'" + command.removeprefix("curl")], capture_output=True, check=True
        )
        arguments = printed.stdout.decode().split("\0")[:-1]
        headers = ["-H", "Authorization: Bearer sk-'1", "-H", "Content-Type: application/json"]
        assert arguments == ["http://x/", *headers, "-d", text]


def test_labels_stand_one_a_line() -> None:
    assert made("readLabels(' yes \\n\\nno, not at all')") == {"labels": ["yes", "no, not at all"]}
    assert made("readLabels('yes')")["error"] == "labelsFew"
    twice = made("readLabels('yes\\nno\\n yes')")
    assert (twice["error"], twice["values"]) == ("labelsTwice", {"label": "yes"})


def test_when_to_try_again_is_seconds_or_a_date() -> None:
    now = "Date.parse('Wed, 21 Oct 2015 07:28:00 GMT')"
    headers = ["3", "0.2", "Wed, 21 Oct 2015 07:28:30 GMT", "Wed, 21 Oct 2015 07:00:00 GMT", "soon", "", None]
    assert made(f"given.map((header) => retryAfter(header, {now}))", headers) == [3, 1, 30, 0, None, None, None]


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (400, "refusedRequest"),
        (401, "refusedKey"),
        (403, "refusedModel"),
        (413, "refusedRequest"),
        (429, "refusedQuota"),
        (500, "refusedBroken"),
        (503, "refusedBusy"),
        (504, "refusedBusy"),
    ],
)
def test_a_refusal_says_what_it_means_and_the_servers_own_words(status: int, word: str) -> None:
    error = json.dumps({"error": {"message": "Too long.", "type": "x"}})
    assert made(f"refusal({status}, '2', given, 0)", error) == {"word": word, "message": "Too long.", "wait": 2}


def test_a_refusal_in_no_known_shape_is_shown_as_it_begins() -> None:
    assert made("refusal(502, null, given, 0)", "<h1>Bad gateway</h1>" * 100)["message"] == (
        "<h1>Bad gateway</h1>" * 15
    )
    assert made("refusal(502, null, given, 0)", '{"error": "odd"}')["message"] == '{"error": "odd"}'


def test_a_key_is_read_from_a_link() -> None:
    fragments = ["#key=sk-a_b-c", "", "#other=1", "#a=1&key=sk-2"]
    assert made("given.map(keyIn)", fragments) == ["sk-a_b-c", None, None, "sk-2"]
