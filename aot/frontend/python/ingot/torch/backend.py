"""``torch.compile(function, backend="ingot")``: each graph that PyTorch finds runs as a bundle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import register_backend
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition

import ingot.torch.aten  # noqa: F401  (fills the table, which says what stays whole)
from ingot import cache
from ingot.session import Session
from ingot.stablehlo import Port
from ingot.torch.decompositions import decompositions
from ingot.torch.emit import Way, emit
from ingot.torch.errors import TraceError
from ingot.torch.program import ROUNDS
from ingot.torch.state import stored

ENTRY = "graph"


@register_backend(name="ingot")  # type: ignore[untyped-decorator]
def backend(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """What torch.compile calls for each graph of a function. State is among its arguments, and stays PyTorch's."""
    compile_graph = aot_autograd(
        fw_compiler=_compiled,
        partition_fn=min_cut_rematerialization_partition,
        decompositions=decompositions(),
    )
    function: Callable[..., Any] = compile_graph(graph, inputs)
    return function


def _compiled(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """A graph of ATen ops as a function of its arguments.

    Raises TraceError for sizes that are left open and for random ops.
    """
    if not all(isinstance(value, torch.Tensor) for value in inputs):
        raise TraceError("the graph leaves sizes open", fix="torch.compile(..., dynamic=False) fixes them")
    results = _keep_tensors(graph.graph)
    made = [name for name in results if name]
    ports = [Port(f"x{i}") for i in range(len(inputs))]
    text, is_random = emit([Way(graph)], ENTRY, ports, [Port(name) for name in made])
    if is_random:
        raise TraceError("the graph draws random numbers", fix="ingot.torch.compile takes the whole step, with them")
    entry = Session(cache.compiled({ENTRY: text}, skip=ROUNDS)).entries[ENTRY]
    complex_results = {name for name, node in zip(made, _returned(graph.graph), strict=True) if _is_complex(node)}

    def run(*arguments: torch.Tensor) -> list[torch.Tensor | None]:
        outputs = entry(*map(stored, arguments))
        tensors: dict[str, torch.Tensor] = {name: torch.as_tensor(value) for name, value in outputs.items()}
        for name in complex_results:
            tensors[name] = torch.view_as_complex(tensors[name])
        return [tensors[name] if name else None for name in results]

    boxed: Callable[..., Any] = make_boxed_func(run)
    return boxed


def _returned(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    (returned,) = graph.output_node().args
    return list(returned)


def _keep_tensors(graph: torch.fx.Graph) -> list[str]:
    """Leaves tensors alone in what a graph returns; gives a name for each result that is one, "" for each other."""
    returned = _returned(graph)
    kept = [node for node in returned if isinstance(node, torch.fx.Node)]
    graph.output_node().args = (kept,)
    count = iter(range(len(kept)))
    return [f"y{next(count)}" if isinstance(node, torch.fx.Node) else "" for node in returned]


def _is_complex(node: torch.fx.Node) -> bool:
    return bool(node.meta["val"].is_complex())
