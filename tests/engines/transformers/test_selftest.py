"""What a model's code can be relied on for is found out by trying."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from copydesk.engines.transformers import load
from copydesk.engines.transformers.network import Network
from copydesk.engines.transformers.selftest import Findings, examine
from engines.random_folders import Shape, write_folder
from engines.transformers.architectures import CONFIGS, write_architecture


@pytest.mark.parametrize(
    ("special", "expected"),
    [
        ("learned positions", Findings(320, True, 1024)),
        ("bent logits", Findings(320, False, 512)),
        ("experts", Findings(320, True, 512)),
        ("a state that cannot be cut", Findings(320, True, 0, "its own code refuses other caches")),
    ],
)
def test_architectures(special: str, expected: Findings, tmp_path: Path) -> None:
    engine = load(write_architecture(tmp_path, CONFIGS[special]()))
    found = engine._findings
    assert replace(found, reason=found.reason.partition(" (")[0]) == expected
    engine.close()


def test_a_cache_that_changes_scores_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = load(write_folder(tmp_path, Shape()))
    read = Network.read

    def wrong(network: Network, inputs: object, cache: object) -> object:
        outputs = read(network, inputs, cache)  # type: ignore[arg-type]
        return outputs if cache is None else type(outputs)(outputs.logits + torch.eye(320)[:1] * 5, outputs.hidden)

    monkeypatch.setattr(Network, "read", wrong)
    findings = examine(engine._network)
    assert (findings.cell_bytes, findings.projects) == (0, True)
    assert findings.reason.startswith("with another cache its scores differ by")
    engine.close()
