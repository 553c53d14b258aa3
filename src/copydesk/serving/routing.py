"""Which version answers a call: by weight or by caller; another when that one fails; the rules when none can.

Satisfies `Router`; what it hands out satisfies `Backend`. Knows nothing of how versions are kept well.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from copydesk.errors import AnswerError, CopydeskError, EngineError
from copydesk.serving.backend import Backend, ChatCall, CompletionCall, Replies
from copydesk.serving.errors import ApiError
from copydesk.serving.life import DeadlineError
from copydesk.serving.naming import unknown_model
from copydesk.serving.version import Version
from copydesk.tasks.rules import rules_answer
from copydesk.types import Answer, Task

Result = TypeVar("Result")
_MOST_ASKED = 2
"""Versions for one call."""
_LONG = 5000
"""Characters of a text from which on the rules read it on another thread."""
_RETRY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class RouteSettings:
    """How the versions of a name share its calls."""

    sticky: bool = False
    """Whether a caller always gets the same version, as long as that is well."""
    fallback: bool = True
    """Whether the rules answer where they can and no version does."""
    answer_seconds: float | None = 30.0
    """For an extraction or classification, and for a reply's first part; None leaves it to the request's own limit."""


class Route:
    """One name and its versions."""

    def __init__(
        self, name: str, versions: Sequence[Version], settings: RouteSettings, seed: int | None = None
    ) -> None:
        """`seed` is of the choice by weight."""
        self.name = name
        self.versions = versions
        self.settings = settings
        self._random = random.Random(seed)
        for version in versions:
            version.others = [other for other in versions if other is not version]

    def order(self, caller: str) -> list[Version]:
        """The versions that take a call now, in the order in which to ask them."""
        return sorted(
            (version for version in self.versions if version.available),
            key=lambda version: self._key(version, caller),
            reverse=True,
        )

    def _key(self, version: Version, caller: str) -> float:
        """The version with the highest is asked first: each is first for its share of all chances, or callers.

        Weighted rendezvous hashing: when one is taken out, only its own callers move.
        """
        if version.weight <= 0:
            return 0.0
        chance = _chance(version.name, caller) if self.settings.sticky else self._random.random()
        return -version.weight / math.log(max(chance, 1e-300))


class ModelRouter:
    """All names."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """The first route answers requests that name no model."""
        self.routes = {route.name: route for route in routes}

    @property
    def names(self) -> Sequence[str]:
        """The names that callers may give, the one for requests without a name first."""
        return tuple(self.routes)

    def choose(self, model: str | None, caller: str) -> Routed:
        """The back end for a name and a caller. Errors: `ApiError` 404 (`model_not_found`)."""
        route = self.routes.get(self.names[0] if model is None else model)
        if route is None:
            raise unknown_model(str(model))
        return Routed(route, caller)


class Routed:
    """Satisfies `Backend` for one caller.

    Errors: the model's own; `ApiError` 503 when no version can be asked, or none answered in time; 502 for an answer
    that does not satisfy its schema.
    """

    def __init__(self, route: Route, caller: str) -> None:
        self._route = route
        self._caller = caller

    @property
    def name(self) -> str:
        """The name that callers give."""
        return self._route.name

    async def extract(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[Any]:
        """See `Backend`; the rules' answer where no version answers and the task has rules."""

        async def asked(backend: Backend) -> Answer[Any]:
            return _sane(await backend.extract(text, task, options))

        try:
            return await self._on_versions(lambda version, deadline: version.call(asked, deadline))
        except ApiError:
            if not self._route.settings.fallback:
                raise
            answer = await _by_rules(text, task)
            if answer is None:
                raise
            return answer

    async def classify(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[str]:
        """See `Backend`."""

        async def asked(backend: Backend) -> Answer[str]:
            return _sane(await backend.classify(text, task, options))

        return await self._on_versions(lambda version, deadline: version.call(asked, deadline))

    async def chat(self, call: ChatCall) -> Replies:
        """See `Backend`; the first part of the reply is there."""
        return await self._on_versions(
            lambda version, deadline: version.stream(lambda backend: backend.chat(call), deadline)
        )

    async def complete(self, call: CompletionCall) -> Replies:
        """See `Backend`; the first part of the reply is there."""
        return await self._on_versions(
            lambda version, deadline: version.stream(lambda backend: backend.complete(call), deadline)
        )

    async def _on_versions(self, ask: Callable[[Version, float | None], Awaitable[Result]]) -> Result:
        seconds = self._route.settings.answer_seconds
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        last: CopydeskError = EngineError("No version can be asked.")
        tried: list[Version] = []
        for _ in range(_MOST_ASKED):
            version = next((one for one in self._route.order(self._caller) if one not in tried), None)
            if version is None:
                break
            tried.append(version)
            try:
                return await ask(version, deadline)
            except DeadlineError as error:
                last = error
                break
            except (EngineError, AnswerError) as error:
                last = error
        # In words of our own: the error's may name machines that callers have no business with.
        if isinstance(last, AnswerError):
            raise ApiError(502, f"{self.name} gave no answer that satisfies the schema.", code=last.code) from last
        late = isinstance(last, DeadlineError)
        raise ApiError(
            503,
            f"{self.name} gave no answer within {seconds:g} s." if late else f"{self.name} cannot answer just now.",
            code=last.code,
            retry_after=_RETRY_SECONDS,
        ) from last


def _sane(answer: Answer[Result]) -> Answer[Result]:
    """Errors: `EngineError` for an answer of a model that computes nonsense."""
    if answer.confidence is not None and not 0.0 <= answer.confidence <= 1.0:
        raise EngineError("The model computes no probabilities any more.", code="engine_failed")
    return answer


async def _by_rules(text: str, task: Task) -> Answer[Any] | None:
    return await asyncio.to_thread(rules_answer, text, task) if len(text) > _LONG else rules_answer(text, task)


def _chance(version: str, caller: str) -> float:
    """A number from 0 to 1 that is always the same for the two."""
    digest = hashlib.blake2b(f"{version}\0{caller}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
