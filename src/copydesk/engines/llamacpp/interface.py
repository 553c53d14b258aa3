"""llama.cpp's C interface, as far as an engine needs it, declared for the one version whose layouts are known.

The wheel `xllamacpp` offers whole completions to Python; but its library also exports llama.cpp's own C functions, and
those give logits. Knows nothing of sequences or scores.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_size_t, c_uint32, c_void_p
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from copydesk.errors import EngineError

VERSION = "2026.10.11549"
"""Of `xllamacpp`: the build of llama.cpp that the structures below are those of."""
_LOG_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, c_char_p, c_void_p)
_SILENT = _LOG_CALLBACK(lambda level, text, data: None)
"""For llama.cpp's messages, which are for its developers: what matters to a user comes back as an error."""


class ModelParameters(ctypes.Structure):
    """`llama_model_params`."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        *((name, c_void_p) for name in ("devices", "tensor_buft_overrides")),
        *((name, c_int32) for name in ("n_gpu_layers", "split_mode", "load_mode", "lazy_mode", "main_gpu")),
        *((name, c_void_p) for name in ("tensor_split", "progress_callback", "progress_data", "kv_overrides")),
        *((name, c_bool) for name in ("vocab_only", "check_tensors", "use_extra_bufts", "no_host", "no_alloc")),
        ("load_mtp", c_bool),
    ]


class ContextParameters(ctypes.Structure):
    """`llama_context_params`."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        *((name, c_uint32) for name in ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq", "n_outputs_max")),
        ("n_outputs_max_per_seq", c_uint32),
        *((name, c_int32) for name in ("n_threads", "n_threads_batch", "ctx_type", "rope_scaling_type")),
        *((name, c_int32) for name in ("pooling_type", "attention_type", "flash_attn_type")),
        *((name, c_float) for name in ("rope_freq_base", "rope_freq_scale", "yarn_ext_factor", "yarn_attn_factor")),
        *((name, c_float) for name in ("yarn_beta_fast", "yarn_beta_slow")),
        ("yarn_orig_ctx", c_uint32),
        ("defrag_thold", c_float),
        *((name, c_void_p) for name in ("cb_eval", "cb_eval_user_data")),
        *((name, c_int32) for name in ("type_k", "type_v")),
        ("moe_cache_size", c_size_t),
        *((name, c_void_p) for name in ("abort_callback", "abort_callback_data")),
        *((name, c_bool) for name in ("embeddings", "offload_kqv", "no_perf", "op_offload", "swa_full", "kv_unified")),
        ("samplers", c_void_p),
        ("n_samplers", c_size_t),
        ("ctx_other", c_void_p),
    ]


class Batch(ctypes.Structure):
    """`llama_batch`."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", c_void_p),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(c_int32))),
        ("logits", POINTER(c_int8)),
    ]


_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    # name: result, parameters
    "llama_backend_init": (None,),
    "llama_log_set": (None, _LOG_CALLBACK, c_void_p),
    "llama_model_default_params": (ModelParameters,),
    "llama_context_default_params": (ContextParameters,),
    "llama_model_load_from_file": (c_void_p, c_char_p, ModelParameters),
    "llama_model_free": (None, c_void_p),
    "llama_model_get_vocab": (c_void_p, c_void_p),
    "llama_vocab_n_tokens": (c_int32, c_void_p),
    "llama_model_n_ctx_train": (c_int32, c_void_p),
    "llama_init_from_model": (c_void_p, c_void_p, ContextParameters),
    "llama_free": (None, c_void_p),
    "llama_get_memory": (c_void_p, c_void_p),
    "llama_memory_seq_rm": (c_bool, c_void_p, c_int32, c_int32, c_int32),
    "llama_memory_seq_cp": (None, c_void_p, c_int32, c_int32, c_int32, c_int32),
    "llama_batch_init": (Batch, c_int32, c_int32, c_int32),
    "llama_batch_free": (None, Batch),
    "llama_decode": (c_int32, c_void_p, Batch),
    "llama_get_logits_ith": (POINTER(c_float), c_void_p, c_int32),
}


def check_installed() -> None:
    """Errors: `EngineError`, `missing_extra` when it is not there, `engine_unavailable` when it is another version."""
    try:
        installed = version("xllamacpp")
    except PackageNotFoundError as error:
        raise EngineError(
            "the llamacpp engine is not installed; install it: pip install 'copydesk[llamacpp]'", code="missing_extra"
        ) from error
    if installed != VERSION:
        raise EngineError(
            f"xllamacpp {installed} has another interface than {VERSION}; pip install xllamacpp=={VERSION}"
        )


def open_library() -> Any:
    """The library with its functions declared, made silent. Errors: as `check_installed`, and when it does not load."""
    check_installed()
    try:
        from xllamacpp import xllamacpp as extension  # type: ignore[import-untyped]

        library = ctypes.CDLL(extension.__file__)
        for name, (result, *parameters) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, parameters
    except (ImportError, OSError, AttributeError) as error:
        raise EngineError(f"llama.cpp cannot be used on this system: {error}") from error
    library.llama_log_set(_SILENT, None)
    library.llama_backend_init()
    return library
