"""The first op at which a program and PyTorch part: each is given what the program gave it, and compared by itself."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ingot.judge import TOLERANCE_FACTOR
from ingot.torch.base.places import draw_of, place_of
from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.ops import is_empty
from ingot.torch.judge.expanded import write
from ingot.torch.judge.observe import Graph
from ingot.torch.judge.rounded import UNITS, moved
from ingot.torch.text.loops import Loop, is_of_loop, loops_apart
from ingot.torch.text.lowering import overload_name

FLOOR = 64  # units by which results may always differ
SEEDS = 2
NOT_A_NUMBER = 1e30  # in the place of NaN and infinities, which are compared too

Values = dict[torch.fx.Node, Any]


def first_parting(graph: Graph, given: Sequence[Any], made: Mapping[torch.fx.Node, Any]) -> str:
    """Says which op is the first whose value is not PyTorch's of the operands that it had; "" if there is none.

    `given` are the placeholders' values, `made` what the program's ops made of them.
    """
    placeholders = [node for node in graph.module.graph.nodes if node.op == "placeholder"]
    values: Values = {node: _whole(value, node) for node, value in zip(placeholders, given, strict=True)}
    values |= {n: getattr(graph.module, str(n.target)) for n in graph.module.graph.nodes if n.op == "get_attr"}
    for part in loops_apart(graph.ops):
        if isinstance(part, Loop):
            part.run(values, functools.partial(_evaluated, values=values))
            continue
        for node in part:
            reference = _evaluated(node, values)
            values[node] = made.get(node, reference)
            is_set = not draw_of(node)[1] and not is_empty(node.target) and not is_of_loop(node)
            if node in made and reference is not None and is_set:
                far = _distance(made[node], reference)
                if not far <= _allowed(node, values, reference):
                    what = f"{overload_name(node.target)} ({node.name}) at {place_of(node)}"
                    return f"{what} is off by {far:.2g} of its size"
    return ""


def _whole(value: Any, node: torch.fx.Node) -> Any:
    """A value as the graph has it, which may be of complex numbers."""
    return torch.view_as_complex(value) if node.meta["val"].is_complex() else value


def _evaluated(node: torch.fx.Node, values: Values, seed: int | None = None, terms: float = 1) -> Any:
    """What PyTorch makes of an op's operands; None where it cannot be asked.

    They are moved a little if there is a `seed`, as by adding up so many `terms`.
    """
    random = torch.Generator().manual_seed(seed or 0)

    def operand(read: torch.fx.Node) -> Any:
        return _laid_out(pytree.tree_map_only(torch.Tensor, maybe_moved, values[read]), read, node)

    def maybe_moved(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if seed is None else moved(tensor, random, terms)

    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            return node.target(*torch.fx.map_arg(node.args, operand), **torch.fx.map_arg(node.kwargs, operand))
    except (RuntimeError, ArithmeticError):  # a view of what lies otherwise in memory here
        return None


def _laid_out(value: Any, read: torch.fx.Node, node: torch.fx.Node) -> Any:
    """An operand, in memory as it was when it was traced where the op asks for that."""
    if node.target is not torch.ops.aten.as_strided.default or not isinstance(value, torch.Tensor):
        return value
    known = read.meta["val"]
    laid = torch.empty_strided(known.shape, known.stride(), dtype=value.dtype)
    write(laid, value)
    return laid


def _moved(node: torch.fx.Node, values: Values, reference: Any, seed: int) -> Any:
    """What PyTorch makes of operands that are moved a little: of an op with several results, one of these."""
    if node.target is not operator.getitem:
        return _evaluated(node, values, seed, terms_of(node, values, reference))
    source, place = node.args
    made = _evaluated(source, values, seed, terms_of(source, values, reference))
    return None if made is None else made[place]


def terms_of(node: torch.fx.Node, values: Values, result: Any) -> float:
    """About how many terms are added up for each element of a result: a sum's, or a product's of two operands."""
    if torch.Tag.pointwise in getattr(node.target, "tags", ()) or not isinstance(result, torch.Tensor):
        return 1
    operands = (values[read] for read in node.all_input_nodes)
    sizes = sorted(t.numel() for t in operands if isinstance(t, torch.Tensor) and t.dtype in UNITS)
    if not sizes or not result.numel():
        return 1
    terms = sizes[-1] / result.numel() if len(sizes) == 1 else math.sqrt(sizes[-1] * sizes[-2] / result.numel())
    return max(1, terms)


def _allowed(node: torch.fx.Node, values: Values, reference: Any) -> float:
    results = (_moved(node, values, reference, seed) for seed in range(SEEDS))
    noise = max((_distance(made, reference) for made in results if made is not None), default=0.0)
    unit = UNITS[torch.float64] if isinstance(reference, float) else UNITS.get(getattr(reference, "dtype", None), 0)
    return TOLERANCE_FACTOR * noise + FLOOR * unit


def _distance(made: Any, reference: Any) -> float:
    """How far one value is from another, as a part of it; infinity where they are not of one shape."""
    if isinstance(reference, (tuple, list)):
        return 0.0  # each of the results is an op of its own
    mine, other = (_plain(value) for value in (made, reference))
    if mine.shape != other.shape:
        return math.inf
    norm = other.norm().item()
    difference: float = (mine - other).norm().item()
    return float(difference / (norm or 1))


def _plain(value: Any) -> torch.Tensor:
    tensor = torch.as_tensor(value).detach()
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return torch.nan_to_num(tensor.double(), NOT_A_NUMBER, NOT_A_NUMBER, -NOT_A_NUMBER)
