"""Servers of llama.cpp as processes: started, asked, ended; and what is said when that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copydesk.bench.llamacpp import LlamaCpp
from copydesk.bench.peers import Peer, build_version
from copydesk.errors import CopydeskError

pytest.importorskip("gguf", reason="gguf is not installed")
pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")
SCHEMA = {"type": "string", "enum": ["yes", "no"]}


@pytest.fixture(scope="module")
def gguf_file(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from copydesk.bench.gguf_file import write_gguf

    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_gguf(tiny_model, path)
    return path


@pytest.mark.parametrize("speculation", [False, True])
def test_the_wheel_answers_within_the_schema(gguf_file: Path, speculation: bool) -> None:
    with Peer(None, gguf_file, 1, speculation).start() as server:
        answers = [server.complete([5, 6, 7], SCHEMA) for _ in range(2)]
    assert json.loads(answers[0].text) in ("yes", "no")
    assert answers[0].text == answers[1].text
    assert answers[0].tokens > 1
    assert answers[0].ms > 0


def test_a_refusal_is_told(gguf_file: Path) -> None:
    with Peer(None, gguf_file, 1).start() as server, pytest.raises(CopydeskError, match="refused"):
        server.complete([999_999], SCHEMA)


def test_a_server_that_ends_while_loading(tmp_path: Path) -> None:
    (tmp_path / "none.gguf").write_bytes(b"nothing")
    with pytest.raises(CopydeskError, match="ended while loading"):
        Peer(None, tmp_path / "none.gguf", 1).start()


def test_a_build_that_is_not_there(tmp_path: Path, gguf_file: Path) -> None:
    with pytest.raises(CopydeskError, match="cannot be started"):
        Peer(tmp_path / "llama-server", gguf_file, 1).start()
    with pytest.raises(CopydeskError, match="cannot be run"):
        build_version(tmp_path / "llama-server")


def test_a_build_is_told_how_to_speculate(tmp_path: Path) -> None:
    command = Peer(tmp_path / "llama-server", tmp_path / "a.gguf", 2, speculation=True).command(8080)
    assert command[0] == str(tmp_path / "llama-server")
    assert command[command.index("--spec-type") + 1] == "ngram-simple"
    assert command[command.index("--parallel") + 1] == "1"
    assert "--poll" not in command
    assert "--spec-type" not in Peer(tmp_path / "llama-server", tmp_path / "a.gguf", 2).command(8080)


def test_several_at_once(tmp_path: Path) -> None:
    peer = Peer(tmp_path / "llama-server", tmp_path / "a.gguf", 2, slots=8, connections=64, spins=False)
    command = peer.command(8080)
    named = ("--parallel", "--ctx-size", "--threads-http", "--poll")
    assert [command[command.index(name) + 1] for name in named] == ["8", "8192", "67", "0"]
    assert peer.environment()["OMP_WAIT_POLICY"] == "passive"


def test_addresses_by_the_wheel(tiny_model: Path, gguf_file: Path) -> None:
    peers = LlamaCpp(tiny_model, gguf_file, None, 1)
    assert peers.names == (LlamaCpp.WHEEL,)
    done = peers.answer(LlamaCpp.WHEEL, ["天津市", "上海市"], ["北京市"])
    assert len(done.values) == len(done.ms) == len(done.passes) == 2
    peers.choose(["天津市"])
    tried = peers.description()[LlamaCpp.WHEEL]["speculation"]
    assert tried["used"] == (tried["ms_with"] < tried["ms_without"])
