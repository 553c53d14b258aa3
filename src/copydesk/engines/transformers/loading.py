"""From a model folder to a network on its devices, by Transformers.

Whatever is wrong with the options or the folder comes out as one clear line. Code that a folder brings along is never
run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import accelerate
import safetensors
import torch
import transformers
from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

from copydesk.engines.options import DTYPES
from copydesk.engines.transformers.installed import silence
from copydesk.engines.transformers.network import Network
from copydesk.engines.transformers.placement import Placement
from copydesk.engines.transformers.selftest import Findings, examine
from copydesk.errors import CopydeskError, EngineError, ModelError, UsageError
from copydesk.home import home
from copydesk.models.config import model_name
from copydesk.models.unpacked import unpacked
from copydesk.models.weights import weight_files

_LARGE = 100_000_000
"""Weights from which a model is computed with as they are stored; smaller ones in float32."""
_LENGTHS = ("max_position_embeddings", "max_seq_len", "seq_length", "n_ctx")
"""Where configurations keep the longest context, by falling frequency."""
_UNKNOWN_LENGTH = 2048


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """What engines share."""

    network: Network
    findings: Findings

    def close(self) -> None:
        """Free the weights."""
        self.network.close()


def open_model(folder: Path, dtype: str, placement: Placement) -> Loaded:
    """Load the model in `folder`. `dtype` is one of `DTYPES`; `auto` is float32 for small models, else as stored.

    Errors: `UsageError` for an unknown dtype and a map that does not fit the model, `ModelError` `model_invalid` and
    `model_unsupported` for the folder, `EngineError` `cache_full` when memory runs out.
    """
    if dtype not in DTYPES:
        raise UsageError(f"there is no dtype {dtype!r}; choose {', '.join(DTYPES[:-1])} or {DTYPES[-1]}")
    name = model_name(folder)
    folder = unpacked(folder, home() / "unpacked")
    with silence():
        config = _config(folder)
        settings: dict[str, Any] = {"dtype": _dtype(dtype, folder, config, placement)}
        if placement.device is None:
            settings["device_map"] = _device_map(config, placement)
            settings["max_memory"] = dict(accelerate.utils.get_max_memory()) | dict(placement.max_memory)
            settings["offload_folder"] = placement.offload_folder
        elif placement.device != "cpu":
            settings["device_map"] = {"": placement.device}
        model = _loaded(folder, config, settings)
    model.eval().requires_grad_(False)
    network = Network(name, model, _input_device(model), _context_length(config))
    try:
        return Loaded(network, examine(network))
    except Exception as error:
        network.close()
        raise _failed(folder, error) from error


def _input_device(model: Any) -> torch.device:
    """Where inputs go: to the first card that computes, if there is one."""
    cards = [place for place in getattr(model, "hf_device_map", {}).values() if place not in ("cpu", "disk")]
    if cards:
        return torch.device(cards[0])
    real = (parameter.device for parameter in model.parameters() if parameter.device.type != "meta")
    return next(real, torch.device("cpu"))


def _config(folder: Path) -> Any:
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # OSError, ValueError, and whatever a configuration's own class raises
        raise _failed(folder, error) from error
    settings = getattr(config, "quantization_config", None)
    method = settings.get("quant_method") if isinstance(settings, dict) else None
    if settings is not None and method not in AUTO_QUANTIZATION_CONFIG_MAPPING:
        # Transformers would take the codes for weights.
        raise ModelError(
            f"{folder}: Transformers knows no weights quantised with {method!r}; use the model's original folder",
            code="model_unsupported",
        )
    return config


def _loaded(folder: Path, config: Any, settings: Mapping[str, Any]) -> Any:
    try:
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            **settings,
        )
    except Exception as error:  # a library of many hands
        raise _failed(folder, error) from error
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{folder} lacks weights that its architecture has ({missing[0]} and {len(missing) - 1} more); "
            "fetch the model again",
            code="model_invalid",
        )
    return model


def _failed(folder: Path, error: Exception) -> CopydeskError:
    """What to raise for whatever PyTorch or Transformers raised."""
    if isinstance(error, CopydeskError):
        return error
    if isinstance(error, torch.OutOfMemoryError):
        return EngineError(
            f"{folder} does not fit in the card's memory; use a smaller dtype, or device_map='auto', which places the "
            "rest in the computer's",
            code="cache_full",
        )
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ModelError(f"Transformers cannot load {folder}: {reason}", code="model_unsupported")


def _dtype(dtype: str, folder: Path, config: Any, placement: Placement) -> Any:
    if dtype != "auto":
        return getattr(torch, dtype)
    if getattr(config, "quantization_config", None) is not None:
        return "auto"  # what its method computes with
    count, stored = _weights(folder)
    # Processors hardly multiply float16.
    if count < _LARGE or stored not in ("BF16", "F16") or (stored == "F16" and placement.device == "cpu"):
        return torch.float32
    return torch.bfloat16 if stored == "BF16" else torch.float16


def _weights(folder: Path) -> tuple[int, str]:
    """How many weights the folder's files hold, and the type of the largest."""
    count, largest, dtype = 0, 0, ""
    for path in weight_files(folder):
        try:
            with safetensors.safe_open(path, "pt") as file:
                for name in file.keys():  # noqa: SIM118 (it is no dict)
                    part = file.get_slice(name)
                    size = int(torch.Size(part.get_shape()).numel())
                    count += size
                    if size > largest:
                        largest, dtype = size, part.get_dtype()
        except (OSError, safetensors.SafetensorError) as error:
            raise ModelError(f"{path} cannot be read ({error}); fetch the model again", code="model_invalid") from error
    return count, dtype


def _device_map(config: Any, placement: Placement) -> Any:
    if placement.automatic:
        return "auto"
    with torch.device("meta"):  # the modules without their weights
        model = transformers.AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    if placement.layers_on_gpu is None:
        _check_modules(model, dict(placement.modules))
        return dict(placement.modules)
    layers, count = _layers(model, config)
    if placement.layers_on_gpu > count:
        raise UsageError(f"layers-on-gpu={placement.layers_on_gpu}: the model has {count} layers")
    on_gpu = {f"{layers}.{number}": 0 if number < placement.layers_on_gpu else "cpu" for number in range(count)}
    held = (*model.named_parameters(remove_duplicate=False), *model.named_buffers())
    others = {name.rpartition(".")[0] for name, _ in held if not name.startswith(f"{layers}.")}
    return on_gpu | dict.fromkeys(others, 0)


def _layers(model: Any, config: Any) -> tuple[str, int]:
    """Name of the list of layers, and how many there are."""
    count = config.get_text_config().num_hidden_layers
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return name, count
    raise UsageError("layers-on-gpu=N: this model has no list of layers; give device_map as an object, or auto")


def _check_modules(model: Any, modules: Mapping[str, int | str]) -> None:
    known = {name for name, _ in model.named_modules()} | {name for name, _ in model.named_parameters()}
    for name in modules:
        if name not in known:
            some = ", ".join(name for name, _ in model.named_children())
            raise UsageError(f"device_map names {name!r}, which the model has not; its outermost modules are {some}")
    places: dict[int, tuple[str, int | str]] = {}
    for name, weight in model.named_parameters(remove_duplicate=False):
        around = [module for module in modules if module == "" or f"{name}.".startswith(f"{module}.")]
        if not around:
            raise UsageError(f"device_map says nothing of {name}; name it, or a module around it")
        if len(around) > 1:
            raise UsageError(f"device_map names {around[0]!r} and {around[1]!r}, one inside the other; name either")
        place = modules[around[0]]
        first, placed = places.setdefault(id(weight), (name, place))
        if place != placed:
            raise UsageError(
                f"device_map puts {first} on {placed} and {name} on {place}, but they are one weight; put both in one "
                "place"
            )


def _context_length(config: Any) -> int:
    """Errors: none; models without a limit of their own get one that most were trained beyond."""
    text = config.get_text_config()
    lengths = (getattr(text, name, None) for name in _LENGTHS)
    return next((length for length in lengths if isinstance(length, int) and length > 0), _UNKNOWN_LENGTH)
