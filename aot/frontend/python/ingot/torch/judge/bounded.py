"""Where a program's numbers are not Python's: integers of more than 64 bits, and what Python raises errors for.

Every number is bounded by what it is computed of, from bounds of what Python carries from call to call. These are
such that a call which starts within them ends there: an integer that only grows is followed as far as 62 bits. Where
it cannot be shown that all is as in Python, each call is looked at before it runs, from the numbers that Python has.
Of numbers that tensors give nothing is known but their type: where integers that are computed of them may not fit,
programs that are guarded look at each run whether they are small, and others are refused.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch

from ingot.stablehlo import Place
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import place_of
from ingot.torch.judge.limits import guarded
from ingot.torch.judge.observe import Graph
from ingot.torch.numbers.bounds import BITS, ITEM, WHOLE_OF_FLOATS, bounds_of, holds, join, raised_by
from ingot.torch.numbers.tensor_bounds import Bounds, of_constant, of_type
from ingot.torch.python_state.carried import PREFIX

FURTHEST = 1 << 62  # how far an integer is followed that grows at each call
REACHED = -FURTHEST - (1 << 54), FURTHEST + (1 << 54)  # where it may be after one more call
ROUNDS = 4  # of calls before an integer is taken to grow
MOST_ROUNDS = 100
WHOLE: Bounds = (-(1 << BITS), (1 << BITS) - 1)
LIMITS = tuple(1 << bits for bits in (53, 31, 20, 10))  # to numbers of tensors, of which the first is taken that does
SMALL: Bounds = (-LIMITS[0], LIMITS[0])
GIVEN = {ITEM, *WHOLE_OF_FLOATS}  # what makes integers of values of tensors
FIX = "use a float, 2.0 ** n for 2 ** n, or keep it small: n = n % 1_000_003"

Ranges = Mapping[str, Bounds]


@dataclass(frozen=True)
class Fault:
    """What a program computes otherwise than Python, of which numbers that are carried."""

    what: str
    fix: str
    of: tuple[str, ...] = ()
    is_wide: bool = False  # whether it is an integer that does not fit
    place: Place | None = None
    is_of_tensors: bool = False

    def error(self, ranges: Ranges) -> TraceError:
        """It as an error, with the numbers that it comes from."""
        of = [f"`{name.removeprefix(PREFIX)}` is {_text(ranges[name])}" for name in self.of if name in ranges]
        of += ["tensors have other values"] * self.is_of_tensors
        return TraceError(f"where {', '.join(of)}, {self.what}" if of else self.what, self.place, self.fix)


Faults = tuple[Fault, ...]


class Bounded:
    """The numbers that a program's ways compute of those that are carried, from some `starts`.

    So are followed integers of the state that are tensors of one element, where they are given too.
    """

    def __init__(self, ways: Sequence[Graph], starts: Mapping[str, float]) -> None:
        self._ways = ways
        self._found = {way.choices for way in ways}
        self._limit = 0
        self.limited: list[str] = []  # where numbers that tensors give must be small
        self._starts = _points(starts)
        self.ranges, self.faults = self._followed(self._starts)

    @staticmethod
    def within(ranges: Ranges) -> Bounded:
        """Those of a program whose ways are not known, which is right within some ranges."""
        made = Bounded([], {})
        made.ranges = ranges
        return made

    def refuse_wide(self) -> None:
        """Raises TraceError where the integers of some call may not fit."""
        for fault in self.faults:
            if fault.is_wide:
                raise fault.error(self.ranges)

    def limit(self) -> Sequence[Graph]:
        """The ways, guarded where integers fit only if numbers that tensors give are small.

        Raises TraceError where they would have to be very small.
        """
        for limit in LIMITS:
            if not self._wide_of_tensors():
                break
            self._limit = limit
            self.ranges, self.faults = self._followed(self._starts)
        for wide in self._wide_of_tensors():
            raise wide.error(self.ranges)
        if self._limit:
            numbers = [self._along(way, self.ranges).unbounded for way in self._ways]
            self._ways = [guarded(*of, self._limit) for of in zip(self._ways, numbers, strict=True)]
            self.limited = [str(place_of(number)) for of in numbers for number in of]
        return self._ways

    def known(self, way: Graph) -> Mapping[torch.fx.Node, Bounds | None]:
        """What the integers of a way are within, in any call."""
        return self._along(way, self.ranges).known

    def _wide_of_tensors(self) -> list[Fault]:
        return [fault for fault in self.faults if fault.is_wide and fault.is_of_tensors]

    def hold(self, values: Mapping[str, float]) -> bool:
        """Whether a call from these values computes what Python does.

        Raises TraceError where it does not; it is False where nothing is known of such values.
        """
        if not self.faults and all(low <= values[name] <= high for name, (low, high) in self.ranges.items()):
            return True
        if not self._ways:
            return False
        points = _points(values)
        if not self.faults:
            ranges, faults = self._followed(points)
            if not faults:
                self.ranges = ranges
                return True
        for fault in self._call(points)[1]:
            raise fault.error(points)
        return True

    def calls(self, values: Mapping[str, float], most: int) -> int:
        """How many calls in a row compute what Python does, up to `most`."""
        ranges = _points(values)
        for done in range(most if self.faults else 0):
            ranges, faults = self._call(ranges)
            if faults:
                return done
        return most

    def _followed(self, starts: Ranges) -> tuple[Ranges, Faults]:
        """Ranges that no call leaves, and what is wrong within."""
        ranges = starts
        for turn in range(MOST_ROUNDS):
            after, faults = self._call(ranges)
            if faults and not after:
                return ranges, faults
            joined = {name: join(known, after[name]) for name, known in ranges.items() if name in after}
            for name, now in joined.items():
                if name.startswith(PREFIX) and _is_whole(now) and now != ranges[name] and not holds(REACHED, now):
                    return joined, (*faults, _wide("that grows at each call", (name,)))
            joined = {name: _cut(ranges[name], now) if holds(REACHED, now) else now for name, now in joined.items()}
            if joined == ranges:
                return self._narrowed(starts, ranges, after) if faults else (ranges, faults)
            ranges = {name: _wider(ranges[name], now) if turn >= ROUNDS else now for name, now in joined.items()}
        return ranges, (_wide("that cannot be followed", tuple(ranges)),)

    def _narrowed(self, starts: Ranges, ranges: Ranges, after: Ranges) -> tuple[Ranges, Faults]:
        """What calls leave is often less than what they were followed from."""
        less = {name: join(starts[name], after[name]) for name in ranges}
        left, faults = self._call(less)
        if all(name in left and holds(known, left[name]) for name, known in less.items()):
            return less, faults
        return ranges, self._call(ranges)[1]

    def _along(self, way: Graph, ranges: Ranges) -> _Along:
        return _Along(way, ranges, self._found, self._limit)

    def _call(self, ranges: Ranges) -> tuple[Ranges, Faults]:
        """What is carried after a call from some ranges, and what is wrong."""
        gone = [left for way in self._ways if (left := self._along(way, ranges)).is_gone]
        if self._ways and not gone:
            return {}, (Fault("PyTorch raises an error", "call it with other numbers", tuple(ranges)),)
        names = [name for name in ranges if all(name in left.after for left in gone)]
        after = {name: functools.reduce(join, (left.after[name] for left in gone)) for name in names if gone}
        return after, tuple(dict.fromkeys(fault for left in gone for fault in left.faults))


class _Along:
    """A way from some ranges: whether it can be gone, what is carried after it, and what is wrong on it."""

    def __init__(self, way: Graph, ranges: Ranges, found: Iterable[Sequence[bool]], limit: int) -> None:
        """Numbers that tensors give are at most `limit`, where one is given; `unbounded` are those it is for."""
        self.known: dict[torch.fx.Node, Bounds | None] = {}
        self._of: dict[torch.fx.Node, tuple[str, ...]] = {}  # which carried numbers each is computed of
        self._of_tensors: set[torch.fx.Node] = set()  # what is computed of more than those
        self._limit = limit
        self.faults: list[Fault] = []
        self.unbounded: list[torch.fx.Node] = []
        placeholders = [node for node in way.module.graph.nodes if node.op == "placeholder"]
        for port, node in zip(way.takes, placeholders, strict=True):
            self.known[node] = ranges.get(port.name, of_type(node.meta["val"].dtype))
            self._of[node] = (port.name,) if port.name in ranges else ()
            if port.name not in ranges:
                self._of_tensors.add(node)
        for node in way.module.graph.find_nodes(op="get_attr"):
            self.known[node] = of_constant(getattr(way.module, str(node.target)))
        for node in way.ops:
            self._compute(node)
        asked = [*zip(way.predicates, way.choices, strict=True)]
        self.is_gone = all(self.known.get(node) != (not choice, not choice) for node, choice in asked)
        for i, (node, choice) in enumerate(asked):
            is_sure = self.known.get(node) in (None, (choice, choice))
            if not is_sure and not _has_sibling(tuple(way.choices[:i]), choice, found):
                self.faults.append(Fault("PyTorch may raise an error", "call it with other numbers", self._of[node]))
        states = [port.name for port in way.takes if port.is_state]
        after = zip(states, way.states(len(states)), strict=True)
        self.after = {name: now for name, node in after if name in ranges and (now := self.known.get(node))}

    def _compute(self, node: torch.fx.Node) -> None:
        of = tuple(dict.fromkeys(name for read in node.all_input_nodes for name in self._of.get(read, ())))
        is_of_tensors = not node.all_input_nodes or not self._of_tensors.isdisjoint(node.all_input_nodes)
        found = bounds_of(node, self.known)
        raised = "" if is_of_tensors else raised_by(node, self.known)
        if raised:
            what = f"Python comes to {raised}, and a program computes on"
            self.faults.append(Fault(what, "ask before it is computed whether it can be", of))
        if found and isinstance(node.meta.get("val"), torch.SymInt):
            if is_of_tensors and node.target in GIVEN and not holds(SMALL, found):
                self.unbounded.append(node)
                found = _cut_off(found, (-self._limit, self._limit)) if self._limit else found
            if not holds(WHOLE, found):
                self.faults.append(_wide(_text(found), of, place_of(node), is_of_tensors))
                found = _cut_off(found, WHOLE)
        self.known[node], self._of[node] = found, of
        if is_of_tensors:
            self._of_tensors.add(node)


def _has_sibling(before: tuple[bool, ...], choice: bool, found: Iterable[Sequence[bool]]) -> bool:
    """Whether there are ways on which it is chosen otherwise."""
    other = (*before, not choice)
    return any(tuple(choices[: len(other)]) == other for choices in found)


def _points(values: Mapping[str, float]) -> Ranges:
    return {name: (value, value) for name, value in values.items() if value == value}


def _is_whole(bounds: Bounds) -> bool:
    return all(isinstance(end, int) for end in bounds)


def _cut(before: Bounds, now: Bounds) -> Bounds:
    """Bounds of what grows as far as it is followed."""
    if not _is_whole(now):
        return now
    return max(now[0], min(before[0], -FURTHEST)), min(now[1], max(before[1], FURTHEST))


def _wider(before: Bounds, now: Bounds) -> Bounds:
    """Bounds that do not move any more where they moved."""
    furthest = FURTHEST if _is_whole(now) else math.inf
    low = now[0] if now[0] >= before[0] else min(now[0], -furthest)
    high = now[1] if now[1] <= before[1] else max(now[1], furthest)
    return low, high


def _text(bounds: Bounds) -> str:
    low, high = bounds
    if low == high and abs(low) < 1 << 200:
        return str(low)
    if not _is_whole(bounds):
        return f"between {low:.3g} and {high:.3g}"
    return f"of up to 2**{int(max(abs(low), abs(high))).bit_length() - 1}"


def _cut_off(bounds: Bounds, by: Bounds) -> Bounds:
    return min(max(bounds[0], by[0]), by[1]), max(min(bounds[1], by[1]), by[0])


def _wide(what: str, of: tuple[str, ...], place: Place | None = None, is_of_tensors: bool = False) -> Fault:
    what = f"Python computes an integer {what}, and a program's have 64 bits"
    return Fault(what, FIX, of, True, place, is_of_tensors)
