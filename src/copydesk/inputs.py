"""What a command line names: files of texts, and schemas as a file or a class.

Knows no tasks and no models. A line that cannot be read becomes a `Failure` in its place; what makes the whole file or
schema useless is an error.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from copydesk.errors import SchemaError, TextError, UsageError
from copydesk.types import Failure, Json

if TYPE_CHECKING:
    from pydantic import BaseModel

_BOM = b"\xef\xbb\xbf"
_BOMS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 1 << 16


def texts(name: str) -> Iterator[str | Failure]:
    """The texts of a file: one a line in `.txt` and `-` (standard input), the key `text` of each object in `.jsonl`.

    The file is opened at once, and read as the texts are asked for. Lines end in `\\n` or `\\r\\n`.
    Errors: `UsageError` for a file that cannot be opened or is of another kind, `TextError` where reading stops midway.
    """
    suffix = Path(name).suffix
    if name != "-" and suffix not in (".txt", ".jsonl", ""):
        raise UsageError(f"{name}: texts are read from .txt, .jsonl and - (standard input); try `-f - < {name}`.")
    numbered = lines(name)
    if suffix == ".jsonl":
        return (_text_of(line, number) for number, line in numbered)
    return (line for _, line in numbered)


def lines(name: str) -> Iterator[tuple[int, str | Failure]]:
    """The lines of a UTF-8 file with their numbers from 1; a line of other bytes is a `Failure`. Errors as `texts`."""
    if name == "-" and sys.stdin is None:  # the number 0 may since be another file's
        raise UsageError("standard input is closed; give a file, or pipe texts in.")
    try:
        # Unbuffered: a thread that dies waiting for standard input must not hold the lock of a buffer.
        file = open(0 if name == "-" else name, "rb", buffering=0, closefd=name != "-")  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}.") from error
    return _lines(cast("BinaryIO", file), name)


def schema(argument: str) -> Json | type[BaseModel]:
    """The schema that `--schema` names: a file with a JSON Schema, or `module:Class` with a pydantic class.

    What a module prints while it is imported goes to standard error. Errors: `SchemaError` (`invalid_schema`).
    """
    if not argument:
        raise SchemaError(
            "--schema is empty; it takes a file with a JSON Schema, or module:Class.", code="invalid_schema"
        )
    path = Path(argument)
    module, colon, name = argument.partition(":")
    if colon and not os.path.exists(argument):
        return _class(module, name)
    try:
        return json_object(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SchemaError(
            f"{argument}: {reason}. --schema takes a file with a JSON Schema, or module:Class.", code="invalid_schema"
        ) from error


def json_object(text: str) -> Json:
    """The object that the text holds. Errors: `ValueError` that says what it is instead."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


def _lines(file: BinaryIO, name: str) -> Iterator[tuple[int, str | Failure]]:
    number = 0
    with file:
        try:
            for number, line in enumerate(_raw_lines(file, name), 1):
                yield number, _decoded(line, number)
        except OSError as error:
            raise TextError(
                f"{name}: reading stopped after line {number}: {error.strerror or error}.", code="unreadable"
            ) from error


def _raw_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    status = os.fstat(file.fileno())
    expected = status.st_size if name != "-" and stat.S_ISREG(status.st_mode) else 0
    chunk = file.read(_CHUNK)
    expected -= len(chunk)
    if chunk.startswith(_BOMS_OF_UTF16):
        raise TextError(f"{name} is UTF-16; save it as UTF-8.")
    begun: list[bytes] = []
    rest = chunk.removeprefix(_BOM)
    while chunk:
        head, *tails = rest.split(b"\n")
        begun.append(head)
        for tail in tails:
            yield b"".join(begun).removesuffix(b"\r")
            begun = [tail]
        chunk = rest = file.read(_CHUNK)
        expected -= len(chunk)
    if expected > 0:
        raise OSError(f"the file is {expected} bytes shorter than when it was opened")
    if last := b"".join(begun):
        yield last.removesuffix(b"\r")


def _decoded(line: bytes, number: int) -> str | Failure:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        return Failure(
            "invalid_text",
            f"Line {number} is not UTF-8 (byte {error.start + 1} is 0x{line[error.start]:02x}); save it as UTF-8.",
        )


def _text_of(line: str | Failure, number: int) -> str | Failure:
    if isinstance(line, Failure):
        return line
    try:
        row = json_object(line)
    except ValueError as error:
        return Failure("invalid_row", f"Line {number} is {error}; each line is an object with the key text.")
    text = row.get("text")
    if not isinstance(text, str):
        return Failure("invalid_row", f"Line {number} has no string under the key text.")
    return text


def _class(module: str, name: str) -> type[BaseModel]:
    """The class `name`, with dots where it stands in another, of a module importable from the working folder."""
    from pydantic import BaseModel

    if not all(map(str.isidentifier, [*module.split("."), *name.split(".")])):
        raise SchemaError(
            f"--schema {module}:{name}: {_suggestion(module, name)}, a module as Python imports it.",
            code="invalid_schema",
        )
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # whatever the caller's module does while it is imported
        raise SchemaError(
            f"--schema {module}:{name}: importing {module} failed: {type(error).__name__}: {error}",
            code="invalid_schema",
        ) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, BaseModel)):
        raise SchemaError(f"--schema {module}:{name}: {module} has no pydantic class {name}.", code="invalid_schema")
    return found


def _suggestion(module: str, name: str) -> str:
    stem = module.removeprefix("./").removesuffix(".py").replace("/", ".")
    return f"give {stem if all(map(str.isidentifier, stem.split('.'))) else 'module'}:{name or 'Class'}"
