"""The wide network computes the same function: in float64 exactly, in bfloat16 and 8 bits as near as is promised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.engines.openvino.compression import compress
from copydesk.errors import ModelError, UsageError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Tensor, Weights, to_bf16
from copydesk.training.wide_weights import WideWeights, heads
from engines.random_folders import Shape, write_folder
from training.exact_network import log_sum_exp, logits

SMALL = Shape(vocab_size=96, hidden_size=48, intermediate_size=64, layers=2, heads=4, kv_heads=2, head_dim=16)
WIDE = Shape(vocab_size=160, hidden_size=128, intermediate_size=96, layers=3, heads=8, kv_heads=4, head_dim=16)
PAIRS = {
    "the same groups": (SMALL, WIDE),
    "s is a power of two": (replace(SMALL, hidden_size=32), WIDE),
    "s is hardly more than one": (replace(SMALL, hidden_size=126), WIDE),
    "s is large": (SMALL, replace(WIDE, hidden_size=512)),
    "larger groups": (SMALL, replace(WIDE, heads=12, kv_heads=3)),
    "smaller groups": (replace(SMALL, heads=6), replace(WIDE, heads=12, kv_heads=6)),
    "no groups": (replace(SMALL, heads=3, kv_heads=1), replace(WIDE, heads=4, kv_heads=4)),
    "a head of its own": (replace(SMALL, tied=False), WIDE),
    "no extra layer": (SMALL, replace(WIDE, layers=2)),
}


class Case:
    """A small model in the built-in model's form, and where its tokens go in a wide one."""

    def __init__(self, folder: Path, small: Shape, wide: Shape, *, epsilon: float = 1e-6) -> None:
        self.weights = Weights(write_folder(folder / "small", small, "nano"))
        self.source = replace(ModelConfig.read(folder / "small"), rms_norm_eps=epsilon)
        self.target = replace(
            ModelConfig.read(write_folder(folder / "wide", wide)), rms_norm_eps=epsilon, tie_word_embeddings=False
        )
        self.ids = np.sort(np.random.default_rng(5).permutation(wide.vocab_size)[: small.vocab_size])
        self.unused = np.setdiff1d(np.arange(wide.vocab_size), self.ids)

    def wide(self, *, seed: int = 0, dtype: type = np.float64) -> WideWeights:
        return WideWeights(self.weights, self.source, self.target, self.ids, seed=seed, dtype=dtype)

    def expected(self, tokens: list[int]) -> np.ndarray:
        small = {name: tensor.float32().astype(np.float64) for name, tensor in self.weights.items()}
        return logits(small, self.source, tokens)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("widened"), SMALL, WIDE)


@pytest.mark.parametrize(("small", "wide"), PAIRS.values(), ids=PAIRS.keys())
@pytest.mark.parametrize("epsilon", [1e-6, 0.03])
def test_it_is_the_same_function(small: Shape, wide: Shape, epsilon: float, tmp_path: Path) -> None:
    case = Case(tmp_path, small, wide, epsilon=epsilon)
    tokens = np.random.default_rng(1).integers(small.vocab_size, size=20).tolist()
    expected = case.expected(tokens)
    found = logits(dict(case.wide()), case.target, case.ids[tokens].tolist())
    np.testing.assert_allclose(found[:, case.ids], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(log_sum_exp(found), log_sum_exp(expected), rtol=1e-13)
    assert np.isin(found.argmax(1), case.ids).all()


def test_epsilon_would_show_if_it_were_not_carried_over(tmp_path: Path) -> None:
    case = Case(tmp_path, SMALL, WIDE, epsilon=0.03)
    wide = dict(case.wide())
    wide["model.embed_tokens.weight"][:, -1] = 1e-9
    wide["model.norm.weight"][-1] *= 1e9
    found = logits(wide, case.target, case.ids[:9].tolist())[:, case.ids]
    assert np.abs(found - case.expected(list(range(9)))).max() > 1e-2


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, WIDE.vocab_size - 1), min_size=1, max_size=12))
def test_unused_tokens_never_win_even_after_unused_ones(case: Case, tokens: list[int]) -> None:
    found = logits(dict(case.wide()), case.target, tokens)
    assert (found[:, case.unused].max(1) < found[:, case.ids].min(1) - 100).all()


def test_unused_tokens_stay_down_with_large_weights(tmp_path: Path) -> None:
    case = Case(tmp_path, replace(SMALL, layers=3), WIDE)
    loud = {
        name: replace(tensor, exponents=tensor.exponents + np.int8(4))
        if tensor.exponents is not None and "embed" not in name
        else tensor
        for name, tensor in case.weights.items()
    }
    wide = WideWeights(loud, case.source, case.target, case.ids, dtype=np.float64)
    found = logits(dict(wide), case.target, case.ids[:40].tolist())
    assert (found[:, case.unused].max(1) < found[:, case.ids].min(1) - 100).all()


def test_the_seed_sets_what_does_nothing(case: Case) -> None:
    first, again, other = dict(case.wide(seed=1)), dict(case.wide(seed=1)), dict(case.wide(seed=2))
    assert list(first) == list(again) == list(other)
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name], err_msg=name)
    assert any(not np.array_equal(first[name], other[name]) for name in first)
    tokens = case.ids[:9].tolist()
    np.testing.assert_allclose(
        logits(first, case.target, tokens)[:, case.ids],
        logits(other, case.target, tokens)[:, case.ids],
        rtol=1e-12,
        atol=1e-12,
    )


def test_iterating_again_gives_the_same(case: Case) -> None:
    wide = case.wide()
    first, again = dict(wide), dict(wide)
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_nothing_is_zero_throughout(case: Case) -> None:
    for name, values in case.wide():
        if values.ndim == 2:
            assert np.abs(values).max(1).min() > 0, name
            if not name.endswith(("o_proj.weight", "down_proj.weight", "embed_tokens.weight")):
                assert (values != 0).mean() > 0.6, name


def test_matrices_are_exact_in_bfloat16(case: Case) -> None:
    for name, values in case.wide(dtype=np.float32):
        if values.ndim == 2:
            kept = values if "embed_tokens" not in name else values[:, :-1]
            np.testing.assert_array_equal(Tensor(to_bf16(kept), "bf16").float32(), kept, err_msg=name)


def test_matrices_are_exact_in_8_bits(case: Case) -> None:
    """By the arithmetic of the engine: the largest of each row is 127 steps."""
    for name, values in case.wide(dtype=np.float32):
        if values.ndim == 2 and "embed_tokens" not in name:
            matrix = compress(Tensor(to_bf16(values), "bf16"), 8)
            if name == "lm_head.weight":
                matrix = replace(matrix, stored=matrix.stored[case.ids], scale=matrix.scale[case.ids])
                values = values[case.ids]
            np.testing.assert_array_equal(matrix.stored * matrix.scale, values, err_msg=name)


@pytest.mark.parametrize("bits", [16, 8])
def test_rounded_weights_stay_near(case: Case, bits: int) -> None:
    wide = {}
    for name, values in case.wide(dtype=np.float32):
        tensor = Tensor(to_bf16(values), "bf16")
        matrix = compress(tensor, 8) if bits == 8 and values.ndim == 2 else None
        wide[name] = tensor.float32() if matrix is None else matrix.stored * matrix.scale
    tokens = np.random.default_rng(3).integers(SMALL.vocab_size, size=40).tolist()
    found = logits(wide, case.target, case.ids[tokens].tolist())
    assert np.abs(found[:, case.ids] - case.expected(tokens)).max() < (0.05 if bits == 16 else 0.1)
    assert (found[:, case.unused].max(1) < found[:, case.ids].min(1) - 100).all()


def test_heads_stand_with_their_kv_heads(case: Case) -> None:
    source = replace(case.source, num_attention_heads=6, num_key_value_heads=2)
    queries, keys = heads(source, replace(case.target, num_attention_heads=16, num_key_value_heads=8))
    assert keys.tolist() == [0, 0, 1, 1, -1, -1, -1, -1]
    assert queries.tolist() == [0, 1, 2, -1, 3, 4, 5, -1] + 8 * [-1]
    queries, keys = heads(source, replace(case.target, num_attention_heads=16, num_key_value_heads=4))
    assert keys.tolist() == [0, 1, -1, -1]
    assert queries.tolist() == [0, 1, 2, -1, 3, 4, 5, -1] + 8 * [-1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head_dim": 32}, "head_dim"),
        ({"rope_theta": 1e4}, "rope_theta"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_scaling"),
        ({"hidden_size": 49}, "hidden_size of at least 50"),
        ({"intermediate_size": 64}, "intermediate_size of at least 65"),
        ({"num_hidden_layers": 1}, "num_hidden_layers of at least 2"),
        ({"num_key_value_heads": 2, "num_attention_heads": 4}, "2 KV heads and one to spare"),
        ({"model_type": "llama"}, "no Qwen3 model"),
        ({"attention_bias": True}, "no Qwen3 model"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(case: Case, changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WideWeights(case.weights, case.source, replace(case.target, **changes), case.ids)


def test_rows_without_tokens_are_refused(case: Case) -> None:
    with pytest.raises(UsageError, match="96 rows for 95 tokens"):
        WideWeights(case.weights, case.source, case.target, case.ids[:-1])


def test_weights_that_would_drown_the_constant_are_refused(case: Case) -> None:
    name = "model.embed_tokens.weight"
    embedding = case.weights[name]
    loud = replace(embedding, exponents=embedding.exponents + np.int8(6))
    with pytest.raises(UsageError, match="8 bits would lose the constant"):
        WideWeights({**case.weights, name: loud}, case.source, case.target, case.ids)


def test_a_missing_tensor_is_named(case: Case) -> None:
    weights = {name: tensor for name, tensor in case.weights.items() if "layers.1.mlp.up_proj" not in name}
    with pytest.raises(ModelError, match=r"layers\.1\.mlp\.up_proj"):
        dict(WideWeights(weights, case.source, case.target, case.ids))
