"""Nodes of a graph that come again of other operands: made once by PyTorch, then copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, Node

from ingot.torch.base.places import COMPOSITE

PLACE = "custom"


def last_of(graph: Graph) -> Node | None:
    """The node after which others will stand; None in an empty graph."""
    return next(iter(reversed(graph.nodes)), None)


def nodes_after(graph: Graph, last: Node | None) -> list[Node]:
    """The nodes that were made since one was the last."""
    found: list[Node] = []
    for node in reversed(graph.nodes):
        if node is last:
            break
        found.append(node)
    return found[::-1]


@dataclass(frozen=True)
class Piece:
    """Nodes in a row, what they read of the nodes before that is theirs alone, and what they leave in its place."""

    nodes: Sequence[Node]
    reads: Sequence[Node]
    left: Mapping[int, Node]  # of the reads that they write, by number

    @property
    def others(self) -> set[Node]:
        """What else they read."""
        inside = {*self.nodes, *self.reads}
        return {read for node in self.nodes for read in node.all_input_nodes if read not in inside}

    @property
    def draws(self) -> bool:
        """Whether any of them draws random numbers."""
        tags = (getattr(node.target, "tags", ()) for node in self.nodes)
        return any(torch.Tag.nondeterministic_seeded in found for found in tags)

    def copied(self, reads: Sequence[Node], composite: Any) -> dict[Node, Node]:
        """The same of other reads, in another composite, at the end of the graph; gives what stands for what."""
        copies = dict(zip(self.reads, reads, strict=True))
        for node in self.nodes:
            copy = node.graph.node_copy(node, lambda n: copies.get(n, n))
            copy.meta = {PLACE: {**node.meta.get(PLACE, {}), COMPOSITE: composite}}
            if isinstance(node.meta.get("val"), torch.Tensor):
                copy.meta["val"] = node.meta["val"]
            copies[node] = copy
        return copies
