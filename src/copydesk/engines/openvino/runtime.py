"""OpenVINO itself: imported quietly and without telemetry, and asked to compile for the CPU.

The only module that imports `openvino`, so that what is pinned and switched off stands in one place.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from copydesk.errors import EngineError

VERSION = "2026.4.1"
"""The version whose PagedAttention transform this engine was written for."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How exactly to compute. `tolerance`: scores closer than this are a near-tie."""

    activations: str
    """Precision of activations: `f32` or `bf16`."""
    quantization_group: int
    """Activations are quantised on the fly in groups of this many; 0 leaves them as they are."""
    cache: str
    """Precision of the KV cache: `f32`, `f16` or `bf16`."""
    tolerance: float


EXACT = Setting("f32", 0, "f32", 1e-3)
"""Every sum in fp32: one pass of k tokens and k passes of one give the same scores."""
FAST = Setting("f32", 128, "f16", 0.1)
"""Activations in 8 bits, for larger models with 8-bit weights."""
FAST_4_BIT = Setting("f32", 64, "f16", 0.1)
"""The same for 4-bit weights: a group larger than the weights' own would double the time."""
HALF = Setting("bf16", 0, "bf16", 0.05)
"""For bf16 weights on processors that multiply bf16."""


def _import_openvino() -> Any:
    """OpenVINO's package. Its import reports itself over the network where `openvino_telemetry` can be imported."""
    hidden = "openvino_telemetry" not in sys.modules
    if hidden:
        sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    try:
        import openvino  # type: ignore[import-untyped]
        from openvino import opset15
    except ImportError as error:
        raise EngineError(
            f"OpenVINO cannot be imported ({error}); install it: pip install openvino=={VERSION}",
            code="engine_unavailable",
        ) from error
    finally:
        if hidden:
            del sys.modules["openvino_telemetry"]
    return openvino, opset15


if TYPE_CHECKING:
    ov: Any
    ops: Any
else:
    ov, ops = _import_openvino()


def to_paged(model: Any) -> None:
    """Turn a stateful attention graph into one over a paged KV cache, in place. Errors: `EngineError`."""
    try:
        # Private: its documented user is OpenVINO GenAI. Hence the pinned version and the self-test at load.
        from openvino._offline_transformations import (  # type: ignore[import-untyped]
            paged_attention_transformation,
        )

        paged_attention_transformation(model)
    except (ImportError, RuntimeError, TypeError) as error:
        raise EngineError(f"OpenVINO cannot page the attention: {_first_line(error)}") from error


def compile_model(model: Any, setting: Setting, threads: int) -> Any:
    """The graph compiled for the CPU. Errors: `EngineError` `engine_failed`."""
    # Without CACHE_DIR: this version writes a paged graph but cannot read it back, so a cache only costs time.
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        # A pinned thread waits for its core while another process has it: milliseconds a pass.
        "ENABLE_CPU_PINNING": False,
        "INFERENCE_PRECISION_HINT": setting.activations,
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": setting.quantization_group,
        "KV_CACHE_PRECISION": setting.cache,
    }
    try:
        return _core().compile_model(model, "CPU", options)
    except RuntimeError as error:
        raise EngineError(f"OpenVINO cannot compile the model: {_first_line(error)}", code="engine_failed") from error


def infer(request: Any) -> None:
    """Run a request whose tensors are set. Errors: `EngineError` `engine_failed`."""
    try:
        # Not `infer()`: that one copies every output.
        request.start_async()
        request.wait()
    except RuntimeError as error:
        raise EngineError(f"OpenVINO failed: {_first_line(error)}", code="engine_failed") from error


def multiplies_bf16() -> bool:
    """Whether this processor has instructions for bf16."""
    return "BF16" in _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@cache
def _core() -> Any:
    """One for the whole process.

    Each gives the thread that first uses it a stack for signals, and takes that away with itself: where two do not end
    in reverse order, the thread is left with a stack that is gone, and the process dies of the next signal.
    """
    return ov.Core()


def _first_line(error: Exception) -> str:
    """OpenVINO's messages open with lines of source positions; the last one that says something is kept."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
