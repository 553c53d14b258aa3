"""Both servers as processes."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path

import pytest

from copydesk.bench.serving.jobs import Job, body, said
from copydesk.bench.serving.modes import Mode
from copydesk.bench.serving.servers import LlamaCpp, Running, ours
from copydesk.errors import CopydeskError
from copydesk.models.resolve import BUILTIN_FOLDER

TEXTS: dict[Job, str] = {
    "address": "天津市河西区珠江道21号金泰大厦3层 慕容修远 22323185576",
    "news": "The striker scored twice as the home team won the cup final on Saturday.",
}


def _ask(server: Running, job: Job, text: str) -> bytes:
    headers = {"Content-Type": "application/json", **server.headers}
    request = urllib.request.Request(server.url, body(job, server.kind, text), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: bytes = response.read()
        return answer


def test_both_read_the_same_prompts_and_answer_alike(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="gguf is not installed")
    pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")
    from copydesk.bench.gguf_file import write_gguf

    write_gguf(BUILTIN_FOLDER, tmp_path / "nano.gguf")
    peer = LlamaCpp(tmp_path / "nano.gguf", None)
    assert peer.version.startswith("xllamacpp ")
    answers = []
    for started in (ours(), peer.start(Mode(2, 2, spins=False), 8)):
        with started as server:
            answers.append([said(job, _ask(server, job, text)) for job, text in TEXTS.items()])
            assert server.process != os.getpid()
            assert sys.platform != "linux" or server.processor_seconds() > 0
        assert server.processor_seconds() == 0.0
    address, news = answers[0]
    assert address is not None
    assert json.loads(address.value)["city"] == "天津市"
    assert news is not None
    assert news.value == "Sports"
    assert answers[0] == answers[1]


def test_ours_that_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(CopydeskError, match="there is no model"), ours(["--model", str(tmp_path / "none")]):
        pass


def test_a_build(tmp_path: Path) -> None:
    with pytest.raises(CopydeskError, match="cannot be run"):
        _ = LlamaCpp(tmp_path / "a.gguf", tmp_path / "llama-server").version
