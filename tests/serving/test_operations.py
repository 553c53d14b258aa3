"""A configuration put together: every part is there and they work as one; models that cannot be loaded are said."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copydesk.errors import CopydeskError, ModelError
from copydesk.serving import operations as module
from copydesk.serving.config import Config, NameSettings, VersionSettings
from copydesk.serving.drain import Drain
from copydesk.serving.errors import ApiError
from copydesk.serving.keys import KeyFile, Keyring, fresh_key
from copydesk.serving.life import Loaded
from copydesk.serving.operations import keyring, load_model, operations
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS
from engines.remote.odd_server import FakeModel as FakeServedModel
from engines.remote.odd_server import OddServer, Sent
from serving.fake_model import FakeModel

pytestmark = pytest.mark.anyio
VERSIONS = (VersionSettings("here", 1.0, "a model"), VersionSettings("there", 0.0, urls=("http://a", "http://b")))


class Shelf:
    """Loads fake models and keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, str | None, int | None]] = []
        self.models: list[FakeModel] = []
        self.missing: set[str | None] = set()

    def __call__(self, name: str, version: VersionSettings, url: str | None, threads: int | None) -> Loaded:
        self.asked.append((name, version.model, url, threads))
        if (url or version.model) in self.missing:
            raise ModelError("not there")
        self.models.append(FakeModel())
        return self.models[-1].load()


async def test_every_part_is_there_and_they_work_together(tmp_path: Path) -> None:
    secret, key = fresh_key(requests_per_minute=2)
    config = Config(names=(NameSettings("name", versions=VERSIONS),))
    shelf = Shelf()
    async with operations(config, Keyring([key]), Drain(), shelf) as parts:
        assert shelf.asked[0] == ("name", "a model", None, None)
        assert {url for _, _, url, _ in shelf.asked[1:]} == {"http://a", "http://b"}
        caller = parts.gate.identify(f"Bearer {secret}")
        async with await parts.gate.admit(caller, "name", 5):
            answer = await parts.router.choose("name", caller.name).extract("x", ADDRESS, {})
            assert answer.verified
            assert b'vllm:num_requests_running{engine="0",model_name="name"} 1.0' in parts.metrics.expose()[0]
        async with await parts.gate.admit(caller, "name", 5):
            pass
        with pytest.raises(ApiError):
            await parts.gate.admit(caller, "name", 5)
        assert (await parts.health.ready())["ok"]
        assert {route.path for route in parts.public_routes()} == {"/health", "/health/ready", "/metrics"}
        assert b'copydesk:replica_available{model="name",replica="1",version="there"} 1.0' in parts.metrics.expose()[0]
    assert all(model.closed.is_set() for model in shelf.models)


async def test_a_model_here_must_be_there_and_one_elsewhere_may_come_later() -> None:
    config = Config(names=(NameSettings("name", versions=VERSIONS),))
    shelf = Shelf()
    shelf.missing = {"http://a", "http://b"}
    async with operations(config, Keyring(), Drain(), shelf) as parts:
        assert (await parts.health.ready())["ok"]
        there = parts.router.routes["name"].versions[1]
        assert there.fault == "cannot be loaded"
        shelf.missing = set()
        async with asyncio.timeout(5):
            while there.fault:
                await asyncio.sleep(0.02)
    here = Shelf()
    here.missing = {"a model"}
    with pytest.raises(ModelError, match="not there"):
        async with operations(config, Keyring(), Drain(), here):
            pytest.fail("started")


async def test_several_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_cores", lambda: 9)
    config = Config(workers=2, names=(NameSettings("name"),))
    shelf = Shelf()
    async with operations(config, Keyring(), Drain(), shelf):
        assert shelf.asked[0][3] == 4


def test_what_a_version_says_is_how_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[tuple[Any, dict[str, Any]]] = []

    class Thing:
        def close(self) -> None:
            pass

    def load(model: str | None, **options: Any) -> Thing:
        loads.append((model, options))
        return Thing()

    monkeypatch.setattr(module, "load", load)
    monkeypatch.setattr(module, "resolve", lambda model: Path("x"))
    monkeypatch.setenv("UPSTREAM", "sk-x")
    plain = VersionSettings(model="a", engine="openvino", draft=False, options={"bits": 8})
    load_model("name", plain, None, 3)
    load_model("name", replace(plain, options={"threads": 7}), None, 3)
    load_model("name", replace(plain, engine="cuda", options={}), None, 3)
    load_model("name", VersionSettings(model="a", api_key_env="UPSTREAM", learn=False), "http://a", 3)
    usual = {"draft": True, "learn": True}
    assert loads == [
        ("a", {"engine": "openvino", "draft": False, "learn": True, "bits": 8, "threads": 3}),
        ("a", {"engine": "openvino", "draft": False, "learn": True, "threads": 7}),
        ("a", usual | {"engine": "cuda", "draft": False}),
        ("a", usual | {"engine": "http://a", "learn": False, "api_key": "sk-x", "attempts": 1, "concurrency": 1024}),
    ]


def test_keys_are_those_of_the_file_and_the_configuration(tmp_path: Path, home: Path) -> None:
    (own_secret, own), (stored_secret, stored) = fresh_key(), fresh_key()
    KeyFile(tmp_path / "keys.json").add(stored)
    ring = keyring(Config(keys=(own,), keys_file=tmp_path / "keys.json"))
    assert ring.find(own_secret) == own
    assert ring.find(stored_secret) == stored
    assert len(keyring(Config())) == 0
    (tmp_path / "keys.json").write_text("no keys")
    with pytest.raises(CopydeskError):
        keyring(Config(keys_file=tmp_path / "keys.json"))


async def test_the_built_in_model_proves_itself_and_comes_back_when_its_engine_dies() -> None:
    """With a real desk: killed, it is loaded again; callers meanwhile get the rules' answer."""
    quick = replace(Config().health, every_seconds=0.05, reload_seconds=0.05)
    config = Config(health=quick)
    models = []

    def load_and_keep(name: str, version: VersionSettings, url: str | None, threads: int | None) -> Loaded:
        loaded = load_model(name, version, url, threads)
        models.append(loaded.backend._model)  # type: ignore[attr-defined]
        return loaded

    text = "湖南长沙岳麓区桃花岭路189号江雨桐13800138000"
    async with operations(config, Keyring(), Drain(), load_and_keep) as parts:
        backend = parts.router.choose(None, "a")
        assert (await backend.extract(text, ADDRESS, {})).verified
        engine = models[0]._desk._engine

        def dead(*arguments: object) -> object:
            raise RuntimeError("the device is gone")

        engine.run = dead
        answer = await backend.extract(text, ADDRESS, {})
        assert (answer.verified, answer.draft) == (False, "rules")
        async with asyncio.timeout(20):
            while not (await backend.extract(text, ADDRESS, {})).verified:
                await asyncio.sleep(0.05)
        assert len(models) == 2


async def test_servers_elsewhere_stand_in_for_each_other_and_the_rules_for_all() -> None:
    record = dict.fromkeys(ADDRESS_FIELDS, "") | {"city": "长沙市"}
    down: set[int] = set()

    def server(number: int) -> OddServer:
        model = FakeServedModel(record=record)
        return OddServer(lambda asked: Sent("down", 500) if number in down else model(asked))

    quick = replace(Config().health, every_seconds=0.05, cache_seconds=0.0, reload_seconds=0.05)
    with server(0) as one, server(1) as other:
        version = VersionSettings(urls=(one.url, other.url))
        config = Config(health=quick, names=(NameSettings("name", versions=(version,)),))
        async with operations(config, Keyring(), Drain()) as parts:
            backend = parts.router.choose("name", "a")
            engines = {(await backend.extract("长沙市", ADDRESS, {})).engine for _ in range(20)}
            assert engines == {f"{one.url}/v1", f"{other.url}/v1"}
            down.add(0)
            for _ in range(10):
                assert (await backend.extract("长沙市", ADDRESS, {})).engine == f"{other.url}/v1"
            assert (await parts.health.ready())["ok"]
            down.add(1)
            assert not (await backend.extract("长沙市", ADDRESS, {})).verified
            assert not (await parts.health.ready())["ok"]
            down.clear()
            async with asyncio.timeout(10):
                while not (await backend.extract("长沙市", ADDRESS, {})).verified:
                    await asyncio.sleep(0.02)
