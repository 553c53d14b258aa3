"""A JSON Schema as a grammar of the one layout that answers have.

vLLM's own JSON grammars allow any spaces, in which a small model may lose itself, or none, which puts it off: it has
seen `": "` as a token. Knows nothing of requests.
"""

from __future__ import annotations

import json
from functools import lru_cache

from copydesk.types import Json

SEPARATORS = (", ", ": ")


def layout_grammar(schema: Json) -> str | None:
    """The grammar as xgrammar writes it; None where it cannot hold to all of the schema, or is not there."""
    return _grammar(json.dumps(schema, ensure_ascii=False))


@lru_cache(maxsize=256)
def _grammar(schema: str) -> str | None:
    try:
        from vllm.v1.structured_output.backend_xgrammar import has_xgrammar_unsupported_json_features
        from xgrammar import Grammar

        if has_xgrammar_unsupported_json_features(json.loads(schema)):
            return None
        return str(Grammar.from_json_schema(schema, any_whitespace=False, separators=SEPARATORS, strict_mode=False))
    except Exception:  # another version, or a schema that it stumbles over: vLLM is then given the schema itself
        return None
