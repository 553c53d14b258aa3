"""What a worker needs to know to set up its desk: the desk of the process that started it, but for the weights.

Knows nothing of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from copydesk.desk.calibration import UNCALIBRATED, Calibration
from copydesk.desk.desk import Desk
from copydesk.desk.drafting import Drafting
from copydesk.drafting.controller import Controller, Costs
from copydesk.drafting.drafters import Drafters
from copydesk.drafting.rules.drafter import draft as rules
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.engines.sharing.client import EngineClient
from copydesk.engines.sharing.facts import Facts
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt

_FLAT = Costs((1,), (1.0,))


@dataclass(frozen=True, slots=True)
class Setup:
    """How a worker's desk is to be."""

    folder: Path
    """Where the tokenizer's files are."""
    facts: Facts
    """Of the engine."""
    calibration: Calibration = UNCALIBRATED
    draft: bool = True
    taggers: Path | None = None
    """Folder of what was learned so far, which is drafted with. A worker learns nothing: one process writes there."""
    costs: Costs = _FLAT
    """Of passes, as measured beside the engine: what a worker measured, it would mostly have waited for others."""

    def desk(self, client: EngineClient, idle: Callable[[], None] | None = None) -> Desk:
        """A desk on the engine that `client` reaches; it closes the client. `idle` as `Desk` has it."""
        tokenizer = Tokenizer(self.folder)
        render = partial(render_prompt, tokenizer=tokenizer)
        return Desk(client, tokenizer, render, self._drafting(), self.calibration, idle=idle)

    def client(self, connection: Connection) -> EngineClient:
        """The engine at the other end of a connection."""
        return EngineClient(connection, self.facts)

    def _drafting(self) -> Drafting | None:
        if not self.draft:
            return None
        controller = Controller(self.costs)
        tagger = None if self.taggers is None else TaggerDrafter(self.taggers)
        return Drafting(Drafters(controller, rules=rules, tagger=tagger), controller, learn=False)
