"""Replaces arguments that a program does not take: texts that change, and objects such as locks, sets and arrays."""

from __future__ import annotations

import datetime
import pathlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ingot.torch.base.errors import LeftToPyTorch, Raised
from ingot.torch.base.torch_internals import pytree

TEXTS = (str, bytes, pathlib.PurePath, datetime.date, datetime.time, datetime.timedelta)


class NotTaken:
    """Replaces a leaf that the program does not take: a text that changes, or an object such as a lock or an array."""

    def __init__(self, value: Any) -> None:
        self.value, self.kind = value, type(value)
        self.is_traced = False  # the function is given Unusable, and otherwise the value
        self.is_used = False  # by the function

    def __deepcopy__(self, _: Any) -> NotTaken:
        return self

    def __repr__(self) -> str:
        """The same in each process, as keys of traces have it."""
        return f"NotTaken({self.kind.__module__}.{self.kind.__qualname__})"

    def refuse(self, seen: str = "") -> NoReturn:
        """Raises LeftToPyTorch; `seen` says what shows that the function uses it."""
        self.is_used = True
        what = f"a program cannot take the {self.kind.__name__} among the arguments{seen}"
        raise LeftToPyTorch(what, fix="give what the function reads of it as tensors")


class Unusable:
    """The function's argument where a leaf is NotTaken: code learns its class; other uses raise LeftToPyTorch."""

    def __init__(self, stand_in: NotTaken) -> None:
        object.__setattr__(self, "_stand_in", stand_in)

    def __getattribute__(self, name: str) -> Any:
        """Its class; raises AttributeError for what texts do not have, LeftToPyTorch for all else."""
        stand_in = object.__getattribute__(self, "_stand_in")
        if name == "__class__":
            return stand_in.kind
        if issubclass(stand_in.kind, TEXTS) and not hasattr(stand_in.kind, name):
            raise AttributeError(f"{stand_in.kind.__name__!r} object has no attribute {name!r}")
        return stand_in.refuse()

    def _refuse(self, *_: Any) -> Any:
        return object.__getattribute__(self, "_stand_in").refuse()

    __setattr__ = __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = __call__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __enter__ = __exit__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __truediv__ = _refuse
    __str__ = __repr__ = __format__ = __bytes__ = __fspath__ = _refuse


def without_texts(args: tuple[Any, ...], texts: Container[int]) -> tuple[Any, ...]:
    """The arguments with some texts replaced by NotTaken; `texts` has their numbers among the leaves."""
    leaves, spec = pytree.tree_flatten(args)
    left = [NotTaken(x) if i in texts and isinstance(x, TEXTS) else x for i, x in enumerate(leaves)]
    rebuilt: tuple[Any, ...] = pytree.tree_unflatten(left, spec)
    return rebuilt


def left_out(args: tuple[Any, ...]) -> list[NotTaken]:
    """The leaves that the program does not take."""
    return [leaf for leaf in pytree.tree_leaves(args) if type(leaf) is NotTaken]


@contextmanager
def without_use(args: tuple[Any, ...]) -> Iterator[None]:
    """Traces without what is NotTaken; raises LeftToPyTorch if the function uses it, even if it catches the error.

    When the program is compared, PyTorch is given the values: a function that only asks for `type(x)` differs.
    """
    left = left_out(args)
    try:
        for leaf in left:
            leaf.is_traced = True
        yield
    except Raised as error:
        if left:
            left[0].refuse(f": with another in its place, {error.what}")
        raise
    finally:
        for leaf in left:
            leaf.is_traced = False
    for leaf in left:
        if leaf.is_used:
            leaf.refuse()
