"""Tensors that a function captures, which are neither arguments nor state: inputs of its program, read in each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ingot.torch.python_state.held import Itself, Written
from ingot.torch.python_state.snapshot import Snapshot
from ingot.torch.tracing.fakes import fakes

PREFIX = "captured."


@dataclass(frozen=True)
class Capture:
    """A captured tensor, by the name of the input that it is: the tensor that was traced, and how it is read."""

    name: str
    tensor: torch.Tensor
    read: Callable[[], Any]

    @property
    def places(self) -> set[tuple[int, Any]]:
        """The place in Python that may hold another tensor in the next call."""
        return {self.read.place} if isinstance(self.read, Written) else set()


def captures_of(tensors: Iterable[torch.Tensor], snapshot: Snapshot) -> list[Capture]:
    """The tensors that Python holds where the snapshot finds them, each once.

    A tensor that Python holds in one place is read from there, so that another tensor may be put in its place. A
    tensor in several places, or with attributes of its own, stays the one that was traced.
    """
    wanted = {id(tensor): tensor for tensor in tensors}
    reads: dict[int, list[tuple[str, Callable[[], Any]]]] = {}
    for path, leaf in snapshot.leaves.items():
        if leaf.tensor_id in wanted:
            reads.setdefault(leaf.tensor_id, []).append((path, leaf.read))
    found = []
    for key, held in reads.items():
        (path, read), tensor = held[0], wanted[key]
        is_movable = len(held) == 1 and isinstance(read, Written) and not vars(tensor)
        found.append(Capture(PREFIX + path, tensor, read if is_movable else Itself(tensor)))
    return found


def lift(module: torch.fx.GraphModule, captures: Sequence[Capture]) -> None:
    """Makes captured tensors the last placeholders of a functional graph, in order, where they were constants."""
    graph, mode = module.graph, fakes()
    constants = [(node, getattr(module, str(node.target))) for node in graph.find_nodes(op="get_attr")]
    last = graph.find_nodes(op="placeholder")[-1:]
    for i, capture in enumerate(captures):
        with graph.inserting_after(*last):
            placeholder = graph.placeholder(f"captured_{i}")
        placeholder.meta["val"] = mode.from_tensor(capture.tensor.detach(), static_shapes=True)
        last = [placeholder]
        for node in [node for node, constant in constants if constant is capture.tensor]:
            node.replace_all_uses_with(placeholder)
            graph.erase_node(node)
            vars(module).pop(str(node.target), None)
