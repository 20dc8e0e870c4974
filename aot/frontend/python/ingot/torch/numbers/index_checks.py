"""Whether indices are within what they index: where they are not PyTorch raises, and a program takes the nearest.

Looked at are those that no state takes part in, such as those of arguments. What models compute indices of counts
elements mostly (argmax, topk, buffers of positions), and would have to be computed twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from ingot.torch.numbers.bounds import holds
from ingot.torch.numbers.tensor_bounds import Bounds
from ingot.torch.text.loops import Loop, loops_apart

aten = torch.ops.aten
INDICES_WITHIN = "indices_within"  # the result that says it
Check = tuple[Node, int, int]  # indices, the least that is right, and the largest


def index_checks(ops: Sequence[Node], known: Mapping[Node, Bounds | None], skipped: set[Node]) -> list[Check]:
    """What is to be looked at: indices that may be outside by what is `known` of their bounds.

    None of what is `skipped` takes part in them, nor the inside of a loop.
    """
    skipped = {*skipped, *_inside_loops(ops)}
    for node in ops:
        if not skipped.isdisjoint(node.all_input_nodes):
            skipped.add(node)
    found = dict.fromkeys(check for node in ops if (rule := RULES.get(node.target)) for check in rule(node))
    return [check for check in found if check[0] not in skipped and not _is_within(check, known)]


def add_checks(graph: Graph, checks: Sequence[Check], truths: Sequence[Node] = ()) -> Node | None:
    """Adds before a graph's end whether some checks hold, and some truths do, all of them; None for none."""
    truths = [*truths]
    with graph.inserting_before(graph.output_node()):
        for indices, low, high in checks:
            for compare, end in ((aten.ge.Scalar, low), (aten.le.Scalar, high)):
                truths.append(_called(graph, aten.all.default, _called(graph, compare, indices, end)))
        return functools.reduce(functools.partial(_called, graph, aten.logical_and.default), truths) if truths else None


def with_checks(module: GraphModule) -> GraphModule | None:
    """A graph without state that also returns whether its indices are within; None if it has none that may be outside.

    And whether what it asserts holds, which none of its ops does any more.
    """
    graph = Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    asserts = graph.find_nodes(op="call_function", target=aten._assert_async.msg)
    checks = index_checks([node for node in graph.nodes if node.op == "call_function"], {}, set())
    held = add_checks(graph, checks, [node.args[0] for node in asserts])
    for node in asserts:
        graph.erase_node(node)
    if held is None:
        return None
    graph.output_node().args = ((*graph.output_node().args[0], held),)
    return GraphModule(module, graph)


def _called(graph: Graph, op: Callable[..., torch.Tensor], *args: Any) -> Node:
    """An op, and what it makes."""
    node = graph.call_function(op, args)
    node.meta["val"] = op(*torch.fx.map_arg(args, lambda operand: operand.meta["val"]))
    return node


def _inside_loops(ops: Sequence[Node]) -> Iterator[Node]:
    for part in loops_apart(ops):
        if isinstance(part, Loop):
            yield part.begin
            yield from part.inside


def _is_within(check: Check, known: Mapping[Node, Bounds | None]) -> bool:
    indices, low, high = check
    found = known.get(indices)
    return found is not None and holds((low, high), found)


def _of_table(table: int, indices: int) -> Callable[[Node], Iterator[Check]]:
    """Rows of a table; of an op by the places of its arguments."""

    def rule(node: Node) -> Iterator[Check]:
        yield node.args[indices], 0, _shape(node.args[table])[0] - 1

    return rule


def _along_dimension(node: Node) -> Iterator[Check]:
    operand, dim, indices = node.args[:3]
    yield indices, 0, (_shape(operand) or (1,))[dim] - 1


def _from_either_end(node: Node) -> Iterator[Check]:
    operand, indices = node.args[:2]
    for size, along in zip(_shape(operand), indices, strict=False):
        if along is not None:
            yield along, -size, size - 1


def _shape(operand: Any) -> torch.Size:
    shape: torch.Size = operand.meta["val"].shape
    return shape


RULES: Mapping[object, Callable[[Node], Iterator[Check]]] = {
    aten.embedding.default: _of_table(0, 1),
    aten._embedding_bag.default: _of_table(0, 1),
    aten._embedding_bag_forward_only.default: _of_table(0, 1),
    **dict.fromkeys((aten.index.Tensor, aten.index_put.default), _from_either_end),
    **dict.fromkeys((aten.index_select.default, aten.gather.default, aten.index_add.default), _along_dimension),
    **dict.fromkeys((aten.scatter.src, aten.scatter.value, aten.scatter_add.default), _along_dimension),
    **dict.fromkeys((aten.scatter.reduce, aten.scatter.value_reduce, aten.scatter_reduce.two), _along_dimension),
    aten.index_reduce.default: _along_dimension,
}
