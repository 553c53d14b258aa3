"""A model as Transformers has loaded it: rows of tokens in, scores of the wanted places out.

One at a time computes: engines of several threads may share it. Knows no sequences.
"""

from __future__ import annotations

import gc
import inspect
import threading
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache

TOLERANCES = {torch.float32: 1e-3, torch.bfloat16: 0.05, torch.float16: 0.05}


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Rows of tokens: padding, past, new tokens, padding. All but the mask begin with the new tokens."""

    tokens: Tensor
    """int64 `[rows, width]`."""
    positions: Tensor
    """int64 `[rows, width]`: how many tokens of its sequence come before each."""
    mask: Tensor
    """int64 `[rows, past + width]`: 1 for tokens, 0 for padding."""
    wanted_rows: Tensor
    wanted_columns: Tensor
    """int64 `[wanted]`: which places are to be scored."""


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """What a forward gives."""

    logits: Tensor
    """`[wanted, vocab_size]`."""
    hidden: Tensor | None
    """`[wanted, hidden_size]`, as the head got them; None if the model applies it in a way of its own."""


class Network:
    """A causal language model on its devices."""

    def __init__(self, name: str, model: Any, device: torch.device, context_length: int) -> None:
        """`device` is where inputs go."""
        self.name = name
        self.device = device
        self.context_length = context_length
        self.dtype: torch.dtype = model.dtype
        self.tolerance = TOLERANCES.get(self.dtype, 0.1)
        self.layers: int = model.config.get_text_config().num_hidden_layers
        self._model = model
        self._lock = threading.Lock()
        names = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"  # renamed in version 5.2x
        self._takes_positions = "position_ids" in names
        self._places: tuple[Tensor, Tensor] | None = None
        self._picked: Tensor | None = None
        self._scale = 1.0
        self._head = model.get_output_embeddings()
        # Where the head is applied, only the places that are wanted are kept: whatever the model's class does to logits
        # afterwards is done to theirs alone.
        self._hook = self._head.register_forward_pre_hook(self._pick) if self._head is not None else None

    def read(self, inputs: Inputs, cache: Cache | None) -> Outputs:
        """One forward of all rows; `cache` holds their pasts and takes what is new. Errors: PyTorch's."""
        arguments = {"input_ids": inputs.tokens, "attention_mask": inputs.mask, "use_cache": cache is not None}
        if self._takes_positions:
            arguments["position_ids"] = inputs.positions
        if cache is not None:
            arguments[self._cache_name] = cache
        with self._lock, torch.inference_mode():
            self._places = places = inputs.wanted_rows, inputs.wanted_columns
            try:
                logits = self._model(**arguments).logits
                picked = self._picked
            finally:
                self._places = self._picked = None
            if picked is not None:
                return Outputs(logits[0], picked)
            return Outputs(logits[tuple(place.to(logits.device) for place in places)], None)

    def project(self, hidden: Tensor) -> Tensor:
        """What the head makes of hidden states `[n, hidden_size]` that a forward gave: `[n, vocab_size]`."""
        with self._lock, torch.inference_mode():
            logits: Tensor = self._head(hidden[None])[0]
            return logits

    def projects_plainly(self, inputs: Inputs, scale: float) -> bool:
        """Whether logits are what `project` makes of hidden states, and no more, with states so many times as large."""
        self._scale = scale
        try:
            outputs = self.read(inputs, None)
        finally:
            self._scale = 1.0
        return outputs.hidden is not None and torch.allclose(outputs.logits, self.project(outputs.hidden), rtol=1e-3)

    def close(self) -> None:
        """Free the weights."""
        if self._hook is not None:
            self._hook.remove()
        self._model = self._head = self._hook = None
        gc.collect()  # offloading ties modules and their hooks into rings
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def _pick(self, head: Any, arguments: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        if self._places is None or not arguments:
            return None
        rows, columns = (place.to(arguments[0].device) for place in self._places)
        self._picked = arguments[0][rows, columns] * self._scale
        return (self._picked[None], *arguments[1:])
