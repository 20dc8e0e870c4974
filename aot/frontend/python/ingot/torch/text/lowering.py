"""The table of ATen ops, and what its functions write with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import torch

from ingot.stablehlo import Ops, TensorType, Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.stablehlo.types import COMPLEX_PARTS
from ingot.torch.base.errors import TraceError
from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.text.dtypes import TORCH_DTYPES, dtype_name

Operand = Value | bool | int | float | complex
Results = Value | tuple[Value | None, ...]
Rule = Callable[..., Results]
SomeRule = TypeVar("SomeRule", bound=Rule)

TABLE: dict[str, Rule] = {}


def aten(*overloads: str) -> Callable[[SomeRule], SomeRule]:
    """Enters a function into the table for overloads: ``@aten("add.Tensor", "add.Scalar")``.

    The function takes a Lowering, then the op's own arguments: tensors as values, numbers as they are, or as f64 or
    i64 scalars where a program computes them.
    """

    def enter(rule: SomeRule) -> SomeRule:
        for overload in overloads:
            TABLE[overload] = rule
        return rule

    return enter


def rounded_once(rule: SomeRule) -> SomeRule:
    """A rule whose f16 and bf16 tensors are f32 until its result is rounded, as they are in PyTorch's kernels."""

    @wraps(rule)
    def widened(e: Lowering, *args: Any, **kwargs: Any) -> Results:
        narrow = e.result
        if narrow.dtype not in WIDE_SUM:
            return rule(e, *args, **kwargs)
        wide = narrow.with_dtype(WIDE_SUM[narrow.dtype])
        operands = [e.convert(x, wide.dtype) if isinstance(x, Value) and x.dtype in WIDE_SUM else x for x in args]
        e.results = (wide,)
        made = rule(e, *operands, **kwargs)
        e.results = (narrow,)
        assert isinstance(made, Value)
        return e.convert(made, narrow.dtype)

    return cast(SomeRule, widened)


class Lowering(Ops):
    """Writes the op at hand; knows the types that its results must have."""

    def __init__(self) -> None:
        super().__init__()
        self.results: tuple[TensorType | None, ...] = ()
        self.strides: Sequence[int] = ()  # how the op's first tensor lies in memory, and where it starts
        self.offset = 0
        self.called = "an op"  # the op, as messages call it
        self.random: tuple[Value, Value] | None = None
        self._drawing = (0, 0)
        self._drawn = 0

    @property
    def result(self) -> TensorType:
        """The type of the op's first result."""
        assert self.results[0] is not None
        return self.results[0]

    def convert(self, x: Value, dtype: str) -> Value:
        """X in another element type; raises TraceError where it would lose imaginary parts."""
        if x.type.is_complex and dtype not in (*COMPLEX_PARTS, "i1"):
            raise self.refuse(f"{self.called} of complex numbers is not supported", "compute with x.real and x.imag")
        return super().convert(x, dtype)

    def tensor(self, x: Operand, type_: TensorType) -> Value:
        """X, a number or a tensor, converted and broadcast to a type."""
        if not isinstance(x, Value):
            return self.constant(x, type_)
        return self.broadcast(self.convert(x, type_.dtype), type_.shape)

    def like_result(self, *operands: Operand) -> list[Value]:
        """Operands of an elementwise op, in the result's element type and shape."""
        return [self.tensor(x, self.result) for x in operands]

    def promoted(self, *operands: Operand) -> list[Value]:
        """Operands in the element type that PyTorch computes in, and the result's shape."""
        samples = [_sample(x) for x in operands]
        dtype = samples[0].dtype if isinstance(samples[0], torch.Tensor) else torch.result_type(samples[0], samples[0])
        common = torch.result_type(samples[0], samples[1]) if len(samples) == 2 else dtype
        type_ = TensorType(dtype_name(common), self.result.shape)
        return [self.tensor(x, type_) for x in operands]

    def axis(self, dimension: int, rank: int) -> int:
        """A dimension counted from the front."""
        return dimension + rank if dimension < 0 else dimension

    def axes(self, dimensions: Sequence[int] | int | None, rank: int) -> list[int]:
        """Dimensions counted from the front; none given: all."""
        if dimensions is None or (not isinstance(dimensions, int) and len(dimensions) == 0):
            return list(range(rank))
        if isinstance(dimensions, int):
            dimensions = [dimensions]
        return sorted(self.axis(d, rank) for d in dimensions) if rank else []

    def random_state(self) -> tuple[Value, Value]:
        """The seed and the step, i64 scalars; to ask for them makes them arguments."""
        if self.random is None:
            self.random = (self.argument(TensorType("i64")), self.argument(TensorType("i64")))
        return self.random

    def draw_for(self, stream: int, op: int) -> None:
        """Says which stream is drawn from, and for which of the program's random ops; another starts anew."""
        if self._drawing != (stream, op):
            self._drawing, self._drawn = (stream, op), 0

    def next_draw(self) -> tuple[int, int]:
        """The stream that is drawn from, and how often it was for the same op."""
        self._drawn += 1
        return self._drawing[0], self._drawn - 1

    def refuse(self, what: str, fix: str = "") -> TraceError:
        """An error at the op's place."""
        return TraceError(what, self.place, fix)


def overload_name(target: Any) -> str:
    """``add.Tensor`` for torch.ops.aten.add.Tensor."""
    if not isinstance(target, OpOverload):
        return getattr(target, "__name__", str(target))
    return f"{target._schema.name.removeprefix('aten::')}.{target._overloadname}"


def _sample(x: Operand) -> Any:
    """What torch.result_type sees of an operand."""
    if not isinstance(x, Value):
        return x
    return torch.empty((1,) * x.type.rank, dtype=TORCH_DTYPES[x.dtype], device="meta")
