"""Models fetched from a hub: Hugging Face, or ModelScope if `COPYDESK_USE_MODELSCOPE=1`. The local cache comes first.

Only what inference reads is fetched. Knows nothing of what is in a model folder. The hubs' libraries are imported when
the first model is asked for.
"""

from __future__ import annotations

import contextlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from copydesk.errors import ModelError

FILES = ("*.json", "*.safetensors", "*.jinja", "tokenizer.json.gz", "README.md", "LICENSE*")
_PROBE_SECONDS = 5


def fetch(model: str, complete: Callable[[Path], bool]) -> Path:
    """The folder with hub model `model` (`owner/name`): from the cache if it is `complete` there, else downloaded.

    Errors: `ModelError` `model_not_found` when the hub has no such model or cannot be reached, `missing_extra` without
    the `modelscope` package.
    """
    if os.environ.get("COPYDESK_USE_MODELSCOPE") == "1":
        return _from_modelscope(model, complete)
    return _from_hugging_face(model, complete)


def _from_hugging_face(model: str, complete: Callable[[Path], bool]) -> Path:
    import huggingface_hub
    from huggingface_hub import constants, errors

    try:
        cached = Path(huggingface_hub.snapshot_download(model, local_files_only=True, allow_patterns=list(FILES)))
        if complete(cached):
            return cached
    except (errors.LocalEntryNotFoundError, OSError):
        pass  # not in the cache
    cache = Path(constants.HF_HUB_CACHE)
    try:
        # Asked first because this call has a time limit; the download itself waits for a silent server for ever.
        huggingface_hub.HfApi().repo_info(model, timeout=_PROBE_SECONDS)
        return Path(huggingface_hub.snapshot_download(model, allow_patterns=list(FILES), etag_timeout=_PROBE_SECONDS))
    except errors.GatedRepoError as error:
        raise _not_fetched(model, "Hugging Face", cache, "it is gated: accept its terms and set HF_TOKEN") from error
    except errors.RepositoryNotFoundError as error:
        raise _not_fetched(model, "Hugging Face", cache, "there is no such model, or it is private") from error
    except Exception as error:  # whatever the HTTP library of the hub's version raises
        raise _not_fetched(model, "Hugging Face", cache, _reason(error)) from error


def _from_modelscope(model: str, complete: Callable[[Path], bool]) -> Path:
    try:
        from modelscope.hub.api import HubApi
        from modelscope.hub.snapshot_download import snapshot_download
        from modelscope.utils.file_utils import get_model_cache_root
    except ImportError as error:
        raise ModelError(
            "COPYDESK_USE_MODELSCOPE=1 needs the package modelscope: pip install 'copydesk[modelscope]'",
            code="missing_extra",
        ) from error

    try:
        cached = Path(snapshot_download(model, local_files_only=True))
        if complete(cached):
            return cached
    except Exception:  # not in the cache; the class has changed between versions
        pass
    try:
        _probe(HubApi().endpoint)
        return Path(snapshot_download(model, allow_patterns=list(FILES)))
    except Exception as error:  # the library's own, and those of its HTTP library
        raise _not_fetched(model, "ModelScope", Path(get_model_cache_root()), _reason(error)) from error


def _probe(url: str) -> None:
    """Wait a few seconds for any answer from a hub whose own library waits for minutes. Errors: `OSError`."""
    with contextlib.suppress(urllib.error.HTTPError):  # an answer, too
        urllib.request.urlopen(url, timeout=_PROBE_SECONDS).close()


def _reason(error: Exception) -> str:
    """The first line of what a library says, which is often a page."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def _not_fetched(model: str, hub: str, cache: Path, reason: str) -> ModelError:
    return ModelError(
        f"{model} is neither a folder here, nor in the cache {cache}, nor could it be fetched from {hub} ({reason}); "
        "to use a copy that you have, give its folder with --model DIR"
    )
