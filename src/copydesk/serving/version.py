"""One version of a model: replicas that answer alike. The least loaded is asked, and another when that one fails.

Knows nothing of other versions but their records; what it does with a call is its replicas' business.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar, cast

from copydesk.errors import AnswerError, CopydeskError, EngineError
from copydesk.serving.backend import Backend, Replies
from copydesk.serving.breaker import Breaker, BreakerSettings
from copydesk.serving.life import CALLERS_MISTAKES, DeadlineError
from copydesk.serving.record import JudgingSettings, Outcome, Record, falls_behind
from copydesk.serving.replica import Replica

Result = TypeVar("Result")
_MOST_ASKED = 2
"""Replicas for one call."""
_JUDGED_EVERY = 5
"""Calls."""
_log = logging.getLogger("copydesk.serving")


class Tally(Protocol):
    """Is told how a version's calls go."""

    def attempted(self, outcome: str, seconds: float) -> None:
        """A call is over: `ok`, `failed`, `invalid`, `busy`, `refused` (the caller's mistake) or `cancelled`."""

    def in_service(self, up: bool) -> None:
        """It is let in, or taken out because it falls behind."""


class Version:
    """Belongs to one event loop."""

    def __init__(
        self,
        model: str,
        label: str,
        weight: float,
        replicas: Sequence[Replica],
        tally: Tally,
        judging: JudgingSettings,
        breaker: BreakerSettings,
    ) -> None:
        """`weight` is its share of the calls; with 0 it is asked only when no other can be.

        `model` is the name that it answers for, `label` its own.
        """
        self.name = f"{model}/{label}"
        self.label = label
        self.weight = weight
        self.replicas = replicas
        self.record = Record(judging.window_seconds)
        self.breaker = Breaker(breaker)
        self.others: Sequence[Version] = ()
        """Those that answer for the same name."""
        self._tally = tally
        self._judging = judging
        self._in = True
        self._unjudged = 0

    @property
    def available(self) -> bool:
        """Whether it takes a call now."""
        return self.breaker.admits() and any(replica.available for replica in self.replicas)

    @property
    def fault(self) -> str | None:
        """Why it gets no calls, or only trials; None if it is well."""
        if self.breaker.state != "closed":
            return self.breaker.why
        if any(replica.fault is None for replica in self.replicas):
            return None
        return "; ".join(dict.fromkeys(replica.fault or "" for replica in self.replicas))

    async def call(self, work: Callable[[Backend], Awaitable[Result]], deadline: float | None) -> Result:
        """An answer of one of the replicas; `deadline` is in the loop's time.

        Errors: the model's own; `EngineError` if none can be had, `DeadlineError` if none came in time.
        """
        account = _Account(self)
        try:
            result = await self._on_replicas(lambda replica: replica.call(work, deadline))
        except BaseException as error:
            account.over(_outcome(error))
            raise
        account.over("ok")
        return result

    async def stream(self, work: Callable[[Backend], Awaitable[Replies]], deadline: float | None) -> Replies:
        """A reply of one of the replicas, whose first part is there. Errors as `call`."""
        account = _Account(self)
        try:
            replies = await self._on_replicas(lambda replica: replica.stream(work, deadline, account.ended))
        except BaseException as error:
            account.over(_outcome(error))
            raise
        account.answered()
        return replies

    async def _on_replicas(self, ask: Callable[[Replica], Awaitable[Result]]) -> Result:
        tried: list[Replica] = []
        last: CopydeskError = EngineError("No replica of the model can be asked.", code="engine_unavailable")
        for _ in range(_MOST_ASKED):
            able = [replica for replica in self.replicas if replica.available and replica not in tried]
            if not able:
                break
            # Of several with equally many, any: the first would get all calls while there are few.
            tried.append(min(able, key=lambda replica: (replica.running, random.random())))
            try:
                return await ask(tried[-1])
            except DeadlineError:
                raise
            except (EngineError, AnswerError) as error:
                last = error
        raise last

    def over(self, outcome: str, seconds: float, *, trial: bool) -> None:
        """A call is over."""
        self._tally.attempted(outcome, seconds)
        counted = outcome in ("ok", "failed", "invalid")
        if trial:
            self.breaker.ended(self._acceptable(outcome, seconds) if counted else None, trial=True)
            if self.breaker.state == "closed":
                self._put_in()
            return
        if not counted:
            return
        self.record.add(cast(Outcome, outcome), seconds)
        self._unjudged += 1
        if self._unjudged >= _JUDGED_EVERY and self.breaker.state == "closed":
            self._unjudged = 0
            others = [other.record for other in self.others if other.available]
            if why := falls_behind(self.record, others, self._judging):
                self._take_out(why)

    def _acceptable(self, outcome: str, seconds: float) -> bool:
        """Whether a trial went well: in about the others' time, too."""
        medians = [other.record.median_seconds() for other in self.others if other.available]
        usual = min((median for median in medians if median is not None), default=None)
        return outcome == "ok" and (
            usual is None or seconds <= max(self._judging.slow_factor * usual, usual + self._judging.slow_seconds)
        )

    def _take_out(self, why: str) -> None:
        pause = self.breaker.open(why)
        self.record.clear()
        self._in = False
        _log.warning("%s is taken out for %.0f s: %s.", self.name, pause, why)
        self._tally.in_service(False)

    def _put_in(self) -> None:
        if not self._in:
            self._in = True
            _log.warning("%s is let back in.", self.name)
            self._tally.in_service(True)


class _Account:
    """One call of a version, from its beginning to its end."""

    def __init__(self, version: Version) -> None:
        self._version = version
        self._started = time.monotonic()
        self._trial = version.breaker.began()
        self._seconds: float | None = None
        self._over = False

    def answered(self) -> None:
        """The first part is there: what comes after depends on how much is asked for."""
        self._seconds = time.monotonic() - self._started

    def ended(self, ok: bool | None) -> None:
        """A stream is over: well, badly, or given up."""
        self.over({True: "ok", False: "failed", None: "cancelled"}[ok])

    def over(self, outcome: str) -> None:
        """It is over; only the first time counts."""
        if not self._over:
            self._over = True
            self._version.over(outcome, self._seconds or time.monotonic() - self._started, trial=self._trial)


def _outcome(error: BaseException) -> str:
    if isinstance(error, AnswerError):
        return "invalid"
    if isinstance(error, CALLERS_MISTAKES):
        return "refused"
    if not isinstance(error, Exception):
        return "cancelled"
    return "busy" if isinstance(error, EngineError) and error.code == "busy" else "failed"
