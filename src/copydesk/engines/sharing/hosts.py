"""Where an engine's server runs: on a thread beside the engine, or in a process of its own that loads one.

The second is how several GPUs are used at once, each by a process with an engine of its own. Knows no engine by name.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

from copydesk import child
from copydesk.engines.protocol import Engine
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.server import TOKENS_PER_CALL, EngineServer
from copydesk.errors import CopydeskError, EngineError


class ThreadHost:
    """Serves an engine of this process, which others may use at the same time if it takes turns (`Turns`)."""

    def __init__(self, engine: Engine, clients: int, *, tokens_per_call: int = TOKENS_PER_CALL) -> None:
        """For so many clients. The engine stays the caller's to close, after the host."""
        pipes = [child.pipe() for _ in range(clients)]
        self.connections = [theirs for _, theirs in pipes]
        """The clients' ends, one each."""
        self._until, until = child.pipe()
        server = EngineServer(engine, until, [own for own, _ in pipes], tokens_per_call=tokens_per_call)
        self._thread = threading.Thread(target=server.run, name="copydesk-engine-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop. Clients that still wait are told that the engine is gone."""
        self._until.close()
        self._thread.join()


class ProcessHost:
    """Has another process load an engine and serve it."""

    def __init__(self, load: Callable[[], Engine], clients: int, *, tokens_per_call: int = TOKENS_PER_CALL) -> None:
        """For so many clients. `load` is called there; it must be importable by its name, or a `partial` of such.

        Returns at once: several load beside each other. Errors: as `child.start`.
        """
        pipes = [child.pipe() for _ in range(clients)]
        self.connections = [theirs for _, theirs in pipes]
        """The clients' ends, one each."""
        self._facts: Facts | None = None
        self._child = child.start(_serve, load, tokens_per_call, connections=[own for own, _ in pipes])

    def facts(self) -> Facts:
        """What the engine says of itself, once it is loaded. Errors: what loading it failed with."""
        if self._facts is None:
            try:
                said = self._child.connection.recv()
            except (EOFError, OSError) as error:
                raise EngineError("The process of an engine ended while loading it.", code="engine_failed") from error
            if isinstance(said, Exception):
                raise said
            self._facts = said
        return self._facts

    def close(self) -> None:
        """Stop, and end the process. Clients that still wait are told that the engine is gone."""
        child.end([self._child])


def _serve(connection: Connection, clients: Sequence[Connection], load: Callable[[], Engine], tokens: int) -> None:
    """What the other process does."""
    try:
        engine = load()
    except CopydeskError as error:
        connection.send(error)
        return
    except Exception as error:
        connection.send(EngineError(f"The engine cannot be loaded: {error!r}.", code="engine_failed"))
        return
    connection.send(Facts.of(engine))
    EngineServer(engine, connection, clients, tokens_per_call=tokens).run()
    engine.close()
