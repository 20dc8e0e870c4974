"""Attributes of tensors while a function is traced: stand-ins have those of the state, arguments none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.files import is_users
from ingot.torch.base.places import user_place
from ingot.torch.base.replacements import calling_frame, replaced
from ingot.torch.python_state.reach import is_users_class
from ingot.torch.python_state.snapshot import PLAIN

Tensors = Mapping[str, torch.Tensor]
PLAIN_CLASS = {  # of classes that only mark tensors, and of how these are made
    *("__module__", "__doc__", "__qualname__", "__dict__", "__weakref__", "__annotations__", "__new__", "__init__"),
    *("__firstlineno__", "__static_attributes__"),
}
PASS = "pass it as an argument of its own, or keep it in a buffer of the model"
FIX = "keep it in a dict by the tensor itself, held[p]"


def attributes_of(tensors: Tensors) -> dict[str, Any]:
    """Objects that are attributes of tensors, by their paths: what they hold is followed from there."""
    return {
        f"{name}.{key}": value
        for name, tensor in tensors.items()
        for key, value in vars(tensor).items()
        if not isinstance(value, (*PLAIN, torch.Tensor))
    }


class Attributes:
    """What stand-ins are lent of the tensors that they stand for; of these, tensors are such that nothing may read."""

    def __init__(self, tensors: Tensors, stand_ins: Tensors) -> None:
        self._stand_ins = stand_ins
        self._lent: dict[str, dict[str, Any]] = {}
        self._own = {name: {*vars(stand_in)} for name, stand_in in stand_ins.items()}
        for name, tensor in tensors.items():
            _refuse_own_class(name, type(tensor))
            self._lent[name] = {key: value for key, value in vars(tensor).items() if key not in self._own[name]}
            vars(stand_ins[name]).update(self._lent[name])

    def left(self) -> list[str]:
        """The paths of new ones, which no program sets; raises TraceError where one that there was is another."""
        new = []
        for name, stand_in in self._stand_ins.items():
            lent, now = self._lent.get(name, {}), vars(stand_in)
            for key, value in lent.items():
                if key not in now or not _is_same(now[key], value):
                    what = f"the function changes `{name}.{key}`, an attribute of a tensor, from {value!r}"
                    raise TraceError(what, fix=FIX)
            new += [f"{name}.{key}" for key in now if key not in lent and key not in self._own[name]]
        return new


class OfArguments:
    """Attributes that a function asks arguments for, or sets on them: they are the caller's, and a program has none."""

    def __init__(self, arguments: Sequence[torch.Tensor]) -> None:
        self.absent: set[str] = set()  # names of what was asked for, and was not there
        self.left: list[str] = []  # those that the last call set
        self._arguments = arguments

    @contextmanager
    def noted(self, stand_ins: Sequence[torch.Tensor]) -> Iterator[None]:
        """Notes what is asked of the stand-ins of as many arguments; raises TraceError where an argument has it."""
        given = {}
        for stand_in, argument in zip(stand_ins, self._arguments, strict=True):
            given[id(stand_in)] = argument
            if clash := {*vars(argument)} & {*dir(stand_in)}:
                raise TraceError(f"has an argument with the attribute `{min(clash)}`, the name of another", fix=PASS)

        def missing(tensor: torch.Tensor, name: str) -> Any:
            if id(tensor) in given and not name.startswith("__") and is_users(calling_frame().f_code.co_filename):
                if name in vars(given[id(tensor)]):
                    raise TraceError(f"reads `{name}`, an attribute of an argument", user_place(), PASS)
                self.absent.add(name)
            return _missing(tensor, name)

        own = [{*vars(stand_in)} for stand_in in stand_ins]
        with replaced(torch.Tensor, "__getattr__", missing, original=_missing):
            yield
        pairs = zip(own, stand_ins, strict=True)
        self.left = [name for had, stand_in in pairs for name in vars(stand_in) if name not in had]
        if found := self.absent & {*self.left}:
            raise TraceError(f"looks whether an argument has `{min(found)}`, and sets it", fix=PASS)


def _missing(tensor: torch.Tensor, name: str) -> Any:
    raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {name!r}", name=name, obj=tensor)


def _refuse_own_class(name: str, kind: type) -> None:
    """Raises TraceError for a tensor of a user's class that has more than its name: a stand-in has nothing of it."""
    own = [key for base in kind.__mro__ if is_users_class(base) for key in vars(base) if key not in PLAIN_CLASS]
    if own:
        what = f"`{name}` is a {kind.__name__}, a class of tensors with `{own[0]}` of its own, which is not traced"
        raise TraceError(what, fix="make it a torch.nn.Parameter, and keep the rest in a dict by it, held[p]")


def _is_same(one: Any, other: Any) -> bool:
    """Whether two attributes are one, or plain values that are alike."""
    return one is other or (type(one) is type(other) and isinstance(one, PLAIN) and bool(one == other))
