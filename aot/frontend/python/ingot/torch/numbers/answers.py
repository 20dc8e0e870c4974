"""What Python asks about values that a program computes, answered as it is for an example.

A program checks that each answer is the same again before it changes anything, and says so where one is not.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ingot.stablehlo import Place
from ingot.torch.base.errors import SelectionRefused, TooManyWays, TraceError
from ingot.torch.base.places import is_users_code, user_place
from ingot.torch.base.replacements import calling_frame, replaced
from ingot.torch.base.torch_internals import node_of, without_functions
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.base.torch_internals.modes import no_modes

NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
TEXTS = ("__format__", "__str__", "__repr__", "__hash__")  # methods of numbers
CONVERSIONS = (
    *((torch.SymInt, name) for name in ("__int__", "__index__")),
    (torch.SymFloat, "__float__"),
    (torch.SymBool, "__int__"),
)


@dataclass(frozen=True)
class Fixed:
    """Where numbers, and selections, are taken as they are for the example at once: the user's lines."""

    numbers: frozenset[str] = frozenset()
    selections: frozenset[str] = frozenset()
    is_carried: bool = False  # what Python chooses by numbers that it carries is chosen as for the example, too

    def with_those(self, error: BaseException, answers: Answers) -> Fixed:
        """Also what an error is about; the same, where it is about nothing else.

        It is about all numbers, where torch does not know what to do with them.
        """
        if not isinstance(error, TraceError):
            return replace(self, numbers=self.numbers | answers.all_numbers())
        if isinstance(error, TooManyWays):
            return replace(self, is_carried=True)
        masks = error.masks if isinstance(error, SelectionRefused) else []
        selections = {line for mask, line in answers.selected if any(mask is other for other in masks)}
        numbers = answers.numbers_in(error) | answers.numbers_of(getattr(error, "sizes", ()))
        return replace(self, numbers=self.numbers | numbers, selections=self.selections | selections)


class Shadow:
    """The values that a traced graph has for an example: its ops are run as far as somebody asks."""

    def __init__(self, examples: Sequence[torch.Tensor], states: int) -> None:
        """The first of the examples, `states` of them, are state."""
        self._states = states
        self._examples = [example.detach().clone() for example in examples]
        self._values: dict[torch.fx.Node, Any] = {}

    def __call__(self, number: Any) -> Any:
        """The value of a number of the program's."""
        asked, mode = node_of(number), get_proxy_mode()
        assert asked is not None and mode is not None
        root = mode.tracer.root
        apart = no_modes(), without_functions(), torch.random.fork_rng(devices=[])
        with apart[0], apart[1], apart[2], torch.no_grad():
            for node in mode.tracer.graph.nodes:
                if node not in self._values:
                    self._values[node] = self._run(node, root)
        return self._values[asked]

    def is_of_state(self, number: Any) -> bool:
        """Whether a number is computed of state, as far as ops that change their operands do not hide it."""
        asked, mode = node_of(number), get_proxy_mode()
        assert asked is not None and mode is not None
        state = [*mode.tracer.graph.find_nodes(op="placeholder")][: self._states]
        seen, waiting = {asked}, [asked]
        while waiting:
            inner = [node for node in waiting.pop().all_input_nodes if node not in seen]
            seen.update(inner)
            waiting += inner
        return any(node in seen for node in state)

    def _run(self, node: torch.fx.Node, root: Any) -> Any:
        if node.op == "placeholder":
            return self._examples.pop(0)
        if node.op == "get_attr":
            return getattr(root, str(node.target)).detach().clone()
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), self._values.__getitem__)
        return node.target(*args, **kwargs)


@dataclass
class Answers:
    """The answers of two calls in a row: those of the first are given to the second.

    `conditions` are of the call that runs: the numbers by which they were answered are as for the example.
    """

    shadow: Shadow
    fixed: Fixed
    conditions: list[Any] = field(default_factory=list)
    places: list[Place | None] = field(default_factory=list)
    selected: list[tuple[torch.Tensor, str]] = field(default_factory=list)  # by which mask, and where
    _given: list[Any] = field(default_factory=list)
    _integers: set[str] = field(default_factory=set)
    _made: dict[Any, str] = field(default_factory=dict)  # where each symbol was made

    def begin(self) -> None:
        """A call begins."""
        self.conditions = []
        self._made = {}

    def answer(self, number: Any) -> Any:
        """A number as it is for the example."""
        if not isinstance(number, NUMBERS):
            return number
        count = len(self.conditions)
        if count == len(self._given):
            self._given.append(self.shadow(number))
            self.places.append(user_place())
        value = self._given[count]
        if isinstance(number, torch.SymBool):
            self.conditions.append(number if value else torch.sym_not(number))
        else:
            self.conditions.append(_is(torch.scalar_tensor(number, dtype=_dtype(number)), value))
        return value

    def number(self, made: Any) -> Any:
        """What ``item()`` gives: a number that the program computes, or as it is for the example."""
        if not isinstance(made, NUMBERS):
            return made
        line = str(user_place())
        for symbol in made.node.expr.free_symbols:
            self._made[symbol] = line
        if isinstance(made, torch.SymInt):
            self._integers.add(line)
        return self.answer(made) if line in self.fixed.numbers and not self._moves(made) else made

    def is_fixed(self, mask: torch.Tensor) -> bool:
        """Whether as many rows are selected by a mask as for the example."""
        line = str(user_place())
        self.selected.append((mask, line))
        return line in self.fixed.selections

    def count(self, mask: torch.Tensor) -> int:
        """How many elements of a mask are true."""
        return int(self.answer(mask.sum().item()))

    def all_numbers(self) -> frozenset[str]:
        """Where there are numbers so far."""
        return frozenset(self._made.values())

    def numbers_in(self, error: BaseException | None) -> frozenset[str]:
        """Where the numbers were made that an error, or one that it comes from, is about."""
        found: set[str] = set()
        while error:
            if isinstance(error, GuardOnDataDependentSymNode):
                found |= {self._made[symbol] for symbol in error.cond.free_symbols if symbol in self._made}
            error = error.__cause__ or error.__context__
        return frozenset(found)

    def numbers_of(self, sizes: Iterable[torch.SymInt]) -> frozenset[str]:
        """Where numbers were made that sizes are computed of; all whole ones, where sizes have symbols of their own."""
        symbols = {symbol for size in sizes for symbol in size.node.expr.free_symbols}
        found = {self._made[symbol] for symbol in symbols if symbol in self._made}
        return frozenset(found or (self._integers if symbols else ()))

    def _moves(self, number: Any) -> bool:
        """Whether a number is another in each call, as those are that the state makes, if they are not cut."""
        return isinstance(number, torch.SymFloat) and self.shadow.is_of_state(number)

    @contextmanager
    def asked(self, is_carried: Callable[[Any], bool]) -> Iterator[None]:
        """Answers where a number is converted to one of Python's; not one that is carried."""

        def converting(convert: Callable[[Any], Any], kind: type) -> Callable[[Any], Any]:
            def converted(number: Any) -> Any:
                try:
                    return convert(number)
                except GuardOnDataDependentSymNode:
                    if is_carried(number) or self._moves(number):
                        raise
                    return kind(self.answer(number))

            return converted

        def texting(method: Callable[..., Any], of_answer: Callable[..., Any]) -> Callable[..., Any]:
            def text(number: Any, *args: Any) -> Any:
                if is_carried(number) or not is_users_code(calling_frame()):
                    return method(number, *args)
                return of_answer(self.answer(number), *args)

            return text

        with ExitStack() as undo:
            for symbolic, name in CONVERSIONS:
                kind = float if name == "__float__" else int
                undo.enter_context(replaced(symbolic, name, converting(getattr(symbolic, name), kind)))
            for name in TEXTS:
                said = texting(getattr(torch.SymInt, name), getattr(int, name))
                undo.enter_context(replaced(torch.SymInt, name, said))
            for name, convert in (("__int__", math.trunc), ("__index__", operator.index)):
                undo.enter_context(replaced(FakeTensor, name, _of_tensor(convert)))
            yield


def all_of(conditions: Iterable[Any]) -> torch.Tensor:
    """Whether all of some truths hold, which are tensors or computed numbers."""
    truths = [c if isinstance(c, torch.Tensor) else torch.scalar_tensor(c, dtype=torch.bool) for c in conditions]
    return torch.stack([truth.reshape(()) for truth in truths]).all()


def _is(number: torch.Tensor, value: float) -> torch.Tensor:
    """Whether a number is a value, where NaN is NaN and the sign of 0 counts."""
    if value != value:
        return number.isnan()
    is_equal = number.eq(value)
    if isinstance(value, float) and value == 0:
        return is_equal & (number.signbit() if math.copysign(1.0, value) < 0 else ~number.signbit())
    return is_equal


def _of_tensor(convert: Callable[[Any], Any]) -> Callable[[torch.Tensor], int]:
    return lambda tensor: int(convert(tensor.item()))


def _dtype(number: Any) -> torch.dtype:
    return torch.float64 if isinstance(number, torch.SymFloat) else torch.int64
