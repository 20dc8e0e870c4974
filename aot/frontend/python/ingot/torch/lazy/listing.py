"""A tape as a list of ops on numbered values, as it is compiled and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ingot.torch.lazy.memory import Layout
from ingot.torch.lazy.tape import Plan, Ref, View, found, mapped, ref


@dataclass(frozen=True, slots=True)
class Op:
    """An op that was called, with Refs for tensors; the number of each result, None where it is no new value."""

    plan: Plan
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: tuple[int | None, ...]
    call: int  # its number among the tape's


class Listing:
    """The ops of a tape's calls, in order."""

    def __init__(self, calls: Sequence[tuple[Any, ...]]) -> None:
        self.inputs: list[int] = []
        self.ops: list[Op] = []
        self.layouts: list[Layout] = []  # of values
        self.roots: list[int] = []  # for each value the one that its memory was made with
        for i, (what, *numbers) in enumerate(calls):
            if isinstance(what, Layout):
                self.inputs.append(self._value(what))
            else:
                self._add(i, what, numbers)

    @property
    def strides(self) -> dict[int, tuple[int, ...]]:
        """How values with memory of their own lie in it."""
        return {number: self.layouts[number].stride for number, root in enumerate(self.roots) if number == root}

    def needed(self, numbers: Sequence[int]) -> list[Op]:
        """The ops that values are made of."""
        memory = {self.roots[number] for number in numbers}
        ops = []
        for op in reversed(self.ops):
            touched = {self.roots[r.number] for r in found((op.args, op.kwargs), Ref)}
            made = {self.roots[number] for number in op.results if number is not None}
            written = touched if op.plan.function._schema.is_mutable else set()
            if memory & (made | written):
                memory |= touched
                ops.append(op)
        return ops[::-1]

    def _add(self, call: int, plan: Plan, operands: Sequence[int]) -> None:
        results: list[int | None] = []
        for result in plan.results:
            if isinstance(result, Layout):
                results.append(self._value(result))
            elif isinstance(result, View):
                results.append(self._value(result.layout, self.roots[operands[result.operand]]))
            else:
                results.append(None)
        args, kwargs = mapped((plan.args, plan.kwargs), lambda operand: ref(operands[operand.number]), Ref)
        self.ops.append(Op(plan, args, kwargs, tuple(results), call))

    def _value(self, layout: Layout, root: int | None = None) -> int:
        number = len(self.layouts)
        self.layouts.append(layout)
        self.roots.append(number if root is None else root)
        return number
