"""What a program computes in f64: its graph of ATen ops, run by PyTorch with wide floats in the place of all others.

And how far from it rounding may take a program: as far as it takes the same graph where each op's operands and results
are moved by a unit of their own types, and by what PyTorch itself rounds within that op.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.judge.case import Tensors
from ingot.torch.judge.expanded import write
from ingot.torch.judge.observe import NUMBERS, Graph
from ingot.torch.judge.part import terms_of
from ingot.torch.judge.rounded import in_pieces, is_view, moved, normal
from ingot.torch.judge.wide import each_tensor, run_wide, widened
from ingot.torch.text.loops import Loop, evaluate, is_of_loop, loops_apart, needed_for

# Values may have other strides than when they were traced, and nothing is written in place: a copy serves as well.
VIEWS = (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default)

# Ops that read their operands as if these were contiguous: the functions that call them see to it.
CONTIGUOUS = "aten::_embedding_bag"

BITS = torch.ops.aten.view.dtype  # of numbers of the type that a program has

Values = dict[torch.fx.Node, Any]
Reads = list[torch.fx.Node]
OffWithin = dict[torch.fx.Node, list[float]]  # of each result of ops


@dataclass(frozen=True)
class Noise:
    """Rounding at random: of what ops read, by a unit in the last place, and of what they make, by `units`.

    Units are those of each value's own type, or of `dtype`. With `is_measured` results are also moved by as much as
    PyTorch is off within the op, which for an op that cancels, as log_softmax does, is more than a unit of its result.
    """

    seed: int
    units: float = 1
    dtype: torch.dtype | None = None
    is_measured: bool = False


class _Values(Values):
    """Values of nodes, for which those of placeholders are widened where they are read first."""

    def __init__(self, given: Mapping[torch.fx.Node, torch.Tensor]) -> None:
        super().__init__()
        self._given = given

    def __missing__(self, node: torch.fx.Node) -> torch.Tensor:
        return self.setdefault(node, _laid_out(widened(self._given[node]), node))


class Reference:
    """One way of a program, in f64."""

    def __init__(self, way: Graph, noise: Noise | None = None, off_within: OffWithin | None = None) -> None:
        """`off_within` has how far PyTorch is off within ops, as far as that is known, and is filled."""
        self._way, self._noise = way, noise
        self._known_off = {} if off_within is None else off_within
        self._random = torch.Generator().manual_seed(noise.seed if noise else 0)

    def __call__(
        self, given: Tensors, draws: Sequence[Sequence[torch.Tensor]], wanted: Sequence[torch.fx.Node]
    ) -> list[Any]:
        """The values of some nodes, for those of the placeholders by name."""
        graph = self._way.module.graph
        ports = zip(graph.find_nodes(op="placeholder"), self._way.takes, strict=True)
        values = _Values({node: torch.as_tensor(given[port.name]) for node, port in ports})
        values |= _drawn(self._way, draws)
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            nodes = [node for node in needed_for(wanted) if node.op != "placeholder"]
            last_reads = _last_reads(nodes, wanted)
            evaluate(nodes, values, functools.partial(self._value_of, values=values, last_reads=last_reads))
        return [values[node] for node in wanted]

    def _value_of(self, node: torch.fx.Node, values: Values, last_reads: Mapping[torch.fx.Node, Reads]) -> Any:
        """The value of a node; those that no later node reads are dropped."""
        made = self._value(node, values)
        for read in last_reads.get(node, ()):
            values.pop(read, None)
        return made

    def _value(self, node: torch.fx.Node, values: Values) -> Any:
        if node.op == "get_attr":
            return widened(getattr(self._way.module, str(node.target)).detach())
        known = node.meta.get("val")
        if node.target is BITS:
            return widened(node.target(*torch.fx.map_arg(node.args, functools.partial(_as_traced, values))))
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), functools.partial(self._operand, node, values))
        if isinstance(node.target, OpOverload) and node.target.name().startswith(CONTIGUOUS):
            args, kwargs = pytree.tree_map_only(torch.Tensor, torch.Tensor.contiguous, (args, kwargs))
        made = run_wide(torch.reshape if node.target in VIEWS else node.target, args, kwargs, known)
        made = each_tensor(torch.Tensor.resolve_conj, made)  # as view_as_real asks for
        is_rounded = isinstance(made, torch.Tensor) and made.is_floating_point()
        if self._noise is None or not is_rounded or is_view(node.target):
            return made
        off_within = self._off_within(node, values) if self._noise.is_measured else 0.0
        return in_pieces(functools.partial(self._rounded, known.dtype, off_within), made)

    def _rounded(self, known: torch.dtype, off_within: float, made: torch.Tensor) -> torch.Tensor:
        """A result as rounding may leave it; whole numbers, which every type has exactly, stay."""
        assert self._noise is not None
        off = moved(made, self._random, units=self._noise.units, dtype=self._noise.dtype or known)
        if off_within:
            off = torch.add(off, normal(made.shape, self._random), alpha=off_within)
        return torch.where(made == made.round(), made, off)

    def _operand(self, node: torch.fx.Node, values: Values, read: torch.fx.Node) -> Any:
        value, known = values[read], read.meta.get("val")
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        if self._noise is None or not is_float or is_view(node.target):
            return value
        return moved(value, self._random, terms_of(node, values, known), dtype=self._noise.dtype or known.dtype)

    def _off_within(self, node: torch.fx.Node, values: Values) -> float:
        """How far PyTorch's op in its own types is from exact, of one result: the root of the mean square."""
        if node.target is operator.getitem:
            source, place = node.args
            if is_of_loop(node):
                return 0.0  # a loop rounds in its ops
            return self._measured(source, values)[int(place)]
        return self._measured(node, values)[0]

    def _measured(self, node: torch.fx.Node, values: Values) -> list[float]:
        if node not in self._known_off:
            self._known_off[node] = _rounding_within(node, values)
        return self._known_off[node]


def _last_reads(nodes: Sequence[torch.fx.Node], kept: Iterable[torch.fx.Node]) -> dict[torch.fx.Node, Reads]:
    """For each node outside of loops, the values that it is the last to read; those in `kept` stay."""
    last_reads: dict[torch.fx.Node, Reads] = {}
    kept = {*kept}
    for part in reversed([*loops_apart(nodes)]):
        if isinstance(part, Loop):
            kept.update(*(node.all_input_nodes for node in (part.begin, *part.inside, part.end)))
            continue
        for node in reversed(part):
            last_reads[node] = [read for read in _reads(node) if read not in kept]
            kept.update(last_reads[node])
    return last_reads


def _reads(node: torch.fx.Node) -> Reads:
    """The nodes whose values are used for a node's: for one of several results also those that all are made of."""
    source = [node.args[0]] if node.target is operator.getitem else []
    return [*dict.fromkeys(read for reader in (node, *source) for read in reader.all_input_nodes)]


def _rounding_within(node: torch.fx.Node, values: Values) -> list[float]:
    """How far each result of an op is from exact in its own types; 0 where the op does not run by itself."""
    try:
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), functools.partial(_as_traced, values))
        exact_args, exact_kwargs = pytree.tree_map_only(torch.Tensor, widened, (args, kwargs))
        own = node.target(*args, **kwargs)
        exact = run_wide(node.target, exact_args, exact_kwargs, own)
    except (RuntimeError, TypeError, ValueError):
        return [0.0] * 16
    pairs = zip(pytree.tree_leaves(own), pytree.tree_leaves(exact), strict=True)
    return [_root_mean_square(mine, other) for mine, other in pairs]


def _root_mean_square(mine: Any, exact: Any) -> float:
    is_compared = isinstance(mine, torch.Tensor) and mine.is_floating_point() and mine.shape == exact.shape
    if not is_compared or not mine.numel():
        return 0.0
    difference = torch.nan_to_num(mine.double() - exact.double(), 0.0, 0.0, 0.0)
    return float(difference.norm() / mine.numel() ** 0.5)


def _drawn(way: Graph, draws: Sequence[Sequence[torch.Tensor]]) -> Values:
    """What random ops drew in the program, and what it made of that alone: PyTorch is given the same numbers."""
    values: Values = {}
    for nodes, drawn in zip(way.draws(), draws, strict=True):
        observed = [node for node in nodes if isinstance(node.meta.get("val"), (torch.Tensor, *NUMBERS))]
        for node, value in zip(observed, drawn, strict=True):
            if _draws(node) or _is_exact(node) or all(read in values for read in node.all_input_nodes):
                values[node] = pytree.tree_map_only(torch.Tensor, widened, value)
    return values


def _is_exact(node: torch.fx.Node) -> bool:
    """Whether a node gives no floats, but a choice."""
    known = node.meta["val"]
    return isinstance(known, torch.Tensor) and not known.is_floating_point()


def _draws(node: torch.fx.Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _as_traced(values: Values, read: torch.fx.Node) -> Any:
    """A value in the type that the program has it in."""
    known = read.meta.get("val")
    if isinstance(known, torch.Tensor) and isinstance(values[read], torch.Tensor):
        return values[read].to(known.dtype)
    return values[read]


def _laid_out(value: torch.Tensor, node: torch.fx.Node) -> torch.Tensor:
    """A value in the layout that it was traced with, of complex numbers where it has such there."""
    known = node.meta["val"]
    value = torch.view_as_complex(value) if known.is_complex() and not value.is_complex() else value
    laid = torch.empty_strided(known.shape, known.stride(), dtype=value.dtype)
    write(laid, value)
    return laid
