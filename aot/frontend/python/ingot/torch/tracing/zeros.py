"""Whether a tensor of the graph that is traced was made, or last written, as zeros."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node

from ingot.torch.base.torch_internals import node_of
from ingot.torch.base.torch_internals.ops import OpOverload

aten = torch.ops.aten
OF_ZEROS = {aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default}
ZEROING = {*OF_ZEROS, aten.zero_.default, aten._foreach_zero_.default}
FILLING = {aten.full.default: 1, aten.full_like.default: 1, aten.new_full.default: 2, aten.fill_.Scalar: 1}
SAME = {aten.detach.default, aten.alias.default}  # give the tensor's own memory, as it is


def is_zeros(tensor: torch.Tensor | None) -> bool:
    """Whether the op that last wrote a tensor set all of its elements to zero; not where views of parts are taken."""
    node = node_of(tensor)
    if node is None:
        return False
    while node.target in SAME or _is_mutable(node):
        node = node.args[0]
        if not isinstance(node, Node):
            return False
    whole = [*_names(node)]
    users = {user: name for name in whole for user in name.users}
    if any(_is_view(user) and user not in whole for user in users):
        return False
    writes = {user for user, name in users.items() if _writes(user, name)}
    return _sets_zeros(next((n for n in reversed(node.graph.nodes) if n in writes), node))


def _names(node: Node) -> Iterator[Node]:
    """The node that makes a tensor, and those that give the whole of it later."""
    yield node
    for user in node.users:
        if user.target in SAME or (_writes(user, node) and user.args[0] is node):
            yield from _names(user)


def _writes(user: Node, node: Node) -> bool:
    """Whether an op writes what a node gives: alone, or as one of a list."""
    return _is_mutable(user) and (user.args[0] is node or (isinstance(user.args[0], list) and node in user.args[0]))


def _is_mutable(node: Node) -> bool:
    return isinstance(node.target, OpOverload) and node.target._schema.is_mutable


def _is_view(node: Node) -> bool:
    """Whether an op gives memory of an operand."""
    if not isinstance(node.target, OpOverload) or node.target._schema.is_mutable:
        return False
    return any(result.alias_info is not None for result in node.target._schema.returns)


def _sets_zeros(node: Node) -> bool:
    value: Any = node.args[FILLING[node.target]] if node.target in FILLING else None
    return node.target in ZEROING or (type(value) in (int, float, bool) and value == 0)
