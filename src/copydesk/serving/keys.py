"""API keys: made, stored as hashes, listed, revoked, and recognised when a caller presents one.

A key is 256 random bits, so one round of SHA-256 hides it as well as a slow hash would. Knows no HTTP and no counting.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from copydesk.errors import UsageError
from copydesk.home import home

PREFIX = "sk-"
_BYTES = 32
_ID_LENGTH = 12
_VERSION = 1
_LOOK_EVERY = 1.0
"""Seconds between looks at whether the file has changed: a key that was revoked is refused that soon."""
_LOCK_SECONDS = 10.0
_log = logging.getLogger("copydesk.serving")


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key: never the key itself."""

    sha256: str
    """Hexadecimal hash of the whole key, prefix included."""
    name: str = ""
    models: tuple[str, ...] = ()
    """Names of the models it may use; none means all."""
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None
    created: str = ""
    """When it was made, ISO 8601 in UTC."""

    @property
    def id(self) -> str:
        """What it is called in lists, logs and counters."""
        return self.sha256[:_ID_LENGTH]

    def allows(self, model: str) -> bool:
        """Whether it may use the model of this name."""
        return not self.models or model in self.models

    def to_dict(self) -> dict[str, Any]:
        """What `copydesk keys list` prints and the file holds beside the hash: whatever is set."""
        return {"id": self.id} | {name: value for name, value in asdict(self).items() if value and name != "sha256"}


def hashed(secret: str) -> str:
    """The hash under which a key is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_secret() -> str:
    """A fresh key."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def key_from(entry: Mapping[str, Any], where: str) -> Key:
    """The key that a table of a configuration or key file describes. Errors: `UsageError` that names `where`."""
    known = {field.name for field in fields(Key)}
    if unknown := set(entry) - known - {"id"}:
        raise UsageError(f"{where}: {', '.join(sorted(unknown))} is no part of a key; known are {', '.join(known)}.")
    digest = entry.get("sha256")
    if not isinstance(digest, str) or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise UsageError(f"{where}: sha256 is the 64 lower-case hexadecimal digits of the key's SHA-256 hash.")
    models = entry.get("models", ())
    if not isinstance(models, list | tuple) or not all(isinstance(name, str) and name for name in models):
        raise UsageError(f"{where}: models is a list of model names.")
    for name in ("requests_per_minute", "requests_per_day", "tokens_per_minute"):
        check_count(entry.get(name), f"{where}: {name}")
    for name in ("name", "created"):
        if not isinstance(entry.get(name, ""), str):
            raise UsageError(f"{where}: {name} is a string.")
    given = {name: value for name, value in entry.items() if name in known}
    return Key(**(given | {"models": tuple(models)}))


def check_count(value: Any, where: str) -> None:
    """Errors: `UsageError` for what is neither None nor a whole number from 1 up."""
    if value is not None and (type(value) is not int or value < 1):
        raise UsageError(f"{where} is a whole number from 1 up, not {value!r}.")


def usual_file() -> Path:
    """Where `copydesk keys` keeps keys, and where a server looks that is not told otherwise."""
    return home() / "keys.json"


class KeyFile:
    """The keys in a file, readable by its owner only. Changes are made one at a time and seen whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Key]:
        """Oldest first; none if there is no file. Errors: `UsageError` for a file that is no key file."""
        try:
            read = json.loads(self.path.read_bytes())
            entries = read["keys"]
            if read["version"] != _VERSION or not isinstance(entries, list):
                raise ValueError(f"version {read['version']!r}")
            return [key_from(entry, f"{self.path}: key {number}") for number, entry in enumerate(entries, 1)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror or error}.") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{self.path} is no key file of this version ({error!r}). Put a copy of it back, or move it away and "
                "make new keys with `copydesk keys add`."
            ) from error

    def add(self, key: Key) -> None:
        """Store a key. Errors: `UsageError`."""
        with self._change() as keys:
            keys.append(key)

    def revoke(self, key_id: str) -> Key:
        """Delete the key of this id, which is returned. Errors: `UsageError` when there is none."""
        with self._change() as keys:
            found = next((key for key in keys if key.id == key_id), None)
            if found is None:
                raise UsageError(f"{self.path} has no key {key_id}; `copydesk keys list` shows those there are.")
            keys.remove(found)
        return found

    @contextlib.contextmanager
    def _change(self) -> Iterator[list[Key]]:
        from filelock import FileLock

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS, mode=0o600):
                keys = self.read()
                yield keys
                self._write(keys)
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror or error}.") from error

    def _write(self, keys: Iterable[Key]) -> None:
        entries = [{"sha256": key.sha256} | key.to_dict() for key in keys]
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, suffix=".part", delete=False) as file:
            try:
                json.dump({"version": _VERSION, "keys": entries}, file, indent=1)  # its mode is 0600 from the start
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, self.path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise


class Keyring:
    """All keys that a server takes: those of its configuration, and those in a file, looked at again as it changes."""

    def __init__(self, keys: Iterable[Key] = (), file: KeyFile | None = None) -> None:
        """Errors: `UsageError` for a file that cannot be read."""
        self._own = {key.sha256: key for key in keys}
        self._file = file
        self._stored: dict[str, Key] = {}
        self._seen: tuple[int, ...] | None = None
        self._looked = time.monotonic()
        self._ids: dict[str, Key] = {}
        if file is not None:
            self._seen = _identity(file.path)
        self._take(file.read() if file is not None else [])

    def __len__(self) -> int:
        self._look()
        return len(self._own) + len(self._stored)

    def find(self, secret: str) -> Key | None:
        """The key that a caller presents, None if it is not one of ours."""
        self._look()
        digest = hashed(secret)
        # Finding by hash tells a caller nothing: whoever can choose what it hashes to has the key.
        key = self._own.get(digest) or self._stored.get(digest)
        return key if key is not None and hmac.compare_digest(key.sha256, digest) else None

    def by_id(self, key_id: str) -> Key | None:
        """The key of this id, None if it is no longer one of ours."""
        self._look()
        return self._ids.get(key_id)

    def _take(self, stored: Iterable[Key]) -> None:
        self._stored = {key.sha256: key for key in stored}
        self._ids = {key.id: key for key in (*self._stored.values(), *self._own.values())}

    def _look(self) -> None:
        """Read the file again if it is another. One that turned unreadable leaves the keys as they were."""
        now = time.monotonic()
        if self._file is None or now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        identity = _identity(self._file.path)
        if identity == self._seen:
            return
        try:
            self._take(self._file.read())
        except UsageError as error:
            _log.error("The keys are those of before: %s", error)
        self._seen = identity


def _identity(path: Path) -> tuple[int, ...] | None:
    """What is another after a change; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def fresh_key(**limits: Any) -> tuple[str, Key]:
    """A key that nothing remembers, and what is known of it: for a server without any, and for `copydesk keys add`."""
    secret = new_secret()
    return secret, Key(hashed(secret), created=datetime.now(UTC).isoformat(timespec="seconds"), **limits)
