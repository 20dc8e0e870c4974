"""What ops make, as far as shapes, types and layouts go: PyTorch says it once for operands that lie alike."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.memory import Layout, layout_of, packed
from ingot.torch.lazy.tape import frozen, mapped
from ingot.torch.lazy.tensor import LazyTensor, of_memory

MOST = 100_000

# For a call, each result: the number of an operand, the layout of a new tensor, or None.
KNOWN: dict[Any, tuple[Any, ...]] = {}


def results_of(op: OpOverload, args: Any, kwargs: Any, operands: list[LazyTensor]) -> list[LazyTensor | None]:
    """An op's results: operands, views of them, or new tensors."""
    if _makes_views(op):
        return [_wrapped(x, operands) for x in _computed(op, args, kwargs)]
    key = (op, frozen(mapped(args, _layout, LazyTensor)), frozen(mapped(kwargs, _layout, LazyTensor)))
    known = KNOWN.get(key)
    if known is not None:
        return [_made(result, operands) for result in known]
    computed = _computed(op, args, kwargs)
    made = [_wrapped(x, operands) for x in computed]
    if len(KNOWN) == MOST:
        KNOWN.clear()
    if all(_is_told_by_layout(x, operands) for x in made):
        KNOWN[key] = tuple(_described(x, operands) for x in made)
    return made


@functools.cache
def _makes_views(op: OpOverload) -> bool:
    """Whether a result may be a view of an operand."""
    return any(r.alias_info is not None and not r.alias_info.is_write for r in op._schema.returns)


@functools.cache
def is_of_many(op: OpOverload) -> bool:
    """Whether an op gives several results, or a list."""
    returns = op._schema.returns
    return len(returns) != 1 or str(returns[0].type).startswith("List")


def _computed(op: OpOverload, args: Any, kwargs: Any) -> list[torch.Tensor | None]:
    """What stands for the results on PyTorch's device meta."""
    named = mapped(kwargs, _seen, LazyTensor)
    seen = op(*mapped(args, _seen, LazyTensor), **named)
    if seen is None:  # as some ops give that write to what they are told
        return [named[argument.name] for argument in op._schema.arguments if argument.is_out]
    return list(seen) if is_of_many(op) else [seen]


def _wrapped(seen: torch.Tensor | None, operands: list[LazyTensor]) -> LazyTensor | None:
    """The tensor that a result is: an operand, a view of one, or new."""
    if seen is None:
        return None
    memory = seen.untyped_storage()._cdata
    for operand in operands:
        if operand.seen is seen:
            return operand
        if operand.seen.untyped_storage()._cdata == memory:
            return LazyTensor(operand.memory, seen)
    return of_memory(packed(seen))


def _is_told_by_layout(made: LazyTensor | None, operands: list[LazyTensor]) -> bool:
    """Whether a result is no other view of an operand's memory: not every schema says where one is."""
    return made is None or all(made is x or made.memory is not x.memory for x in operands)


def _described(made: LazyTensor | None, operands: list[LazyTensor]) -> Any:
    number = next((i for i, operand in enumerate(operands) if operand is made), None)
    return number if made is None or number is not None else layout_of(made.seen)


def _made(result: int | Layout | None, operands: list[LazyTensor]) -> LazyTensor | None:
    if isinstance(result, Layout):
        return of_memory(torch.empty_strided(result.shape, result.stride, dtype=result.dtype, device="meta"))
    return None if result is None else operands[result]


def _layout(tensor: LazyTensor) -> Layout:
    return layout_of(tensor.seen)


def _seen(tensor: LazyTensor) -> torch.Tensor:
    return tensor.seen
