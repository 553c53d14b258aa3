"""A loaded model under watch: canaries prove that it answers; one that is frozen, dead or wrong is loaded again.

Calls in progress are let go the moment it is known that no good answer will come of them. Knows nothing of other
replicas, nor of what callers get instead.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

from copydesk.errors import EngineError
from copydesk.serving.backend import Backend, Replies
from copydesk.serving.breaker import Breaker, BreakerSettings
from copydesk.serving.canary import Proof, ask, differs
from copydesk.serving.doubt import doubtful
from copydesk.serving.life import CALLERS_MISTAKES, Ended, Life, Loaded, in_thread

Result = TypeVar("Result")
_BETWEEN_CANARIES = 0.2
"""Seconds at least, however many calls fail."""
_LONGEST_PAUSE = 60.0
_PATIENCE = 100
"""A canary may take so many times as long as the fastest: it may have to wait while one pass reads a long prompt."""
_FIRST_WAIT = 5.0
_log = logging.getLogger("copydesk.serving")


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """When a model counts as well. Times in seconds."""

    every_seconds: float = 5.0
    """Between canaries."""
    cache_seconds: float = 3.0
    """How long a canary's answer is proof for `/health/ready`."""
    deadline_seconds: float = 10.0
    """For a canary's answer; for slow models a hundred times the fastest. Other answers that come meanwhile are as
    good: busy is not frozen."""
    frozen_seconds: float = 20.0
    """What a model that missed a canary's deadline gets to recover in before it is loaded again."""
    load_seconds: float = 900.0
    """For loading, with the first canary."""
    strikes: int = 3
    """Canaries that fail in a row before the model is loaded again."""
    failures: int = 5
    """Calls that fail in a row before callers are kept away for a while."""
    reload_seconds: float = 1.0
    """Pause before a failed load is tried again; it doubles up to a minute."""
    most_stuck: int = 2
    """Frozen models that may be left behind in memory; beyond that only a new process helps."""


class Notices(Protocol):
    """Is told what becomes of a replica."""

    def available(self, up: bool) -> None:
        """It answers from now on, or no longer."""

    def loaded(self) -> None:
        """It was loaded, for the first time or again."""


class Replica:
    """Belongs to one event loop. `start` it, and `close` it in the end."""

    def __init__(
        self,
        name: str,
        load: Callable[[], Loaded],
        notices: Notices,
        health: HealthSettings,
        breaker: BreakerSettings,
    ) -> None:
        """`load` runs on a thread of its own; `name` stands in the log."""
        self.name = name
        self.running = 0
        """Calls in progress."""
        self.fault: str | None = "is being loaded"
        """Why it gets no calls; None while all is well."""
        self.breaker = Breaker(breaker)
        self.stuck = 0
        """Models that it let go and that still take up memory."""
        self._load = load
        self._notices = notices
        self._health = health
        self._life: Life | None = None
        self._failed = 0
        self._told = ""
        self._wake = asyncio.Event()
        self._checked = asyncio.Event()
        self._tried = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    @property
    def available(self) -> bool:
        """Whether it takes a call now."""
        return self.fault is None and self.breaker.admits()

    @property
    def hopeless(self) -> bool:
        """Whether only a new process helps."""
        return self.stuck > self._health.most_stuck

    @property
    def proof(self) -> Proof | None:
        """The last answer to a canary of the model that is loaded."""
        return self._life.proof if self._life else None

    async def start(self, *, must: bool) -> None:
        """Load the model and watch it from then on.

        Errors: what keeps it from being loaded, if it `must` be. Otherwise that is tried again and again, and waited
        for only a moment.
        """
        if must:
            self._begin(await self._born())
        self._watching = asyncio.create_task(self._watch())
        if not must:
            with suppress(TimeoutError):
                async with asyncio.timeout(_FIRST_WAIT):
                    await self._tried.wait()

    async def close(self) -> None:
        """Let the model go; calls in progress fail."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait((self._watching,))
        if self._life is not None:
            self.fault = "is closed"
            await asyncio.wait((self._let_go(self._life),), timeout=self._health.deadline_seconds)

    async def call(self, work: Callable[[Backend], Awaitable[Result]], deadline: float | None) -> Result:
        """An answer; `deadline` is in the loop's time.

        Errors: the model's own; `EngineError` if none will come, `DeadlineError` if none came in time.
        """
        life = self._living()
        trial = self._began()
        ok: bool | None = None
        try:
            result = await life.guarded(work(life.backend), deadline)
            if doubtful(result):
                await life.guarded(life.doubt.dispelled(), deadline)
            ok = True
            return result
        except Exception as error:
            own = life.own(error)
            ok = _blame(own)
            raise own from None
        finally:
            self._ended(ok, trial)

    async def stream(
        self, work: Callable[[Backend], Awaitable[Replies]], deadline: float | None, ended: Ended = lambda _: None
    ) -> Replies:
        """A reply whose first part is there; `ended` is told how it ends. Errors as `call`, and while it is read."""
        life = self._living()
        trial = self._began()

        def over(ok: bool | None) -> None:
            self._ended(ok, trial)
            ended(ok)

        try:
            return await life.stream(work(life.backend), deadline, over)
        except Exception as error:
            own = life.own(error)
            self._ended(_blame(own), trial)
            raise own from None
        except BaseException:
            self._ended(None, trial)
            raise

    async def prove(self) -> str | None:
        """Why it is not well, after a canary unless the last one is recent; None if it is."""
        life = self._life
        if life is None or self.fault is not None:
            return self.fault
        if time.monotonic() - life.proof.at > self._health.cache_seconds:
            self._wake.set()
            try:
                async with asyncio.timeout(self._patience(life) + 1):
                    await self._checked.wait()
            except TimeoutError:
                return self.fault or "was asked no canary"
        return self.fault

    def _living(self) -> Life:
        if self._life is None or self.fault is not None:
            raise EngineError(f"The model {self.fault}.", code="engine_unavailable")
        return self._life

    def _began(self) -> bool:
        self.running += 1
        return self.breaker.began()

    def _ended(self, ok: bool | None, trial: bool) -> None:
        self.running -= 1
        self.breaker.ended(ok, trial=trial)
        if ok is None:
            return
        self._failed = 0 if ok else self._failed + 1
        if ok:
            return
        self._wake.set()
        if self._failed >= self._health.failures and self.breaker.state == "closed":
            why = f"{self._failed} calls in a row failed"
            _log.warning("%s: %s; it gets none for %.0f s.", self.name, why, self.breaker.open(why))

    async def _watch(self) -> None:
        pause = self._health.reload_seconds
        while True:
            try:
                if self._life is not None:
                    await self._until_lost(self._life)
                while self.hopeless:
                    await asyncio.sleep(self._health.every_seconds)
                self._begin(await self._born())
                self._tried.set()
                pause = self._health.reload_seconds
            except Exception as error:
                self._say_unwell("cannot be loaded", error)
                self._tried.set()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def _born(self) -> Life:
        """A model loaded and asked for the first time. Errors: whatever keeps it from answering."""
        async with asyncio.timeout(self._health.load_seconds):
            loaded = await in_thread(self._load, late=lambda loaded: loaded.close())
            try:
                return Life(loaded, await ask(loaded.backend))
            except BaseException:
                self._discard(loaded.close)
                raise

    def _begin(self, life: Life) -> None:
        self._life = life
        self._failed = 0
        self.breaker.try_now()
        self._notices.loaded()
        self._say_well()

    async def _until_lost(self, life: Life) -> None:
        """Ask canaries until the model is beyond help, and let it go."""
        strikes = 0
        while True:
            await asyncio.sleep(_BETWEEN_CANARIES)
            if not strikes:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._health.every_seconds):
                        await self._wake.wait()
            self._wake.clear()
            try:
                frozen = await self._check(life)
            except Exception as error:
                frozen = False
                self._say_unwell("failed a canary", error)
            strikes = strikes + 1 if self.fault else 0
            self._tell_checked()
            if frozen or strikes >= self._health.strikes:
                break
        closing = self._let_go(life)
        if not frozen:
            await asyncio.wait((closing,), timeout=self._health.frozen_seconds)

    async def _check(self, life: Life) -> bool:
        """Ask a canary and say how well the model is; returns whether it is frozen for good. Errors: the canary's."""
        patience, progress = self._patience(life), life.progress
        asking = asyncio.ensure_future(ask(life.backend))
        try:
            await asyncio.wait((asking,), timeout=patience)
            if not asking.done():
                if life.progress != progress:
                    return False
                self._say_unwell(f"gave no answer to a canary in {patience:.3g} s")
                self._tell_checked()
                life.interrupt(f"The model {self.fault}.")
                await asyncio.wait((asking,), timeout=self._health.frozen_seconds)
                if not asking.done():
                    return True
            proof = asking.result()
        finally:
            asking.cancel()
        if differs(proof, life.first):
            self._say_unwell("answers a canary otherwise than at first")
            life.interrupt(f"The model {self.fault}.")
        else:
            life.proof = proof
            life.fastest = min(life.fastest, proof.seconds)
            self._say_well()
        return False

    def _patience(self, life: Life) -> float:
        """Seconds that a canary may take."""
        return max(self._health.deadline_seconds, _PATIENCE * life.fastest)

    def _let_go(self, life: Life) -> asyncio.Future[None]:
        self._life = None
        life.over = True
        life.interrupt(f"The model {self.fault}.")
        return self._discard(life.close)

    def _discard(self, close: Callable[[], None]) -> asyncio.Future[None]:
        self.stuck += 1
        closing = in_thread(close)
        closing.add_done_callback(lambda _: self._unstick())
        if self.hopeless:
            _log.critical("%s: %d frozen models are left in memory: restart the process.", self.name, self.stuck)
        return closing

    def _unstick(self) -> None:
        self.stuck -= 1

    def _tell_checked(self) -> None:
        self._checked.set()
        self._checked.clear()

    def _say_well(self) -> None:
        if self.fault is not None:
            _log.info("%s answers.", self.name)
            self.fault, self._told = None, ""
            self._notices.available(True)

    def _say_unwell(self, why: str, error: Exception | None = None) -> None:
        """`error` says more to the log alone: it may name machines that callers have no business with."""
        told = f"{why}: {str(error) or type(error).__name__}" if error is not None else why
        if told != self._told:
            self._told = told
            _log.warning("%s %s; it gets no calls.", self.name, told)
        if self.fault != why:
            self.fault = why
            self._notices.available(False)


def _blame(error: Exception) -> bool | None:
    """False if the model is to blame; None for a caller's mistake, and for a server that is busy."""
    busy = isinstance(error, EngineError) and error.code == "busy"
    return None if busy or isinstance(error, CALLERS_MISTAKES) else False
