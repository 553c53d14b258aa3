"""An optional engine: GGUF files, by a build of llama.cpp that comes as a wheel (`copydesk[llamacpp]`)."""

from copydesk.engines.llamacpp.engine import LlamaCppEngine, load

__all__ = ["LlamaCppEngine", "load"]
