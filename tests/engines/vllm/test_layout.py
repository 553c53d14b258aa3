"""A schema as a grammar of the one layout, where xgrammar is there to write it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from copydesk.engines.vllm import layout
from copydesk.engines.vllm.layout import layout_grammar


@pytest.fixture
def xgrammar(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """How its grammars were asked for."""
    asked: list[dict[str, Any]] = []

    class Grammar:
        @staticmethod
        def from_json_schema(schema: str, **options: Any) -> str:
            asked.append(options)
            if "stumble" in schema:
                raise RuntimeError("what?")
            return f"root ::= {schema}"

    backend = ModuleType("backend")
    backend.has_xgrammar_unsupported_json_features = lambda schema: "multipleOf" in schema  # type: ignore[attr-defined]
    module = ModuleType("xgrammar")
    module.Grammar = Grammar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "xgrammar", module)
    for name in ("vllm", "vllm.v1", "vllm.v1.structured_output"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "vllm.v1.structured_output.backend_xgrammar", backend)
    layout._grammar.cache_clear()
    return asked


def test_the_separators_are_ours(xgrammar: list[dict[str, Any]]) -> None:
    assert layout_grammar({"type": "string"}) == 'root ::= {"type": "string"}'
    assert xgrammar == [{"any_whitespace": False, "separators": (", ", ": "), "strict_mode": False}]
    layout_grammar({"type": "string"})
    assert len(xgrammar) == 1


def test_a_schema_that_it_cannot_hold_to_is_left_as_it_is(xgrammar: list[dict[str, Any]]) -> None:
    assert layout_grammar({"multipleOf": 3}) is None
    assert layout_grammar({"title": "stumble"}) is None


def test_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    layout._grammar.cache_clear()
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    assert layout_grammar({"type": "integer"}) is None
