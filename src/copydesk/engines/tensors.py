"""Picks a model's tensors by name, with the shape that its configuration demands. Knows no OpenVINO."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from copydesk.errors import ModelError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Tensor

_IGNORED = re.compile(r".*\.rotary_emb\.inv_freq")
"""What older folders hold besides weights: it follows from `config.json`."""


class Tensors:
    """The tensors of a Qwen3 or Llama model by the names that Hugging Face gives them.

    Errors, of all methods: `ModelError` `model_invalid` when a tensor is missing or misshapen.
    """

    def __init__(self, weights: Mapping[str, Tensor], config: ModelConfig) -> None:
        self._weights, self._config = weights, config
        self._picked: set[str] = set()

    @property
    def count(self) -> int:
        """How many weights there are in all."""
        return sum(tensor.array.size for tensor in self._weights.values())

    def embedding(self) -> Tensor:
        """`[vocab_size, hidden_size]`."""
        return self._get("model.embed_tokens.weight", self._config.vocab_size, self._config.hidden_size)

    def projection(self) -> Tensor:
        """Of the output, `[vocab_size, hidden_size]`, where it is not the embedding."""
        return self._get("lm_head.weight", self._config.vocab_size, self._config.hidden_size)

    def linear(self, name: str) -> Tensor:
        """The matrix of a layer's linear map, `[outputs, inputs]`; `name` such as `model.layers.0.mlp.up_proj`."""
        config, kind = self._config, name.rpartition(".")[2]
        inputs = {"o_proj": self._queries, "down_proj": config.intermediate_size}.get(kind, config.hidden_size)
        return self._get(f"{name}.weight", self._outputs(kind), inputs)

    def bias(self, name: str) -> NDArray[np.float32] | None:
        """What a linear map adds, float32 `[outputs]`; None if nothing."""
        kind = name.rpartition(".")[2]
        if not self._config.attention_bias or ".self_attn." not in name:
            return None
        return self._get(f"{name}.bias", self._outputs(kind)).float32()

    def norm(self, name: str) -> NDArray[np.float32]:
        """The gains of a norm, float32 `[features]`; `name` such as `model.norm`."""
        is_of_head = name.endswith(("q_norm", "k_norm"))
        return self._get(f"{name}.weight", self._config.head_dim if is_of_head else self._config.hidden_size).float32()

    def check_all_picked(self) -> None:
        """Refuse weights that nothing has asked for: without them the network would be another one.

        An output projection beside an embedding that is tied to it counts as read, as Transformers has it.
        """
        known = {*self._picked, *(["lm_head.weight"] if self._config.tie_word_embeddings else [])}
        unread = [name for name in self._weights if name not in known and not _IGNORED.fullmatch(name)]
        if unread:
            others = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
            raise ModelError(
                f"{self._config.name}: config.json speaks of no {unread[0]}{others}, which the weights hold; "
                "they do not belong together, fetch the model again",
                code="model_invalid",
            )

    @property
    def _queries(self) -> int:
        return self._config.num_attention_heads * self._config.head_dim

    def _outputs(self, kind: str) -> int:
        config = self._config
        keys = config.num_key_value_heads * config.head_dim
        sizes = {"q_proj": self._queries, "k_proj": keys, "v_proj": keys}
        sizes |= {"gate_proj": config.intermediate_size, "up_proj": config.intermediate_size}
        return sizes.get(kind, config.hidden_size)

    def _get(self, name: str, *shape: int) -> Tensor:
        try:
            tensor = self._weights[name]
        except KeyError as error:
            raise ModelError(
                f"{self._config.name}: the weights lack {name}; fetch the model again", code="model_invalid"
            ) from error
        if tensor.array.shape != shape:
            raise ModelError(
                f"{self._config.name}: {name} is {list(tensor.array.shape)} where config.json says {list(shape)}; "
                "fetch the model again",
                code="model_invalid",
            )
        self._picked.add(name)
        return tensor
