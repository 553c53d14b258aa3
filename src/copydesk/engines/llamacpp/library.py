"""llama.cpp's C interface, as far as an engine needs it. Knows nothing of scores or of the engine protocol.

The wheel `ik-llama-cpp-python` brings the library and the layout of its structures; functions that it leaves out are
declared here. Other wheels of llama.cpp offer only whole completions, or need a newer C library than they say.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copydesk.errors import EngineError, ModelError

_SEQUENCES = 256
_LOG_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


_SILENT = _LOG_CALLBACK(lambda level, text, data: None)
"""For llama.cpp's messages, which are for its developers: what matters to a user comes back as an error."""


def _import_binding() -> Any:
    try:
        import ik_llama_cpp._ctypes_api as binding  # type: ignore[import-untyped]
    except ImportError as error:
        raise EngineError(
            f"the llamacpp engine is not installed ({error}); install it: pip install 'copydesk[llamacpp]'",
            code="missing_extra",
        ) from error
    except OSError as error:
        raise EngineError(f"llama.cpp cannot run on this machine: {error}") from error
    library = binding._lib
    library.llama_log_set.argtypes, library.llama_log_set.restype = [_LOG_CALLBACK, ctypes.c_void_p], None
    sequence_range = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32]
    library.llama_kv_cache_seq_rm.argtypes, library.llama_kv_cache_seq_rm.restype = sequence_range, ctypes.c_bool
    library.llama_kv_cache_seq_cp.argtypes = [*sequence_range, ctypes.c_int32]
    library.llama_kv_cache_seq_cp.restype = None
    library.llama_n_ctx_train.argtypes, library.llama_n_ctx_train.restype = [ctypes.c_void_p], ctypes.c_int32
    library.llama_log_set(_SILENT, None)
    binding.llama_backend_init()
    return binding


class Network:
    """A loaded model and its KV cache: cells that each hold one token of one or, after a copy, several sequences."""

    sequences = _SEQUENCES
    """Sequence numbers run from 0 to below this."""

    def __init__(self, path: Path, cells: int, threads: int, tokens_at_once: int) -> None:
        """Errors: `EngineError` `missing_extra` or `engine_unavailable`; `ModelError` when `path` is no model."""
        if not path.is_file():
            raise ModelError(f"there is no file {path}; give the path of a .gguf file")
        self._binding = _import_binding()
        self._library = self._binding._lib
        model_parameters = self._binding.llama_model_default_params()
        self._model = self._binding.llama_model_load_from_file(str(path).encode(), model_parameters)
        if not self._model:
            raise ModelError(f"{path} is no GGUF file that llama.cpp can read; fetch it again", code="model_invalid")
        self.vocab_size: int = self._binding.llama_vocab_n_tokens(self._binding.llama_model_get_vocab(self._model))
        self.trained_length: int = self._library.llama_n_ctx_train(self._model)
        self.cells = cells
        parameters = self._binding.llama_context_default_params()
        parameters.n_ctx = cells
        parameters.n_batch = parameters.n_ubatch = tokens_at_once
        parameters.n_seq_max = self.sequences
        parameters.n_threads = parameters.n_threads_batch = threads
        # Its flash attention mixes up sequences that share cells.
        parameters.flash_attn = False
        self._context = self._binding.llama_init_from_model(self._model, parameters)
        if not self._context:
            self._binding.llama_free_model(self._model)
            raise EngineError(f"llama.cpp cannot make a KV cache of {cells} tokens", code="engine_failed")
        self._batch = self._binding.llama_batch_init(tokens_at_once, 0, 1)

    def decode(self, entries: list[tuple[int, int, int, bool]]) -> bool:
        """Read `(sequence, token, position, whether logits are wanted)` each; False when the cache is full.

        Errors: `EngineError` `engine_failed`.
        """
        batch = self._batch
        batch.n_tokens = len(entries)
        for index, (sequence, token, position, wanted) in enumerate(entries):
            batch.token[index], batch.pos[index], batch.logits[index] = token, position, wanted
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = sequence
        outcome = self._binding.llama_decode(self._context, batch)
        if outcome < 0 or outcome > 1:
            raise EngineError(f"llama.cpp failed (code {outcome})", code="engine_failed")
        return bool(outcome == 0)

    def logits(self, index: int) -> NDArray[np.float32]:
        """Float32 `[vocab_size]` of the last decode's entry `index`: a view that the next decode overwrites."""
        pointer = self._binding.llama_get_logits_ith(self._context, index)
        return np.ctypeslib.as_array(pointer, (self.vocab_size,))

    def copy(self, source: int, target: int) -> None:
        """Let sequence `target` hold all that `source` holds."""
        self._library.llama_kv_cache_seq_cp(self._context, source, target, 0, -1)

    def cut(self, sequence: int, length: int) -> None:
        """Keep the first `length` tokens of a sequence."""
        self._library.llama_kv_cache_seq_rm(self._context, sequence, length, -1)

    def close(self) -> None:
        """Free everything; closing twice is fine."""
        if self._context:
            self._binding.llama_batch_free(self._batch)
            self._binding.llama_free(self._context)
            self._binding.llama_free_model(self._model)
            self._context = None
