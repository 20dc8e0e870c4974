"""A graph without ops that change their operands, and with large ops in terms of small ones.

Optimizers' updates that do the same to tensors of the same types become functional once, and are copied then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import fetch_sym_proxy, get_proxy_mode

from ingot.torch.base.copied import Piece, last_of, nodes_after
from ingot.torch.base.places import composite_of, place_of
from ingot.torch.base.torch_internals import (
    fake_mode,
    functional_value,
    is_functional_base,
    put_functional,
    track,
)
from ingot.torch.base.torch_internals.recording import (
    functional_level,
    temporarily_clear_interpreter_stack,
    wrap_to_functional,
)
from ingot.torch.text.decompositions import decompositions
from ingot.torch.tracing.composites import OPTIMIZERS
from ingot.torch.tracing.fakes import fakes
from ingot.torch.tracing.known_types import empty
from ingot.torch.tracing.recorder import recorded

NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)


def functional(graph: torch.fx.GraphModule, arguments: Sequence[torch.Tensor]) -> torch.fx.GraphModule:
    """The same as a graph is, of arguments like these."""
    _drop_profiling(graph.graph)

    def clean(*flat: torch.Tensor) -> Any:
        return _Functional(graph).run(*(tensor.clone() for tensor in flat))

    with fakes():
        fresh = [torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device=a.device) for a in arguments]
    functionalized = torch.func.functionalize(clean, remove="mutations")
    pure = recorded(functionalized, fresh, decompositions(), keep_types=True)
    _drop_clones(pure.graph)
    pure.graph.eliminate_dead_code()
    return pure


def _drop_profiling(graph: torch.fx.Graph) -> None:
    for node in reversed(list(graph.nodes)):
        if node.op == "call_function" and "_record_function" in str(node.target):
            graph.erase_node(node)


def _drop_clones(graph: torch.fx.Graph) -> None:
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target in (torch.ops.aten.clone.default, torch.ops.aten.detach.default):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


class _Read(NamedTuple):
    """A node that an op reads: one of its update's own, or the update's operand, by number."""

    is_own: bool
    number: int


@dataclass(frozen=True)
class _Update:
    """The nodes of an optimizer's update; `form` says what they compute of what they read."""

    nodes: Sequence[Node]
    reads: Sequence[Node]
    seen: Sequence[int]  # the numbers of nodes that are read behind it
    form: Hashable
    composite: tuple[str, int]

    @classmethod
    def of(cls, nodes: Sequence[Node], composite: tuple[str, int]) -> _Update:
        """The update that some nodes are."""
        own = {node: i for i, node in enumerate(nodes)}
        reads = [*dict.fromkeys(read for node in nodes for read in node.all_input_nodes if read not in own)]
        numbers = {read: _Read(False, i) for i, read in enumerate(reads)}
        numbers |= {node: _Read(True, i) for node, i in own.items()}
        operands = [repr(torch.fx.map_arg((n.args, n.kwargs), numbers.__getitem__)) for n in nodes]
        written = [(n.target, read, str(place_of(n))) for n, read in zip(nodes, operands, strict=True)]
        seen = [i for node, i in own.items() if any(user not in own for user in node.users)]
        return cls(nodes, reads, seen, (tuple(written), tuple(seen)), composite)


def _updates(graph: torch.fx.Graph) -> Iterator[_Update]:
    ops = [node for node in graph.nodes if node.op == "call_function"]
    for composite, nodes in groupby(ops, composite_of):
        if composite and composite[0].startswith(OPTIMIZERS):
            update = _Update.of([*nodes], composite)
            if all(read.op != "get_attr" for read in update.reads):  # which stands among its nodes
                yield update


@dataclass(frozen=True)
class _Done:
    """An update that has become functional: its nodes, and for those that are seen, which operand they are."""

    piece: Piece
    left: Mapping[int, torch.Tensor]  # what operands were then, by number
    seen: Mapping[int, int]


class _Functional(torch.fx.Interpreter):  # type: ignore[misc]  # torch is not checked
    """Runs a graph that may change what it makes of constants in place: they are functional, as its arguments are.

    An update like one of before is not run: its nodes are copied.
    """

    def __init__(self, graph: torch.fx.GraphModule) -> None:
        super().__init__(graph)
        self._starts = {update.nodes[0]: update for update in _updates(graph.graph)}
        self._ends: dict[Node, _Running] = {}
        self._done: dict[Hashable, _Done | None] = {}
        self._copied: dict[Node, Any] = {}

    def run(self, *arguments: Any) -> Any:
        """The results of the graph. PyTorch's own loop has a bar of progress, for which tqdm starts a thread."""
        self.env, self.args_iter = {}, iter(arguments)
        for node in self.graph.nodes:
            self.env[node] = self.run_node(node)
            for last_used in self.user_to_last_uses.get(node, ()):
                del self.env[last_used]
        return self.env[self.graph.output_node()]

    def get_attr(self, *where: Any) -> Any:
        """A constant."""
        level = functional_level()
        return wrap_to_functional(super().get_attr(*where), level)

    def run_node(self, n: Node) -> Any:
        """A node's value; nobody reads that of those in the middle of an update that was copied."""
        if n in self._starts:
            self._start(self._starts[n])
        if n in self._copied:
            return self._copied.pop(n)
        made = super().run_node(n)
        if n in self._ends:
            running = self._ends.pop(n)
            self._done[running.key] = running.done({**self.env, n: made})
        return made

    def _start(self, update: _Update) -> None:
        operands = [self.env[read] for read in update.reads]
        key = _key(update.form, operands)
        if key is not None and key not in self._done:
            self._ends[update.nodes[-1]] = _Running(key, update, operands)
        done = self._done.get(key)
        if not done:
            return
        reads = [_node_of(operand) for operand in operands]
        copies = done.piece.copied(reads, update.composite)
        for i, like in done.left.items():
            put_functional(operands[i], _new_like(like, copies[done.piece.left[i]]))
        self._copied = dict.fromkeys(update.nodes)
        self._copied |= {update.nodes[i]: operands[operand] for i, operand in done.seen.items()}


class _Running:
    """An update that runs, to be copied for others."""

    def __init__(self, key: Hashable, update: _Update, operands: Sequence[Any]) -> None:
        self.key, self._update, self._operands = key, update, operands
        self._reads = [_node_of(operand) for operand in operands]
        self._last = last_of(_graph())

    def done(self, values: Mapping[Node, Any]) -> _Done | None:
        """What it did; None where others cannot be the same by a copy."""
        now = {i: _node_of(operand) for i, operand in enumerate(self._operands)}
        nodes = nodes_after(_graph(), self._last)
        inside = {*nodes}
        piece = Piece(nodes, self._reads, {i: node for i, node in now.items() if node in inside})
        numbers = {id(operand): i for i, operand in enumerate(self._operands)}
        seen = {i: numbers.get(id(values[self._update.nodes[i]])) for i in self._update.seen}
        is_alike = not piece.others and not piece.draws and len({*self._reads}) == len(self._reads)
        are_left = all(node is self._reads[i] or is_functional_base(self._operands[i]) for i, node in now.items())
        if not is_alike or not are_left or None in seen.values():
            return None
        left = {i: functional_value(self._operands[i]) for i in piece.left}
        return _Done(piece, left, {i: operand for i, operand in seen.items() if operand is not None})


def _key(form: Hashable, operands: Iterable[Any]) -> Hashable:
    """What an update's nodes depend on; None where they are to be made by PyTorch."""
    kinds: list[Hashable] = [form]
    memory: dict[int, int] = {}
    for i, operand in enumerate(operands):
        if isinstance(operand, torch.Tensor):
            place = memory.setdefault(operand.untyped_storage()._cdata, i)
            kinds.append((tuple(operand.shape), operand.stride(), operand.dtype, is_functional_base(operand), place))
        elif isinstance(operand, NUMBERS) and operand.node.constant is None and not operand.node.expr.is_number:
            kinds.append((type(operand),))
        else:
            return None
    return tuple(kinds)


def _graph() -> torch.fx.Graph:
    return get_proxy_mode().tracer.graph


def _node_of(operand: Any) -> Node:
    """The node of the functional graph that gives what a tensor, or a number, is now."""
    tracer = get_proxy_mode().tracer
    if isinstance(operand, torch.Tensor):
        return tracer.tensor_tracker[functional_value(operand)].proxy.node
    return fetch_sym_proxy(tracer)(operand).node


def _new_like(like: torch.Tensor, node: Node) -> torch.Tensor:
    """A tensor that a node gives."""
    with temporarily_clear_interpreter_stack():
        made = empty(fake_mode(), tuple(like.shape), like.stride(), like.dtype)
    track(made, node)
    return made
