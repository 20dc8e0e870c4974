"""What ops make, as far as shapes, types and layouts go: PyTorch says it once for operands that lie alike."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._ops import OpOverload

from ingot.torch.lazy.tape import frozen, mapped
from ingot.torch.lazy.tensor import LazyTensor

MOST = 100_000

Layout = tuple[Any, ...]
KNOWN: dict[Any, tuple[Any, ...]] = {}  # for a call, each result: the number of an operand, a layout, or None


def results_of(op: OpOverload, args: Any, kwargs: Any, operands: list[LazyTensor]) -> list[torch.Tensor | None]:
    """What stands for an op's results on PyTorch's device meta."""
    if _makes_views(op):
        return _computed(op, args, kwargs)
    key = (op, frozen(mapped((args, kwargs), _layout, LazyTensor)))
    if key in KNOWN:
        return [_made(result, operands) for result in KNOWN[key]]
    made = _computed(op, args, kwargs)
    if len(KNOWN) == MOST:
        KNOWN.clear()
    if not any(_is_view(x, operands) for x in made):
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
    seen = op(*mapped(args, _seen, LazyTensor), **mapped(kwargs, _seen, LazyTensor))
    return list(seen) if is_of_many(op) else [seen]


def _seen(tensor: LazyTensor) -> torch.Tensor:
    return tensor.seen


def _layout(tensor: LazyTensor) -> Layout:
    seen = tensor.seen
    return seen.shape, seen.stride(), seen.dtype, seen.is_conj(), seen.is_neg()


def _is_view(made: torch.Tensor | None, operands: list[LazyTensor]) -> bool:
    """Whether a result is another view of an operand's memory, which not every schema says."""
    if made is None or any(operand.seen is made for operand in operands):
        return False
    memory = made.untyped_storage()._cdata
    return any(operand.seen.untyped_storage()._cdata == memory for operand in operands)


def _described(made: torch.Tensor | None, operands: list[LazyTensor]) -> Any:
    number = next((i for i, operand in enumerate(operands) if operand.seen is made), None)
    if made is None or number is not None:
        return number
    return made.shape, made.stride(), made.dtype


def _made(result: Any, operands: list[LazyTensor]) -> torch.Tensor | None:
    if result is None or isinstance(result, int):
        return None if result is None else operands[result].seen
    shape, stride, dtype = result
    return torch.empty_strided(shape, stride, dtype=dtype, device="meta")
