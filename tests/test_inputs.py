"""Files of texts and schemas as the command line names them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from copydesk import inputs
from copydesk.errors import SchemaError, TextError, UsageError
from copydesk.types import Failure

LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


def write(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


@given(st.lists(LINE), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_a_txt_file_is_one_text_a_line(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], newline: str, bom: bool, ends_with_newline: bool
) -> None:
    content = newline.join(rows) + (newline if ends_with_newline and rows else "")
    path = write(tmp_path_factory.mktemp("texts"), "in.txt", (b"\xef\xbb\xbf" if bom else b"") + content.encode())
    wanted = rows if ends_with_newline or not rows or rows[-1] else rows[:-1]
    if rows and rows[0].startswith("\ufeff") and not bom:
        wanted = [wanted[0][1:], *wanted[1:]]
    assert list(inputs.texts(path)) == wanted


@given(st.lists(st.text()))
def test_a_jsonl_file_holds_texts_under_its_key(tmp_path_factory: pytest.TempPathFactory, rows: list[str]) -> None:
    content = "".join(json.dumps({"text": row, "more": 1}) + "\r\n" for row in rows)
    assert list(inputs.texts(write(tmp_path_factory.mktemp("texts"), "in.jsonl", content.encode()))) == rows


def test_only_newlines_end_a_line(tmp_path: Path) -> None:
    odd = "a\u2028b\x0bc\x85d\x1ce\rf"
    assert list(inputs.texts(write(tmp_path, "in.txt", f"{odd}\n\nlast".encode()))) == [odd, "", "last"]


def test_lines_longer_than_a_read_are_whole(tmp_path: Path) -> None:
    rows = ["长" * 70_000, "short", "x" * 200_000]
    assert list(inputs.texts(write(tmp_path, "in.txt", "\r\n".join(rows).encode()))) == rows


def test_a_line_that_is_not_utf8_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    first, second, third = inputs.texts(write(tmp_path, "in.txt", b"good\nbad \xff\xfe\nalso good\n"))
    assert (first, third) == ("good", "also good")
    assert isinstance(second, Failure)
    assert second.code == "invalid_text"
    assert "Line 2 is not UTF-8 (byte 5 is 0xff)" in second.message


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Line 2 is not JSON"),
        ("", "Line 2 is not JSON"),
        ("[1]", "Line 2 is not a JSON object"),
        ('{"texts": "a"}', "Line 2 has no string under the key text"),
        ('{"text": 5}', "Line 2 has no string under the key text"),
        ("[" * 100_000, "Line 2 is not JSON"),
    ],
)
def test_a_bad_jsonl_line_is_named_and_the_others_go_on(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path, "in.jsonl", f'{{"text": "a"}}\n{line}\n{{"text": "b"}}\n'.encode())
    first, bad, last = inputs.texts(path)
    assert (first, last) == ("a", "b")
    assert isinstance(bad, Failure)
    assert bad.code == "invalid_row"
    assert problem in bad.message


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_refused_as_such(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(TextError, match="is UTF-16; save it as UTF-8"):
        list(inputs.texts(write(tmp_path, "in.txt", "\ufeffhello\n".encode(encoding))))


def test_a_file_that_is_not_there_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        inputs.texts(str(tmp_path / "none.txt"))
    with pytest.raises(UsageError, match="directory"):
        inputs.texts(str(tmp_path))


def test_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.txt, \.jsonl and -"):
        inputs.texts(write(tmp_path, "in.csv", b"a"))


def test_a_file_cut_short_while_it_is_read_is_reported_after_its_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "in.txt", b"first\n" + b"x" * 300_000)
    texts = inputs.texts(path)
    assert next(texts) == "first"
    os.truncate(path, 0)
    with pytest.raises(TextError, match=r"reading stopped after line 1: .* shorter than when it was opened"):
        next(texts)


def test_a_schema_file_is_read(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"名": {"type": "string"}}}
    path = write(tmp_path, "schema.json", b"\xef\xbb\xbf" + json.dumps(schema).encode())
    assert inputs.schema(path) == schema


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"{", "not JSON"), (b"[]", "not a JSON object"), (b"\xff", "utf-8"), (None, "No such file")],
)
def test_a_file_that_holds_no_schema_is_refused(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "schema.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SchemaError, match=problem) as caught:
        inputs.schema(str(path))
    assert caught.value.code == "invalid_schema"


def test_a_class_is_imported_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shapes_of_a_test.py").write_text("import pydantic\nclass Shape(pydantic.BaseModel):\n    side: int\n")
    monkeypatch.chdir(tmp_path)
    found = inputs.schema("shapes_of_a_test:Shape")
    assert isinstance(found, type)
    assert issubclass(found, BaseModel)
    assert list(found.model_fields) == ["side"]


def test_a_class_may_stand_in_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "import pydantic\nclass Outer:\n    class Inner(pydantic.BaseModel):\n        side: int\n"
    (tmp_path / "nested_of_a_test.py").write_text(body)
    monkeypatch.chdir(tmp_path)
    found = inputs.schema("nested_of_a_test:Outer.Inner")
    assert isinstance(found, type)
    assert found.__name__ == "Inner"
    with pytest.raises(SchemaError, match=r"no pydantic class Outer\.Other"):
        inputs.schema("nested_of_a_test:Outer.Other")


def test_what_a_module_prints_is_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loud_of_a_test.py").write_text("from pydantic import BaseModel as Class\nprint('hello')\n")
    monkeypatch.chdir(tmp_path)
    inputs.schema("loud_of_a_test:Class")
    assert capsys.readouterr() == ("", "hello\n")


def test_a_module_that_exits_while_it_is_imported_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "exiting_of_a_test.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SchemaError, match="importing exiting_of_a_test failed: SystemExit"):
        inputs.schema("exiting_of_a_test:Class")


def test_closed_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is closed"):
        inputs.texts("-")


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("no_such_module:Class", "No module named"),
        ("json:JSONDecoder", "no pydantic class JSONDecoder"),
        ("json:nothing", "no pydantic class nothing"),
        (":Class", "give module:Class,"),
        ("json:", "give json:Class,"),
        ("./mine.py:Class", "give mine:Class,"),
        ("shapes/mine.py:Class", r"give shapes\.mine:Class,"),
        ("../mine.py:Class", "give module:Class,"),
        ("", "--schema is empty"),
    ],
)
def test_what_is_no_class_is_refused(argument: str, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        inputs.schema(argument)
