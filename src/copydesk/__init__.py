"""Text in, typed answers out, by a small language model."""

__version__ = "0.1.0"
