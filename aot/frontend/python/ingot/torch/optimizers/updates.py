"""Optimizers' updates of parameters that are alike: one is traced, and its nodes are copied for the others.

What torch.optim and ingot.torch.optim compute for a parameter depends on the types of its tensors
and on settings that all have, and on nothing of the other parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torch.fx import traceback as fx_traceback
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from ingot.torch.base.copied import PLACE, Piece, last_of, nodes_after
from ingot.torch.base.places import COMPOSITE, user_place
from ingot.torch.base.torch_internals import node_of, pytree, track, without_functions
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor

Update = Callable[..., None]
OWN = ("torch.optim.", "ingot.torch.optim")
PLAIN = (type(None), bool, int, float, complex, str)
NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)


@dataclass(frozen=True)
class Traced:
    """An update's nodes, and which of its tensors it writes."""

    piece: Piece
    written: Sequence[int]

    def again(self, tensors: Sequence[torch.Tensor]) -> None:
        """The same update of other tensors."""
        composite = fx_traceback.current_meta[PLACE][COMPOSITE]
        copies = self.piece.copied([_known(node_of(tensor)) for tensor in tensors], composite)
        for i, node in self.piece.left.items():
            track(tensors[i], copies[node])
        torch.autograd.graph.increment_version([tensors[i] for i in self.written])


class Updates:
    """The updates of one call of an optimizer; `asked` counts what Python asked so far about numbers.

    `traced` has those of calls before, and gets these.
    """

    def __init__(
        self,
        update: Update,
        settings: dict[str, Any],
        asked: Callable[[], int],
        traced: dict[Hashable, Traced | None],
    ) -> None:
        self._update, self._settings, self._asked, self._traced = update, settings, asked, traced
        leaves, structure = pytree.tree_flatten(settings)
        nodes = [node_of(leaf) for leaf in leaves]
        self._given = {node for node in nodes if node}
        are_told_apart = all(node or isinstance(leaf, PLAIN) for node, leaf in zip(nodes, leaves, strict=True))
        self._of_all: Hashable = None
        if are_told_apart:
            told = tuple(node or (type(leaf), repr(leaf)) for node, leaf in zip(nodes, leaves, strict=True))
            self._of_all = (update, str(structure), told)

    def run(self, lists: Sequence[Any]) -> None:
        """Updates a parameter; of it and what belongs to it there are lists of one element."""
        tensors = [element for one in lists if isinstance(one, list) for element in one]
        key = self._key(tensors)
        known = self._traced.get(key)
        if known:
            known.again(tensors)
        elif key is None or key in self._traced:
            self._update(*lists, **self._settings)
        else:
            self._traced[key] = self._trace(lists, tensors)

    def _key(self, tensors: Sequence[Any]) -> Hashable:
        """What an update depends on; None for what is traced each time."""
        is_own = getattr(self._update, "__module__", "").startswith(OWN)
        if not is_own or not self._of_all or torch.is_grad_enabled() or len({*map(id, tensors)}) < len(tensors):
            return None
        with without_functions():
            return (self._of_all, user_place(), *map(_type, tensors)) if all(map(_is_plain, tensors)) else None

    def _trace(self, lists: Sequence[Any], tensors: Sequence[torch.Tensor]) -> Traced | None:
        mode = get_proxy_mode()
        assert mode is not None
        graph, asked = mode.tracer.graph, self._asked()
        last, reads = last_of(graph), [_known(node_of(tensor)) for tensor in tensors]
        versions = [tensor._version for tensor in tensors]
        self._update(*lists, **self._settings)
        after = [element for one in lists if isinstance(one, list) for element in one]
        nodes = _read_ones(nodes_after(graph, last))
        inside = {*nodes}
        now = {i: _known(node_of(tensor)) for i, tensor in enumerate(tensors)}
        piece = Piece(nodes, reads, {i: node for i, node in now.items() if node in inside})
        is_alike = piece.others <= self._given and all(node.op == "call_function" for node in nodes)
        is_alike = is_alike and all(node in inside or node is reads[i] for i, node in now.items())
        if not is_alike or piece.draws or self._asked() != asked or len({*reads}) < len(reads):
            return None
        if [*map(id, after)] != [*map(id, tensors)]:
            return None
        return Traced(piece, [i for i, tensor in enumerate(tensors) if tensor._version != versions[i]])


def _read_ones(nodes: Sequence[Node]) -> list[Node]:
    """Nodes without those that make_fx leaves out: numbers made of numbers, of which nothing is computed."""
    kept: list[Node] = []
    seen: set[Node] = set()
    for node in reversed(nodes):
        of_numbers = all(_is_number(read) for read in (node, *node.all_input_nodes))
        if not of_numbers or not seen.isdisjoint(node.users):
            seen.add(node)
            kept.append(node)
    return kept[::-1]


def _is_number(node: Node) -> bool:
    return isinstance(node.meta.get("val"), NUMBERS)


def _known(node: Node | None) -> Node:
    assert node is not None
    return node


def _is_plain(tensor: Any) -> bool:
    """Whether a tensor is what the graph knows of it, and nothing else."""
    is_plain = type(tensor) is FakeTensor and tensor.constant is None and tensor.layout is torch.strided
    return is_plain and not tensor._has_symbolic_sizes_strides and node_of(tensor) is not None


def _type(tensor: torch.Tensor) -> Hashable:
    is_view = tensor.is_conj() or tensor.is_neg()
    return tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device, tensor.requires_grad, is_view
