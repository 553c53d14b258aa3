"""A network is fed as its class wants to be, and gives the wanted places even where its head is nowhere to be found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from copydesk.engines.transformers.inputs import rows_of_tokens
from copydesk.engines.transformers.network import Network
from engines.random_folders import Shape, write_folder

CPU = torch.device("cpu")


@pytest.fixture
def model(tmp_path: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(write_folder(tmp_path, Shape())).eval()


def test_the_wanted_places_of_all(model: Any) -> None:
    inputs = rows_of_tokens([[5, 6, 7], [8]], [0, 0], [(0, 2), (0,)], CPU)
    with torch.no_grad():
        rows = [model(torch.tensor([tokens])).logits[0] for tokens in ([5, 6, 7], [8])]
    network = Network("a", model, CPU, 512)
    outputs = network.read(inputs, None)
    expected = torch.stack([rows[0][0], rows[0][2], rows[1][0]])
    torch.testing.assert_close(outputs.logits, expected, rtol=0, atol=1e-5)
    assert outputs.hidden is not None
    torch.testing.assert_close(network.project(outputs.hidden), expected, rtol=0, atol=1e-5)
    assert network.projects_plainly(inputs, 64.0)


def test_a_head_that_cannot_be_found(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = rows_of_tokens([[5, 6, 7], [8]], [0, 0], [(0, 2), (0,)], CPU)
    expected = Network("a", model, CPU, 512).read(inputs, None).logits
    monkeypatch.setattr(type(model), "get_output_embeddings", lambda self: None)
    network = Network("b", model, CPU, 512)
    outputs = network.read(inputs, None)
    assert outputs.hidden is None
    torch.testing.assert_close(outputs.logits, expected, rtol=0, atol=1e-5)
    assert not network.projects_plainly(inputs, 64.0)


def test_a_network_that_failed_goes_on(model: Any) -> None:
    network = Network("a", model, CPU, 512)
    inputs = rows_of_tokens([[5, 6, 7]], [0], [(2,)], CPU)
    expected = network.read(inputs, None).logits
    with pytest.raises(IndexError):
        network.read(rows_of_tokens([[5, 1000, 7]], [0], [(2,)], CPU), None)
    assert torch.equal(network.read(inputs, None).logits, expected)
    with torch.no_grad():
        assert model(torch.tensor([[5, 6, 7]])).logits.shape == (1, 3, 320)
