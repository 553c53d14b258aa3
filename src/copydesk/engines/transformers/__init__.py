"""An optional engine: whatever causal model Transformers can load, on CPUs and NVIDIA cards (`copydesk[transformers]`).

Importing this package imports neither PyTorch nor Transformers; `load` does.
"""

from copydesk.engines.transformers.load import load

__all__ = ["load"]
