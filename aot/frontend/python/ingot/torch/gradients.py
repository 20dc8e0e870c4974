"""Gradients that live from call to call: state where they are kept, else refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch

from ingot.stablehlo import Place
from ingot.torch.errors import TraceError
from ingot.torch.function_modes import FunctionMode
from ingot.torch.places import user_place
from ingot.torch.state import State, gradient_name, parameters_of
from ingot.torch.torch_internals import without_functions

Read = Callable[[], dict[str, torch.Tensor]]
Names = Callable[[], list[str]]
Note = Callable[[torch.Tensor], None]


@contextmanager
def gradients(state: State, stand_ins: Mapping[str, torch.Tensor]) -> Iterator[tuple[Read, Names]]:
    """Gives stand-ins for parameters their gradients: those of the state, or none; and a function that reads them.

    And one that names parameters whose gradients were added to or read before they were cleared, if they are not kept.
    Where they are not kept, those that nothing steps by are nobody's concern, unless no optimizer steps at all.
    """
    parameters = {name: stand_ins[name] for name in state.trained}
    for tensor in stand_ins.values():
        tensor.grad = None
    if not state.keep_gradients:
        stepped = {id(parameter) for optimizer in state.optimizers.values() for parameter in parameters_of(optimizer)}
        read = {name: parameter for name, parameter in parameters.items() if id(parameter) in stepped or not stepped}
        with not_carried(read) as used:
            yield dict, used
        return
    for name, parameter in parameters.items():
        parameter.grad = stand_ins[gradient_name(name)]

    def kept() -> dict[str, torch.Tensor]:
        return {
            gradient_name(name): torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for name, parameter in parameters.items()
        }

    yield kept, list


def left_gradients(state: State, stand_ins: Mapping[str, torch.Tensor]) -> list[str]:
    """Names of the parameters that a function leaves with gradients, which are not kept."""
    if state.keep_gradients:
        return []
    with without_functions():
        return [name for name in state.trained if stand_ins[name].grad is not None]


@contextmanager
def not_carried(parameters: Mapping[str, torch.Tensor]) -> Iterator[Names]:
    """Raises TraceError, at the end, for a gradient that was added to or read before it was cleared, and left there.

    Gives a function that names those that were so far, left there or not.

    Gradients start as None while a function is traced; in PyTorch those that the call before left are there.
    """
    cleared: set[int] = set()
    used_first: dict[int, Place | None] = {}
    left: set[int] = set()

    def note(parameter: torch.Tensor) -> None:
        left.add(id(parameter))
        use(parameter)

    def use(parameter: torch.Tensor) -> None:
        if id(parameter) not in cleared:
            used_first.setdefault(id(parameter), user_place())

    def clear(parameter: torch.Tensor) -> None:
        cleared.add(id(parameter))
        left.discard(id(parameter))

    def replace(parameter: torch.Tensor) -> None:
        cleared.add(id(parameter))
        left.add(id(parameter))

    def noting(zero_grad: Callable[..., None]) -> Callable[..., None]:
        def zero_and_clear(self: Any, *args: Any, **kwargs: Any) -> None:
            for parameter in parameters_of(self) if isinstance(self, torch.optim.Optimizer) else self.parameters():
                clear(parameter)
            zero_grad(self, *args, **kwargs)

        return zero_and_clear

    with ExitStack() as undo:
        for parameter in parameters.values():
            undo.callback(parameter.register_post_accumulate_grad_hook(note).remove)
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            undo.enter_context(patch.object(owner, "zero_grad", noting(owner.zero_grad)))
        undo.enter_context(_UsedByHand(clear, replace, use))
        yield lambda: [name for name, parameter in parameters.items() if id(parameter) in used_first]
    for name, parameter in parameters.items():
        if id(parameter) in left.intersection(used_first) and parameter.grad is not None:
            raise TraceError(
                f"the gradient of {name!r} lives on after the function, for the next call to use it",
                used_first[id(parameter)],
                "call zero_grad() before backward(), or keep gradients as state: Program(..., keep_gradients=True)",
            )


class _UsedByHand(FunctionMode):
    """Notes ``parameter.grad = ...``, which replaces what was there, and where ``parameter.grad`` is read."""

    SET, GET = torch.Tensor.grad.__set__, torch.Tensor.grad.__get__

    def __init__(self, clear: Note, replace: Note, use: Note):
        super().__init__()
        self._clear, self._replace, self._use = clear, replace, use

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func == self.SET:
            (self._clear if args[1] is None else self._replace)(args[0])
        elif func == self.GET:
            self._use(args[0])
        return func(*args, **kwargs)
