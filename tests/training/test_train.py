"""A whole run in seconds: data from worker processes, training, quantisation, evaluation, export; continued."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from toy import people
from transformers import Qwen3Config, Qwen3ForCausalLM

from copydesk.models.tokenizer import Tokenizer
from copydesk.models.weights import Weights
from copydesk.tasks.builtin import address
from copydesk.tasks.prompt import render_prompt
from copydesk.training.decoding import Decoder
from copydesk.training.network import Qwen3, Rotary, Shape
from copydesk.training.train import main, read_weights

NETWORK = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 256,
}
RECIPE = {
    "sources": [
        {"name": "people", "generator": "toy:people", "start": 0.7, "weighting": {"text": 0.1}},
        {"name": "news", "generator": "toy:headlines", "start": 0.3, "weighting": {"answer": 10, "token_dropout": 0.1}},
    ],
    "block": {"tokens": 1024, "row": 512, "longest": 160},
    "network": NETWORK,
    "workers": 1,
    "threads": 1,
    "compile": "off",
    "attention": "masked",
    "finish_seconds": 1.5,
    "log_every_seconds": 0.5,
    "evaluate_every_seconds": 3,
    "evaluate_rows": 5,
    "checkpoint_every_seconds": 2,
    "evaluate": {"people": "{data}/people.jsonl", "news": "{data}/news.jsonl", "missing": "{data}/missing.jsonl"},
}


def events(out: Path, kind: str) -> list[dict[str, Any]]:
    lines = map(json.loads, (out / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["event"] == kind]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    gold = [
        {"text": e.text, "expected": json.loads(e.answer)}
        for e, _ in zip(people(random.Random(7)), range(10), strict=False)
    ]
    (folder / "people.jsonl").write_text("".join(json.dumps(line) + "\n" for line in gold))
    labels = [{"text": "a goal today", "label": "Sports"}, {"text": "a bank today", "label": 2}]
    (folder / "news.jsonl").write_text("".join(json.dumps(line) + "\n" for line in labels))
    (folder / "recipe.json").write_text(json.dumps(RECIPE))
    return folder


def train(data: Path, tokenizer: Path, out: Path, seconds: float, *more: str) -> Path:
    options = [
        "--recipe",
        data / "recipe.json",
        "--data",
        data,
        "--tokenizer",
        tokenizer,
        "--out",
        out,
        "--device",
        "cpu",
    ]
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", str(Path(__file__).parent))
        assert main([*map(str, options), "--seconds", str(seconds), "--seed", "3", *more]) == 0
    return out


@pytest.fixture(scope="module")
def trained(data: Path, toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(data, toy_folder, tmp_path_factory.mktemp("run"), 9)


def test_the_loss_falls_and_the_log_tells(trained: Path) -> None:
    lines = events(trained, "train")
    assert lines[-1]["people"] < lines[0]["people"] * 0.7
    assert lines[-1]["tokens_per_second"] > 0
    assert 0 <= lines[0]["progress"] < lines[-1]["progress"] <= 1
    facts = json.loads((trained / "training.json").read_text(encoding="utf-8"))
    assert facts["tokens"] == facts["steps"] * 1024
    assert facts["seed"] == 3
    assert facts["seconds"] < 60
    assert set(facts["figures"]) == {"people", "news"}
    assert facts["figures"]["people"]["n"] == 10
    assert facts["bytes"] == sum(path.stat().st_size for path in (trained / "nano").iterdir())


def test_a_missing_evaluation_file_is_reported_and_costs_nothing_else(trained: Path) -> None:
    assert any("missing.jsonl" in line["message"] for line in events(trained, "trouble"))


def test_the_exported_folder_holds_the_averages_rounded(trained: Path) -> None:
    state = torch.load(trained / "checkpoint.pt", weights_only=True)
    weights = read_weights(trained / "nano")
    assert set(weights) == set(state["masters"]["averages"])
    embedding = Weights(trained / "nano")["model.embed_tokens.weight"]
    assert embedding.dtype == "i8"
    assert json.loads((trained / "nano" / "config.json").read_text())["quantization_config"]["bits"] == 8
    for name, weight in weights.items():
        torch.testing.assert_close(weight, state["masters"]["averages"][name], atol=0.02, rtol=0.02)


def test_transformers_says_what_our_decoder_says(trained: Path) -> None:
    folder = trained / "nano"
    weights = read_weights(folder)
    config = json.loads((folder / "config.json").read_text())
    config.pop("quantization_config")
    model = Qwen3ForCausalLM(Qwen3Config(**config)).eval()
    assert model.load_state_dict(weights, strict=False).missing_keys == ["lm_head.weight"]
    tokenizer = Tokenizer(folder)
    network = Qwen3(Shape(vocab_size=tokenizer.vocab_size, **NETWORK)).eval()
    network.load_tensors(weights)
    prompt = render_prompt(address(("name", "phone")), tokenizer)
    asked = [*prompt.prefix, *tokenizer.encode("Bob 307"), *prompt.suffix]
    end = tokenizer.eos_token_ids[0]
    (ours,) = Decoder(network, Rotary(network.shape, "cpu")).greedy([asked], end=end, at_most=40)
    theirs = model.generate(torch.tensor([asked]), max_new_tokens=40, do_sample=False, pad_token_id=0)[0, len(asked) :]
    assert ours == [token for token in theirs.tolist() if token != end]
    assert len(set(ours)) > 1


def test_a_resumed_run_goes_on_from_where_it_was(trained: Path, data: Path, toy_folder: Path, tmp_path: Path) -> None:
    state = torch.load(trained / "checkpoint.pt", weights_only=True)
    state["progress"] = 0.5
    torch.save(state, trained / "checkpoint.pt")
    out = train(data, toy_folder, tmp_path / "again", 4, "--resume", str(trained))
    lines = events(out, "train")
    assert lines[0]["step"] > state["masters"]["steps"]
    assert lines[0]["progress"] >= 0.5
    assert lines[0]["people"] < events(trained, "train")[0]["people"] * 0.7


def test_a_run_may_start_from_a_finished_folder(trained: Path, data: Path, toy_folder: Path, tmp_path: Path) -> None:
    still = ["--set", "optimiser.rate=1e-9", "--set", "optimiser.matrix_rate=1e-9"]
    out = train(data, toy_folder, tmp_path / "warm", 3.5, "--init", str(trained / "nano"), *still)
    before, after = read_weights(trained / "nano"), read_weights(out / "nano")
    for name, weight in before.items():
        torch.testing.assert_close(after[name], weight, atol=1e-4, rtol=1e-3)
