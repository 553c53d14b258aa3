"""Data on standard output, messages on standard error, progress on a terminal."""

from __future__ import annotations

import io
import logging
import os
import sys

import pytest

from copydesk import output
from copydesk.errors import CopydeskError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_data_is_one_line_of_json_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    output.put({"city": "天津市", "note": "a\nb\u2028"})
    assert capsys.readouterr().out == '{"city": "天津市", "note": "a\\nb\u2028"}\n'


def test_a_lone_surrogate_comes_out_as_its_escape() -> None:
    raw = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
        output.prepare()
        output.put({"市": "\ud800"})
        assert raw.getvalue() == '{"市": "\\ud800"}\n'.encode()


def test_a_message_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("first\n  second")
    assert capsys.readouterr() == ("", "copydesk: first second\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_messages_that_cannot_be_written_are_lost_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        output.say("to nobody")
        output.say("to nobody again")
        monkeypatch.undo()


def test_warnings_of_the_library_are_messages(capsys: pytest.CaptureFixture[str]) -> None:
    output.prepare()
    output.prepare()
    logging.getLogger("copydesk.somewhere").warning("look %s", "here")
    assert capsys.readouterr().err == "copydesk: look here\n"


def test_no_standard_output_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(CopydeskError, match="standard output is closed"):
        output.prepare()


@pytest.mark.parametrize(("error", "out", "shown"), [(True, False, True), (False, False, False), (True, True, False)])
def test_progress_is_only_for_a_terminal_that_shows_no_data(
    error: bool, out: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr = Terminal() if error else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", Terminal() if out else io.StringIO())
    clock = iter([0.0, 0.1, 0.5, 0.6])
    monkeypatch.setattr(output, "monotonic", lambda: next(clock))
    with output.Progress() as progress:
        for _ in range(3):
            progress.step()
    assert stderr.getvalue() == ("\r\x1b[K2 rows, 4.0/s\r\x1b[K" if shown else "")
