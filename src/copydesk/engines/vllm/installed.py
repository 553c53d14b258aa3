"""vLLM as it is installed: its classes, under whatever names the version has them, and what is set before it starts.

What a version has is found by looking, not by its number. Knows nothing of models.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass, fields
from typing import Any

from copydesk.errors import EngineError

_VARIABLES = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "TOKENIZERS_PARALLELISM": "false",
}
"""What vLLM would otherwise tell others, print, or warn about."""


@dataclass(frozen=True, slots=True)
class Vllm:
    """The classes that are used of it."""

    engine: Any
    """`AsyncLLM`."""
    engine_args: Any
    sampling_params: Any
    final_only: Any
    delta: Any
    """Kinds of outputs: only the last, or what is new in each."""
    structured: Any
    """`StructuredOutputsParams`, or `GuidedDecodingParams` before."""
    structured_key: str
    """What `SamplingParams` calls them."""
    lora_request: Any

    @property
    def settings(self) -> frozenset[str]:
        """The settings that an engine of this version takes."""
        return frozenset(field.name for field in fields(self.engine_args))


def find() -> Vllm:
    """What is installed. Errors: `EngineError`: `missing_extra` without it, `engine_unavailable` if it is unfit."""
    if importlib.util.find_spec("vllm") is None:
        raise EngineError(
            "the vllm engine needs vLLM, which is not installed: pip install 'copydesk[vllm]' (Linux with an NVIDIA "
            "GPU), or name a vLLM server's address as the engine instead",
            code="missing_extra",
        )
    for name, value in _VARIABLES.items():
        os.environ.setdefault(name, value)
    try:
        vllm = importlib.import_module("vllm")
        sampling = importlib.import_module("vllm.sampling_params")
        lora = importlib.import_module("vllm.lora.request")
        key = "structured_outputs" if hasattr(sampling, "StructuredOutputsParams") else "guided_decoding"
        return Vllm(
            engine=vllm.AsyncLLMEngine,
            engine_args=vllm.AsyncEngineArgs,
            sampling_params=sampling.SamplingParams,
            final_only=sampling.RequestOutputKind.FINAL_ONLY,
            delta=sampling.RequestOutputKind.DELTA,
            structured=getattr(sampling, "StructuredOutputsParams", None) or sampling.GuidedDecodingParams,
            structured_key=key,
            lora_request=lora.LoRARequest,
        )
    except Exception as error:  # its parts fail to load in every way that compiled code can
        raise EngineError(f"vLLM is installed but cannot be used: {type(error).__name__}: {error}") from error
