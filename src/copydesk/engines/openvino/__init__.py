"""The default engine on a CPU: OpenVINO, fed by a graph that our own code builds straight from safetensors."""

from copydesk.engines.openvino.engine import OpenVinoEngine, load

__all__ = ["OpenVinoEngine", "load"]
