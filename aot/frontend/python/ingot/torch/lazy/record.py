"""Ops on lazy tensors are added to the tape."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import torch

from ingot.stablehlo import Place
from ingot.torch.base.files import is_users
from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.coverage import pure_form
from ingot.torch.lazy.memory import Layout, Memory, layout_of
from ingot.torch.lazy.plans import TENSORS, Args, Kwargs, plan_of
from ingot.torch.lazy.recorder import RECORDER
from ingot.torch.lazy.tape import FROZEN, PLANS, Number, Plan, View, frozen, mapped
from ingot.torch.lazy.tensor import LazyTensor, on_device, tensor_of, view_of

aten = torch.ops.aten
MOST = 10_000  # plans of an op
_is_users = functools.cache(is_users)

# Ops that take tensors of the processor beside those of the device: positions.
BY_POSITION = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}


class Recorded:
    """An op that is recorded, with the plans of its calls."""

    def __init__(self, op: OpOverload) -> None:
        self.op = op
        self.plans = PLANS.setdefault(op, {})

    def call(self, args: Args, kwargs: Kwargs) -> Any:
        """Adds the op to the tape; gives its results.

        Raises NotImplementedError where it cannot be recorded, as where the results' shapes depend on values.
        """
        operands: list[Any] = []
        key: list[Any] = []
        for x in args:
            kind = type(x)
            if kind is LazyTensor or kind is Number:
                operands.append(x)
                key.append(x.form)
            else:
                key.append(x if kind in FROZEN else self._described(x, operands))
        if kwargs:
            key.append(self._described(kwargs, operands))
        plan = self.plans.get(tuple(key))
        return _played(plan or self._planned(args, kwargs, operands, tuple(key)), operands)

    def _described(self, tree: Any, operands: list[Any]) -> Any:
        """Arguments as they are in a key, with layouts in the place of operands, which are added to `operands`."""
        kind = type(tree)
        if kind in FROZEN:
            return tree
        if isinstance(tree, (list, tuple)):
            return tuple([self._described(x, operands) for x in tree])
        if isinstance(tree, dict):
            return tuple([(name, self._described(x, operands)) for name, x in tree.items()])
        if not isinstance(tree, TENSORS):
            return frozen(tree)
        operand = _taken(self.op, tree)
        operands.append(operand)
        return operand.form if operand is tree else (kind, operand.form)

    def _planned(self, args: Args, kwargs: Kwargs, operands: list[Any], key: Any) -> Plan:
        """A plan that is not known yet, or that is not told by the key alone."""
        plan, is_clear = plan_of(self.op, args, kwargs, operands)
        if len(self.plans) >= MOST:
            self.plans.clear()
        return self.plans.setdefault(key if is_clear else (key, plan.results), plan)


recorded = functools.cache(Recorded)


def record(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """Adds an op to the tape, as `Recorded.call` does."""
    return recorded(op).call(args, kwargs)


def _played(plan: Plan, operands: list[Any]) -> Any:
    """Writes a call onto the tape; gives its results."""
    tape = RECORDER.tape
    tape_id = tape.id
    numbers = [x.number if x.tape_id == tape_id else tape.number_of(x) for x in operands]
    if plan.has_positions:
        tape.places[len(tape.calls)] = _place()
    tape.calls.append((plan, *numbers))
    made: list[Any] = []
    for result in plan.results:
        if isinstance(result, Layout):
            memory = Memory(result)
            x = tensor_of(memory, result)
            x.tape_id, x.number = tape_id, tape.make(memory)
            made.append(x)
        elif isinstance(result, View):
            x = view_of(operands[result.operand], result.layout)
            x.tape_id, x.number = tape_id, tape.new()
            made.append(x)
        else:
            made.append(None if result is None else operands[result])
    for i in plan.writes:
        tape.writes(operands[i].memory)
    return plan.returned(made)


def _place() -> Place | None:
    """The user's line that calls an op."""
    frame: FrameType | None = sys._getframe(1)
    while frame and not _is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno) if frame else None


def turned(op: OpOverload, args: Args, kwargs: Kwargs) -> LazyTensor:
    """An op that makes its operand another view, as ``t_()``: the view is recorded, and the tensor becomes it."""
    tensor: LazyTensor = args[0]
    return tensor.become(record(pure_form(op), args, kwargs))


def strided(tensor: LazyTensor, *place: Any) -> Any:
    """``as_strided``, which says where in the memory its result lies, whatever view of it the tensor is."""
    form = tensor.form
    if form.dtype != tensor.memory.layout.dtype or form.is_conj or form.is_neg:
        return record(aten.as_strided.default, (tensor, *place), {})
    return view_of(tensor, layout_of(tensor.seen.as_strided(*place)))


def _taken(op: OpOverload, tensor: Any) -> Any:
    """An operand: numbers may be the processor's, and so may positions."""
    if isinstance(tensor, (LazyTensor, Number)):
        return tensor
    if tensor.dim() and op not in BY_POSITION:
        raise RuntimeError(
            f"{op._schema.name} is given a tensor of shape {list(tensor.shape)} that is on {tensor.device} beside "
            "tensors of ingot's device; use x.to(ingot.torch.device())"
        )
    return on_device(tensor.detach().clone())


def seen_of(tensor: LazyTensor) -> torch.Tensor:
    """What stands for a tensor on PyTorch's device meta."""
    return tensor.seen


def tensors_in(tree: Any) -> list[LazyTensor]:
    """The lazy tensors among arguments."""
    found: list[LazyTensor] = []
    mapped(tree, found.append, LazyTensor)
    return found
