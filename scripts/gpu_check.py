"""Whether the CUDA engine computes what it should, on this machine's GPU: a table, and exit code 1 on any mismatch.

    python scripts/gpu_check.py [--model DIR] [--quick] [--seed 0]

Kernels are held against their plain PyTorch twins, the engine against Transformers in float32: random models of
several shapes and, with `--model`, the one in a folder. `--quick` is small enough for `compute-sanitizer`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from copydesk.engines import cuda
from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda import kernels, reference, single
from copydesk.engines.cuda.engine import CudaEngine
from copydesk.engines.cuda.layout import Part, sections
from copydesk.engines.cuda.shapes import Heads
from copydesk.engines.protocol import Read, Wanted

SHAPES = {"Qwen3-0.6B": (1024, Heads(16, 8, 128)), "nano": (384, Heads(6, 3, 128)), "SmolLM2": (576, Heads(9, 3, 64))}
KERNEL_TOLERANCE = {torch.float32: 2e-4, torch.bfloat16: 0.02}
"""Of the largest value: what rounding explains."""
ENGINE_TOLERANCE = {"float32": 2e-3, "bfloat16": 0.15}
"""In log-probability, of a random model whose logits are far apart; the law's near-ties are of real ones."""
LEAST = -50.0
"""A widened model pushes unused tokens to some -10**5, where float32 itself has steps of 0.01."""
EPSILON = 1e-6


class Table:
    """Rows of what was compared, printed as they come."""

    def __init__(self) -> None:
        self.failed = 0
        self.rows = 0

    def add(self, what: str, difference: float, allowed: float) -> None:
        right = bool(difference <= allowed)  # false for what is not a number
        self.failed += not right
        self.rows += 1
        print(f"{what:76} {difference:10.2e} of {allowed:8.1e}  {'ok' if right else 'WRONG'}", flush=True)


def check_kernels(table: Table, dtype: torch.dtype, *, quick: bool) -> None:
    """Each kernel beside its twin."""
    for name, (hidden, heads) in SHAPES.items():
        if name != ("Qwen3-0.6B" if quick else "SmolLM2" if dtype == torch.float32 else name):
            continue
        for what, one, other in _pairs(hidden, heads, dtype, quick=quick):
            scale = max(1.0, other.float().abs().max().item()) if other.numel() else 1.0
            difference = (one.float() - other.float()).abs().max().item() / scale if other.numel() else 0.0
            table.add(f"{what}, {name}, {str(dtype).removeprefix('torch.')}", difference, KERNEL_TOLERANCE[dtype])


def _pairs(hidden: int, heads: Heads, dtype: torch.dtype, *, quick: bool) -> Iterator[tuple[str, Tensor, Tensor]]:
    def random(*shape: int, scale: float = 1.0, dtype: torch.dtype = dtype) -> Tensor:
        return (torch.randn(*shape, device="cuda") * scale).to(dtype)

    vocabulary, inner, count = 1501, 3 * hidden, 70
    embedding, gains = random(vocabulary, hidden), random(hidden, dtype=torch.float32)
    tokens = torch.randint(vocabulary, (count,), device="cuda", dtype=torch.int32)
    for one, other in zip(
        kernels.embed(tokens, embedding, gains, EPSILON),
        reference.embed(tokens, embedding, gains, EPSILON),
        strict=True,
    ):
        yield "embed", one, other
    residual, update = random(count, hidden, dtype=torch.float32), random(count, hidden)
    twin = residual.clone()
    yield (
        "add_norm",
        kernels.add_norm(residual, update, gains, EPSILON),
        reference.add_norm(twin, update, gains, EPSILON),
    )
    yield "add_norm, the stream", residual, twin
    yield "norm", *(part.norm(residual, gains, EPSILON, dtype) for part in (kernels, reference))
    rows = torch.tensor([3, 69, 0], device="cuda", dtype=torch.int32)
    yield (
        "gather_add_norm",
        *(part.gather_add_norm(residual, update, rows, gains, EPSILON) for part in (kernels, reference)),
    )
    gate_up = random(count, 2 * inner)
    yield "gate", kernels.gate(gate_up), reference.gate(gate_up)
    yield from _attention_pairs(heads, dtype, random, quick=quick)
    for states in (random(1, hidden), random(37, hidden), random(300, hidden)):
        weight = random(vocabulary, hidden, scale=hidden**-0.5)
        one, other = kernels.score(states, weight), reference.score(states, weight)
        yield f"score of {len(states)}: log-probability", one[1], other[1]
        yield f"score of {len(states)}: normalizer", one[2], other[2]
        logits = reference.project(states, weight)
        chosen = logits.gather(1, one[0].view(torch.int32).long()[:, None])
        yield f"score of {len(states)}: argmax is best", chosen[:, 0], logits.max(1).values
        yield f"project {len(states)}", kernels.project(states, weight), logits
        where = torch.tensor([0, len(states) - 1], device="cuda", dtype=torch.int32)
        yield "listed", *(part.listed(states, weight, other[2], where, tokens[:2]) for part in (kernels, reference))
    nowhere = kernels.score(random(2, hidden) * float("nan"), random(vocabulary, hidden))[0].view(torch.int32)
    yield "score of what is no number: argmax", nowhere, torch.zeros_like(nowhere)
    yield from _single_pairs(hidden, inner, random)
    yield from _single_attention_pairs(hidden, heads, random)


def _attention_pairs(heads: Heads, dtype: torch.dtype, random: Any, *, quick: bool) -> Iterator[Any]:
    for lengths, starts in (
        ([30, 14, 1], [0, 40, 3]),
        ([200, 1, 90], [0, 500, 33]),
        ([1] * 40, [7 * n for n in range(40)]),
    ):
        if quick and len(lengths) > 3:
            continue
        blocks, used = [], 1
        for start, length in zip(starts, lengths, strict=True):
            needed = -(-(start + length) // BLOCK_SIZE)
            blocks.append(list(range(used, used + needed)))
            used += needed
        total = sum(lengths)
        part = Part(
            np.zeros(total, np.int32),
            np.array(starts, np.int32),
            np.array(lengths, np.int32),
            np.arange(total, dtype=np.int32),
            blocks,
        )
        for tile in (16, 64):
            size = part.size(tile)
            flat = np.empty(size.flat, np.int32)
            part.fill(sections(flat, size), size)
            batch = {key: value.contiguous() for key, value in sections(torch.from_numpy(flat).cuda(), size).items()}  # type: ignore[arg-type, attr-defined]
            qkv = random(total, (heads.query + 2 * heads.kv) * heads.size)
            caches = [random(used, heads.kv, BLOCK_SIZE, heads.size) for _ in range(2)]
            angles = torch.rand(1000, heads.size // 2, device="cuda") * 6
            norms = [random(heads.size, dtype=torch.float32) for _ in range(2)]
            results = []
            for operations in (kernels, reference):
                keys, values = (cache.clone() for cache in caches)
                query = operations.rotate_and_store(
                    qkv, batch["positions"], batch["rows"], batch["tables"], angles.cos(), angles.sin(), *norms,
                    EPSILON, keys, values, heads,
                )  # fmt: skip
                tiles = [batch[f"tile_{name}"] for name in ("starts", "counts", "positions", "rows")]
                attended = operations.attend(query, keys, values, *tiles, batch["tables"], heads, tile)
                results.append((query, keys, values, attended))
            for what, one, other in zip(("query", "keys", "values", "attend"), *results, strict=True):
                yield f"{what}, lengths {lengths[:3]} after {starts[:3]}, tiles of {tile}", one, other
    keys, values = (random(3, 9, heads.kv, BLOCK_SIZE, heads.size) for _ in range(2))
    twins = keys.clone(), values.clone()
    pairs = torch.tensor([[1, 2], [7, 8]], device="cuda", dtype=torch.int32)
    kernels.copy_blocks(keys, values, *pairs)
    reference.copy_blocks(*twins, *pairs)
    yield "copy_blocks, keys", keys, twins[0]
    yield "copy_blocks, values", values, twins[1]


def _single_pairs(hidden: int, inner: int, random: Any) -> Iterator[tuple[str, Tensor, Tensor]]:
    """The kernels for a single token beside what they fuse."""
    residual, gains = random(1, hidden, dtype=torch.float32), random(hidden, dtype=torch.float32)
    weight, bias = random(2 * inner, hidden, scale=hidden**-0.5), random(2 * inner)
    states = reference.norm(residual, gains, EPSILON, torch.float32)
    for early in (False, True) if single.has_early_launch() else (False,):
        expected = reference.linear(states, weight.float(), bias.float())
        yield "norm_linear", single.norm_linear(residual, gains, weight, bias, EPSILON, early=early), expected
        expected = reference.gate(reference.linear(states, weight.float()))
        yield "norm_gate", single.norm_gate(residual, gains, weight, EPSILON, early=early), expected
        down, gated, stream = random(hidden, inner, scale=inner**-0.5), random(1, inner), residual.clone()
        single.linear_add(gated, down, None, stream, early=early)
        yield "linear_add", stream, residual + gated.float() @ down.float().T


def _single_attention_pairs(hidden: int, heads: Heads, random: Any) -> Iterator[tuple[str, Tensor, Tensor]]:
    """The attention of a single token, and the product that follows, beside what they fuse."""
    inputs, width = heads.query * heads.size, 32
    keys, values = (random(width, heads.kv, BLOCK_SIZE, heads.size) for _ in range(2))
    tables = torch.arange(2 * width, device="cuda", dtype=torch.int32).view(2, width) % width
    row, nothing = torch.ones(1, device="cuda", dtype=torch.int32), torch.zeros(1, device="cuda", dtype=torch.int32)
    angles = torch.rand(width * BLOCK_SIZE, heads.size // 2, device="cuda") * 6
    norms = [random(heads.size, dtype=torch.float32) for _ in range(2)]
    weight = random(hidden, inputs, scale=inputs**-0.5)
    for before in (0, 5, 64, 300, width * BLOCK_SIZE - 1):
        position = torch.full((1,), before, device="cuda", dtype=torch.int32)
        qkv = random(1, (heads.query + 2 * heads.kv) * heads.size)
        own, twins = ([cache.clone() for cache in (keys, values)] for _ in range(2))
        where = (position, row, tables, angles.cos(), angles.sin(), *norms, EPSILON)
        query = reference.rotate_and_store(qkv, *where, *twins, heads)
        attended = reference.attend(query, *twins, nothing, row, position, row, tables, heads, 16)
        expected = attended.float() @ weight.float().T
        for early in (False, True) if single.has_early_launch() else (False,):
            stream = torch.zeros(1, hidden, device="cuda")
            attended = single.attend(qkv, *where, *own, heads, early=early)
            single.linear_add(attended, weight, None, stream, early=early)
            yield f"attention of one after {before}, early {early}", stream, expected
        yield f"attention of one after {before}, keys", own[0], twins[0]
        yield f"attention of one after {before}, values", own[1], twins[1]


def check_engine(table: Table, name: str, folder: Path, dtype: str, *, quick: bool) -> None:
    """The engine over a folder, beside Transformers in float32."""
    model = _transformers(folder)
    engine = cuda.load(folder, dtype=dtype, cache_bytes=2**30, context_length=1024)
    allowed = ENGINE_TOLERANCE[dtype]
    generator = np.random.default_rng(0)
    texts = [generator.integers(0, engine.vocab_size, size).tolist() for size in (1, 7, 40, 128, 300, 700)]
    texts = texts[:3] if quick else texts
    expected = [_rows(model, text) for text in texts]

    def compare(what: str, found: list[np.ndarray]) -> None:
        worst = max(_difference(one, other) for one, other in zip(found, expected, strict=True))
        table.add(f"{name}, {dtype}: {what}", worst, allowed)

    engine._runner._cache.keys.fill_(float("nan"))
    engine._runner._cache.values.fill_(float("nan"))
    alone = [_read(engine, [text])[0] for text in texts]
    compare("each text alone, poisoned cache", alone)
    compare("all texts in one call", _read(engine, texts))
    compare("in pieces", [_in_pieces(engine, text, generator) for text in texts])
    compare("forked half way", [_forked(engine, text) for text in texts])
    slow = cuda.load(folder, dtype=dtype, cache_bytes=2**28, context_length=1024, record=False)
    worst = max(_difference(_read(slow, [text])[0], one) for text, one in zip(texts, alone, strict=True))
    table.add(f"{name}, {dtype}: recorded as launched one by one", float(worst), allowed)
    slow.close()
    _check_scores(table, f"{name}, {dtype}", engine, texts)
    _check_ahead(table, f"{name}, {dtype}", engine, texts)
    table.add(f"{name}, {dtype}: blocks left in use", float(engine._table.free_blocks - _free(engine)), 0)
    engine.close()
    if dtype == "float32" and not quick:
        engine = cuda.load(folder, dtype=dtype, cache_bytes=2**30, context_length=1024)
        wrong = sum(_greedy(engine, text, 24) != _greedy_of(model, text, 24) for text in texts[:5])
        table.add(f"{name}, {dtype}: greedy texts that differ from Transformers'", wrong, 0)
        engine.close()


def _check_scores(table: Table, name: str, engine: CudaEngine, texts: list[list[int]]) -> None:
    """Scores and rows of one call say the same."""
    worst = wrong = 0.0
    for text in texts:
        sequence = engine.open()
        wanted = tuple(Wanted(index, (index % engine.vocab_size, 3), 5) for index in range(len(text)))
        [scores] = engine.run([Read(sequence, tuple(text), wanted)])
        for one, score in zip(wanted, scores, strict=True):
            row = engine.row(sequence, one.position)
            worst = max(
                worst, abs(score.logprob - row.max()), _difference(np.array(score.listed), row[list(one.listed)])
            )
            wrong += row[score.argmax] < row.max() - 1e-4
        engine.release(sequence)
    table.add(f"{name}: scores as in their rows", float(worst), 2e-3)
    table.add(f"{name}: argmax that is not the best of its row", wrong, 0)


def _check_ahead(table: Table, name: str, engine: CudaEngine, texts: list[list[int]]) -> None:
    """Tokens decoded ahead are those that are decoded one by one."""
    wrong = 0
    for group in ([text] for text in texts) if len(texts) < 4 else (texts[:1], texts[:3], texts[1:]):
        sequences = [engine.open() for _ in group]
        reads = [
            Read(sequence, tuple(text), (Wanted(len(text) - 1, ahead=20),))
            for sequence, text in zip(sequences, group, strict=True)
        ]
        for sequence, text, [score] in zip(sequences, group, engine.run(reads), strict=True):
            ahead = [score.argmax, *(token for token, _ in score.ahead)]
            again = engine.open()
            step, tokens = tuple(text), []
            for index in range(len(ahead)):
                [[one]] = engine.run([Read(again, step, (Wanted(len(step) - 1),))])
                row = engine.row(again, -1)
                if one.argmax != ahead[index]:  # another forward may round a tie to the other side
                    wrong += bool(row.max() - row[ahead[index]] > engine.tolerance)
                step = (ahead[index],)
                tokens.append(one.argmax)
            wrong += engine.length(sequence) != len(text) + len(score.ahead) or len(score.ahead) != 20
            engine.release(again)
            engine.release(sequence)
    table.add(f"{name}: texts decoded ahead that differ from one by one", wrong, 0)


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference among the log-probabilities of tokens that could ever be chosen."""
    return float(np.abs(np.maximum(one, LEAST) - np.maximum(other, LEAST)).max())


def _read(engine: CudaEngine, texts: list[list[int]]) -> list[np.ndarray]:
    sequences = [engine.open() for _ in texts]
    engine.run(
        [
            Read(sequence, tuple(text), tuple(map(Wanted, range(len(text)))))
            for sequence, text in zip(sequences, texts, strict=True)
        ]
    )
    rows = [
        np.stack([engine.row(sequence, index) for index in _sample(len(text))])
        for sequence, text in zip(sequences, texts, strict=True)
    ]
    for sequence in sequences:
        engine.release(sequence)
    return rows


def _in_pieces(engine: CudaEngine, text: list[int], generator: np.random.Generator) -> np.ndarray:
    sequence, rows, begin = engine.open(), {}, 0
    while begin < len(text):
        end = min(len(text), begin + int(generator.integers(1, 60)))
        engine.run([Read(sequence, tuple(text[begin:end]), tuple(map(Wanted, range(end - begin))))])
        rows |= {index: engine.row(sequence, index - begin) for index in _sample(len(text)) if begin <= index < end}
        begin = end
    engine.release(sequence)
    return np.stack([rows[index] for index in _sample(len(text))])


def _forked(engine: CudaEngine, text: list[int]) -> np.ndarray:
    half = len(text) // 2
    origin = engine.open()
    if half:
        engine.run([Read(origin, tuple(text[:half]), tuple(map(Wanted, range(half))))])
    rows = {index: engine.row(origin, index) for index in _sample(len(text)) if index < half}
    fork = engine.fork(origin)
    engine.run([Read(origin, (1, 2, 3)), Read(fork, tuple(text[half:]), tuple(map(Wanted, range(len(text) - half))))])
    rows |= {index: engine.row(fork, index - half) for index in _sample(len(text)) if index >= half}
    engine.release(origin)
    engine.release(fork)
    return np.stack([rows[index] for index in _sample(len(text))])


def _sample(length: int) -> list[int]:
    """The positions whose rows are compared."""
    return sorted({0, length // 3, length // 2, *range(max(0, length - 3), length)})


def _greedy(engine: CudaEngine, text: list[int], count: int) -> list[int]:
    sequence, step, tokens = engine.open(), tuple(text), []
    for _ in range(count):
        [[score]] = engine.run([Read(sequence, step, (Wanted(len(step) - 1),))])
        step = (score.argmax,)
        tokens.append(score.argmax)
    engine.release(sequence)
    return tokens


def _free(engine: CudaEngine) -> int:
    return engine._runner._cache.keys.shape[1] - 1


def _transformers(folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).cuda().eval()


@torch.no_grad()
def _rows(model: Any, text: list[int]) -> np.ndarray:
    logits = model(torch.tensor([text], device="cuda")).logits[0]
    rows: np.ndarray = logits.float().log_softmax(-1)[_sample(len(text))].cpu().numpy()
    return rows


@torch.no_grad()
def _greedy_of(model: Any, text: list[int], count: int) -> list[int]:
    tokens = list(text)
    for _ in range(count):
        tokens.append(int(model(torch.tensor([tokens], device="cuda")).logits[0, -1].argmax()))
    return tokens[len(text) :]


def random_folder(folder: Path, name: str, *, quick: bool) -> Path:
    """A model of the shape of one that is known, with few layers and random weights."""
    from transformers import AutoModelForCausalLM, LlamaConfig, Qwen3Config

    hidden, heads = SHAPES[name]
    settings: dict[str, Any] = {
        "vocab_size": 2000,
        "hidden_size": hidden,
        "intermediate_size": 3 * hidden if hidden != 576 else 1536,
        "num_hidden_layers": 2 if quick else 4,
        "num_attention_heads": heads.query,
        "num_key_value_heads": heads.kv,
        "head_dim": heads.size,
        "max_position_embeddings": 2048,
        "initializer_range": 0.05,
        "tie_word_embeddings": name != "nano",
    }
    config = LlamaConfig(**settings) if name == "SmolLM2" else Qwen3Config(**settings)
    AutoModelForCausalLM.from_config(config).float().save_pretrained(folder / name)
    return folder / name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="a folder to check the engine with as well")
    parser.add_argument("--quick", action="store_true", help="few and small")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.backends.cuda.matmul.allow_tf32 = False
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, seed {arguments.seed}", flush=True)
    table = Table()
    for dtype in (torch.bfloat16, torch.float32):
        check_kernels(table, dtype, quick=arguments.quick)
    with tempfile.TemporaryDirectory() as place:
        for name in list(SHAPES)[: 1 if arguments.quick else None]:
            folder = random_folder(Path(place), name, quick=arguments.quick)
            for precision in ("float32", "bfloat16"):
                check_engine(table, name, folder, precision, quick=arguments.quick)
        if arguments.model:
            for precision in ("float32", "bfloat16"):
                check_engine(table, arguments.model.name, arguments.model, precision, quick=arguments.quick)
    print(f"{table.rows} comparisons, {table.failed} wrong")
    sys.exit(1 if table.failed else 0)


if __name__ == "__main__":
    main()
