"""What cannot be traced or written, said with the op, the place and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingot._engine import Error
from ingot.stablehlo import Place


def of_contract(text: str, condition: int) -> str:
    """A message with the number of the condition of docs/contract.md that does not hold; 0: of none."""
    return f"{text} (contract {condition})" if text and condition else text


class TraceError(Error):
    """The function cannot become a program; the message names the op, the place in the user's source and the fix.

    It names the condition of docs/contract.md that does not hold, by its number, if there is one.
    """

    def __init__(self, what: str, place: Place | None = None, fix: str = "", condition: int = 0):
        where = f"{place}: " if place else ""
        super().__init__(of_contract(f"{where}{what}{f'; {fix}' if fix else ''}", condition))
        self.what, self.place, self.fix, self.condition = what, place, fix, condition

    def at(self, place: Place | None) -> TraceError:
        """The same error with a place, where it has none."""
        return self if self.place else TraceError(self.what, place, self.fix, self.condition)


class LeftToPyTorch(TraceError):
    """The function calls what no program has: in this process its calls are PyTorch's."""


class Raised(LeftToPyTorch):
    """The function raised an error, of its own or of PyTorch's, while it was traced; it is the cause of this one."""


class ValueAsked(TraceError):
    """Python asks for a value that is known only when the program runs; `sizes` are such as depend on values."""

    sizes: Sequence[Any] = ()


class TooManyWays(ValueAsked):
    """Python chooses too often by numbers that the program computes."""


class OtherResults(TraceError):
    """A function returns something else where Python chooses otherwise."""


class SelectionRefused(TraceError):
    """The number of rows that masks select would have to be known."""

    def __init__(self, what: str, place: Place | None = None, fix: str = "", masks: Sequence[Any] = ()):
        super().__init__(what, place, fix)
        self.masks = [*masks]


class SlotsMade(TraceError):
    """An optimizer makes state while it steps."""


class FirstStepDiffers(TraceError):
    """An optimizer's first step is another than those that follow."""
