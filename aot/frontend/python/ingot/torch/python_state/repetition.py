"""Two calls of a function in a row: a program repeats the first, so the second must do the same.

Both are traced into one graph. What Python holds is compared after the first and after the second: if it is the same,
and both computed the same from the state, then so will every call that follows. A first call that left all as it was
is enough where programs are compared with PyTorch.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.fx.graph import CodeGen

from ingot.stablehlo import Place
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import is_users_code, place_in, place_of
from ingot.torch.base.torch_internals import node_of, pytree, traced_nodes, without_functions
from ingot.torch.python_state.draws import GENERATORS, are_others
from ingot.torch.python_state.held import Written
from ingot.torch.python_state.reach import POSITION
from ingot.torch.python_state.snapshot import Leaf, Snapshot, shown

BEFORE, FIRST, SECOND = range(3)  # when a node was traced: before the calls, in the first, in the second
CALL = "ingot_call"
CARRY = "keep it in a tensor that is a buffer of the model, or pass it as an argument"
DRAW = "draw them with torch, or pass them as arguments"
DRAWING = (random.Random, np.random.Generator, np.random.RandomState, torch.Generator)
EACH_DRAWS = "each call draws other random numbers of `{path}`"
MADE_ANEW = "the object that holds it is made anew in each call: change it in one that stays"
COMPUTE = (
    "a program carries numbers that it computes: write 2.0 ** n for 2 ** n, float(n) for each of map(float, ...), `if` "
    "for what is found by a number; or pass it as an argument"
)
GIVE = "the first makes it: let it be a number before"
CHANGED = "the second call changes `{path}` from {before} to {after}, and a program repeats the first"
CHOSEN = "`{path}` is {before} or {after} after a call, as Python chooses by numbers that the program computes"
Kinds = dict[tuple[int, Any], type]  # whether what is at a place is an int or a float


class Carried(TraceError):
    """Something that Python carries from call to call: the path to it, where there is one, and how it is read.

    Where all that it carries are numbers that can be written, also what kinds they are, by their places.
    """

    is_of_first = False  # whether it is what the first call changed

    def __init__(self, what: str, path: str, leaf: Leaf | None, fix: str, kinds: Kinds, place: Place | None = None):
        super().__init__(what, place, fix, 6 if fix == DRAW else 0)
        self.path, self.leaf, self.kinds = path, leaf, kinds

    def at(self, place: Place | None) -> Carried:
        """The same error with a place, where it has none."""
        error = Carried(self.what, self.path, self.leaf, self.fix, self.kinds, self.place or place)
        error.is_of_first = self.is_of_first
        return error


class Repetition:
    """What there was before, between and after two calls; the values of the state at each are told apart by name."""

    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        self._values: list[dict[str, torch.fx.Node | None]] = []
        self._carried: dict[torch.fx.Node, str] = {}
        self.computed: Kinds = {}
        self.unset: list[str] = []  # where Python holds what the first call computed, which no program sets

    def mark(self, snapshot: Snapshot, state: Mapping[str, Any], given: Iterable[Any] = ()) -> None:
        """Says that a call ends or begins here, with that state; numbers that are `given` are the program's own."""
        for node in traced_nodes():
            node.meta.setdefault(CALL, len(self.snapshots))
        self.snapshots.append(snapshot)
        self._values.append({name: node_of(value) for name, value in state.items()})
        if len(self.snapshots) == SECOND:
            given = [*given]
            self._note_computed(snapshot, given)
            self._note_unset(snapshot, [*given, *state.values()])
            for path, value in snapshot.computed.values():
                node = node_of(value)
                if node:
                    self._carried.setdefault(node, path)

    def _note_computed(self, left: Snapshot, given: Iterable[Any]) -> None:
        """Notes where Python holds numbers that the first call computed."""
        known = {id(number) for number in given}
        for read, value in left.symbols:
            if isinstance(read, Written) and id(value) not in known:
                self.computed[read.place] = int if isinstance(value, torch.SymInt) else float

    def _note_unset(self, left: Snapshot, known: Iterable[Any]) -> None:
        """Notes where Python holds tensors and numbers that the first call computed, other than those of the state."""
        seen = {*map(id, known), *self.snapshots[BEFORE].computed}
        for key, (path, value) in left.computed.items():
            if key not in seen and shown(value, {}).is_computed and not left.is_carried(path):
                self.unset.append(path)

    def check(self, graph: torch.fx.Graph) -> None:
        """Raises TraceError where a third call would not do what the first does; one call alone would be repeated."""
        if len(self.snapshots) == SECOND:
            return
        before, between, after = self.snapshots
        try:
            refuse_differences(between, after)
        except Carried as error:
            error.is_of_first = bool(error.path) and _is_made(error.path, before)
            error.fix = GIVE if error.is_of_first and error.kinds else error.fix
            raise
        first, second = ([n for n in graph.nodes if n.meta.get(CALL) == call] for call in (FIRST, SECOND))
        pairs = self._pairs()
        known = {*self._values[0].values()}
        for node in second:
            for read in node.all_input_nodes:
                if read not in pairs and (read.meta[CALL] == FIRST or read in known):
                    raise self._left_before(read, node)
        for mine, other in zip_longest(first, second):
            if mine is None or other is None or not _same_node(mine, other, pairs):
                raise self._other(other or mine)
            pairs[other] = {mine}

    def drop_second(self, graph: torch.fx.Graph, inputs: int) -> None:
        """Leaves the first call alone in a graph, without the `inputs` of the second."""
        output = graph.output_node()
        (results,) = output.args
        calls = len(self.snapshots) - 1
        output.args = (results[: len(results) // calls],)
        graph.set_codegen(CodeGen())  # the one before knows how many results all calls have
        for node in reversed([n for n in graph.nodes if n.meta.get(CALL) == SECOND]):
            graph.erase_node(node)
        placeholders = graph.find_nodes(op="placeholder")
        for node in placeholders[len(placeholders) - inputs :]:
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
        fix = "keep it in a buffer of the model, or return it and pass it in"
        error = Carried(what, path or "", None, fix, self.computed, place_of(node))
        error.is_of_first = True
        return error

    def _other(self, node: torch.fx.Node) -> TraceError:
        """The second call computes something else: what changed in Python by the first is why."""
        before, between, _ = self.snapshots
        changes = [path for path in before.differences(between) if not between.at(path).is_computed]
        for path in changes:
            if path in GENERATORS and not are_others(path):
                return Carried(EACH_DRAWS.format(path=path), path, None, DRAW, {}, place_of(node))
        what = f"the second call does something else than the first, where it comes to {node.name}"
        fix = "what it depends on changes in Python: pass it as an argument"
        if changes:
            path = changes[0]
            what += f"; the first changed `{path}` from {before.at(path).text} to {between.at(path).text}"
            fix = "call it once before it is traced, or keep what changes in a buffer of the model"
        error = Carried(what, "", None, fix, self.computed, place_of(node))
        error.is_of_first = bool(changes)
        return error


def refuse_shared_memory(state: Mapping[str, torch.Tensor], used: Container[str]) -> None:
    """Raises TraceError where two tensors of the state are one from now on: in a program each has its own memory.

    A call sees that only if it uses both: one that is not `used`, or not before it is replaced, may share.
    """
    spans: dict[int, list[tuple[int, int, str]]] = {}
    with without_functions():
        for name, tensor in state.items():
            first = tensor.storage_offset()
            last = first + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
            others = spans.setdefault(tensor.untyped_storage()._cdata, [])
            for other_first, other_last, other in others if tensor.numel() and name in used else ():
                if other in used and first <= other_last and other_first <= last:
                    what = f"after the call {other!r} and {name!r} are one memory"
                    raise TraceError(what, fix="copy with clone() or copy_(): a program's state is apart")
            others.append((first, last, name))


def refuse_differences(between: Snapshot, later: Snapshot, change: str = CHANGED) -> None:
    """Raises Carried where Python holds something else later; `change` says what that is."""
    paths = [path for path in between.differences(later) if not are_others(path)]
    if not paths:
        return
    path = paths[0]
    leaf = later.leaves.get(path) or between.leaves[path]
    before, after = between.at(path).text, later.at(path).text
    if before == after:
        draws = isinstance(leaf.read(), DRAWING)
        what = EACH_DRAWS.format(path=path) if draws else f"each call finds another `{path}`"
        raise Carried(what, path, leaf, DRAW if draws else CARRY, {})
    what = change.format(path=path, before=before, after=after)
    if leaf.holder and _is_elsewhere(between.leaves.get(path), later.leaves.get(path)):
        raise Carried(what, "what holds it", Leaf.of(leaf.holder.read, {}), MADE_ANEW, {})
    kinds = _kinds(paths, between, later)
    raise Carried(what, path, leaf, COMPUTE if kinds else CARRY, kinds)


def _is_made(path: str, before: Snapshot) -> bool:
    """Whether what is at a path was not there before; a generator, which cannot be put back, was."""
    generator = path.rpartition(": ")[0]
    return path not in before.leaves and f"{generator}: {POSITION}" not in before.leaves


def _is_elsewhere(before: Leaf | None, after: Leaf | None) -> bool:
    """Whether what was read at a path is held by another object afterwards."""
    places = [leaf.read.place if leaf and isinstance(leaf.read, Written) else None for leaf in (before, after)]
    return None not in places and places[0] != places[1]


def _kinds(paths: Sequence[str], between: Snapshot, later: Snapshot) -> Kinds:
    """The kinds of what is at some paths, if all are numbers."""
    kinds: Kinds = {}
    for path in paths:
        leaf, found = later.leaves.get(path), {s.at(path).kind for s in (between, later)}
        if leaf is None or not isinstance(leaf.read, Written) or not found <= {int, float}:
            return {}
        kinds[leaf.read.place] = float if float in found else int
    return kinds


def _same_node(mine: torch.fx.Node, other: torch.fx.Node, pairs: Mapping[torch.fx.Node, set[torch.fx.Node]]) -> bool:
    """Whether a node of the second call does what one of the first does."""
    if mine.op == other.op == "get_attr":
        one, two = (getattr(n.graph.owning_module, str(n.target)) for n in (mine, other))
        return one is two or _are_equal(one, two)
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


def _are_equal(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Whether two constants have one type and equal elements, of which NaN equals NaN."""
    if one.dtype is not two.dtype or one.shape != two.shape:
        return False
    return bool(((one == two) | ((one != one) & (two != two))).all())


def _now(leaf: Leaf) -> Any:
    """A value as it is now; None where what held it is gone."""
    try:
        return leaf.now()
    except LookupError:
        return None


class Watch:
    """Finds the line that changes a value last, by looking at it before every line of the user's."""

    def __init__(self, carried: Carried):
        self.place: Place | None = None
        self._carried = carried
        self._line: Place | None = None

    @contextmanager
    def __call__(self, snapshot: Snapshot) -> Iterator[None]:
        """Watches what is called."""
        found = snapshot.leaves.get(self._carried.path, self._carried.leaf)
        assert found is not None
        leaf: Leaf = found
        value = _now(leaf)

        def look(frame: FrameType, event: str, _: Any) -> Any:
            if not is_users_code(frame):
                return None
            compare()
            self._line = place_in(frame)
            return look

        def compare() -> None:
            nonlocal value
            if (now := _now(leaf)) != value:
                self.place, value = self._line, now

        before = sys.gettrace()
        sys.settrace(look)
        try:
            yield
        finally:
            sys.settrace(before)
            compare()
