"""Whether what this engine needs is installed, and what is set before it is imported.

Knows nothing of models.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from copydesk.engines.cores import available_cores
from copydesk.errors import EngineError

OLDEST = 5
"""Major version of Transformers whose caches and masks this engine knows how to feed."""
_NEEDED = ("torch", "transformers", "accelerate")
_VARIABLES = {
    # Otherwise a process that has tokenized and then forks is warned about, and its child may hang.
    "TOKENIZERS_PARALLELISM": "false",
    # A model here is a folder: there is nothing to ask a hub for, and nothing to tell it.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}
_speaking = threading.RLock()


def check_installed() -> None:
    """Errors: `EngineError`, `missing_extra` when a package is not there, `engine_unavailable` when it is too old."""
    for package in _NEEDED:
        try:
            installed = version(package)
        except PackageNotFoundError as error:
            raise EngineError(
                f"the transformers engine needs {package}, which is not installed: "
                "pip install 'copydesk[transformers]'",
                code="missing_extra",
            ) from error
        if package == "transformers" and int(installed.split(".")[0]) < OLDEST:
            raise EngineError(
                f"transformers {installed} is too old for the transformers engine: pip install 'transformers>={OLDEST}'"
            )


def prepare(threads: int | None) -> None:
    """Set what makes a start or a fork slow or loud, where the user has not, and PyTorch's threads.

    `threads`: by default `OMP_NUM_THREADS` if that is set, else the physical cores that this process may use, which
    PyTorch by itself counts wrongly in a container. They are the whole process's.
    """
    for name, value in _VARIABLES.items():
        os.environ.setdefault(name, value)
    import torch

    if threads or not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(threads or available_cores())


@contextmanager
def silence() -> Iterator[None]:
    """Keep Transformers from writing bars and remarks while it loads: what matters comes back as an error."""
    from transformers.utils import logging

    with _speaking:  # what is kept and restored is the whole process's
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()
