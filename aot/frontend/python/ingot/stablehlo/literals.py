"""Constants as StableHLO writes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ingot.stablehlo.types import COMPLEX_PARTS, FLOAT_BITS, TensorType

Number = bool | int | float | complex

INFINITY_BITS = {"f16": "7C00", "bf16": "7F80", "f32": "7F800000", "f64": "7FF0000000000000"}
MINUS_INFINITY_BITS = {"f16": "FC00", "bf16": "FF80", "f32": "FF800000", "f64": "FFF0000000000000"}
NAN_BITS = {"f16": "7E00", "bf16": "7FC0", "f32": "7FC00000", "f64": "7FF8000000000000"}


def number(value: Number, dtype: str) -> str:
    """One element: ``1.5``, ``-3``, ``true``, ``0x7F800000`` for infinity."""
    if dtype in COMPLEX_PARTS:
        part = COMPLEX_PARTS[dtype]
        z = complex(value)
        return f"({number(z.real, part)}, {number(z.imag, part)})"
    if isinstance(value, complex):
        raise TypeError(f"{value} is complex, {dtype} is not")
    if dtype == "i1":
        return "true" if value else "false"
    if dtype not in FLOAT_BITS:
        return str(int(value))
    if math.isnan(value):
        return f"0x{NAN_BITS[dtype]}"
    if math.isinf(value):
        return f"0x{(INFINITY_BITS if value > 0 else MINUS_INFINITY_BITS)[dtype]}"
    text = repr(float(value))
    return text if "." in text else text.replace("e", ".0e")


def splat(value: Number, type_: TensorType) -> str:
    """A tensor with one value everywhere."""
    if type_.elements == 0:
        return f"dense<> : {type_}"
    return f"dense<{number(value, type_.dtype)}> : {type_}"


def dense(values: npt.NDArray[Any], type_: TensorType) -> str:
    """A tensor of given elements, as their bytes; ``i1`` and tensors of equal elements as numbers."""
    if type_.elements == 0:
        return f"dense<> : {type_}"
    flat = np.ascontiguousarray(values).reshape(-1)
    elements = flat.tobytes()
    if elements == flat[:1].tobytes() * flat.size:
        return splat(flat[0].item(), type_)
    if type_.dtype == "i1":
        return f"dense<{_nested(values)}> : {type_}"
    return f'dense<"0x{elements.hex().upper()}"> : {type_}'


def _nested(values: npt.NDArray[Any]) -> str:
    if values.ndim == 0:
        return "true" if values else "false"
    return f"[{', '.join(_nested(row) for row in values)}]"
