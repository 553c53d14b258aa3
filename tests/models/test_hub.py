"""The cache comes first, only what is needed is fetched, and no hub can make the caller wait for long.

The hubs are servers of this test on this machine; nothing here reaches the network.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from copydesk.errors import ModelError
from copydesk.models import hub
from copydesk.models.hub import FILES, fetch

MODEL = "owner/model"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COPYDESK_USE_MODELSCOPE", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    return tmp_path


@contextlib.contextmanager
def silent_server() -> Iterator[str]:
    """Takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def whole(folder: Path) -> bool:
    return (folder / "model.safetensors").is_file()


def in_cache(cache: Path, *files: str) -> Path:
    """A snapshot as the library lays it out."""
    model = cache / "models--owner--model"
    snapshot = model / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0" * 40)
    for name in files:
        (snapshot / name).write_text("{}")
    return snapshot


def test_a_model_in_the_cache_needs_no_network(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = in_cache(cache, "config.json", "model.safetensors")
    monkeypatch.setattr(huggingface_hub, "HfApi", None)
    assert fetch(MODEL, whole) == snapshot


def test_half_a_model_in_the_cache_is_completed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = in_cache(cache, "config.json")
    calls = []

    def download(model: str, *, local_files_only: bool = False, **options: object) -> str:
        calls.append((model, local_files_only, options["allow_patterns"]))
        if not local_files_only:
            (snapshot / "model.safetensors").write_text("")
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(huggingface_hub.HfApi, "repo_info", lambda self, model, timeout: None)
    assert fetch(MODEL, whole) == snapshot
    assert calls == [(MODEL, True, list(FILES)), (MODEL, False, list(FILES))]


def test_an_unreachable_hub_is_named_with_the_cache_and_the_way_out(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", closed_port())
    with pytest.raises(ModelError, match="Hugging Face") as caught:
        fetch(MODEL, whole)
    assert caught.value.code == "model_not_found"
    assert all(part in str(caught.value) for part in (MODEL, str(cache), "--model DIR"))


def test_a_silent_hub_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_PROBE_SECONDS", 0.5)
    started = time.monotonic()
    with silent_server() as url:
        monkeypatch.setattr(constants, "ENDPOINT", url)
        with pytest.raises(ModelError, match="could it be fetched"):
            fetch(MODEL, whole)
    assert time.monotonic() - started < 5


def test_offline_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="offline"):
        fetch(MODEL, whole)


@pytest.mark.parametrize(("status", "message"), [("RepoNotFound", "no such model"), ("GatedRepo", "HF_TOKEN")])
def test_missing_and_gated_models_are_told_apart(status: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering_server(404 if status == "RepoNotFound" else 403, {"X-Error-Code": status}) as url:
        monkeypatch.setattr(constants, "ENDPOINT", url)
        with pytest.raises(ModelError, match=message):
            fetch(MODEL, whole)


@contextlib.contextmanager
def answering_server(status: int, headers: dict[str, str]) -> Iterator[str]:
    """Gives every request the same answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_modelscope_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYDESK_USE_MODELSCOPE", "1")
    monkeypatch.setitem(sys.modules, "modelscope", None)
    with pytest.raises(ModelError, match=r"copydesk\[modelscope\]") as caught:
        fetch(MODEL, whole)
    assert caught.value.code == "missing_extra"
