"""Tokenizers in use: each is read once a process, whoever asks for it, and forgotten with its last user.

A tokenizer's calls are safe from several threads. Knows nothing of what is in one.
"""

from __future__ import annotations

import threading
from pathlib import Path
from weakref import WeakValueDictionary

from copydesk.models.tokenizer import Tokenizer

_FILES = (
    *("tokenizer.json", "tokenizer.json.gz", "tokenizer_config.json", "chat_template.jinja"),
    *("generation_config.json", "config.json"),
)
"""What a tokenizer is read from: when one of them changes, it is another."""
_lock = threading.Lock()
_used: WeakValueDictionary[tuple[object, ...], Tokenizer] = WeakValueDictionary()


def shared_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in `folder`. Errors: `ModelError` `model_invalid` or `model_unsupported`."""
    files = [folder / name for name in _FILES]
    stats = [file.stat() if file.is_file() else None for file in files]
    key = (str(folder.absolute()), *((stat.st_mtime_ns, stat.st_size) if stat else None for stat in stats))
    with _lock:
        tokenizer = _used.get(key)
        if tokenizer is None:
            tokenizer = _used[key] = Tokenizer(folder)
        return tokenizer
