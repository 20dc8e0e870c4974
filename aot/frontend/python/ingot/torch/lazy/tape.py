"""What was recorded: calls of ops in order, also of those that change their operands and that make views."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from ingot.stablehlo import Place
from ingot.torch.base.torch_internals.ops import neg_view
from ingot.torch.lazy.memory import Layout, Memory
from ingot.torch.text.dtypes import DTYPES


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A value of a tape, or an operand of a plan, by its number; `ref` gives the only one of each."""

    number: int

    def __repr__(self) -> str:
        return f"%{self.number}"


ref = functools.cache(Ref)
# Types of arguments that are equal only where they mean the same.
FROZEN = {int, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, Ref, Layout}
LEAVES = {bool, float, complex, *FROZEN} - {Ref}  # types of arguments in which there is nothing to find


@dataclass(frozen=True, slots=True)
class View:
    """A result that is a view of an operand's memory."""

    operand: int
    layout: Layout


Result: TypeAlias = Layout | View | int | None  # new memory, a view, an operand by its number, nothing


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a call of an op does for operands of some layouts; there is one object for equal calls.

    Arguments have Refs in the place of operands, and after these of numbers that are inputs of the tape.
    """

    function: Any
    form: Callable[..., Any] | None  # computes the op, which is its first argument, with these numbers as tensors
    number: Layout | None  # of these numbers, where there are any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: tuple[Result, ...]
    writes: tuple[int, ...]  # numbers of the operands that it changes
    has_positions: bool  # among its operands, maybe: they may be out of range
    is_tuple: bool  # whether PyTorch gives several results, or a list
    returned: Callable[[list[Any]], Any]  # what the caller gets, of the results


# For each op, its plans by a call's arguments, with layouts in the place of tensors; None if it has no row for them.
PLANS: dict[Any, dict[Any, Plan | None]] = {}


class Tape:
    """Calls from the memory that was there when the first of them was recorded.

    A call is a plan and the numbers of its operands, counted from the tape's first. An input is recorded as its layout
    alone.
    """

    def __init__(self, first: int = 0) -> None:
        """Values have numbers from `first` on."""
        self.first = self.next = first
        self.calls: list[tuple[Any, ...]] = []
        self.inputs: list[torch.Tensor | Memory] = []  # memory whose bytes are awaited
        self.places: dict[int, Place | None] = {}  # the user's lines of calls that may fail
        self._made: list[weakref.ref[Memory]] = []  # or written

    def number_of(self, tensor: Any) -> int:
        """The number of a tensor: what the tape does not know yet becomes an input, or a view of one."""
        if tensor.number < self.first:
            memory, form = tensor.memory, tensor.form
            if memory.number < self.first:
                if memory.layout.dtype not in DTYPES:
                    raise NotImplementedError(f"programs have no elements of {memory.layout.dtype}")
                memory.number = self.input(memory.layout, memory if memory.awaited else memory.known())
            tensor.number = memory.number
            if form is not memory.layout:
                self.calls.append((view_plan(memory.layout, form), memory.number - self.first))
                tensor.number = self.new()
        return int(tensor.number)

    def new(self) -> int:
        """The number of a new value."""
        self.next += 1
        return self.next - 1

    def make(self, memory: Memory) -> int:
        """The number of a new value with memory of its own."""
        memory.number = memory.written = number = self.next
        self.next = number + 1
        self._made.append(weakref.ref(memory))
        return number

    def write(self, memory: Memory) -> None:
        """Writes memory: a result, if it is still in use when the tape runs."""
        if memory.written < self.first:
            memory.written = memory.number
            self._made.append(weakref.ref(memory))

    def input(self, layout: Layout, data: torch.Tensor | Memory) -> int:
        """The number of a new input."""
        self.inputs.append(data)
        self.calls.append((layout,))
        return self.new()

    def live(self) -> list[Memory]:
        """The memory that was made or written and that is in use."""
        return [memory for memory in (made() for made in self._made) if memory is not None]


@functools.lru_cache(100_000)
def view_plan(whole: Layout, view: Layout) -> Plan:
    """The plan of a view of the tensor that covers its memory.

    Raises RuntimeError for a view of other elements than those or their parts.
    """
    if whole.dtype not in (view.dtype, view.dtype.to_real()) and whole.dtype.to_real() != view.dtype:
        what = f"a view of {whole.dtype} as {view.dtype}, made before the last step was run, is used"
        raise RuntimeError(f"{what}; make the view again")
    args = (ref(0), tuple(view.shape), view.stride, view.offset, view.dtype, view.is_conj, view.is_neg)
    return Plan(torch.ops.aten.as_strided.default, _viewed, None, args, {}, (View(0, view),), (), False, False, list)


def _viewed(op: Any, x: Any, shape: Any, stride: Any, offset: int, dtype: Any, is_conj: bool, is_neg: bool) -> Any:
    """A view of a tensor, also of its elements as pairs of numbers, or of such pairs as elements."""
    if dtype.is_complex and not x.is_complex():
        x = torch.view_as_complex(op(x, (*shape, 2), (*(2 * step for step in stride), 1), 2 * offset))
    else:
        x = op(x if dtype == x.dtype else torch.view_as_real(x), shape, stride, offset)
    x = torch.conj(x) if is_conj else x
    return neg_view(x) if is_neg else x


def mapped(tree: Any, function: Callable[[Any], Any], of: type | tuple[type, ...] = torch.Tensor) -> Any:
    """A tree of an op's arguments with others in the place of those of a type."""
    if isinstance(tree, of):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)(
            [function(x) if isinstance(x, of) else x if type(x) in LEAVES else mapped(x, function, of) for x in tree]
        )
    if isinstance(tree, dict):
        return {key: mapped(value, function, of) for key, value in tree.items()} if tree else tree
    return tree


def found(tree: Any, of: type = torch.Tensor) -> list[Any]:
    """What an op's arguments hold of a type, in order."""
    leaves: list[Any] = []
    mapped(tree, leaves.append, of)
    return leaves
