"""Clients that ask without pause while the engine breaks at random, and what came of all they asked."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from asking import Outcome, ask
from faults import KINDS
from server import Server

_HEALTHY = (2.0, 6.0)
"""Seconds between faults, at least and at most."""
_BROKEN = (1.0, 12.0)
_FROZEN = (3.0, 45.0)
"""Seconds that a fault lasts; a freeze may last until the server gives the model up. A kill takes no time."""
_LONGEST_WAIT = 1.0
"""Seconds that a refused client waits at most, whatever it is told: this is a storm."""
_PAUSE = 0.05
"""Seconds after an answer of the rules, which take next to no time: clients that never pause would ask nothing else."""
_GROWTH = 0.25
"""How much higher memory may reach in the last third of a storm than in the second, as a share. While a model is loaded
again there are two for a moment, so it goes up and down; what stays behind of every one would soon be much more."""


@dataclass(slots=True)
class Storm:
    """What came of one."""

    clients: int
    outcomes: list[Outcome] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    """Verified answers that differ from the undisturbed ones."""
    recoveries: dict[str, list[float]] = field(default_factory=dict)
    """By fault: seconds from its end to the first verified answer asked for after it; a kill ends at once."""
    rss: list[int] = field(default_factory=list)
    """Bytes once a second."""

    @property
    def grown(self) -> float:
        """How much higher memory reached in the last third than in the second, as a share."""
        third = len(self.rss) // 3
        if not third:
            return 0.0
        return max(self.rss[2 * third :]) / max(self.rss[third : 2 * third]) - 1

    @property
    def good(self) -> bool:
        """Whether nothing was lost, nothing verified was wrong, and memory stayed flat."""
        return not (self.wrong or self.grown > _GROWTH or any(each.kind == "lost" for each in self.outcomes))

    def lines(self) -> list[str]:
        """For people."""
        kinds = Counter(each.kind for each in self.outcomes)
        reasons = Counter(f"{each.kind}: {each.value}" for each in self.outcomes if each.kind in ("refused", "lost"))
        seconds = sorted(each.seconds for each in self.outcomes if each.kind == "verified") or [0.0]
        return [
            f"{self.clients} clients: {len(self.outcomes)} requests: "
            + ", ".join(f"{kinds[kind]} {kind}" for kind in ("verified", "rules", "refused", "lost"))
            + f"; wrong although verified: {len(self.wrong)}",
            *(f"  {count} {reason}" for reason, count in reasons.most_common(8)),
            f"  verified answers: p50 {1000 * statistics.median(seconds):.0f} ms, "
            f"p99 {1000 * seconds[int(0.99 * (len(seconds) - 1))]:.0f} ms",
            *(
                f"  {fault}: {len(times)} times, recovered in {statistics.median(times):.1f} s (median), "
                f"{max(times):.1f} s (longest)"
                for fault, times in self.recoveries.items()
            ),
            f"  memory: {', '.join(f'{size / 2**20:.0f}' for size in self.rss[:: max(1, len(self.rss) // 10)])} MiB, "
            f"its highest {self.grown:+.1%} from the second third to the last",
            *(f"  WRONG: {json.dumps(each, ensure_ascii=False)}" for each in self.wrong[:5]),
        ]


async def undisturbed(server: Server, texts: Sequence[str]) -> dict[str, Any]:
    """The values of the texts that are answered with no fault in force; those refused are left out."""
    found = {}
    for text in texts:
        outcome = await ask((server.host, server.port), server.key, _body(text))
        if outcome.kind == "verified":
            found[text] = outcome.value
        elif outcome.kind != "refused":
            raise RuntimeError(f"without any fault a text came back {outcome.kind}: {outcome.value}")
    return found


async def storm(
    server: Server, known: dict[str, Any], clients: int, seconds: float, seed: int, faults: Sequence[str] = KINDS
) -> Storm:
    """Let it rage."""
    result = Storm(clients)
    until = time.monotonic() + seconds
    first = len(server.rss)
    breaking = asyncio.create_task(_break(server, result, until, random.Random(seed), faults))
    await asyncio.gather(*(_client(server, known, result, until, random.Random(f"{seed}.{n}")) for n in range(clients)))
    await breaking
    result.rss = [size for _, size in server.rss[first:]]
    return result


async def _client(server: Server, known: dict[str, Any], result: Storm, until: float, chance: random.Random) -> None:
    texts = list(known)
    while time.monotonic() < until:
        text = chance.choice(texts)
        outcome = await ask((server.host, server.port), server.key, _body(text))
        result.outcomes.append(outcome)
        if outcome.kind == "verified" and outcome.value != known[text]:
            result.wrong.append(
                {"text": text, "said": outcome.value, "confidence": outcome.confidence, "undisturbed": known[text]}
            )
        if outcome.kind in ("refused", "lost"):
            await asyncio.sleep(min(outcome.wait or 0.1, _LONGEST_WAIT))
        elif outcome.kind == "rules":
            await asyncio.sleep(_PAUSE)


async def _break(server: Server, result: Storm, until: float, chance: random.Random, faults: Sequence[str]) -> None:
    """One fault after the other, each kind as often as the others."""
    coming: list[str] = []
    while True:
        await asyncio.sleep(chance.uniform(*_HEALTHY))
        if time.monotonic() >= until:
            return
        if not coming:
            coming = list(faults)
            chance.shuffle(coming)
        fault = coming.pop()
        server.order(fault)
        if fault != "kill":
            await asyncio.sleep(chance.uniform(*(_FROZEN if fault == "freeze" else _BROKEN)))
            server.order("heal")
        recovered = await _recovered(result, time.monotonic(), until)
        if recovered is not None:
            result.recoveries.setdefault(fault, []).append(recovered)


async def _recovered(result: Storm, since: float, until: float) -> float | None:
    """Seconds until an answer is verified that was asked for after `since`; None if the storm ends before."""
    seen = len(result.outcomes)
    while time.monotonic() < until + 60:
        for outcome in result.outcomes[seen:]:
            if outcome.kind == "verified" and outcome.at - outcome.seconds >= since:
                return outcome.at - since
        seen = len(result.outcomes)
        if time.monotonic() >= until:
            return None
        await asyncio.sleep(0.02)
    return None


def _body(text: str) -> bytes:
    return json.dumps({"text": text, "details": True}).encode()
