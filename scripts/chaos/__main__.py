"""Chaos, bounded and on this machine only: a real server whose engine is killed, frozen, slowed and fed garbage.

    python scripts/chaos --data DIR [--seconds 300] [--clients 10 64] [--seed 0]
                         [--only storm|floods|disk] [--faults kill,freeze,slow,noise,nan]

It starts `copydesk serve` with the built-in model in a process whose engines break on order, at random, and checks: no
request without an answer or a proper error; no verified answer that differs from the undisturbed one; recovery by
itself; memory flat. Then slow clients, ten thousand half-open connections, bodies of a megabyte, and a log on a full
disk. Prints what it saw; exit code 1 if anything was not as it should be. Times and counts are bounded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from asking import ask
from faults import KINDS, serve
from floods import Flood, flooded, half_open, large_bodies, slow_clients
from server import Server
from storm import Storm, storm, undisturbed

from copydesk.bench.address_lines import many

_TEXTS = 60
_PARTS = ("storm", "floods", "disk")
_MOST_SECONDS = 900


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--serve"]:  # this script's own server process
        return serve(arguments[2:], int(arguments[1]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds address/")
    parser.add_argument("--seconds", type=float, default=300.0, help="of each storm")
    parser.add_argument("--clients", type=int, nargs="+", default=[10, 64])
    parser.add_argument("--connections", type=int, default=10_000, help="half-open ones")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=_PARTS)
    parser.add_argument("--faults", default=",".join(KINDS), help="of these, separated by commas")
    options = parser.parse_args(arguments)
    if not 0 < options.seconds <= _MOST_SECONDS:
        parser.error(f"--seconds is at most {_MOST_SECONDS}")
    print(f"seed {options.seed}", flush=True)
    good = asyncio.run(_chaos(options))
    print("all as it should be" if good else "NOT as it should be")
    return 0 if good else 1


async def _chaos(options: argparse.Namespace) -> bool:
    parts = [options.only] if options.only else _PARTS
    seen: list[Storm | Flood] = []
    if "storm" in parts or "floods" in parts:
        with Server(["--port", "0"], seed=options.seed) as server:
            known = await undisturbed(server, many(options.data, _TEXTS, options.seed))
            print(f"{len(known)} texts answered without any fault", flush=True)
            for clients in options.clients if "storm" in parts else ():
                raged = await storm(server, known, clients, options.seconds, options.seed, options.faults.split(","))
                seen.append(_shown(raged))
            for name, flood in _floods(server, options.connections) if "floods" in parts else ():
                seen.append(_shown(await flooded(server, next(iter(known)), name, flood)))
    if "disk" in parts:
        seen.append(_shown(await _full_disk(options.seed)))
    return all(each.good for each in seen)


def _floods(server: Server, connections: int) -> Iterator[tuple[str, Callable[[Flood], Awaitable[None]]]]:
    yield "50 slow clients", slow_clients(server, 50, 45)
    yield f"{connections:,} half-open connections", half_open(server, connections, 20)
    yield "bodies of a megabyte, 8 of each", large_bodies(server, 8)


async def _full_disk(seed: int) -> Flood:
    """A server whose log goes to a disk without any room left."""
    with Server(["--port", "0"], seed=seed, log="/dev/full") as server:

        async def flood(result: Flood) -> None:
            body = json.dumps({"text": "长沙市岳麓区桃花岭路189号 江雨桐"}).encode()
            for number in range(50):
                right = number % 5 > 0  # a wrong key is logged, too
                outcome = await ask((server.host, server.port), server.key if right else "sk-wrong", body)
                result.seen[outcome.kind if outcome.kind == "verified" else f"{outcome.kind} {outcome.value}"] += 1
                if outcome.kind == "lost":
                    result.others.append(outcome)

        return await flooded(server, "长沙市", "50 requests while the log's disk is full", flood)


def _shown(seen: Storm | Flood) -> Storm | Flood:
    print("\n".join([*seen.lines(), ""]), flush=True)
    return seen


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
