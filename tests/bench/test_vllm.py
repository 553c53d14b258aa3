"""vLLM as a peer: what its process is told and says, with a package of its name that answers at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from copydesk.bench.vllm import NGRAM, PLAIN, Vllm
from copydesk.errors import CopydeskError

_PACKAGE = """
import json
__version__ = "0.0"

class SamplingParams:
    def __init__(self, **settings):
        self.settings = settings

class _Output:
    pass

class _Engine:
    def __init__(self):
        self.waiting, self.most = [], 0

    def add_request(self, number, prompt, params):
        self.waiting.append((number, prompt, params.settings))
        self.most = max(self.most, len(self.waiting))

    def step(self):
        number, prompt, settings = self.waiting.pop(0)
        output, completion = _Output(), _Output()
        constraint = settings["structured_outputs"]
        completion.text = json.dumps([prompt, self.most, constraint and constraint.settings["json"]])
        completion.token_ids = [0] * settings["max_tokens"]
        output.finished, output.request_id, output.outputs = True, number + "-0", [completion]
        return [output]

class LLM:
    def __init__(self, model, **settings):
        print("noise on standard output")
        if model == "broken":
            raise SystemExit(3)
        self.settings, self.llm_engine = settings, _Engine()
        assert ("speculative_config" in settings) == (model == "ngram")
"""
_PARAMS = """
class RequestOutputKind:
    FINAL_ONLY = 2

class StructuredOutputsParams:
    def __init__(self, **settings):
        self.settings = settings
"""


@pytest.fixture
def python_path(tmp_path: Path) -> str:
    package = tmp_path / "vllm"
    package.mkdir()
    (package / "__init__.py").write_text(_PACKAGE)
    (package / "sampling_params.py").write_text(_PARAMS)
    return str(tmp_path)


@pytest.mark.parametrize("name", [PLAIN, NGRAM])
def test_prompts_are_answered_in_order_so_many_at_a_time(name: str, python_path: str) -> None:
    peer = Vllm(name, Path("plain" if name == PLAIN else "ngram"), python_path, {"some": "setting"})
    try:
        peer.wait()
        assert peer.version == "0.0"
        run = peer.run([[1, 2], "文字", [3]], 2, max_tokens=4, schema={"type": "object"})
        assert run.texts == [
            '[{"prompt_token_ids": [1, 2]}, 2, {"type": "object"}]',
            '["\\u6587\\u5b57", 2, {"type": "object"}]',
            '[{"prompt_token_ids": [3]}, 2, {"type": "object"}]',
        ]
        assert run.tokens == [4, 4, 4]
        assert len(run.each) == 3
        assert all(0 <= seconds <= run.all for seconds in run.each)
        assert peer.run(["x"], 1, max_tokens=1).texts == ['["x", 2, null]']
    finally:
        peer.close()


def test_a_process_that_ends_is_said(python_path: str) -> None:
    peer = Vllm(PLAIN, Path("broken"), python_path, {})
    with pytest.raises(CopydeskError, match="vLLM ended with exit code 3"):
        peer.wait()
    peer.close()
