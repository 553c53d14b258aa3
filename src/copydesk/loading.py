"""Loading a model: its files, its engine, its drafters, and the desk over them.

Knows nothing of what is asked of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from os import PathLike, fspath
from pathlib import Path
from typing import Unpack

from copydesk.crew.crew import Crew
from copydesk.crew.lazy import LazyCrew
from copydesk.crew.making import make_crew, number_of
from copydesk.crew.setup import Setup
from copydesk.desk.calibration import UNCALIBRATED, Calibration, Line
from copydesk.desk.desk import Desk
from copydesk.desk.drafting import Drafting
from copydesk.desk.grammar import check_installed
from copydesk.desk.protocol import AnyDesk
from copydesk.drafting.controller import Controller
from copydesk.drafting.drafters import Drafters
from copydesk.drafting.rules.drafter import draft as rules
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.engines.choose import is_whole, load_completions, load_engine
from copydesk.engines.options import EngineOptions
from copydesk.engines.protocol import Engine
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.turns import Turns
from copydesk.errors import UsageError
from copydesk.home import home, why_not_writable
from copydesk.model import Model
from copydesk.models.calibration import read_calibration
from copydesk.models.resolve import BUILTIN_FOLDER, resolve
from copydesk.models.shared import shared_tokenizer
from copydesk.tasks.prompt import conversation, render_prompt
from copydesk.tasks.task import is_derived

_SECONDS_TO_MEASURE = 5.0
"""What the desk is given at most to measure its engine's passes before workers are told what they cost."""

_log = logging.getLogger("copydesk")


def load(
    model: str | PathLike[str] | None = None,
    *,
    engine: str = "auto",
    draft: bool = True,
    learn: bool = True,
    workers: int | None = None,
    **options: Unpack[EngineOptions],
) -> Model:
    """Load a model: the built-in one (None), a folder, a hub id such as `Qwen/Qwen3-0.6B`, or a GGUF file.

    A GGUF file needs the model's `tokenizer.json` and `tokenizer_config.json` beside it.
    `engine` is `auto`, `openvino`, `llamacpp`, `cuda`, `transformers`, `vllm`, or the address of an OpenAI-compatible
    server such as `http://localhost:8000`, whose model is then meant, by its name there (None if it has but one).
    `options` are the engine's `EngineOptions`, such as `context_length` (tokens of prompt and answer together),
    `threads`, `bits`, `device` or `api_key`.
    `draft=False` switches drafts off for all calls. `learn=False` keeps drafts from getting better by the answers
    given: what is learned of them is kept on this machine, under `COPYDESK_HOME`, until `copydesk doctor --forget`.
    `workers` processes prepare and check the rows of `extract_many` and `classify_many` beside each other; they do not
    learn. By default there are none but for a GPU, where a stream of some hundred rows starts one a core; a number
    given starts them at once.
    Errors: `ModelError` (not found, incomplete, unsupported), `EngineError` (missing, unfit), `UsageError`.
    """
    drafting = _drafting(learn=learn) if draft else None
    return load_with(drafting, model, engine, workers=workers, taggers=home() if learn else None, **options)


def load_with(
    drafting: Drafting | None,
    model: str | PathLike[str] | None = None,
    engine: str = "auto",
    *,
    workers: int | None = 0,
    taggers: Path | None = None,
    **options: Unpack[EngineOptions],
) -> Model:
    """As `load`, with drafters of one's own; the model closes them. Workers have the usual ones, and read `taggers`."""
    name = fspath(model) if isinstance(model, PathLike) else model
    if not isinstance(name, str | None):
        raise UsageError(f"A model is a path or a name, not {type(name).__name__}.")
    if is_whole(engine):
        return Model(_whole_desk(name, engine, drafting, options))
    check_installed()
    path = resolve(name)
    tokenizer = shared_tokenizer(path if path.is_dir() else path.parent)
    loaded = load_engine(engine, path, **options)
    calibration = _calibration(path) if path.is_dir() else UNCALIBRATED
    count = number_of(workers, loaded)
    shared = Turns(loaded) if count else loaded
    desk = Desk(shared, tokenizer, partial(render_prompt, tokenizer=tokenizer), drafting, calibration)
    crew = None
    if count:
        setup = Setup(tokenizer.folder, Facts.of(shared), calibration, draft=drafting is not None, taggers=taggers)
        further = getattr(loaded, "further", ())
        crew = LazyCrew(partial(_crew, shared, setup, count, drafting, further))
        if workers is not None:
            crew.start()
    return Model(desk, builtin=path == BUILTIN_FOLDER, crew=crew)


def _crew(
    engine: Engine,
    setup: Setup,
    workers: int,
    drafting: Drafting | None,
    further: Sequence[Callable[[], Engine]],
) -> Crew:
    """The workers, once it is known what passes cost on the engine."""
    until = time.monotonic() + _SECONDS_TO_MEASURE
    while drafting is not None and drafting.controller.costs is None and time.monotonic() < until:
        time.sleep(0.01)
    costs = drafting.controller.costs if drafting is not None else None
    setup = setup if costs is None else replace(setup, costs=costs)
    return make_crew(engine, setup, workers, further=further)


def _whole_desk(model: str | None, engine: str, drafting: Drafting | None, options: EngineOptions) -> AnyDesk:
    from copydesk.desk.whole import WholeDesk
    from copydesk.engines.loop import Loop

    loop = Loop()
    try:
        return WholeDesk(load_completions(engine, model, loop, **options), loop, conversation, drafting, is_derived)
    except BaseException:
        loop.close()
        raise


def _calibration(folder: Path) -> Calibration:
    lines = read_calibration(folder)
    return Calibration({task: {name: Line(*line) for name, line in own.items()} for task, own in lines.items()})


def _drafting(*, learn: bool) -> Drafting:
    """All drafters. Where what they learn cannot be kept, that is said once."""
    folder = home()
    reason = why_not_writable(folder) if learn else None
    if reason is not None:
        _warn_once(f"What is learned from answers is not kept: {reason}. Answers are the same without.")
    controller = Controller()
    tagger = TaggerDrafter(folder) if learn else None
    return Drafting(Drafters(controller, rules=rules, tagger=tagger), controller)


@cache
def _warn_once(message: str) -> None:
    _log.warning(message)
