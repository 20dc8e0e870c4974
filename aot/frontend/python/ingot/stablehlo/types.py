"""Types of tensors as StableHLO writes them."""

from __future__ import annotations

import math
from dataclasses import dataclass

Shape = tuple[int, ...]

FLOAT_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
COMPLEX_PARTS = {"complex<f32>": "f32", "complex<f64>": "f64"}


@dataclass(frozen=True)
class TensorType:
    """An element type, by StableHLO's name (``f32``, ``i64``, ``i1``), and a shape."""

    dtype: str
    shape: Shape = ()

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.dtype}>"

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether elements are real floating-point numbers."""
        return self.dtype in FLOAT_BITS

    @property
    def is_complex(self) -> bool:
        """Whether elements are complex numbers."""
        return self.dtype in COMPLEX_PARTS

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers; truth values are not."""
        return not self.is_float and not self.is_complex and self.dtype != "i1"

    @property
    def stored(self) -> TensorType:
        """The type outside of a program, where a complex number is two real ones: one more, last dimension of 2."""
        return TensorType(COMPLEX_PARTS[self.dtype], (*self.shape, 2)) if self.is_complex else self

    def with_dtype(self, dtype: str) -> TensorType:
        """The type of the same shape with other elements."""
        return TensorType(dtype, self.shape)

    def with_shape(self, shape: Shape) -> TensorType:
        """The type of the same elements in another shape."""
        return TensorType(self.dtype, tuple(shape))


def lowest(dtype: str) -> float | int:
    """The least value of an element type: minus infinity for floats."""
    if dtype in FLOAT_BITS:
        return -math.inf
    return 0 if dtype == "i1" or dtype.startswith("ui") else -(1 << (int(dtype[1:]) - 1))


def highest(dtype: str) -> float | int:
    """The greatest value of an element type: infinity for floats."""
    if dtype in FLOAT_BITS:
        return math.inf
    if dtype == "i1":
        return 1
    return (1 << int(dtype[2:])) - 1 if dtype.startswith("ui") else (1 << (int(dtype[1:]) - 1)) - 1
