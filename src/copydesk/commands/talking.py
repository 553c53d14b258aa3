"""A conversation on a terminal, or through a pipe: one turn a line, each reply written as it comes.

Replies go to standard output; reasoning is shown on a terminal's standard error only. Knows nothing of models but how
to ask one.
"""

from __future__ import annotations

import sys
from typing import get_args

from copydesk import output
from copydesk.commands.exits import DONE, ROWS_FAILED
from copydesk.errors import AnswerError, LengthError, TextError, UsageError
from copydesk.model import Model
from copydesk.options import ChatOptions
from copydesk.types import Reply, Thinking

_PROMPT = "> "
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_HELP = """\
Write a line to say it; the model's reply follows.
/reset            forget the conversation
/thinking WHEN    reason before answering: auto, on or off
/help             show this
/exit             leave, as Ctrl-D does
Ctrl-C stops a reply; at the prompt it leaves."""


class Talk:
    """One conversation."""

    def __init__(self, model: Model, *, system: str | None, thinking: Thinking, options: ChatOptions) -> None:
        """`system` is what the model is told first; `options` hold for every reply."""
        self._model = model
        self._system = [{"role": "system", "content": system}] if system else []
        self._thinking: Thinking = thinking
        self._options: ChatOptions = {**options, "truncate": True}
        self._turns: list[dict[str, str]] = []
        self._failed = False
        self._told_of_truncation = False
        self._on_terminal = sys.stdin is not None and sys.stdin.isatty()
        self._shows_reasoning = sys.stderr is not None and sys.stderr.isatty()

    def run(self) -> int:
        """Talk until the input ends or the user leaves; returns the exit code."""
        if sys.stdin is None:
            raise UsageError("Standard input is closed; there is nobody to talk to.")
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        if self._on_terminal:
            _edit_lines()
            output.tell("/help lists what can be said beside the conversation.\n")
        while (line := self._line()) is not None:
            said = line.strip()
            if said == "/exit":
                break
            if said and not self._obeys(said):
                self._say(line)
        return ROWS_FAILED if self._failed and not self._on_terminal else DONE

    def _line(self) -> str | None:
        """The next line of input; None at its end."""
        if self._on_terminal and sys.stdout.isatty():
            try:
                return input(_PROMPT)
            except EOFError:
                output.tell("\n")
                return None
        if self._on_terminal:  # `input` would write its prompt among the replies
            output.tell(_PROMPT)
        line = sys.stdin.readline()
        return line.rstrip("\r\n") if line else None

    def _obeys(self, said: str) -> bool:
        """Do what a line asks for, if it is no part of the conversation."""
        command, _, word = said.partition(" ")
        if said == "/help":
            output.tell(f"{_HELP}\n")
        elif said == "/reset":
            self._turns.clear()
        elif command == "/thinking":
            self._think(word.strip())
        else:
            return False
        return True

    def _think(self, word: str) -> None:
        known = {str(one): one for one in get_args(Thinking)}
        if word in known:
            self._thinking = known[word]
        else:
            output.say(f"/thinking is one of {', '.join(known)}; it is {self._thinking} now.")

    def _say(self, line: str) -> None:
        """One turn, and the reply to it. A turn that cannot be answered is forgotten."""
        turn = {"role": "user", "content": line}
        try:
            said = self._reply([*self._system, *self._turns, turn])
        except (TextError, LengthError, AnswerError) as error:
            self._failed = True
            output.say(str(error))
            return
        if said:
            self._turns += [turn, {"role": "assistant", "content": said}]

    def _reply(self, messages: list[dict[str, str]]) -> str:
        """Write the reply as it comes; returns what was said, which is not all where Ctrl-C stopped it."""
        said = ""
        reasoning = False
        options: ChatOptions = {**self._options, "thinking": self._thinking}
        stream = self._model.chat_stream(messages, **options)
        try:
            for delta in stream:
                if delta.reasoning and self._shows_reasoning:
                    output.tell(delta.reasoning if reasoning else _DIM + delta.reasoning)
                    reasoning = True
                if delta.content:
                    if reasoning:
                        output.tell(f"{_PLAIN}\n\n")
                        reasoning = False
                    output.write(delta.content)
                    said += delta.content
            self._remark(stream.reply)
        except KeyboardInterrupt:
            if not self._on_terminal:
                raise
        finally:
            stream.cancel()
            if reasoning:
                output.tell(_PLAIN)
            output.write("\n")
        return said

    def _remark(self, reply: Reply) -> None:
        """What one should know of a reply, where somebody looks on."""
        if self._on_terminal and reply.finish == "length":
            output.tell(f" {_DIM}[{reply.usage.completion_tokens} tokens: --max-tokens]{_PLAIN}")
        if reply.truncated and not self._told_of_truncation:
            self._told_of_truncation = True
            output.say("The conversation does not fit the model's context any more; its oldest turns are left out.")


def _edit_lines() -> None:
    """Let `input` edit lines and recall them, where Python was built with that."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
