"""What Python chooses by numbers that it carries: every way is traced, and a program goes the one that they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

MOST_WAYS = 8


class Choices:
    """The answers to Python's questions in a call, in order: those that are given, then true.

    Only questions about numbers that are carried, and what is computed of them alone, are answered.
    """

    def __init__(self, given: Sequence[bool]) -> None:
        self.made = [*given]
        self.predicates: list[torch.SymBool] = []  # of the call that runs
        self._answers: dict[Any, bool] = {}
        self._symbols: set[Any] = set()

    def begin(self, numbers: Iterable[Any]) -> None:
        """A call begins, with numbers that are carried."""
        self.predicates = []
        self._answers = {}
        self._symbols = {number.node.expr for number in numbers}

    def derive(self, number: Any, operands: Iterable[Any]) -> None:
        """Says that a number is computed of others."""
        if all(self._is_carried(operand) for operand in operands):
            self._symbols.add(number.node.expr)

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Answers Python's questions."""
        answer: Callable[[torch.SymBool], bool] = torch.SymBool.__bool__

        def choose(predicate: torch.SymBool) -> bool:
            try:
                return answer(predicate)
            except GuardOnDataDependentSymNode:
                if not self._is_carried(predicate):
                    raise
            return self._choose(predicate)

        with patch.object(torch.SymBool, "__bool__", choose):
            yield

    def _choose(self, predicate: torch.SymBool) -> bool:
        asked = predicate.node.expr
        if asked not in self._answers:
            if len(self.predicates) == len(self.made):
                self.made.append(True)
            self._answers[asked] = self.made[len(self.predicates)]
            self.predicates.append(predicate)
        return self._answers[asked]

    def _is_carried(self, number: Any) -> bool:
        if not isinstance(number, torch.SymInt | torch.SymFloat | torch.SymBool):
            return True
        return bool(self._symbols) and number.node.expr.free_symbols <= self._symbols


def others(given: Sequence[bool], made: Sequence[bool]) -> list[tuple[bool, ...]]:
    """The ways that leave one that was taken, where nothing was given."""
    return [(*made[:i], not made[i]) for i in range(len(given), len(made))]
