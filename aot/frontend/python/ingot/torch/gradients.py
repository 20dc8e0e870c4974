"""Gradients that live from call to call: state where they are kept, else refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from ingot.stablehlo import Place
from ingot.torch.errors import TraceError
from ingot.torch.places import user_place
from ingot.torch.state import State, gradient_name


@contextmanager
def gradients(state: State, stand_ins: Mapping[str, torch.Tensor]) -> Iterator[Callable[[], dict[str, torch.Tensor]]]:
    """Gives stand-ins for parameters their gradients: those of the state, or none; and a function that reads them."""
    parameters = {name: stand_ins[name] for name in state.trained}
    for tensor in stand_ins.values():
        tensor.grad = None
    if not state.keep_gradients:
        with not_carried(parameters):
            yield dict
        return
    for name, parameter in parameters.items():
        parameter.grad = stand_ins[gradient_name(name)]
    yield lambda: {
        gradient_name(name): torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        for name, parameter in parameters.items()
    }


@contextmanager
def not_carried(parameters: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """Raises TraceError, at the end, for a gradient that was not cleared first and is there to be added to.

    Gradients start as None while a function is traced; in PyTorch those of the call before are there, unless that, or
    this one before it adds to them, called ``zero_grad()``.
    """
    cleared: set[int] = set()
    carried: dict[int, Place | None] = {}

    def note(parameter: torch.Tensor) -> None:
        if id(parameter) not in cleared:
            carried.setdefault(id(parameter), user_place())

    def noting(zero_grad: Callable[..., None]) -> Callable[..., None]:
        def clear(self: Any, *args: Any, **kwargs: Any) -> None:
            zero_grad(self, *args, **kwargs)
            groups = self.param_groups if isinstance(self, torch.optim.Optimizer) else [{"params": self.parameters()}]
            cleared.update(id(parameter) for group in groups for parameter in group["params"])

        return clear

    with ExitStack() as undo:
        for parameter in parameters.values():
            undo.callback(parameter.register_post_accumulate_grad_hook(note).remove)
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            undo.callback(setattr, owner, "zero_grad", owner.zero_grad)
            owner.zero_grad = noting(owner.zero_grad)
        yield
    for name, parameter in parameters.items():
        if id(parameter) in carried and parameter.grad is not None:
            raise TraceError(
                f"the gradient of {name!r} lives on after the function, for the next call to add to it",
                carried[id(parameter)],
                "call zero_grad() before backward(), or keep gradients as state: Program(..., keep_gradients=True)",
            )
