"""`copydesk chat` as a shell sees it: through a pipe, and on a terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from copydesk import cli


def talk(tiny_model: Path, lines: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A conversation through a pipe, with the small model."""
    command = [sys.executable, "-m", "copydesk", "chat", "--model", str(tiny_model), "--max-tokens", "8", *options]
    return subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60)


def test_each_line_of_a_pipe_is_a_turn(tiny_model: Path) -> None:
    done = talk(tiny_model, "one\n\ntwo\n")
    assert (done.returncode, done.stderr) == (0, "")
    again = talk(tiny_model, "one\n/reset\none\n/exit\nnever read\n")
    first, second = again.stdout[: len(again.stdout) // 2], again.stdout[len(again.stdout) // 2 :]
    assert first == second
    assert done.stdout.startswith(first)
    assert done.stdout != first


def test_options_reach_the_model(tiny_model: Path) -> None:
    plain, told = talk(tiny_model, "one\n"), talk(tiny_model, "one\n", "--system", "天津市")
    assert plain.stdout != told.stdout
    sampled = [talk(tiny_model, "one\n", "--preset", "balanced", "--seed", seed).stdout for seed in "112"]
    assert sampled[0] == sampled[1] != sampled[2]
    assert talk(tiny_model, "one\n", "--no-draft").stdout == plain.stdout


def test_a_turn_that_cannot_be_answered_is_told_and_left_out(tiny_model: Path) -> None:
    done = talk(tiny_model, "\0\none\n")
    assert done.returncode == 3
    assert "NUL" in done.stderr
    assert done.stdout == talk(tiny_model, "one\n").stdout.join(["\n", ""])


def test_thinking_is_auto_on_or_off(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = talk(tiny_model, "/thinking on\n/thinking maybe\n/help\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert "it is on now" in done.stderr
    assert "/reset" in done.stderr
    assert cli.main(["chat", "--thinking", "maybe"]) == 2
    assert cli.main(["chat", "--seed", str(2**64)]) == 2
    capsys.readouterr()


class Terminal:
    """A conversation on a terminal."""

    def __init__(self, tiny_model: Path) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.execv(
                sys.executable,
                [sys.executable, "-m", "copydesk", "chat", "--model", str(tiny_model), "--max-tokens", "3"],
            )
        self.shown = ""

    def wait_for(self, words: str, times: int = 1) -> None:
        end = time.monotonic() + 60
        while self.shown.count(words) < times:
            assert time.monotonic() < end, self.shown
            if select.select([self._terminal], [], [], 1.0)[0]:
                self.shown += os.read(self._terminal, 4096).decode(errors="replace")

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def exit_code(self) -> int:
        try:
            while os.read(self._terminal, 4096):
                pass
        except OSError:  # it is gone
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_on_a_terminal_there_is_a_prompt_and_ctrl_d_leaves(tiny_model: Path) -> None:
    terminal = Terminal(tiny_model)
    terminal.wait_for("> ")
    terminal.type("hello\n")
    terminal.wait_for("--max-tokens")
    terminal.wait_for("> ", 2)
    terminal.type("\x04")
    assert terminal.exit_code() == 0


def test_ctrl_c_at_the_prompt_leaves_with_130(tiny_model: Path) -> None:
    terminal = Terminal(tiny_model)
    terminal.wait_for("> ")
    time.sleep(0.2)  # the prompt is there a moment before somebody waits at it
    os.kill(terminal.pid, signal.SIGINT)
    assert terminal.exit_code() == 130
