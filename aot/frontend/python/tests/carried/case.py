"""A training that carries something in Python from call to call, and what must be said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trainings import Training

HERE = "  # here"  # ends the line that a refusal must name, where a training has one


class Case(NamedTuple):
    """A training that agrees with PyTorch; with a message, a pattern of what its refusal says."""

    make: Callable[[], Training]
    message: str


Cases = dict[str, Case]
Enter = Callable[[Callable[[], Training]], Callable[[], Training]]


def table() -> tuple[Cases, Callable[..., Enter]]:
    """A table of cases, and a decorator that enters a function into it."""
    cases: Cases = {}

    def case(message: str = "") -> Enter:
        def enter(make: Callable[[], Training]) -> Callable[[], Training]:
            cases[make.__name__] = Case(make, message)
            return make

        return enter

    return cases, case
