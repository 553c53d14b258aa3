"""A model that llama.cpp has loaded, with one KV cache for all sequences. Knows nothing of scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.llamacpp.interface import open_library
from copydesk.errors import EngineError, ModelError

SEQUENCES = 128
"""How many sequences there can be. llama.cpp keeps memory for one row of logits for each; it allows 256."""
_KV_TYPES = {"f32": 0, "f16": 1}
_FLASH_ATTENTION_OFF = 0


class Network:
    """The KV cache has `cells`, each for one token, which may belong to several sequences."""

    def __init__(self, path: Path, *, cells: int, threads: int, tokens_at_once: int) -> None:
        """Errors: `EngineError` `missing_extra` or `engine_unavailable`; `ModelError` when `path` is no model."""
        if not path.is_file():
            raise ModelError(f"there is no file {path}; give the path of a .gguf file")
        self._library = library = open_library()
        self._model = library.llama_model_load_from_file(str(path).encode(), library.llama_model_default_params())
        if not self._model:
            raise ModelError(f"{path} is no GGUF file that llama.cpp can read; fetch it again", code="model_invalid")
        self.vocab_size: int = library.llama_vocab_n_tokens(library.llama_model_get_vocab(self._model))
        self.trained_length: int = library.llama_model_n_ctx_train(self._model)
        self.cells = cells
        parameters = library.llama_context_default_params()
        parameters.n_ctx = cells
        parameters.n_batch = parameters.n_ubatch = tokens_at_once
        parameters.n_seq_max = parameters.n_outputs_max = SEQUENCES
        # One pool for all, so that a copied sequence shares its cells.
        parameters.kv_unified = True
        parameters.n_threads = parameters.n_threads_batch = threads
        # Flash attention rounds a pass of one token and a pass of many differently.
        parameters.flash_attn_type = _FLASH_ATTENTION_OFF
        parameters.type_k = parameters.type_v = _KV_TYPES["f16"]
        self._context = library.llama_init_from_model(self._model, parameters)
        if not self._context:
            library.llama_model_free(self._model)
            raise EngineError(f"llama.cpp cannot make a KV cache of {cells} tokens", code="engine_failed")
        self._memory = library.llama_get_memory(self._context)
        self._batch = library.llama_batch_init(tokens_at_once, 0, 1)

    def decode(self, entries: list[tuple[int, int, int, bool]]) -> bool:
        """Read `(sequence, token, position, whether logits are wanted)` each; False when the cache is full.

        At most `tokens_at_once` of them, and `SEQUENCES` wanted. Errors: `EngineError` `engine_failed`.
        """
        batch = self._batch
        batch.n_tokens = len(entries)
        for index, (sequence, token, position, wanted) in enumerate(entries):
            batch.token[index], batch.pos[index], batch.logits[index] = token, position, wanted
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = sequence
        outcome = self._library.llama_decode(self._context, batch)
        if outcome not in (0, 1):
            raise EngineError(f"llama.cpp failed (code {outcome})", code="engine_failed")
        return bool(outcome == 0)

    def logits(self, index: int) -> NDArray[np.float32]:
        """Float32 `[vocab_size]` of the last decode's entry `index`: a view that the next decode overwrites."""
        pointer = self._library.llama_get_logits_ith(self._context, index)
        return np.ctypeslib.as_array(pointer, (self.vocab_size,))

    def copy(self, source: int, target: int) -> None:
        """Let the empty sequence `target` hold all that `source` holds."""
        self._library.llama_memory_seq_cp(self._memory, source, target, 0, -1)

    def cut(self, sequence: int, length: int) -> None:
        """Keep the first `length` tokens of a sequence."""
        self._library.llama_memory_seq_rm(self._memory, sequence, length, -1)

    def close(self) -> None:
        """Free everything; closing twice is fine."""
        if self._context:
            self._library.llama_batch_free(self._batch)
            self._library.llama_free(self._context)
            self._library.llama_model_free(self._model)
            self._context = None
