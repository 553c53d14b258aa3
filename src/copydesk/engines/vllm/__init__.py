"""vLLM in this process, for whole answers (`copydesk[vllm]`)."""

from copydesk.engines.vllm.engine import load

__all__ = ["load"]
