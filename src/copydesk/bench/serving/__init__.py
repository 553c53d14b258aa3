"""`copydesk serve` under load, beside llama.cpp's server with the same model and the same work."""
