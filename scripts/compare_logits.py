"""How far the OpenVINO engine's scores lie from Transformers' on Qwen3-0.6B's shape with random weights.

    python scripts/compare_logits.py [--layers 28] [--tokens 48] [--seed 0]

Prints one line for each way to store and compute: the errors of the log-probabilities against Transformers in fp32 on
the same bf16 weights, and how far one pass of all tokens lies from passes of one. Needs torch and transformers, 4 GB
of disk in the temporary folder, and 6 GB of memory; takes a few minutes.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from copydesk.engines.openvino import OpenVinoEngine, load
from copydesk.engines.openvino.compression import Bits
from copydesk.engines.protocol import Read, Wanted


@dataclass(frozen=True, slots=True)
class Way:
    """One way to store the weights and to compute with them."""

    name: str
    bits: Bits
    exact: bool


WAYS = (
    Way("bf16 weights, fp32 sums", 16, True),
    Way("bf16 weights, bf16 sums", 16, False),
    Way("8-bit weights, fp32 sums", 8, True),
    Way("8-bit weights, fast", 8, False),
    Way("4-bit weights, fp32 sums", 4, True),
    Way("4-bit weights, fast", 4, False),
)


def main() -> None:
    """Make the model, ask Transformers, then each way in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tokens = torch.randint(151_000, (arguments.tokens,), generator=torch.Generator().manual_seed(arguments.seed))
        expected = make(Path(folder), arguments.layers, arguments.seed, tokens)
        print("| weights, sums | tolerance | load s | largest | mean | correlation | same argmax | k passes of one |")
        print("|---|---|---|---|---|---|---|---|")
        for way in WAYS:
            print(line(way, Path(folder), tokens.tolist(), expected), flush=True)


def make(folder: Path, layers: int, seed: int, tokens: torch.Tensor) -> np.ndarray:
    """Write the model to `folder`; Transformers' log-probabilities `[tokens, vocab_size]` in fp32."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=151_936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=layers,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=40_960,
        rope_theta=1_000_000,
        tie_word_embeddings=True,
    )
    Qwen3ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    # Read back, because rounding to bf16 in memory rounds the rotary frequencies too.
    model = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.0f} million weights", file=sys.stderr)
    with torch.no_grad():
        return model(tokens[None]).logits[0].log_softmax(-1).numpy()


def line(way: Way, folder: Path, tokens: list[int], expected: np.ndarray) -> str:
    """The table's line for one way."""
    start = time.perf_counter()
    engine = load(folder, bits=way.bits, exact=way.exact, cache_bytes=2**28)
    seconds = time.perf_counter() - start
    found = rows(engine, [tokens])
    singly = rows(engine, [[token] for token in tokens])
    error = np.abs(found - expected)
    cells = [
        way.name,
        f"{engine.tolerance:g}",
        f"{seconds:.1f}",
        f"{error.max():.2g}",
        f"{error.mean():.2g}",
        f"{np.corrcoef(found.ravel(), expected.ravel())[0, 1]:.6f}",
        f"{np.mean(found.argmax(1) == expected.argmax(1)):.1%}",
        f"{np.abs(found - singly).max():.2g}",
    ]
    for note in engine.notes:
        print(f"{way.name}: {note}", file=sys.stderr)
    engine.close()
    del engine
    gc.collect()
    return f"| {' | '.join(cells)} |"


def rows(engine: OpenVinoEngine, passes: list[list[int]]) -> np.ndarray:
    """Log-probabilities `[tokens, vocab_size]` of a sequence that is read in these passes."""
    sequence = engine.open()
    found = []
    for tokens in passes:
        engine.run([Read(sequence, tuple(tokens), tuple(Wanted(index) for index in range(len(tokens))))])
        found += [engine.row(sequence, index) for index in range(len(tokens))]
    engine.release(sequence)
    return np.stack(found)


if __name__ == "__main__":
    main()
