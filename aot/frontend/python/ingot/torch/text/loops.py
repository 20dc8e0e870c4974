"""``torch.while_loop``: a loop of the program, whose number of trips depends on values.

Condition and body are traced once, of tensors that stand for those of any trip. Two ops mark where a loop begins and
ends in the graph: what is between them is its own, and may read all that was made before.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch.fx import Node

from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import draw_of, place_of, user_place
from ingot.torch.base.torch_internals import pytree

Tensors: TypeAlias = Sequence[torch.Tensor]


@torch.library.custom_op("ingot::loop_begin", mutates_args=())  # type: ignore[untyped-decorator]
def loop_begin(starts: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What stands for the tensors that a loop carries, at the start of any trip."""
    return [start.clone() for start in starts]


@torch.library.custom_op("ingot::loop_end", mutates_args=())  # type: ignore[untyped-decorator]
def loop_end(
    carried: Sequence[torch.Tensor], goes_on: torch.Tensor, results: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """What a loop leaves that makes these results of what it carries, as long as it goes on."""
    return [result.clone() for result in results]


@loop_begin.register_fake  # type: ignore[untyped-decorator]
def _of_begin(starts: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [torch.empty_like(start) for start in starts]


@loop_end.register_fake  # type: ignore[untyped-decorator]
def _of_end(carried: Sequence[torch.Tensor], goes_on: Any, results: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [torch.empty_like(result) for result in results]


BEGIN, END = torch.ops.ingot.loop_begin.default, torch.ops.ingot.loop_end.default


def while_loop(
    go_on: Callable[..., Any], body: Callable[..., Any], carried: Sequence[Any], _: Sequence[Any] = ()
) -> Any:
    """``torch.while_loop`` of tensors in a row, whose results are in the tree that `body` gives.

    Where it has a gradient it is Python's own loop, whose trips are traced one after the other.
    """
    starts = tuple(carried)
    if all(isinstance(start, torch.Tensor) for start in starts):
        stand_ins = tuple(loop_begin([start.detach() for start in starts]))
        goes_on, (results, tree) = go_on(*stand_ins), pytree.tree_flatten(body(*stand_ins))
        if isinstance(goes_on, torch.Tensor) and not any(x.requires_grad for x in (*starts, *results)):
            _refuse_other_types(starts, results)
            return pytree.tree_unflatten(loop_end(stand_ins, goes_on.reshape(()).bool(), results), tree)
    values: Any = starts
    while go_on(*pytree.tree_leaves(values)):
        values = body(*pytree.tree_leaves(values))
    return values


def _refuse_other_types(starts: Tensors, results: Tensors) -> None:
    before, after = ([(str(x.dtype), tuple(x.shape)) for x in tensors] for tensors in (starts, results))
    if before != after:
        what = f"a loop carries {before}, and its body gives {after}"
        raise TraceError(what, user_place(), "give as many tensors, of the same types and shapes")


@dataclass(frozen=True)
class Loop:
    """The nodes of a loop: where it begins, where it ends, and those between."""

    begin: Node
    inside: Sequence[Node]
    end: Node

    @property
    def goes_on(self) -> Any:
        """The node that says whether there is another trip."""
        return self.end.args[1]

    @property
    def results(self) -> Any:
        """The nodes of what a trip makes."""
        return self.end.args[2]

    def run(self, values: dict[Node, Any], value_of: Callable[[Node], Any]) -> None:
        """Makes all trips, and puts what the loop leaves into `values`; `value_of` is as in `evaluate`."""
        carried = [values[node] for node in self.begin.args[0]]
        deciding = {*needed_for([self.goes_on])}
        before = [node for node in self.inside if node in deciding]
        after = [node for node in self.inside if node not in deciding]
        while True:
            for node in self.inside:
                values.pop(node, None)
            values[self.begin] = carried
            evaluate(before, values, value_of)
            if not values[self.goes_on]:
                values[self.end] = carried
                return
            evaluate(after, values, value_of)
            carried = [values[node] for node in self.results]

    def refuse_effects(self) -> None:
        """Raises TraceError where a trip does more than to give its results."""
        own = {self.begin, *self.inside}
        for node in own:
            if any(user not in own and user is not self.end for user in node.users):
                what = "a loop's body changes, or gives to Python, what is outside of it"
                raise TraceError(what, place_of(node) or place_of(self.end), "carry it in the loop")
            if draw_of(node) != (0, 0):
                what = "a loop's body draws random numbers, which would be the same in each trip"
                raise TraceError(what, place_of(node), "draw before the loop")


def is_of_loop(node: Node) -> bool:
    """Whether a node is one of the tensors that a loop carries, or leaves."""
    return node.target is operator.getitem and node.args[0].target in (BEGIN, END)


def needed_for(results: Sequence[Node]) -> list[Node]:
    """The nodes that some need, and they themselves, in order."""
    needed, waiting = set(results), [*results]
    while waiting:
        inner = [node for node in waiting.pop().all_input_nodes if node not in needed]
        needed.update(inner)
        waiting += inner
    return [node for node in results[0].graph.nodes if node in needed]


def evaluate(nodes: Sequence[Node], values: dict[Node, Any], value_of: Callable[[Node], Any]) -> None:
    """Puts the values of nodes in order into `values`, loops included; `value_of` computes one from those before."""
    for part in loops_apart(nodes):
        if isinstance(part, Loop):
            part.run(values, value_of)
            continue
        for node in part:
            if node not in values:
                values[node] = value_of(node)


def loops_apart(nodes: Sequence[Node]) -> Iterator[Loop | list[Node]]:
    """Nodes in order: each outermost loop, and what lies before, between and after them."""
    plain: list[Node] = []
    rest = iter(nodes)
    for node in rest:
        if node.target is not BEGIN:
            plain.append(node)
            continue
        yield plain
        plain, depth, inside = [], 1, []
        while depth:
            inside.append(inner := next(rest))
            depth += (inner.target is BEGIN) - (inner.target is END)
        yield Loop(node, inside[:-1], inside[-1])
    yield plain
