"""What a conversation does with what is typed, with a model that says what the test has it say."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from copydesk.commands.talking import Talk
from copydesk.errors import TextError
from copydesk.types import Delta, Reply, Usage


class FakeStream:
    def __init__(self, deltas: list[Delta], *, interrupted: bool = False, truncated: bool = False) -> None:
        self._deltas, self._interrupted, self._truncated = deltas, interrupted, truncated
        self.cancelled = False

    def __iter__(self) -> Iterator[Delta]:
        yield from self._deltas
        if self._interrupted:
            raise KeyboardInterrupt

    def cancel(self) -> None:
        self.cancelled = True

    @property
    def reply(self) -> Reply:
        usage = Usage(1, 0, 1)
        return Reply("", None, "stop", None, True, None, None, 1, "m", "e", usage, 1.0, truncated=self._truncated)


class FakeModel:
    def __init__(self, *streams: FakeStream | Exception) -> None:
        self.asked: list[tuple[list[dict[str, str]], dict[str, Any]]] = []
        self._streams = list(streams)

    def chat_stream(self, messages: list[dict[str, str]], **options: Any) -> FakeStream:
        self.asked.append(([dict(message) for message in messages], options))
        stream = self._streams.pop(0)
        if isinstance(stream, Exception):
            raise stream
        return stream


def run(
    monkeypatch: pytest.MonkeyPatch, model: FakeModel, typed: str, *, terminal: bool = False, system: str | None = None
) -> int:
    """The exit code of a conversation."""
    stdin = io.StringIO(typed)
    monkeypatch.setattr(stdin, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdin", stdin)
    return Talk(model, system=system, thinking="auto", options={"preset": "fast"}).run()  # type: ignore[arg-type]


def test_a_conversation_is_kept_and_reset(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    model = FakeModel(*(FakeStream([Delta("rep"), Delta("ly")]) for _ in range(3)))
    assert run(monkeypatch, model, "a\nb\n/thinking off\n/reset\nc\n", system="s") == 0
    assert capsys.readouterr().out == "reply\n" * 3
    system = {"role": "system", "content": "s"}
    first = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "reply"}]
    assert [messages for messages, _ in model.asked] == [
        [system, first[0]],
        [system, *first, {"role": "user", "content": "b"}],
        [system, {"role": "user", "content": "c"}],
    ]
    assert [options["thinking"] for _, options in model.asked] == ["auto", "auto", "off"]
    assert model.asked[0][1] == {"preset": "fast", "thinking": "auto", "truncate": True}


def test_ctrl_c_stops_a_reply_and_keeps_the_conversation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = FakeStream([Delta("half a re")], interrupted=True)
    nothing = FakeStream([Delta(reasoning="hm")], interrupted=True)
    model = FakeModel(stopped, nothing, FakeStream([Delta("whole")]))
    assert run(monkeypatch, model, "a\nb\nc\n", terminal=True) == 0
    assert stopped.cancelled
    assert [message["content"] for message in model.asked[2][0]] == ["a", "half a re", "c"]
    assert capsys.readouterr().out == "half a re\n\nwhole\n"


def test_ctrl_c_ends_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = FakeStream([], interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, FakeModel(stopped), "a\nb\n")
    assert stopped.cancelled


def test_reasoning_is_shown_dimly_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deltas = [Delta(reasoning="hm"), Delta(reasoning="m"), Delta("yes")]
    run(monkeypatch, FakeModel(FakeStream(deltas)), "a\n")
    assert capsys.readouterr() == ("yes\n", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(monkeypatch, FakeModel(FakeStream(deltas)), "a\n")
    out, err = capsys.readouterr()
    assert (out, err) == ("yes\n", "\x1b[2mhmm\x1b[0m\n\n")


def test_what_fails_is_told_and_forgotten(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    error = TextError("too much", code="too_long")
    model = FakeModel(error, FakeStream([Delta("yes")], truncated=True), FakeStream([Delta("yes")], truncated=True))
    assert run(monkeypatch, model, "a\nb\nc\n") == 3
    err = capsys.readouterr().err
    assert err.count("too much") == err.count("oldest turns are left out") == 1
    assert [message["content"] for message in model.asked[1][0]] == ["b"]
