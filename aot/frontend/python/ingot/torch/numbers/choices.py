"""What Python chooses by numbers that a program computes: every way is traced, and it goes the one that they say.

They are numbers that it carries from call to call, its inputs, and the values of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ingot.stablehlo import Place
from ingot.torch.base.errors import TooManyWays, ValueAsked
from ingot.torch.base.places import is_users_code, user_place
from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import node_of
from ingot.torch.base.torch_internals.fake_tensors import DataDependentOutputException, FakeTensor
from ingot.torch.numbers.answers import TEXTS, Answers, all_of
from ingot.torch.numbers.checks import asking_frame, passing_answer
from ingot.torch.optimizers.zeros import is_own_optimizer

MOST_WAYS = 8


class Choices:
    """The answers to Python's questions in a call, in order: those that are given, then true.

    Answered are questions about numbers that are carried, and what is computed of them alone, whoever asks; and those
    that the user's code asks about others.
    """

    def __init__(self, given: Sequence[bool], answers: Answers | None = None, are_checked: bool = False) -> None:
        """With `answers`, all other questions are answered as they say.

        Where values `are_checked`, what code checks, and raises otherwise, is a condition of the call.
        """
        self.made = [*given]
        self.answers = answers
        self.predicates: list[torch.SymBool] = []  # of the call that runs
        self.checks: list[Any] = []  # truths that the call that runs raises without
        self._are_checked = are_checked
        self.place: Place | None = None  # of the last question
        self._questions = 0
        self._answers: dict[Any, bool] = {}
        self._symbols: set[Any] = set()
        self._inputs: set[Any] = set()
        self._zeros: set[Any] = set()
        self._read: set[Any] = set()

    def count(self) -> int:
        """How many questions were asked so far, also such as had an answer."""
        return self._questions + (len(self.answers.places) if self.answers else 0)

    def begin(self, numbers: Iterable[Any], read: Iterable[Any]) -> None:
        """A call begins, with numbers that are carried, of which some are `read` since they change between calls."""
        self.predicates, self.checks = [], []
        self._answers = {}
        self._symbols = {number.node.expr for number in numbers}
        self._read = {number.node.expr for number in read}
        if self.answers:
            self.answers.begin()

    def held(self) -> list[torch.Tensor]:
        """Whether the answers of the call were the program's too, and its checks hold, where there were any."""
        conditions = [*(self.answers.conditions if self.answers else ()), *self.checks]
        return [all_of(conditions)] if conditions else []

    def derive(self, number: Any, operands: Iterable[Any]) -> None:
        """Says that a number is computed of others."""
        if all(self.is_carried(operand) for operand in operands):
            self._symbols.add(number.node.expr)

    def take(self, number: Any, is_zero_at_times: bool) -> None:
        """Says that a number is an input, which questions are answered about as it is now where libraries ask them.

        Where it may be 0 in some steps and not in others, questions about its sign are choices too, whoever asks but
        optimizers of PyTorch's own: their updates are right for both (`zeros.py`).
        """
        self._inputs.add(number.node.expr)
        if is_zero_at_times:
            self._zeros.add(number.node.expr)

    def is_input(self, number: Any) -> bool:
        """Whether a number is an input."""
        return isinstance(number, torch.SymFloat) and number.node.expr in self._inputs

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Answers Python's questions."""
        answer: Callable[[torch.SymBool], bool] = torch.SymBool.__bool__
        truth: Callable[[torch.Tensor], bool] = FakeTensor.__bool__
        known: Callable[[torch.Tensor], bool] = torch.Tensor.__bool__

        def choose(predicate: torch.SymBool) -> bool:
            frame = asking_frame()
            is_of_zeros = self._is_of_zeros(predicate) and not is_own_optimizer(frame)
            if is_of_zeros or (is_users_code(frame) and self._is_of_inputs(predicate)):
                return self._choose(predicate)
            try:
                return answer(predicate)
            except GuardOnDataDependentSymNode:
                if self.is_carried(predicate):
                    passing = self._passing(predicate, frame) if self._are_checked else None
                    return self._choose_carried(predicate) if passing is None else passing
                if not is_users_code(frame) and not self.answers:
                    raise
                return self._choose_or_pass(predicate, frame)

        def choose_by_tensor(tensor: torch.Tensor) -> bool:
            try:
                return known(tensor)
            except (GuardOnDataDependentSymNode, DataDependentOutputException):
                frame = asking_frame()
            if (passing := self._passing(tensor, frame)) is not None:
                return passing
            try:
                return truth(tensor)
            except (GuardOnDataDependentSymNode, DataDependentOutputException):
                if not (is_users_code(frame) or self.answers) or tensor.numel() != 1:
                    raise
                value = tensor.item()
                return self._choose_or_pass(value if isinstance(value, torch.SymBool) else value != 0, frame)

        def texting(method: Callable[..., Any]) -> Callable[..., Any]:
            def text(number: Any, *args: Any) -> Any:
                if is_users_code(asking_frame()) and (number.node.expr in self._read or _is_argument(number)):
                    raise ValueAsked("Python makes a text or a key of a number that changes", user_place())
                return method(number, *args)

            return text

        with ExitStack() as undo:
            for name in TEXTS:
                undo.enter_context(replaced(torch.SymInt, name, texting(getattr(torch.SymInt, name))))
            undo.enter_context(replaced(torch.SymBool, "__bool__", choose))
            for number in (torch.SymInt, torch.SymFloat):
                undo.enter_context(replaced(number, "__bool__", lambda number: bool(number != 0)))
            undo.enter_context(replaced(FakeTensor, "__bool__", choose_by_tensor))
            if self.answers:
                undo.enter_context(self.answers.asked(self.is_carried))
            yield

    def choose(self, truth: torch.Tensor) -> bool:
        """Goes both ways, by a tensor of one truth."""
        predicate = truth.item()
        return bool(self.answers.answer(predicate)) if self.answers else self._choose(predicate)

    def check(self, truth: Callable[[], torch.Tensor]) -> bool:
        """Has each call check a truth, where calls check values; gives whether they do."""
        if self._are_checked:
            self.checks.append(truth())
        return self._are_checked

    def _choose_or_pass(self, predicate: torch.SymBool, frame: FrameType) -> bool:
        passing = self._passing(predicate, frame)
        if passing is not None:
            return passing
        return bool(self.answers.answer(predicate)) if self.answers else self._choose(predicate)

    def _choose_carried(self, predicate: torch.SymBool) -> bool:
        if self.answers and self.answers.fixed.is_carried:
            return bool(self.answers.answer(predicate))
        return self._choose(predicate)

    def _passing(self, asked: Any, frame: FrameType) -> bool | None:
        """The answer whose opposite only raises; None if there is none."""
        passing = passing_answer(frame)
        if passing is not None and self._are_checked:
            self.checks.append(_truth(asked, passing))
        return passing

    def _choose(self, predicate: torch.SymBool) -> bool:
        self._questions += 1
        asked = predicate.node.expr
        if asked not in self._answers:
            if len(self.predicates) == len(self.made):
                self.made.append(True)
            if len(self.made) >= MOST_WAYS:  # each question has a way that leaves there
                raise too_many_ways(user_place())
            self._answers[asked] = self.made[len(self.predicates)]
            self.predicates.append(predicate)
            self.place = user_place() or self.place
        return self._answers[asked]

    def is_carried(self, number: Any) -> bool:
        """Whether a number is one that is carried, or computed of those alone."""
        if not isinstance(number, torch.SymInt | torch.SymFloat | torch.SymBool):
            return True
        return bool(self._symbols) and number.node.expr.free_symbols <= self._symbols

    def _is_of_zeros(self, predicate: torch.SymBool) -> bool:
        """Whether inputs decide of which some steps have another sign than others."""
        asked = predicate.node.expr
        return bool(asked.free_symbols & self._zeros) and any(side.is_zero for side in asked.args)

    def _is_of_inputs(self, predicate: torch.SymBool) -> bool:
        """Whether inputs decide; not by their sign, which optimizers ask for to leave out what a 0 would do."""
        asked = predicate.node.expr
        return bool(asked.free_symbols & self._inputs) and not any(side.is_zero for side in asked.args)


def _is_argument(number: Any) -> bool:
    """Whether a number is an argument, which was given as a tensor."""
    node = node_of(number)
    if node is None or node.target is not torch.ops.aten._local_scalar_dense.default:
        return False
    return bool(node.args[0].op == "placeholder")


def _truth(asked: Any, answer: bool) -> Any:
    """Whether what is asked has an answer: a tensor or a computed number."""
    if isinstance(asked, torch.Tensor):
        return asked.ne(0) if answer else asked.eq(0)
    return asked if answer else torch.sym_not(asked)


def too_many_ways(place: Place | None) -> TooManyWays:
    """The error where a function asks too often."""
    what = f"Python chooses between more than {MOST_WAYS} ways by numbers that the program computes"
    return TooManyWays(what, place, "use torch.where, or choose by what is fixed when the function is traced")


def others(given: Sequence[bool], made: Sequence[bool]) -> list[tuple[bool, ...]]:
    """The ways that leave one that was taken, where nothing was given."""
    return [(*made[:i], not made[i]) for i in range(len(given), len(made))]
