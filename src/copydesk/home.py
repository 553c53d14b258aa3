"""Where this machine keeps copydesk's state: a folder each under `COPYDESK_HOME`, by default the user's cache folder.

Knows nothing of what is kept. State only saves time: where it cannot be kept, that is said once and work goes on.
"""

from __future__ import annotations

import functools
import logging
import os
from pathlib import Path

_log = logging.getLogger(__name__)


def home() -> Path:
    """The folder that holds all state. It need not exist."""
    chosen = os.environ.get("COPYDESK_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("copydesk", appauthor=False)


def state_folder(name: str) -> Path | None:
    """The folder for one kind of state, made if need be; None, with one warning, where it cannot be written."""
    return _usable(home() / name)


def why_not_writable(folder: Path) -> str | None:
    """What keeps `folder` from being made or written; None if nothing does. Makes the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(folder, os.W_OK | os.X_OK) else "Permission denied"


@functools.cache
def _usable(folder: Path) -> Path | None:
    reason = why_not_writable(folder)
    if reason is None:
        return folder
    _log.warning(
        "%s cannot be written (%s): going on without, which takes longer to start. "
        "Set COPYDESK_HOME to a folder that can be written.",
        folder,
        reason,
    )
    return None
