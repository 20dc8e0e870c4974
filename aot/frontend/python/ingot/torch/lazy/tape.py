"""What was recorded: calls of ops in order, also of those that change their operands and that make views."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import torch

from ingot.stablehlo import Place
from ingot.torch.lazy.memory import UNKNOWN, Layout, Memory, layout_of
from ingot.torch.text.dtypes import DTYPES

Key: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A value of a tape, or an operand of a plan, by its number; `ref` gives the only one of each."""

    number: int


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

    Arguments have Refs in the place of operands.
    """

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: tuple[Result, ...]
    writes: tuple[int, ...]  # numbers of the operands that it changes
    has_positions: bool  # among its operands, maybe: they may be out of range
    is_tuple: bool  # whether PyTorch gives several results, or a list
    returned: Callable[[list[Any]], Any]  # what the caller gets, of the results


# For each op, its plans by a call's arguments, with layouts in the place of tensors.
PLANS: dict[Any, dict[Any, Plan]] = {}


@dataclass(slots=True)
class Number:
    """A number as an operand: an input of the tape, of no dimension."""

    form: Layout
    data: torch.Tensor
    tape_id: ClassVar[int] = UNKNOWN

    @property
    def seen(self) -> torch.Tensor:
        """The operand on PyTorch's device meta."""
        return self.form.bare()


class Tape:
    """Calls from the memory that was there when the first of them was recorded.

    A call is a plan and the numbers of its operands. An input is recorded as its layout alone.
    """

    _ids = itertools.count()

    def __init__(self) -> None:
        self.id = next(self._ids)
        self.calls: list[tuple[Any, ...]] = []
        self.inputs: list[torch.Tensor | Memory] = []  # memory whose bytes are awaited
        self.places: dict[int, Place | None] = {}  # the user's lines of calls that may fail
        self._count = 0  # of values
        self._made: list[weakref.ref[Memory]] = []  # or written

    def number_of(self, operand: Any) -> int:
        """The number of an operand: what the tape does not know yet becomes an input, or a view of one."""
        if operand.tape_id == self.id:
            return int(operand.number)
        if type(operand) is Number:
            return self._input(operand.form, operand.data)
        number, memory = self._read(operand.memory), operand.memory
        if operand.form is not memory.layout:
            for plan in view_plans(memory.layout, operand.form):
                self.calls.append((plan, number))
                number = self.new()
        operand.tape_id, operand.number = self.id, number
        return number

    def make(self, memory: Memory) -> int:
        """The number of a new value with memory of its own."""
        memory.tape_id, memory.number, memory.is_written = self.id, self._count, True
        self._made.append(weakref.ref(memory))
        return self.new()

    def new(self) -> int:
        """The number of a new value."""
        self._count += 1
        return self._count - 1

    def writes(self, memory: Memory) -> None:
        """Says that memory is written: a result, if it is still in use when the tape runs."""
        if not memory.is_written:
            memory.is_written = True
            self._made.append(weakref.ref(memory))

    def is_written(self, memory: Memory) -> bool:
        """Whether the values of a memory depend on what is recorded."""
        return memory.tape_id == self.id and memory.is_written

    def live(self) -> list[Memory]:
        """The memory that was made or written and that is in use."""
        return [memory for memory in (made() for made in self._made) if memory is not None]

    def key(self, results: Sequence[Memory]) -> Key:
        """What tells it from all tapes that compute something else."""
        return (*self.calls, tuple(memory.number for memory in results))

    def _read(self, memory: Memory) -> int:
        if memory.tape_id != self.id:
            if memory.layout.dtype not in DTYPES:
                raise NotImplementedError(f"programs have no elements of {memory.layout.dtype}")
            memory.number = self._input(memory.layout, memory if memory.awaited else memory.known())
            memory.tape_id, memory.is_written = self.id, False
        return memory.number

    def _input(self, layout: Layout, data: torch.Tensor | Memory) -> int:
        self.inputs.append(data)
        self.calls.append((layout,))
        return self.new()


@functools.lru_cache(100_000)
def view_plans(whole: Layout, view: Layout) -> tuple[Plan, ...]:
    """Plans of the ops, one after the other, that make a view of the tensor that covers its memory.

    Raises RuntimeError for a view of other elements than those or their parts.
    """
    seen, plans = whole.bare(), []
    for function, arguments in _view_ops(whole, view):
        seen = function(seen, *arguments)
        made = View(0, layout_of(seen))
        plans.append(Plan(function, (ref(0), *arguments), {}, (made,), (), False, False, list))
    return tuple(plans)


def _view_ops(whole: Layout, view: Layout) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The ops that make a view, and their arguments after the first."""
    aten, shape = torch.ops.aten, tuple(view.shape)
    is_complex = view.dtype.is_complex
    if is_complex and view.dtype.to_real() == whole.dtype:
        yield aten.as_strided.default, ((*shape, 2), (*(2 * step for step in view.stride), 1), 2 * view.offset)
        yield aten.view_as_complex.default, ()
    elif view.dtype in (whole.dtype, whole.dtype.to_real()):
        if view.dtype != whole.dtype:
            yield aten.view_as_real.default, ()
        yield aten.as_strided.default, (shape, view.stride, view.offset)
    else:
        what = f"a view of {whole.dtype} as {view.dtype}, made before the last step was run, is used"
        raise RuntimeError(f"{what}; make the view again")
    if view.is_conj:
        yield aten._conj.default, ()
    if view.is_neg:
        yield aten._neg_view.default, ()


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


def refs(tree: Any) -> list[Ref]:
    """The values that an op's arguments name."""
    found: list[Ref] = []
    mapped(tree, found.append, Ref)
    return found


def frozen(tree: Any) -> Any:
    """Arguments so that equal ones mean the same op: 1 is not 1.0 or True, and 0.0 is not -0.0."""
    kind = type(tree)
    if kind in FROZEN:
        return tree
    if isinstance(tree, (list, tuple)):
        return tuple([item if type(item) in FROZEN else frozen(item) for item in tree])
    if isinstance(tree, dict):
        return tuple([(key, frozen(value)) for key, value in tree.items()])
    if kind is float and tree and tree == tree:
        return (float, tree)
    return (kind, repr(tree)) if isinstance(tree, (bool, float, complex)) else tree
