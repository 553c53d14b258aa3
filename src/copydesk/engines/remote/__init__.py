"""A model that a server of the OpenAI API answers for: vLLM, SGLang, llama.cpp, Ollama, copydesk itself."""

from copydesk.engines.remote.server import load

__all__ = ["load"]
