"""Guards of a program that numbers which tensors give are small."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence

import torch

from ingot.torch.judge.observe import Graph


def guarded(way: Graph, numbers: Sequence[torch.fx.Node], limit: int) -> Graph:
    """A way whose guard holds only where some numbers are at most `limit`; floats before they are made whole."""
    if not numbers:
        return way
    graph = way.module.graph
    output = graph.output_node()
    (results,) = output.args
    before, held = [*results], None
    if way.is_guarded:
        held = before.pop()
    with graph.inserting_before(output):
        for number in numbers:
            value = number.args[0] if isinstance(_value(number.args[0]), torch.SymFloat) else number
            for compare, end in ((operator.ge, -limit), (operator.le, limit)):
                is_within = graph.call_function(compare, (value, end))
                held = graph.call_function(operator.and_, (held, is_within)) if held else is_within
    output.args = ((*before, held),)
    return dataclasses.replace(way, is_guarded=True)


def _value(operand: object) -> object:
    return operand.meta.get("val") if isinstance(operand, torch.fx.Node) else None
