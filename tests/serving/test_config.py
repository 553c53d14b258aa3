"""The configuration file: what it says is what the server is told, and what makes no sense is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copydesk.errors import UsageError
from copydesk.serving import config as module
from copydesk.serving.config import Config, NameSettings, VersionSettings, read_config
from copydesk.serving.keys import fresh_key
from copydesk.serving.routing import RouteSettings

SHA = "ab" * 32


def read(folder: Path, text: str) -> Config:
    path = folder / "copydesk.toml"
    path.write_text(text)
    return read_config(path)


def test_an_empty_file_is_the_default_server(tmp_path: Path) -> None:
    assert read(tmp_path, "") == Config()


def test_everything_can_be_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM", "sk-x")
    found = read(
        tmp_path,
        f"""
        host = "0.0.0.0"
        port = 9000
        page = false
        workers = 2
        keys_file = "secrets/keys.json"

        [limits]
        max_body_bytes = 1000
        [quotas]
        storage = "redis://cache:6379/1"
        storage_failure = "refuse"
        requests_per_minute = 60
        [queue]
        running = 8
        [health]
        every_seconds = 1
        [breaker]
        trials = 5
        [judging]
        slow_factor = 2

        [[keys]]
        sha256 = "{SHA}"
        name = "shop"
        models = ["address"]
        tokens_per_minute = 1000

        [[models]]
        name = "address"
        sticky = true
        answer_seconds = 5
        [[models.versions]]
        name = "stable"
        weight = 9
        options = {{ threads = 2 }}
        [[models.versions]]
        name = "next"
        weight = 1
        model = "Qwen/Qwen3-0.6B"
        urls = ["http://a:8000", "http://b:8000"]
        api_key_env = "UPSTREAM"

        [[models]]
        name = "plain"
        engine = "openvino"
        fallback = false
        answer_seconds = 0
        """,
    )
    assert (found.settings.host, found.settings.port, found.settings.page, found.workers) == ("0.0.0.0", 9000, False, 2)
    assert found.keys_file == tmp_path / "secrets/keys.json"
    assert found.settings.limits.max_body_bytes == 1000
    assert (found.quotas.storage_failure, found.quotas.requests_per_minute) == ("refuse", 60)
    assert (found.queue.running, found.health.every_seconds, found.breaker.trials) == (8, 1.0, 5)
    assert found.judging.slow_factor == 2.0
    assert (found.keys[0].sha256, found.keys[0].models) == (SHA, ("address",))
    stable = VersionSettings("stable", 9.0, options={"threads": 2})
    urls = ("http://a:8000", "http://b:8000")
    following = VersionSettings("next", 1.0, "Qwen/Qwen3-0.6B", urls=urls, api_key_env="UPSTREAM")
    assert found.names == (
        NameSettings("address", RouteSettings(sticky=True, answer_seconds=5.0), (stable, following)),
        NameSettings(
            "plain", RouteSettings(fallback=False, answer_seconds=None), (VersionSettings(engine="openvino"),)
        ),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port = ", "is no TOML"),
        ("prot = 3", "prot is not known; did you mean port?"),
        ("port = 'x'", "port is a whole number"),
        ("workers = 0", "workers is more than 0"),
        ("limits = 3", "limits is a table"),
        ("[limits]\nmax_body = 3", "limits.max_body is not known; did you mean max_body_bytes?"),
        ("[quotas]\nstorage = 'memcached://x'", "quotas.storage is memory:// or redis://"),
        ("[quotas]\nrequests_per_minute = 0", "quotas.requests_per_minute is more than 0"),
        ("workers = 2", "quotas.storage"),
        ("keys = 3", "keys is a list of tables"),
        ("[[keys]]\nkey = 'sk-abc'", "the key's hash rather than the key"),
        ("[[keys]]\nsha256 = 'abc'", "keys, the 1."),
        (f"[[keys]]\nsha256 = '{SHA}'\nmodels = ['nobody']", "models names nobody"),
        (f"[[keys]]\nsha256 = '{SHA}'\n[[keys]]\nsha256 = '{SHA}'", "the same key twice"),
        ("models = []", "models is empty"),
        ("[models]\nname = 'a'", "models is a list of tables"),
        ("[[models]]\nengine = 'auto'", "models, the 1.: name is what callers give"),
        ("[[models]]\nname = ' '", "models, the 1.: name"),
        ("[[models]]\nname = 'a'\n[[models]]\nname = 'a'", "models has a twice"),
        ("[[models]]\nname = 'a'\nmodell = 'x'", "models.a.modell is not known; did you mean model?"),
        ("[[models]]\nname = 'a'\nweight = 2", "models.a.weight is not known"),
        ("[[models]]\nname = 'a'\nsticky = 'yes'", "models.a.sticky is true or false"),
        ("[[models]]\nname = 'a'\nanswer_seconds = -1", "models.a.answer_seconds is more than 0"),
        ("[[models]]\nname = 'a'\nmodel = 'x'\n[[models.versions]]\nname = 'b'", "models.a has versions"),
        ("[[models]]\nname = 'a'\nversions = 3", "models.versions is a list of tables"),
        ("[[models]]\nname = 'a'\n[[models.versions]]\n[[models.versions]]", "models.a.versions has main twice"),
        ("[[models]]\nname = 'a'\n[[models.versions]]\nweight = 0", "weight above 0"),
        ("[[models]]\nname = 'a'\n[[models.versions]]\nweihgt = 0", "models.a.versions.weihgt is not known"),
        ("[[models]]\nname = 'a'\nengine = 'vllm'\nurls = ['http://a']", "engine is left out"),
        ("[[models]]\nname = 'a'\nurls = ['http://a', 'http://a']", "urls has http://a twice"),
        ("[[models]]\nname = 'a'\napi_key_env = 'X'", "api_key_env is for urls"),
        ("[[models]]\nname = 'a'\nurls = ['http://a']\napi_key_env = 'NOT_SET_X'", "NOT_SET_X is not set"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line_that_names_it(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "copydesk.toml"))
    assert "\n" not in str(caught.value)


def test_several_workers_may_count_by_themselves_if_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "workers = 2\n[quotas]\nper_worker = true"
    assert read(tmp_path, text).workers == 2
    monkeypatch.setattr(module.sys, "platform", "win32")
    with pytest.raises(UsageError, match="Windows"):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"host = '\xff'")
    with pytest.raises(UsageError, match="is no TOML"):
        read_config(tmp_path / "latin.toml")


_values = st.one_of(
    st.integers(-5, 5).map(str),
    st.sampled_from(["true", "nan", "inf", "1.5", "'x'", "[]", "['a']", "{}", "[{}]", "{a = 1}", "[[1]]"]),
)
_keys = st.sampled_from(
    [
        "host",
        "port",
        "workers",
        "keys_file",
        "limits",
        "quotas",
        "queue",
        "health",
        "keys",
        "models",
        "name",
        "urls",
        "x",
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.tuples(_keys, _values), unique_by=lambda line: line[0], max_size=4), nested=st.booleans())
def test_whatever_it_says_it_is_read_or_refused(tmp_path: Path, lines: list[tuple[str, str]], nested: bool) -> None:
    text = "\n".join(f"{key} = {value}" for key, value in lines)
    complaint = ""
    try:
        read(tmp_path, f"[[models]]\n{text}" if nested else text)
    except UsageError as error:
        complaint = str(error)
    assert complaint == "" or complaint.startswith(str(tmp_path))
    assert "\n" not in complaint


def test_a_key_of_the_file_is_one_that_callers_can_use(tmp_path: Path) -> None:
    secret, key = fresh_key()
    assert secret not in (text := f"[[keys]]\nsha256 = '{key.sha256}'")
    assert read(tmp_path, text).keys[0].id == key.id
