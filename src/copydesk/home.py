"""Where this machine keeps copydesk's state: under `COPYDESK_HOME`, by default in the user's cache folder.

Knows nothing of what is kept.
"""

from __future__ import annotations

import os
from pathlib import Path

from copydesk.errors import UsageError


def home() -> Path:
    """The folder that holds all state. It need not exist. Errors: `UsageError` for `~user` of nobody."""
    chosen = os.environ.get("COPYDESK_HOME")
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError as error:
            raise UsageError(f"COPYDESK_HOME is {chosen}, but nobody here has that home folder; give a path") from error
    import platformdirs

    return platformdirs.user_cache_path("copydesk", appauthor=False)


def why_not_writable(folder: Path) -> str | None:
    """What keeps `folder` from being written, or made where it is not there yet; None if nothing does."""
    existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    if not existing.is_dir():
        return f"{existing} is a file"
    return None if os.access(existing, os.W_OK | os.X_OK) else f"no permission to write to {existing}"
