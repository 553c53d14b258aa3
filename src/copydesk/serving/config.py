"""`copydesk.toml`: a whole server in one file, read and checked before anything is loaded.

Knows which tables there are; what they mean is known by the parts whose settings they fill.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from copydesk.errors import UsageError
from copydesk.serving.admission import QueueSettings
from copydesk.serving.breaker import BreakerSettings
from copydesk.serving.keys import Key, key_from
from copydesk.serving.quotas import MEMORY, QuotaSettings, check_storage
from copydesk.serving.record import JudgingSettings
from copydesk.serving.replica import HealthSettings
from copydesk.serving.routing import RouteSettings
from copydesk.serving.settings import Limits, Settings
from copydesk.serving.tables import check_known, filled, named

_ROUTE = ("sticky", "fallback", "answer_seconds")
_TABLES: Mapping[str, type] = {
    "limits": Limits,
    "quotas": QuotaSettings,
    "queue": QueueSettings,
    "health": HealthSettings,
    "breaker": BreakerSettings,
    "judging": JudgingSettings,
}


@dataclass(frozen=True, slots=True)
class VersionSettings:
    """What answers for a share of a name's calls: a model in this process, or servers elsewhere that answer alike."""

    name: str = "main"
    weight: float = 1.0
    """Its share of the calls, beside the other versions'. With 0 it is asked only when no other can be."""
    model: str | None = None
    """As `copydesk.load` takes it; the built-in one if left out. With `urls` the model's name there."""
    engine: str = "auto"
    urls: tuple[str, ...] = ()
    """Servers with the OpenAI API: vLLM, another copydesk."""
    api_key_env: str | None = None
    """The environment variable that holds the key for `urls`."""
    draft: bool = True
    learn: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    """The engine's own, as `copydesk.load` takes them: `threads`, `context_length`, `device`, ..."""


@dataclass(frozen=True, slots=True)
class NameSettings:
    """A name that callers give as `model`."""

    name: str
    route: RouteSettings = field(default_factory=RouteSettings)
    versions: tuple[VersionSettings, ...] = (VersionSettings(),)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that a server is told."""

    settings: Settings = field(default_factory=Settings)
    workers: int = 1
    """Processes that answer; each loads its models itself."""
    keys: tuple[Key, ...] = ()
    keys_file: Path | None = None
    """Where `copydesk keys` keeps keys; None is its usual place."""
    quotas: QuotaSettings = field(default_factory=QuotaSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    health: HealthSettings = field(default_factory=HealthSettings)
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    judging: JudgingSettings = field(default_factory=JudgingSettings)
    names: tuple[NameSettings, ...] = (NameSettings("copydesk-nano"),)
    """The first answers requests that name no model."""


@dataclass(frozen=True, slots=True)
class _Top:
    """What stands above all tables."""

    host: str = "127.0.0.1"
    port: int = 8000
    page: bool = True
    workers: int = 1
    keys_file: str | None = None


def read_config(path: Path) -> Config:
    """The server that a file describes. Errors: `UsageError` in one line that names the file and the key."""
    try:
        table = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}.") from error
    try:
        return _config(table, path.parent)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _config(table: dict[str, Any], folder: Path) -> Config:
    top = {key: value for key, value in table.items() if key not in (*_TABLES, "keys", "models")}
    plain = filled(_Top, top, "")
    parts: dict[str, Any] = {name: filled(kind, _table(table, name), name) for name, kind in _TABLES.items()}
    names = _names(table.get("models"))
    settings = Settings(host=plain.host, port=plain.port, page=plain.page, limits=parts.pop("limits"))
    config = Config(
        settings=settings,
        workers=plain.workers,
        keys=_keys(table.get("keys", []), [each.name for each in names]),
        keys_file=folder / Path(plain.keys_file).expanduser() if plain.keys_file else None,
        names=names,
        **parts,
    )
    _check(config)
    return config


def _table(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise UsageError(f"{name} is a table; write [{name}].")
    return found


def _tables(value: Any, where: str) -> Sequence[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise UsageError(f"{where} is a list of tables; write [[{where}]] over each.")
    return value


def _keys(value: Any, names: Sequence[str]) -> tuple[Key, ...]:
    keys = []
    for number, entry in enumerate(_tables(value, "keys"), 1):
        where = f"keys, the {number}."
        if "key" in entry:
            raise UsageError(f"{where}: write the key's hash rather than the key: sha256 = what sha256sum says of it.")
        key = key_from(entry, where)
        for model in key.models:
            if model not in names:
                raise UsageError(f"{where}: models names {model}, which is none of {', '.join(names)}.")
        keys.append(key)
    if len({key.sha256 for key in keys}) < len(keys):
        raise UsageError("keys holds the same key twice.")
    return tuple(keys)


def _names(value: Any) -> tuple[NameSettings, ...]:
    if value is None:
        return Config().names
    names = tuple(_name(entry, f"models, the {number}.") for number, entry in enumerate(_tables(value, "models"), 1))
    if not names:
        raise UsageError("models is empty; leave it out for the built-in model.")
    _check_different([each.name for each in names], "models")
    return names


def _name(entry: dict[str, Any], where: str) -> NameSettings:
    name = entry.get("name")
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise UsageError(f"{where}: name is what callers give as model, a text.")
    where = f"models.{name}"
    route = {key: value for key, value in entry.items() if key in _ROUTE}
    rest = {key: value for key, value in entry.items() if key not in (*_ROUTE, "name")}
    if route.get("answer_seconds") == 0:
        route.pop("answer_seconds")
        settings = replace(filled(RouteSettings, route, where), answer_seconds=None)
    else:
        settings = filled(RouteSettings, route, where)
    if "versions" not in rest:
        known = [key for key in VersionSettings.__dataclass_fields__ if key not in ("name", "weight")]
        check_known(rest, [*_ROUTE, "name", "versions", *known], where)
        return NameSettings(name, settings, (_version(rest, where),))
    check_known(rest, ["versions"], f"{where} has versions, so {where}")
    versions = tuple(_version(each, f"{where}.versions") for each in _tables(rest["versions"], "models.versions"))
    _check_different([version.name for version in versions], f"{where}.versions")
    if not any(version.weight for version in versions):
        raise UsageError(f"{where}.versions: one of them has a weight above 0.")
    return NameSettings(name, settings, versions)


def _version(entry: dict[str, Any], where: str) -> VersionSettings:
    version = filled(VersionSettings, entry, where)
    if version.urls and version.engine != "auto":
        raise UsageError(f"{named(where, 'engine')} is left out where urls are given: those are the engine.")
    if version.api_key_env is not None:
        if not version.urls:
            raise UsageError(f"{named(where, 'api_key_env')} is for urls.")
        if version.api_key_env not in os.environ:
            raise UsageError(f"{named(where, 'api_key_env')}: {version.api_key_env} is not set in the environment.")
    _check_different(version.urls, named(where, "urls"))
    return version


def _check_different(names: Sequence[str], where: str) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise UsageError(f"{where} has {name} twice.")


def _check(config: Config) -> None:
    """What single keys do not show."""
    check_storage(config.quotas.storage)
    if config.workers == 1:
        return
    if sys.platform == "win32":
        raise UsageError("workers is 1 on Windows; start several servers instead.")
    if config.quotas.storage == MEMORY and not config.quotas.per_worker:
        raise UsageError(
            f'workers = {config.workers} need a common place to count quotas in: quotas.storage = "redis://host:6379". '
            "With quotas.per_worker = true each counts by itself, and a key gets up to that many times its quota."
        )
