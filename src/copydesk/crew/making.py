"""How many workers there are, and on which engines: that of this process, and more in processes of their own.

Knows no engine by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from copydesk.crew.crew import Crew
from copydesk.crew.setup import Setup
from copydesk.engines.cores import available_processors
from copydesk.engines.protocol import Engine
from copydesk.engines.sharing.hosts import ProcessHost, ThreadHost
from copydesk.errors import EngineError, UsageError

_MOST = 256


def usual_workers() -> int:
    """As many as there are processors beside that of the engine's own process; none where that is hardly any."""
    workers = available_processors() - 1
    return workers if workers > 1 else 0


def number_of(workers: int | None, engine: Engine) -> int:
    """How many there are if `workers` are asked for: where it is left open, only the GPU waits for a single process.

    Errors: `UsageError` for what is no number of workers.
    """
    if workers is None:
        return usual_workers() if engine.name == "cuda" else 0
    if type(workers) is not int or not 0 <= workers <= _MOST:
        raise UsageError(f"workers is a whole number from 0 to {_MOST} or None, not {workers!r}.")
    return workers


def make_crew(engine: Engine, setup: Setup, workers: int, *, further: Sequence[Callable[[], Engine]] = ()) -> Crew:
    """So many workers, at least one an engine, divided evenly among `engine` and those that `further` load.

    `engine` is one that takes turns (`Turns`); each of `further` is called in a process of its own, so it must be
    importable by its name, or a `partial` of such. It returns when they are loaded. The crew ends those processes;
    `engine` stays the caller's to close, after the crew.
    Errors: `EngineError` when one cannot be loaded, or is not like `engine`; as `Crew`.
    """
    engines = 1 + len(further)
    workers = max(workers, engines)
    shares = [workers // engines + (number < workers % engines) for number in range(engines)]
    with ExitStack() as opened:
        loading = []
        for load, share in zip(further, shares[1:], strict=True):
            loading.append(ProcessHost(load, share))
            opened.callback(loading[-1].close)
        for host in loading:
            if host.facts() != setup.facts:
                raise EngineError(f"Engines differ: {host.facts()} is not {setup.facts}.", code="engine_failed")
        own = ThreadHost(engine, shares[0])
        opened.callback(own.close)
        crew = Crew(setup, [own, *loading])
        opened.pop_all()
    return crew
