"""Arrays of NumPy, PyTorch and JAX as memory for the engine, and the engine's memory as their arrays."""

from __future__ import annotations

import functools
import importlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Buffer

# A bundle's element type -> what NumPy calls it, ml_dtypes where NumPy has none. Those narrower than a byte lie in one.
ELEMENTS = {
    **{"i1": "bool", "i2": "int8", "i4": "int8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"},
    **{"ui2": "uint8", "ui4": "uint8", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64"},
    **{"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"},
    **{"f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "complex<f32>": "complex64", "complex<f64>": "complex128"},
}
# What NumPy lacks -> of which type its memory is passed on.
BEYOND_NUMPY = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
NUMBERS = (bool, int, float)
TAKEN = {"b": bool, "i": int, "u": int}  # NumPy's kind of an element type -> Python's numbers that it takes


@dataclass(frozen=True)
class Port:
    """An input, an output or a state: what its memory holds."""

    name: str
    element: str
    shape: tuple[int, ...]
    byte_count: int
    role: str = ""
    offset: int = 0

    @functools.cached_property
    def count(self) -> int:
        """How many elements there are."""
        return int(np.prod(self.shape, dtype=np.int64))

    @functools.cached_property
    def element_name(self) -> str:
        """The element type, as NumPy, PyTorch and JAX call it."""
        return ELEMENTS[self.element]

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        """The element type in NumPy.

        Raises ModuleNotFoundError where only ml_dtypes has it, and is not installed.
        """
        if self.element_name not in BEYOND_NUMPY:
            return np.dtype(self.element_name)
        try:
            dtype: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), self.element_name))
        except ModuleNotFoundError:
            what = f"{self.name!r} is {self.element_name}, which NumPy lacks: pip install ml_dtypes, or use PyTorch"
            raise ModuleNotFoundError(what) from None
        return dtype

    def __str__(self) -> str:
        return f"{self.element_name} {list(self.shape)}"

    def check(self, element: str, shape: tuple[int, ...]) -> None:
        """Raises TypeError for elements of another type, ValueError for another shape."""
        if element != self.element_name:
            raise TypeError(f"{self.name!r} is {self}, but was given {element} {list(shape)}; convert it")
        if shape != self.shape:
            raise ValueError(f"{self.name!r} is {self}, but was given {element} {list(shape)}")


class Framework(Protocol):
    """Whose arrays they are."""

    def memory(self, value: Any, port: Port) -> Buffer:
        """The memory of an array: its own where it lies row by row, else a copy.

        Raises TypeError or ValueError for one that is not of the port's type.
        """

    def array(self, memory: Buffer, port: Port) -> Any:
        """An array over the memory, from the port's offset."""


class NumPy:
    """NumPy's, and whatever NumPy can read."""

    def memory(self, value: Any, port: Port) -> Buffer:
        """The memory of an array."""
        array: Any = value if type(value) is np.ndarray else np.asarray(value)
        if array.dtype != port.dtype or array.shape != port.shape:
            port.check(str(array.dtype), array.shape)
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(f"{port.name!r} was given a masked array, whose mask would be lost; fill it: x.filled(0)")
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        if port.element_name in BEYOND_NUMPY:
            array = array.view(BEYOND_NUMPY[port.element_name])
        memory: Buffer = array
        return memory

    def array(self, memory: Buffer, port: Port) -> Any:
        """An array over the memory."""
        buffer: Any = memory
        return np.ndarray(port.shape, port.dtype, buffer, port.offset)


class Torch:
    """PyTorch's."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def memory(self, value: Any, port: Port) -> Buffer:
        """The memory of a tensor."""
        try:
            return self._memory(value, port)
        except RuntimeError as error:
            what = f"{port.name!r} is {port}, but was given a tensor whose memory cannot be read: {error}"
            raise TypeError(f"{what}; give a dense tensor of the processor") from None

    def _memory(self, value: Any, port: Port) -> Buffer:
        if value.dtype is not getattr(self._torch, port.element_name) or value.shape != port.shape:
            port.check(str(value.dtype).removeprefix("torch."), tuple(value.shape))
        if value.requires_grad:
            value = value.detach()
        if value.is_neg() or value.is_conj():
            value = value.resolve_neg().resolve_conj()
        if not value.is_contiguous():
            value = value.contiguous()
        if port.element_name in BEYOND_NUMPY:
            value = value.view(getattr(self._torch, BEYOND_NUMPY[port.element_name]))
        memory: Buffer = value.numpy()
        return memory

    def array(self, memory: Buffer, port: Port) -> Any:
        """A tensor over the memory."""
        if port.element_name not in BEYOND_NUMPY:
            return self._torch.from_numpy(NUMPY.array(memory, port))
        buffer: Any = memory
        raw: Any = np.ndarray(port.shape, BEYOND_NUMPY[port.element_name], buffer, port.offset)
        return self._torch.from_numpy(raw).view(getattr(self._torch, port.element_name))


class Jax(NumPy):
    """JAX's: NumPy reads them without a copy."""

    def __init__(self, jax: Any) -> None:
        self._jax = jax

    def array(self, memory: Buffer, port: Port) -> Any:
        """An array with what is in the memory."""
        return self._jax.numpy.asarray(super().array(memory, port))


class Number(NumPy):
    """Python's own numbers, which take the port's element type where they are of its kind."""

    def memory(self, value: Any, port: Port) -> Buffer:
        """The memory of a number."""
        if not isinstance(value, TAKEN.get(port.dtype.kind, NUMBERS)):
            raise TypeError(f"{port.name!r} is {port}, but was given the {type(value).__name__} {value}")
        try:
            return super().memory(np.array(value, port.dtype), port)
        except OverflowError:
            raise ValueError(f"{port.name!r} is {port}, which cannot hold {value}") from None


NUMPY, NUMBER = NumPy(), Number()


def framework_of(value: Any) -> Framework:
    """Whose array it is."""
    if type(value) is np.ndarray:
        return NUMPY
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch and isinstance(value, torch.Tensor):
        return _torch()
    if isinstance(value, NUMBERS):
        return NUMBER
    return _jax() if jax and isinstance(value, jax.Array) else NUMPY


@functools.cache
def _torch() -> Torch:
    return Torch(importlib.import_module("torch"))


@functools.cache
def _jax() -> Jax:
    return Jax(importlib.import_module("jax"))


def torch_tensor(memory: Buffer, port: Port) -> Any:
    """A tensor of PyTorch over the memory."""
    return _torch().array(memory, port)
