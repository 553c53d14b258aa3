"""That the chaos script sees what is wrong."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from copydesk.engines.protocol import Read, Wanted
from fake_engine import FakeEngine

FOLDER = Path(__file__).parents[2] / "scripts" / "chaos"
NAMES = ("asking", "faults", "floods", "server", "storm")
ANSWER = json.dumps({"value": {"city": "a"}, "verified": True, "draft": "rules"})
DRAFT = json.dumps({"value": {"city": "a"}, "verified": False, "draft": "rules"})
ERROR = json.dumps({"error": {"message": "Busy.", "code": "saturated"}})


@pytest.fixture(scope="module")
def chaos() -> Iterator[dict[str, Any]]:
    """The script's modules, by name, and gone from Python's table afterwards: their names are plain words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield {name: import_module(name) for name in NAMES}
    for name in NAMES:
        del sys.modules[name]


def http(status: int, body: str, *headers: str, length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body) if length is None else length}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http(200, ANSWER), "verified"),
        (http(200, DRAFT, "X-Copydesk-Source: rules"), "rules"),
        (http(200, DRAFT), "lost"),
        (http(503, ERROR, "Retry-After: 2"), "refused"),
        (http(503, ERROR), "lost"),
        (http(400, ERROR), "refused"),
        (http(500, "<h1>Oops</h1>"), "lost"),
        (http(500, '{"error": "oops"}'), "lost"),
        (http(200, ANSWER, length=500), "lost"),
        (b"", "lost"),
        (b"HTTP/1.1 200 OK\r\n", "lost"),
    ],
)
def test_what_came_of_a_request(chaos: dict[str, Any], answer: bytes, kind: str) -> None:
    async def exchange() -> Any:
        async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(respond, "127.0.0.1", 0)
        async with server:
            return await chaos["asking"].ask(server.sockets[0].getsockname(), "sk-x", b"{}")

    outcome = asyncio.run(exchange())
    assert outcome.kind == kind
    assert outcome.wait == (2.0 if b"Retry-After" in answer else 0.0)


def test_a_storm_is_good_only_if_nothing_was_lost_wrong_or_swollen(chaos: dict[str, Any]) -> None:
    storm, outcome = chaos["storm"].Storm, chaos["asking"].Outcome
    fine = [outcome(kind, "x", 1.0, 0.1) for kind in ("verified", "rules", "refused")]
    flat, swollen = [100] * 30, [100] * 20 + [130] * 10
    assert storm(10, fine, rss=flat).good
    assert not storm(10, [*fine, outcome("lost", "timeout", 1.0, 0.1)], rss=flat).good
    assert not storm(10, fine, wrong=[{"text": "a"}], rss=flat).good
    assert not storm(10, fine, rss=swollen).good
    assert "1 lost" in "\n".join(storm(10, [outcome("lost", "timeout", 1.0, 0.1)], rss=flat).lines())


def test_a_flood_is_good_only_if_others_were_answered_and_it_passed(chaos: dict[str, Any]) -> None:
    flood, outcome = chaos["floods"].Flood, chaos["asking"].Outcome
    assert flood("a", others=[outcome("refused", "503", 1.0, 0.1)], recovered=0.1).good
    assert not flood("a", others=[outcome("lost", "reset", 1.0, 0.1)], recovered=0.1).good
    assert not flood("a").good


def test_an_engine_breaks_as_ordered_and_heals(chaos: dict[str, Any]) -> None:
    faults = chaos["faults"].Faults(0)
    wrapped = chaos["faults"].FaultyEngine
    plain = FakeEngine(16, lambda tokens: np.eye(16)[len(tokens) % 16] * 9)
    engine = wrapped(plain, faults)
    sequence = engine.open()

    def argmaxes() -> list[int]:
        engine.cut(sequence, 0)
        wanted = (Wanted(0), Wanted(1, listed=(3,), top=2))
        return [scores.argmax for scores in engine.run([Read(sequence, (1, 2), wanted)])[0]]

    right = argmaxes()
    faults.obey("nan")
    engine.cut(sequence, 0)
    (spoilt,) = engine.run([Read(sequence, (1,), (Wanted(0, listed=(3,)),))])[0]
    assert np.isnan([spoilt.logprob, *spoilt.listed, *engine.row(sequence, 0)]).all()
    faults.obey("noise")
    assert any(argmaxes() != right for _ in range(9))
    faults.obey("heal")
    assert argmaxes() == right
    faults.obey("kill")
    with pytest.raises(RuntimeError, match="killed"):
        argmaxes()
    assert wrapped(plain, faults).run([]) == []
    with pytest.raises(ValueError, match="dance"):
        faults.obey("dance")
