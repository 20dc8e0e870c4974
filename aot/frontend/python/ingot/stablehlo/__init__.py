"""StableHLO text: element types, tensor types, SSA values, ops, functions."""

from ingot.stablehlo.ops import Ops
from ingot.stablehlo.types import TensorType
from ingot.stablehlo.writer import Place, Port, Value, function_text, module_text

__all__ = ["Ops", "Place", "Port", "TensorType", "Value", "function_text", "module_text"]
