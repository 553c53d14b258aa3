"""What a model folder says about its network: shapes, rotary embedding, end tokens.

Reads `config.json` and `generation_config.json` of an ordinary Hugging Face folder. Knows neither weights nor engines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from copydesk.errors import ModelError

ModelType = Literal["qwen3", "llama"]
SUPPORTED: tuple[ModelType, ...] = ("qwen3", "llama")
_SIZES = (
    *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
    *("num_key_value_heads", "head_dim", "max_position_embeddings"),
)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The shape of a Qwen3- or Llama-architecture network. Sizes are counts of features, heads, rows or tokens."""

    name: str
    """What answers call the model: the name in `copydesk.json`, else its hub id, else the folder's name."""
    model_type: ModelType
    vocab_size: int
    """Rows of the embedding (at least the tokenizer's own size)."""
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    rope_scaling: Mapping[str, Any] | None
    tie_word_embeddings: bool
    attention_bias: bool
    max_position_embeddings: int
    eos_token_ids: tuple[int, ...]

    @classmethod
    def read(cls, folder: Path) -> ModelConfig:
        """The configuration of the model in `folder`.

        Errors: `ModelError` `model_invalid` when the file is missing, damaged or inconsistent, `model_unsupported` when
        the architecture or a setting of it is none that the engines compute.
        """
        raw = read_json(folder / "config.json")
        try:
            return cls._from_json(raw, folder)
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            problem = f"has no {error}" if isinstance(error, KeyError) else f"cannot be read: {error}"
            raise ModelError(
                f"{folder / 'config.json'} {problem}; fetch the model again", code="model_invalid"
            ) from error

    @classmethod
    def _from_json(cls, raw: Mapping[str, Any], folder: Path) -> ModelConfig:
        model_type = raw.get("model_type")
        if model_type not in SUPPORTED:
            raise ModelError(
                f"{folder}: a model of type {model_type!r} is run by the transformers engine only (pip install "
                f"'copydesk[transformers]'); use that, or a model of type {' or '.join(SUPPORTED)}",
                code="model_unsupported",
            )
        _refuse_unsupported(raw, folder)
        hidden_size, heads = int(raw["hidden_size"]), int(raw["num_attention_heads"])
        theta, scaling = _rope(raw)
        config = cls(
            name=model_name(folder),
            model_type=model_type,
            vocab_size=int(raw["vocab_size"]),
            hidden_size=hidden_size,
            intermediate_size=int(raw["intermediate_size"]),
            num_hidden_layers=int(raw["num_hidden_layers"]),
            num_attention_heads=heads,
            num_key_value_heads=int(raw.get("num_key_value_heads") or heads),
            head_dim=int(raw.get("head_dim") or (128 if model_type == "qwen3" else hidden_size // heads)),
            rms_norm_eps=float(raw.get("rms_norm_eps", 1e-6)),
            rope_theta=theta,
            rope_scaling=scaling,
            tie_word_embeddings=bool(raw.get("tie_word_embeddings", False)),
            attention_bias=bool(raw.get("attention_bias", False)),
            max_position_embeddings=int(raw["max_position_embeddings"]),
            eos_token_ids=eos_token_ids(folder),
        )
        for size in _SIZES:
            if getattr(config, size) < 1:
                raise ValueError(f"{size} must be at least 1, not {getattr(config, size)}")
        if config.num_attention_heads % config.num_key_value_heads:
            raise ValueError(
                f"{heads} attention heads cannot be shared out among {config.num_key_value_heads} KV heads"
            )
        return config


def eos_token_ids(folder: Path) -> tuple[int, ...]:
    """Ids that end a generation, as `generation_config.json`, else `config.json`, lists them; empty if neither does.

    Errors: `ModelError` `model_invalid` when they are no ids.
    """
    for file in ("generation_config.json", "config.json"):
        path = folder / file
        if path.is_file() and (listed := read_json(path).get("eos_token_id")) is not None:
            ids = tuple(listed) if isinstance(listed, list) else (listed,)
            if not all(isinstance(id, int) for id in ids):
                raise ModelError(f"{path}: eos_token_id must be a token id or a list of them", code="model_invalid")
            return ids
    return ()


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model folder.

    Errors: `ModelError` `model_invalid` when it is missing, unreadable, or no JSON object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{path.parent} is no model folder: it has no {path.name}", code="model_invalid") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read ({error}); fetch the model again", code="model_invalid") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path} is no JSON object; fetch the model again", code="model_invalid")
    return cast(dict[str, Any], value)


def model_name(folder: Path) -> str:
    """What answers call the model in `folder`. Errors: `ModelError` for a damaged `copydesk.json`."""
    own = folder / "copydesk.json"
    if own.is_file() and "name" in (description := read_json(own)):
        return str(description["name"])
    place = folder.resolve()
    # A hub's cache: models--Qwen--Qwen3-0.6B/snapshots/<commit>, of ModelScope Qwen--Qwen3-0.6B/snapshots/<revision>.
    if place.parent.name == "snapshots":
        return place.parent.parent.name.removeprefix("models--").replace("--", "/")
    return place.name


def _rope(raw: Mapping[str, Any]) -> tuple[float, Mapping[str, Any] | None]:
    """Base and scaling of the rotary embedding, from either of the two layouts that Transformers writes."""
    # Since Transformers 5 both live in `rope_parameters`; before, they were two keys of their own.
    rope = _object(raw, "rope_parameters") or _object(raw, "rope_scaling")
    theta = float(raw.get("rope_theta") or rope.get("rope_theta") or 10_000.0)
    kind = rope.get("rope_type") or rope.get("type") or "default"
    if kind == "default":
        return theta, None
    return theta, {key: value for key, value in rope.items() if key != "rope_theta"}


def _object(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under a key, empty where there is none. Errors: `TypeError` for anything else."""
    value = raw.get(key) or {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{key} is no object")
    return value


def _refuse_unsupported(raw: Mapping[str, Any], folder: Path) -> None:
    """Refuse the settings of these architectures that would silently give other logits."""
    settings = {
        "hidden_act": raw.get("hidden_act", "silu") != "silu",
        "use_sliding_window": bool(raw.get("use_sliding_window")),
        "mlp_bias": bool(raw.get("mlp_bias")),
    }
    for setting, refused in settings.items():
        if refused:
            raise ModelError(
                f"{folder}: config.json sets {setting} to {raw[setting]!r}, which is not supported; use another model",
                code="model_unsupported",
            )
    quantization = _object(raw, "quantization_config")
    if quantization and quantization.get("quant_method") != "copydesk":
        raise ModelError(
            f"{folder}: weights quantised with {quantization.get('quant_method')!r} cannot be read; "
            "use the model's original bf16 folder",
            code="model_unsupported",
        )
