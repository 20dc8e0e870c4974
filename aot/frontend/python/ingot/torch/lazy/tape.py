"""What was recorded: ops in order, as they were called, with those that change their operands and with views."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ingot.stablehlo import TensorType
from ingot.torch.lazy.memory import Layout, Memory, lies_alike
from ingot.torch.text.dtypes import dtype_name

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A value of a tape, by its number; `ref` gives the only one of each."""

    number: int


ref = functools.cache(Ref)
FROZEN = {int, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, Ref, Layout}
LEAVES = {bool, float, complex, *FROZEN} - {Ref}  # types of arguments in which there is nothing to find


@dataclass(frozen=True, slots=True)
class Op:
    """An op that was called, with Refs for tensors; the number of each result, None where it is no new value."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: tuple[int | None, ...]
    is_tuple: bool


class Tape:
    """Ops from the memory that was there when the first of them was called."""

    def __init__(self) -> None:
        self.inputs: list[tuple[int, torch.Tensor]] = []
        self.ops: list[Op] = []
        self.roots: list[int] = []  # for each value the one that its memory was made with
        self.types: list[TensorType] = []
        self.strides: dict[int, tuple[int, ...]] = {}  # how values with memory of their own lie in it
        self._made: list[weakref.ref[Memory]] = []  # or written
        self._key: list[Any] = []

    def read(self, memory: Memory) -> int:
        """The number of a memory; what the tape does not know yet becomes an input."""
        if memory.tape is not self:
            data = memory.known()
            number = self._value(memory.whole)
            memory.place(self, number)
            self.inputs.append((number, data))
            whole = memory.whole
            self._key.append((whole.dtype, whole.shape, whole.stride()))
        return memory.number

    def view(self, memory: Memory, seen: torch.Tensor) -> int:
        """The number of a view of a memory."""
        number = self.read(memory)
        if lies_alike(seen, memory.whole):
            return number
        view = memory.whole
        for function, arguments in view_ops(view, seen):
            view = function(view, *arguments)
            (number,) = self.add(function, (ref(number), *arguments), {}, [view], [self.roots[number]])
        return number

    def add(
        self,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        made: Sequence[torch.Tensor | None],
        roots: Sequence[int | None],
        *,
        is_tuple: bool = False,
    ) -> list[int]:
        """Adds an op; gives the numbers of its new values, each with its memory's root, or with none as its own."""
        numbers = [None if m is None else self._value(m, r) for m, r in zip(made, roots, strict=True)]
        self.ops.append(Op(function, args, kwargs, tuple(numbers), is_tuple))
        self._key.append((function, frozen(args), frozen(kwargs)))
        return [number for number in numbers if number is not None]

    def writes(self, memory: Memory) -> None:
        """Says that a memory is made or written: a result, if it is still in use when the tape runs."""
        if not memory.is_written:
            memory.is_written = True
            self._made.append(weakref.ref(memory))

    def live(self) -> list[Memory]:
        """The memory that was made or written and that is in use."""
        return [memory for memory in (made() for made in self._made) if memory is not None]

    def key(self, results: Sequence[Memory]) -> Key:
        """What tells it from all tapes that compute something else."""
        return (*self._key, tuple(memory.number for memory in results))

    def needed(self, numbers: Sequence[int]) -> list[Op]:
        """The ops that values are made of."""
        memory = {self.roots[number] for number in numbers}
        found = []
        for op in reversed(self.ops):
            touched = {self.roots[r.number] for r in refs(op.args) + refs(op.kwargs)}
            made = {self.roots[number] for number in op.results if number is not None}
            written = touched if op.function._schema.is_mutable else set()
            if memory & (made | written):
                memory |= touched
                found.append(op)
        return found[::-1]

    def _value(self, like: torch.Tensor, root: int | None = None) -> int:
        number = len(self.roots)
        self.roots.append(number if root is None else root)
        if root is None:
            self.strides[number] = like.stride()
        self.types.append(TensorType(dtype_name(like.dtype), tuple(like.shape)))
        return number


def view_ops(whole: torch.Tensor, seen: torch.Tensor) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The ops, and their arguments after the first, that make a view of the tensor that covers its memory.

    Raises RuntimeError for a view of other elements than those or their parts.
    """
    aten, shape, stride, start = torch.ops.aten, tuple(seen.shape), seen.stride(), seen.storage_offset()
    if seen.is_complex() and seen.dtype.to_real() == whole.dtype:
        yield aten.as_strided.default, ((*shape, 2), (*(2 * step for step in stride), 1), 2 * start)
        yield aten.view_as_complex.default, ()
    elif seen.dtype in (whole.dtype, whole.dtype.to_real()):
        if seen.dtype != whole.dtype:
            yield aten.view_as_real.default, ()
        yield aten.as_strided.default, (shape, stride, start)
    else:
        what = f"a view of {whole.dtype} as {seen.dtype}, made before the last step was run, is used"
        raise RuntimeError(f"{what}; make the view again")
    if seen.is_conj():
        yield aten._conj.default, ()
    if seen.is_neg():
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
    if type(tree) in FROZEN:
        return tree
    if isinstance(tree, (list, tuple)):
        return tuple([item if type(item) in FROZEN else frozen(item) for item in tree])
    if isinstance(tree, dict):
        return tuple([(key, frozen(value)) for key, value in tree.items()])
    return (type(tree), repr(tree)) if isinstance(tree, (bool, float, complex)) else tree
