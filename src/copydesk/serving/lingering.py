"""A transport that is closed in the middle of what a client sends without the client losing the answer.

A socket that is closed with unread data is reset, and the client may never see what was written before. So the way out
is closed first, and what still comes in is thrown away for a moment. And what begins an answer goes out with what
follows it at once, for each piece costs a system call and wakes the client. Knows no HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

_SECONDS = 1.0


class LingeringTransport(asyncio.Transport):
    """Stands before the real transport; all but closing and beginnings is passed on."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        unread: Callable[[], bool],
        begins: Callable[[], bool],
    ) -> None:
        """`unread` tells whether the client is in the middle of something, so that closing has to linger; `begins`, of
        what is written now, whether more of it follows at once.
        """
        super().__init__()
        self.lingers = False
        """Whether it was closed and still reads; its protocol should ignore what comes."""
        self._transport = transport
        self._loop = loop
        self._unread = unread
        self._begins = begins
        self._held = b""

    def linger(self) -> None:
        """Close for writing now, for reading soon, or as soon as the client closes."""
        if self.is_closing():
            return
        self._flush()
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        self.lingers = True
        self._transport.write_eof()
        self._transport.resume_reading()
        self._loop.call_later(_SECONDS, self._transport.abort)

    def close(self) -> None:
        """Close, lingering if need be."""
        if self._unread():
            self.linger()
        elif not self.lingers:
            self._flush()
            self._transport.close()

    def is_closing(self) -> bool:
        """Whether it is of no use any more."""
        return self.lingers or self._transport.is_closing()

    def abort(self) -> None:
        self._transport.abort()

    def write(self, data: Any) -> None:
        if self._held:
            data, self._held = self._held + data, b""
        elif self._begins():
            self._held = data
            return
        self._transport.write(data)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._transport.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._transport.get_protocol()

    def _flush(self) -> None:
        if self._held:
            self.write(b"")
