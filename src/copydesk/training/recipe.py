"""What a training run is made of: sources, sizes, optimiser, durations. Read from JSON, overridable key by key.

Knows no torch and does nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

from copydesk.errors import UsageError
from copydesk.training.blocks import BlockSize
from copydesk.training.packing import Weighting


@dataclass(frozen=True)
class Source:
    """One part of the mixture: a generator of examples and how much of the tokens it gets."""

    name: str
    generator: str
    """`module:function`; called as `function(rng, **options)`, yields `Example`s, or strings of plain text."""
    options: Mapping[str, Any] = field(default_factory=dict)
    start: float = 1.0
    """Share of the tokens at the beginning (relative to the other sources)."""
    end: float | None = None
    """Share at the end, approached linearly; None: as at the beginning."""
    weighting: Weighting = field(default_factory=Weighting)

    def share(self, progress: float) -> float:
        """At `progress` between 0 and 1."""
        end = self.start if self.end is None else self.end
        return self.start + (end - self.start) * min(max(progress, 0.0), 1.0)


@dataclass(frozen=True)
class Network:
    """The shape's free sizes; the vocabulary comes from the tokenizer."""

    hidden_size: int = 384
    intermediate_size: int = 1024
    num_hidden_layers: int = 8
    num_attention_heads: int = 6
    num_key_value_heads: int = 3
    head_dim: int = 128
    max_position_embeddings: int = 4096
    dropout: float = 0.0


@dataclass(frozen=True)
class Optimiser:
    kind: Literal["muon", "adamw"] = "muon"
    """`muon`: matrices within layers by Muon, the rest by AdamW; `adamw`: everything by AdamW."""
    matrix_rate: float = 0.02
    """Muon's learning rate."""
    rate: float = 2e-3
    """AdamW's learning rate."""
    weight_decay: float = 0.02
    """Share of a matrix's weights that a step at full Muon rate 1.0 would take (times the learning rate)."""
    momentum: float = 0.95
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    """Largest norm of the whole gradient."""
    average: float = 0.999
    """Decay of the moving average of the weights, which is what is evaluated and exported."""
    warm_up: float = 0.02
    decay: Literal["cosine", "linear"] = "linear"
    decay_from: float = 0.4
    """Share of the run after which the rate falls (to 0 at its end)."""


@dataclass(frozen=True)
class Recipe:
    """A whole run. Durations are shares of the run (0 to 1) unless named seconds."""

    sources: tuple[Source, ...] = ()
    block: BlockSize = field(default_factory=BlockSize)
    network: Network = field(default_factory=Network)
    optimiser: Optimiser = field(default_factory=Optimiser)
    text_start: float = 1.0
    """Multiplies the sources' text weights at the beginning ..."""
    text_end: float = 0.0
    """... and at the end (linear in between)."""
    label_smoothing: float = 0.0
    quantise_from: float = 0.85
    """From here on the forward pass uses the quantised weights."""
    attention: str = "auto"
    """`auto`, or one of `attention.KERNELS`."""
    compile: Literal["auto", "on", "off"] = "auto"
    workers: int = 14
    threads: int = 0
    """Of torch, on a CPU; 0 leaves torch's default."""
    replay_blocks: int = 400
    """Earlier blocks kept to train on again when the workers fall behind."""
    replay_at_most: int = 4
    """Consecutive replayed blocks after which the loop waits for a fresh one (0: never replay)."""
    evaluate_every_seconds: float = 90.0
    log_every_seconds: float = 5.0
    checkpoint_every_seconds: float = 0.0
    """0: only at the end."""
    finish_seconds: float = 25.0
    """Kept back from the budget for the last evaluation and the export."""
    evaluate: Mapping[str, str] = field(default_factory=dict)
    """Name to file of gold lines, `{"text", "expected", "unlabelled"}` or `{"text", "label"}`."""
    evaluate_rows: int = 1000
    """At most so many rows of each file during the run; at the end all."""
    peak_flops: float = 750e12
    """The device's bf16 matrix product, for the share that the log prints."""

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)


def read_recipe(path: Path | None, overrides: Sequence[str] = (), folder: Path | None = None) -> Recipe:
    """The recipe in a JSON file (None: the defaults), changed by overrides such as `optimiser.rate=1e-3`.

    A value is JSON, or a bare string. `{data}` in the strings of sources' options and of `evaluate` becomes `folder`.
    Errors: `UsageError` for an unknown key.
    """
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path else {}
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise UsageError(f"An override is written key=value, e.g. optimiser.rate=1e-3; got {override!r}.")
        *parents, last = key.split(".")
        target: Any = raw
        for parent in parents:
            target = _child(target, parent)
        try:
            read: Any = json.loads(value)
        except ValueError:
            read = value
        if isinstance(target, list):
            target[int(last)] = read
        else:
            target[last] = read
    if folder is not None:
        raw = _filled(raw, str(folder))
    recipe: Recipe = _build(Recipe, raw, "")
    return recipe


def _child(target: Any, name: str) -> Any:
    """A member of a raw recipe: a key, or a source by its name."""
    if isinstance(target, list):
        for member in target:
            if isinstance(member, dict) and member.get("name") == name:
                return member
        raise UsageError(f"The recipe has no source {name!r}.")
    return target.setdefault(name, {})


def _filled(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace("{data}", folder)
    if isinstance(value, list):
        return [_filled(member, folder) for member in value]
    if isinstance(value, dict):
        return {key: _filled(member, folder) for key, member in value.items()}
    return value


def _build(kind: Any, raw: Mapping[str, Any], where: str) -> Any:
    known = {entry.name for entry in fields(kind)}
    unknown = sorted(set(raw) - known)
    if unknown:
        raise UsageError(
            f"The recipe has no {where}{unknown[0]}; {where or 'its keys'} are {', '.join(sorted(known))}."
        )
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, value in raw.items():
        if name == "sources":
            values[name] = tuple(_build(Source, source, "sources.") for source in value)
        elif is_dataclass(hints[name]) and isinstance(value, Mapping):
            values[name] = _build(hints[name], value, f"{where}{name}.")
        else:
            values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)
