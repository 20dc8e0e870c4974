"""Gradients that a step leaves in PyTorch, and a compiled one does not keep: who reads them is told so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ingot._engine import Watch
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import user_place
from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.fake_tensors import wrapper

aten = torch.ops.aten
ZEROING = {aten.zero_.default, aten._foreach_zero_.default}
OF_PARAMETER = "clear it by zero_grad(), or keep it: ingot.torch.compile(..., keep_gradients=True)"
OF_ARGUMENT = "compute it in the function, torch.autograd.grad(loss, x), and return it"
VIEWING = {aten.detach.default, aten.alias.default, aten._to_copy.default}  # as `model.half()` does with gradients


class Unkept(torch.Tensor):  # type: ignore[misc]  # torch is not checked
    """A gradient without values, until it is set to zero; TraceError for what asks for them."""

    parameter: str
    fix: str
    values: torch.Tensor | None

    @staticmethod
    def __new__(
        cls, parameter: str, like: torch.Tensor, fix: str, dtype: Any = None, device: Any = None, **_: Any
    ) -> Unkept:
        """The gradient of a parameter that is called so, as another tensor is, or of another type or device."""
        kind = {"dtype": dtype or like.dtype, "device": device or like.device}
        gradient: Unkept = wrapper(cls, like, storage_size=0, **kind)
        gradient.parameter, gradient.fix, gradient.values = parameter, fix, None
        return gradient

    def __repr__(self, **_: Any) -> str:
        return f"<the gradient of {self.parameter!r}, which a compiled step does not keep>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise self.refusal()

    def refusal(self) -> TraceError:
        """What is said to who asks for its values."""
        what = f"the gradient of {self.parameter!r} is asked for, which a compiled step does not keep"
        return TraceError(what, user_place(), self.fix, 8)

    def plain(self) -> torch.Tensor:
        """A tensor of its values."""
        if self.values is None:
            raise self.refusal()
        return self.values

    def numpy(self, **options: Any) -> Any:
        """An array of its values."""
        return self.plain().numpy(**options)

    def tolist(self) -> Any:
        """Lists of its values."""
        return self.plain().tolist()

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs an op on the values, if there are any."""
        kwargs = kwargs or {}
        asked = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, Unkept)]
        if op in ZEROING:
            for gradient in asked:
                gradient.values = torch.zeros(gradient.shape, dtype=gradient.dtype)
        if op in VIEWING and asked[0].values is None:
            return Unkept(asked[0].parameter, asked[0], asked[0].fix, **kwargs)
        plain_args, plain_kwargs = pytree.tree_map_only(Unkept, Unkept.plain, (args, kwargs))
        result = op(*plain_args, **plain_kwargs)
        return args[0] if op._schema.is_mutable else result


def known(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """A gradient that has values."""
    return None if isinstance(gradient, Unkept) and gradient.values is None else gradient


class UnkeptGradients:
    """Those that a step leaves, of parameters by name."""

    def __init__(self, names: Sequence[str], tensors: Mapping[str, torch.Tensor]) -> None:
        self._all = [(tensors[name], self._of(name, tensors[name])) for name in names]
        self._watch = self._watched()

    @staticmethod
    def _of(name: str, parameter: torch.Tensor) -> Unkept:
        return Unkept(name, parameter, OF_PARAMETER)

    def _watched(self) -> Watch:
        """Sees at once that they stand."""
        grads = [(parameter, "grad", gradient) for parameter, gradient in self._all]
        values = [(vars(gradient), "values", None) for _, gradient in self._all]
        return Watch((), (), tuple(values), tuple(grads))

    def stand(self) -> None:
        """Puts them in their places, where a call has made others."""
        if self._watch.holds():
            return
        for i, (parameter, gradient) in enumerate(self._all):
            gradient.values = None
            if parameter.grad is not gradient:
                if gradient.dtype != parameter.dtype:  # as `model.half()` has made it
                    self._all[i] = parameter, self._of(gradient.parameter, parameter)
                    self._watch = self._watched()
                parameter.grad = self._all[i][1]


def refuse_made(arguments: Mapping[str, torch.Tensor]) -> None:
    """Raises TraceError for an argument that was made of others, which its gradient would reach in PyTorch."""
    for name, argument in arguments.items():
        if not argument.is_leaf:
            what = (
                f"the gradient of {name!r} goes on to what made it outside of the function, and a compiled step's ends"
            )
            raise TraceError(what, user_place(), "make it in the function, or give argument.detach()")


def mark_arguments(arguments: Mapping[str, torch.Tensor]) -> None:
    """Leaves arguments the gradients that a step computes of them."""
    for name, argument in arguments.items():
        argument.grad = Unkept(name, argument, OF_ARGUMENT)


def refuse_gradients(used: Mapping[str, torch.Tensor]) -> None:
    """Raises TraceError where parameters have gradients that a function would use: a program has none to start with.

    Those that were set to zero are none.
    """
    for name, parameter in used.items():
        gradient = parameter.grad
        if gradient is not None and (gradient.plain() if isinstance(gradient, Unkept) else gradient).any():
            what = f"the function adds to the gradient of {name!r} that is there before the call, or reads it"
            fix = "call zero_grad() before, or keep gradients: ingot.torch.compile(..., keep_gradients=True)"
            raise TraceError(what, user_place(), fix, 8)
