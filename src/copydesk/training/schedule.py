"""How a run changes with its progress (0 to 1): learning rate, text loss, when quantisation begins.

Progress is elapsed time over the time that training may take, so a run always ends at rate 0, however fast the machine.
"""

from __future__ import annotations

import math

from copydesk.training.recipe import Optimiser, Recipe


def rate(settings: Optimiser, progress: float) -> float:
    """The learning rate's factor: rises linearly to 1, stays, falls to 0 at the end."""
    progress = min(max(progress, 0.0), 1.0)
    if progress < settings.warm_up:
        return progress / settings.warm_up
    if progress <= settings.decay_from:
        return 1.0
    rest = (1.0 - progress) / (1.0 - settings.decay_from)
    return rest if settings.decay == "linear" else 0.5 - 0.5 * math.cos(math.pi * rest)


def text_weight(recipe: Recipe, progress: float) -> float:
    """The factor of the loss on input texts."""
    return recipe.text_start + (recipe.text_end - recipe.text_start) * min(max(progress, 0.0), 1.0)


def quantised(recipe: Recipe, progress: float) -> bool:
    """Whether the forward pass uses the weights as the product will hold them."""
    return progress >= recipe.quantise_from
