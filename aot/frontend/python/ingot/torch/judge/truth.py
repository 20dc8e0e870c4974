"""What a program computes in f64: its graph of ATen ops, run by PyTorch with wide floats in the place of all others.

And how far from it a program may be of which each op by itself does what PyTorch's does (`part.py`): as far as it is
where each op's operands are moved by a unit, and its results by one, or by as many as they may always be off.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ingot.judge import TOLERANCE_FACTOR
from ingot.torch.base.torch_internals import pytree
from ingot.torch.judge.observe import NUMBERS, Graph
from ingot.torch.judge.part import FLOOR, terms_of
from ingot.torch.judge.rounded import is_view, moved

WIDE = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.float16: torch.float64}
WIDE |= {torch.complex64: torch.complex128}
BITS = torch.ops.aten.view.dtype  # of numbers of the type that a program has
OFF = FLOOR / TOLERANCE_FACTOR  # units by which results may always be off

Tensors = Mapping[str, torch.Tensor]
Values = dict[torch.fx.Node, Any]


class Truth:
    """A state in f64, from step to step."""

    def __init__(self, state: Tensors, numbers: Mapping[str, float], seed: int | None = None, units: float = 1) -> None:
        """`numbers` are inputs that no batch gives; with a `seed` what ops read is moved, and results by `units`."""
        self._units = units
        self._random = None if seed is None else torch.Generator().manual_seed(seed)
        self.state = {name: _wide(tensor.detach().clone()) for name, tensor in state.items()}
        self._numbers = {name: torch.tensor(number, dtype=torch.float64) for name, number in numbers.items()}

    def step(self, way: Graph, inputs: Tensors, draws: Sequence[Sequence[torch.Tensor]]) -> list[torch.Tensor]:
        """Goes a way from the state; gives the graph's results before the state."""
        given = {**self._numbers, **self.state, **{name: _wide(torch.as_tensor(x)) for name, x in inputs.items()}}
        values = _drawn(way, draws)
        with torch.no_grad(), torch.random.fork_rng(devices=[]), _made_wide():
            placeholders = way.module.graph.find_nodes(op="placeholder")
            for node, port in zip(placeholders, way.takes, strict=True):
                values[node] = _laid_out(given[port.name], node)
            for node in way.module.graph.nodes:
                if node not in values and node.op != "output":
                    values[node] = self._value(node, values, way)
        names = [port.name for port in way.takes if port.is_state]
        results = [values[node] for node in way.outputs(len(names))]
        self.state = {name: values[node] for name, node in zip(names, way.states(len(names)), strict=True)}
        return results

    def within_range(self) -> Tensors:
        """The state, where what is less than the least normal number of f32 is 0, as f32 has it or not."""
        least = torch.finfo(torch.float32).tiny
        return {
            name: tensor.where(tensor.abs() >= least, 0) if tensor.is_floating_point() else tensor
            for name, tensor in self.state.items()
        }

    def _value(self, node: torch.fx.Node, values: Values, way: Graph) -> Any:
        if node.op == "get_attr":
            return _wide(getattr(way.module, str(node.target)).detach())
        if node.target is BITS:
            return _wide(node.target(*torch.fx.map_arg(node.args, functools.partial(_as_traced, values))))
        read = functools.partial(self._operand, node, values)
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), read)
        args, kwargs = pytree.tree_map_only(torch.dtype, lambda dtype: WIDE.get(dtype, dtype), (args, kwargs))
        made, known = _wide(node.target(*args, **kwargs)), node.meta.get("val")
        is_rounded = isinstance(made, torch.Tensor) and made.is_floating_point()
        if self._random is None or not is_rounded or is_view(node.target):
            return made
        is_whole = made == made.round()  # what f32 has exactly
        return torch.where(is_whole, made, moved(made, self._random, units=self._units, dtype=known.dtype))

    def _operand(self, node: torch.fx.Node, values: Values, read: torch.fx.Node) -> Any:
        value, known = values[read], read.meta.get("val")
        if self._random is None or not isinstance(value, torch.Tensor) or is_view(node.target):
            return value
        return moved(value, self._random, terms_of(node, values, known), dtype=known.dtype)


@contextmanager
def _made_wide() -> Iterator[None]:
    """Floats are wide where nothing else is said."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _drawn(way: Graph, draws: Sequence[Sequence[torch.Tensor]]) -> Values:
    """What random ops drew in the program."""
    values: Values = {}
    for nodes, drawn in zip(way.draws(), draws, strict=True):
        observed = [node for node in nodes if isinstance(node.meta.get("val"), (torch.Tensor, *NUMBERS))]
        found = zip(observed, drawn, strict=True)
        values |= {node: _wide(value) for node, value in found if not node.all_input_nodes or _draws(node)}
    return values


def _draws(node: torch.fx.Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _wide(value: Any) -> Any:
    """Tensors with wide floats."""
    return pytree.tree_map_only(torch.Tensor, lambda t: t.to(WIDE.get(t.dtype, t.dtype)), value)


def _as_traced(values: Values, read: torch.fx.Node) -> torch.Tensor:
    """A value in the type that the program has it in."""
    value: torch.Tensor = values[read].to(read.meta["val"].dtype)
    return value


def _laid_out(value: torch.Tensor, node: torch.fx.Node) -> torch.Tensor:
    """A value as it lies in memory where it was traced, of complex numbers where it has such there."""
    known = node.meta["val"]
    value = torch.view_as_complex(value) if known.is_complex() and not value.is_complex() else value
    return torch.empty_strided(known.shape, known.stride(), dtype=value.dtype).copy_(value)
