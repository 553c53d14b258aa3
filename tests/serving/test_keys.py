"""Keys: stored as hashes and for the owner's eyes, recognised, revoked within seconds, never half written."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from copydesk.errors import UsageError
from copydesk.serving import keys
from copydesk.serving.keys import KeyFile, Keyring, fresh_key, hashed, key_from, new_secret


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "state" / "keys.json")


def test_a_key_is_long_and_random_and_looks_like_one() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(secret.startswith("sk-") and len(secret) >= 45 for secret in secrets)


def test_the_file_holds_no_key_and_only_its_owner_reads_it(file: KeyFile) -> None:
    secret, key = fresh_key(name="shop")
    file.add(key)
    written = file.path.read_text()
    assert secret not in written
    assert secret.removeprefix("sk-") not in written
    assert hashed(secret) in written
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert list(file.path.parent.glob("*.part")) == []


def test_what_is_stored_comes_back(file: KeyFile) -> None:
    _, key = fresh_key(name="shop", models=("a", "b"), requests_per_minute=5, requests_per_day=9, tokens_per_minute=70)
    file.add(key)
    assert KeyFile(file.path).read() == [key]
    assert key.created.endswith("+00:00")
    assert key.to_dict()["models"] == ("a", "b")
    assert "sha256" not in key.to_dict()


def test_keys_added_at_the_same_time_are_all_kept(file: KeyFile) -> None:
    made = [fresh_key(name=str(number))[1] for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(file.add, made))
    assert {key.id for key in file.read()} == {key.id for key in made}


def test_a_revoked_key_is_gone_and_another_one_stays(file: KeyFile) -> None:
    (_, first), (_, second) = fresh_key(), fresh_key()
    file.add(first)
    file.add(second)
    assert file.revoke(first.id) == first
    assert file.read() == [second]
    with pytest.raises(UsageError, match=f"no key {first.id}"):
        file.revoke(first.id)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"version": 99, "keys": []}', '{"version": 1, "keys": {}}', '{"version": 1, "keys": [3]}'],
)
def test_a_file_that_is_none_is_refused_and_left_alone(file: KeyFile, content: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(content)
    with pytest.raises(UsageError, match=r"keys\.json"):
        file.read()
    with pytest.raises(UsageError):
        file.add(fresh_key()[1])
    assert file.path.read_text() == content


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({}, "64 lower-case"),
        ({"sha256": "AB" * 32}, "64 lower-case"),
        ({"sha256": "ab" * 32, "models": "a"}, "list of model names"),
        ({"sha256": "ab" * 32, "requests_per_minute": 0}, "requests_per_minute is a whole number"),
        ({"sha256": "ab" * 32, "tokens_per_minute": True}, "tokens_per_minute is a whole number"),
        ({"sha256": "ab" * 32, "name": 3}, "name is a string"),
        ({"sha256": "ab" * 32, "requests_a_day": 3}, "requests_a_day is no part of a key"),
    ],
)
def test_a_key_that_is_described_wrongly_is_refused_by_name(entry: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as caught:
        key_from(entry, "keys, entry 3")
    assert "keys, entry 3" in str(caught.value)


def test_models_that_a_key_may_use() -> None:
    assert fresh_key()[1].allows("anything")
    assert fresh_key(models=("a",))[1].allows("a")
    assert not fresh_key(models=("a",))[1].allows("b")


def test_a_keyring_knows_its_keys_and_no_others(file: KeyFile) -> None:
    (own_secret, own), (stored_secret, stored) = fresh_key(), fresh_key()
    file.add(stored)
    ring = Keyring([own], file)
    assert len(ring) == 2
    assert ring.find(own_secret) == own
    assert ring.find(stored_secret) == stored
    assert ring.by_id(stored.id) == stored
    for wrong in ("", "sk-", own_secret[:-1], own_secret + "x", own.sha256, "\ud800"):
        assert ring.find(wrong) is None


def test_another_process_adds_and_revokes_and_the_keyring_follows(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_LOOK_EVERY", 0.0)
    ring = Keyring(file=file)
    secret, key = fresh_key()
    assert ring.find(secret) is None
    KeyFile(file.path).add(key)
    assert ring.find(secret) == key
    KeyFile(file.path).revoke(key.id)
    assert ring.find(secret) is None
    assert ring.by_id(key.id) is None


def test_between_looks_the_file_is_not_touched(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Keyring(file=file)
    monkeypatch.setattr(keys, "_identity", lambda path: pytest.fail("looked at again at once"))
    assert ring.find("sk-x") is None


def test_a_file_that_gets_damaged_leaves_the_keys_and_a_deleted_one_takes_them(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keys, "_LOOK_EVERY", 0.0)
    secret, key = fresh_key()
    file.add(key)
    ring = Keyring(file=file)
    file.path.write_text("{")
    assert ring.find(secret) == key
    assert "keys.json" in caplog.text
    assert secret not in caplog.text
    file.path.unlink()
    assert ring.find(secret) is None


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        KeyFile(tmp_path / "file" / "keys.json").add(fresh_key()[1])


def test_the_usual_file_lies_in_the_state_folder(home: Path) -> None:
    assert keys.usual_file() == home / "keys.json"
