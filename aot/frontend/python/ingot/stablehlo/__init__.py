"""StableHLO text: element types, tensor types, SSA values, ops, functions."""

from ingot.stablehlo.ops import Ops
from ingot.stablehlo.types import TensorType
from ingot.stablehlo.writer import Argument, Place, Result, Value, function_text

__all__ = ["Argument", "Ops", "Place", "Result", "TensorType", "Value", "function_text"]
