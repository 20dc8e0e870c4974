"""Makes plans: PyTorch is asked once, on its device meta, what a call makes of operands of some layouts."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import torch

from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.memory import Layout, layout_of, packed
from ingot.torch.lazy.numbers import NUMBERS, form_of
from ingot.torch.lazy.tape import Plan, Ref, Result, View, found, mapped, ref
from ingot.torch.lazy.tensor import DEVICE, LazyTensor, checked
from ingot.torch.text.dtypes import DTYPES

Args: TypeAlias = tuple[Any, ...]
Kwargs: TypeAlias = dict[str, Any]
POSITIONS = {torch.int32, torch.int64}


def plan_of(
    op: OpOverload, args: Args, kwargs: Kwargs, operands: Sequence[LazyTensor], number: Layout | None
) -> tuple[Plan, bool]:
    """The plan of a call with operands in the order of its arguments; whether it holds for all of equal layouts.

    `number` is the layout of numbers among the arguments that are inputs of the tape, where there are some.
    Raises NotImplementedError for a call that cannot be recorded: where shapes depend on values, and for element types
    that programs do not have.
    """
    values = map(ref, itertools.count())
    named_args, named_kwargs = _replaced((args, placed(kwargs, "cpu")), values)
    if number:
        named_args = tuple([next(values) if type(x) in NUMBERS else x for x in named_args])
        named_kwargs = {name: next(values) if type(x) in NUMBERS else x for name, x in named_kwargs.items()}
    writes = tuple([r.number for r in found(_written(op, named_args, named_kwargs), Ref)])
    if any(not isinstance(x, LazyTensor) for x in found(_written(op, args, kwargs))):
        what = f"{op._schema.name} is to change a tensor of the processor by tensors of {DEVICE}'s device"
        raise RuntimeError(f"{what}; move it first, x = x.to(ingot.torch.device()), or them, y.cpu()")
    computed = _computed(op, args, placed(kwargs, "meta"), operands)
    results = tuple(_result(x, operands, writes) for x in computed)
    dtypes = {x.form.dtype for x in operands} | {x.dtype for x in computed if x is not None}
    if not dtypes <= DTYPES.keys():
        raise NotImplementedError
    is_clear = all(_is_clear(result, operands, writes) for result in results)
    has_positions = any(x.form.dtype in POSITIONS and x.form.shape.numel() for x in operands)
    form = form_of(op) if number else None
    returned = _returned(op)
    return Plan(
        op, form, number, named_args, named_kwargs, results, writes, has_positions, _is_of_many(op), returned
    ), is_clear


def _is_of_many(op: OpOverload) -> bool:
    """Whether an op gives several results, or a list."""
    returns = op._schema.returns
    return len(returns) != 1 or str(returns[0].type).startswith("List")


def placed(kwargs: Kwargs, device: str) -> Kwargs:
    """An op's arguments for another device, where they name one."""
    if not kwargs:
        return kwargs
    rest = {name: value for name, value in kwargs.items() if name != "pin_memory"}
    named = rest.get("device")
    if named is None:
        return rest
    if named.type == DEVICE:
        checked(named)
    return rest | {"device": torch.device(device)}


def _written(op: OpOverload, args: Args, kwargs: Kwargs) -> list[Any]:
    """The arguments that an op changes."""
    written = [(i, a.name) for i, a in enumerate(op._schema.arguments) if a.alias_info and a.alias_info.is_write]
    return [args[i] if i < len(args) else kwargs.get(name) for i, name in written]


def _replaced(tree: Any, others: Iterator[Any]) -> Any:
    """Arguments with others in the place of the operands, in their order."""
    return mapped(tree, lambda _: next(others))


def _computed(op: OpOverload, args: Args, kwargs: Kwargs, operands: Sequence[Any]) -> list[torch.Tensor | None]:
    """What stands for the results on PyTorch's device meta."""
    seen_args, seen_kwargs = _replaced((args, kwargs), (x.seen for x in operands))
    seen = op(*seen_args, **seen_kwargs)
    if seen is None:  # as some ops give that write to what they are told
        return [seen_kwargs[argument.name] for argument in op._schema.arguments if argument.is_out]
    return list(seen) if _is_of_many(op) else [seen]


def _result(seen: torch.Tensor | None, operands: Sequence[Any], writes: Sequence[int]) -> Result:
    """What a result is: an operand, first of those that the op changes, a view of one, or new."""
    if seen is None:
        return None
    numbers: list[int] = [*writes, *range(len(operands))]
    lazy = [i for i in numbers if isinstance(operands[i], LazyTensor)]
    for i in lazy:
        if operands[i].seen is seen:
            return i
    memory = seen.untyped_storage()._cdata
    for i in lazy:
        if operands[i].seen.untyped_storage()._cdata == memory:
            return View(i, layout_of(seen))
    return layout_of(packed(seen))


def _is_clear(result: Result, operands: Sequence[Any], writes: Sequence[int]) -> bool:
    """Whether a result is as said for all operands of such layouts, and not of one of several that are alike here."""
    if isinstance(result, View):
        memory = operands[result.operand].memory
        return sum(isinstance(x, LazyTensor) and x.memory is memory for x in operands) == 1
    return not isinstance(result, int) or result in writes or sum(x is operands[result] for x in operands) == 1


def _returned(op: OpOverload) -> Callable[[list[Any]], Any]:
    """What an op gives, of its results."""
    if not op._schema.returns:
        return lambda _: None
    if not _is_of_many(op):
        return operator.itemgetter(0)
    return tuple if len(op._schema.returns) > 1 else list
