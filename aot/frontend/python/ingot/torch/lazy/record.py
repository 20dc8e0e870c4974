"""Records calls: a call's plan is found by its arguments, written onto the tape, and says what results to make."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Container
from types import FrameType
from typing import Any

import torch

from ingot.stablehlo import Place
from ingot.torch.base.files import is_users
from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.memory import Layout, Memory, layout_of
from ingot.torch.lazy.numbers import NUMBERS, form_of, number_data, number_layout
from ingot.torch.lazy.plans import Args, Kwargs, plan_of
from ingot.torch.lazy.recorder import RECORDER
from ingot.torch.lazy.tape import FROZEN, PLANS, Plan, View
from ingot.torch.lazy.tensor import LazyTensor, on_device, tensor_of, view_of

aten = torch.ops.aten
MOST = 10_000  # plans of an op
_is_users = functools.cache(is_users)

# Ops that take tensors of the processor beside those of the device: positions.
BY_POSITION = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}


class Recorded:
    """An op, and the plans of its calls, which `then` carries out: most are written onto the tape."""

    def __init__(self, op: OpOverload, then: Callable[..., Any], inputs: Container[type] = ()) -> None:
        """Arguments of the types `inputs` are numbers, and inputs of the tape."""
        self.op, self._then, self._inputs = op, then, inputs
        self._plans = PLANS.setdefault(op, {})

    def call(self, args: Args, kwargs: Kwargs) -> Any:
        """Does the op; gives its results.

        Raises NotImplementedError where it cannot be recorded, as where the results' shapes depend on values.
        """
        operands: list[LazyTensor] = []
        numbers: list[float] = []
        key: list[Any] = []
        inputs = self._inputs
        for x in (*args, *kwargs.values()) if kwargs else args:
            kind = type(x)
            if kind is LazyTensor:
                operands.append(x)
                key.append(x.form)
            elif kind in inputs:
                numbers.append(x)
                key.append(kind)
            else:
                key.append(x if kind in FROZEN else self._described(x, operands))
        if kwargs:
            key.append(tuple(kwargs))
        plan = self._plans.get(tuple(key))
        if plan is None:
            number = number_layout(self.op, *map(_kind, args[:2])) if numbers else None
            if numbers and number is None:
                return Recorded(self.op, self._then).call(args, kwargs)  # they belong to the op
            plan = self._planned(args, kwargs, operands, tuple(key), number)
        return self._then(plan, operands, numbers)

    def _described(self, tree: Any, operands: list[LazyTensor]) -> Any:
        """Arguments as they are in a key, with layouts in the place of operands, which are added to `operands`."""
        kind = type(tree)
        if kind in FROZEN:
            return tree
        if isinstance(tree, (list, tuple)):
            return tuple([self._described(x, operands) for x in tree])
        if not isinstance(tree, torch.Tensor):
            return _leaf(tree)
        operand = _taken(self.op, tree)
        operands.append(operand)
        return operand.form if operand is tree else (kind, operand.form)

    def _planned(self, args: Args, kwargs: Kwargs, operands: list[LazyTensor], key: Any, number: Layout | None) -> Plan:
        """A plan that is not known yet, or that is not told by the key alone."""
        known = tuple([(float, number) if x in NUMBERS else x for x in key]) if number else key  # also of integers
        plan, is_clear = self._plans.get(known), True
        if plan is None and known not in self._plans:
            plan, is_clear = plan_of(self.op, args, kwargs, operands, number)
            if len(self._plans) >= MOST:
                self._plans.clear()
            plan = self._plans.setdefault(known if is_clear else (known, plan.results), plan)
        if plan is None:
            raise NotImplementedError
        if is_clear:
            self._plans[key] = plan
        return plan


@functools.cache
def recorded(op: OpOverload) -> Recorded:
    """An op that is written onto the tape."""
    return Recorded(op, _played, NUMBERS if form_of(op) else ())


def record(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """Adds an op to the tape, as `Recorded.call` does."""
    return recorded(op).call(args, kwargs)


def _leaf(value: Any) -> Any:
    """An argument so that equal ones mean the same: 1 is not 1.0 or True, and 0.0 is not -0.0."""
    kind = type(value)
    if kind is bool or (kind is float and value and value == value):
        return (kind, value)
    return (kind, repr(value)) if kind in (float, complex) else value


def _kind(operand: Any) -> Layout | type:
    """What the type of a result depends on."""
    if isinstance(operand, LazyTensor):
        return operand.form
    return layout_of(operand) if isinstance(operand, torch.Tensor) else type(operand)


def _played(plan: Plan, operands: list[LazyTensor], numbers: list[float]) -> Any:
    """Writes a call onto the tape; gives its results."""
    tape = RECORDER.tape
    first = tape.first
    call: list[Any] = [plan]
    for x in operands:
        value = x.number
        call.append((value if value >= first else tape.number_of(x)) - first)
    if plan.number:
        for number in numbers:
            call.append(tape.input(plan.number, number_data(number or repr(number), plan.number.dtype)) - first)
    if plan.has_positions:
        tape.places[len(tape.calls)] = _place()
    tape.calls.append(tuple(call))
    made: list[Any] = []
    for result in plan.results:
        if isinstance(result, Layout):
            memory = Memory(result)
            x = tensor_of(memory, result)
            x.number = tape.make(memory)
            made.append(x)
        elif isinstance(result, View):
            x = view_of(operands[result.operand], result.layout)
            x.number = tape.new()
            made.append(x)
        else:
            made.append(None if result is None else operands[result])
    for i in plan.writes:
        tape.write(operands[i].memory)
    return plan.returned(made)


def _place() -> Place | None:
    """The user's line that calls an op."""
    frame: FrameType | None = sys._getframe(1)
    while frame and not _is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno) if frame else None


def strided(tensor: LazyTensor, *place: Any) -> Any:
    """``as_strided``, which says where in the memory its result lies, whatever view of it the tensor is."""
    form = tensor.form
    if form.dtype != tensor.memory.layout.dtype or form.is_conj or form.is_neg:
        return record(aten.as_strided.default, (tensor, *place), {})
    return view_of(tensor, layout_of(tensor.seen.as_strided(*place)))


def _taken(op: OpOverload, tensor: torch.Tensor) -> LazyTensor:
    """An operand: tensors of no dimension may be the processor's, and so may positions."""
    if isinstance(tensor, LazyTensor):
        return tensor
    if tensor.dim() and op not in BY_POSITION:
        raise RuntimeError(
            f"{op._schema.name} is given a tensor of shape {list(tensor.shape)} that is on {tensor.device} beside "
            "tensors of ingot's device; use x.to(ingot.torch.device())"
        )
    return on_device(tensor.detach().clone())
