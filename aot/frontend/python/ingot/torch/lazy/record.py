"""Ops on lazy tensors are added to the tape."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, TypeAlias

import torch

from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.coverage import pure_form
from ingot.torch.lazy.layouts import is_of_many, results_of
from ingot.torch.lazy.recorder import RECORDER
from ingot.torch.lazy.tape import Ref, mapped, ref
from ingot.torch.lazy.tensor import LazyTensor, on_device
from ingot.torch.text.dtypes import DTYPES

Args: TypeAlias = tuple[Any, ...]
Kwargs: TypeAlias = dict[str, Any]
aten = torch.ops.aten

# Ops that take tensors of the processor beside those of the device: positions.
BY_POSITION = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}


def record(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """Adds an op to the tape; gives its results.

    Raises NotImplementedError where their shapes depend on values, and for element types that programs do not have.
    """
    operands: list[LazyTensor] = []

    def take(tensor: torch.Tensor) -> LazyTensor:
        operands.append(_taken(op, tensor))
        return operands[-1]

    args, kwargs = mapped(args, take), mapped(kwargs, take)
    if torch.Tag.inplace_view in op.tags:
        return _turn(op, args, kwargs)
    results = results_of(op, args, placed(kwargs, "meta"), operands)
    tensors = [x for x in (*operands, *results) if x is not None]
    if not all(part.dtype in DTYPES for x in tensors for part in (x.seen, x.memory.whole)):
        raise NotImplementedError
    new = [None if any(x is operand for operand in operands) else x for x in results]
    _note(op, args, placed(kwargs, "cpu"), new, is_of_many(op))
    if not op._schema.returns:
        return None
    if not is_of_many(op):
        return results[0]
    return tuple(results) if len(op._schema.returns) > 1 else results


def _note(op: OpOverload, args: Args, kwargs: Kwargs, new: list[LazyTensor | None], is_tuple: bool) -> None:
    """Writes an op onto the tape, with what it makes and what it writes."""
    tape = RECORDER.tape
    named_args, named_kwargs = mapped(args, _ref), mapped(kwargs, _ref)
    roots = [x.memory.number if x is not None and x.memory.tape is tape else None for x in new]
    made = [None if x is None else x.seen for x in new]
    numbers = tape.add(op, named_args, named_kwargs, made, roots, is_tuple=is_tuple)
    for x, number in zip((x for x in new if x is not None), numbers, strict=True):
        x.value = (tape, number)
        if x.memory.tape is not tape:
            x.memory.place(tape, number)
            tape.writes(x.memory)
    for x in _written(op, args, kwargs):
        tape.writes(x.memory)


def _ref(tensor: LazyTensor) -> Ref:
    return ref(number_of(tensor))


def _turn(op: OpOverload, args: Args, kwargs: Kwargs) -> LazyTensor:
    """An op that makes its operand another view, as ``t_()``: the view is recorded, and the tensor becomes it."""
    tensor: LazyTensor = args[0]
    return tensor.become(record(pure_form(op), args, kwargs))


def strided(tensor: LazyTensor, *place: Any) -> Any:
    """``as_strided``, which says where in the memory its result lies, whatever view of it the tensor is."""
    seen = tensor.seen
    if seen.dtype != tensor.memory.whole.dtype or seen.is_conj() or seen.is_neg():
        return record(aten.as_strided.default, (tensor, *place), {})
    return LazyTensor(tensor.memory, seen.as_strided(*place))


def _taken(op: OpOverload, tensor: torch.Tensor) -> LazyTensor:
    """A tensor on the device: numbers may be the processor's, and so may positions."""
    if isinstance(tensor, LazyTensor):
        return tensor
    if tensor.dim() and op not in BY_POSITION:
        raise RuntimeError(
            f"{op._schema.name} is given a tensor of shape {list(tensor.shape)} that is on {tensor.device} beside "
            "tensors of ingot's device; use x.to(ingot.torch.device())"
        )
    return on_device(tensor.detach().clone())


def _written(op: OpOverload, args: Args, kwargs: Kwargs) -> Iterator[LazyTensor]:
    """The operands that an op changes."""
    for i, name in _written_arguments(op):
        yield from tensors_in(args[i] if i < len(args) else kwargs.get(name))


@functools.cache
def _written_arguments(op: OpOverload) -> list[tuple[int, str]]:
    """The places and names of the arguments that an op changes."""
    arguments = enumerate(op._schema.arguments)
    return [(i, a.name) for i, a in arguments if a.alias_info is not None and a.alias_info.is_write]


def number_of(tensor: LazyTensor) -> int:
    """The number of a tensor's value on the tape."""
    tape = RECORDER.tape
    if tensor.value is None or tensor.value[0] is not tape:
        tensor.value = (tape, tape.view(tensor.memory, tensor.seen))
    return tensor.value[1]


def seen_of(tensor: LazyTensor) -> torch.Tensor:
    """What stands for a tensor on PyTorch's device meta."""
    return tensor.seen


def tensors_in(tree: Any) -> list[LazyTensor]:
    """The lazy tensors among arguments."""
    found: list[LazyTensor] = []
    mapped(tree, found.append, LazyTensor)
    return found


def placed(kwargs: Kwargs, device: str) -> Kwargs:
    """An op's arguments for another device, where they name one."""
    if not kwargs:
        return kwargs
    rest = {name: value for name, value in kwargs.items() if name != "pin_memory"}
    return rest | {"device": torch.device(device)} if rest.get("device") is not None else rest
