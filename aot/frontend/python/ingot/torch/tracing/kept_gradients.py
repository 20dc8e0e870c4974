"""Gradients that a step keeps from call to call: which of them are None, as PyTorch has them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import user_place
from ingot.torch.tracing.state import State, gradient_name


class KeptGradients(NamedTuple):
    """Where gradients are kept, of which parameters there is one before a call and after it, and none is None.

    To a program a gradient that is None is zeros, which is the same to a backward pass that adds to it, and to nobody
    else: optimizers leave such parameters out.
    """

    asked: Sequence[str] = ()  # before a backward pass added to theirs
    missing: Sequence[str] = ()  # those of them that the function was traced without
    made: Sequence[str] = ()  # by a backward pass, or the function itself
    cleared: Sequence[str] = ()  # have none after the call
    as_before: Sequence[str] = ()  # what there was before is there after
    chosen: Sequence[str] = ()  # one or the other, as the function chooses by numbers

    @classmethod
    def of_ways(cls, ways: Iterable[KeptGradients], trained: Iterable[str]) -> KeptGradients:
        """Those of all ways of a function."""
        every = [*ways]
        asked = dict.fromkeys(name for way in every for name in way.asked)
        made = dict.fromkeys(name for way in every for name in way.made)
        ends = {name: {(name in way.cleared, name in way.as_before) for way in every} for name in trained}
        cleared = [name for name, end in ends.items() if end == {(True, False)}]
        as_before = [name for name, end in ends.items() if end == {(False, True)}]
        chosen = [name for name, end in ends.items() if len(end) > 1]
        return cls([*asked], every[0].missing, [*made], cleared, as_before, chosen)

    @property
    def is_repeated(self) -> bool:
        """Whether a call that follows at once finds those that this one found."""
        kept = {*self.as_before} - {*self.chosen}
        return all((name in self.cleared) == (name in self.missing) or name in kept for name in self.asked)


class LiveGradients:
    """The gradients of a program's parameters in this process."""

    def __init__(self, state: State, tensors: Mapping[str, torch.Tensor], kept: KeptGradients) -> None:
        """`tensors` are those that the program runs on."""
        trained = state.trained if state.keep_gradients else {}
        self._all = [(name, parameter, tensors[gradient_name(name)]) for name, parameter in trained.items()]
        self._asked = [(trained[name], name in kept.missing) for name in kept.asked]
        self._kept = kept

    def hold(self) -> bool:
        """Whether those are there with which the function was traced."""
        return all((parameter.grad is None) == is_missing for parameter, is_missing in self._asked)

    def change(self) -> str:
        """Which is not, and how it is."""
        for (parameter, is_missing), name in zip(self._asked, self._kept.asked, strict=True):
            if (parameter.grad is None) != is_missing:
                now, before = ("a tensor", "None") if is_missing else ("None", "a tensor")
                return f"the gradient of {name!r} is {now}, and was {before}"
        return ""

    def steps(self, most: int) -> int:
        """How many calls in a row find what the first finds."""
        return most if self._kept.is_repeated else 1

    def take(self) -> Container[str]:
        """Starts from what is there; None, as after ``zero_grad()``, is zeros, and given by name.

        Raises TraceError for one tensor that is the gradient of several parameters.
        """
        missing = [(name, tensor) for name, parameter, tensor in self._all if parameter.grad is None]
        others = [each for each in self._all if each[1].grad is not None and each[1].grad is not each[2]]
        if others:
            self._refuse_shared()
        values = [parameter.grad.clone() for _, parameter, _ in others]  # before any is written: they may be swapped
        for _, tensor in missing:
            tensor.zero_()
        for (_, parameter, tensor), value in zip(others, values, strict=True):
            tensor.copy_(value)
            parameter.grad = tensor
        return {name for name, _ in missing}

    def _refuse_shared(self) -> None:
        names: dict[int, str] = {}
        for name, parameter, _ in self._all:
            if parameter.grad is not None and (first := names.setdefault(id(parameter.grad), name)) != name:
                what = f"one tensor is the gradient of {first!r} and of {name!r}"
                raise TraceError(what, user_place(), "give each its own: parameter.grad = gradient.clone()")

    def leave(self, missing: Container[str]) -> None:
        """Leaves parameters what the function leaves them, where those that are `missing` had None before."""
        for name, parameter, tensor in self._all:
            is_none = name in self._kept.cleared or (name in self._kept.as_before and name in missing)
            is_none |= name in self._kept.chosen and not tensor.any()
            parameter.grad = None if is_none else tensor
