"""Two calls of a function in a row: a program repeats the first, so the second must do the same.

Both are traced into one graph. What Python holds is compared after the first and after the second: if it is the same,
and both computed the same from the state, then so will every call that follows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from types import FrameType
from typing import Any

import torch
from torch.fx.graph import CodeGen
from torch.utils import _pytree as pytree

from ingot.stablehlo import Place
from ingot.torch.errors import TraceError
from ingot.torch.places import is_users_code, place_in, place_of
from ingot.torch.snapshot import Leaf, Snapshot
from ingot.torch.torch_internals import node_of, traced_nodes, without_functions

BEFORE, FIRST, SECOND = range(3)  # when a node was traced: before the calls, in the first, in the second
CALL = "ingot_call"
CARRY = "keep it in a tensor that is a buffer of the model, or pass it as an argument"
DRAW = "draw them with torch, or pass them as arguments"


class Carried(TraceError):
    """Something that Python carries from call to call: the path to it, where there is one, and how it is read."""

    def __init__(self, what: str, path: str, leaf: Leaf, fix: str):
        super().__init__(what, None, fix)
        self.path, self.leaf = path, leaf


class Repetition:
    """What there was before, between and after two calls; the values of the state at each are told apart by name."""

    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        self._values: list[dict[str, torch.fx.Node | None]] = []
        self._carried: dict[torch.fx.Node, str] = {}

    def mark(self, snapshot: Snapshot, state: Mapping[str, Any]) -> None:
        """Says that a call ends or begins here, with that state."""
        for node in traced_nodes():
            node.meta.setdefault(CALL, len(self.snapshots))
        self.snapshots.append(snapshot)
        self._values.append({name: node_of(value) for name, value in state.items()})
        if len(self.snapshots) == SECOND:
            for path, value in snapshot.computed.values():
                node = node_of(value)
                if node:
                    self._carried.setdefault(node, path)

    def check(self, graph: torch.fx.Graph) -> None:
        """Raises TraceError where a third call would not do what the first does."""
        _, between, after = self.snapshots
        for path in between.differences(after):
            raise _changed(path, between, after)
        first, second = ([n for n in graph.nodes if n.meta.get(CALL) == call] for call in (FIRST, SECOND))
        pairs = self._pairs()
        for node in second:
            for read in node.all_input_nodes:
                if read not in pairs and (read.meta[CALL] == FIRST or read in self._values[0].values()):
                    raise self._left_before(read, node)
        for mine, other in zip_longest(first, second):
            if mine is None or other is None or not _same_node(mine, other, pairs):
                raise self._other(other or mine)
            pairs[other] = {mine}

    def drop_second(self, graph: torch.fx.Graph) -> None:
        """Leaves the first call alone in a graph."""
        output = graph.output_node()
        (results,) = output.args
        output.args = (results[: len(results) // 2],)
        graph.set_codegen(CodeGen())  # the one before knows how many results both calls have
        for node in reversed([n for n in graph.nodes if n.meta.get(CALL) == SECOND]):
            graph.erase_node(node)

    def _pairs(self) -> dict[torch.fx.Node, set[torch.fx.Node]]:
        """For the state's nodes as the second call finds them, those that the first found."""
        before, between = self._values[:2]
        pairs: dict[torch.fx.Node, set[torch.fx.Node]] = {}
        for name, node in between.items():
            pairs.setdefault(node, set()).add(before[name])
        return pairs

    def _left_before(self, read: torch.fx.Node, node: torch.fx.Node) -> TraceError:
        names = {node: name for name, node in self._values[0].items()}
        path = self._carried.get(read, names.get(read))
        what = f"reads {f'`{path}`' if path else 'a tensor'}, which the call before left"
        return TraceError(what, place_of(node), "keep it in a buffer of the model, or return it and pass it in")

    def _other(self, node: torch.fx.Node) -> TraceError:
        """The second call computes something else: what changed in Python by the first is why."""
        before, between, _ = self.snapshots
        changes = before.differences(between)
        what = f"the second call does something else than the first, where it comes to {node.name}"
        fix = "what it depends on changes in Python: pass it as an argument"
        if changes:
            path = changes[0]
            what += f"; the first changed `{path}` from {before.at(path).text} to {between.at(path).text}"
            fix = "call it once before it is traced, or keep what changes in a buffer of the model"
        return TraceError(what, place_of(node), fix)


def refuse_shared_memory(state: Mapping[str, torch.Tensor]) -> None:
    """Raises TraceError where two tensors of the state are one from now on: in a program each has its own memory."""
    spans: dict[int, list[tuple[int, int, str]]] = {}
    with without_functions():
        for name, tensor in state.items():
            first = tensor.storage_offset()
            last = first + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
            others = spans.setdefault(tensor.untyped_storage()._cdata, [])
            for other_first, other_last, other in others if tensor.numel() else ():
                if first <= other_last and other_first <= last:
                    what = f"after the call {other!r} and {name!r} are one memory"
                    raise TraceError(what, fix="copy with clone() or copy_(): a program's state is apart")
            others.append((first, last, name))


def _changed(path: str, between: Snapshot, later: Snapshot) -> Carried:
    leaf = later.leaves.get(path) or between.leaves[path]
    before, after = between.at(path).text, later.at(path).text
    if before == after:
        return Carried(f"each call draws other random numbers of `{path}`", path, leaf, DRAW)
    what = f"the second call changes `{path}` from {before} to {after}, and a program repeats the first"
    return Carried(what, path, leaf, CARRY)


def _same_node(mine: torch.fx.Node, other: torch.fx.Node, pairs: Mapping[torch.fx.Node, set[torch.fx.Node]]) -> bool:
    """Whether a node of the second call does what one of the first does."""
    if mine.op == other.op == "get_attr":
        one, two = (getattr(n.graph.owning_module, str(n.target)) for n in (mine, other))
        return one is two or (one.dtype is two.dtype and torch.equal(one, two))
    if (mine.op, mine.target) != (other.op, other.target):
        return False
    mine_leaves, mine_spec = pytree.tree_flatten((mine.args, mine.kwargs))
    other_leaves, other_spec = pytree.tree_flatten((other.args, other.kwargs))
    return mine_spec == other_spec and all(
        mine_leaf in pairs.get(other_leaf, {other_leaf})
        if isinstance(other_leaf, torch.fx.Node)
        else repr(mine_leaf) == repr(other_leaf)
        for mine_leaf, other_leaf in zip(mine_leaves, other_leaves, strict=True)
    )


class Watch:
    """Finds the line that changes a value last, by looking at it before every line of the user's."""

    def __init__(self, carried: Carried):
        self.place: Place | None = None
        self._carried = carried
        self._line: Place | None = None

    @contextmanager
    def __call__(self, snapshot: Snapshot) -> Iterator[None]:
        """Watches what is called."""
        leaf = snapshot.leaves.get(self._carried.path, self._carried.leaf)
        value = leaf.now()

        def look(frame: FrameType, event: str, _: Any) -> Any:
            if not is_users_code(frame):
                return None
            compare()
            self._line = place_in(frame)
            return look

        def compare() -> None:
            nonlocal value
            if leaf.now() != value:
                self.place, value = self._line, leaf.now()

        before = sys.gettrace()
        sys.settrace(look)
        try:
            yield
        finally:
            sys.settrace(before)
            compare()
