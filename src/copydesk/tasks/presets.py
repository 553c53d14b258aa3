"""Named settings of chat: how a reply is sampled and how long it may get, where the caller does not say.

Knows nothing of models or texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from copydesk.types import Sampling

PresetName = Literal["fast", "balanced"]
THINKING_FACTOR = 4
"""A reply that is reasoned first may be so many times as long: three parts are for reasoning, one for what follows."""


@dataclass(frozen=True, slots=True)
class Preset:
    """What a call takes where its own options are None."""

    sampling: Sampling
    max_tokens: int
    """Longest reply without reasoning."""


PRESETS: Mapping[PresetName, Preset] = {
    # The penalty keeps a small model, which takes the most probable token each time, from going round in circles.
    "fast": Preset(Sampling(repetition_penalty=1.05), max_tokens=256),
    "balanced": Preset(Sampling(temperature=0.6, top_p=0.9), max_tokens=512),
}
DEFAULT_PRESET: PresetName = "fast"
